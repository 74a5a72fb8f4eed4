//! `pathmeter compare … --times …`: exact counts, joined with times of the same two sides.

use pathmeter_gate::Gate;
use pathmeter_measure::subject::is_host;
use pathmeter_model::{Comparison, Host, Joined, Measurement};
use pathmeter_report::{Rows, joined_table};

use super::args::CompareArgs;
use crate::comparison::sides::{Counted, Sides};
use crate::failure::Failure;
use crate::screen::formats::Formats;
use crate::screen::output::Screen;
use crate::verbs::host::SessionArgs;
use crate::verbs::host::{Side, TimedSides, nothing_to_compare};

/// Times of the two sides that are compared, and which rows of both are shown.
pub(crate) struct TimeColumns<'a> {
    sides: TimedSides<'a>,
    rows: Rows,
}

impl<'a> TimeColumns<'a> {
    /// What `--times` names, if it is given.
    ///
    /// # Errors
    /// These can't be compared.
    pub(crate) fn new(args: &'a CompareArgs) -> Result<Option<Self>, Failure> {
        if args.times.is_empty() {
            return Ok(None);
        }
        let side = |name| if is_host(name) { Side::Here } else { Side::Document(name) };
        let sides = match &args.times[..] {
            [one] if is_host(one) => [Side::Here, Side::Here],
            [base, new] => [side(base), side(new)],
            _ => return Err(nothing_to_compare()),
        };
        // Two documents were taken under conditions of their own.
        let is_here = args.times.iter().any(|name| is_host(name));
        let under = if is_here { args.guest.under.clone() } else { Vec::new() };
        let session = SessionArgs::under(under);
        let sides = TimedSides::new(sides, &session, args.threshold)?;
        Ok(Some(Self { sides, rows: args.rows.rows() }))
    }

    /// Refuses, before anything is measured, times of another kernel than is counted: a count and
    /// a time of two kernels mean nothing together. `across` joins them all the same.
    ///
    /// # Errors
    /// A side's times are of another kernel.
    pub(crate) fn refuse_foreign(
        &self,
        sides: &Sides,
        across: bool,
        screen: &Screen,
    ) -> Result<(), Failure> {
        let (counted, timed) = (sides.counted_kernels(), self.sides.hosts()?);
        let mut pairs = counted.iter().zip(timed.iter().cycle());
        match pairs.find_map(|(counted, timed)| foreign(counted, timed)) {
            None => Ok(()),
            Some(why) if across => {
                screen.note(&format!("joined all the same (--across): {why}"));
                Ok(())
            }
            Some(message) => Err(Failure::Usage {
                message,
                help: "name the image of the kernel that was timed, such as \
                       /boot/vmlinuz-RELEASE, or its result; --across joins the two all the same"
                    .to_owned(),
            }),
        }
    }

    /// Takes or reads the times, and puts both out together. Formats for other programs have the
    /// counts, which gates judge.
    pub(crate) fn deliver(
        &self,
        formats: &Formats<'_>,
        (comparison, base, gate): (Comparison, &Measurement, &Gate),
        screen: &Screen,
    ) -> Result<(), Failure> {
        let counted = |path: &str| comparison.paths.iter().any(|it| it.path == path);
        let (of_base, times) = self.sides.compare(&counted, screen)?;
        let joined = Joined::new(comparison, times, (base, &of_base));
        formats.places.deliver(
            &joined,
            |joined, style| joined_table(joined, self.rows, style),
            |format| formats.rendered(format, &joined.exact, gate, &[]),
            screen,
        )
    }
}

/// By what a kernel that is counted is not the one that was timed.
fn foreign(counted: &Counted, timed: &Host) -> Option<String> {
    let differs = |counted: &Option<String>, timed: &str| {
        counted.as_ref().is_some_and(|counted| !timed.is_empty() && counted != timed)
    };
    let known = |text: &Option<String>| text.clone().unwrap_or_default();
    let (counts, times) = if differs(&counted.release, &timed.release) {
        (known(&counted.release), timed.release.clone())
    } else if differs(&counted.build_id, &timed.build_id) {
        let with = |id: &str| format!("{} with the build id {id}", timed.release);
        (with(&known(&counted.build_id)), with(&timed.build_id))
    } else {
        return None;
    };
    let name = &counted.name;
    Some(format!("{name} is not the kernel that was timed: it is {counts}, and that was {times}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_another_one_by_its_release_or_its_build_id() {
        let counted = |release: Option<&str>, id: Option<&str>| Counted {
            name: "a.deb".to_owned(),
            release: release.map(str::to_owned),
            build_id: id.map(str::to_owned),
        };
        let timed =
            Host { release: "6.1.0".to_owned(), build_id: "ab".to_owned(), ..Host::default() };
        let why = |release, id| foreign(&counted(release, id), &timed);
        for same in [(Some("6.1.0"), Some("ab")), (Some("6.1.0"), None), (None, None)] {
            assert_eq!(why(same.0, same.1), None);
        }
        assert!(why(Some("6.2.0"), None).unwrap().contains("it is 6.2.0, and that was 6.1.0"));
        assert!(why(Some("6.1.0"), Some("cd")).unwrap().contains("with the build id cd"));
        assert_eq!(foreign(&counted(Some("6.2.0"), Some("cd")), &Host::default()), None);
    }
}
