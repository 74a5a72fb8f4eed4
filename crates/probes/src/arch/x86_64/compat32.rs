//! A 32-bit program of our own: through the CPU's fast 32-bit entry it does an ioctl in each
//! window, or yields with a flag set.
//!
//! Only real 32-bit code takes that entry as programs do: through the address that the kernel gives
//! it in `AT_SYSINFO`, the 32-bit vDSO's `__kernel_vsyscall`, which is sysenter, syscall or int
//! 0x80 as CPU and kernel have it (Linux `arch/x86/entry/vdso/vdso32/system_call.S`). So the
//! program below gets an ELF32 header in front, is written to a file and executed. It writes the
//! first bytes of the entry, then a record a window, to a pipe; the probe proves each record after
//! it has ended. With two CPUs it pauses before each window, as
//! `ioctl/two_cpus.rs` describes.

use core::arch::global_asm;

use crate::{
    arch::nr32,
    descriptor,
    failure::{Failure, Outcome, prove, unsupported},
    ioctl::target::Target,
    path::WARMUP,
    report::ProbeReport,
    sys::{self, CStr, flag, nr},
    task::{self, Ended},
};

global_asm!(include_str!("compat32.s"), options(att_syntax, raw));

unsafe extern "C" {
    static pathmeter_compat32: [u8; 0];
    static pathmeter_compat32_end: [u8; 0];
}

/// Where the program is loaded: the traditional base of i386 executables.
const BASE: u32 = 0x0804_8000;
/// Bytes of the ELF header and one program header.
const HEADERS: usize = 52 + 32;
/// Largest program, headers included; it has some 400 bytes.
const PROGRAM: usize = 1024;
/// Bytes of the entry that the program hands over, so that the probe can report which it is.
const ENTRY: usize = 32;
const FILE: &[u8] = b"/pathmeter-compat32\0";
/// `execve`'s error for a format that the kernel doesn't know.
const ENOEXEC: i32 = 8;
/// Exit codes of the child: the error number of execve, or these from the program itself.
const NO_ENTRY: u32 = 99;
const NO_FORK: u32 = 98;

/// Parameters at the start of the program, in the order in which `compat32.s` expects them.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Parameters {
    file: u32,
    output: u32,
    /// How many windows are still to be executed.
    windows: u32,
    command: u32,
    number: u32,
    /// Where in the structure the answer stands.
    answer: u32,
    /// 0 for no pauses before the windows; else a mask of the windows still to execute, which
    /// leaves how many there are, less one.
    pauses: u32,
    /// 0 for ioctls; else the flag that a child of the program yields with, by the entry.
    flag: u32,
    /// Whom a signal interrupts meanwhile: a [`Signalled`], as its number.
    signals: u32,
}

const WORDS: usize = size_of::<Parameters>() / 4;

/// What the program writes for each window.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Record {
    cost: u64,
    raw: i32,
    answer: u32,
}

const _: () = assert!(size_of::<Record>() == 16 && WORDS == 9);

/// Executes all windows of `report` in the 32-bit program, with [`Parameters::pauses`] before each.
/// Each must return what `target` answers, beginning after `learnt`.
pub(crate) fn execute_windows(
    report: &mut ProbeReport,
    target: &Target,
    learnt: u32,
    pauses: u32,
) -> Outcome {
    let [input, output] = descriptor::pipe()?;
    let Some(parameters) = parameters(report, target, output, pauses) else {
        return unsupported!("the 32-bit program's parameters do not fit 32 bits");
    };
    match run(&parameters, output)? {
        Ended::Exit(0) => {
            let entry = read_entry(input)?;
            // The checks of two CPUs leave no room for it.
            if pauses == 0 {
                report.check("entry", format_args!("{entry}"));
            }
            read_records(report, input, learnt, target.step)
        }
        other => unsupported!("the 32-bit program ended with {other:?}"),
    }
}

/// Which of two tasks that yield to each other is sent a signal, whose handler it then enters by
/// the slow way out of the kernel, `iret`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signalled {
    None = 0,
    /// The one that yields with the flag.
    Setter = 1,
    /// The other of the two tasks.
    Other = 2,
}

/// What came of two 32-bit tasks that yielded to each other, one with a flag set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Yields {
    /// The instruction by which they entered the kernel.
    pub(crate) entry: &'static str,
    /// The end of the task that set the flag: 1 if it had it after each of its yields, else 0. Not
    /// known if the other one was killed.
    pub(crate) setter: Option<Ended>,
    /// The end of the other one.
    pub(crate) other: Ended,
    /// All flags that the other one saw after its yields; 0 if it was killed.
    pub(crate) seen: u32,
}

