//! A git tree: each step checks out a commit, builds it and measures it.
//!
//! Contract: git's own bisection chooses the commits. At the end the tree is as it was found; after
//! an interrupt it stands where the same command goes on.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use super::args::BisectArgs;
use super::difference::difference;
use super::document::{self, Commit, Difference, Put};
use super::git::{Git, Standing};
use super::meter::{Measured, Meter};
use super::question::{
    Answer, Question, change, effort, format_values, is_kernels_own, note_larger, unfound,
};
use super::state::State;
use crate::build_command::{Built, build};
use crate::failure::{Exit, Failure};
use crate::screen::output::Screen;
use pathmeter_measure::interrupt;
use pathmeter_model::clean;
use pathmeter_plan::FileStep;

/// Digits of a commit's name in tables.
const ABBREVIATED: usize = 12;

/// Finds the first commit that differs from GOOD.
pub(super) fn run(
    args: &BisectArgs,
    ends: [&String; 2],
    meter: &Meter<'_>,
    put: &Put<'_>,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let git = Git::open()?;
    let [good, bad] = commits(&git, ends)?;
    git.refuse_changes()?;
    // A build that is interrupted is ended, and what it changed undone.
    interrupt::listen();
    let state = state(args, &git, [&good, &bad], screen)?;
    let mut bisection =
        Bisection { args, git, state, meter, screen, skipped: 0, differing: vec![] };
    let found = bisection.search(&good, &bad);
    // What a build changed is undone however it ended, so that the same command can go on.
    bisection.git.undo_changes()?;
    match found {
        Ok(found) => {
            let shown = bisection.show(found, &good, put);
            bisection.leave()?;
            shown
        }
        Err(failure @ Failure::Unfound { .. }) => {
            bisection.leave()?;
            Err(failure)
        }
        Err(failure) => {
            screen.note(&format!(
                "the same command goes on from here; to give it up, run `git bisect reset` and \
                 remove {}",
                bisection.state.folder().display()
            ));
            Err(failure)
        }
    }
}

/// The two commits, of which the first must come before the other.
fn commits(git: &Git, ends: [&String; 2]) -> Result<[String; 2], Failure> {
    let [good, bad] = ends.map(|name| git.commit(name));
    let (good, bad) = (good?, bad?);
    let (message, help) = if good == bad {
        let help = "name a commit from before the change, and one from after it";
        ("GOOD and BAD are one commit", help)
    } else if !git.is_ancestor(&good, &bad)? {
        let help = "name an earlier commit as GOOD; `git merge-base GOOD BAD` tells one";
        ("GOOD is no ancestor of BAD", help)
    } else {
        return Ok([good, bad]);
    };
    Err(Failure::Usage { message: message.to_owned(), help: help.to_owned() })
}

/// The state of this bisection: an earlier command's, if it was interrupted.
fn state(
    args: &BisectArgs,
    git: &Git,
    ends: [&String; 2],
    screen: &Screen,
) -> Result<State, Failure> {
    let asked = asked(args, ends);
    let earlier = State::find(&git.folder, &asked)?;
    if let Some(earlier) = earlier {
        if !git.is_bisecting() {
            git.start()?;
        }
        screen.note(&format!("going on: {} so far", effort(earlier.count_measured(), 0)));
        return Ok(earlier);
    }
    if git.is_bisecting() {
        return Err(Failure::Usage {
            message: "a bisection of yours is under way in this tree".to_owned(),
            help: "end it with `git bisect reset`".to_owned(),
        });
    }
    let state = State::new(&git.folder, &asked, git.strangers()?)?;
    git.start()?;
    Ok(state)
}

/// Everything on the command line that decides what is found.
fn asked(args: &BisectArgs, ends: [&String; 2]) -> String {
    let BisectArgs { path, event, threshold, image, command, probes, guest, .. } = args;
    let program = (&args.program, &args.files);
    let pathmeter = env!("CARGO_PKG_VERSION");
    format!(
        "{pathmeter} {ends:?} {path:?} {event:?} {threshold} {} {command:?} {probes:?} \
         {program:?} {:?} {:?} {:?} {} {} {}",
        image.display(),
        guest.qemu,
        guest.cpu,
        guest.under,
        guest.memory,
        guest.append,
        guest.runs()
    )
}

struct Bisection<'a> {
    args: &'a BisectArgs,
    git: Git,
    state: State,
    meter: &'a Meter<'a>,
    screen: &'a Screen,
    skipped: usize,
    /// Commits that differ, and by how much from GOOD.
    differing: Vec<(String, i64)>,
}

/// The first commit that differs, and it measured, if that can be.
struct Found {
    commit: String,
    measured: Option<Measured>,
}

