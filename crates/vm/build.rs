//! Builds the agent's two programs and puts them where `include_bytes!` finds them.
//!
//! Each is a static program without libc, with flags of its own, so it can't be an ordinary
//! dependency; and a cargo inside cargo would wait for the same target folder. rustc is called
//! directly, once a crate, those that others use first (`build/static_program.rs`).

#[path = "build/c_compiler.rs"]
mod c_compiler;
#[path = "build/static_program.rs"]
mod static_program;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use c_compiler::{build_firmware, compile_c};
use static_program::{compile, link};

/// The libraries of which the agent is made, each after those that it uses.
const LIBRARIES: [&str; 3] = ["probes", "wire", "agent"];

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
    let crates = Path::new(&package).parent().ok_or("no parent folder")?;
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    for name in LIBRARIES {
        // Relative to this package: another checkout may share the target folder.
        println!("cargo::rerun-if-changed=../{name}/src");
    }
    let root = crates.parent().ok_or("no workspace")?;
    for plugin in ["recorder", "counter", "program", "clock"] {
        build_plugin(root, &out, plugin)?;
    }
    build_firmware(root, &out, "boot")?;
    build_agent(crates, &out, "paths", "main_paths.rs", ("", &[]))?;
    build_agent(crates, &out, "init", "main.rs", (INIT_PLACE, &["--cfg=feature=\"init\""]))
}

/// For the linker: where the code of `/init` begins. No address of it is one of `/paths`, at some
/// of which an interpreter of the guest stops.
const INIT_PLACE: &str = "-Wl,-Ttext=0x10000000";

/// Builds one of the agent's programs with its libraries, with more words for the linker and more
/// flags for all: each by itself, so that one's code does not depend on what the other takes from
/// the libraries.
fn build_agent(
    crates: &Path,
    out: &Path,
    name: &str,
    file: &str,
    (place, extra): (&str, &[&str]),
) -> Result<(), String> {
    let folder = out.join(name);
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for (built, library) in LIBRARIES.into_iter().enumerate() {
        let root = crates.join(library).join("src/lib.rs");
        let flags = [&["--crate-type=rlib"], extra].concat();
        compile(crates, &folder, library, &root, &LIBRARIES[..built], &flags)?;
    }
    let root = crates.join("agent/src").join(file);
    link(crates, &folder, (name, &root), &LIBRARIES, (place, extra))
}

/// Builds one of QEMU's plugins, of its own folder and of those that all share: its units as one,
/// so that what is called at each block of the guest's code is inlined.
fn build_plugin(root: &Path, out: &Path, name: &str) -> Result<(), String> {
    let folder = root.join("plugin");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut all = String::new();
    for part in ["common", "kernel", "arch/x86_64", name] {
        for unit in units_of(&folder.join(part))? {
            writeln!(all, "#include \"{}\"", unit.display()).map_err(|error| error.to_string())?;
        }
    }
    let source = out.join(name).with_extension("c");
    std::fs::write(&source, all).map_err(|error| format!("{}: {error}", source.display()))?;
    let include = format!("-I{}", folder.display());
    let flags = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", &include];
    let more = ["-fvisibility=hidden", "-s", "-Wl,--build-id=none"];
    compile_c(&[&flags[..], &more].concat(), &source, &out.join(name).with_extension("so"))
}

/// The C files of a folder, in the order of their names.
fn units_of(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let entries: Result<Vec<_>, _> = std::fs::read_dir(folder).map_err(failed)?.collect();
    let paths = entries.map_err(failed)?.into_iter().map(|entry| entry.path());
    let mut units: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|end| end == "c")).collect();
    units.sort();
    Ok(units)
}
