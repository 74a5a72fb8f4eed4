//! Documents to make pages of. What a guest or a file could have written is hostile in all.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use pathmeter_experiment::{Experiment, ExperimentReport, Observed};
use pathmeter_model::example::runs::{program, row, run};
use pathmeter_model::example::{path, unsupported};
use pathmeter_model::{
    Check, History, HistorySchema, Joined, KeptKind, KeptResult, Measurement, PathHistory,
    PathResult, Point, ProgramSlopeResult, RowKind, SettingOutcome, SettingRow, SettingsSet,
    SideInfo, SlopeResult, SlopeRows, SlopeSchema, Status, Threshold, TimeComparison, Times, Unit,
    compare, example,
};
use pathmeter_report::{PageSection, report_page};
use pathmeter_trace::{Explain, SubjectWindow};

use crate::common::configuration;

/// Would run a script, end an element or an attribute, and load something.
pub(crate) const HOSTILE: &str =
    "\"'></script></style><script>window.hit=1</script><img src=http://127.0.0.1:9/x onerror=hit>";

/// A result whose paths cost this much, and three that can't be measured or have no cost.
pub(crate) fn result(release: &str, costs: [u64; 3]) -> Measurement {
    let [yielding, stat, pipe] = costs;
    let check = Check { name: HOSTILE.into(), value: HOSTILE.into() };
    let paths = vec![
        path("switch.yield", &[yielding; 4]),
        path("file.stat", &[stat; 4]),
        path("switch.pipe", &[pipe; 4]),
        PathResult::ok("flags.isolation", Unit::Check, &[], vec![check]),
        unsupported("getcpu.rdpid", HOSTILE),
    ];
    let name = format!("vmlinuz-{release}{HOSTILE}");
    let result = example::measurement(&name, configuration(release, 2), paths);
    Measurement { notes: vec![HOSTILE.to_owned()], ..result }
}

/// A window in which `finish_task_switch` executes what is not in the others.
pub(crate) fn window(path: &str, name: &str, total: u64) -> SubjectWindow {
    let rows = [
        (None, "[task 1]", 0),
        (Some(0), "do_syscall_64", 100),
        (Some(1), HOSTILE, 50),
        (Some(1), "finish_task_switch", total - 150),
    ];
    example::window(path, name, &rows)
}

/// The section of one kernel.
pub(crate) fn single() -> PageSection {
    let windows = vec![Explain::new(window("switch.yield", "k", 3000), None)];
    PageSection::Result { result: Box::new(result("6.1.0", [3000, 900, 5000])), windows }
}

/// Runs of a program on one kernel: the sum of what others do is larger than its own work.
pub(crate) fn program_runs() -> PageSection {
    let rows = vec![
        row(RowKind::Interrupt, "timer", 9, 90_000),
        row(RowKind::Syscall, "read", 2, 800),
        row(RowKind::Syscall, HOSTILE, 1, 10),
        row(RowKind::Syscall, "openat", 3, 6_000),
        row(RowKind::User, "user code", 1, 2_500),
    ];
    let result = program("vmlinuz", configuration("6.1.0", 6), vec![run(0, rows); 7]).result();
    PageSection::Result { result: Box::new(result), windows: vec![] }
}

/// Two kernels on each of two CPUs; the second CPU costs far more than any step of a kernel.
pub(crate) fn plan() -> PageSection {
    let of = |release: &str, cpu: &str, cost| {
        let mut result = result(release, [cost, 900, 5000]);
        result.configuration.cpu = format!("{cpu}: what it can");
        release.clone_into(&mut result.configuration.image_sha256);
        result
    };
    let results = vec![
        of("6.1.0", "skylake", 3000),
        of("6.1.0", "zen2", 9000),
        of("6.12.0", "skylake", 3034),
        of("6.12.0", "zen2", 9180),
    ];
    let (windows, explained, across) = (vec![], vec![], vec!["cpu: another one".to_owned()]);
    PageSection::History { results, windows, explained, across }
}

