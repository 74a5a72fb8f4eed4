//! Sessions on the machine that the tests run on, whatever it permits.
#![allow(clippy::unwrap_used, reason = "helpers of tests, which clippy does not take for such")]

use std::cell::Cell;
use std::time::Duration;

use pathmeter_host::{
    Condition, Limit, Programs, SessionError, Wanted, allowed_cpus, host_paths, measure,
    tracepoint_number,
};
use pathmeter_model::{Status, TimeComparison, TimeVerdict, Times, parse_times};

fn condition(name: &str, restraint: Option<Vec<u8>>) -> Condition {
    Condition { name: name.to_owned(), restraint, ..Condition::default() }
}

/// Builds what a short session shall measure: these paths under these conditions.
fn build_wanted<'a>(paths: &'a [&'a str], conditions: &'a [Condition]) -> Wanted<'a> {
    Wanted {
        paths,
        conditions,
        cpu: *allowed_cpus().last().unwrap(),
        replicates: 3,
        most: 3,
        width: 0.02,
        batches: 4,
        seed: 1,
        delays: [0; 3],
        limit: Duration::from_secs(60),
        interrupted: &|| false,
    }
}

fn times(paths: &[&str]) -> Times {
    measure(&build_wanted(paths, &[condition("default", None)]), &|_| ()).unwrap()
}

#[test]
fn every_path_has_times_or_a_reason_and_the_document_is_read_back() {
    let names: Vec<&str> = host_paths().iter().map(|path| path.name).collect();
    let times = times(&names);
    assert_eq!(times.paths.len(), names.len());
    for path in &times.paths {
        match path.status {
            Status::Ok => assert!(path.replicates.len() >= 2, "{}", path.path),
            _ => assert!(path.reason.is_some(), "{}", path.path),
        }
    }
    let measured = |name: &str| times.path(name).unwrap().status == Status::Ok;
    for name in ["clock.empty", "syscall.getppid", "switch.pipe", "process.fork-exit", "insn.inc"] {
        let reason = times.path(name).unwrap().reason.as_ref();
        assert!(measured(name), "{name}: {reason:?}");
    }
    let json = serde_json::to_vec(&times).unwrap();
    assert_eq!(parse_times(&json).unwrap(), times);
}

#[test]
fn batches_are_long_beside_a_step_of_the_clock() {
    // Not `insn.inc`: some cores hand its word on without the cache in one process and not in the
    // next, four times as fast (docs/reference/paths.md).
    let times = times(&["syscall.getppid", "insn.popf"]);
    for name in ["syscall.getppid", "insn.popf"] {
        let batches: Vec<u64> = times
            .path(name)
            .unwrap()
            .replicates
            .iter()
            .flat_map(|it| it.sides[0].clone())
            .collect();
        let shortest = batches.into_iter().min().unwrap();
        assert!(shortest > 500 * times.method.step, "{name}: {shortest}, {:?}", times.method);
    }
}

#[test]
fn only_what_is_wanted_is_executed_and_the_clock_always() {
    let names: Vec<String> = times(&["getcpu.vdso"]).paths.into_iter().map(|it| it.path).collect();
    assert_eq!(names, ["getcpu.vdso", "clock.empty", "clock.multiply", "clock.rotate"]);
}

/// Whether a cycle is told depends on the machine; if it is, a core can have it, by each chain.
#[test]
fn a_cycle_is_one_that_a_core_can_have_or_there_is_none() {
    let times = times(&["clock.multiply", "clock.rotate"]);
    let level = |name| times.level(times.path(name).unwrap(), 0).unwrap().ticks;
    let (multiply, rotate) = (level("clock.multiply"), level("clock.rotate"));
    match times.ticks_per_cycle() {
        Ok(ticks) => {
            #[allow(clippy::cast_precision_loss, reason = "a rate in Hertz is far below 2^53")]
            let gigahertz = times.method.ticks_per_second as f64 / ticks / 1e9;
            assert!((0.4..=7.0).contains(&gigahertz), "{gigahertz} GHz");
            let both = [multiply / ticks / 3.0, rotate / ticks];
            assert!(both.iter().all(|share| (share - 1.0).abs() < 0.06), "{both:?}");
        }
        Err(why) => assert!(!why.to_string().is_empty()),
    }
    // However busy the machine is, a multiplication takes longer than a rotation.
    assert!(multiply > 1.5 * rotate, "{multiply}, {rotate}");
}

