//! How a run ends: the exit codes, and what can go wrong with what to do about it.
//!
//! Contract: every message names the file or the step, every failure that the user can fix has a
//! help. Errors of the libraries are kept whole; this adds which subject they are about.

use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use pathmeter_host::SessionError;
use pathmeter_image::ImageError;
use pathmeter_model::suggestion::find_close;
use pathmeter_model::{ConfigurationDifference, ParseError, clean, shorten};
use pathmeter_report::FlameError;
use pathmeter_seal::SealError;
use pathmeter_vm::{Cpu, Unmet, UnmetCause, VmError, is_shortage, known_words};

use crate::condition::sysctls;

/// What to do about a QEMU that fails the self-test.
pub const UNFIT_QEMU: &str =
    "name another QEMU with --qemu FILE; versions 7.2, 10.0 and 11.1 are tested";

/// The codes that pathmeter exits with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
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
    pub fn for_git_bisect(self) -> Self {
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

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Something on the command line that clap can't know to be wrong.
    #[error("{message}")]
    Usage {
        message: String,
        /// What would be right instead.
        help: String,
    },
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
    /// A guest with two CPUs gave another document each time.
    #[error("{subject}: {times} measurements with two CPUs all differ")]
    Disagree {
        subject: String,
        /// How many measurements there were.
        times: usize,
    },
    /// A kernel can't be measured.
    #[error("{}{}", prefix(.subject, .error), unmeasured(.error))]
    Kernel {
        /// The file of the kernel.
        subject: PathBuf,
        error: VmError,
    },
    /// What every measurement needs is not there: QEMU, or the recorder.
    #[error(transparent)]
    Host(VmError),
    /// The lab kernel can't do what was asked for on this machine.
    #[error("{}: unsupported here: {reason}", .subject.display())]
    UnsupportedHere {
        subject: PathBuf,
        /// Why, in the lab kernel's words.
        reason: String,
    },
    /// This machine can't be measured in time.
    #[error("host: {0}")]
    Timed(#[from] SessionError),
    /// A result file can't be used.
    #[error("{}: {error}", .path.display())]
    ResultFile { path: PathBuf, error: ParseError },
    /// A document is not the one that pathmeter wrote.
    #[error("{}: {error}", .path.display())]
    Edited { path: PathBuf, error: SealError },
    /// A history can't be used.
    #[error(transparent)]
    History(#[from] pathmeter_history::HistoryError),
    /// A document other than a result can't be used.
    #[error("{}: {what}", .path.display())]
    Document {
        path: PathBuf,
        /// Why it can't be used.
        what: String,
    },
    /// A file can't be read or written.
    #[error("{doing} {}: {error}", .path.display())]
    File {
        /// What was being done, in words.
        doing: &'static str,
        path: PathBuf,
        error: io::Error,
    },
    /// The operating system refused something.
    #[error("{doing}: {error}")]
    System {
        /// What was being done, in words.
        doing: &'static str,
        error: io::Error,
    },
    /// A vmlinux can't be used.
    #[error(transparent)]
    DebugInfo(pathmeter_debuginfo::DebugInfoError),
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
    /// This QEMU failed the self-test.
    #[error("{what}")]
    SelfTest {
        /// What failed in it, in words.
        what: String,
    },
    /// What lies here is not what was planned.
    #[error("{}: {what}", .subject.display())]
    Unplanned {
        /// The file, or the cell.
        subject: PathBuf,
        /// In what it differs from the plan.
        what: String,
    },
    /// What has the name of a cell's result in a folder of results can't be taken for it.
    #[error("{}: {what}", .path.display())]
    PlanResult {
        path: PathBuf,
        /// Why it is no result of the cell.
        what: String,
        /// What to do about it.
        help: &'static str,
    },
    /// A path took longer than the limit, which is time of this machine.
    #[error("{subject}: {path} took too long: {reason}")]
    Late {
        subject: String,
        /// The name of the path.
        path: String,
        /// What the path's row says.
        reason: String,
    },
    /// A cell of a plan took longer than the limit, which is time of this machine.
    #[error("{}: the cell exceeded its limit of {limit} s", .subject.display())]
    OverLimit {
        /// The cell, described in words.
        subject: PathBuf,
        /// The limit that it exceeded, in seconds.
        limit: u64,
    },
    /// A path was recorded, but can't be explained.
    #[error("{}: {path}: {what}", .subject.display())]
    Unexplained {
        /// The file of the kernel.
        subject: PathBuf,
        /// The name of the path.
        path: String,
        /// Why it can't be explained.
        what: String,
    },
    /// A program of the user's gave no measurement.
    #[error(
        "{}: the program gave no measurement: {what}{}{}",
        .subject.display(),
        below(&format_output_lines("stdout", .stdout)),
        below(&format_output_lines("stderr", .stderr))
    )]
    Program {
        /// The file of the kernel.
        subject: PathBuf,
        /// Why it gave no measurement.
        what: String,
        /// What the user can do about it.
        help: Option<String>,
        /// The last lines that it wrote to its standard output.
        stdout: Vec<String>,
        /// The same of its standard error.
        stderr: Vec<String>,
    },
    /// The program can't be packed.
    #[error(transparent)]
    Packing(pathmeter_pack::PackError),
    /// There is no flame graph.
    #[error(transparent)]
    Drawing(FlameError),
    /// More than one of them.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Several(Vec<Self>),
    /// The user interrupted the run.
    #[error("interrupted; nothing was left running")]
    Interrupted,
}

