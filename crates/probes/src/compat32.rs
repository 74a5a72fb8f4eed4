//! A 32-bit program of our own: it does an ioctl in each window through the CPU's fast 32-bit entry.
//!
//! Only real 32-bit code takes that entry as programs do: through the address that the kernel gives
//! it in `AT_SYSINFO`, the 32-bit vDSO's `__kernel_vsyscall`, which is sysenter, syscall or int 0x80
//! as CPU and kernel have it (Linux `arch/x86/entry/vdso/vdso32/system_call.S`). So the program below
//! gets an ELF32 header in front, is written to a file and executed. It writes the first bytes of the
//! entry, then a record a window, to a pipe; the probe proves each record after it has ended.

use core::arch::global_asm;

use crate::{
    Failure, Outcome, Report, WARMUP, ioctl, prove,
    switch::descriptor,
    sys::{self, CStr, flag, nr},
    task::{self, Ended},
    unsupported,
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
/// Largest program, headers included; it has a few hundred bytes.
const PROGRAM: usize = 1024;
/// Bytes of the entry that the program hands over, so that the probe can say which it is.
const ENTRY: usize = 32;
const FILE: &[u8] = b"/pathmeter-compat32\0";
/// `execve` says this of a format that the kernel doesn't know.
const ENOEXEC: i32 = 8;
/// Exit codes of the child: the error number of execve, or this one from the program itself.
const NO_ENTRY: u32 = 99;

/// Parameters at the start of the program, in the order in which `compat32.s` expects them.
#[repr(C)]
struct Parameters {
    socket: u32,
    output: u32,
    windows: u32,
    request: u32,
    number: u32,
}

/// What the program writes for each window.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Record {
    cost: u64,
    raw: i32,
    index: i32,
}

const _: () = assert!(size_of::<Record>() == 16 && size_of::<Parameters>() == 20);

/// Walks all windows of `report` in the 32-bit program; each must return `index`.
pub(crate) fn walk(report: &mut Report, socket: usize, index: i32) -> Outcome {
    let mut ends = [0; 2];
    if let Err(error) = sys::pipe(&mut ends) {
        return unsupported!("no pipe (error {error})");
    }
    let [input, output] = ends.map(descriptor);
    write_program(report.walks(), socket, output)?;
    let program = task::fork(execute)
        .map_err(|error| Failure::unsupported(format_args!("no fork (error {error})")))?;
    let _ = sys::close(output);
    // Its records fit the pipe's buffer, so it is left alone until it has ended.
    match task::wait(program) {
        Ok(Ended::Exit(0)) => read_records(report, input, index),
        Ok(Ended::Exit(code)) if code == ENOEXEC.cast_unsigned() => {
            unsupported!("32-bit programs don't run on this kernel (CONFIG_IA32_EMULATION)")
        }
        Ok(Ended::Exit(NO_ENTRY)) => unsupported!("the kernel gives 32-bit programs no vDSO"),
        other => unsupported!("the 32-bit program ended with {other:?}"),
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

fn read_records(report: &mut Report, input: usize, index: i32) -> Outcome {
    let mut entry = [0; ENTRY];
    if sys::read(input, &mut entry) != Ok(ENTRY) {
        return unsupported!("the 32-bit program did not start");
    }
    report.check("entry", format_args!("{}", instruction(&entry)));
    for window in 0..report.walks() {
        let mut bytes = [0; size_of::<Record>()];
        prove!(sys::read(input, &mut bytes) == Ok(bytes.len()), "it ended in window {window}");
        // SAFETY: Record is plain integers without padding (16 bytes, asserted): any bytes are valid.
        let record: Record = unsafe { core::mem::transmute(bytes) };
        prove!(
            record.raw == 0 && record.index == index,
            "the ioctl returned {}, index {} instead of {index}",
            record.raw,
            record.index
        );
        if window >= WARMUP {
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

fn write_program(windows: usize, socket: usize, output: usize) -> Result<(), Failure> {
    let mut file = [0; PROGRAM];
    let Some(length) = build(&mut file, windows, socket, output) else {
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
fn build(file: &mut [u8; PROGRAM], windows: usize, socket: usize, output: usize) -> Option<usize> {
    let code = code();
    let length = HEADERS + code.len();
    let parameters = [
        u32::try_from(socket).ok()?,
        u32::try_from(output).ok()?,
        u32::try_from(windows).ok()?,
        u32::try_from(ioctl::SIOCGIFINDEX).ok()?,
        u32::try_from(ioctl::IOCTL_32).ok()?,
    ];
    let size = u32::try_from(length).ok()?;
    let start = BASE + u32::try_from(HEADERS + size_of::<Parameters>()).ok()? + IFREQ_32;
    file.get_mut(HEADERS..length)?.copy_from_slice(code);
    for (place, word) in file.chunks_exact_mut(4).zip(elf32(start, size)) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    for (place, word) in file[HEADERS..].chunks_exact_mut(4).zip(parameters) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    Some(length)
}

/// Bytes of the request that stands behind the parameters.
const IFREQ_32: u32 = 32;

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
    // SAFETY: both labels stand in compat32.s, the second behind the first, in one section.
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
        let length = build(&mut file, 1, 3, 4).unwrap();
        assert!(length > HEADERS + size_of::<Parameters>());
        assert_eq!(&file[..6], b"\x7fELF\x01\x01");
        assert_eq!(file[HEADERS..HEADERS + 4], 3_u32.to_le_bytes());
    }
}
