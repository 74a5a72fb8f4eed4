//! A kernel that is executed in both interpreters.

use pathmeter_measure::session::{Report, Session};
use pathmeter_measure::subject::image::Image;

use crate::bochs::Bochs;

/// Shows how far the work in one of the interpreters is.
pub trait Show {
    /// Does `work` in this place, such as `in QEMU`.
    fn during<T>(&self, place: &str, work: impl FnOnce(Report<'_>) -> T) -> T;
}

/// A kernel in both interpreters.
pub struct Both<'a, S> {
    pub session: &'a Session,
    pub bochs: &'a Bochs,
    pub image: &'a Image,
    pub show: S,
}

impl<S: Show> Both<'_, S> {
    /// Does work in one of them, which is shown.
    pub(crate) fn during<T>(&self, place: &str, work: impl FnOnce(Report<'_>) -> T) -> T {
        self.show.during(place, work)
    }
}
