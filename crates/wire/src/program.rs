//! The messages about runs of the user's program.

use crate::{HEADER, Kind, PayloadError, RawFrame, Reader, Writer, message::MAX_RUNS, seal};

/// Most bytes of output that one [`Kind::ProgramOutput`] frame carries.
pub const MAX_OUTPUT: usize = 16 << 10;
/// Most bytes of a perf map that one [`Kind::PerfMap`] frame carries.
pub const MAX_PERF_MAP: usize = 16 << 10;
/// Most perf maps of all runs together.
pub const MAX_PERF_MAPS: usize = 256;
/// Most bytes of all perf maps of all runs: what seven runs of a large application write.
pub const MAX_PERF_MAP_BYTES: usize = 32 << 20;
/// What the agent's port reads, once the guest goes on from READY, if the perf maps of all runs are
/// asked for; as [`crate::message::SYMBOLS_ASKED`].
pub const PERF_MAPS_ASKED: u8 = 0x6d;

/// How a run of the program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramEnd {
    /// The perturbed run, from 0.
    pub run: u64,
    pub how: ProgramEnded,
    /// Steps of the guest's clock between the two readings.
    pub clock: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramEnded {
    /// It ended with this exit code.
    Exit(u8),
    /// It was ended by this signal.
    Signal(u8),
    /// It could not be executed, for this error number.
    NotExecuted(u8),
}

/// A piece of what the program wrote: in its first run, and in the first run that ended in another
/// way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramOutput<'a> {
    /// The perturbed run, from 0.
    pub run: u64,
    /// Whether it was written to standard error, rather than to standard output.
    pub is_error: bool,
    /// Bytes that it wrote there in all.
    pub total: u64,
    /// The piece; pieces follow each other.
    pub bytes: &'a [u8],
}

/// A piece of a perf map, `/tmp/perf-PROCESS.map`, in which a JIT named its code (Linux
/// `tools/perf/Documentation/jit-interface.txt`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerfMap<'a> {
    /// The perturbed run, from 0.
    pub run: u64,
    /// The number of the process, as it has it itself.
    pub process: u64,
    /// Bytes of the whole file.
    pub total: u64,
    /// The piece; pieces of a file follow each other.
    pub bytes: &'a [u8],
}

/// A [`Kind::ProgramBegin`] frame.
pub fn begin(buffer: &mut [u8], run: u64) -> Option<&[u8]> {
    let mut writer = Writer::new(buffer.get_mut(HEADER..)?);
    writer.integer(run);
    let length = writer.finish()?;
    seal(buffer, Kind::ProgramBegin, length)
}

/// Decodes a [`Kind::ProgramBegin`] frame: the run.
pub fn read_begin(frame: &RawFrame<'_>) -> Result<u64, PayloadError> {
    let mut reader = Reader::new(frame.payload);
    let run = reader.integer(MAX_RUNS - 1)?;
    reader.end()?;
    Ok(run)
}

/// A [`Kind::ProgramEnd`] frame.
pub fn end(buffer: &mut [u8], end: ProgramEnd) -> Option<&[u8]> {
    let (how, number) = match end.how {
        ProgramEnded::Exit(code) => (0, code),
        ProgramEnded::Signal(signal) => (1, signal),
        ProgramEnded::NotExecuted(error) => (2, error),
    };
    let mut writer = Writer::new(buffer.get_mut(HEADER..)?);
    writer.integer(end.run);
    writer.integer(how);
    writer.integer(u64::from(number));
    writer.integer(end.clock);
    let length = writer.finish()?;
    seal(buffer, Kind::ProgramEnd, length)
}

/// Decodes a [`Kind::ProgramEnd`] frame.
pub fn read_end(frame: &RawFrame<'_>) -> Result<ProgramEnd, PayloadError> {
    let mut reader = Reader::new(frame.payload);
    let run = reader.integer(MAX_RUNS - 1)?;
    let how = reader.integer(2)?;
    let number = reader.integer(u64::from(u8::MAX))?;
    let number = u8::try_from(number).map_err(|_| PayloadError::Range)?;
    let clock = reader.integer(u64::MAX)?;
    reader.end()?;
    let how = match how {
        0 => ProgramEnded::Exit(number),
        1 => ProgramEnded::Signal(number),
        _ => ProgramEnded::NotExecuted(number),
    };
    Ok(ProgramEnd { run, how, clock })
}

