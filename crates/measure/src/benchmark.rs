//! The benchmarks of a program, one after the other: each in guests of its own, as its framework
//! executes it by name.
//!
//! Contract: what a framework did is known by its own output; a benchmark that it did not execute
//! as asked is failed, and says why. One that fails costs nothing of the others.

use std::collections::{HashSet, VecDeque};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::time::Instant;

use pathmeter_model::{
    Configuration, Execution, MAX_NAME_BYTES, Measurement, OWN_CODE, PathResult, Program, Status,
    benchmark_once, benchmark_slope, clean, failed_benchmark,
};
use pathmeter_pack::Packed;
use pathmeter_trace::ProgramFunction;
use pathmeter_vm::Progress;
use wildmatch::WildMatch;

use crate::benchmark::framework::{Executed, Framework, Iteration};
use crate::digest::sha256;
use crate::error::MeasureError;
use crate::program::packed::PackedProgram;
use crate::program::result::{self as program_result, Asked, kernel_names};
use crate::session::{Report, Session};
use crate::subject::image::Image;
use crate::threads::at_once;

pub mod framework;

/// The region that is an iteration of a framework that executes it once.
const ITERATION: &str = "iteration";
/// Most benchmarks that are measured at a time: with two paths each, a result has room for them.
pub const MOST_BENCHMARKS: usize = 1_000;
/// A measurement that takes longer than so many seconds is announced.
const LONG: u64 = 60;

/// The benchmarks of a program, and how they are measured.
pub struct Benchmarks<'a> {
    pub framework: Framework,
    /// The program as it was named, with its files.
    pub packed: &'a Packed,
    /// Patterns of the names that are wanted; all, if there are none.
    pub wanted: &'a [String],
    /// Iterations that the cost of one is told by; as many as usual without.
    pub iterations: Option<u64>,
    /// Runs of each after the first.
    pub later: u32,
    /// The guests' memory, in MiB.
    pub memory: u32,
    /// The exit code that each must end with.
    pub exit_code: u8,
}

/// What is measured on, and who is told how far it is.
struct Place<'a> {
    session: &'a Session,
    guests: &'a Session,
    image: &'a Image,
    progress: Report<'a>,
}

/// What came of a benchmark.
enum Found {
    Paths(Box<([PathResult; 2], Configuration)>),
    /// It consists of these benchmarks.
    Parts(Vec<String>),
}

