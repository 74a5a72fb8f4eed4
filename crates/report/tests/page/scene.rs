//! Documents to make pages of. What a guest or a file could have written is hostile in all.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeMap;

use pathmeter_experiment::{Experiment, ExperimentReport, Observed};
use pathmeter_model::{
    Baseline, Check, Measurement, PathResult, SettingOutcome, SettingRow, SettingsResult,
    SettingsSchema, SettingsSet, SideInfo, Subject, SubjectKind, Threshold, Unit, compare, example,
};
use pathmeter_report::{PageSection, report_page};
use pathmeter_trace::{
    Counts, Explain, Footprint, Function, Node, NodeKind, RecordedWindows, SubjectWindow,
    WindowTree,
};

use crate::common::configuration;

/// Would run a script, end an element or an attribute, and load something.
pub(crate) const HOSTILE: &str =
    "\"'></script></style><script>window.hit=1</script><img src=http://127.0.0.1:9/x onerror=hit>";

fn path(name: &str, value: u64) -> PathResult {
    PathResult::ok(name, Unit::Instructions, &[vec![value; 4], vec![value; 4]], vec![])
}

/// A result whose paths cost this much, and three that can't be measured or have no cost.
pub(crate) fn result(release: &str, costs: [u64; 3]) -> Measurement {
    let [yielding, stat, pipe] = costs;
    let check = Check { name: HOSTILE.into(), value: HOSTILE.into() };
    let paths = vec![
        path("switch.yield", yielding),
        path("file.stat", stat),
        path("switch.pipe", pipe),
        PathResult::ok("flags.isolation", Unit::Check, &[], vec![check]),
        PathResult::unsupported("getcpu.rdpid", Unit::Instructions, HOSTILE),
    ];
    let subject =
        Subject { kind: SubjectKind::KernelImage, name: format!("vmlinuz-{release}{HOSTILE}") };
    let configuration = configuration(release, 2);
    let notes = vec![HOSTILE.to_owned()];
    Measurement { subject, notes, ..example::measurement("", configuration, paths) }
}

/// A window in which `finish_task_switch` executes what is not in the others.
pub(crate) fn window(path: &str, name: &str, total: u64) -> SubjectWindow {
    let rows = [
        (None, "[task 1]", 0),
        (Some(0), "do_syscall_64", 100),
        (Some(1), HOSTILE, 50),
        (Some(1), "finish_task_switch", total - 150),
    ];
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
    let tree = WindowTree {
        window: 0,
        total,
        clock: total,
        unattributed: 0,
        interrupts: 0,
        unmatched_returns: 0,
        functions: rows.iter().map(function).collect(),
        nodes: (0..).zip(&rows).map(node).collect(),
        footprint: Footprint::default(),
        census: BTreeMap::new(),
        events: BTreeMap::new(),
    };
    let windows = RecordedWindows { recorded: 8, interrupted: 0, unstamped: 0, alike: 8 };
    let (path, name, image_sha256) = (path.to_owned(), name.to_owned(), "a0".repeat(32));
    let measured_with = None;
    SubjectWindow { path, name, image_sha256, measured_with, windows, idle: 0, window: tree }
}

/// One kernel.
pub(crate) fn single() -> PageSection {
    let windows = vec![Explain::new(window("switch.yield", "k", 3000), None)];
    PageSection::Result { result: Box::new(result("6.1.0", [3000, 900, 5000])), windows }
}

/// Two kernels, of which the second costs more in one path and less in another.
pub(crate) fn comparison() -> PageSection {
    let results = vec![result("6.1.0", [3000, 900, 5000]), result("6.12.0", [3034, 880, 5000])];
    let comparison = compare(&results[0], &results[1], Threshold::default());
    let explain =
        |path, base, new| Explain::new(window(path, "base", base), Some(window(path, "new", new)));
    let explanations = vec![explain("switch.yield", 3000, 3034), explain("file.stat", 900, 880)];
    PageSection::Comparison { comparison: Box::new(comparison), explanations, results }
}

/// Three kernels, measured differently.
pub(crate) fn history() -> PageSection {
    let kernels = [("5.10-x", 2500), ("6.1-x", 3000), ("6.12-x", 3034)];
    let results =
        kernels.iter().map(|(release, cost)| result(release, [*cost, 900, 5000])).collect();
    let windows =
        kernels.iter().map(|(name, cost)| vec![window("switch.yield", name, *cost)]).collect();
    PageSection::History { results, windows, across: vec![HOSTILE.to_owned()] }
}

/// An experiment of which nothing was measured.
pub(crate) fn experiment() -> PageSection {
    let text = include_str!("../../../../experiments/ioperm-2004.toml");
    let mut experiment = Experiment::parse(text).unwrap();
    HOSTILE.clone_into(&mut experiment.title);
    PageSection::Experiment(Box::new(ExperimentReport::new(experiment, Observed::default())))
}

/// What settings cost: one much, one nothing, one that was not measured.
pub(crate) fn settings() -> PageSection {
    let [base, audited] = [3000, 3162].map(|cost| result("6.1.0", [cost, 900, 5000]));
    let baseline = Baseline::new(base.clone(), vec![base.clone()]);
    let about = |name: &str| (format!("boot:{name}{HOSTILE}"), HOSTILE.to_owned());
    let rows = vec![
        SettingRow { all: true, ..baseline.row(about("all=1"), &audited) },
        baseline.row(about("audit=1"), &audited),
        baseline.row(about("nothing=1"), &base),
        SettingRow::without(about("nosmt"), SettingOutcome::Unseen, Some(HOSTILE.to_owned())),
    ];
    PageSection::Settings(Box::new(SettingsResult {
        schema: SettingsSchema::V1,
        base: SideInfo::from(&base),
        configuration: base.configuration.clone(),
        sets: vec![SettingsSet::new(HOSTILE.to_owned(), HOSTILE.to_owned(), rows)],
        layout: baseline.layout().clone(),
        program: None,
    }))
}

/// All kinds of sections, the two kernels first.
pub(crate) fn everything() -> Vec<PageSection> {
    let explain = Explain::new(window("switch.yield", HOSTILE, 3000), None);
    let alone = PageSection::Explanation(Box::new(explain));
    vec![comparison(), single(), history(), alone, experiment(), settings()]
}

/// The page of these sections, with a hostile note.
pub(crate) fn page(sections: &[PageSection]) -> String {
    report_page(sections, &[HOSTILE.to_owned()]).unwrap()
}
