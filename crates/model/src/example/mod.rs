//! Documents to vary, for the tests of every crate that takes them: a measurement with its
//! configuration and its paths, a row of a comparison, what settings cost, a recorded window.

pub mod runs;

use std::collections::BTreeMap;

use pathmeter_trace::{
    Counts, Footprint, Function, Node, NodeKind, RecordedWindows, SubjectWindow, WindowTree,
};

use crate::{
    Check, Configuration, Host, MeasuredAlike, Measurement, PathComparison, PathEvents, PathResult,
    PathTimes, Replicate, ResultSchema, SettingsResult, SettingsSchema, SettingsSet, SideInfo,
    Status, Subject, TimeMethod, Times, TimesSchema, Unit, compare_path,
};

/// How a kernel of this release was measured in so many perturbed runs.
#[must_use]
pub fn configuration(release: &str, runs: u32) -> Configuration {
    Configuration {
        clock: Unit::Instructions,
        image_sha256: "a0".repeat(32),
        release: Some(release.into()),
        command_line: "quiet".into(),
        condition: String::new(),
        proofs: Vec::new(),
        cpu: "max".into(),
        machine: "microvm".into(),
        qemu: "7.2.22".into(),
        firmware_sha256: None,
        portable: false,
        agent_sha256: "b1".repeat(32),
        initramfs_sha256: "c2".repeat(32),
        runs,
        memory_mib: 128,
        cpus: 1,
        program: None,
    }
}

/// These paths of the kernel in the file `name`.
#[must_use]
pub fn measurement(
    name: &str,
    configuration: Configuration,
    paths: Vec<PathResult>,
) -> Measurement {
    Measurement {
        schema: ResultSchema::V1,
        subject: Subject::kernel_image(name),
        configuration,
        guest: None,
        paths,
        execution: None,
        notes: vec![],
    }
}

/// A path with these samples, in instructions, in each of two runs.
#[must_use]
pub fn path(name: &str, samples: &[u64]) -> PathResult {
    in_runs(name, &[samples, samples])
}

/// A path with these samples, in instructions, run by run.
#[must_use]
pub fn in_runs(name: &str, runs: &[&[u64]]) -> PathResult {
    let runs: Vec<Vec<u64>> = runs.iter().map(|run| run.to_vec()).collect();
    PathResult::ok(name, Unit::Instructions, &runs, vec![])
}

/// A path that could not be measured, for this reason.
#[must_use]
pub fn unsupported(name: &str, reason: &str) -> PathResult {
    PathResult::unsupported(name, Unit::Instructions, reason)
}

/// A path that ran wrongly, in this way.
#[must_use]
pub fn failed(name: &str, reason: &str) -> PathResult {
    PathResult::failed(name, Unit::Instructions, reason)
}

/// A path that is a check, passed.
#[must_use]
pub fn check(name: &str) -> PathResult {
    let proof = Check { name: "switches".into(), value: "100".into() };
    PathResult::ok(name, Unit::Check, &[], vec![proof])
}

/// The same path, of which these events were counted, alike in every sample, with the places of its
/// functions' entries.
#[must_use]
pub fn counting(path: PathResult, events: &[(&str, u64)], placement: &[u8]) -> PathResult {
    let (names, numbers) = events.iter().map(|(name, number)| ((*name).to_owned(), number)).unzip();
    let events = PathEvents {
        names,
        distinct: vec![numbers],
        of_samples: vec![0; path.samples.len()],
        placement: placement.to_vec(),
    };
    path.counting(events)
}

/// The row of a comparison of a path that cost `base` instructions, and costs `new`.
///
/// # Panics
/// Never: paths with samples are compared.
#[must_use]
#[allow(clippy::expect_used, reason = "a builder for tests")]
pub fn row(name: &str, base: u64, new: u64) -> PathComparison {
    let [base, new] = [base, new].map(|cost| path(name, &[cost; 3]));
    let alike = MeasuredAlike { one_qemu: true, one_agent: true };
    compare_path(Some(&base), Some(&new), alike).expect("both sides have samples")
}

/// The cost of one set of settings on the kernel that was measured as `base`.
#[must_use]
pub fn settings(base: &Measurement, set: SettingsSet) -> SettingsResult {
    SettingsResult {
        schema: SettingsSchema::V1,
        base: SideInfo::from(base),
        configuration: base.configuration.clone(),
        sets: vec![set],
        program: None,
    }
}

/// A window of `path` on the kernel `name`: functions that are each called once, by the one at the
/// place that they name, and how many instructions each executes itself.
#[must_use]
pub fn window(path: &str, name: &str, calls: &[(Option<u32>, &str, u64)]) -> SubjectWindow {
    let counts = |instructions| Counts { instructions, clock: instructions, ..Counts::default() };
    let function = |(_, name, instructions): &(Option<u32>, &str, u64)| Function {
        name: (*name).to_owned(),
        module: None,
        address: None,
        entry_in_line: Some(16),
        source: None,
        lines: Vec::new(),
        counts: counts(*instructions),
        census: BTreeMap::new(),
        footprint: Footprint::default(),
        events: BTreeMap::new(),
    };
    let node = |(index, (parent, _, instructions)): (u32, &(Option<u32>, &str, u64))| Node {
        parent: *parent,
        function: index,
        kind: NodeKind::Call,
        counts: counts(*instructions),
        census: BTreeMap::new(),
    };
    let total = calls.iter().map(|(_, _, instructions)| instructions).sum();
    SubjectWindow {
        path: path.to_owned(),
        name: name.to_owned(),
        image_sha256: "a0".repeat(32),
        measured_with: None,
        windows: RecordedWindows { recorded: 8, interrupted: 0, unstamped: 0, alike: 8 },
        idle: 0,
        program: None,
        window: WindowTree {
            window: 0,
            total,
            clock: total,
            unattributed: 0,
            interrupts: 0,
            unmatched_returns: 0,
            functions: calls.iter().map(function).collect(),
            nodes: (0..).zip(calls).map(node).collect(),
            footprint: Footprint::default(),
            census: BTreeMap::new(),
            events: BTreeMap::new(),
        },
    }
}

/// Times of paths: each a name, the calls of a batch, and the ticks of a batch in each replicate,
/// the same for both sides and all of four batches. The clock's stamps take 50 ticks, a tick 1 ns.
pub fn times(paths: &[(&str, u64, &[u64])]) -> Times {
    let times_of_path = |&(name, calls, replicates): &(&str, u64, &[u64])| PathTimes {
        path: name.to_owned(),
        status: Status::Ok,
        reason: None,
        calls,
        repeats: 1,
        replicates: (0..)
            .zip(replicates)
            .map(|(at, ticks)| Replicate { at, sides: vec![vec![*ticks; 4]; 2] })
            .collect(),
        single: None,
    };
    Times {
        schema: TimesSchema::V1,
        host: Host { processor: "a processor".into(), release: "7.1.0".into(), ..Host::default() },
        method: TimeMethod {
            ticks_per_second: 1_000_000_000,
            step: 1,
            stamps: 50,
            seed: 1,
            replicates: 3,
            batches: 4,
            real_time: true,
            apart: true,
            root_cgroup: true,
            began: 1,
            milliseconds: 1,
        },
        conditions: vec!["default".into()],
        paths: paths.iter().map(times_of_path).collect(),
        notes: Vec::new(),
    }
}
