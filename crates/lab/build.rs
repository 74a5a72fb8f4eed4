//! Builds the lab kernel and puts it where `include_bytes!` finds it.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("cargo::error={error}");
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<(), String> {
    // Relative to this package: another checkout may share the target folder.
    for part in ["Makefile", "kernel", "uapi", "x86"] {
        println!("cargo::rerun-if-changed=../../lab/{part}");
    }
    println!("cargo::rerun-if-env-changed=CC");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    let mut make = Command::new("make");
    make.args(["--no-print-directory", "-s", "-C", "../../lab", "all"])
        .arg(format!("OUT={}", out.display()));
    // This build's own jobs and flags are not the kernel's.
    for variable in ["MAKEFLAGS", "MFLAGS", "MAKELEVEL", "CARGO_MAKEFLAGS", "CFLAGS", "LDFLAGS"] {
        make.env_remove(variable);
    }
    let status =
        make.status().map_err(|error| format!("make can't be run ({error}); install it"))?;
    if status.success() { Ok(()) } else { Err("the lab kernel does not build".to_owned()) }
}
