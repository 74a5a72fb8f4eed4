//! How the recorder says that it gave up on a path: nothing of it fits the limits, so there is no
//! point in waiting for its end, which may never come.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::{
    RecordingLimits, VmError,
    error::{GuestCause, Step},
    stream::read_available,
};

/// Bytes by which the recorder says so: the path's place among those wanted, and why, by the code
/// of STOP in `docs/reference/trace-format.md`.
const MESSAGE: usize = 2;
const BYTE_LIMIT: u8 = 1;

/// Our end of the recorder's pipe.
pub(crate) struct Alarm {
    pipe: File,
    /// The wanted paths, in the recorder's order.
    paths: Vec<Step>,
    limits: RecordingLimits,
}

impl Alarm {
    /// An alarm for these paths, and the recorder's end of it.
    pub(crate) fn new(
        paths: Vec<Step>,
        limits: RecordingLimits,
    ) -> Result<(Self, OwnedFd), VmError> {
        let failed = |error: rustix::io::Errno| VmError::Host {
            what: "making a pipe to the recorder",
            source: error.into(),
        };
        let pipe = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC);
        let (reader, writer) = pipe.map_err(failed)?;
        rustix::io::ioctl_fionbio(&reader, true).map_err(failed)?;
        Ok((Self { pipe: File::from(reader), paths, limits }, writer))
    }

    /// On which path the recorder has given up, if it has, and why. The guest may have got further,
    /// or not have said yet that it begins it.
    pub(crate) fn heard(&mut self) -> std::io::Result<Option<(Step, GuestCause)>> {
        let mut message = [0; MESSAGE];
        if read_available(&mut self.pipe, &mut message)? != Some(MESSAGE) {
            return Ok(None);
        }
        let [place, why] = message;
        let path = self.paths.get(usize::from(place)).cloned();
        Ok(path.map(|step| (step, GuestCause::Overlong { why: self.reason(why) })))
    }

    fn reason(&self, why: u8) -> String {
        let RecordingLimits { bytes, most, .. } = self.limits;
        if why == BYTE_LIMIT {
            format!("no window ended within {} MiB of recording", bytes >> 20)
        } else {
            format!("a window did not end within {most} instructions")
        }
    }
}

impl AsFd for Alarm {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn it_names_the_path_and_the_limit() {
        let path = |index| Step::Path { index, name: format!("path {index}") };
        let limits = RecordingLimits { skip: 0, warm: 0, windows: 0, bytes: 3 << 20, most: 500 };
        let (mut alarm, recorder) = Alarm::new(vec![path(7), path(2)], limits).unwrap();
        let mut recorder = File::from(recorder);
        assert_eq!(alarm.heard().unwrap(), None);
        let limited = |why: &str| GuestCause::Overlong { why: why.to_owned() };
        for (message, path, why) in [
            ([1, 2], path(2), "a window did not end within 500 instructions"),
            ([0, 1], path(7), "no window ended within 3 MiB of recording"),
        ] {
            recorder.write_all(&message).unwrap();
            assert_eq!(alarm.heard().unwrap(), Some((path, limited(why))));
        }
        recorder.write_all(&[9, 2]).unwrap();
        assert_eq!(alarm.heard().unwrap(), None);
        drop(recorder);
        assert_eq!(alarm.heard().unwrap(), None);
    }
}
