//! The comparison document, `pathmeter.comparison/1`: two results, compared path by path.

use pathmeter_seal::schema_name;
use pathmeter_stats::{PairJudgement, Place};
use pathmeter_trace::{MeasuredWith, Role};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::difference::saturated;
use crate::result::function::FunctionChange;
use crate::{
    BudgetReport, Causes, Configuration, ConfigurationDifference, EventComparison, GateReport,
    Measurement, Moved, OptionDifference, PairShown, ProgramComparison, Subject, SubjectKind, Unit,
    Verdict, WorkComparison,
};

schema_name!(
    /// The name and version of the comparison document.
    pub ComparisonSchema = "pathmeter.comparison/1"
);

/// Two kernels, path by path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    pub schema: ComparisonSchema,
    pub base: SideInfo,
    pub new: SideInfo,
    /// One entry for each path of either side: base's in base's order, then those only in new.
    pub paths: Vec<PathComparison>,
    /// How the two programs ended and how long they waited, if the rows are those of programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<ProgramComparison>,
    /// All own work of each of the program's processes, by the process's name; empty if one side
    /// has only one process, or does not tell them apart. No gate looks at it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<PathComparison>,
    /// In what else than the kernel the two were measured differently; empty unless the reader
    /// admitted it.
    #[serde(default)]
    pub configuration_differences: Vec<ConfigurationDifference>,
    /// Smaller changes, in percent of base, were judged to be none; absent if every change counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold_percent: Option<f64>,
    /// How many paths have each verdict.
    pub summary: Summary,
    /// Where the differences come from; absent unless functions were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causes: Option<Causes>,
    /// What a budget makes of it; absent if the user gave none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetReport>,
    /// Why it fails `--check`, or could not be judged; absent unless that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateReport>,
    /// The options in which the kernels' build configurations differ, those first that share a
    /// word with a function or path that changed; absent unless both configurations are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<Vec<OptionDifference>>,
    /// What compiled the kernels; absent unless it is known of both, or if they are one kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compilers: Option<Compilers>,
}

/// What compiled two kernels, in the compilers' own words: `gcc-12 (Debian 12.2.0-14) 12.2.0`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Compilers {
    pub base: String,
    pub new: String,
}

/// One of the two kernels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SideInfo {
    pub name: String,
    /// The kernel's release, if known.
    pub release: Option<String>,
    /// What kind of subject it is.
    pub kind: SubjectKind,
    /// Hash of the kernel image as given: SHA-256 in lower-case hexadecimal.
    pub image_sha256: String,
    /// What it was measured with; absent in documents of versions that did not keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_with: Option<MeasuredWith>,
}

impl From<&Measurement> for SideInfo {
    fn from(measurement: &Measurement) -> Self {
        Self::of(&measurement.subject, &measurement.configuration)
    }
}

impl SideInfo {
    pub(crate) fn of(subject: &Subject, configuration: &Configuration) -> Self {
        Self {
            name: subject.name.clone(),
            kind: subject.kind,
            release: configuration.release.clone(),
            image_sha256: configuration.image_sha256.clone(),
            measured_with: Some(configuration.measured_with()),
        }
    }
}

/// The comparison of one path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PathComparison {
    pub path: String,
    /// What `base`, `new` and `difference` count.
    pub unit: Unit,
    /// Base's value. Of a row with several exact values that of the pair in `pairs.shown`, which
    /// has the difference, and base's own value if such a pair has it.
    pub base: Option<u64>,
    pub new: Option<u64>,
    /// Whether `base` is a lower bound. Then `difference` and `percent` are upper bounds.
    #[serde(default)]
    pub base_at_least: bool,
    /// Whether `new` is a lower bound. Then `difference` and `percent` are lower bounds.
    #[serde(default)]
    pub new_at_least: bool,
    /// `new` − `base`; null when either is.
    pub difference: Option<i64>,
    /// The difference in percent of `base`; null when `base` is null or 0.
    pub percent: Option<f64>,
    /// The verdict of the sets of exact values, or of the pairs of runs.
    pub verdict: Verdict,
    /// Why, for unsupported and broken; of a tail, how often its side shows it and what the other
    /// samples do.
    pub reason: Option<String>,
    /// Number of base's typical values; 1 means single-valued, 0 not measured.
    pub base_values: usize,
    /// Number of new's typical values.
    pub new_values: usize,
    /// The other events whose numbers differ.
    #[serde(default)]
    pub events: Vec<EventComparison>,
    /// How the functions that the path enters are placed; null where that is not known, or the
    /// sides enter different numbers of them.
    #[serde(default)]
    pub moved: Option<Moved>,
    /// What the pairs say: the same execution of the same run on both sides; null where there are
    /// none, so that the sets of values decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<PairsCompared>,
    /// What else is known if this is a row of a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<WorkComparison>,
    /// The functions in which a row or region of a program differs, the largest difference first;
    /// empty where they were not counted. They are of all calls, or executions, in one run of each
    /// side.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<FunctionChange>,
}

