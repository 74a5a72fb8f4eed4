//! `pathmeter measure host`, `pathmeter compare host …`: times on the machine that it runs on.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use pathmeter_gate::EventGate;
use pathmeter_host::{
    Condition, Limit, Programs, ProgramsError, Progress, SessionError, Setting as Live,
    TracepointError, Wanted, allowed_cpus, host_paths, tracepoint_number,
};
use pathmeter_measure::failure::{Exit, Failure};
use pathmeter_measure::interrupt;
use pathmeter_measure::selection::Selection;
use pathmeter_measure::subject::{is_host, times};
use pathmeter_measure::under::Under;
use pathmeter_model::suggestion::suggest;
use pathmeter_model::{
    Boots, Host, MOST_REPLICATES, Status, TIME_MARGIN, TimeComparison, TimeRow, TimeVerdict, Times,
};
use pathmeter_report::{time_comparison_table, times_table};
use pathmeter_vm::Setting;

use crate::cli::{CompareArgs, HostArgs, MeasureArgs, RowArgs};
use crate::screen::contents::{Contents, Output};
use crate::screen::destination;
use crate::screen::output::{self, Screen};
use crate::screen::progress::Board;

/// Batches of each side in a process.
const BATCHES: u32 = 20;

/// Measures this machine, or shows the times of an earlier session.
pub(crate) fn measure(args: &MeasureArgs, screen: &Screen) -> Result<Exit, Failure> {
    let subject: &Path = &args.subject;
    let conditions = conditions(&args.guest.under)?;
    let selection = selection(&args.rows, &[subject])?;
    let (option, contents) = ("--boots", Contents::Json);
    let more = std::iter::once(Output { option, contents, file: args.boots.as_deref() });
    let ([file], _) = args.document.named(&[subject]).open_with(more, screen)?;
    let gathered = |file| Gathered::open(file, &args.host, &conditions);
    let boots = args.boots.as_deref().map(gathered).transpose()?;
    let taken = if is_host(subject) {
        let [condition] = &conditions[..] else { return Err(one_condition()) };
        let one = std::slice::from_ref(condition);
        session(&args.host, &|path| selection.holds(path), one, TIME_MARGIN, screen)?
    } else {
        last(times(subject)?, screen)?
    };
    // A session can't be repeated: what can't be written is shown all the same.
    let written = output::document(args.document.json(), file.as_ref(), &taken);
    let added = boots.map_or(Ok(()), |boots| boots.add(&taken, screen));
    if !args.document.json() {
        let shown = |path: &str| selection.holds(path);
        let table = times_table(&taken, shown, args.rows.rows(), screen.style());
        output::print(table.as_bytes())?;
    }
    written.and(added)?;
    let mut shown = taken.paths.iter().filter(|path| selection.holds(&path.path));
    let failed = shown.any(|path| path.status == Status::Failed);
    Ok(if failed { Exit::Unmeasured } else { Exit::Done })
}

/// The session of the last boot.
fn last(mut boots: Boots, screen: &Screen) -> Result<Times, Failure> {
    let count = boots.boots.len();
    if count > 1 {
        screen.note(&format!("shown is the last of {count} boots; compare takes all of them"));
    }
    boots.boots.pop().ok_or_else(nothing_to_compare)
}

/// Boots in a file, to which another one is added.
struct Gathered<'a> {
    file: &'a Path,
    boots: Boots,
}

impl<'a> Gathered<'a> {
    /// Finds out before a long session whether this boot can be added, as far as that is known.
    fn open(file: &'a Path, args: &HostArgs, under: &[Condition]) -> Result<Self, Failure> {
        let boots = if file.exists() { times(file)? } else { Boots::default() };
        let host = pathmeter_host::machine(cpu(args)?);
        let under: Vec<String> = under.iter().map(|it| it.name.clone()).collect();
        boots.refuse(&host, &under).map_err(|why| Self::refused(file, &why))?;
        Ok(Self { file, boots })
    }

