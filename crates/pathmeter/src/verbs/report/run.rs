//! The steps of `report`.

use std::path::Path;

use pathmeter_model::{Measurement, SettingOutcome, Status, Verdict, clean};
use pathmeter_report::{PageSection, report_page};

use super::args::ReportArgs;
use crate::failure::{Exit, Failure};
use crate::screen::output::{self, Screen};

use super::input::Input;
use super::sections::Report;
use super::{picture, request, timed};
use crate::command_line::given::Given;

/// Writes the page, or the picture in its place.
pub(crate) fn run(
    args: &mut ReportArgs,
    given: &Given<'_>,
    screen: &Screen,
) -> Result<Exit, Failure> {
    request::find_subjects(args, given, screen)?;
    let args = &*args;
    let base = picture::base(args)?;
    let inputs = Failure::gather(args.subjects.iter().map(|path| Input::open(path)))?;
    let paths: Vec<&Path> = args.subjects.iter().map(|path| &**path).collect();
    let [file] = args.named_files(&paths).open(screen)?;
    timed::refuse(&inputs)?;
    let mut report = Report::new(args, inputs, screen)?;
    report.measure()?;
    report.apply_selection()?;
    if let Some(base) = base {
        return report.picture(base, file);
    }
    let sections = report.sections()?;
    let notes: Vec<String> =
        report.failures.iter().map(|failure| args.without_folders(failure)).collect();
    let page = report_page(&sections, &notes)
        .map_err(|error| Failure::System { doing: "writing the page", error: error.into() })?;
    if let Some(file) = file {
        file.write(page.html.as_bytes())?;
        if !file.is_stdout() {
            output::print(format!("{}\n", clean(&page.headline)).as_bytes())?;
        }
    }
    if !report.failures.is_empty() {
        return Ok(screen.report(&Failure::all(report.failures)));
    }
    Ok(if sections.iter().any(is_broken) { Exit::Unmeasured } else { Exit::Done })
}

/// Whether a path could not be measured, as `measure` and `compare` tell by their exit codes.
fn is_broken(section: &PageSection) -> bool {
    let failed = |result: &Measurement| result.paths.iter().any(|it| it.status == Status::Failed);
    match section {
        PageSection::Result { result, .. } => failed(result),
        PageSection::History { results, .. } => results.iter().any(failed),
        PageSection::Comparison { comparison, .. } => comparison.summary.count(Verdict::Broken) > 0,
        PageSection::Settings(settings) => {
            let mut rows = settings.sets.iter().flat_map(|set| &set.rows);
            rows.any(|row| row.outcome == SettingOutcome::Failed)
        }
        PageSection::Times { times, shown } => {
            let mut paths = times.paths.iter().filter(|it| shown.contains(&it.path));
            paths.any(|it| it.status == Status::Failed)
        }
        PageSection::Explanation(_)
        | PageSection::Kept(_)
        | PageSection::Experiment(_)
        | PageSection::TimeComparison { .. }
        | PageSection::Slope(_)
        | PageSection::ProgramSlope(_)
        | PageSection::Joined(_) => false,
    }
}