/// Twice as long is found on any machine, in whatever load: it is far beyond what chance makes.
/// Only a machine that is not still has no verdict, since base differs from its own copy there;
/// its interval has the difference all the same.
#[test]
fn a_call_that_takes_twice_as_long_is_found_and_no_other() {
    let both = [condition("default", None), condition("default", None)];
    let wanted =
        Wanted { replicates: 24, delays: [0, 0, 600], ..build_wanted(&["syscall.getppid"], &both) };
    let times = measure(&wanted, &|_| ()).unwrap();
    let shown = |path: &str| path == "syscall.getppid";
    let comparison = TimeComparison::of_session(&times, shown, 0.02).unwrap();
    let row = &comparison.paths[0];
    match row.verdict {
        TimeVerdict::Slower => {}
        TimeVerdict::Undecidable => {
            let why = row.reason.as_deref().unwrap_or_default();
            assert!(why.contains("the machine is not still"), "{comparison:?}");
        }
        _ => panic!("{comparison:?}"),
    }
    assert!(row.interval.is_some_and(|[least, _]| least > 50.0), "{comparison:?}");
}

#[test]
fn a_filter_that_kills_is_the_conditions_and_base_is_measured_all_the_same() {
    // No flags, and one instruction of classic BPF: return SECCOMP_RET_KILL_PROCESS.
    let kill = vec![0, 0, 0, 0, 0, 0, 0, 0, 0x06, 0, 0, 0, 0, 0, 0, 0x80];
    let times =
        measure(&build_wanted(&["syscall.getppid"], &[condition("kill", Some(kill))]), &|_| ());
    let killed = times.unwrap();
    let path = killed.path("syscall.getppid").unwrap();
    assert_eq!(path.status, Status::Failed);
    assert!(path.reason.as_ref().unwrap().contains("signal 31"), "{:?}", path.reason);
    assert_eq!(self::times(&["syscall.getppid"]).paths[0].status, Status::Ok);
}

/// The filter returns `SECCOMP_RET_ALLOW`; its flags are such that no kernel knows.
#[test]
fn the_flags_of_a_filter_are_the_kernels_to_take_unless_it_may_lack_them() {
    let allow = [0x06, 0, 0, 0, 0, 0, 0xff, 0x7f];
    let with = |may_lack: u8| {
        let filter = [&[0, 0, 0, 0x40, may_lack, 0, 0, 0][..], &allow].concat();
        let conditions = [condition("allow", Some(filter))];
        measure(&build_wanted(&["syscall.getppid"], &conditions), &|_| ())
    };
    let refused = with(0).unwrap_err();
    assert!(matches!(&refused, SessionError::Condition { .. }), "{refused}");
    let times = with(1).unwrap();
    assert_eq!(times.path("syscall.getppid").unwrap().status, Status::Ok);
}

fn mounts() -> String {
    std::fs::read_to_string("/proc/self/mounts").unwrap()
}

/// Whatever the machine permits: hits prove it where it counts, and nothing is left of it.
#[test]
fn a_tracepoint_is_proved_where_it_is_hit_or_refused_with_a_reason() {
    let before = mounts();
    let number = tracepoint_number("sched", "sched_switch");
    assert_eq!(mounts(), before);
    let Ok(tracepoint) = number else { return };
    let conditions = [Condition { name: "counted".to_owned(), tracepoint, ..Condition::default() }];
    match measure(&build_wanted(&["syscall.getppid", "switch.pipe"], &conditions), &|_| ()) {
        Ok(times) => {
            let note = "counted: proved by its hits on switch.pipe; unproved on syscall.getppid, \
                        which do not hit it";
            assert!(times.notes.contains(&note.to_owned()), "{:?}", times.notes);
        }
        Err(SessionError::Condition { why, .. }) => assert!(why.contains("CAP_PERFMON"), "{why}"),
        Err(error) => panic!("{error}"),
    }
    assert_eq!(mounts(), before);
}

/// Folders of control groups that this process's sessions made, wherever groups are mounted.
fn groups() -> Vec<String> {
    let mounts = mounts();
    let places = mounts.lines().filter(|line| line.contains(" cgroup2 "));
    let places = places.filter_map(|line| line.split(' ').nth(1));
    let text = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let own = text.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or("/").to_owned();
    let around = places.flat_map(|place| {
        let groups = std::path::Path::new(&own).ancestors();
        groups.map(|group| format!("{place}{}", group.display())).collect::<Vec<_>>()
    });
    let folders = around.filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    let names = folders.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.starts_with(&format!("pathmeter-{}-", std::process::id()))).collect()
}

fn limited(name: &str, value: &str) -> Condition {
    let limits = vec![Limit { name: name.to_owned(), value: value.to_owned() }];
    Condition { name: format!("cgroup:{name}={value}"), limits, ..Condition::default() }
}

