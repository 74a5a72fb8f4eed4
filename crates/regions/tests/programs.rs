//! The programs in `programs/` are built by their Makefile, have their markers, and run natively.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::LazyLock,
};

/// The folder with the programs, built once.
static PROGRAMS: LazyLock<PathBuf> = LazyLock::new(|| {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
    let made = Command::new("make")
        .arg("-C")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs"))
        .arg(format!("OUT={}", out.display()))
        .output()
        .expect("there is make");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    out
});

#[test]
fn each_program_is_built_and_ends_with_0_outside_the_guest() {
    const NO_EXEC_FORMAT: i32 = 8;
    let commands: [&[&str]; 7] = [
        &["lat_tcp"],
        &["ioperm-latency"],
        &["ioperm-latency", "0x80"],
        &["ioctl-loop64"],
        &["ioctl-loop32"],
        &["popf"],
        &["getcpu"],
    ];
    for command in commands {
        match Command::new(PROGRAMS.join(command[0])).args(&command[1..]).output() {
            Ok(ran) => {
                let errors = String::from_utf8_lossy(&ran.stderr);
                assert_eq!(ran.status.code(), Some(0), "{command:?}: {errors}");
            }
            Err(error) if error.raw_os_error() == Some(NO_EXEC_FORMAT) => {
                eprintln!("this kernel executes no {}", command[0]);
            }
            Err(error) => panic!("{command:?}: {error}"),
        }
    }
}

#[test]
fn a_port_that_is_none_is_a_usage_error() {
    let program = PROGRAMS.join("ioperm-latency");
    for port in ["", "x", "-1", "0x10000", "80 "] {
        let ran = Command::new(&program).arg(port).output().expect("it can be executed");
        assert_eq!(ran.status.code(), Some(2), "{port:?}");
        assert!(String::from_utf8_lossy(&ran.stderr).contains("usage"), "{port:?}");
    }
}
