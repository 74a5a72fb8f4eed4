//! Calls the system's C compiler, in build scripts.

use std::path::Path;
use std::process::Command;

/// Assembles a firmware to the 64 KiB that lie below 1 MiB.
pub(crate) fn build_firmware(root: &Path, out: &Path, name: &str) -> Result<(), String> {
    let flags = ["-m32", "-nostdlib", "-static", "-Wl,--build-id=none"];
    let place = ["-Wl,-Ttext=0xf0000", "-Wl,--oformat=binary"];
    let source = root.join("firmware").join(name).with_extension("S");
    println!("cargo::rerun-if-changed={}", source.display());
    compile_c(&[&flags[..], &place].concat(), &source, &out.join(name).with_extension("rom"))
}

/// Runs the system's C compiler, or the one that `CC` names. The caller tells cargo what the source
/// depends on: a file that this script writes is newer than cargo's record of the script, so naming
/// it would have everything compiled again by each command.
pub(crate) fn compile_c(flags: &[&str], source: &Path, to: &Path) -> Result<(), String> {
    println!("cargo::rerun-if-env-changed=CC");
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let status =
        Command::new(&compiler).args(flags).arg("-o").arg(to).arg(source).status().map_err(
            |error| {
                let compiler = compiler.display();
                format!("the C compiler {compiler} can't be run ({error}); install gcc")
            },
        )?;
    if status.success() { Ok(()) } else { Err(format!("{} does not compile", source.display())) }
}
