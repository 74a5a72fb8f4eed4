//! A program of the user's: what is packed for it, and what it cost on a kernel.
//!
//! Contract: what executes is the program as it was packed and nothing else; a program that did not
//! end as expected, or whose rows do not add up to the guest's clock, gives no document.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use pathmeter_image::cpio::Entry;
use pathmeter_model::{
    Configuration, Ended, Execution, Measurement, Output, Program, ProgramRun, ResultSchema,
    Written, parse_measurement, program_rows,
};
use pathmeter_pack::modules::{Module, modules};
use pathmeter_pack::{Packed, PackedEntry, functions};
use pathmeter_report::grouped;
use pathmeter_trace::{
    Accounts, Event, KernelPlaces, ProgramFunction, Symbols, class_table, counted_events,
};
use pathmeter_vm::{
    Accounting, Condition, Initramfs, Job, MAX_KEPT, PROGRAM_AGENT, ProgramEnd, ProgramEnded,
    RanProgram,
};

use rustix::io::Errno;
use wildmatch::WildMatch;

use crate::failure::Failure;
use crate::image::Image;
use crate::program_rows::{Accounted, KernelNames, accounted};
use crate::program_windows::{KernelWindows, ProgramWindow};
use crate::results::sha256;
use crate::session::{Report, Session};

/// MiB of memory that a guest needs beside what is packed: a kernel, and a program of usual size.
const BASE_MIB: u64 = 256;
/// How many times the archive a guest needs: in the agent's root, unpacked in the run's, and as
/// much again of each, since either may take half of its memory (Linux `mm/shmem.c`). While it
/// boots, it needs it twice: as it is handed to it, and in the agent's root.
const TIMES_ARCHIVE: u64 = 4;
/// Memory comes in steps of this, so that a small change of the program does not change it.
const STEP_MIB: u64 = 128;
/// Most memory in MiB: microvm has all of it below this address.
const MOST_MIB: u64 = 3072;

/// A program, packed, and how it is to be run.
pub struct PackedProgram {
    packed: Packed,
    /// As documents name it.
    program: Program,
    /// Perturbed runs.
    runs: u32,
    /// The exit code that makes a run of it a measurement.
    expected: u8,
    /// Bytes that a file may grow to.
    file_limit: u64,
}

impl PackedProgram {
    /// For a first run and so many later ones in a guest of so much memory, in MiB; each run must
    /// end with the exit code `expected`.
    pub fn new(packed: Packed, later: u32, memory_mib: u32, expected: u8) -> Self {
        let text = |words: &[Vec<u8>]| -> Vec<String> {
            words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect()
        };
        let mut this = Self {
            program: Program {
                command: text(&packed.arguments),
                environment: text(&packed.environment),
                packed_sha256: String::new(),
                files: packed.files,
                bytes: packed.bytes,
                modules: Vec::new(),
                windows: Vec::new(),
            },
            packed,
            runs: later + 1,
            expected,
            file_limit: u64::from(memory_mib) << 18,
        };
        // Modules belong to the kernel: the same program has the same hash on all of them.
        this.program.packed_sha256 = sha256(this.initramfs(&[], &Condition::default()).as_bytes());
        this
    }

    /// That the guest takes all its arguments and variables.
    ///
    /// # Errors
    /// There are too many, or they are too long.
    pub fn check(&self) -> Result<(), Failure> {
        let Packed { arguments, environment, .. } = &self.packed;
        if Job::fits(arguments, environment) {
            return Ok(());
        }
        Err(Failure::Usage {
            message: format!(
                "{} arguments and {} variables are more than the guest takes, or too long",
                arguments.len(),
                environment.len()
            ),
            help: "a program may have at most 16,384 of either, and less than 2 MiB of both: \
                   --file gives it a file with the rest"
                .to_owned(),
        })
    }

    /// The functions of the program that match one of `patterns`.
    ///
    /// # Errors
    /// None matches one of them, or more do than can be told apart.
    pub fn regions(&self, patterns: &[String]) -> Result<Vec<ProgramFunction>, Failure> {
        let name = self.packed.executable.trim_start_matches('/');
        let executable = self.packed.entries.iter().find_map(|entry| match entry {
            PackedEntry::File { name: file, data, .. } if file == name => Some(data.as_slice()),
            _ => None,
        });
        let mut found: Vec<ProgramFunction> = Vec::new();
        for pattern in patterns {
            let matcher = WildMatch::new(pattern);
            let functions = functions(executable.unwrap_or_default(), |name| matcher.matches(name));
            if functions.is_empty() {
                return Err(Failure::Usage {
                    message: format!("{name} has no function {pattern}"),
                    help: "its symbol table must have it (`nm`): a stripped program has none, and \
                           a compiler may have inlined it"
                        .to_owned(),
                });
            }
            found.extend(functions.into_iter().map(|function| ProgramFunction {
                name: plain(&function.name),
                in_page: function.in_page,
                bytes: function.bytes,
            }));
        }
        if found.len() > MOST_FUNCTIONS {
            return Err(Failure::Usage {
                message: format!("{} functions of {name} match", found.len()),
                help: format!("name at most {MOST_FUNCTIONS} of them"),
            });
        }
        Ok(found)
    }

