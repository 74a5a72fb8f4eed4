//! How a run ends: the exit codes, and what can go wrong with what to do about it.
//!
//! Contract: every message names the file or the step, every failure that the user can fix has a
//! help. What the layers below can meet is kept whole; here it gets its exit code, and here all of
//! it becomes lines and advice.

use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use pathmeter_gate::GateError;
use pathmeter_history::HistoryError;
use pathmeter_host::SessionError;
use pathmeter_measure::error::{MeasureError, collect_all};
use pathmeter_model::{ConfigurationDifference, clean, shorten};
use pathmeter_pack::PackError;
use pathmeter_plan::FileStep;
use pathmeter_report::FlameError;
use pathmeter_vm::{Cpu, VmError, is_shortage};

/// The codes that pathmeter exits with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Done; with `--check`, and nothing is worse.
    Done = 0,
    /// `--check` found a path that costs more, shows a new mode or is broken; or what an experiment
    /// expects of the exact clock did not come out.
    Worse = 1,
    /// The command line asks for something that can't be done or is refused.
    Usage = 2,
    /// Something could not be measured, compared, read or written; or an experiment's expectation
    /// about exact counts is inconclusive.
    Unmeasured = 3,
    /// Of a plan, cells are still to be measured, and another try may: this machine was in the way.
    /// The number is `EX_TEMPFAIL` of sysexits(3).
    TryAgain = 75,
    /// The same where `git bisect run` asked: it skips the commit.
    Skipped = 125,
    /// Wrong usage where `git bisect run` asked: it gives up, for no commit is bad for that.
    Abort = 128,
    /// The user interrupted the run: 128 + SIGINT, as shells have it.
    Interrupted = 130,
}

impl Exit {
    /// The same for `git bisect run`, to which 0 is good, 125 skips the commit, above 127 ends the
    /// bisection, and all else is bad.
    #[must_use]
    pub(crate) fn for_git_bisect(self) -> Self {
        match self {
            Self::Unmeasured => Self::Skipped,
            Self::Usage => Self::Abort,
            exit => exit,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why there is no result. What a measurement can meet as well as a verb is a variant here, and
/// never within [`Failure::Measure`], so that verbs need look for it in one place.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// Something on the command line that clap can't know to be wrong.
    #[error("{message}")]
    Usage {
        message: String,
        /// What would be right instead.
        help: String,
    },
    #[error(transparent)]
    Measure(MeasureError),
    /// The two sides differ in more than the kernel.
    #[error("BASE and NEW were measured differently:{}", below(&format_differences(.0)))]
    Incomparable(Vec<ConfigurationDifference>),
    /// Two subjects of a report differ in more than the kernel.
    #[error(
        "{base} and {new} were measured differently:{}",
        below(&format_differences(.differences))
    )]
    Unlike {
        /// The name of the first subject.
        base: String,
        /// The name of the other subject.
        new: String,
        differences: Vec<ConfigurationDifference>,
    },
    /// This machine can't be measured in time.
    #[error("host: {0}")]
    Timed(#[from] SessionError),
    /// A history can't be used.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// A document other than a result can't be used.
    #[error("{}: {what}", .path.display())]
    Document {
        path: PathBuf,
        /// Why it can't be used.
        what: String,
    },
    /// A file can't be read or written.
    #[error("{doing} {}: {error}", .path.display())]
    File { doing: FileStep, path: PathBuf, error: io::Error },
    /// The operating system refused something.
    #[error("{doing}: {error}")]
    System {
        /// What was being done, in words.
        doing: &'static str,
        error: io::Error,
    },
    /// `--check` has no answer.
    #[error("{message}")]
    Unchecked {
        /// What was not compared, in words.
        message: String,
    },
    /// A bisection has no answer.
    #[error("{message}{}", below(&clean_each(.candidates)))]
    Unfound {
        /// Why it has no answer.
        message: String,
        /// Between what it could not decide.
        candidates: Vec<String>,
    },
    /// What lies here is not what was planned.
    #[error("{}: {what}", .subject.display())]
    Unplanned {
        /// The file, or the cell.
        subject: PathBuf,
        /// In what it differs from the plan.
        what: String,
    },
    /// A cell of a plan took longer than the limit, which is time of this machine.
    #[error("{}: the cell exceeded its limit of {limit} s", .subject.display())]
    OverLimit {
        /// The cell, described in words.
        subject: PathBuf,
        /// The limit that it exceeded, in seconds.
        limit: u64,
    },
    /// There is no flame graph.
    #[error(transparent)]
    Drawing(#[from] FlameError),
    /// More than one of them.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Several(Vec<Self>),
    /// The user interrupted the run.
    #[error("interrupted; nothing was left running")]
    Interrupted,
}

impl Failure {
    /// All that there are; or all that is wrong, if something is.
    ///
    /// # Errors
    /// As [`Failure::all`].
    pub(crate) fn gather<T, E: Into<Self>>(
        results: impl IntoIterator<Item = Result<T, E>>,
    ) -> Result<Vec<T>, Self> {
        collect_all(results).map_err(|errors| Self::all(errors.into_iter().map(Into::into)))
    }

    /// The same of two.
    ///
    /// # Errors
    /// As [`Failure::all`].
    pub(crate) fn both<A, B, E: Into<Self>>(
        one: Result<A, E>,
        other: Result<B, E>,
    ) -> Result<(A, B), Self> {
        match (one, other) {
            (Ok(one), Ok(other)) => Ok((one, other)),
            (one, other) => {
                Err(Self::all(one.err().into_iter().chain(other.err()).map(Into::into)))
            }
        }
    }

    /// All of `failures`, of which there is at least one; an interrupt speaks for the rest.
    pub(crate) fn all(failures: impl IntoIterator<Item = Self>) -> Self {
        let single = |failure| match failure {
            Self::Several(failures) => failures,
            single => vec![single],
        };
        let mut failures: Vec<Self> = failures.into_iter().flat_map(single).collect();
        if failures.iter().any(|failure| matches!(failure, Self::Interrupted)) {
            return Self::Interrupted;
        }
        // What stands in the way of both sides is told once. Errors of the system are known by
        // their texts alone.
        failures.dedup_by_key(|failure| failure.to_string());
        if failures.len() == 1 { failures.remove(0) } else { Self::Several(failures) }
    }

    /// The single failures in it.
    pub(crate) fn each(&self) -> &[Self] {
        match self {
            Self::Several(failures) => failures,
            single => std::slice::from_ref(single),
        }
    }

    /// What is printed of it: a message, and what stands in lines below it. However many lines a
    /// text of others in it has, the message is one.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = match self {
            Self::Incomparable(differences) | Self::Unlike { differences, .. } => {
                format_differences(differences)
            }
            Self::Unfound { candidates, .. } => clean_each(candidates),
            Self::Measure(error) => error.details(),
            _ => Vec::new(),
        };
        let whole = self.to_string();
        let message = whole.strip_suffix(&below(&lines)).unwrap_or(&whole);
        lines.insert(0, clean(message));
        lines.iter().map(|line| shorten(line).into_owned()).collect()
    }

