//! Builds the program of live hosts (`../live`) as the agent is built, and puts it where
//! `include_bytes!` finds it: with windows of many calls; with stamps that read the processor's
//! counter; and, to test all of that but the counter, with the agent's own.

#[path = "../vm/build/static_program.rs"]
mod static_program;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use static_program::{compile, link};

/// The libraries of which it is made, each after those that it uses.
const LIBRARIES: [&str; 2] = ["probes", "live"];

fn main() -> ExitCode {
    let feature = |name| format!("--cfg=feature=\"{name}\"");
    let built = build("batches", &[&feature("batch")])
        .and_then(|()| pack("batches"))
        .and_then(|()| build("counter", &[&feature("pmu")]))
        .and_then(|()| build("clock", &[]));
    match built {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("cargo::error={error}");
            ExitCode::FAILURE
        }
    }
}

/// Builds one of the three in a folder of its own, with features of its own.
fn build(name: &str, features: &[&str]) -> Result<(), String> {
    // Asked for now: where this was compiled may be another checkout, sharing the target folder.
    let package = std::env::var_os("CARGO_MANIFEST_DIR").ok_or("CARGO_MANIFEST_DIR is not set")?;
    let crates = Path::new(&package).parent().ok_or("no parent folder")?;
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?).join(name);
    std::fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    println!("cargo::rerun-if-changed=../agent/src");
    for (built, library) in LIBRARIES.into_iter().enumerate() {
        // Relative to this package: another checkout may share the target folder.
        println!("cargo::rerun-if-changed=../{library}/src");
        let root = crates.join(library).join("src/lib.rs");
        let flags = [&["--crate-type=rlib"], features].concat();
        compile(crates, &out, library, &root, &LIBRARIES[..built], &flags)?;
    }
    let root = crates.join("live/src/program.rs");
    link(crates, &out, ("program", &root), &LIBRARIES, ("", &[]))
}

/// Compresses the program in this folder.
fn pack(name: &str) -> Result<(), String> {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?).join(name);
    let packed = || -> Result<(), std::io::Error> {
        let program = std::fs::read(out.join("pathmeter_program"))?;
        let mut packer = ZlibEncoder::new(Vec::new(), Compression::best());
        packer.write_all(&program)?;
        std::fs::write(out.join("packed"), packer.finish()?)
    };
    packed().map_err(|error| format!("{}: {error}", out.display()))
}