/// A path over four dated results, one of which could not run it.
pub(crate) fn line_over_time() -> PageSection {
    let kept = |number: u64| KeptResult {
        number,
        date: format!("2026-0{number}-01T12:00:00Z"),
        label: format!("6.{number}{HOSTILE}"),
        commit: Some("0123456789abcdef".to_owned()),
        subject: "vmlinuz".to_owned(),
        kind: KeptKind::KernelImage,
        machine: None,
        release: Some("6.1.0".to_owned()),
        image_sha256: "a0".repeat(32),
        document_sha256: "b1".repeat(32),
        ok: 1,
        failed: 0,
    };
    let point = |value: Option<u64>| {
        let status = if value.is_some() { Status::Ok } else { Status::Failed };
        Some(Point { status, unit: Unit::Instructions, value, low: value, high: value })
    };
    let values = [Some(1000), Some(1010), None, Some(1300)];
    let points = values.into_iter().map(point).collect();
    PageSection::Kept(Box::new(History {
        schema: HistorySchema::V1,
        results: (1..=4).map(kept).collect(),
        paths: vec![PathHistory { path: "switch.yield".to_owned(), points }],
    }))
}

/// A session of 20 processes that take so many ticks for two paths; a third does not run.
fn build_session(ticks: [u64; 2]) -> Times {
    let [yielding, stat] =
        ticks.map(|ticks| (0..20).map(|at| ticks + at % 5).collect::<Vec<u64>>());
    let paths = [("switch.yield", 1, &yielding[..]), ("file.stat", 1, &stat), (HOSTILE, 1, &stat)];
    let mut times = example::times(&paths);
    times.paths[2].status = Status::Unsupported;
    times.paths[2].reason = Some(HOSTILE.to_owned());
    times.paths[2].replicates.clear();
    times.host.processor = HOSTILE.into();
    times.host.release = HOSTILE.into();
    times.conditions = vec![HOSTILE.to_owned()];
    Times { notes: vec![HOSTILE.to_owned()], ..times }
}

/// The section of a session's times.
pub(crate) fn session() -> PageSection {
    let times = build_session([9050, 1050]);
    let shown = times.paths.iter().map(|path| path.path.clone()).collect();
    PageSection::Times { times: Box::new(times), shown }
}

fn two_sessions() -> TimeComparison {
    let sides = [[9050, 1050], [18_050, 1000]].map(|ticks| [build_session(ticks)]);
    TimeComparison::of_two([&sides[0], &sides[1]], |_| true, 0.02).unwrap()
}

/// Times of two sides: one path is slower, and one is faster.
pub(crate) fn times() -> PageSection {
    let across = vec![HOSTILE.to_owned()];
    PageSection::TimeComparison { comparison: Box::new(two_sessions()), across }
}

