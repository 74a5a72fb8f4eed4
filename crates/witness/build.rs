//! Assembles the firmware that starts a kernel in Bochs, and puts it where `include_bytes!` finds
//! it.

#[path = "../vm/build/c_compiler.rs"]
mod c_compiler;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

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
    // Asked for now: where this was compiled may be another checkout, sharing the target folder.
    let package = std::env::var_os("CARGO_MANIFEST_DIR").ok_or("CARGO_MANIFEST_DIR is not set")?;
    let root = Path::new(&package).ancestors().nth(2).ok_or("no workspace")?;
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    c_compiler::build_firmware(root, &out, "bochs")
}