/// Has two 32-bit tasks yield to each other by the fast entry, `times` each, one with `flag` set.
/// The caller must be a FIFO task.
pub(crate) fn yields(flag: u64, times: u32, signalled: Signalled) -> Result<Yields, Failure> {
    let [input, output] = descriptor::pipe()?;
    let (Ok(place), Ok(flag)) = (u32::try_from(output), u32::try_from(flag)) else {
        return unsupported!("the 32-bit program's parameters do not fit 32 bits");
    };
    let signals = signalled as u32;
    let parameters =
        Parameters { output: place, windows: times, flag, signals, ..Parameters::default() };
    let other = run(&parameters, output)?;
    let entry = read_entry(input)?;
    let [mut seen, mut status] = [[0; 4]; 2];
    let (setter, seen) = match other {
        Ended::Exit(NO_FORK) => return unsupported!("the 32-bit program could not fork"),
        Ended::Exit(0) => {
            let read = [sys::read(input, &mut seen), sys::read(input, &mut status)];
            prove!(read == [Ok(4); 2], "the 32-bit program told no result");
            (Some(Ended::of(u32::from_ne_bytes(status))), u32::from_ne_bytes(seen))
        }
        _ => (None, 0),
    };
    let _ = sys::close(input);
    Ok(Yields { entry, setter, other, seen })
}

/// Runs the program, and closes its end of the pipe. How it ended; what it wrote fits the pipe's
/// buffer, so it is left alone until then.
fn run(parameters: &Parameters, output: usize) -> Result<Ended, Failure> {
    write_program(parameters)?;
    let ended = task::trial(execute);
    let _ = sys::close(output);
    match ended {
        Ok(Ended::Exit(code)) if code == ENOEXEC.cast_unsigned() => {
            unsupported!("32-bit programs don't run on this kernel (CONFIG_IA32_EMULATION)")
        }
        Ok(Ended::Exit(NO_ENTRY)) => unsupported!("the kernel gives 32-bit programs no vDSO"),
        Ok(ended) => Ok(ended),
        Err(error) => unsupported!("no process for the 32-bit program (clone: error {error})"),
    }
}

/// Becomes the program; returns only if that fails, with the error number.
fn execute() -> usize {
    let arguments = [FILE.as_ptr() as usize, 0];
    let environment = [0_usize];
    let args = [arguments[0], arguments.as_ptr() as usize, environment.as_ptr() as usize, 0, 0, 0];
    // SAFETY: path and both arrays are NUL-terminated and live.
    match unsafe { sys::checked(nr::EXECVE, args) } {
        Err(error) => error.cast_unsigned() as usize,
        Ok(_) => 0,
    }
}

/// The instruction by which the program entered the kernel.
fn read_entry(input: usize) -> Result<&'static str, Failure> {
    let mut entry = [0; ENTRY];
    if sys::read(input, &mut entry) != Ok(ENTRY) {
        return unsupported!("the 32-bit program did not start");
    }
    Ok(instruction(&entry))
}

/// Proves each record: the answer is the one `learnt`, and grows by `step` from call to call.
fn read_records(report: &mut ProbeReport, input: usize, learnt: u32, step: u32) -> Outcome {
    let mut expected = learnt;
    for window in 0..report.executions() {
        let mut bytes = [0; size_of::<Record>()];
        prove!(sys::read(input, &mut bytes) == Ok(bytes.len()), "it ended in window {window}");
        // SAFETY: Record is plain integers without padding (16 bytes, asserted): any bytes are
        // valid.
        let record: Record = unsafe { core::mem::transmute(bytes) };
        expected += step;
        prove!(
            record.raw == 0 && record.answer == expected,
            "the ioctl returned {}, answer {} instead of {expected}",
            record.raw,
            record.answer
        );
        if window >= WARMUP as usize {
            report.push(record.cost);
        }
    }
    Ok(())
}

/// The entry instruction among the first bytes of `__kernel_vsyscall`.
fn instruction(code: &[u8]) -> &'static str {
    let find = |opcode: [u8; 2]| code.windows(2).position(|pair| pair == opcode);
    let entries =
        [("sysenter", [0x0f, 0x34]), ("syscall", [0x0f, 0x05]), ("int 0x80", [0xcd, 0x80])];
    entries
        .into_iter()
        .filter_map(|(name, opcode)| find(opcode).map(|place| (place, name)))
        .min()
        .map_or("unknown", |(_, name)| name)
}

