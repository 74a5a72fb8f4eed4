//! Times on a live host: a server, which prepares its surroundings once, and processes that it
//! starts, each of which takes the times of one path.
//!
//! The process is what is repeated: each is a fresh execution of the program, with an environment
//! of another size, so that its stack begins elsewhere. The server reads requests, a line each:
//!
//! ```text
//! INDEX,CALLS,WINDOWS,SIDES,SEED,DELAY,DELAY,DELAY,FILTER,PORTS,TRACEPOINT,COUNTED,PAD
//! ```
//!
//! the path's index in the catalogue, calls in each window, windows, the number of sides (see
//! `pathmeter_probes::batch`), what the order of the sides is drawn from, the rotations after each
//! call of a side, the number by which a filter of system calls is open, or 0, the I/O port below
//! which all are permitted, or 0, a tracepoint's number in tracefs, or 0, whether the kernel shall
//! count how often BPF programs are executed, 0 or 1, and bytes of the environment. A process has a
//! second argument, with what is the same for all ([`given`]). Each request is answered by lines
//! `hits COUNT`, if there is a tracepoint, and `side NUMBER TICKS…`, `unsupported REASON` or
//! `failed REASON`, then `end`; or by `refused STEP ERROR`. Then there is `runs COUNT TRANSLATED`,
//! if executions of BPF programs were counted, and `done`.

