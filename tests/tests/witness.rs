//! A second interpreter: the same paths in Bochs.

use pathmeter_e2e::{Scene, built};

use crate::programs::program;

/// A variant of the lab kernel whose every path both interpreters can execute, and on which no
/// path depends on where memory was taken from before.
const SUBJECT: &str = "lab:vendor=intel,smap=off,flags=constant,irq-restore=popf";

#[test]
fn two_interpreters_agree_on_every_path() {
    let ran = Scene::warm().run(&["witness", SUBJECT]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    let alike = |path: &str| {
        let row = ran.stdout.lines().find(|line| line.split_whitespace().next() == Some(path));
        let words: Vec<_> = row.unwrap_or_default().split_whitespace().collect();
        // … difference, and "51 of 51".
        let [.., difference, shared, "of", windows] = words[..] else {
            panic!("{path}: {}", ran.stdout)
        };
        let [shared, windows] = [shared, windows].map(|number| number.parse::<u32>().unwrap());
        // The clocks of the two differ by faults and last checks, so a tick may fall into one
        // window of a path as long as a fork in one of them only.
        let of_ticks = u32::from(path == "process.fork-exit");
        assert!(difference == "0" && shared + of_ticks >= windows, "{path}: {}", ran.stdout);
    };
    for path in ["syscall.getppid", "ioctl.compat-entry", "process.fork-exit", "memory.fault-anon"]
    {
        alike(path);
    }
}

/// Linux returns to a new process by `iret`, to a page of code that is not present yet: that fault,
/// and one of its stack, are a fork's. Bochs' clock counts both.
#[test]
fn an_instruction_that_can_not_be_fetched_is_a_fault_of_its_window() {
    let ran = Scene::warm().run(&["witness", &built("base")]);
    let row = ran.stdout.lines().find(|line| line.starts_with("process.fork-exit"));
    let words: Vec<_> = row.unwrap_or_default().split_whitespace().collect();
    let [_, _, _, _, _, faults, _, difference, ..] = words[..] else { panic!("{}", ran.stdout) };
    assert_eq!(faults, "2", "{}", ran.stdout);
    // A new process also takes pages, of which there are as many left as the boot left: that may
    // differ, and then it is told where.
    let is_explained = row.unwrap_or_default().contains("explained: __zone_watermark_ok+");
    assert!((difference == "0" || is_explained) && ran.code == 0, "{}", ran.stdout);
}

/// Programs that enter by AMD's 32-bit `syscall`, which Bochs lacks, would leave a process in QEMU
/// only, which `signal.deliver` and others then see on this variant.
#[test]
fn what_bochs_lacks_is_executed_in_neither() {
    let subject = "lab:smap=off,flags=iopl-only,irq-restore=popf";
    let ran = Scene::warm().run(&["witness", subject]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    let left_out = |line: &str| line.starts_with("ioctl.compat-entry") && line.contains("left out");
    assert!(ran.stdout.lines().any(left_out), "{}", ran.stdout);
}

/// Bochs with a CPU that lacks AVX: a task's FPU state is 256 bytes shorter there, so a new task
/// copies 32 words less. That is found; a new process also takes pages, of which there are as many
/// left as the boot left.
#[test]
fn a_difference_is_explained_by_the_instruction_that_makes_it() {
    let scene = Scene::warm();
    let script = "#!/bin/sh\n\
        case \"$*\" in *--help*) exec bochs \"$@\" ;; esac\n\
        rc=$(dirname \"$0\")/bochsrc\n\
        sed 's/simd=avx2/simd=sse4_2/; s/, avx_f16c=1, avx_fma=1//' \"$3\" >\"$rc\"\n\
        exec bochs -q -f \"$rc\"\n";
    let bochs = scene.executable("bochs", script);
    let ran = scene.run(&["witness", &built("base"), "--bochs", &bochs]);
    let line = |begin: &str| {
        let line = ran.stdout.lines().find(|line| line.starts_with(begin)).unwrap_or_default();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let row = line("process.thread ");
    assert!(row.ends_with("-32 0 of 13 explained: memcpy+0x12"), "{}", ran.stdout);
    assert!(line("process.thread:").contains("-32, explained:"), "{}", ran.stdout);
    assert!(line("process.fork-exit ").ends_with("explained: memcpy+0x12"), "{}", ran.stdout);
    assert_eq!(line("memcpy+0x12"), "memcpy+0x12 movsq 1 -32 more iterations in QEMU");
    assert!(!ran.stdout.contains("not explained"), "{}", ran.stdout);
    assert_eq!(ran.code, 0, "the kernel itself decides by how long the state is");
}

#[test]
fn what_is_no_bochs_is_named_with_what_to_install() {
    let ran = Scene::warm().run(&["witness", "lab", "--bochs", "/no/such/bochs"]);
    assert_eq!(ran.code, 3);
    assert!(ran.stderr.contains("/no/such/bochs: it can't be run"), "{}", ran.stderr);
    assert!(ran.stderr.contains("bochs-sdl"), "{}", ran.stderr);
    let ran = Scene::warm().run(&["witness", "lab", "--bochs", "/bin/true"]);
    assert!(ran.stderr.contains("does not say that it is Bochs"), "{}", ran.stderr);
}

#[test]
fn the_cpu_is_no_choice_and_there_is_one() {
    let ran = Scene::warm().run(&["witness", "lab:cpus=2"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("Bochs is given one CPU"), "{}", ran.stderr);
    let ran = Scene::warm().run(&["witness", "lab", "--cpu", "skylake"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("both interpreters have the same CPU"), "{}", ran.stderr);
}

#[test]
fn runs_of_a_program_of_ones_own_are_compared_by_their_sums() {
    let program = program("compat32");
    let ran = Scene::warm().run(&["witness", &built("base"), "--", &program]);
    let rows: Vec<Vec<i64>> = ran.stdout.lines().filter_map(numbers).collect();
    assert_eq!(rows.len(), 7, "{}", ran.stdout);
    for row in &rows {
        let [_, retired, string_bytes, qemu, checks, faults, bochs, difference] = row[..] else {
            panic!("{}", ran.stdout)
        };
        assert!(retired < qemu && string_bytes > 0 && checks > 5 && faults > 1, "{row:?}");
        assert_eq!(bochs - (qemu - checks + faults), difference);
    }
    let other = |text: &str| ran.stdout.contains(text);
    assert!(!other("wrote other text"), "{}", ran.stdout);
    // The sums differ by what depends on the kernel's lists of pages and objects, which are filled
    // differently; how much depends on where memory lies, and so on the length of a path. By row:
    // what depends on no such list is equal, but where a tick comes in one of the two only.
    for (row, least) in [("user code", 7), ("getppid (32-bit)", 6), ("write (32-bit)", 5)] {
        let line = ran.stdout.lines().find(|line| line.starts_with(row));
        let words: Vec<_> = line.unwrap_or_default().split_whitespace().collect();
        let [.., equal, "of", "7"] = words[..] else { panic!("{}", ran.stdout) };
        assert!(equal.parse::<u32>().unwrap() >= least, "{}", ran.stdout);
    }
}

/// The numbers of a line that has nothing else.
fn numbers(line: &str) -> Option<Vec<i64>> {
    let words = line.split_whitespace();
    let numbers: Vec<i64> =
        words.map(|word| word.replace([',', '+'], "").parse().ok()).collect::<Option<_>>()?;
    (numbers.len() == 8).then_some(numbers)
}
