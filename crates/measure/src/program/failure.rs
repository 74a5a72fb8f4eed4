//! Programs that did not end as expected: how, what to do about it, and what they wrote last.

use pathmeter_model::{Ended, Output, Written, group_digits};
use pathmeter_trace::Accounts;
use pathmeter_vm::{MAX_KEPT, ProgramEnd, ProgramEnded};
use rustix::io::Errno;

use crate::error::MeasureError;
use crate::subject::image::Image;

/// How all runs ended.
///
/// # Errors
/// One that did not end as it should, and what can be done about that.
pub(crate) fn check_ends(
    runs: &[ProgramEnd],
    expected: u8,
    stderr: &Written,
) -> Result<Ended, (String, String)> {
    let unexpected = |run: &&ProgramEnd| run.how != ProgramEnded::Exit(expected);
    let Some(run) = runs.iter().find(unexpected) else { return Ok(Ended::Code(expected)) };
    let number = run.run + 1;
    let what = match run.how {
        ProgramEnded::Exit(code) => format!("it ended with exit code {code} in run {number}"),
        ProgramEnded::Signal(signal) => {
            format!("signal {signal}{} ended it in run {number}", name_of(signal))
        }
        ProgramEnded::NotExecuted(error) => {
            let error = std::io::Error::from_raw_os_error(i32::from(error));
            format!("the kernel did not execute it: {error}")
        }
    };
    let help = match run.how {
        _ if number > 1 => "run 1 of it ended well, and each run has the files as they were \
                            packed: it depends on addresses, on the clock, or on what an earlier \
                            run left in the kernel (docs/guide/own-programs.md, What a run finds)"
            .to_owned(),
        ProgramEnded::Exit(code) => after_exit(code, stderr),
        ProgramEnded::Signal(signal) => after_signal(signal).to_owned(),
        ProgramEnded::NotExecuted(error) => explain_unexecuted(error).to_owned(),
    };
    Err((what, help))
}

/// What to do about an exit code that was not expected.
fn after_exit(code: u8, stderr: &Written) -> String {
    let missing =
        [": not found", "No such file", "cannot open", "command not found", "No module named"];
    if matches!(code, 126 | 127) || missing.iter().any(|words| stderr.text.contains(words)) {
        return "only what is packed is in the guest: its own file, the libraries that it needs, \
                and what --file SOURCE[:DESTINATION] adds, such as programs and files that it \
                opens; --find-files LIST packs what it opens on this machine, --root FOLDER a \
                whole system"
            .to_owned();
    }
    format!(
        "if this exit code is right, give --exit-code {code}; if not: in the guest it has no \
         network, no terminal, and only the files that are packed (--file, --root)"
    )
}

/// What to do about a signal that ended the program.
fn after_signal(signal: u8) -> &'static str {
    match signal {
        4 => {
            "choose a CPU that has the instruction with --cpu, such as max, or build the program \
             for that of the guest: docs/reference/cpu.md lists what each CPU has; none has AVX-512"
        }
        7 | 9 => "if memory ran out, give the guest more with --memory MIB",
        6 => {
            "if it got no memory (bad_alloc), give the guest more with --memory MIB; else try it \
             outside of pathmeter: in the guest it has no network, no terminal, and only the files \
             that are packed (--file, --root)"
        }
        25 => {
            "no file, its output neither, may be larger than a quarter of the guest's memory: \
             --memory MIB, or have it write less"
        }
        _ => {
            "try it outside of pathmeter; if it ends well there: in the guest it has no network, \
             no terminal, and only the files that are packed (--file, --root)"
        }
    }
}

/// What to do about an error number of execve(2).
fn explain_unexecuted(error: u8) -> &'static str {
    match Errno::from_raw_os_error(i32::from(error)) {
        Errno::NOENT => "add its interpreter with --file SOURCE[:DESTINATION]",
        Errno::NOEXEC => {
            "the kernel lacks support for such a file: CONFIG_BINFMT_SCRIPT for scripts, \
             CONFIG_IA32_EMULATION for 32-bit programs"
        }
        Errno::NOMEM => "give the guest more memory with --memory MIB",
        Errno::TOOBIG => "give it fewer or shorter arguments and variables",
        _ => "check that it can be executed here",
    }
}

/// The signals that end programs most often; signal(7).
fn name_of(signal: u8) -> &'static str {
    match signal {
        4 => " (SIGILL: an instruction that this CPU lacks)",
        6 => " (SIGABRT)",
        7 => " (SIGBUS)",
        8 => " (SIGFPE)",
        9 => " (SIGKILL: perhaps memory ran out)",
        11 => " (SIGSEGV)",
        13 => " (SIGPIPE)",
        15 => " (SIGTERM)",
        25 => " (SIGXFSZ: it wrote a larger file than the guest's memory allows)",
        _ => "",
    }
}

pub(crate) fn failed_program(
    image: &Image,
    what: String,
    help: String,
    output: &Output,
) -> MeasureError {
    let [(stdout, cut), (stderr, also)] = [&output.stdout, &output.stderr].map(last);
    let help = if cut || also { help + "; " + WHOLE_OUTPUT } else { help };
    let subject = image.name().to_owned();
    MeasureError::Program { subject, what, help: Some(help), stdout, stderr }
}