    fn add(mut self, times: &Times, screen: &Screen) -> Result<(), Failure> {
        self.boots.add(times.clone()).map_err(|why| Self::refused(self.file, &why))?;
        destination::save(self.file, &output::json(&self.boots)?)?;
        let count = self.boots.boots.len();
        screen.note(&format!("{} has {count} of this kernel's boots", self.file.display()));
        Ok(())
    }

    fn refused(file: &Path, why: &str) -> Failure {
        Failure::Usage {
            message: format!("this session can't be added to {}: {why}", file.display()),
            help: "name another file for another kernel, command line or condition".to_owned(),
        }
    }
}

/// Takes the times of these paths on this machine, under no condition.
pub(crate) fn times_of(paths: &[&str], screen: &Screen) -> Result<Times, Failure> {
    session(
        &HostArgs::default(),
        &|path| paths.contains(&path),
        &conditions(&[])?,
        TIME_MARGIN,
        screen,
    )
}

/// Compares this machine under two conditions, or the times of two sessions.
pub(crate) fn compare(args: &CompareArgs, screen: &Screen) -> Result<Exit, Failure> {
    let names = args.names();
    let sides = TimedSides::new(names.clone(), args)?;
    let selection = selection(&args.rows, &names)?;
    refuse_events(args.check.as_ref())?;
    let [file] = args.document.named(&names).open(screen)?;
    let (_, comparison) = sides.compared(&|path| selection.holds(path), screen)?;
    let written = output::document(args.document.json(), file.as_ref(), &comparison);
    if !args.document.json() {
        let table = time_comparison_table(&comparison, args.rows.rows(), screen.style());
        output::print(table.as_bytes())?;
    }
    written?;
    if args.check.is_some() { check_times(&comparison, &selection) } else { Ok(Exit::Done) }
}

/// Refuses a gate on events, of which times have none.
fn refuse_events(check: Option<&EventGate>) -> Result<(), Failure> {
    let named = check.filter(|events| **events != EventGate::usual());
    named.map_or(Ok(()), |_| {
        Err(Failure::Usage {
            message: "--check=EVENTS: times have no events".to_owned(),
            help: "--check without a value fails if a path is slower".to_owned(),
        })
    })
}

/// Whether a path takes longer.
///
/// # Errors
/// None does, and a path that had to be decided is not: one that BASE can execute and NEW can't,
/// one that `--only` names in full, or all.
fn check_times(comparison: &TimeComparison, selection: &Selection) -> Result<Exit, Failure> {
    if comparison.count(TimeVerdict::Slower) > 0 {
        return Ok(Exit::Worse);
    }
    let is_open = |row: &&TimeRow| match row.verdict {
        TimeVerdict::Unmeasured => row.base.is_some() || selection.names(&row.path),
        TimeVerdict::Undecidable => comparison.count_decided() == 0 || selection.names(&row.path),
        _ => false,
    };
    let open: Vec<&str> = comparison.paths.iter().filter(is_open).map(|row| &*row.path).collect();
    match &open[..] {
        [] if comparison.count_decided() > 0 => Ok(Exit::Done),
        [] => Err(Failure::Unchecked { message: "--check: no path was measured".to_owned() }),
        [first, more @ ..] => {
            let more =
                if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
            let message =
                format!("--check: {first}{more}: no verdict; the table says what would help");
            Err(Failure::Unchecked { message })
        }
    }
}

/// Two sides that are compared in time.
pub(crate) struct TimedSides<'a> {
    /// Documents, and `host` for this machine.
    names: Vec<&'a Path>,
    /// What this machine is measured under, where it is named.
    conditions: Vec<Condition>,
    host: &'a HostArgs,
    /// A difference below this share is none.
    margin: f64,
}

