//! The programs in `programs/` are built by their Makefile, have their markers, and run natively.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::LazyLock,
};

/// The folder with the programs, built once.
static PROGRAMS: LazyLock<PathBuf> = LazyLock::new(|| built("programs", &[]));

/// Builds them into a folder of this name.
fn built(folder: &str, settings: &[&str]) -> PathBuf {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    let made = Command::new("make")
        .arg("-C")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs"))
        .arg(format!("OUT={}", out.display()))
        .args(settings)
        .output()
        .expect("there is make");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    out
}

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
fn a_program_that_is_built_to_prints_the_time_of_each_region() {
    let programs = built("programs-times", &["CFLAGS=-O2 -DPRINT_TIMES"]);
    for (program, regions) in [
        ("popf", &["pushf-popf", "pushf-getppid-popf"][..]),
        ("ioctl-loop64", &["ioctl"]),
        ("ioperm-latency", &["round-trip"]),
    ] {
        let ran = Command::new(programs.join(program)).output().expect("it can be executed");
        let printed = String::from_utf8_lossy(&ran.stdout).into_owned();
        let timed: Vec<&str> = printed.lines().filter_map(region).collect();
        assert_eq!(timed, regions, "{printed}");
    }
}

/// The region that a line has times of, in ns and ticks.
fn region(line: &str) -> Option<&str> {
    let [name, ns, "ns", ticks, "ticks"] = line.split_whitespace().collect::<Vec<_>>()[..] else {
        return None;
    };
    let positive = |number: &str| number.parse::<f64>().is_ok_and(|number| number > 0.0);
    (positive(ns) && positive(ticks)).then_some(name)
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
