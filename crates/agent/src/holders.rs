//! What a perturbed run holds of the kernel's small memory: processes that own objects of its slabs
//! while the paths run.
//!
//! A slab's cache hands out the object that was freed last, so all windows of all runs would get
//! the same one, and some of the kernel's checks ask whether an object lies in the first page of
//! its slab. A kernel that allocates one object more while it boots would then differ by those
//! instructions in every pair. With another number of objects held in each run, such a step
//! shows in some pairs and not in most.

use pathmeter_probes::{
    descriptor::socketpair,
    sys::{self, CStr, flag, nr},
    task,
    text::Text,
};

use crate::guest;

/// Most holders that a run has beside the first one. Each holds a path name, of 4 KiB, and one in
/// eight of these is in its slab's first page.
const MOST: usize = 7;
/// A pipe that nobody opens for writing.
const PIPE: &[u8] = b"/held\0";
/// Bytes of messages whose buffers are in Linux's slabs of 512, 1,024, 2,048 and 4,096 bytes: it
/// adds some 320 of its own (Linux `SKB_DATA_ALIGN(sizeof(struct skb_shared_info))`).
const LENGTHS: [usize; 4] = [64, 500, 1400, 3000];
static MESSAGE: [u8; 3000] = [0; 3000];
/// The first holder has so many messages of each length, and so many sockets, at least: enough to
/// use up what earlier life has left free, wherever that lay.
const LEAST: u64 = 16;
/// And fewer than so many more: a slab of such objects has 8 to 16.
const SPREAD: u64 = 16;
const AF_UNIX: usize = 1;
const AF_INET: usize = 2;
const SOCK_STREAM: usize = 1;

/// The holders of one run, until dropped.
pub(crate) struct Holders {
    pids: [usize; 1 + MOST],
    count: usize,
}

impl Holders {
    /// As many as follow from the run's number. A kernel without named pipes or fork has none.
    pub(crate) fn of(run: u32) -> Self {
        const NAMED_PIPE: usize = 0o010_000;
        let mut holders = Self { pids: [0; 1 + MOST], count: 0 };
        // From the second run on it is there.
        let _ = sys::mknod(CStr::new(PIPE), NAMED_PIPE | 0o600, 0);
        for number in 0..=run as usize % (MOST + 1) {
            let Ok(child) = task::fork(|| hold(run, number)) else { break };
            holders.pids[number] = child;
            holders.count += 1;
            // It blocks before anything else runs.
            let _ = sys::sched_yield();
        }
        holders
    }
}

impl Drop for Holders {
    fn drop(&mut self) {
        for pid in &self.pids[..self.count] {
            let _ = sys::kill(pid.cast_signed(), flag::SIGKILL);
            let _ = task::wait(*pid);
        }
    }
}

/// A holder's life: a file of its own, then a name and a wait for a writer that never comes.
fn hold(run: u32, number: usize) -> usize {
    let file: Text<16> = Text::format(format_args!("/held.{number}\0"));
    let _ = sys::open(CStr::new(file.as_bytes()), flag::O_WRONLY | flag::O_CREAT, 0o600);
    if number == 0 {
        hoard(run);
    }
    let _ = sys::open(CStr::new(PIPE), flag::O_RDONLY, 0);
    0
}

/// Messages that nobody reads, and sockets, as many as follow from the run's number.
fn hoard(run: u32) {
    let mut bits = guest::scramble(u64::from(run));
    let mut some = || {
        bits = bits.rotate_right(4);
        LEAST + bits % SPREAD
    };
    for _ in 0..some() {
        // SAFETY: takes no pointer.
        let _ = unsafe { sys::checked(nr::SOCKET, [AF_INET, SOCK_STREAM, 0, 0, 0, 0]) };
    }
    for length in LENGTHS {
        // A pair of its own, since a socket has room for no more of the longest.
        if let Ok([near, _]) = socketpair(AF_UNIX, SOCK_STREAM) {
            for _ in 0..some() {
                let _ = sys::write(near, &MESSAGE[..length]);
            }
        }
        write_to_self(some(), length);
    }
}

/// Leaves so many messages in a socket of netlink(7) that has written them to itself. Those of Unix
/// sockets are charged to a control group, which has slabs of its own; these are not (Linux
/// `GFP_KERNEL_ACCOUNT`).
fn write_to_self(count: u64, length: usize) {
    const AF_NETLINK: usize = 16;
    const SOCK_RAW: usize = 3;
    const NETLINK_USERSOCK: usize = 2;
    const MSG_DONTWAIT: usize = 0x40;
    // SAFETY: takes no pointer.
    let socket =
        unsafe { sys::checked(nr::SOCKET, [AF_NETLINK, SOCK_RAW, NETLINK_USERSOCK, 0, 0, 0]) };
    let Ok(socket) = socket else { return };
    // `struct sockaddr_nl`: the family, and the port that the socket is to have.
    let port = socket as u32;
    let address = [AF_NETLINK as u32, port, 0];
    let (place, size) = (address.as_ptr() as usize, size_of_val(&address));
    // SAFETY: the kernel reads one address.
    let bound = unsafe { sys::checked(nr::BIND, [socket, place, size, 0, 0, 0]) };
    if bound.is_err() {
        return;
    }
    for _ in 0..count {
        let message = MESSAGE.as_ptr() as usize;
        // SAFETY: the kernel reads so many bytes, which MESSAGE has, and one address.
        let _ = unsafe {
            sys::checked(nr::SENDTO, [socket, message, length, MSG_DONTWAIT, place, size])
        };
    }
}
