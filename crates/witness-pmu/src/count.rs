//! One pass: all paths once, each in a child, with the counter in one set of modes.

use pathmeter_catalogue::{Path, Suite};
use pathmeter_probes::{
    Probe, ProbeStatus, clock, probes,
    sys::{self, flag},
    task::{self, Ended},
    text::Text,
};

use crate::{
    event::{Event, Modes},
    ground::{self, Refused},
    left_out,
    line::{Line, Reason},
    shared::SharedReport,
    trouble::Trouble,
};

/// Seconds after which a probe is killed, a real-time task that loops among them.
const LIMIT: usize = 4;
/// Seconds after which the program is.
const WHOLE_LIMIT: usize = 240;
/// Windows written out by hand, of each length.
const STRAIGHT: usize = 51;
/// Nops of the longer ones.
const NOPS: usize = 100;

/// Entered by the program's runtime, with its arguments: the program's name, the modes, the CPU.
pub fn enter(arguments: &[&[u8]]) -> ! {
    let refused = match read(arguments) {
        Some((modes, cpu)) => pass(modes, cpu).err(),
        None => Some(Refused { step: "arguments", error: 0 }),
    };
    match refused {
        Some(Refused { step, error }) => Line::write(format_args!("refused {step} {error}"), []),
        None => Line::write(format_args!("end"), []),
    }
    sys::exit(0)
}

fn read(arguments: &[&[u8]]) -> Option<(Modes, usize)> {
    let [_, modes, cpu] = arguments else { return None };
    Some((Modes::named(modes)?, core::str::from_utf8(cpu).ok()?.parse().ok()?))
}

fn pass(modes: Modes, cpu: usize) -> Result<(), Refused> {
    let _ = sys::alarm(WHOLE_LIMIT);
    // As the agent does; and no probe leaves a core file.
    let _ = sys::prctl(flag::PR_SET_DUMPABLE, 0);
    let in_root = ground::prepare(cpu)?;
    // A program that was built without the counter reads the clock in its place, to be tested.
    let event = clock::READS_COUNTER.then(|| Event::open(modes, cpu)).transpose()?;
    try_stamp()?;
    Line::write(format_args!("cgroup {}", u32::from(in_root)), []);
    let fitted = |count| event.as_ref().map_or(count, |event| event.fitted(count));
    straight::<0>(fitted);
    straight::<NOPS>(fitted);
    let mut shared = SharedReport::new(None, 0).map_err(|_| Refused { step: "mmap", error: 0 })?;
    let suite = Suite::Exact;
    for (index, (path, probe)) in suite.paths().iter().zip(probes(suite)).enumerate() {
        match left_out::reason(path) {
            Some(reason) => Line::write(format_args!("path {index} left-out {reason}"), []),
            None => execute(&mut shared, event.as_ref(), index, path, *probe),
        }
    }
    Ok(())
}

/// Takes a stamp in a child: where the program may not read the counter, it is killed.
fn try_stamp() -> Result<(), Refused> {
    let tried = task::trial(|| usize::from(clock::stamp() == u64::MAX));
    match tried {
        Ok(Ended::Exit(_)) => Ok(()),
        _ => Err(Refused { step: "rdpmc", error: 0 }),
    }
}

fn straight<const COUNT: usize>(fitted: impl Fn(u64) -> u64) {
    let counts = [(); STRAIGHT].map(|()| fitted(clock::straight::<COUNT>()));
    Line::write(format_args!("straight {COUNT}"), counts);
}

/// Runs the path's probe in a child and writes what came of it.
fn execute(
    shared: &mut SharedReport,
    event: Option<&Event>,
    index: usize,
    path: &Path,
    probe: Probe,
) {
    let ran = shared.run((index, probe), path.kind.samples(), LIMIT);
    let failed = |reason: &[u8]| {
        Line::write(format_args!("path {index} failed {}", Reason(reason)), []);
    };
    let (ended, report) = match ran {
        Ok(ran) => ran,
        Err(error) => {
            let reason: Trouble = Text::format(format_args!("no process (error {error})"));
            return failed(reason.as_bytes());
        }
    };
    if let Some(Err(trouble)) = event.map(Event::held) {
        return failed(trouble.as_bytes());
    }
    match report.status() {
        ProbeStatus::Ok => {
            let fitted = |count: &u64| event.map_or(*count, |event| event.fitted(*count));
            Line::write(format_args!("path {index} ok"), report.samples().iter().map(fitted));
        }
        ProbeStatus::Unsupported => {
            let reason = Reason(report.reason());
            Line::write(format_args!("path {index} unsupported {reason}"), []);
        }
        ProbeStatus::Broken => failed(report.reason()),
        ProbeStatus::Silent => failed(silent(ended).as_bytes()),
    }
}

/// How a probe ended that left no report.
fn silent(ended: Ended) -> Trouble {
    const SIGALRM: u32 = flag::SIGALRM as u32;
    match ended {
        Ended::Signal(SIGALRM) => Text::format(format_args!("no end in {LIMIT} s")),
        Ended::Signal(signal) => Text::format(format_args!("killed by signal {signal}")),
        Ended::Exit(code) => Text::format(format_args!("no report (exit code {code})")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_modes_and_a_cpu() {
        let program: &[u8] = b"count";
        assert_eq!(read(&[program, b"kernel", b"3"]), Some((Modes::Kernel, 3)));
        let wrong: [&[&[u8]]; 4] =
            [&[program], &[program, b"user"], &[program, b"user", b"-1"], &[program, b"all", b"0"]];
        assert!(wrong.into_iter().all(|arguments| read(arguments).is_none()));
    }

    #[test]
    fn a_probe_that_is_killed_has_a_reason() {
        let text = |ended| String::from_utf8(silent(ended).as_bytes().to_vec()).unwrap();
        assert_eq!(text(Ended::Signal(14)), "no end in 4 s");
        assert_eq!(text(Ended::Signal(11)), "killed by signal 11");
        assert_eq!(text(Ended::Exit(101)), "no report (exit code 101)");
    }
}
