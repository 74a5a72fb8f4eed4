//! A report in the making: what is measured for it, and the parts of its page.

use std::path::Path;

use pathmeter_measure::interrupt;
use pathmeter_measure::path::selection::{Selection, is_selected};
use pathmeter_measure::recording::cache::recordings;
use pathmeter_measure::recording::{Inlined, RecordablePath};
use pathmeter_measure::session::Session;
use pathmeter_measure::subject::image::Image;
use pathmeter_measure::threads::at_once;
use pathmeter_model::{
    Comparison, Joined, Measurement, Status, Threshold, Unit, compare, differences as unlike,
};
use pathmeter_probes::Suite;
use pathmeter_report::{MOST_RESULTS, PageSection, find_steps};
use pathmeter_trace::{Explain, SubjectWindow};

use super::args::ReportArgs;
use super::input::Input;
use crate::comparison::differences::differences;
use crate::comparison::{causes, explanation};
use crate::failure::Failure;
use crate::screen::output::Screen;
use crate::screen::progress::Board;
use crate::setup;

/// Said of results of programs.
const NO_FUNCTIONS: &str = "no functions and causes: a result has them if the program was measured \
    with `pathmeter run --explain`";

/// A subject: a result, and the kernel that it was measured of if that is at hand.
pub(super) struct Measured {
    pub(super) result: Measurement,
    pub(super) image: Option<Image>,
}

/// A report in the making.
pub(super) struct Report<'a> {
    pub(super) args: &'a ReportArgs,
    pub(super) screen: &'a Screen,
    /// None if nothing is to be measured.
    pub(super) session: Option<Session>,
    /// The kernels, in their order.
    pub(super) images: Vec<Image>,
    pub(super) inputs: Vec<Input>,
    pub(super) measured: Vec<Measured>,
    /// What could not be explained.
    pub(super) failures: Vec<Failure>,
    /// The paths that are shown.
    pub(super) selection: Option<Selection>,
    /// Whether a picture is made, in which the paths stand as the user named them.
    pub(super) is_picture: bool,
}

impl<'a> Report<'a> {
    pub(super) fn new(
        args: &'a ReportArgs,
        inputs: Vec<Input>,
        screen: &'a Screen,
    ) -> Result<Self, Failure> {
        let subjects = |input: &&Input| matches!(input, Input::Kernel(_) | Input::Result(_));
        let subjects = inputs.iter().filter(subjects).count();
        if subjects > MOST_RESULTS {
            return Err(Failure::Usage {
                message: format!("{subjects} kernels and results, over {MOST_RESULTS}"),
                help: "a page compares each with each: make several pages".to_owned(),
            });
        }
        let kernels: Vec<&Path> = inputs.iter().filter_map(Input::kernel).collect();
        let (session, images) = if kernels.is_empty() {
            (None, Vec::new())
        } else {
            let (session, images) = setup::prepare(&args.guest, interrupt::listen(), &kernels)?;
            (Some(session), images)
        };
        let (measured, failures) = (Vec::new(), Vec::new());
        let is_picture = args.is_picture();
        let selection = None;
        Ok(Self {
            args,
            screen,
            session,
            images,
            inputs,
            measured,
            failures,
            selection,
            is_picture,
        })
    }

    /// Measures the kernels, two at once, and takes the results as they are.
    pub(super) fn measure(&mut self) -> Result<(), Failure> {
        let mut results = Vec::new();
        if let Some(session) = &self.session {
            let session = session.narrow_to(|path| is_selected(&self.args.only, path));
            let board = Board::new(self.screen);
            let one = |image: &Image| {
                let name = image.subject().name;
                board.during(name, |it| session.measure(image, it)).map_err(Failure::from)
            };
            results = in_pairs(&self.images, &one)?;
        }
        let mut kernels = results.into_iter().zip(std::mem::take(&mut self.images));
        for input in std::mem::take(&mut self.inputs) {
            match input {
                Input::Kernel(_) => self.measured.extend(
                    kernels.next().map(|(result, image)| Measured { result, image: Some(image) }),
                ),
                Input::Result(result) => {
                    self.measured.push(Measured { result: *result, image: None });
                }
                other => self.inputs.push(other),
            }
        }
        Ok(())
    }

