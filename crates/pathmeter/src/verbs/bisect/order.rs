//! Ready images, in order.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::args::BisectArgs;
use super::difference::difference;
use super::document::{self, Put};
use super::meter::{Measured, Meter};
use super::question::{
    Answer, Question, change, effort, format_values, is_kernels_own, note_larger, unfound,
};
use crate::failure::{Exit, Failure};
use crate::screen::output::Screen;
use pathmeter_model::clean;

/// Finds the first that differs from the first of all.
pub(super) fn run(
    args: &BisectArgs,
    meter: &Meter<'_>,
    put: &Put<'_>,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let mut images = Images::new(args, meter, screen)?;
    let found = search(args.kernels.len(), |index| images.tried(index))?;
    images.show(found, put)
}

/// The images, and what was found out about them.
struct Images<'a> {
    kernels: &'a [PathBuf],
    question: Question<'a>,
    meter: &'a Meter<'a>,
    screen: &'a Screen,
    /// The first of all kernels, which is the good one.
    good: Measured,
    measured: usize,
    skipped: usize,
    /// Those that differ, and by how much from the first.
    differing: Vec<(String, i64)>,
}

impl<'a> Images<'a> {
    fn new(
        args: &'a BisectArgs,
        meter: &'a Meter<'a>,
        screen: &'a Screen,
    ) -> Result<Self, Failure> {
        let kernels = &args.kernels;
        if kernels.len() < 2 {
            return Err(Failure::Usage {
                message: "there is nothing to search".to_owned(),
                help: "name two kernels or more in order, or --good and --bad in a git tree"
                    .to_owned(),
            });
        }
        let question = Question::of(args);
        let good = meter.measure(&kernels[0])?;
        if let Some(why) = question.refuse(&good.result) {
            return Err(unfound(format!("{}: {why}", kernels[0].display())));
        }
        let (measured, skipped, differing) = (1, 0, Vec::new());
        Ok(Self { kernels, question, meter, screen, good, measured, skipped, differing })
    }

    fn name(&self, index: usize) -> String {
        self.kernels[index].display().to_string()
    }

    /// Whether one of them differs, and it measured, if that can be.
    fn tried(&mut self, index: usize) -> Result<(Answer, Option<Measured>), Failure> {
        let name = self.name(index);
        let kernel = match self.meter.measure(&self.kernels[index]) {
            Ok(kernel) => kernel,
            Err(failure) if is_kernels_own(&failure) => {
                self.screen.note(&format!("skipping {name}: {failure}"));
                self.skipped += 1;
                return Ok((Answer::Unknown(failure.to_string()), None));
            }
            Err(failure) => return Err(failure),
        };
        self.measured += 1;
        let answer = self.question.answer(&self.good.result, &kernel.result)?;
        let values = self.question.values(&self.good.result, &kernel.result);
        let told = format_values(values, "first");
        self.screen.note(&match &answer {
            Answer::Unknown(why) => format!("skipping {name}: {why}"),
            Answer::Same => format!("{name}: {told}as the first"),
            Answer::Differs => format!("{name}: {told}differs"),
        });
        if matches!(answer, Answer::Differs) {
            self.differing.push((name, change(values)));
        }
        Ok((answer, Some(kernel)))
    }

    /// Puts out the first that differs, and what differs.
    fn show(&self, found: Found<Measured>, put: &Put<'_>) -> Result<Exit, Failure> {
        let Found { same: (before, base), differs: (at, new) } = found;
        let cost = effort(self.measured, self.skipped);
        let [first, before_it, good] = [at, before, 0].map(|index| self.name(index));
        let Some(new) = new else {
            return Err(unfound(format!("{first} does not differ from {good} ({cost})")));
        };
        if at - before > 1 {
            return Err(unfound(format!(
                "the first that differs comes after {before_it} and not after {first}: those \
                 between could not be measured ({cost})"
            )));
        }
        put.text(|_| format!("first that differs: {} ({cost})\n", clean(&first)))?;
        let sides = [base.as_ref().unwrap_or(&self.good), &new];
        let [before, found] =
            sides.map(|side| change(self.question.values(&self.good.result, &side.result)));
        note_larger(before, found, &self.differing, self.screen);
        let difference = difference(self.question, sides, self.meter, put)?;
        let (measured, skipped) = (self.measured, self.skipped);
        put.document(document::Found { first, commit: None, measured, skipped, difference })?;
        Ok(Exit::Done)
    }
}

/// Between which two the difference is, with what was found out about them: nothing about the
/// first of all, which is not asked about; nothing about the last one if it does not differ.
struct Found<M> {
    same: (usize, Option<M>),
    differs: (usize, Option<M>),
}

/// Searches `many` in order. The last one is taken for one that differs, and asked about only if
/// it is the first that may.
fn search<M>(
    many: usize,
    mut ask: impl FnMut(usize) -> Result<(Answer, Option<M>), Failure>,
) -> Result<Found<M>, Failure> {
    let mut found = Found { same: (0, None), differs: (many - 1, None) };
    let mut skipped = BTreeSet::new();
    loop {
        let open: Vec<usize> =
            (found.same.0 + 1..found.differs.0).filter(|index| !skipped.contains(index)).collect();
        let Some(&middle) = open.get(open.len() / 2) else { break };
        match ask(middle)? {
            (Answer::Same, kernel) => found.same = (middle, kernel),
            (Answer::Differs, kernel) => found.differs = (middle, kernel),
            (Answer::Unknown(_), _) => {
                skipped.insert(middle);
            }
        }
    }
    if found.differs.1.is_none() {
        let (answer, kernel) = ask(found.differs.0)?;
        match answer {
            Answer::Differs => found.differs.1 = kernel,
            Answer::Same => {}
            Answer::Unknown(message) => {
                return Err(Failure::Unfound { message, candidates: vec![] });
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found in `many`, of which those from `first` on differ; and how many were asked.
    fn search_kernels(many: usize, first: usize, skipped: &[usize]) -> (usize, usize, bool, usize) {
        let mut asked = 0;
        let found = search(many, |index| {
            asked += 1;
            assert!(index > 0 && index < many);
            Ok(match index {
                index if skipped.contains(&index) => (Answer::Unknown(String::new()), None),
                index if index >= first => (Answer::Differs, Some(())),
                _ => (Answer::Same, Some(())),
            })
        });
        let found = found.unwrap();
        (found.same.0, found.differs.0, found.differs.1.is_some(), asked)
    }

    #[test]
    fn the_first_that_differs_is_found_in_few_steps() {
        for many in 2..200_usize {
            let steps = (many - 1).next_power_of_two().ilog2() as usize;
            for first in 1..many {
                let (same, differs, seen, asked) = search_kernels(many, first, &[]);
                assert_eq!((same, differs, seen), (first - 1, first, true), "{many}, {first}");
                assert!(
                    asked <= steps + usize::from(first == many - 1),
                    "{many}, {first}: {asked}"
                );
            }
        }
    }

    #[test]
    fn where_none_differs_the_last_is_asked_about() {
        let (_, differs, seen, _) = search_kernels(10, 10, &[]);
        assert_eq!((differs, seen), (9, false));
        assert!(!search_kernels(2, 2, &[]).2);
    }

    #[test]
    fn what_can_not_be_measured_leaves_a_range() {
        assert_eq!(search_kernels(10, 5, &[4, 5]).0, 3);
        assert_eq!(search_kernels(10, 5, &[4, 5]).1, 6);
        let all: Vec<usize> = (1..9).collect();
        assert_eq!((search_kernels(10, 5, &all).0, search_kernels(10, 5, &all).1), (0, 9));
    }
}
