//! Builds a static program without libc, a crate at a time: the agent, and the program of
//! `witness-pmu`, which must be built as the agent is.

use std::path::Path;
use std::process::Command;

/// Flags for all crates. The code model and the missing position independence keep every address
/// below 2 GiB; one codegen unit keeps the agent's layout, and with it exact counts, a function of
/// source and compiler alone.
const FLAGS: &[&str] = &[
    "--edition=2024",
    "--cap-lints=allow",
    "-Copt-level=2",
    "-Cpanic=abort",
    "-Crelocation-model=static",
    "-Ccodegen-units=1",
    "-Cdebuginfo=0",
    "-Cstrip=symbols",
    "-Cmetadata=pathmeter",
    "--target=x86_64-unknown-linux-gnu",
];

/// A file whose name is in the agent's bytes, as the place of a panic, and the name that it has
/// there: they must not move with the folder of an architecture.
const NAMED: (&str, &str) = ("probes/src/arch/x86_64/compat32.rs", "probes/src/compat32.rs");

/// For the linker: nothing but our own code, no note that depends on where it was built, and code
/// on pages of its own. Otherwise there is a page between data and code or none, as their sizes
/// come out, and the kernel has another tree of mappings to search at a fault and copy at a fork.
pub(crate) const LINK: &str = "-nostartfiles -nostdlib -static -no-pie -Wl,--gc-sections \
                               -Wl,--build-id=none -Wl,-z,noexecstack -Wl,-z,norelro \
                               -Wl,-z,separate-code";

/// Compiles one crate, which can use `libraries`; `extra` are its own flags.
pub(crate) fn compile(
    crates: &Path,
    out: &Path,
    name: &str,
    root: &Path,
    libraries: &[&str],
    extra: &[&str],
) -> Result<(), String> {
    let rustc = std::env::var_os("RUSTC").ok_or("RUSTC is not set")?;
    let mut command = Command::new(rustc);
    command
        .args(FLAGS)
        .args(extra)
        .arg(format!("--crate-name=pathmeter_{name}"))
        .arg(format!("--out-dir={}", out.display()))
        // Panic locations would otherwise carry the folder of the checkout into the agent's bytes.
        .arg(format!("--remap-path-prefix={}=", crates.display()))
        .arg(format!("--remap-path-prefix={}={}", crates.join(NAMED.0).display(), NAMED.1))
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
