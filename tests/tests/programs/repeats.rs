//! The same program on the same kernel gives the same document, byte for byte: from an empty cache
//! and from a full one, on an idle machine and on a busy one.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use pathmeter_e2e::{Scene, built, debian, soak};

use super::{program, run};

/// The document, with an empty cache, with the kernel's snapshot, and with the result.
fn documents(kernel: &str, command: &[&str]) -> [String; 3] {
    let scene = Scene::cold();
    let document = || run(&scene, &[kernel], &["--json"], command).succeeded().stdout.clone();
    let cold = document();
    fs::remove_file(scene.cached_file(".result")).unwrap();
    [cold, document(), document()]
}

/// Repeats it so often while each processor is busy with something else.
fn repeat_under_load(times: usize, kernel: &str, command: &[&str]) {
    let expected = documents(kernel, command);
    assert!(expected.iter().all(|document| *document == expected[0]));
    let done = AtomicBool::new(false);
    let processors = thread::available_parallelism().unwrap().get();
    thread::scope(|scope| {
        for _ in 0..processors {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let repeats: Vec<_> = (0..times).map(|_| documents(kernel, command)).collect();
        done.store(true, Ordering::Relaxed);
        for (number, repeat) in repeats.iter().enumerate() {
            assert!(*repeat == expected, "repeat {number} is another");
        }
    });
}

#[test]
fn of_threads_and_timers() {
    repeat_under_load(1, &built("base"), &[&program("threads")]);
}

#[test]
fn of_processes() {
    repeat_under_load(1, &built("base"), &[&program("processes")]);
}

#[test]
fn soak_of_all() {
    if !soak() {
        return;
    }
    for kernel in [built("base"), debian("cloud"), debian("rt")] {
        for name in ["faults", "processes", "threads", "compat32"] {
            repeat_under_load(20, &kernel, &[&program(name)]);
        }
    }
}