/// A [`Kind::ProgramOutput`] frame; at most [`MAX_OUTPUT`] bytes.
pub fn output<'a>(buffer: &'a mut [u8], output: &ProgramOutput<'_>) -> Option<&'a [u8]> {
    let mut writer = Writer::new(buffer.get_mut(HEADER..)?);
    writer.integer(output.run);
    writer.integer(u64::from(output.is_error));
    writer.integer(output.total);
    writer.text(output.bytes);
    let length = writer.finish()?;
    seal(buffer, Kind::ProgramOutput, length)
}

/// Decodes a [`Kind::ProgramOutput`] frame.
pub fn read_output<'a>(frame: &RawFrame<'a>) -> Result<ProgramOutput<'a>, PayloadError> {
    let mut reader = Reader::new(frame.payload);
    let run = reader.integer(MAX_RUNS - 1)?;
    let is_error = reader.integer(1)? == 1;
    let total = reader.integer(u64::MAX)?;
    let bytes = reader.bytes()?;
    reader.end()?;
    Ok(ProgramOutput { run, is_error, total, bytes })
}

/// A [`Kind::PerfMap`] frame; at most [`MAX_PERF_MAP`] bytes.
pub fn perf_map<'a>(buffer: &'a mut [u8], map: &PerfMap<'_>) -> Option<&'a [u8]> {
    let mut writer = Writer::new(buffer.get_mut(HEADER..)?);
    writer.integer(map.run);
    writer.integer(map.process);
    writer.integer(map.total);
    writer.text(map.bytes);
    let length = writer.finish()?;
    seal(buffer, Kind::PerfMap, length)
}

/// Decodes a [`Kind::PerfMap`] frame.
pub fn read_perf_map<'a>(frame: &RawFrame<'a>) -> Result<PerfMap<'a>, PayloadError> {
    let mut reader = Reader::new(frame.payload);
    let run = reader.integer(MAX_RUNS - 1)?;
    let process = reader.integer(u64::from(u32::MAX))?;
    let total = reader.integer(u64::MAX)?;
    let bytes = reader.bytes()?;
    reader.end()?;
    Ok(PerfMap { run, process, total, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::next_frame;

    #[test]
    fn messages_are_read_back() {
        let mut buffer = [0; 256];
        let frame = next_frame(begin(&mut buffer, 5).unwrap()).unwrap().unwrap();
        assert_eq!(read_begin(&frame), Ok(5));
        for how in [ProgramEnded::Exit(3), ProgramEnded::Signal(11), ProgramEnded::NotExecuted(8)] {
            let sent = ProgramEnd { run: 1, how, clock: 1 << 40 };
            let frame = next_frame(end(&mut buffer, sent).unwrap()).unwrap().unwrap();
            assert_eq!(read_end(&frame), Ok(sent));
        }
        let sent = ProgramOutput { run: 0, is_error: true, total: 9, bytes: &[0xff, 0, 7] };
        let frame = next_frame(output(&mut buffer, &sent).unwrap()).unwrap().unwrap();
        assert_eq!(read_output(&frame), Ok(sent));
        let sent = PerfMap { run: 2, process: 1 << 22, total: 70_000, bytes: b"7f00 10 add" };
        let frame = next_frame(perf_map(&mut buffer, &sent).unwrap()).unwrap().unwrap();
        assert_eq!(read_perf_map(&frame), Ok(sent));
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        let mut buffer = [0; 64];
        let frame = next_frame(begin(&mut buffer, MAX_RUNS).unwrap()).unwrap().unwrap();
        assert_eq!(read_begin(&frame), Err(PayloadError::Range));
        let frame = RawFrame { kind: Kind::ProgramEnd, payload: &[0, 3, 0, 0], length: 0 };
        assert_eq!(read_end(&frame), Err(PayloadError::Range));
    }
}