    /// The exit code that it leads to.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Usage { .. }
            | Self::Incomparable(_)
            | Self::Unlike { .. }
            | Self::History(HistoryError::Label { .. } | HistoryError::NoSuchResult { .. }) => {
                Exit::Usage
            }
            Self::Interrupted | Self::Timed(SessionError::Interrupted) => Exit::Interrupted,
            _ => Exit::Unmeasured,
        }
    }

    /// Whether another try may go well, since this machine was in the way; of several, each.
    pub(crate) fn is_of_the_moment(&self) -> bool {
        match self {
            Self::Measure(error) => error.is_of_the_moment(),
            Self::File { error, .. } | Self::System { error, .. } => is_shortage(error),
            // These happen on a host that is very busy.
            Self::OverLimit { .. } | Self::Interrupted => true,
            Self::Several(failures) => failures.iter().all(Self::is_of_the_moment),
            _ => false,
        }
    }

    /// What the user can do about it, where the message does not state it already.
    pub(crate) fn advice(&self) -> Option<&str> {
        match self {
            Self::Usage { help, .. } => Some(help),
            Self::Measure(error) => error.help(),
            Self::Incomparable(differences) | Self::Unlike { differences, .. }
                if one_is_plain(differences) =>
            {
                Some(
                    "name the same CPU for all: `--cpu plain` is what older versions of pathmeter \
                     measured on if none was named; or show them together all the same with \
                     --across",
                )
            }
            Self::Incomparable(_) => {
                Some("measure both alike, or compare them all the same with --across")
            }
            Self::Unlike { .. } => {
                Some("measure all alike, or show them together all the same with --across")
            }
            Self::File { doing: FileStep::Writing, error, path } => Some(match error.kind() {
                io::ErrorKind::StorageFull => "make room there, or write elsewhere",
                io::ErrorKind::FileTooLarge => {
                    "the limit on the size of files is reached: raise it with `ulimit -f`"
                }
                _ if is_socket(path) => "a socket can't be written to by its name; write to a pipe",
                _ => "check that its folder exists and that you may write there",
            }),
            Self::Unchecked { .. } => Some(
                "measure both sides anew, with one version of pathmeter, or choose paths that both \
                 can run with --only",
            ),
            Self::History(error) => error.help(),
            Self::OverLimit { .. } => {
                Some("name a longer --limit, or measure fewer cells at a time with --jobs")
            }
            Self::Unplanned { .. } => Some("bring back what was planned, or plan again"),
            Self::File { .. } => Some("check the path and its permissions"),
            _ => None,
        }
    }

    /// The end of the guest's console, line by line, if a guest is why.
    pub(crate) fn console(&self) -> Option<String> {
        if let Self::Measure(error) = self { error.console() } else { None }
    }
}

impl From<MeasureError> for Failure {
    fn from(error: MeasureError) -> Self {
        match error {
            MeasureError::Request { message, help } => Self::Usage { message, help },
            MeasureError::File { doing, path, error } => Self::File { doing, path, error },
            MeasureError::System { doing, error } => Self::System { doing, error },
            MeasureError::Several(errors) => Self::all(errors.into_iter().map(Self::from)),
            MeasureError::Interrupted => Self::Interrupted,
            error => Self::Measure(error),
        }
    }
}

