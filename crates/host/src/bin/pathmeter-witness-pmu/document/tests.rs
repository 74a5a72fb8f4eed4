use pathmeter_model::{Configuration, Measurement, example};

use super::*;
use crate::lines::{parse, tests::whole};
use crate::table::table;

/// An exact result of these paths: each is a name, instructions in user mode, in the kernel.
fn exact(paths: &[(&str, u64, u64)]) -> Measurement {
    let paths = paths.iter().map(|(path, user, kernel)| {
        let path = example::path(path, &[user + kernel]);
        example::counting(path, &[("user", *user), ("kernel", *kernel)], &[])
    });
    let unsupported = example::unsupported("getcpu.rdpid", "no rdpid");
    let configuration = Configuration {
        cpu: "zen2".into(),
        portable: true,
        ..example::configuration("6.1.0-18-amd64", 2)
    };
    let paths = paths.chain([unsupported]).collect();
    example::measurement("vmlinuz-6.1.0-18-amd64", configuration, paths)
}

/// Passes of a counter that says one too much of each window, in which every path has 14
/// instructions in user mode and 103 in the kernel.
fn passes() -> Passes {
    let pass = |samples, straight| parse(&whole(samples, straight)).unwrap();
    Passes {
        user: vec![pass(14 + 5, [7, 107])],
        kernel: vec![pass(103, [0, 0])],
        both: vec![pass(14 + 103 + 5, [7, 107])],
    }
}

fn row<'a>(witness: &'a Witness, path: &str) -> &'a Row {
    witness.paths.iter().find(|row| row.path == path).unwrap()
}

fn index(path: &str) -> usize {
    Suite::Exact.find(path).unwrap().0
}

fn witness(passes: &Passes, exact: &Measurement) -> Witness {
    Witness::new(Counter::Processor, Host::default(), passes, exact).unwrap()
}

#[test]
fn the_stamps_and_the_counters_own_error_are_subtracted() {
    let witness = witness(&passes(), &exact(&[("syscall.getppid", 14, 102)]));
    let expected = Subtracted { stamps: 4, user: 1, kernel: 0, both: 1 };
    assert_eq!(witness.subtracted, expected);
    let row = row(&witness, "syscall.getppid");
    let Counted::Ok(modes) = &row.counted else { panic!("{row:?}") };
    assert_eq!(modes.each_ref().map(|mode| mode.value), [14, 103, 117]);
    assert_eq!(row.exact, Ok(Exact { user: 14, kernel: 102, pairs: 1 }));
}

#[test]
fn a_counter_that_does_not_count_nops_is_refused() {
    for straight in [[7, 7], [0, 0], [7, 108]] {
        let mut passes = passes();
        passes.both = vec![parse(&whole(122, straight)).unwrap()];
        let refused = Witness::new(Counter::Processor, Host::default(), &passes, &exact(&[]));
        assert!(matches!(refused, Err(Failure::Miscounts { modes: "both", .. })), "{refused:?}");
    }
}

#[test]
fn a_count_below_what_the_stamps_have_fails_its_path() {
    let mut passes = passes();
    passes.user[0].paths[index("file.stat")] = Came::Samples(vec![4; 51]);
    let witness = witness(&passes, &exact(&[]));
    assert!(matches!(row(&witness, "file.stat").counted, Counted::Failed(_)));
}

#[test]
fn a_path_that_failed_in_some_passes_keeps_the_others_and_says_so() {
    let mut passes = passes();
    let mut second = parse(&whole(19, [7, 107])).unwrap();
    second.paths[index("file.stat")] = Came::Failed("an interrupt".into());
    passes.user.push(second);
    passes.kernel[0].paths[index("switch.pipe")] = Came::Failed("no end in 4 s".into());
    let witness = witness(&passes, &exact(&[]));
    let stat = row(&witness, "file.stat");
    assert!(matches!(stat.counted, Counted::Ok(_)));
    assert_eq!(stat.failed, Some((1, "an interrupt".into())));
    let pipe = row(&witness, "switch.pipe");
    assert_eq!(pipe.counted, Counted::Failed("no end in 4 s".into()));
    assert_eq!(pipe.failed, None);
}

#[test]
fn the_count_in_the_middle_is_compared_whatever_is_exact() {
    let mut passes = passes();
    let mut samples = vec![103; 30];
    samples.extend([102; 21]);
    passes.kernel[0].paths[index("syscall.getppid")] = Came::Samples(samples);
    let witness = witness(&passes, &exact(&[("syscall.getppid", 14, 102)]));
    let Counted::Ok(modes) = &row(&witness, "syscall.getppid").counted else { panic!() };
    assert_eq!(modes[1].value, 103);
}

#[test]
fn the_table_has_a_row_for_each_path() {
    let mut passes = passes();
    let mut came = |path: &str, came: Came| {
        for modes in [&mut passes.user, &mut passes.kernel, &mut passes.both] {
            modes[0].paths[index(path)] = came.clone();
        }
    };
    came("ports.ioperm", Came::Unsupported("ioperm(2) is refused (error 38)".into()));
    came("softirq.net-rx", Came::LeftOut("it would use the kernel's tracing".into()));
    came("file.read-zero", Came::Failed("read returned 0x2".into()));
    let stray = [vec![103; 48], vec![5000; 3]].concat();
    passes.kernel[0].paths[index("file.write-null")] = Came::Samples(stray);
    passes.both[0].paths[index("file.open-close")] = Came::Samples(vec![130; 51]);
    let exact = exact(&[
        ("syscall.getppid", 14, 103),
        ("syscall.getppid-int80", 13, 104),
        ("file.stat", 14, 102),
        ("file.write-null", 14, 103),
        ("file.open-close", 14, 103),
        ("switch.futex", 14, 103),
    ]);
    let machine = Host {
        processor: "Some CPU, family 23, model 49, stepping 0".into(),
        microcode: "0x8301055".into(),
        release: "6.1.0-18-amd64".into(),
        kernel: "Linux version 6.1.0-18-amd64".into(),
        rdpmc: "1".into(),
        ..Host::default()
    };
    let witness = Witness::new(Counter::Processor, machine, &passes, &exact).unwrap();
    insta::assert_snapshot!(table(&witness));
}