fn parameters(
    report: &ProbeReport,
    target: &Target,
    output: usize,
    pauses: u32,
) -> Option<Parameters> {
    Some(Parameters {
        file: u32::try_from(target.fd).ok()?,
        output: u32::try_from(output).ok()?,
        windows: u32::try_from(report.executions()).ok()?,
        command: u32::try_from(target.compat.command).ok()?,
        number: u32::try_from(nr32::IOCTL).ok()?,
        answer: u32::try_from(target.compat.answer).ok()?,
        pauses,
        ..Parameters::default()
    })
}

fn write_program(parameters: &Parameters) -> Result<(), Failure> {
    let mut file = [0; PROGRAM];
    let Some(length) = build(&mut file, parameters) else {
        return unsupported!("the 32-bit program does not fit its buffer");
    };
    let flags = flag::O_WRONLY | flag::O_CREAT | flag::O_TRUNC;
    let written = sys::open(CStr::new(FILE), flags, 0o700).and_then(|fd| {
        sys::write(fd, &file[..length])?;
        sys::close(fd)
    });
    match written {
        Ok(_) => Ok(()),
        Err(error) => unsupported!("/pathmeter-compat32 can't be written (error {error})"),
    }
}

/// Header, parameters and code as one ELF32 file; its length.
fn build(file: &mut [u8; PROGRAM], parameters: &Parameters) -> Option<usize> {
    let code = code();
    let length = HEADERS + code.len();
    let size = u32::try_from(length).ok()?;
    let start = BASE + u32::try_from(HEADERS + size_of::<Parameters>()).ok()? + STRUCTURE;
    file.get_mut(HEADERS..length)?.copy_from_slice(code);
    for (place, word) in file.chunks_exact_mut(4).zip(elf32(start, size)) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    // SAFETY: Parameters is of 32-bit numbers, 9 words (asserted) without padding.
    let words: [u32; WORDS] = unsafe { core::mem::transmute(*parameters) };
    for (place, word) in file[HEADERS..].chunks_exact_mut(4).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    Some(length)
}

/// Bytes of the structure after the parameters.
const STRUCTURE: u32 = 32;

/// ELF header and one loadable, writable and executable segment, as 32-bit words
/// (System V ABI, Intel386 supplement: `Elf32_Ehdr`, `Elf32_Phdr`).
fn elf32(start: u32, size: u32) -> [u32; HEADERS / 4] {
    [
        0x464c_457f,
        0x0001_0101,
        0,
        0, // magic; class 32, little endian, version 1
        2 | 3 << 16,
        1,
        start,
        52, // ET_EXEC, EM_386; version; entry; program headers' offset
        0,
        0,
        0x0020_0034,
        1, // no sections, no flags; header sizes; one program header
        0, // no section headers
        1,
        0,
        BASE,
        BASE, // PT_LOAD from offset 0 to the base
        size,
        size,
        7,
        0x1000, // all of it, read, write and execute, page-aligned
    ]
}

fn code() -> &'static [u8] {
    // SAFETY: both labels stand in compat32.s, the second after the first, in one section.
    unsafe {
        let (begin, end) = (&raw const pathmeter_compat32, &raw const pathmeter_compat32_end);
        core::slice::from_raw_parts(begin.cast(), end as usize - begin as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_instruction_is_the_first_of_the_three() {
        assert_eq!(instruction(&[0x51, 0x0f, 0x05, 0xcd, 0x80]), "syscall");
        assert_eq!(instruction(&[0x51, 0x0f, 0x34, 0xcd, 0x80]), "sysenter");
        assert_eq!(instruction(&[0xcd, 0x80]), "int 0x80");
        assert_eq!(instruction(&[0x90; 8]), "unknown");
    }

    #[test]
    fn the_program_is_a_32_bit_executable_that_fits() {
        let mut file = [0; PROGRAM];
        let parameters = Parameters {
            file: 3,
            output: 4,
            windows: 1,
            command: 0x8933,
            number: 54,
            answer: 16,
            pauses: 15,
            flag: 1 << 14,
            signals: 2,
        };
        let length = build(&mut file, &parameters).unwrap();
        assert!(length > HEADERS + size_of::<Parameters>());
        assert_eq!(&file[..6], b"\x7fELF\x01\x01");
        assert_eq!(file[HEADERS..HEADERS + 4], 3_u32.to_le_bytes());
        assert_eq!(file[HEADERS + 24..HEADERS + 28], 15_u32.to_le_bytes());
        assert_eq!(file[HEADERS + 28..HEADERS + 32], (1_u32 << 14).to_le_bytes());
        assert_eq!(file[HEADERS + 32..HEADERS + 36], 2_u32.to_le_bytes());
        assert_eq!(file[HEADERS + 36..HEADERS + 39], *b"lo\0");
    }
}