    /// Whether this is a result of it, as it has to end.
    fn is_of(&self, result: &Measurement) -> bool {
        let program = result.configuration.program.as_ref();
        program.is_some_and(|it| it.packed_sha256 == self.program.packed_sha256)
            && result.execution.as_ref().is_some_and(|it| it.ended == Ended::Code(self.expected))
    }

    /// The hash of all files that are packed for it.
    pub fn sha256(&self) -> &str {
        &self.program.packed_sha256
    }

    /// The program and its arguments, as documents have them.
    pub fn command(&self) -> &[String] {
        &self.program.command
    }

    /// Perturbed runs, the first one included.
    pub fn runs(&self) -> u32 {
        self.runs
    }

    /// The guest's first files, with these kernel modules, under this condition.
    pub fn initramfs(&self, modules: &[Module], condition: &Condition) -> Initramfs {
        let paths: Vec<String> =
            modules.iter().map(|module| format!("{MODULES}/{}.ko", module.name)).collect();
        let folder = Entry::Directory { name: MODULES, mode: 0o755 };
        let files = modules.iter().zip(&paths);
        let files =
            files.map(|(module, name)| Entry::File { name, mode: 0o644, data: &module.bytes });
        let loaded: Vec<Entry<'_>> = std::iter::once(folder).chain(files).collect();
        let entries: Vec<Entry<'_>> = self.packed.entries.iter().map(entry).collect();
        let words = modules.iter().zip(&paths).map(|(module, path)| {
            format!("{}/{path}", if module.optional { "?" } else { "" }).into_bytes()
        });
        let words: Vec<Vec<u8>> = words.collect();
        let job = Job {
            runs: self.runs,
            file_limit: self.file_limit,
            executable: &self.packed.executable,
            stdin: self.packed.stdin.as_deref(),
            arguments: &self.packed.arguments,
            environment: &self.packed.environment,
            modules: &words,
        };
        Initramfs::for_program(&entries, &loaded, &job, condition)
    }
}

/// Functions that can be regions at a time; `plugin/program/functions.h` has as many.
const MOST_FUNCTIONS: usize = 64;
/// Longest name of a region, in bytes.
const LONGEST_NAME: usize = 63;

/// A symbol as a region's name: its beginning, without white space.
fn plain(symbol: &str) -> String {
    let allowed = |c: char| if c.is_ascii_graphic() { c } else { '_' };
    symbol.chars().map(allowed).take(LONGEST_NAME).collect()
}

/// Where the guest has the kernel's modules.
const MODULES: &str = ".modules";

/// The modules of a kernel that a program needs, by name: out of its own package, or out of a
/// folder of the user's.
pub struct ModuleRequest<'a> {
    /// Their names, or files of their own.
    pub names: &'a [String],
    /// The folder; the kernel's file without one.
    pub folder: Option<&'a Path>,
}

impl ModuleRequest<'_> {
    /// The modules for the kernel in `image`, in the order in which they are loaded.
    fn of(&self, image: &Image) -> Result<Vec<Module>, Failure> {
        if self.names.is_empty() {
            return Ok(Vec::new());
        }
        let release = image.load().ok().and_then(|kernel| kernel.release.clone());
        let source = self.folder.unwrap_or(image.name());
        modules(source, self.names, release.as_deref()).map_err(Failure::Packing)
    }
}

/// MiB of memory that a guest needs for files of so many bytes.
pub fn memory_for(bytes: u64) -> u32 {
    let mib = BASE_MIB + TIMES_ARCHIVE * bytes.div_ceil(1 << 20);
    u32::try_from(mib.next_multiple_of(STEP_MIB).min(MOST_MIB)).unwrap_or(u32::MAX)
}

fn entry(entry: &PackedEntry) -> Entry<'_> {
    match entry {
        PackedEntry::Directory { name, mode } => Entry::Directory { name, mode: *mode },
        PackedEntry::File { name, mode, data } => Entry::File { name, mode: *mode, data },
        PackedEntry::Symlink { name, target } => Entry::Symlink { name, target },
    }
}