/// What pairs of executions differ by that were disturbed alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PairsCompared {
    /// The least of what a run's pairs typically differ by, new − base.
    pub least: i64,
    pub most: i64,
    /// How many pairs have the row's difference.
    pub agreeing: usize,
    /// Out of so many; 0 if no run has as many executions on both sides.
    pub of: usize,
    /// The pair that the row's two numbers are of; null if they are not of one, as those of a new
    /// mode, which is one of sets.
    #[serde(default)]
    pub shown: Option<PairShown>,
}

impl PairsCompared {
    pub(crate) fn of(judged: &PairJudgement) -> Self {
        let [least, most] = judged.range.map(saturated);
        let shown = judged.place.map(|Place { run, execution }| PairShown { run, execution });
        Self { least, most, agreeing: judged.agreeing, of: judged.of, shown }
    }

    /// Whether the runs differ from each other.
    pub fn varies(self) -> bool {
        self.least != self.most
    }

    /// Whether at least half of the pairs have the row's difference.
    pub fn are_most(self) -> bool {
        2 * self.agreeing >= self.of
    }

    /// Whether each pair has the row's difference.
    pub fn is_unanimous(self) -> bool {
        self.agreeing == self.of
    }
}

impl Comparison {
    /// Of a result that was compared with itself, its rows alone: without numbers of base, and with
    /// the numbers that its table shows.
    pub fn keep_new(&mut self, result: &Measurement) {
        for (row, path) in self.paths.iter_mut().zip(&result.paths) {
            (row.base, row.base_at_least, row.base_values) = (None, false, 0);
            (row.difference, row.percent) = (None, None);
            row.new = path.value();
            row.new_at_least = row.new.is_some_and(|new| path.is_lower_bound(new));
            row.reason.clone_from(&path.reason);
        }
    }

    /// How many of the rows that say something of the subject have each verdict: all paths, of a
    /// program the rows of its own work.
    pub fn own_summary(&self) -> Summary {
        Summary::of(self.paths.iter().filter(|path| path.is_own_work()))
    }

    /// Whether a kernel is compared with the lab kernel, which has the bare mechanisms.
    pub fn is_against_floor(&self) -> bool {
        self.base.kind == SubjectKind::KernelImage && self.new.kind == SubjectKind::Lab
    }
}

impl PathComparison {
    /// Whether nothing that was counted differs, but for the placement of code.
    pub fn is_identical(&self) -> bool {
        let placed = |event: &EventComparison| event.role() == Role::Placement;
        self.verdict == Verdict::Same && self.events.iter().all(placed)
    }

    /// The other events that a row shows: those that count, and, of as many instructions, every one
    /// that differs and that layout alone does not move.
    pub fn shown_events(&self) -> impl Iterator<Item = &EventComparison> {
        let as_many = self.unit == Unit::Instructions && self.difference == Some(0);
        let told = move |event: &&EventComparison| as_many && event.role() == Role::Detail;
        self.events.iter().filter(move |event| event.is_shown() || told(event))
    }

    /// Whether it is the program's own work, or no row of a program: the other rows depend on when
    /// the timer ticks.
    pub fn is_own_work(&self) -> bool {
        self.work.as_ref().is_none_or(|work| work.kind.is_own_work())
    }

    /// Whether either side showed several typical values.
    pub fn is_many_valued(&self) -> bool {
        self.base_values > 1 || self.new_values > 1
    }
}

/// How many paths have each verdict; the fields are named by the verdicts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Summary {
    pub paths: usize,
    /// Paths that are the same.
    pub same: usize,
    /// Of these, paths of which everything that was counted is the same, placement apart.
    #[serde(default)]
    pub identical: usize,
    pub lower: usize,
    pub higher: usize,
    /// Paths in which a mode appeared.
    pub mode_appeared: usize,
    /// Waits with a longer tail.
    #[serde(default)]
    pub longer_tail: usize,
    /// Waits with a shorter tail.
    #[serde(default)]
    pub shorter_tail: usize,
    /// Paths with the same instructions and other events.
    #[serde(default)]
    pub events_differ: usize,
    /// Paths not measured on one side or both.
    pub unsupported: usize,
    /// Paths whose proof failed on one side or both.
    pub broken: usize,
}

impl Summary {
    /// Counts the verdicts of `paths`.
    pub fn of<'a>(paths: impl IntoIterator<Item = &'a PathComparison>) -> Self {
        let mut summary = Self::default();
        for path in paths {
            summary.paths += 1;
            *summary.slot(path.verdict) += 1;
            summary.identical += usize::from(path.is_identical());
        }
        summary
    }

    /// How many paths have `verdict`.
    pub fn count(mut self, verdict: Verdict) -> usize {
        *self.slot(verdict)
    }

    fn slot(&mut self, verdict: Verdict) -> &mut usize {
        match verdict {
            Verdict::Same => &mut self.same,
            Verdict::Lower => &mut self.lower,
            Verdict::Higher => &mut self.higher,
            Verdict::ModeAppeared => &mut self.mode_appeared,
            Verdict::LongerTail => &mut self.longer_tail,
            Verdict::ShorterTail => &mut self.shorter_tail,
            Verdict::EventsDiffer => &mut self.events_differ,
            Verdict::Unsupported => &mut self.unsupported,
            Verdict::Broken => &mut self.broken,
        }
    }
}
