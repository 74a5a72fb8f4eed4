//! The pipes that a guest's state goes through on its way between QEMU and a file; wide ones, as
//! what is counted goes through as well. And how what another process writes is read.
//!
//! A pipe is the one kind of descriptor that every QEMU from 7.2 to 11.1 takes for a migration.
//! (`fd:` of a file is refused from 11 on, `file:` is not known before 8.2.) One of our threads
//! drains or fills it.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::thread::{Builder, JoinHandle};

use rustix::io::Errno;

/// Bytes that a pipe to or from QEMU holds, if the host allows it.
const PIPE_BYTES: usize = 1 << 20;

/// A pipe from which all bytes of `file` from `offset` on can be read. The thread that fills it
/// ends with the file, or when nobody reads the pipe any more. It keeps an offset of its own: the
/// file's may be shared.
pub(crate) fn feed(file: File, mut offset: u64) -> io::Result<OwnedFd> {
    let (reader, writer) = wide_pipe()?;
    Builder::new().name("restore".to_owned()).spawn(move || {
        loop {
            match rustix::fs::sendfile(&writer, &file, Some(&mut offset), PIPE_BYTES) {
                // What could not be read is missing from QEMU's stream, and QEMU says so.
                Ok(0) => break,
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => break,
            }
        }
    })?;
    Ok(reader)
}

/// A pipe whose bytes a thread copies to `file`, until no writer is left. If the file can't take
/// them, the pipe closes and QEMU's migration fails.
pub(crate) fn drain(mut file: File) -> io::Result<(OwnedFd, JoinHandle<io::Result<()>>)> {
    let (reader, writer) = wide_pipe()?;
    let mut pipe = File::from(reader);
    let copy = move || io::copy(&mut pipe, &mut file).map(|_| ());
    let copier = Builder::new().name("save".to_owned()).spawn(copy)?;
    Ok((writer, copier))
}

/// A pipe that carries much without a change of tasks every few pages: reader, writer.
pub(crate) fn wide_pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    // One of the usual size does too, more slowly.
    let _ = rustix::pipe::fcntl_setpipe_size(&writer, PIPE_BYTES);
    Ok((reader, writer))
}

/// Reads what is there, without waiting for more; 0 at the end of the stream.
pub fn read_available(source: &mut impl Read, buffer: &mut [u8]) -> io::Result<Option<usize>> {
    match source.read(buffer) {
        Ok(count) => Ok(Some(count)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(Some(0)),
        Err(error) => Err(error),
    }
}
