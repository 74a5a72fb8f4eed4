//! Builds a static program without libc, a crate at a time: the agent, and the program of live
//! hosts, which must be built as the agent is.

#[path = "canonical.rs"]
mod canonical;

use std::path::Path;
use std::process::Command;

use canonical::reorder;

/// Flags for all crates. The code model and the missing position independence keep every address
/// below 2 GiB; one codegen unit keeps the agent's code, and with it exact counts, a function of
/// source and compiler alone.
const FLAGS: &[&str] = &[
    "--edition=2024",
    "--cap-lints=allow",
    "-Copt-level=2",
    "-Cpanic=abort",
    "-Crelocation-model=static",
    "-Ccodegen-units=1",
    "-Cdebuginfo=0",
    "-Cmetadata=pathmeter",
    "--target=x86_64-unknown-linux-gnu",
];

/// For the linker: nothing but our own code, no note that depends on where it was built, and code
/// on pages of its own. Otherwise there is a page between data and code or none, as their sizes
/// come out, and the kernel has another tree of mappings to search at a fault and copy at a fork.
const LINK: &str = "-nostartfiles -nostdlib -static -no-pie -Wl,--gc-sections \
                    -Wl,--build-id=none -Wl,-z,noexecstack -Wl,-z,norelro -Wl,-z,separate-code";

/// For the linker: all of the program that `_start` needs, in one file that is linked once more.
const RELOCATABLE: &str =
    "-Clink-args=-r -nostartfiles -nostdlib -Wl,--gc-sections -Wl,-u,_start -Wl,--build-id=none";

/// A root that adds nothing: rustc knows which linker it comes with.
const EMPTY: &str = "\
#![no_std]
#![no_main]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
";

/// Compiles one crate, which can use `libraries`; `extra` are its own flags.
pub(crate) fn compile(
    crates: &Path,
    out: &Path,
    name: &str,
    root: &Path,
    libraries: &[&str],
    extra: &[&str],
) -> Result<(), String> {
    // Cargo says to a build script which one it uses.
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(rustc);
    command
        .args(FLAGS)
        .args(extra)
        .arg(format!("--crate-name=pathmeter_{name}"))
        .arg(format!("--out-dir={}", out.display()))
        // Names of files would otherwise carry the folder of the checkout into the program.
        .arg(format!("--remap-path-prefix={}=", crates.display()))
        .arg(root);
    // Where a library finds those that it uses itself.
    command.arg(format!("-Ldependency={}", out.display()));
    for library in libraries {
        let file = out.join(format!("libpathmeter_{library}.rlib"));
        command.arg("--extern").arg(format!("pathmeter_{library}={}", file.display()));
    }
    for variable in
        ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER"]
    {
        command.env_remove(variable);
    }
    let status = command.status().map_err(|error| format!("rustc can't be run: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("the crate {name} does not compile")) }
}

/// Links the program whose root this is, of these libraries; `place` has more words for the linker,
/// and `extra` more flags for the compiler. Its bytes do not depend on names (`canonical.rs`).
pub(crate) fn link(
    crates: &Path,
    out: &Path,
    (name, root): (&str, &Path),
    libraries: &[&str],
    (place, extra): (&str, &[&str]),
) -> Result<(), String> {
    let flags = [&["--crate-type=bin", RELOCATABLE], extra].concat();
    compile(crates, out, name, root, libraries, &flags)?;
    let program = out.join(format!("pathmeter_{name}"));
    let failed = |error: std::io::Error| format!("{}: {error}", program.display());
    let relocatable = std::fs::read(&program).map_err(failed)?;
    let ordered = reorder(&relocatable).map_err(|error| format!("{name}: {error}"))?;
    let [object, empty] = ["o", "rs"].map(|end| program.with_extension(end));
    std::fs::write(&object, ordered)
        .and_then(|()| std::fs::write(&empty, EMPTY))
        .map_err(failed)?;
    let link = format!("-Clink-args={LINK} {place} -s {}", object.display());
    compile(crates, out, name, &empty, &[], &["--crate-type=bin", &link])
}
