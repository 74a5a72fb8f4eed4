//! The steps of `host`.

use std::path::Path;

use pathmeter_host::Condition;
use pathmeter_measure::subject::times;
use pathmeter_model::{Boots, Status, TIME_MARGIN, Times};
use pathmeter_report::times_table;

use super::args::{HostArgs, HostMeasureArgs, HostVerb, SessionArgs};
use super::condition::{read_conditions, refuse_conditions};
use super::session::{choose_cpu, refuse_idle, select, take_times, would_change_nothing};
use super::sides::nothing_to_compare;
use super::{compare, experiment};
use crate::command_line::given::Given;
use crate::failure::{Exit, Failure};
use crate::screen::contents::{Contents, Output};
use crate::screen::destination;
use crate::screen::output::{self, Screen};
use crate::verbs::doctor;

/// Does what this machine is asked.
pub(crate) fn run(args: &HostArgs, given: &Given<'_>, screen: &Screen) -> Result<Exit, Failure> {
    match &args.verb {
        None => args.measure.edited.apply(),
        Some(HostVerb::Compare(args)) => args.edited.apply(),
        Some(_) => {}
    }
    given.refuse_idle(&[])?;
    match &args.verb {
        None => measure(&args.measure, screen),
        Some(HostVerb::Compare(args)) => compare::run(args, screen),
        Some(HostVerb::Experiment(args)) => experiment::run(args, screen),
        Some(HostVerb::Doctor(args)) => doctor::show_disturbances(args.json, screen),
    }
}

/// Measures this machine, or shows the times of an earlier session.
fn measure(args: &HostMeasureArgs, screen: &Screen) -> Result<Exit, Failure> {
    let documents: Vec<&Path> = args.times.as_deref().into_iter().collect();
    if let Some(times) = &args.times {
        refuse_idle(&args.session, times)?;
        refuse_second_document(args)?;
    }
    let conditions = read_conditions(&args.session.under)?;
    let [condition] = &conditions[..] else { return Err(refuse_conditions()) };
    let one = std::slice::from_ref(condition);
    let selection = select(&args.rows, &documents)?;
    let (option, contents) = ("--boots", Contents::Json);
    let more = std::iter::once(Output { option, contents, file: args.boots.as_deref() });
    let ([file], _) = args.document.named_files(&documents).open_with(more, screen)?;
    let gathered = |file| Gathered::open(file, &args.session, one);
    let boots = args.boots.as_deref().map(gathered).transpose()?;
    let taken = match &args.times {
        Some(path) => last(times(path)?, screen)?,
        None => take_times(&args.session, &|path| selection.holds(path), one, TIME_MARGIN, screen)?,
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

fn refuse_second_document(args: &HostMeasureArgs) -> Result<(), Failure> {
    let both = args.times.as_deref().filter(|_| args.boots.is_some());
    both.map_or(Ok(()), |times| Err(would_change_nothing("--boots", times)))
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
    fn open(file: &'a Path, args: &SessionArgs, under: &[Condition]) -> Result<Self, Failure> {
        let boots = if file.exists() { times(file)? } else { Boots::default() };
        let host = pathmeter_host::machine(choose_cpu(args)?);
        let under: Vec<String> = under.iter().map(|it| it.name.clone()).collect();
        boots.refuse(&host, &under).map_err(|why| Self::session_error(file, &why))?;
        Ok(Self { file, boots })
    }

    fn add(mut self, times: &Times, screen: &Screen) -> Result<(), Failure> {
        self.boots.add(times.clone()).map_err(|why| Self::session_error(self.file, &why))?;
        destination::save(self.file, &output::json(&self.boots)?)?;
        let count = self.boots.boots.len();
        screen.note(&format!("{} has {count} of this kernel's boots", self.file.display()));
        Ok(())
    }

    fn session_error(file: &Path, why: &str) -> Failure {
        Failure::Usage {
            message: format!("this session can't be added to {}: {why}", file.display()),
            help: "name another file for another kernel, command line or condition".to_owned(),
        }
    }
}
