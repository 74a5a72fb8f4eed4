//! Two sides that are compared in time: documents of sessions, and this machine.

use std::path::Path;

use pathmeter_host::Condition;
use pathmeter_measure::subject::{is_timed, lab_words, times};
use pathmeter_model::{Boots, Host, TIME_MARGIN, TimeComparison, Times};
use pathmeter_plan::FileStep;

use super::args::SessionArgs;
use super::condition::{read_conditions, refuse_conditions};
use super::session::{choose_cpu, refuse_idle, take_times};
use crate::failure::Failure;
use crate::screen::output::Screen;

/// Where the times of a side come from.
#[derive(Clone, Copy)]
pub(crate) enum Side<'a> {
    /// This machine, which is measured now.
    Here,
    /// A document of one session, or of several boots.
    Document(&'a Path),
}

/// Two sides that are compared in time.
pub(crate) struct TimedSides<'a> {
    sides: [Side<'a>; 2],
    /// What this machine is measured under: both sides of one session, or one.
    conditions: Vec<Condition>,
    session: SessionArgs,
    /// A difference below this share is none.
    margin: f64,
}

impl<'a> TimedSides<'a> {
    /// Two sides, of which differences of less than `threshold` percent are none; with 0, of less
    /// than the usual margin.
    ///
    /// # Errors
    /// What can't be compared is refused before anything is measured.
    pub(crate) fn new(
        sides: [Side<'a>; 2],
        session: &SessionArgs,
        threshold: f64,
    ) -> Result<Self, Failure> {
        let conditions = match sides {
            [Side::Here, Side::Here] => pair(read_conditions(&session.under)?)?,
            [Side::Document(one), Side::Document(other)] => {
                refuse_idle(session, other)?;
                if (read(one)?.boots.len() > 1) != (read(other)?.boots.len() > 1) {
                    return Err(nothing_to_compare());
                }
                Vec::new()
            }
            [Side::Document(one), _] | [_, Side::Document(one)] => {
                if read(one)?.boots.len() > 1 {
                    return Err(nothing_to_compare());
                }
                let conditions = read_conditions(&session.under)?;
                if conditions.len() > 1 {
                    return Err(refuse_conditions());
                }
                conditions
            }
        };
        let threshold = Some(threshold).filter(|percent| *percent > 0.0);
        let margin = threshold.map_or(TIME_MARGIN, |percent| percent / 100.0);
        Ok(Self { sides, conditions, session: session.clone(), margin })
    }

    /// Takes the times of this machine where it is a side, reads documents, and compares the paths
    /// that are shown. With base's times.
    pub(crate) fn compare(
        &self,
        shown: &dyn Fn(&str) -> bool,
        screen: &Screen,
    ) -> Result<(Times, TimeComparison), Failure> {
        let session =
            |conditions| take_times(&self.session, shown, conditions, self.margin, screen);
        if let [Side::Here, Side::Here] = self.sides {
            let times = session(&self.conditions)?;
            let comparison = TimeComparison::of_session(&times, shown, self.margin);
            return comparison.map(|it| (times, it)).ok_or_else(nothing_to_compare);
        }
        let side = |side: Side<'_>| match side {
            Side::Document(path) => read(path),
            Side::Here => Ok(Boots { boots: vec![session(&self.conditions)?], ..Boots::default() }),
        };
        let [base, new] = [side(self.sides[0])?, side(self.sides[1])?];
        let comparison = TimeComparison::of_two([&base.boots, &new.boots], shown, self.margin);
        base.boots.into_iter().next().zip(comparison).ok_or_else(nothing_to_compare)
    }

    /// The machines that are timed, in the order of the sides.
    pub(crate) fn hosts(&self) -> Result<Vec<Host>, Failure> {
        let host = |side: Side<'_>| match side {
            Side::Here => Ok(Some(pathmeter_host::machine(choose_cpu(&self.session)?))),
            Side::Document(path) => Ok(read(path)?.boots.into_iter().next().map(|it| it.host)),
        };
        let hosts = self.sides.map(host).into_iter().collect::<Result<Vec<_>, Failure>>()?;
        Ok(hosts.into_iter().flatten().collect())
    }
}

/// The two conditions of a session. With one, the machine is compared with itself under it, which
/// shows what the method says of no difference.
fn pair(conditions: Vec<Condition>) -> Result<Vec<Condition>, Failure> {
    match &conditions[..] {
        [one] => Ok(vec![one.clone(), one.clone()]),
        [_, _] => Ok(conditions),
        _ => Err(nothing_to_compare()),
    }
}

/// Reads a document of times. One of counts has no unit in common with them.
fn read(path: &Path) -> Result<Boots, Failure> {
    if let Err(error) = path.metadata()
        && lab_words(path).is_none()
    {
        return Err(Failure::File { doing: FileStep::Reading, path: path.to_owned(), error });
    }
    if is_timed(path) {
        return Ok(times(path)?);
    }
    Err(Failure::Usage {
        message: format!("{} is measured in instructions, and not in time", path.display()),
        help: "compare two documents of `host -o`, or this machine under two conditions".to_owned(),
    })
}

/// That no two sides are named.
pub(crate) fn nothing_to_compare() -> Failure {
    Failure::Usage {
        message: "there is nothing to compare with".to_owned(),
        help: "name two conditions (host compare --under default --under seccomp:docker), one or \
               two documents of `host -o`, or two files of several boots each (host --boots FILE)"
            .to_owned(),
    }
}