/// Lines of each output that are shown.
const LAST_LINES: usize = 10;
/// Where the rest of it is.
const WHOLE_OUTPUT: &str = "a run that ends as --exit-code says has all that is kept of what it \
                            wrote, in `.execution.output` of its --json";

/// The last lines that are kept of what was written, between what is said of the others; and
/// whether there are others.
fn last(written: &Written) -> (Vec<String>, bool) {
    let lines: Vec<&str> = written.text.lines().collect();
    let first = lines.len().saturating_sub(LAST_LINES);
    let before = (first > 0).then(|| format!("… {} lines before", group_digits(first as u64)));
    let bytes = group_digits(written.bytes);
    let after = written
        .truncated
        .then(|| format!("… the rest is not kept: only {} KiB of {bytes} bytes", MAX_KEPT >> 10));
    let cut = before.is_some() || after.is_some();
    let last = lines[first..].iter().map(|&line| line.to_owned());
    (before.into_iter().chain(last).chain(after).collect(), cut)
}

/// That no numbers of a program are to be had, and why.
pub fn unmeasured(image: &Image, what: String) -> MeasureError {
    let (subject, stdout, stderr) = (image.name().to_owned(), Vec::new(), Vec::new());
    MeasureError::Program { subject, what, help: None, stdout, stderr }
}

/// What the program itself expected and did not find: perhaps why it ended.
pub(crate) fn failed_expectation(accounts: &Accounts) -> Option<String> {
    let regions = accounts.runs.iter().flatten().flat_map(|run| &run.regions);
    let failed = regions.filter_map(|region| Some((&region.name, region.failed.first()?)));
    let (name, text) = failed.into_iter().next()?;
    Some(format!("; its region {name} did not hold what it expects: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(number: u64, how: ProgramEnded) -> ProgramEnd {
        ProgramEnd { run: number, how, clock: 1 }
    }

    /// Describes a program that ended so in its first run, and wrote this to stderr.
    fn describe_first_run(how: ProgramEnded, stderr: &str) -> (String, String) {
        let stderr = Written { text: stderr.to_owned(), bytes: 0, truncated: false };
        check_ends(&[run(0, how)], 0, &stderr).unwrap_err()
    }

    #[test]
    fn each_way_to_fail_has_its_own_advice() {
        let cases = [
            (ProgramEnded::Exit(1), "", "exit code 1 in run 1", "--exit-code 1"),
            (ProgramEnded::Exit(2), "x: ls: not found", "exit code 2", "--file"),
            (ProgramEnded::Exit(127), "", "exit code 127", "--file"),
            (ProgramEnded::Signal(4), "", "SIGILL", "--cpu"),
            (ProgramEnded::Signal(9), "", "SIGKILL", "--memory"),
            (ProgramEnded::Signal(11), "", "SIGSEGV", "outside of pathmeter"),
            (ProgramEnded::Signal(25), "", "SIGXFSZ", "--memory"),
            (ProgramEnded::Signal(33), "", "signal 33 ended it", "outside of pathmeter"),
            (ProgramEnded::NotExecuted(2), "", "No such file", "--file"),
            (ProgramEnded::NotExecuted(8), "", "Exec format error", "CONFIG_IA32_EMULATION"),
        ];
        for (how, stderr, what, help) in cases {
            let told = describe_first_run(how, stderr);
            assert!(told.0.contains(what) && told.1.contains(help), "{told:?}");
        }
    }

    #[test]
    fn the_end_of_an_output_is_shown_and_that_there_is_more_of_it() {
        let written =
            |text: &str, truncated| Written { text: text.to_owned(), bytes: 9, truncated };
        assert_eq!(last(&written("a\nb\n", false)), (vec!["a".into(), "b".into()], false));
        let rest = "… the rest is not kept: only 256 KiB of 9 bytes".to_owned();
        assert_eq!(last(&written("a\nb\n", true)), (vec!["a".into(), "b".into(), rest], true));
        let many: Vec<String> = (0..LAST_LINES + 2).map(|line| line.to_string()).collect();
        let (lines, more) = last(&written(&many.join("\n"), false));
        assert_eq!(
            (lines.len(), &*lines[0], &*lines[1]),
            (LAST_LINES + 1, "… 2 lines before", "2")
        );
        assert!(more);
    }

    #[test]
    fn a_later_run_that_fails_has_found_what_the_first_one_left() {
        let runs = [run(0, ProgramEnded::Exit(3)), run(1, ProgramEnded::Exit(4))];
        let (what, help) = check_ends(&runs, 3, &Written::default()).unwrap_err();
        assert_eq!(what, "it ended with exit code 4 in run 2");
        assert!(help.contains("run 1 of it ended well"), "{help}");
        assert_eq!(check_ends(&runs[..1], 3, &Written::default()), Ok(Ended::Code(3)));
    }
}