impl Benchmarks<'_> {
    /// Measures all that are wanted; the second session's guests have memory for the program.
    ///
    /// # Errors
    /// The program lists none, or not one could be measured.
    pub fn measure(
        &self,
        [session, guests]: [&Session; 2],
        image: &Image,
        progress: Report<'_>,
    ) -> Result<Measurement, MeasureError> {
        let guests = &guests.without_own_snapshots();
        let place = Place { session, guests, image, progress };
        let mut names = VecDeque::from(self.wanted_of(self.list(&place)?)?);
        let (mut paths, mut configuration, mut failures) = (Vec::new(), None, Vec::new());
        let (begin, mut done) = (Instant::now(), 0);
        while let Some(name) = names.pop_front() {
            let of = done + names.len() + 1;
            progress(Progress::Benchmark { name: &name, done: done as u64, of: of as u64 });
            match self.one(&place, &name) {
                Ok(Found::Parts(parts)) => {
                    parts.into_iter().rev().for_each(|part| names.push_front(part));
                    continue;
                }
                Ok(Found::Paths(found)) => {
                    let (found, of_one) = *found;
                    paths.extend(found);
                    configuration = Some(of_one);
                }
                Err(failure @ (MeasureError::Interrupted | MeasureError::Host(_))) => {
                    return Err(failure);
                }
                Err(failure) => {
                    paths.extend(failed_benchmark(&to_path_name(&name), &reason(&failure)));
                    failures.push(failure);
                }
            }
            done += 1;
            announce(done, names.len(), begin, progress);
        }
        let Some(configuration) = configuration else { return Err(MeasureError::all(failures)) };
        Ok(self.document(image, configuration, paths))
    }

    /// The names that the program lists, in a guest, where it finds what it finds when it is
    /// measured.
    fn list(&self, place: &Place<'_>) -> Result<Vec<String>, MeasureError> {
        let mut environment = self.packed.environment.clone();
        let more = self.framework.list_environment.iter().map(|it| it.as_bytes().to_vec());
        environment.extend(more);
        let arguments = self.framework.listing(&self.command());
        let packed = Packed { environment, ..self.with(arguments) };
        let program = PackedProgram::new(packed, 0, self.memory, 0);
        let listed =
            place.run(&program, &[]).map_err(|failure| self.add_framework_help(failure))?;
        let output = output(&listed);
        if output.truncated {
            return Err(MeasureError::Request {
                message: format!("the list of benchmarks has {} bytes", output.bytes),
                help: "name a program with fewer benchmarks".to_owned(),
            });
        }
        let names = self.framework.names(&output.text);
        let first = output.text.lines().find(|line| !line.trim().is_empty());
        let said = first.map_or_else(
            || "it printed nothing".to_owned(),
            |line| format!("it printed: {}", clean(line)),
        );
        match names.len() {
            0 => Err(MeasureError::Request {
                message: format!(
                    "the program lists no benchmark of {}: {said}",
                    self.framework.word
                ),
                help:
                    "name its framework with --benchmarks, and a program that was built with its \
                       benchmarks (docs/guide/benchmarks.md)"
                        .to_owned(),
            }),
            _ => Ok(names),
        }
    }

    /// A program that did not list its benchmarks is probably one of another framework.
    fn add_framework_help(&self, failure: MeasureError) -> MeasureError {
        let MeasureError::Program { subject, what, help, stdout, stderr } = failure else {
            return failure;
        };
        let word = self.framework.word;
        let what = format!("asked to list its benchmarks as {word} does, {what}");
        let help = help.map(|help| format!("name its framework with --benchmarks; {help}"));
        MeasureError::Program { subject, what, help, stdout, stderr }
    }

    /// Those of these names that the user wants.
    fn wanted_of(&self, names: Vec<String>) -> Result<Vec<String>, MeasureError> {
        let patterns = self.wanted.iter().map(|pattern| (pattern, WildMatch::new(pattern)));
        let patterns: Vec<_> = patterns.collect();
        // A pattern of a part is one of what has it as well.
        let is_of = |(pattern, matcher): &(&String, WildMatch), name: &str| {
            matcher.matches(name) || pattern.starts_with(&format!("{name}/"))
        };
        let lost = patterns.iter().find(|pattern| !names.iter().any(|name| is_of(pattern, name)));
        if let Some((pattern, _)) = lost {
            let some: Vec<String> = names.iter().take(5).map(|name| clean(name)).collect();
            return Err(MeasureError::Request {
                message: format!("no benchmark of the program is called {pattern}"),
                help: format!("there are {}, such as {}", names.len(), some.join(", ")),
            });
        }
        let is_wanted =
            |name: &str| patterns.is_empty() || patterns.iter().any(|it| is_of(it, name));
        let wanted: Vec<String> = names.into_iter().filter(|name| is_wanted(name)).collect();
        if wanted.len() > MOST_BENCHMARKS {
            return Err(MeasureError::Request {
                message: format!("{} benchmarks are too many for a result", wanted.len()),
                help: format!("choose at most {MOST_BENCHMARKS} with --only-benchmark PATTERN"),
            });
        }
        Ok(wanted)
    }

    /// Measures the benchmark of this name.
    fn one(&self, place: &Place<'_>, name: &str) -> Result<Found, MeasureError> {
        let commands = self.framework.commands(&self.command(), name, self.iterations);
        let program = |arguments| {
            let packed = self.with(arguments);
            PackedProgram::new(packed, self.later, self.memory, self.exit_code)
        };
        let programs: Vec<PackedProgram> = commands.into_iter().map(program).collect();
        match (&programs[..], self.framework.iteration) {
            ([once], Iteration::Once(functions)) => self.once(place, name, once, functions),
            ([fewer, more], _) => self.slope(place, name, [fewer, more]),
            _ => Err(unlike(place, "the framework has no command for it".to_owned())),
        }
    }

    fn slope(
        &self,
        place: &Place<'_>,
        name: &str,
        [fewer, more]: [&PackedProgram; 2],
    ) -> Result<Found, MeasureError> {
        let (fewer, more) = at_once(|| place.run(fewer, &[]), || place.run(more, &[]));
        let (fewer, more) = MeasureError::both(fewer, more)?;
        let of_fewer = match self.find_executed(&fewer, name) {
            Ok(executed) => executed,
            Err(Unlike::Parts(parts)) => return Ok(Found::Parts(parts)),
            Err(Unlike::Reason(reason)) => return Err(unlike(place, reason)),
        };
        let Ok(of_more) = self.find_executed(&more, name) else {
            return Err(unlike(place, "its runs executed other benchmarks".to_owned()));
        };
        if of_fewer.together != of_more.together {
            let reason = "it calibrates itself by time: its runs timed so many iterations together";
            let reason = format!("{reason}: {}, {}", of_fewer.together, of_more.together);
            return Err(unlike(place, reason));
        }
        match of_more.iterations.checked_sub(of_fewer.iterations).filter(|more| *more > 0) {
            Some(iterations) => {
                let paths = benchmark_slope(&to_path_name(name), [&fewer, &more], iterations);
                Ok(Found::Paths(Box::new((paths, more.configuration))))
            }
            None => Err(unlike(
                place,
                format!(
                    "its source sets how often it is executed, {} times, so the cost of an \
                     iteration can't be told from the rest",
                    of_more.iterations
                ),
            )),
        }
    }

    fn once(
        &self,
        place: &Place<'_>,
        name: &str,
        once: &PackedProgram,
        functions: &str,
    ) -> Result<Found, MeasureError> {
        let patterns = [functions.to_owned()];
        let functions = once.regions(&patterns).map_err(|failure| missing(failure, functions))?;
        let named_alike =
            |function: ProgramFunction| ProgramFunction { name: ITERATION.to_owned(), ..function };
        let functions: Vec<ProgramFunction> = functions.into_iter().map(named_alike).collect();
        let result = place.run(once, &functions)?;
        match self.find_executed(&result, name) {
            Ok(_) => {}
            Err(Unlike::Parts(_)) => {
                return Err(unlike(place, "it executed other benchmarks".to_owned()));
            }
            Err(Unlike::Reason(reason)) => return Err(unlike(place, reason)),
        }
        let paths = benchmark_once(&to_path_name(name), &result, ITERATION).ok_or_else(|| {
            let what = "none of the framework's iteration functions was executed";
            unlike(place, what.to_owned())
        })?;
        Ok(Found::Paths(Box::new((paths, result.configuration))))
    }

    /// What the framework executed where it was to execute this benchmark alone.
    fn find_executed(&self, result: &Measurement, name: &str) -> Result<Executed, Unlike> {
        let output = output(result);
        let mut all = self.framework.find_executed(&output.text, name);
        let inside = format!("{name}/");
        if !all.is_empty() && all.iter().all(|one| one.name.starts_with(&inside)) {
            let mut seen = HashSet::new();
            all.retain(|one| seen.insert(one.name.clone()));
            return Err(Unlike::Parts(all.into_iter().map(|one| one.name).collect()));
        }
        match &mut all[..] {
            [one] => match one.error.take() {
                Some(error) => Err(Unlike::Reason(format!("it failed: {}", clean(&error)))),
                None => Ok(all.remove(0)),
            },
            [] => {
                let last = output.text.lines().rev().find(|line| !line.trim().is_empty());
                let last = last.map_or("nothing".to_owned(), clean);
                Err(Unlike::Reason(format!(
                    "the framework did not report that it was executed; its last output: {last}"
                )))
            }
            more => Err(Unlike::Reason(format!("{} benchmarks have this name", more.len()))),
        }
    }

    /// The program with other arguments.
    fn with(&self, arguments: Vec<OsString>) -> Packed {
        let arguments = arguments.into_iter().map(OsString::into_vec).collect();
        Packed { arguments, ..self.packed.clone() }
    }

    fn command(&self) -> Vec<OsString> {
        self.packed.arguments.iter().cloned().map(OsString::from_vec).collect()
    }

    /// The result of all, which is one of paths.
    fn document(
        &self,
        image: &Image,
        configuration: Configuration,
        paths: Vec<PathResult>,
    ) -> Measurement {
        let own = PackedProgram::new(self.packed.clone(), self.later, self.memory, self.exit_code);
        let of_run = configuration.program.unwrap_or_default();
        let program = Program {
            command: own.program.command,
            packed_sha256: own.program.packed_sha256,
            benchmarks: Some(self.framework.description(self.iterations)),
            ..of_run
        };
        let failed = paths.iter().filter(|path| path.status == Status::Failed).count() / 2;
        let note = format!("{failed} of {} benchmarks could not be measured", paths.len() / 2);
        Measurement {
            schema: pathmeter_model::ResultSchema::V1,
            subject: image.subject(),
            configuration: Configuration { program: Some(program), ..configuration },
            guest: None,
            paths,
            execution: None,
            notes: if failed > 0 { vec![note] } else { Vec::new() },
        }
    }
}