/// Why a kernel can't be measured: one line, and below it all settings that it can't have, if there
/// are several.
fn unmeasured(error: &VmError) -> String {
    let VmError::Unmet(unmet) = error else { return error.to_string() };
    match &each_unmet(unmet)[..] {
        [unmet] => unmet.clone(),
        several => format!("{} settings are not available:{}", several.len(), below(several)),
    }
}

/// Each setting that can't be had, and why.
fn each_unmet(unmet: &[Unmet]) -> Vec<String> {
    unmet.iter().map(|unmet| format!("{unmet}{}", meant_by(unmet).unwrap_or_default())).collect()
}

/// Controllers of control groups (Linux `include/linux/cgroup_subsys.h`).
const CONTROLLERS: [&str; 9] =
    ["cpu", "cpuset", "dmem", "hugetlb", "io", "memory", "misc", "pids", "rdma"];

/// Which parameter, sysctl or limit was probably meant by one that a kernel does not know.
fn meant_by(unmet: &Unmet) -> Option<String> {
    if unmet.cause != UnmetCause::Unknown {
        return None;
    }
    if let Some(sysctl) = unmet.setting.strip_prefix("sysctl:") {
        return sysctls::suggest(sysctl).map(|close| format!("; did you mean sysctl:{close}?"));
    }
    if let Some(limit) = unmet.setting.strip_prefix("cgroup:") {
        let (controller, rest) = limit.split_once('.')?;
        let close = find_close(controller, &CONTROLLERS).first().copied();
        let close = close.filter(|close| *close != controller)?;
        return Some(format!("; did you mean cgroup:{close}.{rest}?"));
    }
    let word = unmet.setting.strip_prefix("boot:")?;
    let (name, value) = word.find('=').map_or((word, ""), |at| word.split_at(at));
    let known: Vec<&str> = known_words().collect();
    let close = find_close(name, &known).first().filter(|close| **close != name).copied()?;
    Some(format!("; did you mean boot:{close}{value}?"))
}

impl Failure {
    /// The kernel in `subject` could not be measured.
    pub fn measuring(subject: &Path, error: VmError) -> Self {
        match error {
            VmError::Interrupted => Self::Interrupted,
            // These would be the same for every kernel.
            error @ (VmError::Qemu(_) | VmError::Recorder { .. } | VmError::Lacking { .. }) => {
                Self::Host(error)
            }
            error => Self::Kernel { subject: subject.to_owned(), error },
        }
    }

    /// The path of the kernel in `subject` can't be explained.
    pub fn unexplained(subject: &Path, path: &str, what: &str) -> Self {
        let (subject, path) = (subject.to_owned(), path.to_owned());
        Self::Unexplained { subject, path, what: what.to_owned() }
    }

    /// All that there are; or all that is wrong, if something is.
    ///
    /// # Errors
    /// As [`Failure::all`].
    pub fn gather<T>(results: impl IntoIterator<Item = Result<T, Self>>) -> Result<Vec<T>, Self> {
        let mut failures = Vec::new();
        let good: Vec<T> = results
            .into_iter()
            .filter_map(|result| result.map_err(|failure| failures.push(failure)).ok())
            .collect();
        if failures.is_empty() { Ok(good) } else { Err(Self::all(failures)) }
    }

    /// The same of two.
    ///
    /// # Errors
    /// As [`Failure::all`].
    pub fn both<A, B>(one: Result<A, Self>, other: Result<B, Self>) -> Result<(A, B), Self> {
        match (one, other) {
            (Ok(one), Ok(other)) => Ok((one, other)),
            (one, other) => Err(Self::all(one.err().into_iter().chain(other.err()).collect())),
        }
    }

