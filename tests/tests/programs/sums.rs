//! What a program executes is counted to the last step, and in the right row: what the program
//! knows of itself is what the rows say.

use pathmeter_e2e::{Run, Scene, built, debian};
use serde_json::Value;

use super::{PERTURB, RUNS, assert_adds_up, calls, kernels, measure_program, program, run};

/// Measures the program on a small kernel and on Debian's.
fn on_both(command: &[&str]) -> [Value; 2] {
    [built("base"), debian("cloud")].map(|kernel| {
        let result = measure_program(&kernel, command);
        assert_adds_up(&result);
        result
    })
}

#[test]
fn faults_and_signals() {
    for result in on_both(&[&program("faults")]) {
        // Of tests/programs/faults.c: five rounds.
        for (name, count) in [("invalid_op", 5), ("int3", 5), ("divide_error", 5), ("debug", 5)] {
            assert_eq!(
                calls(&result, "exception", &format!("exception: {name}")),
                [count; RUNS],
                "{name}"
            );
        }
        // hlt, cli, int $0x42, cr0, and an address that is none.
        assert_eq!(calls(&result, "exception", "exception: general_protection"), [25; RUNS]);
        assert_eq!(calls(&result, "syscall", "rt_sigreturn"), [0; 0]);
        // The pages are read, and then written to.
        for name in ["read, page not present", "write, protected page"] {
            let counts = calls(&result, "page-fault", &format!("page fault: {name}"));
            assert!(counts.iter().all(|count| *count >= 64), "{name}: {counts:?}");
        }
    }
}

#[test]
fn processes_of_every_kind() {
    for result in on_both(&[&program("processes")]) {
        // Four children call it seven times each.
        assert_eq!(calls(&result, "syscall", "getppid"), [28; RUNS]);
        assert_eq!(calls(&result, "syscall", "vfork"), [1; RUNS]);
        assert_eq!(calls(&result, "syscall", "execve"), [2; RUNS]);
        let steps = calls(&result, "exception", "exception: debug");
        assert!(steps.iter().all(|count| *count > 7), "{steps:?}");
    }
}

#[test]
fn threads_timers_and_a_sleep() {
    for kernel in kernels() {
        let result = measure_program(&kernel, &[&program("threads")]);
        assert_adds_up(&result);
        assert_eq!(calls(&result, "syscall", "clone3"), [6; RUNS]);
        assert_eq!(calls(&result, "syscall", "rt_sigreturn"), [3; RUNS]);
        // The sleep of 50 ms, a step a nanosecond: the CPU waits for most of it.
        for run in result["execution"]["runs"].as_array().unwrap() {
            assert!(run["idle"].as_u64().unwrap() > 40_000_000, "{}", run["idle"]);
        }
    }
}

#[test]
fn a_32_bit_program() {
    let result = measure_program(&built("base"), &[&program("compat32")]);
    assert_adds_up(&result);
    assert_eq!(calls(&result, "syscall32", "getppid (32-bit)"), [5; RUNS]);
    assert_eq!(result["execution"]["output"]["stdout"]["text"], "32 bits\n");
}

#[test]
fn a_pipeline_of_the_shell() {
    let script = "seq 20 | sort -r | tail -n 1";
    // The shell's words name what is packed.
    let command = ["sh", "-c", script];
    let result: Run = run(&Scene::warm(), &[&built("base")], &["--json"], &command);
    let result = result.json();
    assert_adds_up(&result);
    assert_eq!(result["execution"]["output"]["stdout"]["text"], "1\n");
    assert_eq!(calls(&result, "syscall", "execve"), [4; RUNS]);
}

/// Of `first_touches.c`: nine instructions that change an operand in memory, on 64 new
/// pages each. The C library has a few such instructions of its own.
#[test]
fn of_two_faults_of_one_instruction_the_first_is_no_own_work() {
    for kernel in kernels() {
        let result = measure_program(&kernel, &[&program("first_touches")]);
        assert_adds_up(&result);
        let name = "QEMU's page fault: read, page not present";
        for count in calls(&result, "interpreter-fault", name) {
            assert!((9 * 64..10 * 64).contains(&count), "{count}");
        }
        // A processor reads first too: a load, two strings that are copied, a page that is shared,
        // a page before a signal, and the address that the signal is about.
        let reads = calls(&result, "page-fault", "page fault: read, page not present");
        assert!(reads.iter().all(|count| (6 * 64..7 * 64).contains(count)), "{reads:?}");
        let kernels = calls(&result, "interpreter-fault", &format!("{name}, from the kernel"));
        assert_eq!(kernels, [0; 0]);
        // Its calls add up to it, those before the kernel reads the error code too.
        let program = program("first_touches");
        let tree = ["explain", name, &kernel, "--perturb", PERTURB, "--", &program];
        Scene::warm().run(&tree).succeeded();
    }
}
