//! What programs are attached to, and what is attached there.

use pathmeter_probes::sys::{self, nr};

use super::call::{FdQuery, LINK_CREATE, LinkInfo, RAW_TRACEPOINT_OPEN, TASK_FD_QUERY, bpf};

/// What programs are attached to.
pub(super) enum Target {
    /// A function, which the program itself names.
    Function,
    /// A tracepoint without its record, by the address of its name.
    Raw(u64),
    /// An event, by its `struct perf_event_attr`.
    Event([u64; 9]),
    /// A group or a network namespace, by its descriptor, or a device, by its number, with flags.
    Link(u32, u32),
    /// A hook of netfilter's for IPv4.
    Hook(u32),
}

impl Target {
    /// An event of this type and number, at the function whose name has this address.
    pub(super) fn event(kind: u64, config: u64, function: u64) -> Self {
        const SIZE: u64 = 72;
        Self::Event([kind | SIZE << 32, config, 0, 0, 0, 0, 0, function, 0])
    }

    /// The descriptor by which this program is attached.
    pub(super) fn attach(&self, attachment: u32, program: usize) -> sys::Ret {
        let descriptor = program as u32;
        match self {
            Self::Function => open(0, descriptor),
            Self::Raw(name) => open(*name, descriptor),
            Self::Link(target, flags) => {
                let mut attr = [descriptor, *target, attachment, *flags];
                // SAFETY: takes no pointer.
                unsafe { bpf(LINK_CREATE, &mut attr) }
            }
            Self::Hook(number) => {
                const NFPROTO_IPV4: u32 = 2;
                let priority = 0;
                let mut attr = [descriptor, 0, attachment, 0, NFPROTO_IPV4, *number, priority, 0];
                // SAFETY: takes no pointer.
                unsafe { bpf(LINK_CREATE, &mut attr) }
            }
            Self::Event(attr) => {
                const PERF_EVENT_IOC_SET_BPF: usize = 0x4004_2408;
                const PERF_FLAG_FD_CLOEXEC: usize = 8;
                let every = usize::MAX;
                let args = [attr.as_ptr() as usize, every, 0, every, PERF_FLAG_FD_CLOEXEC, 0];
                // SAFETY: the kernel reads a `struct perf_event_attr` of the size that is in it,
                // and the name that it may have. The second takes no pointer.
                unsafe {
                    let event = sys::checked(nr::PERF_EVENT_OPEN, args)?;
                    sys::checked(nr::IOCTL, [event, PERF_EVENT_IOC_SET_BPF, program, 0, 0, 0])?;
                    Ok(event)
                }
            }
        }
    }

    /// The number of the program that the kernel shows to be attached by this descriptor.
    pub(super) fn attached(&self, holder: usize) -> Result<u32, i32> {
        if matches!(self, Self::Function | Self::Link(..) | Self::Hook(_)) {
            return LinkInfo::of(holder).map(|link| link.program);
        }
        let mut query =
            FdQuery { process: sys::getpid()? as u32, fd: holder as u32, ..FdQuery::default() };
        // SAFETY: the kernel reads and writes the numbers; there is no buffer for a name.
        unsafe { bpf(TASK_FD_QUERY, &mut query) }?;
        Ok(query.program)
    }
}

/// Attaches a program to the tracepoint whose name has this address, or to what the program names.
fn open(name: u64, program: u32) -> sys::Ret {
    let mut attr = [name, program.into()];
    // SAFETY: the kernel reads a name, if there is one, and a descriptor.
    unsafe { bpf(RAW_TRACEPOINT_OPEN, &mut attr) }
}
