//! The heat map, or slopes, as a picture: `-o FILE.svg`.

use pathmeter_model::{Measurement, SlopeResult, Status};
use pathmeter_report::{HeatBase, MOST_SLOPES, heat_map_svg, slopes_svg};

use super::args::ReportArgs;
use super::input::Input;
use super::sections::Report;
use crate::failure::{Exit, Failure};
use crate::screen::destination::Destination;

/// What the user writes for "each kernel relative to the one before".
const BEFORE: &str = "before";

/// What the picture's kernels are compared with; None if a page is asked for.
///
/// # Errors
/// The kernel that is named is none of the subjects, or a page has been asked for.
pub(super) fn base(args: &ReportArgs) -> Result<Option<HeatBase>, Failure> {
    match (&args.relative_to, args.is_picture()) {
        (None, false) => Ok(None),
        (Some(_), false) => Err(Failure::Usage {
            message: "--relative-to is for a picture".to_owned(),
            help: "on a page the reader chooses; write a picture with -o FILE.svg".to_owned(),
        }),
        (None, true) => Ok(Some(HeatBase::Result(0))),
        (Some(named), true) => match args.subjects.iter().position(|subject| subject == named) {
            Some(place) => Ok(Some(HeatBase::Result(place))),
            None if named.as_os_str() == BEFORE => Ok(Some(HeatBase::Before)),
            None => Err(Failure::Usage {
                message: format!("--relative-to {}: not one of the subjects", named.display()),
                help: format!("name a subject as before, or `{BEFORE}`"),
            }),
        },
    }
}

impl Report<'_> {
    pub(super) fn picture(
        mut self,
        base: HeatBase,
        file: Option<Destination>,
    ) -> Result<Exit, Failure> {
        if let Some(slopes) = self.slopes()? {
            if let Some(file) = file {
                file.write(slopes_svg(&slopes).as_bytes())?;
            }
            return Ok(Exit::Done);
        }
        if !self.inputs.is_empty() || self.measured.len() < 2 {
            return Err(Failure::Usage {
                message: "a picture shows two or more kernels or results, or slopes, and nothing \
                          else"
                    .to_owned(),
                help: "write a page: its file may have any other ending than .svg".to_owned(),
            });
        }
        for line in self.unlike()? {
            self.screen.note(&format!("measured differently: {line}"));
        }
        let results: Vec<Measurement> = self.measured.into_iter().map(|it| it.result).collect();
        if let Some(file) = file {
            file.write(heat_map_svg(&results, base).as_bytes())?;
        }
        let mut paths = results.iter().flat_map(|result| &result.paths);
        let is_failed = paths.any(|path| path.status == Status::Failed);
        Ok(if is_failed { Exit::Unmeasured } else { Exit::Done })
    }

    /// The slopes, if there is nothing else.
    ///
    /// # Errors
    /// They are of several settings, or too many.
    fn slopes(&mut self) -> Result<Option<Vec<SlopeResult>>, Failure> {
        let slope = |input: &Input| match input {
            Input::Slope(slope) => Some(SlopeResult::clone(slope)),
            _ => None,
        };
        let slopes: Option<Vec<_>> = self.inputs.iter().map(slope).collect();
        let Some(mut slopes) = slopes.filter(|it| self.measured.is_empty() && !it.is_empty())
        else {
            return Ok(None);
        };
        if let Some(selection) = &self.selection {
            for slope in &mut slopes {
                for rows in std::iter::once(&mut slope.paths).chain(&mut slope.program_rows) {
                    rows.rows.retain(|row| selection.holds(&row.row));
                    rows.rows.sort_by_key(|row| selection.order(&row.row));
                }
            }
        }
        let refused =
            |message: String, help: &str| Err(Failure::Usage { message, help: help.to_owned() });
        if self.args.relative_to.is_some() {
            return refused(
                "--relative-to would change nothing of slopes".to_owned(),
                "leave it out: a slope is relative to its own kernel without the setting",
            );
        }
        if let Some(other) = slopes.iter().find(|it| it.unit != slopes[0].unit) {
            let message = format!("{} and {} are two pictures", slopes[0].setting, other.setting);
            return refused(message, "draw each setting by itself");
        }
        if slopes.len() > MOST_SLOPES {
            let message = format!("{} slopes in one picture, over {MOST_SLOPES}", slopes.len());
            return refused(message, "draw several pictures, or a page: -o FILE.html");
        }
        Ok(Some(slopes))
    }
}