/// Tells how long all will take, once the first is measured.
fn announce(done: usize, left: usize, begin: Instant, progress: Report<'_>) {
    let seconds = begin.elapsed().as_secs().saturating_mul(left as u64);
    if done == 1 && seconds > LONG {
        progress(Progress::Note(&format!(
            "{left} more benchmarks take about {} minutes at this pace; --only-benchmark \
             PATTERN measures some, and a run that is interrupted goes on where it was",
            seconds.div_ceil(60)
        )));
    }
}

/// What was executed in place of what was asked for.
enum Unlike {
    /// Parts of it, by their names.
    Parts(Vec<String>),
    Reason(String),
}

impl Place<'_> {
    fn run(
        &self,
        program: &PackedProgram,
        regions: &[ProgramFunction],
    ) -> Result<Measurement, MeasureError> {
        program.check()?;
        let asked = Asked { regions, ..Asked::rows(program) };
        // Of the phases of each guest nobody wants to know, but of what is noticed.
        let notes = |progress: Progress<'_>| {
            if let Progress::Note(_) | Progress::Waiting = progress {
                (self.progress)(progress);
            }
        };
        let names = || kernel_names(self.session, self.image, &[], &notes);
        program_result::measure(self.guests, self.image, &asked, names, &notes)
    }
}

