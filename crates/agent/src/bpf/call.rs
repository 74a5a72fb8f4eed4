//! bpf(2): its commands, and what it takes (`union bpf_attr`) and gives.

use core::mem::offset_of;

use pathmeter_probes::sys::{self, nr};

/// Commands of bpf(2).
pub(super) const LOAD: usize = 5;
const INFO_BY_FD: usize = 15;
pub(super) const RAW_TRACEPOINT_OPEN: usize = 17;
pub(super) const TASK_FD_QUERY: usize = 20;
pub(super) const LINK_CREATE: usize = 28;

/// bpf(2).
///
/// # Safety
/// `attr` is what the command takes, and every pointer in it is to memory of that size.
pub(super) unsafe fn bpf<T>(command: usize, attr: &mut T) -> sys::Ret {
    // SAFETY: the caller's.
    unsafe { sys::checked(nr::BPF, [command, &raw mut *attr as usize, size_of::<T>(), 0, 0, 0]) }
}

/// What bpf(2) takes to load a program.
#[repr(C)]
#[derive(Default)]
pub(super) struct Load {
    pub(super) kind: u32,
    pub(super) count: u32,
    pub(super) instructions: u64,
    pub(super) licence: u64,
    pub(super) log_level: u32,
    pub(super) log_size: u32,
    pub(super) log: u64,
    pub(super) others: [u32; 7],
    pub(super) attachment: u32,
    pub(super) types: [u32; 9],
    pub(super) function: u32,
    pub(super) object: [u32; 2],
}

const _: () = assert!(size_of::<Load>() == 120);
const _: () = assert!(offset_of!(Load, attachment) == 68 && offset_of!(Load, function) == 108);

/// What bpf(2) takes to tell of a descriptor.
#[repr(C)]
struct InfoByFd {
    fd: u32,
    size: u32,
    info: u64,
}

/// The beginning of `struct bpf_prog_info`.
#[repr(C)]
#[derive(Default)]
pub(super) struct ProgramInfo {
    kind: u32,
    pub(super) id: u32,
    tag: [u8; 8],
    /// Bytes of its machine code.
    pub(super) translated: u32,
    checked: u32,
}

/// The beginning of `struct bpf_link_info`.
#[repr(C)]
#[derive(Default)]
pub(super) struct LinkInfo {
    kind: u32,
    id: u32,
    pub(super) program: u32,
    padding: u32,
}

/// What bpf(2) tells of a process's descriptor.
#[repr(C)]
#[derive(Default)]
pub(super) struct FdQuery {
    pub(super) process: u32,
    pub(super) fd: u32,
    pub(super) flags: u32,
    pub(super) length: u32,
    pub(super) buffer: u64,
    pub(super) program: u32,
    pub(super) kind: u32,
    pub(super) place: [u64; 2],
}

const _: () = assert!(size_of::<ProgramInfo>() == 24 && size_of::<LinkInfo>() == 16);
const _: () = assert!(size_of::<FdQuery>() == 48);

impl ProgramInfo {
    pub(super) fn of(fd: usize) -> Result<Self, i32> {
        let mut info = Self::default();
        // SAFETY: both are plain numbers, of the kernel's layout.
        unsafe { tell(fd, &mut info) }.map(|()| info)
    }
}

impl LinkInfo {
    pub(super) fn of(fd: usize) -> Result<Self, i32> {
        let mut info = Self::default();
        // SAFETY: as above.
        unsafe { tell(fd, &mut info) }.map(|()| info)
    }
}

/// Has the kernel tell of a descriptor.
///
/// # Safety
/// `info` may have any bytes.
unsafe fn tell<T>(fd: usize, info: &mut T) -> Result<(), i32> {
    let mut attr =
        InfoByFd { fd: fd as u32, size: size_of::<T>() as u32, info: &raw mut *info as u64 };
    // SAFETY: the kernel writes at most as many bytes as it is told that there are.
    unsafe { bpf(INFO_BY_FD, &mut attr) }.map(drop)
}

/// Lets this process lock so much memory, by which kernels before 5.11 count programs; what it
/// could before.
pub(super) fn lock_memory(new: [u64; 2]) -> Option<[u64; 2]> {
    const RLIMIT_MEMLOCK: usize = 8;
    let mut old = [0; 2];
    let places = [new.as_ptr() as usize, old.as_mut_ptr() as usize];
    // SAFETY: the kernel reads one `struct rlimit64`, and writes one.
    unsafe { sys::checked(nr::PRLIMIT64, [0, RLIMIT_MEMLOCK, places[0], places[1], 0, 0]) }.ok()?;
    Some(old)
}