    /// Keeps the paths that the user wants to see.
    pub(super) fn apply_selection(&mut self) -> Result<(), Failure> {
        let mut names: Vec<&str> = Suite::Exact.paths().iter().map(|path| path.name).collect();
        names.extend(self.measured.iter().flat_map(|it| &it.result.paths).map(|it| &*it.path));
        names.extend(self.inputs.iter().flat_map(Input::path_names));
        let selection = Selection::new(&self.args.only, &names)?;
        if !self.args.only.is_empty() {
            self.refuse_whole()?;
        }
        for measured in &mut self.measured {
            measured.result.paths.retain(|path| selection.holds(&path.path));
            if self.is_picture {
                measured.result.paths.sort_by_key(|path| selection.order(&path.path));
            }
        }
        self.inputs.iter_mut().for_each(|input| input.retain(&selection));
        self.selection = Some(selection);
        Ok(())
    }

    /// Refuses documents that are shown whole.
    fn refuse_whole(&self) -> Result<(), Failure> {
        let whole = self.inputs.iter().find_map(|input| match input {
            Input::Explanation(_) => Some("an explanation"),
            Input::Experiments(_) => Some("an experiment"),
            Input::Settings(_) => Some("a table of settings"),
            Input::Slope(_) if !self.is_picture => Some("a slope"),
            Input::ProgramSlope(_) => Some("a program's slope"),
            _ => None,
        });
        whole.map_or(Ok(()), |what| {
            Err(Failure::Usage {
                message: format!("--only would change nothing of {what}, which is shown whole"),
                help: "leave one of them out".to_owned(),
            })
        })
    }

    /// The page's parts: what was measured, then each document.
    pub(super) fn sections(&mut self) -> Result<Vec<PageSection>, Failure> {
        let across = self.unlike()?;
        let mut sections = Vec::new();
        match self.measured.len() {
            0 => {}
            1 => sections.push(self.single()?),
            2 => sections.push(self.comparison()?),
            _ => sections.push(self.history(across)?),
        }
        let (times, others): (Vec<Input>, Vec<Input>) = std::mem::take(&mut self.inputs)
            .into_iter()
            .partition(|it| matches!(it, Input::Times(_)));
        sections.extend(self.times_section(times));
        for input in others {
            match input {
                Input::Comparison(comparison, explanations) => {
                    sections.push(PageSection::Comparison {
                        comparison,
                        explanations,
                        results: Vec::new(),
                    });
                }
                Input::Explanation(explain) => sections.push(PageSection::Explanation(explain)),
                Input::Experiments(reports) => sections
                    .extend(reports.into_iter().map(|one| PageSection::Experiment(Box::new(one)))),
                Input::Settings(results) => sections
                    .extend(results.into_iter().map(|one| PageSection::Settings(Box::new(one)))),
                Input::Slope(slope) => sections.push(PageSection::Slope(slope)),
                Input::ProgramSlope(slope) => sections.push(PageSection::ProgramSlope(slope)),
                Input::History(history) => sections.push(PageSection::Kept(history)),
                Input::TimeComparison(comparison) => {
                    let across = Vec::new();
                    sections.push(PageSection::TimeComparison { comparison, across });
                }
                Input::Joined(joined) => sections.extend(joined_sections(joined)),
                // They were measured, or are above.
                Input::Kernel(_) | Input::Result(_) | Input::Times(_) => {}
            }
        }
        Ok(sections)
    }

    /// In what else than the kernel subjects differ from the first, a line for each difference with
    /// the subjects that have it.
    ///
    /// # Errors
    /// They do, and the user did not admit it.
    pub(super) fn unlike(&self) -> Result<Vec<String>, Failure> {
        let Some((first, others)) = self.measured.split_first() else { return Ok(Vec::new()) };
        let mut of: Vec<(String, Vec<&str>)> = Vec::new();
        for other in others {
            let found = unlike(&first.result, &other.result);
            if !found.is_empty() && !self.args.across {
                let [base, new] = [first, other].map(|it| it.result.subject.name.clone());
                return Err(Failure::Unlike { base, new, differences: found });
            }
            let name = other.result.subject.name.as_str();
            for difference in found.iter().map(ToString::to_string) {
                match of.iter_mut().find(|(known, _)| *known == difference) {
                    Some((_, names)) => names.push(name),
                    None => of.push((difference, vec![name])),
                }
            }
        }
        Ok(of.iter().map(|(difference, names)| name_subjects(names) + difference).collect())
    }