    /// All of `failures`, of which there is at least one; an interrupt speaks for the rest.
    pub fn all(failures: Vec<Self>) -> Self {
        let single = |failure| match failure {
            Self::Several(failures) => failures,
            single => vec![single],
        };
        let mut failures: Vec<Self> = failures.into_iter().flat_map(single).collect();
        if failures.iter().any(|failure| matches!(failure, Self::Interrupted)) {
            return Self::Interrupted;
        }
        // What stands in the way of both sides is told once.
        failures.dedup_by_key(|failure| failure.to_string());
        if failures.len() == 1 { failures.remove(0) } else { Self::Several(failures) }
    }

    /// The single failures in it.
    pub fn each(&self) -> &[Self] {
        match self {
            Self::Several(failures) => failures,
            single => std::slice::from_ref(single),
        }
    }

    /// What is printed of it: a message, and what stands in lines below it. However many lines a
    /// text of others in it has, the message is one.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = match self {
            Self::Incomparable(differences) | Self::Unlike { differences, .. } => {
                format_differences(differences)
            }
            Self::Program { stdout, stderr, .. } => {
                [format_output_lines("stdout", stdout), format_output_lines("stderr", stderr)]
                    .concat()
            }
            Self::Unfound { candidates, .. } => clean_each(candidates),
            Self::Kernel { error: VmError::Unmet(unmet), .. } if unmet.len() > 1 => {
                each_unmet(unmet)
            }
            _ => Vec::new(),
        };
        let whole = self.to_string();
        let message = whole.strip_suffix(&below(&lines)).unwrap_or(&whole);
        lines.insert(0, clean(message));
        lines.iter().map(|line| shorten(line).into_owned()).collect()
    }

    /// The exit code that it leads to.
    pub fn exit(&self) -> Exit {
        match self {
            Self::Usage { .. }
            | Self::Incomparable(_)
            | Self::Unlike { .. }
            | Self::History(
                pathmeter_history::HistoryError::Label { .. }
                | pathmeter_history::HistoryError::NoSuchResult { .. },
            ) => Exit::Usage,
            Self::Interrupted | Self::Timed(SessionError::Interrupted) => Exit::Interrupted,
            _ => Exit::Unmeasured,
        }
    }

    /// Whether another try may go well, since this machine was in the way; of several, each.
    pub fn is_of_the_moment(&self) -> bool {
        match self {
            Self::Kernel { error, .. } | Self::Host(error) => error.is_of_the_moment(),
            Self::File { error, .. } | Self::System { error, .. } => is_shortage(error),
            // These happen on a host that is very busy.
            Self::Disagree { .. }
            | Self::Late { .. }
            | Self::OverLimit { .. }
            | Self::Interrupted => true,
            Self::Several(failures) => failures.iter().all(Self::is_of_the_moment),
            _ => false,
        }
    }

    /// What the user can do about it, where the message does not state it already.
    pub fn advice(&self) -> Option<&str> {
        match self {
            Self::Usage { help, .. } => Some(help),
            Self::PlanResult { help, .. } => Some(help),
            Self::Edited { .. } => Some(
                "take the file as it was written, or measure again; --accept-edited takes one that \
                 was edited on purpose, and marks its subjects",
            ),
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
            Self::Disagree { .. } => Some(
                "this happens on a host that is very busy: measure again when it is less so, or \
                 with one CPU",
            ),
            Self::Kernel { error, .. } | Self::Host(error) => error.help(),
            Self::File { doing: "writing", error, path } => Some(match error.kind() {
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
            Self::Packing(error) => error.help(),
            Self::Program { help, .. } => help.as_deref(),
            Self::SelfTest { .. } => Some(UNFIT_QEMU),
            Self::OverLimit { .. } => {
                Some("name a longer --limit, or measure fewer cells at a time with --jobs")
            }
            Self::Unplanned { .. } => Some("bring back what was planned, or plan again"),
            Self::File { .. } => Some("check the path and its permissions"),
            _ => None,
        }
    }

    /// The end of the guest's console, line by line, if a guest is why.
    pub fn console(&self) -> Option<String> {
        let Self::Kernel { error, .. } = self else { return None };
        error.console().map(ToString::to_string).filter(|lines| !lines.is_empty())
    }
}

impl From<VmError> for Failure {
    fn from(error: VmError) -> Self {
        match error {
            VmError::Interrupted => Self::Interrupted,
            error => Self::Host(error),
        }
    }
}

impl From<ImageError> for Failure {
    fn from(error: ImageError) -> Self {
        Self::Host(error.into())
    }
}

fn is_socket(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|about| about.file_type().is_socket())
}

