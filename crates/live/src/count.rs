//! One pass: all paths once, each in a child, with the counter in one set of modes.

use pathmeter_probes::{Path, Suite, left_out};
use pathmeter_probes::{
    Probe, clock,
    sys::{self, flag},
    task::{self, Ended},
};

use crate::{
    event::{Event, Modes},
    execution::Execution,
    ground::{self, Refused},
    line::{Line, Reason},
    shared::SharedReport,
};

/// Seconds after which a probe is killed, a real-time task that loops among them.
const LIMIT: usize = 4;
/// Seconds after which the program is.
const WHOLE_LIMIT: usize = 240;
/// Windows written out by hand, of each length.
const STRAIGHT: usize = 51;
/// Nops of the longer ones.
const NOPS: usize = 100;

/// A pass with the counter in the modes of this name, on the CPU of this number.
pub(crate) fn pass(modes: &[u8], cpu: &[u8]) -> Result<(), Refused> {
    let (modes, cpu) = read(modes, cpu).ok_or(Refused::ARGUMENTS)?;
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
    for (index, (path, probe)) in suite.paths().iter().zip(suite.probes()).enumerate() {
        match left_out(path) {
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
    let came = Execution::of(shared, (index, probe), path.kind.samples(), LIMIT);
    let held = event.map_or(Ok(()), Event::held);
    match (came, held) {
        (_, Err(trouble)) => {
            Line::write(format_args!("path {index} failed {}", Reason(trouble.as_bytes())), []);
        }
        (Execution::Samples(samples), _) => {
            let fitted = |count: &u64| event.map_or(*count, |event| event.fitted(*count));
            Line::write(format_args!("path {index} ok"), samples.iter().map(fitted));
        }
        (came, _) => Line::write(format_args!("path {index} {came}"), []),
    }
}

fn read(modes: &[u8], cpu: &[u8]) -> Option<(Modes, usize)> {
    Some((Modes::from_word(modes)?, core::str::from_utf8(cpu).ok()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_modes_and_a_cpu() {
        assert_eq!(read(b"kernel", b"3"), Some((Modes::Kernel, 3)));
        let wrong: [[&[u8]; 2]; 3] = [[b"user", b""], [b"user", b"-1"], [b"all", b"0"]];
        assert!(wrong.into_iter().all(|[modes, cpu]| read(modes, cpu).is_none()));
    }
}
