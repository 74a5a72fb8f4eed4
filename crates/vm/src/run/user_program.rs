//! A program of the user's, executed in perturbed runs in one guest, every instruction of them
//! counted by the program plugin.

use std::fs::File;
use std::mem::take;
use std::os::fd::OwnedFd;
use std::thread::Builder;

use pathmeter_wire::{
    Kind, RawFrame,
    program::{
        self, MAX_PERF_MAP_BYTES, MAX_PERF_MAPS, PERF_MAPS_ASKED, ProgramEnd, ProgramOutput,
    },
};

use crate::{
    Firmware, Parcel, Progress, Proof, Request, VmError,
    arch::READBACK,
    error::{GuestCause, Step},
    guest::channels::QemuGuest,
    guest::{Extra, Guest},
    machine::fd,
    qemu::memory_file::memory_file,
    qemu::plugin::Plugin,
    run::ready::{boot_whole, go_on, snapshot},
    run::snapshot::Description,
};

/// Bytes of each output of the program that are kept.
pub const MAX_KEPT: usize = 256 << 10;

/// What the program plugin is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Accounting<'a> {
    /// The table of the kernel's places, as the plugin reads it.
    pub places: &'a [u8],
    /// The table of the kernel's points between which windows are, as the plugin reads it.
    pub points: &'a [u8],
    /// The table of classes of instructions, as the plugin reads it.
    pub classes: &'a [u8],
    /// The runs of the program, as the job asks for.
    pub runs: u32,
    /// Whether it tells in which blocks of the kernel's code the instructions are as well.
    pub functions: bool,
    /// Whether it counts the lines of data that the kernel touches as well.
    pub lines: bool,
    /// Whether the agent sends what the program's JITs tell of their code.
    pub perf_maps: bool,
}

/// What came of a program.
#[derive(Debug)]
pub struct RanProgram<C> {
    /// The kernel's release, as its image says.
    pub release: Option<String>,
    pub firmware: Firmware,
    /// What became of the settings of its condition.
    pub proofs: Vec<Proof>,
    /// How the runs ended, in order.
    pub runs: Vec<ProgramEnd>,
    /// What it wrote to its standard output and standard error in the first run.
    pub outputs: [Written; 2],
    /// The same of the first run that ended in another way, if there is one.
    pub unlike: Option<Unlike>,
    /// The perf maps of all runs, if they were asked for.
    pub perf_maps: Vec<PerfMapFile>,
    /// What was made of the plugin's stream.
    pub counts: C,
}

/// What a run wrote that ended in another way than the first one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unlike {
    /// The run, from 0.
    pub run: u64,
    /// Its standard output and standard error.
    pub outputs: [Written; 2],
}

/// What was written to one of the program's outputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The beginning; at most [`MAX_KEPT`] bytes.
    pub bytes: Vec<u8>,
    /// How many bytes were written in all.
    pub total: u64,
}

/// The file in which a JIT of a process named its code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerfMapFile {
    /// The run, from 0.
    pub run: u64,
    /// The number of the process.
    pub process: u64,
    /// What it holds; less than `total` if it could not be read, or there was no room.
    pub bytes: Vec<u8>,
    /// How many bytes the file has in all.
    pub total: u64,
}

