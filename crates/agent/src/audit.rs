//! Audit rules that match nothing, by the kernel's own socket (`<linux/audit.h>`, netlink(7)): each
//! is asked at the end of every system call, and no process has the number that it asks for.

use pathmeter_probes::sys::{self, nr};

use crate::file::Held;
use crate::refusal::{Refusal, refused, unknown};

/// Kinds of messages.
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const AUDIT_GET: u16 = 1000;
const AUDIT_SET: u16 = 1001;
const AUDIT_ADD_RULE: u16 = 1011;
const AUDIT_LIST_RULES: u16 = 1013;
/// A request, and one that is answered by an error or by 0.
const NLM_F_REQUEST: u32 = 1;
const NLM_F_ACK: u32 = 4;
/// Words of a message's head (`struct nlmsghdr`).
const HEAD: usize = 4;
/// Words of `struct audit_rule_data` without texts.
const RULE: usize = 3 + 64 + 3 * 64 + 1;
/// One more than the largest number that a process can have (`PID_MAX_LIMIT`).
const NO_PROCESS: u32 = 4 << 20;
/// The kernel has no such family of sockets, or none for audit.
const MISSING: [i32; 2] = [93, 97];

/// Enables audit, adds so many rules, and lists them.
#[inline(never)]
pub(crate) fn add(rules: u32) -> Result<Held, Refusal> {
    let socket = Socket::open()?;
    // `struct audit_status`: what is set of it, which is whether it is enabled.
    socket.ask(AUDIT_SET, &[1, 1, 0, 0, 0, 0, 0, 0])?;
    for number in 0..rules {
        socket.ask(AUDIT_ADD_RULE, &rule(NO_PROCESS + 1 + number))?;
    }
    let enabled = socket.is_enabled()?;
    let listed = socket.count_rules()?;
    let _ = sys::close(socket.0);
    if (enabled, listed) != (1, rules) {
        return Err(refused(format_args!(
            "the kernel lists {listed} audit rules, and enabled={enabled}"
        )));
    }
    let plural = if rules == 1 { "" } else { "s" };
    Ok(Held::told(format_args!(
        "the kernel lists {listed} audit rule{plural}, and enabled={enabled}"
    )))
}

/// `-a always,exit -S all -F pid=PROCESS`.
fn rule(process: u32) -> [u32; RULE] {
    const AUDIT_FILTER_EXIT: u32 = 4;
    const AUDIT_ALWAYS: u32 = 2;
    const AUDIT_PID: u32 = 0;
    const AUDIT_EQUAL: u32 = 0x4000_0000;
    let mut rule = [0; RULE];
    let (head, rest) = rule.split_at_mut(3);
    head.copy_from_slice(&[AUDIT_FILTER_EXIT, AUDIT_ALWAYS, 1]);
    let (calls, fields) = rest.split_at_mut(64);
    calls.fill(u32::MAX);
    [fields[0], fields[64], fields[128]] = [AUDIT_PID, process, AUDIT_EQUAL];
    rule
}

/// A socket to the kernel's audit.
struct Socket(usize);

impl Socket {
    fn open() -> Result<Self, Refusal> {
        const AF_NETLINK: usize = 16;
        const SOCK_RAW: usize = 3;
        const NETLINK_AUDIT: usize = 9;
        // SAFETY: takes no pointer.
        let made =
            unsafe { sys::checked(nr::SOCKET, [AF_NETLINK, SOCK_RAW, NETLINK_AUDIT, 0, 0, 0]) };
        made.map(Self).map_err(|error| match error {
            error if MISSING.contains(&error) => {
                unknown("this kernel has no audit (CONFIG_AUDIT), or was booted with audit=0")
            }
            error => refused(format_args!("its audit can't be asked (error {error})")),
        })
    }

    /// Sends a request with these words.
    #[inline(never)]
    fn send(&self, kind: u16, flags: u32, words: &[u32]) -> Result<(), Refusal> {
        let mut message = [0; HEAD + RULE];
        let length = HEAD + words.len();
        message[..2].copy_from_slice(&[length as u32 * 4, u32::from(kind) | flags << 16]);
        message[HEAD..length].copy_from_slice(words);
        // SAFETY: any words are bytes, and as many.
        let bytes =
            unsafe { core::slice::from_raw_parts(message.as_ptr().cast::<u8>(), length * 4) };
        sys::write(self.0, bytes).map(drop).map_err(|error| failed(kind, error))
    }

    /// Sends a request that the kernel only takes or refuses.
    fn ask(&self, kind: u16, words: &[u32]) -> Result<(), Refusal> {
        self.send(kind, NLM_F_REQUEST | NLM_F_ACK, words)?;
        match self.receive(&[])? {
            (_, [0, _]) => Ok(()),
            (_, [error, _]) => Err(failed(kind, positive(error))),
        }
    }

    /// The next message of these kinds, or an error: its kind, and the first two words after its
    /// head.
    #[inline(never)]
    fn receive(&self, wanted: &[u16]) -> Result<(u16, [u32; 2]), Refusal> {
        let mut bytes = [0; (HEAD + RULE) * 4];
        loop {
            sys::read(self.0, &mut bytes).map_err(|error| {
                refused(format_args!("its audit does not answer (error {error})"))
            })?;
            let kind = u16::from_le_bytes([bytes[4], bytes[5]]);
            let word =
                |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| bytes[at * 4 + byte]));
            if wanted.contains(&kind) || kind == NLMSG_ERROR {
                return Ok((kind, [word(HEAD), word(HEAD + 1)]));
            }
        }
    }

    /// Whether audit is enabled, as the kernel has it: the second word of its status.
    fn is_enabled(&self) -> Result<u32, Refusal> {
        self.send(AUDIT_GET, NLM_F_REQUEST, &[])?;
        match self.receive(&[AUDIT_GET])? {
            (AUDIT_GET, [_, enabled]) => Ok(enabled),
            (_, [error, _]) => Err(failed(AUDIT_GET, positive(error))),
        }
    }

    /// How many rules the kernel lists.
    fn count_rules(&self) -> Result<u32, Refusal> {
        self.send(AUDIT_LIST_RULES, NLM_F_REQUEST, &[])?;
        let mut count = 0;
        loop {
            match self.receive(&[AUDIT_LIST_RULES, NLMSG_DONE])? {
                (AUDIT_LIST_RULES, _) => count += 1,
                (NLMSG_DONE, _) => return Ok(count),
                (_, [error, _]) => return Err(failed(AUDIT_LIST_RULES, positive(error))),
            }
        }
    }
}

/// The number of an error, which the kernel negates.
fn positive(error: u32) -> i32 {
    error.cast_signed().wrapping_neg()
}

/// The kernel refuses a request.
#[inline(never)]
fn failed(kind: u16, error: i32) -> Refusal {
    let what = match kind {
        AUDIT_ADD_RULE => "add an audit rule",
        AUDIT_LIST_RULES => "list its audit rules",
        AUDIT_GET => "tell whether its audit is enabled",
        _ => "enable its audit",
    };
    refused(format_args!("the kernel does not {what} (error {error})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_of_all_calls_and_of_one_process_that_can_not_be() {
        let rule = rule(NO_PROCESS + 1);
        assert_eq!(size_of_val(&rule), 1040);
        assert_eq!(rule[..4], [4, 2, 1, u32::MAX]);
        assert_eq!((rule[66], rule[67]), (u32::MAX, 0));
        assert_eq!((rule[67 + 64], rule[67 + 128]), (4_194_305, 0x4000_0000));
    }
}
