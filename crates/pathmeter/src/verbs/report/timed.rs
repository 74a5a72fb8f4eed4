//! Times in a report: of one session or of two sides, in sections of their own.

use pathmeter_measure::path::selection::Selection;
use pathmeter_model::{Boots, Summary, TIME_MARGIN, TimeComparison, TimesConfiguration};
use pathmeter_report::PageSection;

use super::input::Input;
use super::sections::Report;
use crate::failure::Failure;

impl Input {
    /// The names of the paths of a document of which paths are chosen.
    pub(super) fn path_names(&self) -> Vec<&str> {
        match self {
            Self::Comparison(comparison, _) => {
                comparison.paths.iter().map(|path| &*path.path).collect()
            }
            Self::Times(boots) => boots.path_names(),
            Self::TimeComparison(comparison) => {
                comparison.paths.iter().map(|path| &*path.path).collect()
            }
            Self::Joined(joined) => {
                let exact = joined.exact.paths.iter().map(|path| &*path.path);
                exact.chain(joined.times.paths.iter().map(|path| &*path.path)).collect()
            }
            Self::History(history) => history.paths.iter().map(|path| &*path.path).collect(),
            Self::Slope(slope) => {
                let program = slope.program_rows.iter().flat_map(|rows| &rows.rows);
                slope.paths.rows.iter().chain(program).map(|row| &*row.row).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Keeps the paths that the user wants to see. Those of sessions are kept whole, since a time
    /// depends on the session's path for the clock.
    pub(super) fn retain(&mut self, selection: &Selection) {
        match self {
            Self::Comparison(comparison, explanations) => {
                comparison.paths.retain(|path| selection.holds(&path.path));
                comparison.summary = Summary::of(&comparison.paths);
                explanations.retain(|explain| selection.holds(&explain.path));
            }
            Self::TimeComparison(comparison) => {
                comparison.paths.retain(|path| selection.holds(&path.path));
            }
            Self::History(history) => history.paths.retain(|path| selection.holds(&path.path)),
            Self::Joined(joined) => {
                joined.paths.retain(|path| selection.holds(&path.path));
                joined.times.paths.retain(|path| selection.holds(&path.path));
                joined.exact.paths.retain(|path| selection.holds(&path.path));
                joined.exact.summary = Summary::of(&joined.exact.paths);
            }
            _ => {}
        }
    }
}

/// Refuses times that no section can show.
///
/// # Errors
/// There are more than two documents, or one session beside several boots.
pub(super) fn refuse(inputs: &[Input]) -> Result<(), Failure> {
    let boots = |input: &Input| match input {
        Input::Times(boots) => Some(boots.boots.len()),
        _ => None,
    };
    match inputs.iter().filter_map(boots).collect::<Vec<usize>>()[..] {
        [] | [_] => Ok(()),
        [base, new] if (base > 1) == (new > 1) => Ok(()),
        [_, _] => Err(Failure::Usage {
            message: "one session of times can't be compared with several boots".to_owned(),
            help: "gather several boots of each side: pathmeter host --boots FILE".to_owned(),
        }),
        ref all => Err(Failure::Usage {
            message: format!("{} documents of times: a page compares two", all.len()),
            help: "make several pages, or keep them in a history and draw it: pathmeter history \
                   add, pathmeter history plot"
                .to_owned(),
        }),
    }
}

impl Report<'_> {
    /// The section of documents of times: of one by itself, or of two compared.
    pub(super) fn times_section(&self, documents: Vec<Input>) -> Option<PageSection> {
        let times = documents.into_iter().filter_map(|input| match input {
            Input::Times(boots) => Some(boots),
            _ => None,
        });
        match <[Boots; 2]>::try_from(times.collect::<Vec<Boots>>()) {
            Ok(sides) => self.two(&sides),
            Err(mut one) => self.last(one.pop()?),
        }
    }

    fn holds(&self, path: &str) -> bool {
        self.selection.as_ref().is_none_or(|selection| selection.holds(path))
    }

    /// The session of the last boot.
    fn last(&self, mut boots: Boots) -> Option<PageSection> {
        let shown = boots.path_names().into_iter().filter(|path| self.holds(path));
        let shown = shown.map(str::to_owned).collect();
        let count = boots.boots.len();
        let mut times = Box::new(boots.boots.pop()?);
        if count > 1 {
            let what = format!("shown is the last of {count} boots; two such files are compared");
            times.notes.insert(0, what);
        }
        Some(PageSection::Times { times, shown })
    }

    fn two(&self, sides: &[Boots; 2]) -> Option<PageSection> {
        let sides = sides.each_ref().map(|side| &side.boots[..]);
        let comparison = TimeComparison::of_two(sides, |path| self.holds(path), TIME_MARGIN)?;
        let [base, new] = sides.map(TimesConfiguration::of);
        let across = base?.differences(&new?).iter().map(ToString::to_string).collect();
        Some(PageSection::TimeComparison { comparison: Box::new(comparison), across })
    }
}