/// The kernel's functions, by its own symbols.
pub fn kernel_names(
    session: &Session,
    image: &Image,
    windows: &[ProgramWindow],
    progress: Report<'_>,
) -> Result<KernelNames, Failure> {
    let text = session.symbols(image, progress)?;
    let places = KernelPlaces::find(&text).map_err(|error| unmeasured(image, error.to_string()))?;
    let symbols = Symbols::parse(&text).map_err(|error| unmeasured(image, error.to_string()))?;
    let windows = KernelWindows::find(image, &text, windows)?;
    Ok(KernelNames { places, symbols, windows })
}

/// What is to be measured.
pub struct Asked<'a> {
    /// The program.
    pub packed: &'a PackedProgram,
    /// The kernel modules that it needs.
    pub modules: &'a ModuleRequest<'a>,
    /// Whether each function of the kernel is counted as well.
    pub functions: bool,
    /// Whether the lines of data that the kernel touches are counted as well.
    pub lines: bool,
    /// The program's functions that are regions.
    pub regions: &'a [ProgramFunction],
    /// The windows between two points of the kernel.
    pub windows: &'a [ProgramWindow],
}

/// Runs the program on the kernel in `image`, whose functions `names` finds out; or takes an
/// earlier result of the same from the cache.
pub fn measure(
    session: &Session,
    image: &Image,
    asked: &Asked<'_>,
    names: impl FnOnce() -> Result<KernelNames, Failure>,
    progress: Report<'_>,
) -> Result<Measurement, Failure> {
    let Asked { packed, modules, functions, lines, regions, windows } = *asked;
    let windows: Vec<String> = windows.iter().map(ProgramWindow::to_string).collect();
    let modules = modules.of(image)?;
    let initramfs = packed.initramfs(&modules, &session.settings_of(image).condition);
    let key = session.program_key(
        image,
        initramfs.as_bytes(),
        &format!("{functions} {lines} {regions:?} {windows:?}"),
    );
    let parse = |bytes: &[u8]| parse_measurement(bytes).ok().filter(|it| packed.is_of(it));
    let loaded = modules.into_iter().map(|module| module.name).collect();
    let program = Program { modules: loaded, windows, ..packed.program.clone() };
    let result = session.cached(image, key, progress, parse, || {
        let kernel = names()?;
        let places = kernel.places.table(regions, &kernel.windows.inside());
        let points = kernel.windows.table.as_bytes();
        let (runs, classes) = (packed.runs, &class_table());
        let places = &places;
        let asked = Accounting { places, points, classes, runs, functions, lines };
        let read = &|stream| pathmeter_trace::accounts(stream);
        let ran = session.run_program(image, &initramfs, asked, read, progress)?;
        document(session, image, (packed, program), (&kernel, lines), ran)
    })?;
    Ok(Measurement { subject: image.subject(), ..result })
}

fn document(
    session: &Session,
    image: &Image,
    (packed, program): (&PackedProgram, Program),
    (kernel, lines): (&KernelNames, bool),
    ran: RanProgram<Accounts>,
) -> Result<Measurement, Failure> {
    let output = output(&ran.outputs);
    let last = ran.unlike.as_ref().map_or_else(|| output.clone(), |run| self::output(&run.outputs));
    let ended = ended(&ran.runs, packed.expected, &last.stderr).map_err(|(what, help)| {
        let failed = failed_expectation(&ran.counts).unwrap_or_default();
        failed_program(image, what + &failed, help, &last)
    })?;
    let clocks: Vec<u64> = ran.runs.iter().map(|run| run.clock).collect();
    let agent = (sha256(PROGRAM_AGENT), program.packed_sha256.clone());
    let configuration = session.program_configuration(image, &ran, agent);
    let Accounted { runs, regions, functions } =
        accounted(ran.counts, &clocks, kernel, lines).map_err(|what| unmeasured(image, what))?;
    let counted: Vec<Event> = counted_events(lines).collect();
    let clocks = runs.iter().map(|run: &ProgramRun| run.clock).collect();
    Ok(Measurement {
        schema: ResultSchema::V1,
        subject: image.subject(),
        configuration: Configuration { program: Some(program), ..configuration },
        guest: None,
        paths: program_rows(&runs, &counted, functions, regions),
        execution: Some(Execution { ended, output, runs: clocks }),
        notes: Vec::new(),
    })
}

