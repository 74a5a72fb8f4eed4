//! The heat map as a picture: `-o FILE.svg`.

use pathmeter_model::{Measurement, Status};
use pathmeter_report::{HeatBase, heat_map_svg};

use super::Report;
use crate::cli::ReportArgs;
use crate::screen::destination::Destination;
use pathmeter_measure::failure::{Exit, Failure};

/// What the user writes for "each kernel relative to the one before".
const BEFORE: &str = "before";

/// Whether a picture is asked for, by the name of the file.
pub(super) fn is_picture(args: &ReportArgs) -> bool {
    args.output.extension().is_some_and(|it| it.eq_ignore_ascii_case("svg"))
}

/// What the picture's kernels are compared with; None if a page is asked for.
///
/// # Errors
/// The kernel that is named is none of the subjects, or a page has been asked for.
pub(super) fn base(args: &ReportArgs) -> Result<Option<HeatBase>, Failure> {
    match (&args.relative_to, is_picture(args)) {
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
    /// Writes the picture.
    pub(super) fn picture(
        self,
        base: HeatBase,
        file: Option<Destination>,
    ) -> Result<Exit, Failure> {
        if !self.inputs.is_empty() || self.measured.len() < 2 {
            return Err(Failure::Usage {
                message: "a picture shows two or more kernels or results, and nothing else"
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
}
