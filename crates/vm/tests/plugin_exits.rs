//! How the counter judges exits from blocks, without QEMU: its own units, with blocks made by hand.

use std::path::Path;
use std::process::Command;

#[test]
fn a_block_that_ends_before_an_instruction_in_two_pages_may_be_left_by_an_interrupt() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("exits");
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let mut build = Command::new(compiler);
    build.args(["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"]);
    // What is QEMU's is never called.
    build.args(["-Wl,--unresolved-symbols=ignore-all", "-no-pie"]);
    build.arg(format!("-I{}", root.join("../../plugin").display()));
    build.arg(root.join("tests/fixtures/exits.c")).arg("-o").arg(&program);
    assert!(build.status().unwrap().success());
    let run = Command::new(&program).output().unwrap();
    // On, undone, faults; then mispredicted returns.
    let judged = "1 0 0\n0 1 1\n0 1 1\n0 1 1\n1 0 0\n1 0\n";
    assert_eq!(String::from_utf8(run.stdout).unwrap(), judged);
}