    fn single(&mut self) -> Result<PageSection, Failure> {
        let windows = self.windows()?.into_iter().flatten();
        let windows = windows.map(|window| Explain::new(window, None)).collect();
        let result = Box::new(self.measured.remove(0).result);
        Ok(PageSection::Result { result, windows })
    }

    fn comparison(&mut self) -> Result<PageSection, Failure> {
        let measured = std::mem::take(&mut self.measured);
        let [base, new] = [&measured[0], &measured[1]];
        let mut comparison = compare(&base.result, &new.result, Threshold::default());
        let mut explanations = Vec::new();
        if let (Some(base), Some(new), false) = (&base.image, &new.image, self.args.no_explain) {
            let paths: Vec<_> = explanation::changed(&comparison, &[]).collect();
            if let Some(session) = self.session.as_ref().filter(|_| !paths.is_empty()) {
                let board = Board::new(self.screen);
                let found = differences(session, [base, new], &paths, &board);
                keep(found, &mut self.failures, |explain| explanations.push(explain))?;
            }
            if let Some(session) = &self.session {
                let why =
                    explanation::attribute(&mut comparison, &explanations, session, [base, new]);
                self.note_no_causes(why);
            }
        }
        if comparison.program.is_some() {
            comparison.causes = causes::of_rows(&comparison);
            if ![base, new].iter().all(|side| side.result.has_functions()) {
                self.screen.note(NO_FUNCTIONS);
            }
        }
        let results = measured.into_iter().map(|it| it.result).collect();
        Ok(PageSection::Comparison { comparison: Box::new(comparison), explanations, results })
    }

    fn history(&mut self, across: Vec<String>) -> Result<PageSection, Failure> {
        let windows = self.windows()?;
        let results: Vec<Measurement> = self.measured.iter().map(|it| it.result.clone()).collect();
        let (mut explained, mut failures) = (Vec::new(), Vec::new());
        for pair in find_steps(&results) {
            explained.extend(self.explained(pair, &windows, &mut failures)?);
        }
        self.failures.append(&mut failures);
        self.measured.clear();
        Ok(PageSection::History { results, windows, explained, across })
    }