impl From<VmError> for Failure {
    fn from(error: VmError) -> Self {
        MeasureError::from(error).into()
    }
}

impl From<PackError> for Failure {
    fn from(error: PackError) -> Self {
        MeasureError::Packing(error).into()
    }
}

impl From<GateError> for Failure {
    fn from(error: GateError) -> Self {
        match error {
            GateError::File { path, error } => Self::File { doing: FileStep::Reading, path, error },
            GateError::Budget { message, help } => Self::Usage { message, help },
            GateError::Unchecked(message) => Self::Unchecked { message },
        }
    }
}

fn is_socket(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|about| about.file_type().is_socket())
}

/// Makes each text a single line that a terminal can print.
fn clean_each(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| clean(text)).collect()
}

/// Lines as they stand below a message.
fn below(lines: &[String]) -> String {
    lines.iter().flat_map(|line| ["\n  ", line]).collect()
}

/// Formats each difference as a line; a CPU that `--cpu` has a name for is that name.
fn format_differences(differences: &[ConfigurationDifference]) -> Vec<String> {
    let line = |difference: &ConfigurationDifference| match cpus(difference) {
        Some([base, new]) => format!("cpu: {base} in base, {new} in new"),
        None => clean(&difference.to_string()),
    };
    differences.iter().map(line).collect()
}

/// What `--cpu` calls the CPUs in which two sides differ, if it is that and it has names for both.
fn cpus(difference: &ConfigurationDifference) -> Option<[&'static str; 2]> {
    if difference.field != "cpu" {
        return None;
    }
    Some([Cpu::name_of(&difference.base)?, Cpu::name_of(&difference.new)?])
}

/// Whether one side has the CPU that was the default first: kept results may have it.
fn one_is_plain(differences: &[ConfigurationDifference]) -> bool {
    differences.iter().filter_map(cpus).any(|names| names.contains(&"plain"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_speaks_for_all() {
        let other = |doing| Failure::System { doing, error: io::Error::other("no") };
        let failure = Failure::all(vec![other("starting"), Failure::Interrupted]);
        assert_eq!(failure.exit(), Exit::Interrupted);
        assert_eq!(Failure::all(vec![other("starting"), other("reading")]).each().len(), 2);
        assert_eq!(Failure::all(vec![other("starting")]).exit(), Exit::Unmeasured);
    }

    #[test]
    fn another_try_may_help_if_the_machine_was_in_the_way_of_all() {
        assert!(Failure::OverLimit { subject: "lab on zen2".into(), limit: 5 }.is_of_the_moment());
        let file = |number| {
            let error = io::Error::from_raw_os_error(number);
            Failure::File { doing: FileStep::Writing, path: "x".into(), error }
        };
        let (full, missing) = (28, 2);
        assert!(file(full).is_of_the_moment() && !file(missing).is_of_the_moment());
        assert!(Failure::Several(vec![file(full), file(full)]).is_of_the_moment());
        assert!(!Failure::Several(vec![file(full), file(missing)]).is_of_the_moment());
        let changed = Failure::Unplanned { subject: "x".into(), what: "y".to_owned() };
        assert!(!changed.is_of_the_moment() && changed.advice().is_some());
    }

    #[test]
    fn a_text_of_others_begins_no_line() {
        let hostile = "x\n  cpu: a\nerror: forged".to_owned();
        let shown = "x\\n  cpu: a\\nerror: forged";
        let what = Failure::Unchecked { message: hostile.clone() };
        assert_eq!(what.lines(), [shown]);
        let field = |base| ConfigurationDifference { field: "f".to_owned(), base, new: "y".into() };
        let differences = vec![field(hostile.clone()), field("x".into())];
        let unlike = Failure::Unlike { base: hostile, new: "n".into(), differences };
        let lines = unlike.lines();
        assert_eq!((lines.len(), lines.iter().any(|line| line.contains('\n'))), (3, false));
        assert_eq!(lines[0], format!("{shown} and n were measured differently:"));
    }

    #[test]
    fn cpus_that_differ_are_named_and_plain_is_explained() {
        let description = |name| Cpu::from_name(name).description();
        let difference = |base, new| {
            let (base, new) = (description(base), description(new));
            ConfigurationDifference { field: "cpu".to_owned(), base, new }
        };
        let old = Failure::Incomparable(vec![difference("plain", "icelake")]);
        assert!(old.to_string().ends_with(":\n  cpu: plain in base, icelake in new"), "{old}");
        assert!(old.advice().unwrap().contains("--cpu plain"));
        let other = Failure::Incomparable(vec![difference("zen2", "icelake")]);
        assert!(!other.advice().unwrap().contains("plain"));
        let qemus = Failure::Incomparable(vec![difference("zen2", "qemu64")]);
        assert!(qemus.to_string().contains("zen2: base,"), "{qemus}");
    }
}