/// What the program itself expected and did not find: perhaps why it ended.
fn failed_expectation(accounts: &Accounts) -> Option<String> {
    let regions = accounts.runs.iter().flatten().flat_map(|run| &run.regions);
    let failed = regions.filter_map(|region| Some((&region.name, region.failed.first()?)));
    let (name, text) = failed.into_iter().next()?;
    Some(format!("; its region {name} did not hold what it expects: {text}"))
}

fn output(outputs: &[pathmeter_vm::Written; 2]) -> Output {
    let [stdout, stderr] = outputs.each_ref().map(|written| Written {
        text: String::from_utf8_lossy(&written.bytes).into_owned(),
        bytes: written.total,
        truncated: written.total > written.bytes.len() as u64,
    });
    Output { stdout, stderr }
}

/// How all runs ended.
///
/// # Errors
/// One that did not end as it should, and what can be done about that.
fn ended(runs: &[ProgramEnd], expected: u8, stderr: &Written) -> Result<Ended, (String, String)> {
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
        ProgramEnded::NotExecuted(error) => not_executed(error).to_owned(),
    };
    Err((what, help))
}

/// What to do about an exit code that was not expected.
fn after_exit(code: u8, stderr: &Written) -> String {
    let missing = [": not found", "No such file", "cannot open", "command not found"];
    if matches!(code, 126 | 127) || missing.iter().any(|words| stderr.text.contains(words)) {
        return "only what is packed is in the guest: its own file, the libraries that it needs, \
                and what --file SOURCE[:DESTINATION] adds, such as programs and files that it \
                opens; --root FOLDER packs a whole system"
            .to_owned();
    }
    format!(
        "if it should end so, tell with --exit-code {code}; if not: in the guest it has no \
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
fn not_executed(error: u8) -> &'static str {
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

fn failed_program(image: &Image, what: String, help: String, output: &Output) -> Failure {
    let [(stdout, cut), (stderr, also)] = [&output.stdout, &output.stderr].map(last);
    let help = if cut || also { help + "; " + WHOLE_OUTPUT } else { help };
    let subject = image.name().to_owned();
    Failure::Program { subject, what, help: Some(help), stdout, stderr }
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
    let before = (first > 0).then(|| format!("… {} lines before", grouped(first as u64)));
    let bytes = grouped(written.bytes);
    let after = written
        .truncated
        .then(|| format!("… the rest is not kept: only {} KiB of {bytes} bytes", MAX_KEPT >> 10));
    let cut = before.is_some() || after.is_some();
    let last = lines[first..].iter().map(|&line| line.to_owned());
    (before.into_iter().chain(last).chain(after).collect(), cut)
}

fn unmeasured(image: &Image, what: String) -> Failure {
    let (subject, stdout, stderr) = (image.name().to_owned(), Vec::new(), Vec::new());
    Failure::Program { subject, what, help: None, stdout, stderr }
}

/// `NAME=VALUE`, of any bytes.
pub fn variable(word: OsString) -> Result<(OsString, OsString), String> {
    let bytes = word.into_vec();
    match bytes.iter().position(|byte| *byte == b'=') {
        None | Some(0) => Err("it must be NAME=VALUE".to_owned()),
        Some(place) => {
            let (name, value) = (&bytes[..place], &bytes[place + 1..]);
            Ok((OsString::from_vec(name.to_vec()), OsString::from_vec(value.to_vec())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(number: u64, how: ProgramEnded) -> ProgramEnd {
        ProgramEnd { run: number, how, clock: 1 }
    }

    /// What is printed of a program that ended so in its first run, and wrote this.
    fn told(how: ProgramEnded, stderr: &str) -> (String, String) {
        let stderr = Written { text: stderr.to_owned(), bytes: 0, truncated: false };
        ended(&[run(0, how)], 0, &stderr).unwrap_err()
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
            let told = told(how, stderr);
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
        let (what, help) = ended(&runs, 3, &Written::default()).unwrap_err();
        assert_eq!(what, "it ended with exit code 4 in run 2");
        assert!(help.contains("run 1 of it ended well"), "{help}");
        assert_eq!(ended(&runs[..1], 3, &Written::default()), Ok(Ended::Code(3)));
    }

    #[test]
    fn a_variable_may_have_any_bytes() {
        let word = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
        let read = variable(word(b"A==\xff")).unwrap();
        assert_eq!(read, (word(b"A"), word(b"=\xff")));
        assert_eq!(variable(word(b"A=")).unwrap(), (word(b"A"), word(b"")));
        assert!(variable(word(b"=b")).is_err());
        assert!(variable(word(b"ab")).is_err());
    }
}