impl<'a> TimedSides<'a> {
    /// # Errors
    /// What can't be compared is refused before anything is measured.
    pub(crate) fn new(names: Vec<&'a Path>, args: &'a CompareArgs) -> Result<Self, Failure> {
        refuse_exact(&names)?;
        let here = names.iter().filter(|name| is_host(name)).count();
        let conditions = if here > 0 { conditions(&args.guest.under)? } else { Vec::new() };
        let documents = names.iter().filter(|name| !is_host(name)).map(|name| times(name));
        let documents: Vec<Boots> = documents.collect::<Result<_, _>>()?;
        let boots: Vec<usize> = documents.iter().map(|document| document.boots.len()).collect();
        let is_pair = match (here, conditions.len(), &boots[..]) {
            (1, 2, []) | (2, 1, []) | (1, 1, [1]) => true,
            (0, _, [_]) => documents[0].boots.iter().all(|times| times.conditions.len() == 2),
            (0, _, [base, new]) => (*base > 1) == (*new > 1),
            _ => false,
        };
        let threshold = Some(args.threshold).filter(|percent| *percent > 0.0);
        let margin = threshold.map_or(TIME_MARGIN, |percent| percent / 100.0);
        if is_pair {
            Ok(Self { names, conditions, host: &args.host, margin })
        } else {
            Err(nothing_to_compare())
        }
    }

    /// Takes the times of this machine where it is named, reads documents, and compares the paths
    /// that are shown. With base's times.
    pub(crate) fn compared(
        &self,
        shown: &dyn Fn(&str) -> bool,
        screen: &Screen,
    ) -> Result<(Times, TimeComparison), Failure> {
        let taken = self.taken(shown, screen)?;
        let (base, comparison) = match &taken {
            Taken::Together(times) => {
                (Some(&**times), TimeComparison::of_session(times, shown, self.margin))
            }
            Taken::Apart([base, new]) => {
                let sides = [&base.boots[..], &new.boots];
                (base.boots.first(), TimeComparison::of_two(sides, shown, self.margin))
            }
        };
        base.cloned().zip(comparison).ok_or_else(nothing_to_compare)
    }

    /// The machines that are timed, in the order of their names.
    pub(crate) fn hosts(&self) -> Result<Vec<Host>, Failure> {
        let one = |name: &&Path| {
            if is_host(name) {
                return Ok(vec![pathmeter_host::machine(cpu(self.host)?)]);
            }
            Ok(times(name)?.boots.into_iter().take(1).map(|times| times.host).collect())
        };
        Ok(self.names.iter().map(one).collect::<Result<Vec<_>, Failure>>()?.concat())
    }

    fn taken(&self, shown: &dyn Fn(&str) -> bool, screen: &Screen) -> Result<Taken, Failure> {
        let session = |conditions: &[Condition]| {
            session(self.host, shown, conditions, self.margin, screen).map(Box::new)
        };
        match (&self.names[..], &self.conditions[..]) {
            ([one], [_, _]) if is_host(one) => Ok(Taken::Together(session(&self.conditions)?)),
            // The machine with itself: what the method says of no difference.
            ([one, other], [condition]) if is_host(one) && is_host(other) => {
                Ok(Taken::Together(session(&[condition.clone(), condition.clone()])?))
            }
            ([one], []) => Ok(Taken::Together(last(times(one)?, screen)?.into())),
            ([base, new], [] | [_]) => {
                let here = || session(&self.conditions);
                let here = || Ok(Boots { boots: vec![*here()?], ..Boots::default() });
                let side = |name: &Path| if is_host(name) { here() } else { times(name) };
                Ok(Taken::Apart([side(base)?, side(new)?]))
            }
            _ => Err(nothing_to_compare()),
        }
    }
}

/// The times of both sides.
enum Taken {
    /// In pairs, of two conditions.
    Together(Box<Times>),
    /// Apart, in one boot of each side or in several.
    Apart([Boots; 2]),
}

fn nothing_to_compare() -> Failure {
    Failure::Usage {
        message: "there is nothing to compare with".to_owned(),
        help: "name two conditions (compare host --under default --under seccomp:docker), two \
               documents of `measure host -o`, or a document and host; or two files of several \
               boots each (measure host --boots FILE)"
            .to_owned(),
    }
}

fn one_condition() -> Failure {
    Failure::Usage {
        message: "one condition can be measured, not several".to_owned(),
        help: "compare two: pathmeter compare host --under default --under seccomp:docker"
            .to_owned(),
    }
}