    /// Two kernels with the causes of their differences; none of what was not recorded, which is
    /// added to `failures`.
    fn explained(
        &self,
        (base, new): (usize, usize),
        windows: &[Vec<SubjectWindow>],
        failures: &mut Vec<Failure>,
    ) -> Result<Option<(usize, usize, Comparison)>, Failure> {
        let Some(session) = self.session.as_ref().filter(|_| !self.args.no_explain) else {
            return Ok(None);
        };
        let [one, other] = [&self.measured[base], &self.measured[new]];
        let (Some(of_base), Some(of_new)) = (&one.image, &other.image) else { return Ok(None) };
        let images = [of_base, of_new];
        let mut comparison = compare(&one.result, &other.result, Threshold::default());
        let window = |side: usize, path: &str| windows[side].iter().find(|it| it.path == path);
        let shown = |path: &RecordablePath<'_>| {
            let (base, new) = (window(base, path.name())?, window(new, path.name())?);
            let row = comparison.paths.iter().find(|row| row.path == path.name())?;
            let totals = [base.window.total, new.window.total].map(Some);
            let is_its = totals == [row.base, row.new];
            is_its.then(|| Explain::new(base.clone(), Some(new.clone())))
        };
        // What the page's windows do not show is recorded: the pairs that the rows show.
        let (mut explanations, mut rest) = (Vec::new(), Vec::new());
        for path in explanation::changed(&comparison, &[]) {
            match shown(&path) {
                Some(explain) => explanations.push(explain),
                None => rest.push(path),
            }
        }
        if !rest.is_empty() {
            let found = differences(session, images, &rest, &Board::new(self.screen));
            keep(found, failures, |explain| explanations.push(explain))?;
        }
        let why = explanation::attribute(&mut comparison, &explanations, session, images);
        self.note_no_causes(why);
        Ok(Some((base, new, comparison)))
    }

    fn note_no_causes(&self, why: Option<String>) {
        if let Some(why) = why {
            self.screen.note(&format!("no causes: {why}"));
        }
    }

    /// A window of each path that each kernel can execute; for a result those that the given
    /// documents have.
    fn windows(&mut self) -> Result<Vec<Vec<SubjectWindow>>, Failure> {
        let Some(session) = self.session.as_ref().filter(|_| !self.args.no_explain) else {
            return Ok(self.measured.iter().map(|it| self.select_windows(&it.result)).collect());
        };
        let board = Board::new(self.screen);
        let one = |measured: &Measured| {
            let Some(image) = &measured.image else {
                return Ok(Ok(self.select_windows(&measured.result).into_iter().map(Ok).collect()));
            };
            let line = board.line(image.subject().name);
            let ran = measured.result.paths.iter().filter(|path| path.status == Status::Ok);
            let paths = ran
                .filter_map(|path| Some(RecordablePath::find(&path.path).ok()?.standing_for(path)));
            let paths: Vec<_> = paths.collect();
            let progress = |progress: pathmeter_vm::Progress<'_>| line.show(progress);
            Ok(recordings(session, image, Inlined::Apart, &paths, &progress))
        };
        let found = in_pairs(&self.measured, &one)?;
        let mut all = Vec::new();
        for of_kernel in found {
            let mut windows = Vec::new();
            keep(of_kernel, &mut self.failures, |window| windows.push(window))?;
            all.push(windows);
        }
        Ok(all)
    }

    /// The windows of `result` among the documents: those of its kernel that took as many
    /// instructions as one of its samples, since a document does not name the CPU.
    fn select_windows(&self, result: &Measurement) -> Vec<SubjectWindow> {
        let sampled = |window: &&SubjectWindow| {
            let mut paths = result.paths.iter();
            let path = paths.find(|it| it.path == window.path && it.unit == Unit::Instructions);
            path.is_some_and(|it| it.samples.contains(&window.window.total))
        };
        let windows = self.inputs.iter().flat_map(Input::windows);
        let its = windows.filter(|it| it.image_sha256 == result.configuration.image_sha256);
        its.filter(sampled).cloned().collect()
    }
}

/// `vmlinuz-6.1: ` or `5 of these results: `.
fn name_subjects(names: &[&str]) -> String {
    match names {
        [one] => format!("{one}: "),
        several => format!("{} of these results: ", several.len()),
    }
}

/// Keeps what was found, and what was not as one of the `failures` that the page states.
fn keep<T, E: Into<Failure>>(
    found: Result<Vec<Result<T, E>>, E>,
    failures: &mut Vec<Failure>,
    mut keep: impl FnMut(T),
) -> Result<(), Failure> {
    for one in found.unwrap_or_else(|error| vec![Err(error)]) {
        match one.map_err(Into::into) {
            Ok(one) => keep(one),
            Err(Failure::Interrupted) => return Err(Failure::Interrupted),
            Err(failure) => failures.push(failure),
        }
    }
    Ok(())
}

/// Does something for each, two at once; all that went wrong with a pair ends it.
fn in_pairs<T: Sync, R: Send>(
    all: &[T],
    one: &(impl Fn(&T) -> Result<R, Failure> + Sync),
) -> Result<Vec<R>, Failure> {
    let mut done = Vec::new();
    for pair in all.chunks(2) {
        let results = match pair {
            [first, second] => <[_; 2]>::from(at_once(|| one(first), || one(second))).into(),
            others => others.iter().map(one).collect::<Vec<_>>(),
        };
        done.extend(Failure::gather(results)?);
    }
    Ok(done)
}

/// A section with counts and times together, then one of the counts and one of the times.
fn joined_sections(joined: Box<Joined>) -> [PageSection; 3] {
    let comparison = Box::new(joined.exact.clone());
    let times = Box::new(joined.times.clone());
    [
        PageSection::Joined(joined),
        PageSection::Comparison { comparison, explanations: Vec::new(), results: Vec::new() },
        PageSection::TimeComparison { comparison: times, across: Vec::new() },
    ]
}
