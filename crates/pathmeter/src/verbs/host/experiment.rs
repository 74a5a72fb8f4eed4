//! `pathmeter host experiment`: the times of the threads' own programs on this machine.

use pathmeter_model::TIME_MARGIN;
use pathmeter_report::{Style, host_experiment_page};

use super::args::{HostExperimentArgs, SessionArgs};
use super::condition::read_conditions;
use super::session::take_times;
use crate::failure::{Exit, Failure};
use crate::screen::formats::{Places, failed};
use crate::screen::output::{self, Screen};
use crate::verbs::experiment::{GAP, choose};

/// Takes these times, and puts out a page of each experiment.
pub(super) fn run(args: &HostExperimentArgs, screen: &Screen) -> Result<Exit, Failure> {
    let chosen = choose(args.name.as_deref())?;
    let places = Places::open(&args.document, &args.formats, &[], screen)?;
    let tables = chosen.iter().filter_map(|experiment| experiment.host.as_ref());
    let rows = tables.flat_map(|table| &table.rows);
    let paths: Vec<&str> = rows.map(|row| row.path.as_str()).collect();
    let (session, conditions) = (SessionArgs::default(), read_conditions(&[])?);
    let is_wanted = |path: &str| paths.contains(&path);
    let times = take_times(&session, &is_wanted, &conditions, TIME_MARGIN, screen)?;
    let pages = |style: Style| {
        let pages = chosen.iter().map(|one| host_experiment_page(one, &times, style));
        pages.collect::<Vec<_>>().join(GAP)
    };
    if places.shows_tables() {
        output::print(pages(screen.style()).as_bytes())?;
    }
    let written = places.document(&times).err();
    let formats = places.formats(|format| format.page(&pages(Style::default())));
    failed(written.into_iter().chain(formats).collect())?;
    Ok(Exit::Done)
}
