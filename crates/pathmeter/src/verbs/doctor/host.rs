//! `pathmeter host doctor`: what disturbs times on this machine, and what to do about it.

use std::time::Duration;

use pathmeter_host::{Condition, Surroundings, Wanted, allowed_cpus, measure};
use pathmeter_measure::interrupt;
use pathmeter_model::{NoCycle, Status, Times};

use super::check::Check;
use crate::failure::Failure;

/// What is tried: the clock, and paths whose times tell what the machine is.
const TRIED: [&str; 7] = [
    "clock.empty",
    "clock.multiply",
    "clock.rotate",
    "syscall.getppid",
    "syscall.getppid-int80",
    "insn.cpuid",
    "insn.sidt",
];
/// Replicates of each path that is tried.
const REPLICATES: u32 = 10;
/// Batches that each replicate has.
const BATCHES: u32 = 20;
/// More tasks for a CPU than this disturb.
const BUSY: f64 = 0.3;
/// An instruction or entry that takes so many times as long as it should does something else.
const SURPRISE: f64 = 8.0;

/// Looks at the machine, and tries a short session on it.
pub(super) fn checks() -> Result<Vec<Check>, Failure> {
    let cpus = allowed_cpus();
    let cpu = cpus.last().copied().unwrap_or(0);
    let before = Surroundings::of(cpu);
    let times = session(cpu)?;
    let after = Surroundings::of(cpu);
    let mut checks = vec![Check::ok("kernel", kernel(&times)), processor(&times, &cpus)];
    checks.extend([counter(&times, &before), frequency(&times), sibling(&times)]);
    checks.extend([load(&before, cpus.len()), stolen(&before, &after), quota(&before)]);
    checks.extend(permissions(&times));
    checks.push(stalls(&times));
    checks.extend(surprises(&times));
    Ok(checks)
}

fn session(cpu: u32) -> Result<Times, Failure> {
    let interrupt = interrupt::listen();
    let conditions = [Condition::none()];
    Ok(measure(
        &Wanted {
            paths: &TRIED,
            conditions: &conditions,
            cpu,
            replicates: REPLICATES,
            most: REPLICATES,
            width: 0.0,
            batches: BATCHES,
            seed: 1,
            delays: [0; 3],
            limit: Duration::from_secs(30),
            interrupted: &|| interrupt.check().is_err(),
        },
        &|_| (),
    )?)
}

fn kernel(times: &Times) -> String {
    let host = &times.host;
    let id = if host.build_id.is_empty() { "unknown" } else { &host.build_id };
    format!("Linux {}, build id {id}", host.release)
}

fn processor(times: &Times, cpus: &[u32]) -> Check {
    let host = &times.host;
    let count = cpus.len();
    let found =
        format!("{}; {count} for this process, CPU {} is measured", host.processor, host.cpu);
    match &host.hypervisor {
        None => Check::ok("processor", found),
        Some(_) => Check::warn(
            "processor",
            found + ", virtual",
            "what its hypervisor does is in the times, and can't be seen from here: compare in \
             pairs, within one session",
        ),
    }
}

fn counter(times: &Times, surroundings: &Surroundings) -> Check {
    let step = times.method.step;
    let source = &times.host.clock_source;
    let megahertz = times.method.ticks_per_second / 1_000_000;
    let found =
        format!("{megahertz} MHz, in steps of {step} ticks; the kernel's clock is {source}");
    if source != "tsc" && source != "kvm-clock" && source != "hyperv_clocksource_tsc_page" {
        return Check::warn(
            "counter",
            found,
            "the kernel does not use the time stamp counter for its clock, so it may not trust it: \
             see `dmesg | grep -i tsc`",
        );
    }
    if !(surroundings.constant_counter && surroundings.nonstop_counter) {
        let advice = "the processor does not say that it runs at one rate, and without a stop";
        return Check::warn("counter", found, advice);
    }
    Check::ok("counter", found)
}

fn frequency(times: &Times) -> Check {
    let governor = match &*times.host.governor {
        "" => "the kernel does not choose it".to_owned(),
        name => format!("governor {name}"),
    };
    match times.ticks_per_cycle() {
        Ok(ticks) => {
            Check::ok("frequency", format!("steady: {ticks:.3} ticks a cycle; {governor}"))
        }
        Err(why @ NoCycle::Unsteady) => Check::warn(
            "frequency",
            format!("{why}; {governor}"),
            "times in cycles are left out. Where you may: cpupower frequency-set -g performance, \
             and turbo off",
        ),
        Err(why) => Check::warn(
            "frequency",
            format!("{why}; {governor}"),
            "times in cycles are left out: nanoseconds do not depend on them",
        ),
    }
}