/// The subject's name, unless the error names it itself.
fn prefix(subject: &Path, error: &VmError) -> String {
    match error {
        VmError::Image(_) => String::new(),
        _ => format!("{}: ", subject.display()),
    }
}

/// Formats the last lines of a program's output, each cut to a length that is easily read.
fn format_output_lines(output: &str, lines: &[String]) -> Vec<String> {
    let told = lines.iter().map(|line| {
        let text: String = line.chars().take(LONGEST_LINE).collect();
        let more = if line.chars().nth(LONGEST_LINE).is_some() { "…" } else { "" };
        format!("{output}: {}{more}", clean(&text))
    });
    told.collect()
}

/// Makes each text a single line that a terminal can print.
fn clean_each(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| clean(text)).collect()
}

/// Lines as they stand below a message.
fn below(lines: &[String]) -> String {
    lines.iter().flat_map(|line| ["\n  ", line]).collect()
}

/// Characters of a program's line that are shown.
const LONGEST_LINE: usize = 200;

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
    fn a_misspelt_limit_is_recognised_by_its_controller() {
        let suggest = |setting: &str| {
            let (setting, what) = (setting.to_owned(), "unknown".to_owned());
            meant_by(&Unmet { setting, cause: UnmetCause::Unknown, what, help: None })
        };
        let close = suggest("cgroup:memroy.max=64M").unwrap();
        assert_eq!(close, "; did you mean cgroup:memory.max=64M?");
        assert_eq!(suggest("cgroup:memory.max=64M"), None, "the kernel has it not");
        assert_eq!(suggest("cgroup:nosuch.max=1"), None);
        assert_eq!(suggest("boot:mitigatons=off").unwrap(), "; did you mean boot:mitigations=off?");
    }

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
            Failure::File { doing: "writing", path: "x".into(), error }
        };
        let (full, missing) = (28, 2);
        assert!(file(full).is_of_the_moment() && !file(missing).is_of_the_moment());
        assert!(Failure::Several(vec![file(full), file(full)]).is_of_the_moment());
        assert!(!Failure::Several(vec![file(full), file(missing)]).is_of_the_moment());
        let changed = Failure::Unplanned { subject: "x".into(), what: "y".to_owned() };
        assert!(!changed.is_of_the_moment() && changed.advice().is_some());
    }

    #[test]
    fn the_same_failure_of_both_sides_is_reported_once() {
        let lacking = || Failure::System { doing: "starting", error: io::Error::other("no") };
        assert_eq!(Failure::all(vec![lacking(), lacking()]).each().len(), 1);
    }

    #[test]
    fn a_programs_endless_line_is_cut_and_its_control_characters_are_escaped() {
        let line = "\x1b[31m".to_owned() + &"ä".repeat(100_000);
        let text = below(&format_output_lines("stderr", &[line, "short".to_owned()]));
        assert!(text.starts_with("\n  stderr: \\u{1b}[31mä"), "{text}");
        assert!(text.ends_with("ä…\n  stderr: short"), "{text}");
        assert!(text.chars().count() < 300, "{text}");
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

    #[test]
    fn an_error_of_the_guest_names_the_subject() {
        let source = io::Error::other("no memory");
        let error = VmError::Host { what: "starting QEMU", source };
        let failure = Failure::measuring(Path::new("old/bzImage"), error);
        assert_eq!(failure.to_string(), "old/bzImage: starting QEMU: no memory");
    }

    #[test]
    fn settings_that_can_t_be_had_have_a_line_each() {
        let unmet = |setting: &str| Unmet {
            setting: setting.to_owned(),
            cause: UnmetCause::Unknown,
            what: "no such word".to_owned(),
            help: None,
        };
        let failure = |settings: &[&str]| {
            let unmet = settings.iter().copied().map(unmet).collect();
            Failure::measuring(Path::new("k"), VmError::Unmet(unmet))
        };
        assert_eq!(failure(&["boot:x"]).lines(), ["k: boot:x: no such word"]);
        let lines = [
            "k: 2 settings are not available:",
            "boot:mitigatons=off: no such word; did you mean boot:mitigations=off?",
            "sysctl:y=1: no such word",
        ];
        assert_eq!(failure(&["boot:mitigatons=off", "sysctl:y=1"]).lines(), lines);
    }
}