/// One after the other in one test: they look for the groups of this process. Whatever the machine
/// permits.
#[test]
fn a_control_group_is_there_for_a_session_and_gone_after_it_or_refused_with_a_reason() {
    for (name, value) in [("depth", "3"), ("pids.max", "100"), ("hugetlb.2MB.max", "0")] {
        let conditions = [condition("default", None), limited(name, value)];
        let seen = Cell::new(0);
        let interrupted = || {
            seen.set(seen.get().max(groups().len()));
            false
        };
        let wanted =
            Wanted { interrupted: &interrupted, ..build_wanted(&["syscall.getppid"], &conditions) };
        let came = measure(&wanted, &|_| ());
        assert_eq!(groups(), [""; 0], "{name}");
        match came {
            Ok(times) => {
                assert_eq!(seen.get(), 1, "{name}");
                let told = |note: &String| note.contains("the processes were in the group /");
                let note = times.notes.iter().find(|note| told(note)).unwrap();
                let limit = format!("and its {name} reads {value}");
                assert!(name == "depth" || note.contains(&limit), "{note}");
                assert!(name != "depth" || note.ends_with("/in/in"), "{note}");
                assert_eq!(times.paths[0].status, Status::Ok);
            }
            Err(SessionError::Condition { condition, why }) => {
                assert_eq!(condition, format!("cgroup:{name}={value}"));
                assert!(why.contains("control group") || why.contains("handed on"), "{why}");
            }
            Err(error) => panic!("{error}"),
        }
    }
    let conditions = [condition("default", None), limited("depth", "2")];
    let interrupted = || !groups().is_empty();
    let wanted =
        Wanted { interrupted: &interrupted, ..build_wanted(&["switch.pipe"], &conditions) };
    let came = measure(&wanted, &|_| ());
    assert!(matches!(came, Err(SessionError::Interrupted | SessionError::Condition { .. })));
    assert_eq!(groups(), [""; 0]);
    let nowhere = [limited("nosuch.max", "1")];
    let Err(SessionError::Condition { why, .. }) =
        measure(&build_wanted(&["syscall.getppid"], &nowhere), &|_| ())
    else {
        panic!("no kernel has it")
    };
    assert!(why.contains("nosuch") || why.contains("mounted nowhere"), "{why}");
    assert_eq!(groups(), [""; 0]);
}

/// Whatever the machine permits: executions prove them where they are, and elsewhere nothing does.
#[test]
fn bpf_programs_are_executed_in_each_call_or_refused_with_a_reason() {
    let programs = vec![Programs::find("raw_tracepoint:sys_enter", 2).unwrap()];
    let bpf = Condition { name: "bpf".to_owned(), programs, ..Condition::default() };
    let conditions = [condition("default", None), bpf];
    match measure(&build_wanted(&["syscall.getppid", "insn.inc"], &conditions), &|_| ()) {
        Ok(times) => {
            let note = times.notes.iter().find(|note| note.starts_with("bpf: ")).unwrap();
            let proved = "executed at least once per call of syscall.getppid";
            assert!(note.contains(proved), "{note}");
            // Whether it is proved there as well depends on the calls of other processes meanwhile.
            assert!(note.contains("insn.inc"), "{note}");
        }
        Err(SessionError::Condition { condition, why }) => {
            assert_eq!(condition, "bpf");
            assert!(why.contains("CAP_BPF") || why.contains("CONFIG_BPF"), "{why}");
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn ports_are_permitted_or_refused_with_a_reason() {
    let conditions =
        [condition("default", None), Condition { ports: 1024, ..condition("ports", None) }];
    match measure(&build_wanted(&["syscall.getppid"], &conditions), &|_| ()) {
        Ok(times) => assert_eq!(times.paths[0].status, Status::Ok),
        Err(SessionError::Condition { condition, why }) => {
            assert_eq!(condition, "ports");
            assert!(why.contains("CONFIG_X86_IOPL_IOPERM") || why.contains("CAP_SYS_RAWIO"));
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_session_that_is_interrupted_ends() {
    let asked = Cell::new(0);
    let interrupted = || {
        asked.set(asked.get() + 1);
        asked.get() > 5
    };
    let conditions = [condition("default", None)];
    let wanted =
        Wanted { interrupted: &interrupted, ..build_wanted(&["switch.pipe"], &conditions) };
    assert!(matches!(measure(&wanted, &|_| ()), Err(SessionError::Interrupted)));
}

/// No interval of one process's batches is as narrow as nothing, and any is narrower than all.
#[test]
fn a_session_goes_on_while_intervals_are_wide_and_no_longer() {
    let conditions = [condition("default", None)];
    let replicates = |width: f64| {
        let wanted = build_wanted(&["syscall.getppid"], &conditions);
        let times = measure(&Wanted { replicates: 8, most: 15, width, ..wanted }, &|_| ());
        times.unwrap().paths[0].replicates.len()
    };
    assert_eq!((replicates(0.0), replicates(1e9)), (15, 8));
}

#[test]
fn a_session_whose_time_is_up_has_what_it_took_and_says_so() {
    let conditions = [condition("default", None)];
    let wanted = Wanted {
        limit: Duration::ZERO,
        replicates: 50,
        ..build_wanted(&["getcpu.vdso"], &conditions)
    };
    let times = measure(&wanted, &|_| ()).unwrap();
    assert_eq!(times.paths[0].replicates.len(), 1);
    assert_eq!(times.notes, ["time was up after 1 of 50 replicates"]);
}