/// The section of a report that shows counts and times together.
pub(crate) fn joined_section() -> PageSection {
    let results = [result("6.1.0", [3000, 900, 5000]), result("6.12.0", [3034, 900, 5000])];
    let exact = compare(&results[0], &results[1], Threshold::default());
    let of_base = (&results[0], &build_session([9050, 1050]));
    PageSection::Joined(Box::new(Joined::new(exact, two_sessions(), of_base)))
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

/// Two kernels whose causes are known, and the move of one of them is hostile.
pub(crate) fn explained() -> PageSection {
    let mut comparison = crate::causes::comparison(2);
    let causes = comparison.causes.as_mut().unwrap();
    causes.moves = causes.causes[1].parts[0].moves.clone();
    HOSTILE.clone_into(&mut causes.moves[0].from);
    PageSection::Comparison {
        comparison: Box::new(comparison),
        explanations: vec![],
        results: vec![],
    }
}

/// A history of three kernels, which were measured differently.
pub(crate) fn history() -> PageSection {
    let kernels = [("5.10-x", 2500), ("6.1-x", 3000), ("6.12-x", 3034)];
    let results =
        kernels.iter().map(|(release, cost)| result(release, [*cost, 900, 5000])).collect();
    let windows =
        kernels.iter().map(|(name, cost)| vec![window("switch.yield", name, *cost)]).collect();
    PageSection::History { results, windows, explained: vec![], across: vec![HOSTILE.to_owned()] }
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
    let about = |name: &str| (format!("boot:{name}{HOSTILE}"), HOSTILE.to_owned());
    let row = |name: &str, new| SettingRow::compare(about(name), [&base, new]);
    let cheaper = result("6.1.0", [2500, 900, 5000]);
    let isolation = Some(format!("page table isolation{HOSTILE}"));
    let rows = vec![
        SettingRow { all: true, ..row("all=1", &audited) },
        row("nopti", &cheaper).with_price_of(isolation),
        row("audit=1", &audited),
        row("nothing=1", &base),
        SettingRow::without(about("nosmt"), SettingOutcome::Unseen, Some(HOSTILE.to_owned())),
    ];
    let set = SettingsSet::new(HOSTILE.to_owned(), HOSTILE.to_owned(), rows);
    PageSection::Settings(Box::new(example::settings(&base, set)))
}

/// What each further rule costs: a line for one path, a bend for another; a program beside them.
pub(crate) fn slope() -> PageSection {
    let base = result("6.1.0", [3000, 900, 5000]);
    let steps = [(1, [3010, 905, 5000]), (2, [3020, 910, 5000]), (4, [3040, 990, 5000])];
    let steps = steps.map(|(number, costs)| (number, result("6.1.0", costs)));
    let numbers = steps.iter().map(|(number, _)| *number).collect();
    let steps: Vec<_> = steps.iter().map(|(number, result)| (*number, result)).collect();
    let slope = SlopeResult {
        schema: SlopeSchema::V1,
        base: SideInfo::from(&base),
        configuration: base.configuration.clone(),
        setting: format!("audit:{{1,2,4}}{HOSTILE}"),
        unit: format!("rule{HOSTILE}"),
        numbers,
        paths: SlopeRows::of_paths(&base, &steps, |_| true),
        program: Some(vec![HOSTILE.to_owned()]),
        program_rows: Some(SlopeRows::of_paths(&base, &steps, |_| true)),
    };
    slope.check().unwrap();
    PageSection::Slope(Box::new(slope))
}

/// A program of which `openat` costs the most instructions more, and `pipe2` the most percent.
pub(crate) fn program_comparison() -> PageSection {
    let result_of = |release: &str, [openat, pipe2]: [u64; 2]| {
        let rows = vec![
            row(RowKind::Interrupt, "timer", 9, 90_000 * (1 + openat % 2)),
            row(RowKind::Syscall, "pipe2", 1, pipe2),
            row(RowKind::Syscall, "openat", 3, openat),
        ];
        program("vmlinuz", configuration(release, 6), vec![run(0, rows); 7]).result()
    };
    let results = [result_of("6.1.0", [500_000, 900]), result_of("6.12.0", [507_295, 1_557])];
    let comparison = Box::new(compare(&results[0], &results[1], Threshold::default()));
    PageSection::Comparison { comparison, explanations: vec![], results: vec![] }
}

/// A program that costs an exact number of instructions for each N, and some that scatter.
pub(crate) fn program_slope() -> PageSection {
    let numbers = [25, 50, 100, 200];
    let result_of = |number: &u64| {
        let rows = |at: u64| {
            vec![
                row(RowKind::Syscall, "getppid", 1, 1000 + 321 * number),
                row(RowKind::Syscall, "write", 1, 300 * number + (at * number * 37) % 90),
                row(RowKind::Syscall, HOSTILE, 1, 10),
            ]
        };
        let runs = (0..7).map(|at| run(0, rows(at))).collect();
        program("vmlinuz", configuration("6.1.0", 6), runs).result()
    };
    let results: Vec<Measurement> = numbers.iter().map(result_of).collect();
    let steps: Vec<(u64, String)> = numbers.iter().map(|it| (*it, it.to_string())).collect();
    let command = vec![HOSTILE.to_owned(), "N".to_owned()];
    let slope = ProgramSlopeResult::of(("N", command), &steps, &results).unwrap();
    slope.check().unwrap();
    PageSection::ProgramSlope(Box::new(slope))
}

/// All kinds of sections, the two kernels first.
pub(crate) fn everything() -> Vec<PageSection> {
    let explain = Explain::new(window("switch.yield", HOSTILE, 3000), None);
    let alone = PageSection::Explanation(Box::new(explain));
    let mut all = vec![comparison(), single(), history(), alone, experiment(), settings()];
    all.extend([
        explained(),
        session(),
        times(),
        joined_section(),
        slope(),
        program_runs(),
        program_comparison(),
        program_slope(),
        plan(),
        line_over_time(),
    ]);
    all
}

/// The page of these sections, with a hostile note.
pub(crate) fn page(sections: &[PageSection]) -> String {
    report_page(sections, &[HOSTILE.to_owned()]).unwrap().html
}