impl Bisection<'_> {
    fn search(&mut self, good: &str, bad: &str) -> Result<Found, Failure> {
        let question = Question::of(self.args);
        let base = self.tried(good)?;
        let base = base.map_err(|why| unfound(format!("GOOD can't be measured: {why}")))?;
        if let Some(why) = question.refuse(&base.result) {
            return Err(unfound(format!("GOOD: {why}")));
        }
        self.git.mark("good", good)?;
        self.git.mark("bad", bad)?;
        loop {
            match self.git.standing()? {
                Standing::Found(commit) => {
                    return self.confirm_first_differing(commit, &base, &question);
                }
                Standing::OneOf(commits) => {
                    let about = commits.iter().filter_map(|commit| self.git.about(commit).ok());
                    let message = "the first commit that differs is one of these, of which some \
                                   could not be measured:";
                    let (message, candidates) = (message.to_owned(), about.collect());
                    return Err(Failure::Unfound { message, candidates });
                }
                Standing::Trying => {
                    let commit = self.git.head()?;
                    self.step(&commit, &base, &question)?;
                }
            }
        }
    }

    /// Tries the commit that is checked out.
    fn step(
        &mut self,
        commit: &str,
        base: &Measured,
        question: &Question<'_>,
    ) -> Result<(), Failure> {
        let (answer, values) = match self.tried(commit)? {
            Ok(measured) => {
                let sides = [&base.result, &measured.result];
                (question.answer(sides[0], sides[1])?, question.values(sides[0], sides[1]))
            }
            Err(why) => (Answer::Unknown(why), None),
        };
        let told = format_values(values, "GOOD");
        let (mark, text) = match answer {
            Answer::Same => ("good", format!("{told}same as GOOD")),
            Answer::Differs => {
                self.differing.push((self.git.about(commit)?, change(values)));
                ("bad", format!("{told}differs"))
            }
            Answer::Unknown(why) => {
                self.skipped += 1;
                ("skip", format!("skipped: {why}"))
            }
        };
        self.screen.note(&format!("{}: {text}", self.git.about(commit)?));
        self.git.mark(mark, commit)
    }

    /// Checks that the commit that the search ended at differs from `base`. If it is BAD, this is
    /// its first measurement.
    fn confirm_first_differing(
        &mut self,
        commit: String,
        base: &Measured,
        question: &Question<'_>,
    ) -> Result<Found, Failure> {
        match self.tried(&commit)? {
            Ok(measured) => match question.answer(&base.result, &measured.result)? {
                Answer::Same => Err(unfound(format!(
                    "BAD does not differ from GOOD ({})",
                    effort(self.state.count_measured(), self.skipped)
                ))),
                Answer::Differs => Ok(Found { commit, measured: Some(measured) }),
                Answer::Unknown(why) => Ok(self.unmeasured(commit, &why)),
            },
            Err(why) => Ok(self.unmeasured(commit, &why)),
        }
    }

    fn unmeasured(&self, commit: String, why: &str) -> Found {
        self.screen.note(&format!("the commit itself can't be measured: {why}"));
        Found { commit, measured: None }
    }

    /// A commit, checked out, built and measured, or what was kept of it; or why it can't be.
    fn tried(&self, commit: &str) -> Result<Result<Measured, String>, Failure> {
        if let Some(measured) = self.state.of(commit) {
            return Ok(Ok(measured));
        }
        let built = self.built(commit)?;
        // What a build changes stands in the way of the next commit.
        self.git.undo_changes()?;
        let kept = match built {
            Ok(kept) => kept,
            Err(why) => return Ok(Err(why)),
        };
        match self.meter.measure(&kept) {
            Ok(mut measured) => {
                measured.result.subject.name = commit.chars().take(ABBREVIATED).collect();
                self.state.keep(commit, &measured.result)?;
                Ok(Ok(measured))
            }
            Err(failure) if is_kernels_own(&failure) => Ok(Err(failure.to_string())),
            Err(failure) => Err(failure),
        }
    }

    /// A commit's kernel, built and kept; or why it can't be.
    fn built(&self, commit: &str) -> Result<Result<PathBuf, String>, Failure> {
        if self.git.head()? != commit {
            self.git.check_out(commit)?;
        }
        let image = self.git.top.join(&self.args.image);
        // A kernel of the commit before must not pass for this one's.
        if let Err(error) = fs::remove_file(&image)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            return Err(Failure::File { doing: FileStep::Removing, path: image, error });
        }
        let log = self.state.log();
        let limit = Duration::from_secs(self.args.build_timeout);
        Ok(match build(&self.args.command, (&self.git.top, &[]), &log, limit)? {
            Built::Done if image.is_file() => Ok(self.state.keep_kernel(commit, &image)?),
            Built::Done => Err(format!("the build left no {}", self.args.image.display())),
            failed => {
                Err(format!("{}; its output is in {}", failed.describe_end(limit), log.display()))
            }
        })
    }

    /// Puts out the commit, what differs and where.
    fn show(&self, found: Found, good: &str, put: &Put<'_>) -> Result<Exit, Failure> {
        let Found { commit, measured } = found;
        let (about, author) = (self.git.about(&commit)?, self.git.author(&commit)?);
        let cost = effort(self.state.count_measured(), self.skipped);
        let [told, by] = [&about, &author].map(|text| clean(text));
        put.text(|_| format!("first commit that differs: {told}\n  {by} ({cost})\n"))?;
        // The commit before it, which was measured unless it is a merge's.
        let parent = self.git.parent(&commit).and_then(|parent| self.state.of(&parent));
        let difference = match (parent.or_else(|| self.state.of(good)), &measured) {
            (Some(base), Some(new)) => {
                let question = Question::of(self.args);
                if let Some(good) = self.state.of(good) {
                    let [before, found] = [&base, new]
                        .map(|side| change(question.values(&good.result, &side.result)));
                    note_larger(before, found, &self.differing, self.screen);
                }
                difference(question, [&base, new], self.meter, put)?
            }
            _ => Difference::default(),
        };
        put.text(|_| format!("\nFixes: {told}\n"))?;
        put.document(document::Found {
            first: commit,
            commit: Some(Commit { about, author }),
            measured: self.state.count_measured(),
            skipped: self.skipped,
            difference,
        })?;
        Ok(Exit::Done)
    }

    /// Leaves the tree as it was found.
    fn leave(self) -> Result<(), Failure> {
        self.git.reset()?;
        for stranger in self.git.strangers()? {
            if !self.state.strangers().contains(&stranger) {
                let path = self.git.top.join(stranger);
                fs::remove_file(&path).map_err(|error| Failure::File {
                    doing: FileStep::Removing,
                    path,
                    error,
                })?;
            }
        }
        self.state.remove()
    }
}