fn sibling(times: &Times) -> Check {
    let siblings = &times.host.siblings;
    if !siblings.contains(['-', ',']) {
        return Check::ok(
            "sibling",
            "no other thread shares the core, as the kernel sees it".into(),
        );
    }
    Check::warn(
        "sibling",
        format!("CPUs {siblings} share a core"),
        "keep the other one idle, or take it offline for the session",
    )
}

fn load(surroundings: &Surroundings, cpus: usize) -> Check {
    let Some(load) = surroundings.load else {
        return Check::ok("load", "unknown".to_owned());
    };
    let cpus = f64::from(u32::try_from(cpus).unwrap_or(u32::MAX));
    let found = format!("{load} tasks want a CPU, over the last minute");
    if load <= BUSY * cpus {
        return Check::ok("load", found);
    }
    Check::warn("load", found, "other work widens the intervals: wait for a quiet minute")
}

fn stolen(before: &Surroundings, after: &Surroundings) -> Check {
    match before.steal.zip(after.steal) {
        Some((before, after)) if after > before => Check::warn(
            "steal",
            format!("the hypervisor took {} units while paths were executed", after - before),
            "other machines on the same hardware want it: repeat at another hour",
        ),
        Some(_) => Check::ok("steal", "none while paths were executed".to_owned()),
        None => Check::ok("steal", "unknown".to_owned()),
    }
}

fn quota(surroundings: &Surroundings) -> Check {
    match &surroundings.quota {
        None => Check::ok("quota", "no limit of CPU time".to_owned()),
        Some(limit) => Check::warn(
            "quota",
            format!("the control group may have {limit} microseconds of CPU time"),
            "who has used it up is stopped until the next period, in the middle of a batch: \
             measure outside of this group",
        ),
    }
}

fn permissions(times: &Times) -> [Check; 2] {
    let method = &times.method;
    let real_time = if method.real_time {
        Check::ok("real-time", "permitted".to_owned())
    } else {
        Check::warn(
            "real-time",
            "not permitted".to_owned(),
            "switch.yield and its variants may be unsupported, and other tasks interrupt batches: \
             run as root, or with CAP_SYS_NICE",
        )
    };
    let apart = if method.apart {
        Check::ok("namespaces", "mount and network namespaces of its own".to_owned())
    } else {
        Check::warn(
            "namespaces",
            "none of its own".to_owned(),
            "file.* and tcp.* may be unsupported: run as root, or permit user namespaces",
        )
    };
    [real_time, apart]
}

fn stalls(times: &Times) -> Check {
    let levels = times.paths.iter().filter_map(|path| times.level(path, 0));
    let (stalls, all) =
        levels.fold((0, 0), |(stalls, all), level| (stalls + level.stalls, all + level.batches));
    let found = format!("{stalls} of {all} batches took more than twice as long as usual");
    if stalls * 20 <= all {
        return Check::ok("stalls", found);
    }
    Check::warn("stalls", found, "something takes the CPU away: see load, steal and quota")
}

/// Paths that take far longer than the CPU needs.
fn surprises(times: &Times) -> Vec<Check> {
    let ns = |name: &str| {
        let path = times.path(name).filter(|path| path.status == Status::Ok)?;
        Some(times.nanoseconds(times.level(path, 0)?.ticks))
    };
    let Some(call) = ns("syscall.getppid") else { return Vec::new() };
    let told = [
        ("syscall.getppid-int80", "a 32-bit entry", "its interrupt leaves for the hypervisor"),
        ("insn.cpuid", "cpuid", "a virtual machine leaves for its hypervisor"),
        ("insn.sidt", "sidt", "the kernel emulates it, since UMIP forbids it to programs"),
    ];
    let surprise = |(name, what, why): (&str, &str, &str)| {
        let (time, least) =
            (ns(name)?, if name == "insn.sidt" { call / 2.0 } else { call * SURPRISE });
        let times = time / call;
        let found = format!("{what} takes {time:.0} ns, {times:.1} times a system call");
        let advice = format!("{why}: it says little about the processor");
        (time > least).then(|| Check::warn("surprise", found, &advice))
    };
    told.into_iter().filter_map(surprise).collect()
}
