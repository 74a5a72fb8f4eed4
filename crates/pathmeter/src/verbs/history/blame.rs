//! `pathmeter history blame`: the steps of a path; of the largest also what all rows come to. With
//! the causes in all rows if the functions are in the results, or those in the path if the kernels
//! are at hand: only the path is executed again.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::Path;

use pathmeter_history::{Store, blame};
use pathmeter_model::{Comparison, Measurement, Step, Threshold, compare, parse_measurement};
use pathmeter_report::blame_table;
use pathmeter_trace::MeasuredWith;

use super::args::BlameArgs;
use super::matching::matching;
use crate::comparison::{causes, explanation};
use crate::failure::Failure;
use crate::screen::formats;
use crate::screen::output::Screen;
use crate::setup;
use crate::subject_files::find_files;
use pathmeter_measure::error::MeasureError;
use pathmeter_measure::interrupt;
use pathmeter_measure::session::Session;
use pathmeter_measure::subject;
use pathmeter_measure::subject::image::Image;

/// Most steps of which all rows are looked at.
const MOST_TOLD: usize = 5;
/// Most paths that an error proposes.
const MOST_PROPOSED: usize = 8;

pub(super) fn show(args: &mut BlameArgs, file: &Path, screen: &Screen) -> Result<(), Failure> {
    find_files(&mut args.kernels, screen)?;
    let args = &*args;
    args.guest.refuse_pairs()?;
    let inputs: Vec<&Path> =
        std::iter::once(file).chain(args.kernels.iter().map(|kernel| &**kernel)).collect();
    let [place] = args.document.named_files(&inputs).open(screen)?;
    let store = Store::open(file)?;
    let names = store.path_names()?;
    let path = only_match(&args.path, &names)?;
    let mut blamed = blame(&store, path, args.which.label.as_deref(), args.across)?;
    let kernels = Kernels::of(args, screen)?;
    let mut failures = Vec::new();
    for step in largest(&mut blamed.steps) {
        let sides = [document(&store, step.against.number)?, document(&store, step.result.number)?];
        let mut whole = compare(&sides[0], &sides[1], Threshold::default());
        whole.causes = causes::of_rows(&whole);
        if let Some(kernels) = kernels.as_ref().filter(|_| whole.causes.is_none()) {
            failures.extend(kernels.explain(path, &mut whole, &sides)?);
        }
        step.whole = Some(Box::new(whole));
    }
    if let Some(kernels) = &kernels {
        kernels.note_unused(blamed.steps.is_empty());
    }
    formats::put(&args.document, place.as_ref(), &blamed, blame_table, screen)?;
    formats::failed(failures)
}

/// The path that a name or pattern stands for: its steps are those of one path.
fn only_match<'a>(pattern: &String, names: &'a [String]) -> Result<&'a str, Failure> {
    // A name that is close is proposed.
    let found = matching(std::slice::from_ref(pattern), names)?;
    if let [path] = *found {
        return Ok(path);
    }
    Err(Failure::Usage {
        message: format!("{pattern} matches {} paths, and blame takes one", found.len()),
        help: format!(
            "name one of them: {}; or look at all with `pathmeter history plot '{pattern}'`",
            found[..found.len().min(MOST_PROPOSED)].join(", ")
        ),
    })
}

/// The steps with the largest differences.
fn largest(steps: &mut [Step]) -> Vec<&mut Step> {
    let size =
        |step: &Step| step.comparison.as_ref().map(|it| it.difference.map(i64::unsigned_abs));
    let mut steps: Vec<&mut Step> =
        steps.iter_mut().filter(|step| step.comparison.is_some()).collect();
    steps.sort_by_key(|step| Reverse(size(step)));
    steps.truncate(MOST_TOLD);
    steps
}

fn document(store: &Store, number: u64) -> Result<Measurement, Failure> {
    let bytes = store.document(number)?;
    let file = Path::new("a document of the history").to_owned();
    parse_measurement(&bytes).map_err(|error| MeasureError::ResultFile { path: file, error }.into())
}

/// Kernels of which results may be.
struct Kernels<'a> {
    session: Session,
    images: Vec<Image>,
    /// Those of them that a result was measured on.
    used: RefCell<BTreeSet<String>>,
    screen: &'a Screen,
}

impl<'a> Kernels<'a> {
    /// None if none is named.
    fn of(args: &BlameArgs, screen: &'a Screen) -> Result<Option<Self>, Failure> {
        if args.kernels.is_empty() {
            return Ok(None);
        }
        subject::refuse_results(&args.kernels)?;
        let names: Vec<&Path> = args.kernels.iter().map(|kernel| &**kernel).collect();
        let (session, images) = setup::prepare(&args.guest, interrupt::listen(), &names)?;
        Ok(Some(Self { session, images, used: RefCell::default(), screen }))
    }

    /// Adds the causes of the path's difference if both kernels are here; gives back what could not
    /// be explained.
    fn explain(
        &self,
        path: &str,
        whole: &mut Comparison,
        results: &[Measurement; 2],
    ) -> Result<Vec<Failure>, Failure> {
        let is_its = |image: &&Image, result: &Measurement| {
            image.sha256() == result.configuration.image_sha256
        };
        let image = |result| self.images.iter().find(|image| is_its(image, result));
        let found = results.each_ref().map(image);
        let hashes = found.iter().flatten().map(|image| image.sha256().to_owned());
        self.used.borrow_mut().extend(hashes);
        let [Some(base), Some(new)] = found else { return Ok(vec![]) };
        self.refuse_unlike(base, &results[0])?;
        self.refuse_unlike(new, &results[1])?;
        let paths: Vec<_> =
            explanation::changed(whole, &[]).filter(|changed| changed.name() == path).collect();
        if paths.is_empty() {
            self.screen.note(&format!("no causes: {path} can't be recorded"));
            return Ok(vec![]);
        }
        let (explanations, failures) =
            explanation::explanations(&self.session, [base, new], &paths, self.screen)?;
        if let Some(why) = explanation::attribute(whole, &explanations, &self.session, [base, new])
        {
            self.screen.note(&format!("no causes: {why}"));
        }
        Ok(failures)
    }

    /// Says which of the kernels none of the steps' results was measured on, if there are steps.
    fn note_unused(&self, has_no_steps: bool) {
        if has_no_steps {
            self.screen.note("there is no step, so there are no functions to name");
            return;
        }
        let used = self.used.borrow();
        for image in self.images.iter().filter(|image| !used.contains(image.sha256())) {
            let name = image.subject().name;
            self.screen
                .note(&format!("{name}: none of the largest steps was measured on this kernel"));
        }
    }

    /// Refuses to record a kernel on another machine than that of its result.
    fn refuse_unlike(&self, image: &Image, result: &Measurement) -> Result<(), Failure> {
        let here = self.session.measured_with(image);
        let there = result.configuration.measured_with();
        let machine = |it: &MeasuredWith| {
            let texts = [&it.machine, &it.cpu, &it.command_line, &it.condition];
            (texts.map(Clone::clone), it.cpus, it.memory_mib)
        };
        if machine(&here) == machine(&there) {
            return Ok(());
        }
        Err(Failure::Usage {
            message: format!(
                "{} can't be recorded as it was measured: that was on cpu {}, {} MiB",
                image.subject().name,
                there.cpu,
                there.memory_mib
            ),
            help: "give --cpu, --memory, --append and --under as for the measurement".to_owned(),
        })
    }
}
