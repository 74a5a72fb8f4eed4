//! The self-test: whether this QEMU counts exactly and can record, tried on the lab kernel.
//!
//! `doctor` runs it, and so does a session whose QEMU is none of the tested versions, once.

use std::time::Duration;

use pathmeter_model::{Measurement, Status};
use pathmeter_trace::NoSymbols;
use pathmeter_vm::{Cpu, Interrupt, Qemu, Settings};

use crate::error::MeasureError;
use crate::recording::{RecordablePath, only, recorded};
use crate::session::{Guests, Session};
use crate::subject::image::Image;

/// The path that is recorded: short, and every kernel has it.
const RECORDED: &str = "syscall.getppid";

/// A session for the lab kernel, without a cache.
pub struct SelfTest {
    session: Session,
}

impl SelfTest {
    /// Of this QEMU, whatever machines' CPUs it can have: with the one that asks for least. A boot
    /// or a run takes no longer than `limit`.
    pub fn new(qemu: Qemu, limit: Duration, interrupt: Interrupt) -> Self {
        let settings = Settings { cpu: Cpu::from_name("plain"), ..Settings::default() };
        let guests = Guests { settings, runs: 2, limit };
        Self { session: Session::new(qemu, None, guests, interrupt) }
    }

    /// Measures the lab kernel twice: what was found.
    ///
    /// # Errors
    /// It can't be measured, or not twice alike.
    pub fn clock(&self) -> Result<String, MeasureError> {
        let lab = Image::open("lab".as_ref())?;
        let [first, second] = [(); 2].map(|()| self.session.measure(&lab, &|_| {}));
        let (first, second) = (first?, second?);
        match differing(&first, &second) {
            None => {
                let measured = first.paths.iter().filter(|path| path.status == Status::Ok).count();
                Ok(format!("exact: {measured} paths of the lab kernel, twice the same"))
            }
            Some(path) => Err(fail(format!(
                "the lab kernel's {path} read differently the second time: this QEMU does not \
                 count exactly"
            ))),
        }
    }

    /// Records a path of the lab kernel: what was found.
    ///
    /// # Errors
    /// This QEMU can't record, or what it records is not what its clock counts.
    pub fn recorder(&self) -> Result<String, MeasureError> {
        let lab = Image::open("lab".as_ref())?;
        let path = RecordablePath::find(RECORDED)?;
        let windows = recorded(&self.session, &lab, &[path], &NoSymbols, &|_| {})?;
        let window = only(windows)?;
        let (total, clock) = (window.window.total, window.window.clock);
        Ok(format!(
            "works: {total} instructions of {RECORDED}, in {clock} steps of the clock as it counts"
        ))
    }
}

/// A path that the two did not measure alike.
fn differing<'a>(first: &'a Measurement, second: &Measurement) -> Option<&'a str> {
    let pairs = first.paths.iter().zip(&second.paths);
    pairs.filter(|(a, b)| a != b).map(|(a, _)| a.path.as_str()).next()
}

fn fail(what: String) -> MeasureError {
    MeasureError::SelfTest { what }
}