/// Executes the program of `parcel`. `read` is handed the plugin's stream as it comes, on a
/// thread of its own: it should read to the end, and what it returns is handed back.
///
/// # Errors
/// What keeps the guest from being run; a program that could not be executed or did not end the
/// same way in each run is none.
pub fn run_program<C: Send>(
    request: &Request<'_>,
    parcel: &Parcel,
    asked: Accounting<'_>,
    read: &(dyn Fn(File) -> C + Sync),
) -> Result<RanProgram<C>, VmError> {
    let plugin = Plugin::Program.for_qemu(request.qemu, request.interrupt)?;
    let failed = |what| move |source| VmError::Host { what, source };
    let table = memory_file("pathmeter-places", asked.places)?;
    let points = memory_file("pathmeter-points", asked.points)?;
    let classes = memory_file("pathmeter-classes", asked.classes)?;
    let (stream, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
        .map_err(|error| failed("making a pipe for the counts")(error.into()))?;
    let descriptors = vec![
        (fd::PLUGIN, OwnedFd::from(plugin)),
        (fd::COUNTS, writer),
        (fd::PLACES, OwnedFd::from(table)),
        (fd::POINTS, OwnedFd::from(points)),
        (fd::CLASSES, OwnedFd::from(classes)),
    ];
    let mut arguments =
        vec!["-plugin".to_owned(), plugin_argument(request.settings.memory_mib, asked)];
    if asked.perf_maps {
        arguments.extend(["-global".to_owned(), format!("{READBACK}={PERF_MAPS_ASKED}")]);
    }
    let extra = Extra { files: descriptors, arguments, ..Extra::default() };
    std::thread::scope(|scope| {
        let reader = Builder::new().spawn_scoped(scope, move || read(File::from(stream)));
        let reader = reader.map_err(failed("starting a thread for the counts"))?;
        // At its end the guest is gone, and with it the pipe's other end.
        let ran = run_in::<QemuGuest>(request.qemu, request, parcel, asked.runs, extra);
        let counts = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let (about, heard) = ran?;
        let Description { release, firmware, proofs, .. } = about;
        let Heard { runs, outputs, unlike, perf_maps, .. } = heard;
        Ok(RanProgram { release, firmware, proofs, runs, outputs, unlike, perf_maps, counts })
    })
}

fn plugin_argument(memory_mib: u32, asked: Accounting<'_>) -> String {
    let ram = u64::from(memory_mib) << 20;
    let (plugin, counts, places, points) = (fd::PLUGIN, fd::COUNTS, fd::PLACES, fd::POINTS);
    let classes = fd::CLASSES;
    let (functions, lines) = (u8::from(asked.functions), u8::from(asked.lines));
    format!(
        "/proc/self/fd/{plugin},fd={counts},places={places},points={points},classes={classes},\
         ram={ram},functions={functions},lines={lines}"
    )
}

fn run_in<G: Guest>(
    host: &G::Host,
    request: &Request<'_>,
    parcel: &Parcel,
    runs: u32,
    extra: Extra,
) -> Result<(Description, Heard), VmError> {
    let snapshot = snapshot::<G>(host, request, parcel)?;
    let gone_on = go_on::<G>(host, request, (&snapshot, parcel), extra);
    let (mut guest, about) = gone_on.inspect_err(|error| {
        if error.unrestored().is_some() {
            snapshot.forget(request);
        }
    })?;
    Ok((about, all_runs(request, &mut guest, runs, &mut |_| ())?))
}

/// The same, in a guest of another kind that boots anew with the job in its initramfs. `ended` is
/// called at the end of each run.
///
/// # Errors
/// As [`run_program`].
pub fn boot_program<G: Guest>(
    host: &G::Host,
    request: &Request<'_>,
    parcel: &Parcel,
    runs: u32,
    ended: &mut dyn FnMut(&mut G),
) -> Result<RanProgram<()>, VmError> {
    let extra = Extra::default();
    let (mut guest, about) = boot_whole::<G>(host, request, request.settings, parcel, extra)?;
    guest.begin(Step::Run);
    guest.resume()?;
    let Heard { runs, outputs, unlike, perf_maps, .. } =
        all_runs(request, &mut guest, runs, ended)?;
    let Description { release, firmware, proofs, .. } = about;
    Ok(RanProgram { release, firmware, proofs, runs, outputs, unlike, perf_maps, counts: () })
}

/// Hears of all runs of a guest that has gone on from READY; `ended` is called at the end of each.
fn all_runs<G: Guest>(
    request: &Request<'_>,
    guest: &mut G,
    runs: u32,
    ended: &mut dyn FnMut(&mut G),
) -> Result<Heard, VmError> {
    let mut heard = Heard::default();
    loop {
        match guest.next_frame(|frame| heard.hear(frame, runs))? {
            Event::Begin(run) => {
                let (done, of) = (run, u64::from(runs));
                (request.progress)(Progress::Program { done, of });
                guest.begin(Step::Program { run: run + 1 });
            }
            Event::More => {}
            Event::End => {
                ended(guest);
                guest.begin(Step::Run);
            }
            Event::Done => return Ok(heard),
            Event::Abort(reason) => return Err(guest.failure(GuestCause::Abort { reason })),
            Event::Wrong(what) => return Err(guest.failure(GuestCause::Protocol { what })),
        }
    }
}

/// What was heard of the agent.
#[derive(Default)]
struct Heard {
    runs: Vec<ProgramEnd>,
    /// Whether the next run has begun: what a program sends itself may not begin it once more, and
    /// with it the time limit.
    begun: bool,
    outputs: [Written; 2],
    unlike: Option<Unlike>,
    perf_maps: Vec<PerfMapFile>,
    /// Bytes of all of them.
    perf_map_bytes: usize,
}

/// What one frame of the agent's means.
#[derive(Debug, PartialEq, Eq)]
enum Event {
    Begin(u64),
    More,
    End,
    Done,
    Abort(String),
    Wrong(String),
}

impl Heard {
    fn hear(&mut self, frame: &RawFrame<'_>, runs: u32) -> Event {
        let next = self.runs.len() as u64;
        let wrong = |what: &str| Event::Wrong(what.to_owned());
        let heard = match frame.kind {
            Kind::ProgramBegin => program::read_begin(frame).map(|run| match run {
                run if run == next && run < u64::from(runs) && !self.begun => {
                    self.begun = true;
                    Event::Begin(run)
                }
                _ => wrong("a run that was not asked for"),
            }),
            Kind::ProgramOutput => program::read_output(frame).map(|output| self.keep(&output)),
            Kind::PerfMap => program::read_perf_map(frame).map(|map| self.keep_perf_map(&map)),
            Kind::ProgramEnd => program::read_end(frame).map(|end| {
                if end.run != next || !take(&mut self.begun) {
                    return wrong("the end of a run that was not begun");
                }
                self.runs.push(end);
                Event::End
            }),
            Kind::Done if next == u64::from(runs) && !self.begun => Ok(Event::Done),
            Kind::Abort => pathmeter_wire::message::read_plain(frame)
                .map(|reason| Event::Abort(reason.to_owned())),
            _ => Ok(Event::Wrong(format!("a frame {:?} now", frame.kind))),
        };
        heard.unwrap_or_else(|error| Event::Wrong(error.to_string()))
    }

    fn keep(&mut self, output: &ProgramOutput<'_>) -> Event {
        let more = || Event::Wrong("more output than was asked for".to_owned());
        let run = self.runs.len() as u64;
        let of_other = self.unlike.as_ref().is_some_and(|unlike| unlike.run != run);
        if output.run != run || !self.begun || of_other {
            return more();
        }
        let outputs = if run == 0 {
            &mut self.outputs
        } else {
            &mut self.unlike.get_or_insert_with(|| Unlike { run, ..Unlike::default() }).outputs
        };
        let written = &mut outputs[usize::from(output.is_error)];
        if written.bytes.len() + output.bytes.len() > MAX_KEPT {
            return more();
        }
        written.bytes.extend_from_slice(output.bytes);
        written.total = output.total;
        Event::More
    }

    /// Pieces of one file follow each other.
    fn keep_perf_map(&mut self, map: &program::PerfMap<'_>) -> Event {
        let more = || Event::Wrong("more perf maps than there is room for".to_owned());
        let key = (map.run, map.process, map.total);
        let was_run = map.run < self.runs.len() as u64 && !self.begun;
        self.perf_map_bytes += map.bytes.len();
        if !was_run || self.perf_map_bytes > MAX_PERF_MAP_BYTES {
            return more();
        }
        let kept = self.perf_maps.len();
        match self.perf_maps.last_mut() {
            Some(last) if (last.run, last.process, last.total) == key => {
                last.bytes.extend_from_slice(map.bytes);
            }
            _ if kept == MAX_PERF_MAPS => return more(),
            _ => self.perf_maps.push(PerfMapFile {
                run: map.run,
                process: map.process,
                bytes: map.bytes.to_vec(),
                total: map.total,
            }),
        }
        Event::More
    }
}

#[cfg(test)]
mod tests {
    use pathmeter_wire::{message, next_frame, program::ProgramEnded};

    use super::*;
    use crate::run::fake::frame;

    /// Hears these frames one after the other, of a program of two runs.
    fn hear_frames(frames: &[Vec<u8>]) -> (Heard, Vec<Event>) {
        let mut heard = Heard::default();
        let hear = |bytes: &Vec<u8>| heard.hear(&next_frame(bytes).unwrap().unwrap(), 2);
        let events = frames.iter().map(hear).collect();
        (heard, events)
    }

    fn begin(run: u64) -> Vec<u8> {
        frame(|buffer| program::begin(buffer, run))
    }

    fn end(run: u64) -> Vec<u8> {
        let how = ProgramEnded::Exit(0);
        frame(|buffer| program::end(buffer, ProgramEnd { run, how, clock: 100 + run }))
    }

    fn output(run: u64, is_error: bool, bytes: &[u8]) -> Vec<u8> {
        let output = ProgramOutput { run, is_error, total: 1 << 20, bytes };
        frame(|buffer| program::output(buffer, &output))
    }

    fn plain(kind: Kind, text: &[u8]) -> Vec<u8> {
        frame(|buffer| message::plain(buffer, kind, text))
    }

    /// Asserts that the last of these frames is refused for this reason, and no other frame is.
    fn assert_refused(frames: &[Vec<u8>], why: &str) {
        let (_, mut events) = hear_frames(frames);
        assert_eq!(events.pop(), Some(Event::Wrong(why.to_owned())));
        assert!(!events.iter().any(|event| matches!(event, Event::Wrong(_))), "{events:?}");
    }

    #[test]
    fn two_runs_with_the_output_of_the_first() {
        let (heard, events) = hear_frames(&[
            begin(0),
            output(0, false, b"one "),
            output(0, true, b"no"),
            output(0, false, b"two"),
            end(0),
            begin(1),
            end(1),
            plain(Kind::Done, b""),
        ]);
        let expected = [
            Event::Begin(0),
            Event::More,
            Event::More,
            Event::More,
            Event::End,
            Event::Begin(1),
            Event::End,
            Event::Done,
        ];
        assert_eq!(events, expected);
        assert_eq!(heard.runs.iter().map(|end| end.clock).collect::<Vec<_>>(), [100, 101]);
        let [stdout, stderr] = heard.outputs;
        assert_eq!((&stdout.bytes[..], &stderr.bytes[..]), (&b"one two"[..], &b"no"[..]));
        assert_eq!(stdout.total, 1 << 20);
    }

    #[test]
    fn runs_come_in_order_and_as_many_as_were_asked_for() {
        let not_asked = "a run that was not asked for";
        assert_refused(&[begin(1)], not_asked);
        assert_refused(&[begin(0), end(0), begin(0)], not_asked);
        assert_refused(&[begin(0), end(0), begin(1), end(1), begin(2)], not_asked);
        // It would begin the time limit anew.
        assert_refused(&[begin(0), begin(0)], not_asked);
        let not_begun = "the end of a run that was not begun";
        assert_refused(&[end(0)], not_begun);
        assert_refused(&[begin(0), end(1)], not_begun);
        assert_refused(&[begin(0), end(0), end(0)], not_begun);
        assert_refused(&[begin(0), end(0), end(1)], not_begun);
    }

    #[test]
    fn the_end_comes_after_all_runs() {
        let done = || plain(Kind::Done, b"");
        assert_refused(&[done()], "a frame Done now");
        assert_refused(&[begin(0), end(0), done()], "a frame Done now");
        assert_refused(&[begin(0), end(0), begin(1), done()], "a frame Done now");
        assert_refused(&[plain(Kind::Ready, b"")], "a frame Ready now");
    }

    #[test]
    fn output_is_the_first_runs_and_one_other_s_and_has_bounds() {
        let more = "more output than was asked for";
        assert_refused(&[output(0, false, b"early")], more);
        assert_refused(&[begin(0), output(1, false, b"")], more);
        assert_refused(&[begin(0), end(0), output(0, false, b"late")], more);
        assert_refused(&[begin(0), end(0), begin(1), output(0, false, b"late")], more);
        let two = [begin(0), output(0, true, b"a"), end(0), begin(1), output(1, true, b"b")];
        let (told, _) = hear_frames(&two);
        let unlike = told.unlike.unwrap();
        assert_eq!((&told.outputs[1].bytes[..], unlike.run), (&b"a"[..], 1));
        assert_eq!(unlike.outputs[1].bytes, b"b");
        let mut third = Heard { unlike: Some(Unlike { run: 1, ..Unlike::default() }), ..told };
        third.runs.push(third.runs[0]);
        let late = output(2, true, b"c");
        let late = third.hear(&next_frame(&late).unwrap().unwrap(), 3);
        assert_eq!(late, Event::Wrong(more.to_owned()));
        let piece = output(0, true, &[b'x'; program::MAX_OUTPUT]);
        let mut frames = vec![begin(0)];
        frames.extend(std::iter::repeat_n(piece, MAX_KEPT / program::MAX_OUTPUT));
        let (heard, _) = hear_frames(&frames);
        assert_eq!(heard.outputs[1].bytes.len(), MAX_KEPT);
        frames.push(output(0, true, b"x"));
        assert_refused(&frames, more);
    }

    #[test]
    fn perf_maps_are_those_of_the_run_and_have_bounds() {
        let map = |run, process, total, bytes: &[u8]| {
            frame(|buffer| {
                program::perf_map(buffer, &program::PerfMap { run, process, total, bytes })
            })
        };
        let (told, _) = hear_frames(&[
            begin(0),
            end(0),
            begin(1),
            end(1),
            map(0, 7, 6, b""),
            map(0, 7, 6, b"abc"),
            map(0, 7, 6, b"def"),
            map(0, 8, u64::MAX, b""),
            map(1, 7, 6, b"ghi"),
        ]);
        let kept = |map: &PerfMapFile| (map.run, map.process, map.bytes.clone(), map.total);
        let kept: Vec<_> = told.perf_maps.iter().map(kept).collect();
        let expected = [
            (0, 7, b"abcdef".to_vec(), 6),
            (0, 8, Vec::new(), u64::MAX),
            (1, 7, b"ghi".to_vec(), 6),
        ];
        assert_eq!(kept, expected);
        let more = "more perf maps than there is room for";
        assert_refused(&[map(0, 7, 3, b"abc")], more);
        assert_refused(&[begin(0), map(0, 7, 3, b"abc")], more);
        assert_refused(&[begin(0), end(0), map(1, 7, 3, b"abc")], more);
        let many = (0..=MAX_PERF_MAPS).map(|process| map(0, process as u64, 0, b""));
        assert_refused(&[begin(0), end(0)].into_iter().chain(many).collect::<Vec<_>>(), more);
        let piece = map(0, 7, MAX_PERF_MAP_BYTES as u64, &[b'x'; program::MAX_PERF_MAP]);
        let pieces = MAX_PERF_MAP_BYTES / program::MAX_PERF_MAP;
        let mut full = vec![begin(0), end(0)];
        full.extend((0..=pieces).map(|_| piece.clone()));
        assert_refused(&full, more);
    }

    #[test]
    fn an_agent_that_gives_up_is_told_with_its_words() {
        let (_, events) = hear_frames(&[begin(0), plain(Kind::Abort, b"no port")]);
        assert_eq!(events[1], Event::Abort("no port".to_owned()));
        let damaged = RawFrame { kind: Kind::ProgramBegin, payload: &[], length: 0 };
        assert!(matches!(Heard::default().hear(&damaged, 2), Event::Wrong(_)));
    }
}
