//! What both interpreters execute for a witness, in Bochs: once for its samples, and once more to
//! trace paths of it.

use std::fs::File;
use std::thread::Builder;

use pathmeter_probes::{Path, Round, Suite};
use pathmeter_vm::elsewhere::{boot_paths, boot_plan, boot_program};
use pathmeter_vm::{Parcel, PathOutcome, Plan, RanProgram, Request, Settings, VmError};

use crate::bochs::Bochs;
use crate::bochs::guest::{BochsGuest, BochsHost};
use crate::bochs::machine::is_intels;
use crate::bochs::traces::TracedWindow;
use crate::bochs::watch::{Landmarks, Stop};

/// The paths that the CPU which Bochs puts together can't execute, unless it is Intel's: it has
/// AMD's `syscall` in 64-bit code only (Bochs `cpu/generic_cpuid.cc`). It would end the 32-bit
/// programs of both at their first system call, and leave other processes than QEMU's does.
const BY_32_BIT_SYSCALL: [&str; 2] = ["ioctl.compat-entry", "flags.isolation"];

/// What both interpreters execute on a machine with these settings, once: the paths of
/// [`Suite::Exact`] that Bochs' CPU has, without those in which the CPU idles. In Bochs, waiting
/// takes its time; and a path that it can't execute would leave its memory in another state than
/// QEMU's.
pub(crate) fn witness_plan(settings: &Settings) -> Plan {
    let left_out = |(index, path): (usize, &Path)| {
        let refused = BY_32_BIT_SYSCALL.contains(&path.name) && !is_intels(settings);
        (path.kind.round() == Round::Idle || refused).then_some(index)
    };
    let paths = Suite::Exact.paths().iter().enumerate();
    paths.filter_map(left_out).fold(Plan::new(Suite::Exact, 1), Plan::without)
}

/// Executes the [`witness_plan`] in Bochs: what came of each path, in the order of the suite. Those
/// that are left out have failed.
pub(crate) fn witness(bochs: &Bochs, request: &Request<'_>) -> Result<Vec<PathOutcome>, VmError> {
    let plan = witness_plan(request.settings);
    boot_plan::<BochsGuest>(&BochsHost::of(bochs), request, &plan)
}

/// Executes the same once more, up to the last of these windows' paths, each of which has one, and
/// has Bochs' debugger print every instruction of the windows. `read` is handed what it prints of
/// each as it comes, on a thread of its own, and what it returns is handed back, in the order of
/// `windows`. What it is handed goes on after the window's end, so it should read no further.
///
/// # Errors
/// What keeps the guest from being run.
pub(crate) fn witness_traced<R: Send>(
    bochs: &Bochs,
    request: &Request<'_>,
    windows: &[TracedWindow],
    read: impl Fn(File) -> R + Sync,
) -> Result<Vec<R>, VmError> {
    let host = |what| move |source| VmError::Host { what, source };
    let (mut traces, mut outputs) = (Vec::new(), Vec::new());
    for window in windows {
        let pipe = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC);
        let (output, input) =
            pipe.map_err(|error| host("making a pipe for a trace")(error.into()))?;
        traces.push((window.clone(), File::from(input)));
        outputs.push(File::from(output));
    }
    std::thread::scope(|scope| {
        let read = &read;
        let reader = |output| Builder::new().spawn_scoped(scope, move || read(output));
        let readers = match outputs.into_iter().map(reader).collect::<std::io::Result<Vec<_>>>() {
            Ok(readers) => readers,
            Err(source) => {
                // Those that there are end when nobody can write to their pipes any more.
                drop(traces);
                return Err(host("starting a thread for each trace")(source));
            }
        };
        let ran = run_traced(bochs, request, traces);
        // The guest is gone, and with it the pipes' other ends: the readers come to an end.
        let read = readers
            .into_iter()
            .map(|reader| reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        let read: Vec<R> = read.collect();
        ran.map(|()| read)
    })
}

fn run_traced(
    bochs: &Bochs,
    request: &Request<'_>,
    traces: Vec<(TracedWindow, File)>,
) -> Result<(), VmError> {
    let plan = witness_plan(request.settings);
    let paths: Vec<usize> = traces.iter().map(|(window, _)| window.path).collect();
    let host = BochsHost::of(bochs).with_traces(traces);
    boot_paths::<BochsGuest>(&host, request, (&plan, &paths))
}

/// Executes a program in a Bochs that boots with the job in its initramfs, and stops at the
/// landmarks. Its stops in each run are what was counted.
///
/// # Errors
/// What keeps the guest from being run.
pub(crate) fn witness_program(
    bochs: &Bochs,
    request: &Request<'_>,
    parcel: &Parcel,
    runs: u32,
    landmarks: Landmarks,
) -> Result<RanProgram<Vec<Vec<Stop>>>, VmError> {
    let host = BochsHost::of(bochs).with_landmarks(landmarks);
    let mut stops = Vec::new();
    let ended = &mut |guest: &mut BochsGuest| stops.push(guest.take_stops());
    let ran = boot_program(&host, request, parcel, runs, ended)?;
    let RanProgram { release, firmware, proofs, runs, outputs, unlike, perf_maps, counts: () } =
        ran;
    Ok(RanProgram { release, firmware, proofs, runs, outputs, unlike, perf_maps, counts: stops })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathmeter_vm::Cpu;

    #[test]
    fn only_intels_cpu_executes_what_enters_by_the_fast_32_bit_entry() {
        let left_out = |vendor: &str| {
            let cpu = Cpu::from_name(&format!("base,vendor={vendor}"));
            let plan = witness_plan(&Settings { cpu, ..Settings::default() });
            let paths = Suite::Exact.paths().iter().enumerate();
            let paths = paths.filter(|(index, _)| plan.skips(*index));
            paths.map(|(_, path)| path.name).collect::<Vec<_>>()
        };
        let amds = left_out("AuthenticAMD");
        assert!(BY_32_BIT_SYSCALL.iter().all(|name| amds.contains(name)), "{amds:?}");
        let intels = left_out("GenuineIntel");
        assert!(!BY_32_BIT_SYSCALL.iter().any(|name| intels.contains(name)), "{intels:?}");
        assert!(intels.contains(&"wake.switch"), "{intels:?}");
    }
}
