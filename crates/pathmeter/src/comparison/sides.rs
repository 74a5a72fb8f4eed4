//! The sides of a comparison, or the only one: results that are there, and kernels to be measured.

use std::path::Path;

use data_encoding::HEXLOWER;
use pathmeter_measure::interrupt;
use pathmeter_measure::session::{Report, Session};
use pathmeter_measure::subject::Subject;
use pathmeter_measure::subject::image::Image;
use pathmeter_measure::threads::at_once;
use pathmeter_model::LEAST_LATER_RUNS;
use pathmeter_model::{Measurement, configuration_differences};

use crate::arguments::GuestArgs;
use crate::comparison::pair::measure_both;
use crate::failure::Failure;
use crate::screen::output::Screen;
use crate::screen::progress::{Board, Line};
use crate::setup;

/// A function that measures one kernel.
pub(crate) type Measure<'a> =
    &'a (dyn Fn(&Session, &Image, Report<'_>) -> Result<Measurement, Failure> + Sync);

/// Whether a kernel has what is asked of it.
pub(crate) type Find<'a> = &'a (dyn Fn(&Session, &Image, Report<'_>) -> Result<(), Failure> + Sync);

/// The sides, in their order, and what measures those that are kernels.
pub(crate) struct Sides {
    subjects: Vec<Subject>,
    /// None if there is no kernel.
    pub(crate) session: Option<Session>,
    /// The kernels; one twice, if it is compared with itself on two CPUs or under two conditions.
    pub(crate) images: Vec<Image>,
}

/// What is at each of these places, or all that is wrong there.
pub(crate) fn subjects(names: &[&Path]) -> Result<Vec<Subject>, Failure> {
    Failure::gather(names.iter().map(|name| Subject::open(name)))
}

/// A kernel that is or was counted.
#[derive(Clone)]
pub(crate) struct Counted {
    /// What the user calls it.
    pub(crate) name: String,
    /// Its release, as `uname -r` prints it.
    pub(crate) release: Option<String>,
    /// Its build id, in hexadecimal digits.
    pub(crate) build_id: Option<String>,
}

impl Counted {
    fn of_result(result: &Measurement) -> Self {
        let release = result.configuration.release.clone();
        Self { name: result.subject.name.clone(), release, build_id: None }
    }

    /// What can't be read is not known: measuring it will say so.
    fn of_image(image: &Image) -> Self {
        let kernel = image.load().ok();
        let id = kernel.as_ref().and_then(|kernel| kernel.build_id.as_ref());
        Self {
            name: image.subject().name,
            release: image.release(kernel.as_ref().and_then(|kernel| kernel.release.clone())),
            build_id: id.map(|id| HEXLOWER.encode(id)),
        }
    }
}

impl Sides {
    /// Finds QEMU and hashes the kernels, if there are any.
    pub(crate) fn prepare(subjects: Vec<Subject>, guest: &GuestArgs) -> Result<Self, Failure> {
        let names: Vec<&Path> = subjects.iter().filter_map(Subject::kernel).collect();
        let (session, images) = match (&names[..], guest.pair()?) {
            ([], _) => (None, Vec::new()),
            ([base, ..], Some(pair)) => {
                let (session, images) = setup::prepare_on(guest, interrupt::listen(), base, pair)?;
                (Some(session), images)
            }
            (names, None) => {
                let (session, images) = setup::prepare(guest, interrupt::listen(), names)?;
                (Some(session), images)
            }
        };
        Ok(Self { subjects, session, images })
    }

    /// Both kernels, and what they are measured in, if they are two.
    pub(crate) fn kernels(&self) -> Option<(&Session, [&Image; 2])> {
        let [base, new] = &self.images[..] else { return None };
        Some((self.session.as_ref()?, [base, new]))
    }

    /// Which kernels base and new are, as far as their files tell.
    pub(crate) fn counted_kernels(&self) -> Vec<Counted> {
        let mut images = self.images.iter();
        let mut of = |subject: &Subject| match subject {
            Subject::Result(result) => Some(Counted::of_result(result)),
            Subject::Kernel(_) => images.next().map(Counted::of_image),
        };
        let mut all: Vec<Counted> = self.subjects.iter().filter_map(&mut of).collect();
        all.extend(images.map(Counted::of_image));
        if let [one] = &all[..] {
            all.push(one.clone());
        }
        all
    }

    /// Refuses, before a kernel is measured, what would make its result incomparable with the
    /// result that is there: another machine, say.
    pub(crate) fn refuse_unlike(&self) -> Result<(), Failure> {
        let (Some(session), [image]) = (&self.session, &self.images[..]) else { return Ok(()) };
        let (there, is_base) = match &self.subjects[..] {
            [Subject::Result(base), Subject::Kernel(_)] => (base, true),
            [Subject::Kernel(_), Subject::Result(new)] => (new, false),
            _ => return Ok(()),
        };
        let (subject, like) = (image.subject(), &there.configuration);
        let foreseen = session.foreseen(image, like);
        let (there, here) = ((&there.subject, like), (&subject, &foreseen));
        let differences = if is_base {
            configuration_differences(there, here)
        } else {
            configuration_differences(here, there)
        };
        if differences.is_empty() { Ok(()) } else { Err(Failure::Incomparable(differences)) }
    }

    /// Refuses, before the first kernel is measured, what one of them lacks.
    pub(crate) fn find(&self, find: Find<'_>, screen: &Screen) -> Result<(), Failure> {
        let Some(session) = &self.session else { return Ok(()) };
        let board = Board::new(screen);
        let one = |image: &Image| board.during(image.subject().name, |it| find(session, image, it));
        let found = match &self.images[..] {
            [base, new] if !base.is_same_as(new) => {
                <[_; 2]>::from(at_once(|| one(base), || one(new))).into()
            }
            images => images.iter().take(1).map(one).collect::<Vec<_>>(),
        };
        Failure::gather(found).map(drop)
    }

    /// The results of all sides: those that are kernels are measured by `measure`, at once.
    pub(crate) fn results(
        &mut self,
        measure: Measure<'_>,
        screen: &Screen,
    ) -> Result<Vec<Measurement>, Failure> {
        let subjects = std::mem::take(&mut self.subjects);
        let labels: &[&str] = match subjects.len().max(self.images.len()) {
            1 => &[""],
            _ => &["base ", "new "],
        };
        let is_kernel = |(subject, _): &(&Subject, &&str)| subject.kernel().is_some();
        let kernels = subjects.iter().zip(labels).filter(is_kernel).map(|(_, label)| *label);
        // One kernel on two CPUs, or under two conditions, is two sides.
        let labels: Vec<&str> = match kernels.collect::<Vec<_>>() {
            one if one.len() < self.images.len() => labels.to_vec(),
            kernels => kernels,
        };
        let mut fresh = self.measure_images(&labels, measure, screen)?.into_iter();
        let mut results = Vec::new();
        for subject in subjects {
            match subject {
                Subject::Result(result) => results.push(*result),
                Subject::Kernel(_) => results.extend(fresh.next()),
            }
        }
        results.extend(fresh);
        Ok(results)
    }

    /// The results of the only kernel, measured in two ways at once.
    pub(crate) fn of_both(
        &self,
        measures: [Measure<'_>; 2],
        screen: &Screen,
    ) -> Result<Vec<Measurement>, Failure> {
        let (Some(session), [image]) = (&self.session, &self.images[..]) else {
            return Ok(Vec::new());
        };
        let board = Board::new(screen);
        let lines =
            ["base", "new"].map(|side| board.line(format!("{side} on {}", image.subject().name)));
        measure_both(session, &lines, |side, session, progress| {
            measures[side](session, image, progress)
        })
    }

    /// The results of the images. The line of a side is cleared from the screen as soon as that
    /// side is done.
    fn measure_images(
        &self,
        labels: &[&str],
        measure: Measure<'_>,
        screen: &Screen,
    ) -> Result<Vec<Measurement>, Failure> {
        let Some(session) = &self.session else { return Ok(Vec::new()) };
        let board = Board::new(screen);
        let line =
            |label: &str, image: &Image| board.line(format!("{label}{}", image.subject().name));
        let one = |image: &Image, line: &Line<'_>| {
            let result = measure(session, image, &|progress| line.show(progress));
            line.clear();
            result
        };
        match (&self.images[..], labels) {
            ([base, new], _) if base.is_same_as(new) => {
                screen.note("BASE and NEW are the same image; it is measured once");
                let result = one(base, &line("", base))?;
                Ok(vec![result.clone(), Measurement { subject: new.subject(), ..result }])
            }
            ([base, new], [upper, lower, ..]) => {
                let (lines, images) = ([line(upper, base), line(lower, new)], [base, new]);
                measure_both(session, &lines, |side, session, progress| {
                    measure(session, images[side], progress)
                })
            }
            (images, labels) => {
                let label = labels.first().copied().unwrap_or_default();
                Failure::gather(images.iter().map(|image| one(image, &line(label, image))))
            }
        }
    }
}

/// Both results, of sides that were asked for two.
///
/// # Errors
/// There are not two.
pub(crate) fn two(results: Vec<Measurement>) -> Result<[Measurement; 2], Failure> {
    results.try_into().map_err(|_| Failure::System {
        doing: "preparing the comparison",
        error: std::io::Error::other("a kernel was not opened"),
    })
}

/// Refuses a comparison of which the side with the fewest later runs has so few.
pub(crate) fn refuse_few(fewest: Option<usize>) -> Result<(), Failure> {
    match fewest {
        Some(fewest) if fewest < LEAST_LATER_RUNS => Err(Failure::Usage {
            message: format!(
                "two sides can't be told apart by {fewest} later runs: another layout of the code \
                 could pass for a change"
            ),
            help: format!("run both with --perturb {LEAST_LATER_RUNS} or more; 6 is the default"),
        }),
        _ => Ok(()),
    }
}
