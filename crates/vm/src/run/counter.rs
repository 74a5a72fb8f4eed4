//! The counter plugin in a guest: its stream is read as it comes, on a thread of its own.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::thread::Builder;

use crate::{
    Progress, Request, VmError, guest::Extra, machine::fd, qemu::memory_file::memory_file,
    qemu::plugin::Plugin, stream::wide_pipe,
};

/// What a guest's windows are counted with.
pub(crate) struct Counter<'a, C> {
    /// None if this QEMU takes no plugin: then there is the clock alone.
    plugin: Option<File>,
    points: &'a [u8],
    read: &'a (dyn Fn(File) -> C + Sync),
}

impl<'a, C: Send> Counter<'a, C> {
    /// With the plugin that the request's QEMU takes; the user is told if it takes none.
    pub(crate) fn of(
        request: &Request<'a>,
        read: &'a (dyn Fn(File) -> C + Sync),
    ) -> Result<Self, VmError> {
        let plugin = match Plugin::Counter.for_qemu(request.qemu, request.interrupt) {
            Ok(plugin) => Some(plugin),
            Err(error @ VmError::Recorder { .. }) => {
                let note = format!(
                    "{error}; without it samples are steps of the guest's clock, in which each \
                     iteration of a string instruction counts, and there are no other events"
                );
                (request.progress)(Progress::Note(&note));
                None
            }
            Err(error) => return Err(error),
        };
        Ok(Self { plugin, points: request.points, read })
    }

    #[cfg(test)]
    pub(crate) fn with(plugin: File, read: &'a (dyn Fn(File) -> C + Sync)) -> Self {
        Self { plugin: Some(plugin), points: &[], read }
    }

    /// Has `run` start a guest with the plugin and wait for its end; returns what was made of the
    /// stream as well.
    pub(crate) fn with_guest<R>(
        &self,
        run: impl FnOnce(Extra) -> Result<R, VmError>,
    ) -> Result<(R, Option<C>), VmError> {
        let Some(plugin) = &self.plugin else { return Ok((run(Extra::default())?, None)) };
        let failed = |what| move |source| VmError::Host { what, source };
        let plugin = plugin.try_clone().map_err(failed("handing the counter to QEMU"))?;
        let (stream, writer) = wide_pipe().map_err(failed("making a pipe for the counts"))?;
        let points = memory_file("pathmeter-points", self.points)?;
        let files = vec![
            (fd::PLUGIN, OwnedFd::from(plugin)),
            (fd::COUNTS, writer),
            (fd::POINTS, OwnedFd::from(points)),
        ];
        let arguments = vec!["-plugin".to_owned(), argument()];
        let extra = Extra { files, arguments, ..Extra::default() };
        std::thread::scope(|scope| {
            let read = self.read;
            let reader = Builder::new().spawn_scoped(scope, move || read(File::from(stream)));
            let reader = match reader {
                Ok(reader) => reader,
                Err(source) => {
                    return Err(failed("starting a thread for the counts")(source));
                }
            };
            // At its end the guest is gone, and with it the pipe's other end.
            let result = run(extra);
            let counts = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            Ok((result?, Some(counts)))
        })
    }
}

fn argument() -> String {
    format!("/proc/self/fd/{},fd={},points={}", fd::PLUGIN, fd::COUNTS, fd::POINTS)
}
