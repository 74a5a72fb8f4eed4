//! A cell: what is measured of one kernel as it is under one condition, all paths or a program.
//!
//! Contract: `plan run`, `settings` and `bisect` measure cells here, so that each finds, by the
//! cell's id, what another has measured.

use pathmeter_model::Measurement;
use pathmeter_pack::Packed;

use crate::error::MeasureError;
use crate::program::packed::{PackedProgram, memory_for};
use crate::program::result::{self as program_result, Asked};
use crate::session::{Report, Session};
use crate::subject::image::Image;

/// A program, and the memory of its guests.
pub struct CellProgram {
    pub packed: PackedProgram,
    /// The guests' memory in MiB.
    pub memory_mib: u32,
}

impl CellProgram {
    /// A program for a first run and so many `later` ones, which must end with `exit_code`, in
    /// guests of `least_mib` of memory, or of more if its files need it.
    ///
    /// # Errors
    /// The guest does not take its arguments and variables.
    pub fn new(
        packed: Packed,
        later: u32,
        least_mib: u32,
        exit_code: u8,
    ) -> Result<Self, MeasureError> {
        let memory_mib = least_mib.max(memory_for(packed.bytes));
        let packed = PackedProgram::new(packed, later, memory_mib, exit_code);
        packed.check()?;
        Ok(Self { packed, memory_mib })
    }

    /// What is `asked` of it on `image`.
    ///
    /// # Errors
    /// Why it can't be measured.
    pub fn measure(
        &self,
        session: &Session,
        image: &Image,
        asked: &Asked<'_>,
        progress: Report<'_>,
    ) -> Result<Measurement, MeasureError> {
        let guests = session.with_memory(self.memory_mib);
        let names = || program_result::kernel_names(session, image, asked.windows, progress);
        program_result::measure(&guests, image, asked, names, progress)
    }
}

/// The result of a cell: of all paths, or of the rows of `program`.
///
/// # Errors
/// Why it can't be measured.
pub fn measure(
    session: &Session,
    image: &Image,
    program: Option<&CellProgram>,
    progress: Report<'_>,
) -> Result<Measurement, MeasureError> {
    match program {
        None => session.measure(image, progress),
        Some(program) => program.measure(session, image, &Asked::rows(&program.packed), progress),
    }
}

/// The id of a cell.
pub fn id(session: &Session, image: &Image, program: Option<&CellProgram>) -> String {
    match program {
        None => session.identity(image, None),
        Some(CellProgram { packed, memory_mib }) => {
            session.with_memory(*memory_mib).identity(image, Some(packed))
        }
    }
}