/// Times and counts have no unit in common.
fn refuse_exact(names: &[&Path]) -> Result<(), Failure> {
    let exact = names.iter().find(|name| !pathmeter_measure::subject::is_timed(name));
    match exact {
        None => Ok(()),
        Some(name) => Err(Failure::Usage {
            message: format!("{} is measured in instructions, and not in time", name.display()),
            help: "compare two documents of `measure host -o`, or this machine under two \
                   conditions"
                .to_owned(),
        }),
    }
}

/// The paths that are shown, of those that a host has and of those in the documents.
fn selection(rows: &RowArgs, names: &[&Path]) -> Result<Selection, Failure> {
    let documents = names.iter().filter(|name| !is_host(name)).map(|name| times(name));
    let documents: Vec<Boots> = documents.collect::<Result<_, _>>()?;
    let paths = host_paths();
    let sessions = documents.iter().flat_map(|boots| &boots.boots);
    let of_documents = sessions.flat_map(|times| &times.paths);
    let known: Vec<&str> =
        paths.iter().map(|path| path.name).chain(of_documents.map(|path| &*path.path)).collect();
    Selection::new(&rows.only.only, &known)
}

/// What this machine is measured under: the default, unless the user names something.
fn conditions(under: &[Under]) -> Result<Vec<Condition>, Failure> {
    if under.is_empty() {
        return Ok(vec![Condition::none()]);
    }
    under.iter().map(condition).collect()
}

fn condition(under: &Under) -> Result<Condition, Failure> {
    let refused = |what: &str, why: &str| {
        let message = format!("{what} is not available on this machine: {why}");
        let help = "it is a setting of guests: measure a kernel image under it".to_owned();
        Failure::Usage { message, help }
    };
    if under.cpu.is_some() {
        return Err(refused("cpu:", "it has the CPU that it has"));
    }
    let (name, restraint) = (under.name(), under.condition.restraint());
    let notes = under.condition.doubts().collect();
    let mut condition = Condition { name, restraint, notes, ..Condition::default() };
    for setting in &under.live {
        match setting {
            Live::Ports(end) => condition.ports = *end,
            Live::Tracepoint { category, event } => {
                condition.tracepoint = tracepoint(category, event)?;
            }
        }
    }
    for setting in under.condition.settings() {
        let lacking = |error: ProgramsError| match error {
            ProgramsError::Place(why) => Failure::Usage {
                message: format!("{setting} is not available on this machine: {why}"),
                help: "`pathmeter doctor host` shows what this machine permits".to_owned(),
            },
            ProgramsError::Refused(why) => refuse_for_right(setting.to_string(), &why),
        };
        match setting {
            Setting::Cgroup { name, value } => {
                condition.limits.push(Limit { name: name.clone(), value: value.clone() });
            }
            Setting::Bpf { place, programs } => {
                condition.programs.push(Programs::find(place, *programs).map_err(lacking)?);
            }
            _ => {
                let why = why_not(setting).map(|why| refused(&setting.to_string(), why));
                why.map_or(Ok(()), Err)?;
            }
        }
    }
    Ok(condition)
}

/// Why measured processes alone can't have the setting, if they can't.
fn why_not(setting: &Setting) -> Option<&'static str> {
    Some(match setting {
        Setting::Seccomp(_)
        | Setting::Landlock(_)
        | Setting::Cgroup { .. }
        | Setting::Bpf { .. } => return None,
        Setting::Ruleset(_) => "only a guest can have a ruleset of Landlock; landlock:N can be had",
        Setting::Boot(_) => "it would have to boot again",
        Setting::Sysctl { .. } | Setting::Sysfs { .. } => {
            "it would change the whole machine, and not the measured processes alone"
        }
        Setting::Audit(_)
        | Setting::Nft(_)
        | Setting::Tracepoint(_)
        | Setting::Kprobe(_)
        | Setting::Ftrace(_)
        | Setting::Module(_)
        | Setting::Tool(_) => "it would affect the whole machine, not only the measured processes",
        Setting::Uprobe { .. } => "it is at a function of a program of `run`",
        Setting::Disk(_) => "a program of `run` begins in it",
        Setting::Netns(_) => "no path of a live host uses another network namespace yet",
    })
}

