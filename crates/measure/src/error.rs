//! Why there is no measurement, and what to do about it.
//!
//! Contract: every message names the file or the step. Errors of the libraries are kept whole; this
//! adds which subject they are about. What the user can do is given by [`MeasureError::help`], and
//! nothing here says how a command ends.

use std::io;
use std::path::{Path, PathBuf};

use pathmeter_image::ImageError;
use pathmeter_model::suggestion::find_close;
use pathmeter_model::{ParseError, clean};
use pathmeter_plan::FileStep;
use pathmeter_seal::SealError;
use pathmeter_vm::{Unmet, UnmetCause, VmError, is_shortage, known_words};

use crate::condition::sysctls;

/// What to do about a QEMU that fails the self-test.
pub const UNFIT_QEMU: &str =
    "name another QEMU with --qemu FILE; versions 7.2, 10.0 and 11.1 are tested";

/// Why there is no measurement.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// What is asked for can't be had of this subject, or is refused.
    #[error("{message}")]
    Request {
        message: String,
        /// What would be right instead.
        help: String,
    },
    /// A guest with two CPUs gave another document each time.
    #[error("{subject}: {times} measurements with two CPUs all differ")]
    Disagree {
        subject: String,
        /// How many measurements there were.
        times: usize,
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
    /// A result file can't be used.
    #[error("{}: {error}", .path.display())]
    ResultFile { path: PathBuf, error: ParseError },
    /// A document is not the one that pathmeter wrote.
    #[error("{}: {error}", .path.display())]
    Edited { path: PathBuf, error: SealError },
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
    /// A vmlinux can't be used.
    #[error(transparent)]
    DebugInfo(pathmeter_debuginfo::DebugInfoError),
    /// This QEMU failed the self-test.
    #[error("{what}")]
    SelfTest {
        /// What failed in it, in words.
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

/// All values that there are; or all that is wrong, if something is.
///
/// # Errors
/// Each error, in the order of the results.
pub fn collect_all<T, E>(
    results: impl IntoIterator<Item = Result<T, E>>,
) -> Result<Vec<T>, Vec<E>> {
    let mut errors = Vec::new();
    let good: Vec<T> = results
        .into_iter()
        .filter_map(|result| result.map_err(|error| errors.push(error)).ok())
        .collect();
    if errors.is_empty() { Ok(good) } else { Err(errors) }
}

impl MeasureError {
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
    /// As [`MeasureError::all`].
    pub(crate) fn gather<T>(
        results: impl IntoIterator<Item = Result<T, Self>>,
    ) -> Result<Vec<T>, Self> {
        collect_all(results).map_err(Self::all)
    }

    /// The same of two.
    ///
    /// # Errors
    /// As [`MeasureError::all`].
    pub(crate) fn both<A, B>(one: Result<A, Self>, other: Result<B, Self>) -> Result<(A, B), Self> {
        match (one, other) {
            (Ok(one), Ok(other)) => Ok((one, other)),
            (one, other) => Err(Self::all(one.err().into_iter().chain(other.err()).collect())),
        }
    }

    /// All of `errors`, of which there is at least one; an interrupt speaks for the rest.
    pub(crate) fn all(errors: Vec<Self>) -> Self {
        let single = |error| match error {
            Self::Several(errors) => errors,
            single => vec![single],
        };
        let mut errors: Vec<Self> = errors.into_iter().flat_map(single).collect();
        if errors.iter().any(|error| matches!(error, Self::Interrupted)) {
            return Self::Interrupted;
        }
        // What stands in the way of both sides is told once. Errors of the system are known by
        // their texts alone.
        errors.dedup_by_key(|error| error.to_string());
        if errors.len() == 1 { errors.remove(0) } else { Self::Several(errors) }
    }

    /// What stands in lines below its message, each of them clean.
    pub fn details(&self) -> Vec<String> {
        match self {
            Self::Program { stdout, stderr, .. } => {
                [format_output_lines("stdout", stdout), format_output_lines("stderr", stderr)]
                    .concat()
            }
            Self::Kernel { error: VmError::Unmet(unmet), .. } if unmet.len() > 1 => {
                each_unmet(unmet)
            }
            _ => Vec::new(),
        }
    }

    /// Whether another try may go well, since this machine was in the way; of several, each.
    pub fn is_of_the_moment(&self) -> bool {
        match self {
            Self::Kernel { error, .. } | Self::Host(error) => error.is_of_the_moment(),
            Self::File { error, .. } | Self::System { error, .. } => is_shortage(error),
            // These happen on a host that is very busy.
            Self::Disagree { .. } | Self::Late { .. } | Self::Interrupted => true,
            Self::Several(errors) => errors.iter().all(Self::is_of_the_moment),
            _ => false,
        }
    }

    /// What the user can do about it, where the message does not state it already.
    pub fn help(&self) -> Option<&str> {
        match self {
            Self::Request { help, .. } => Some(help),
            Self::PlanResult { help, .. } => Some(help),
            Self::Edited { .. } => Some(
                "take the file as it was written, or measure again; --accept-edited takes one that \
                 was edited on purpose, and marks its subjects",
            ),
            Self::Disagree { .. } => Some(
                "this happens on a host that is very busy: measure again when it is less so, or \
                 with one CPU",
            ),
            Self::Kernel { error, .. } | Self::Host(error) => error.help(),
            Self::Packing(error) => error.help(),
            Self::Program { help, .. } => help.as_deref(),
            Self::SelfTest { .. } => Some(UNFIT_QEMU),
            _ => None,
        }
    }

    /// The end of the guest's console, line by line, if a guest is why.
    pub fn console(&self) -> Option<String> {
        let Self::Kernel { error, .. } = self else { return None };
        error.console().map(ToString::to_string).filter(|lines| !lines.is_empty())
    }
}

impl From<VmError> for MeasureError {
    fn from(error: VmError) -> Self {
        match error {
            VmError::Interrupted => Self::Interrupted,
            error => Self::Host(error),
        }
    }
}

impl From<ImageError> for MeasureError {
    fn from(error: ImageError) -> Self {
        Self::Host(error.into())
    }
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

/// Lines as they stand below a message.
fn below(lines: &[String]) -> String {
    lines.iter().flat_map(|line| ["\n  ", line]).collect()
}

/// Characters of a program's line that are shown.
const LONGEST_LINE: usize = 200;

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
    fn the_same_error_of_both_sides_is_told_once() {
        let lacking = || MeasureError::System { doing: "starting", error: io::Error::other("no") };
        let both = MeasureError::all(vec![lacking(), lacking()]);
        assert!(matches!(both, MeasureError::System { .. }));
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
    fn an_error_of_the_guest_names_the_subject() {
        let source = io::Error::other("no memory");
        let error = VmError::Host { what: "starting QEMU", source };
        let failure = MeasureError::measuring(Path::new("old/bzImage"), error);
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
            MeasureError::measuring(Path::new("k"), VmError::Unmet(unmet))
        };
        assert_eq!(failure(&["boot:x"]).to_string(), "k: boot:x: no such word");
        let lines = [
            "k: 2 settings are not available:",
            "boot:mitigatons=off: no such word; did you mean boot:mitigations=off?",
            "sysctl:y=1: no such word",
        ]
        .map(str::to_owned);
        let both = failure(&["boot:mitigatons=off", "sysctl:y=1"]);
        assert_eq!((both.details(), both.to_string()), (lines[1..].to_vec(), lines.join("\n  ")));
    }
}