use core::{
    ptr::null,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use pathmeter_probes::{HOST, Suite};
use pathmeter_probes::{
    MAX_SAMPLES, Outcome, Probe, ProbeReport, batch,
    sys::{self, flag},
    task::{self, Ended},
};

use crate::{
    bpf::{Attached, Programs},
    execution::Execution,
    failure::prove,
    given,
    ground::{self, Refused, at},
    line::Line,
    paths, ports,
    restraint::Restraint,
    shared::SharedReport,
    tracepoint::Tracepoint,
};

/// Seconds after which a probe is killed.
const LIMIT: usize = 4;
/// Seconds after which the process is that waits for it.
const WHOLE_LIMIT: usize = 8;
/// Most bytes of a request.
const REQUEST: usize = 256;
/// Most bytes that the environment may have.
const MAX_PAD: usize = 8192;

/// The server's life: its arguments are the CPU, and the numbers by which it has open the program's
/// file, the list of processes of its control group, or 0, and the list of its BPF programs, or 0.
/// It ends with its input.
pub(crate) fn serve(numbers: &[u8]) -> Result<(), Refused> {
    let [cpu, file, group, programs] = read(numbers).ok_or(Refused::ARGUMENTS)?;
    let _ = sys::prctl(flag::PR_SET_PDEATHSIG, flag::SIGKILL);
    let second = given::find_second_cpu(cpu as usize);
    let ground = ground::make(cpu as usize, group as usize)?;
    let programs = (programs > 0).then(|| Programs::read(programs as usize)).transpose()?;
    // Not before: who leaves no core file may not write to its own files in /proc, which map its
    // user into a namespace.
    let _ = sys::prctl(flag::PR_SET_DUMPABLE, 0);
    given::keep([file, cpu, second, u64::from(ground::own_ipc_namespace())]);
    Line::write(format_args!("ready"), ground.numbers());
    let mut request = [0; REQUEST];
    while let Some(length) = next_line(&mut request) {
        // Another process may have moved this one, and a CPU may have gone.
        task::pin(cpu as usize).map_err(at("sched_setaffinity"))?;
        let attached = programs.as_ref().map(|it| it.attach(ground.is_apart())).transpose()?;
        one(&mut request, length, attached.as_ref());
        drop(attached);
        Line::write(format_args!("done"), []);
    }
    Ok(())
}

/// Has a process do what the request asks for, while these programs are attached.
fn one(request: &mut [u8; REQUEST], length: usize, attached: Option<&Attached>) {
    let asked = |end: &[u8]| end.rsplit(|byte| *byte == b',').nth(1) == Some(b"1");
    let attached = attached.filter(|_| request.get(..length).is_some_and(asked));
    let counting = attached.and_then(|_| Attached::count_runs().ok());
    match task::in_child(|| execute(request, length)) {
        Ok((_, Ended::Exit(0))) => {}
        Ok((_, ended)) => Line::write(format_args!("failed the process ended: {ended:?}"), []),
        Err(error) => Line::write(format_args!("failed no process (error {error})"), []),
    }
    if let (Some(attached), Some(counting)) = (attached, counting) {
        let (runs, translated) = attached.runs();
        let _ = sys::close(counting);
        Line::write(format_args!("runs {runs} {}", u8::from(translated)), []);
    }
}

/// Reads a line from standard input, without its end: how many bytes of `line` it has. None at the
/// end of the input.
fn next_line(line: &mut [u8; REQUEST]) -> Option<usize> {
    let mut length = 0;
    loop {
        let mut byte = [0];
        match sys::read(0, &mut byte) {
            Ok(1) if byte[0] == b'\n' => return Some(length),
            // A longer request is none of the command's; its end is refused as a number.
            Ok(1) => {
                *line.get_mut(length.min(REQUEST - 2))? = byte[0];
                length = (length + 1).min(REQUEST - 1);
            }
            Err(sys::errno::EINTR) => {}
            _ => return None,
        }
    }
}

/// Executes the program afresh for this request. It returns only if that failed.
fn execute(request: &mut [u8; REQUEST], length: usize) -> usize {
    const FAILED: usize = 104;
    static ENVIRONMENT: [u8; MAX_PAD] = environment();
    let Some(numbers) = request.get(..length) else { return FAILED };
    // Kept over the execution: it ends with the server, as the server with the command.
    let _ = sys::prctl(flag::PR_SET_PDEATHSIG, flag::SIGKILL);
    let pad = numbers.rsplit(|byte| *byte == b',').next().and_then(number).unwrap_or(0);
    let start = MAX_PAD - 2 - (pad as usize).min(MAX_PAD - 3);
    if let Some(end) = request.get_mut(length) {
        *end = 0;
    }
    let given = given::text();
    let (request, given) = (request.as_ptr(), given.as_bytes().as_ptr());
    let arguments = [c"live".as_ptr().cast(), c"time".as_ptr().cast(), request, given, null()];
    let environment = [ENVIRONMENT.as_ptr().wrapping_add(start), null()];
    // SAFETY: literals, the request with the NUL just written, what is given, and the environment:
    // all end in NUL.
    unsafe { given::execute(&arguments, &environment) };
    FAILED
}

/// A text of a variable's form, whatever it is cut off before, that ends in NUL.
const fn environment() -> [u8; MAX_PAD] {
    let mut bytes = [b'='; MAX_PAD];
    bytes[MAX_PAD - 1] = 0;
    bytes
}

/// One process: takes the times that the numbers ask for, and writes them.
pub(crate) fn process(numbers: &[u8], given: &[u8]) -> Result<(), Refused> {
    const FEW: usize = 100;
    let _ = sys::alarm(WHOLE_LIMIT);
    given::keep(read(given).ok_or(Refused::ARGUMENTS)?);
    let [index, calls, windows, sides, seed, delays @ .., restraint, end, number, _counted, _pad] =
        read::<13>(numbers).ok_or(Refused::ARGUMENTS)?;
    let (index, sides) = (index as usize, sides as usize);
    let windows = (windows as usize).clamp(1, MAX_SAMPLES);
    PROBE.store(index, Relaxed);
    probe(index).ok_or(Refused::ARGUMENTS)?;
    batch::set(calls, delays.map(|delay| delay as u32));
    batch::plan(sides, windows, seed);
    if end > 0 {
        ports::permit(end as usize)?;
    }
    let tracepoint = (number > 0)
        .then(|| Tracepoint::open(number).map_err(at("perf_event_open")))
        .transpose()?;
    let restraint = (restraint > 0)
        .then(|| Restraint::read(restraint as usize).map_err(at("restraint")))
        .transpose()?;
    restraint.map_or(Ok(()), possible)?;
    let mut shared =
        SharedReport::new(restraint, seed).map_err(|_| Refused { step: "mmap", error: 0 })?;
    // A rehearsal: it maps the program's pages and those of the report, since the two share their
    // memory; what a few windows report is in the first of them.
    let _ = shared.run((index, bound), if windows > FEW { windows as u32 } else { 1 }, LIMIT);
    let before = tracepoint.as_ref().map_or(0, Tracepoint::hits);
    let came = Execution::of(&mut shared, (index, bound), windows as u32, LIMIT);
    if let Some(tracepoint) = tracepoint {
        let hits = tracepoint.hits().saturating_sub(before);
        Line::write(format_args!("hits {hits}"), []);
    }
    write(&came, sides);
    Ok(())
}

/// Whether a process can restrain itself so.
fn possible(restraint: Restraint) -> Result<(), Refused> {
    let install =
        || restraint.install().err().map_or(0, |error| usize::try_from(error).unwrap_or(1));
    match task::in_child(install).map_err(at("fork"))? {
        (_, Ended::Exit(error)) if error > 0 => {
            Err(Refused { step: "restraint", error: error.cast_signed() })
        }
        _ => Ok(()),
    }
}

/// Writes what came of a path, side by side.
fn write(came: &Execution<'_>, sides: usize) {
    let Execution::Samples(samples) = came else {
        return Line::write(format_args!("{came}"), []);
    };
    for side in 0..sides {
        let of_side = samples.iter().enumerate();
        let of_side = of_side.filter(|(window, _)| usize::from(batch::side(*window)) == side);
        Line::write(format_args!("side {side}"), of_side.map(|(_, ticks)| *ticks));
    }
}

/// The index of the path whose times the process takes.
static PROBE: AtomicUsize = AtomicUsize::new(0);

/// Its probe, whose times are none if it was not bound to its CPU to the end.
fn bound(report: &mut ProbeReport) -> Outcome {
    if let Some(probe) = probe(PROBE.load(Relaxed)) {
        probe(report)?;
    }
    prove!(given::is_bound(), "the CPUs that it may execute on were changed meanwhile");
    Ok(())
}

/// The probe of the path with this index: those of guests come first.
fn probe(index: usize) -> Option<Probe> {
    let of_guests = Suite::Exact.probes();
    of_guests.get(index).copied().or_else(|| {
        let path = HOST.get(index.checked_sub(of_guests.len())?)?;
        paths::probe(path.name)
    })
}

/// So many numbers, separated by commas.
fn read<const N: usize>(text: &[u8]) -> Option<[u64; N]> {
    let mut numbers = [0; N];
    let mut words = text.split(|byte| *byte == b',');
    for place in &mut numbers {
        *place = number(words.next()?)?;
    }
    words.next().is_none().then_some(numbers)
}

fn number(word: &[u8]) -> Option<u64> {
    core::str::from_utf8(word).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_many_as_asked_for() {
        assert_eq!(read(b"3,0,12"), Some([3, 0, 12]));
        for wrong in [&b"3,0"[..], b"3,0,1,2", b"3,-1,2", b"", b"3,,2"] {
            assert_eq!(read::<3>(wrong), None);
        }
    }
}