fn output(result: &Measurement) -> pathmeter_model::Written {
    let stdout_of = |execution: &Execution| execution.output.stdout.clone();
    result.execution.as_ref().map(stdout_of).unwrap_or_default()
}

fn unlike(place: &Place<'_>, what: String) -> MeasureError {
    let subject = place.image.name().to_owned();
    MeasureError::Program { subject, what, help: None, stdout: Vec::new(), stderr: Vec::new() }
}

/// The program has none of the functions in which its framework executes an iteration.
fn missing(failure: MeasureError, functions: &str) -> MeasureError {
    match failure {
        MeasureError::Request { message, .. } => MeasureError::Request {
            message,
            help: format!(
                "an iteration is an execution of a function {functions}: build with the symbol \
                 table (`strip = false` in the profile `bench`), and name fewer benchmarks a \
                 program if there are too many"
            ),
        },
        failure => failure,
    }
}

/// Why a benchmark was not measured, in a line.
fn reason(failure: &MeasureError) -> String {
    match failure {
        MeasureError::Program { what, stdout, stderr, .. } => {
            let last = |lines: &[String]| lines.iter().rfind(|line| !line.is_empty()).cloned();
            let said = last(stderr).or_else(|| last(stdout));
            said.map_or_else(|| what.clone(), |said| format!("{what}: {said}"))
        }
        failure => failure.to_string(),
    }
}

/// Converts a benchmark's name to a path's: a hash of the whole replaces the end of a long one.
fn to_path_name(name: &str) -> String {
    let most = MAX_NAME_BYTES - OWN_CODE.len();
    if name.len() <= most {
        return name.to_owned();
    }
    let hash = &sha256(name.as_bytes())[..8];
    let end = (0..=most - hash.len() - 1).rfind(|at| name.is_char_boundary(*at)).unwrap_or(0);
    format!("{}~{hash}", &name[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_stays_different_from_others() {
        let long = |end: &str| to_path_name(&format!("{}{end}", "ä".repeat(100)));
        assert_ne!(long("a"), long("b"));
        assert!(long("a").len() + OWN_CODE.len() <= MAX_NAME_BYTES);
        assert_eq!(to_path_name("a/8"), "a/8");
    }
}