/// The number of a tracepoint of this machine's kernel.
fn tracepoint(category: &str, event: &str) -> Result<u64, Failure> {
    tracepoint_number(category, event)
        .map_err(|error| refuse_tracepoint(&format!("{category}:{event}"), &error))
}

fn refuse_tracepoint(name: &str, error: &TracepointError) -> Failure {
    let TracepointError::Unknown { names } = error else {
        return refuse_for_right(format!("perf:{name}"), &error.to_string());
    };
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Failure::Usage {
        message: format!("perf:{name}: {error}"),
        help: suggest(name, &names) + "`perf list tracepoint` lists them",
    }
}

/// A setting that the user lacks a right for: the command line is as it should be.
fn refuse_for_right(condition: String, why: &str) -> Failure {
    let why = format!("{why}; run as root, or have tracefs and securityfs mounted and readable");
    Failure::Timed(SessionError::Condition { condition, why })
}

/// A session on this machine.
fn session(
    args: &HostArgs,
    shown: &dyn Fn(&str) -> bool,
    conditions: &[Condition],
    margin: f64,
    screen: &Screen,
) -> Result<Times, Failure> {
    let interrupt = interrupt::listen();
    let paths = host_paths();
    let chosen: Vec<&str> = paths.iter().map(|path| path.name).filter(|name| shown(name)).collect();
    let wanted = Wanted {
        paths: &chosen,
        conditions,
        cpu: cpu(args)?,
        replicates: args.replicates,
        most: MOST_REPLICATES,
        width: margin.ln_1p(),
        batches: BATCHES,
        seed: args.seed.unwrap_or_else(any_number),
        delays: [0; 3],
        limit: args.limit(conditions.len()),
        interrupted: &|| interrupt.check().is_err(),
    };
    let board = Board::new(screen);
    let line = board.line("host".to_owned());
    let show = |Progress { done, all }: Progress| line.show_share(done, all);
    Ok(pathmeter_host::measure(&wanted, &show)?)
}

/// The CPU to execute on.
fn cpu(args: &HostArgs) -> Result<u32, Failure> {
    let cpus = allowed_cpus();
    match args.pin {
        Some(cpu) if !cpus.contains(&cpu) => Err(other_cpu(cpu, &cpus)),
        Some(cpu) => Ok(cpu),
        None => Ok(cpus.last().copied().unwrap_or(0)),
    }
}

fn other_cpu(cpu: u32, cpus: &[u32]) -> Failure {
    let all: Vec<String> = cpus.iter().map(ToString::to_string).collect();
    Failure::Usage {
        message: format!("--pin {cpu}: this process may not execute on CPU {cpu}"),
        help: format!("name one of {}", all.join(", ")),
    }
}

/// Another number each time: nothing but an order is drawn from it, and the document keeps it.
fn any_number() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::from(now.subsec_nanos()) << 20 ^ now.as_secs()
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn who_lacks_a_right_has_used_the_command_well_whatever_the_setting() {
        let denied = || io::Error::from(io::ErrorKind::PermissionDenied);
        for error in [TracepointError::Read(denied()), TracepointError::Mount(denied())] {
            let failure = refuse_tracepoint("sched:sched_switch", &error);
            assert_eq!(failure.exit(), Exit::Unmeasured, "{failure}");
            assert!(failure.to_string().contains("run as root"), "{failure}");
        }
        let unknown = TracepointError::Unknown { names: vec!["sched:sched_switch".to_owned()] };
        let failure = refuse_tracepoint("sched:shed_switch", &unknown);
        assert_eq!(failure.exit(), Exit::Usage);
        let advice = failure.advice().unwrap();
        assert!(advice.starts_with("did you mean sched:sched_switch?"), "{advice}");
    }
}
