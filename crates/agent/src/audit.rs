//! Audit rules that match nothing, by the kernel's own socket (`<linux/audit.h>`, netlink(7)): each
//! is asked at the end of every system call, and no process has the number that it asks for.

use pathmeter_probes::sys;

use crate::file::Held;
use crate::netlink::{Message, Socket};
use crate::refusal::{Refusal, kernel_refusal, unknown};

const NETLINK_AUDIT: usize = 9;
/// Kinds of messages of the audit socket.
const AUDIT_GET: u16 = 1000;
const AUDIT_SET: u16 = 1001;
const AUDIT_ADD_RULE: u16 = 1011;
const AUDIT_LIST_RULES: u16 = 1013;
/// A request that is answered by an error or by 0.
const NLM_F_ACK: u16 = 4;
/// Words of `struct audit_rule_data` without texts.
const RULE: usize = 3 + 64 + 3 * 64 + 1;
/// One more than the largest number that a process can have (`PID_MAX_LIMIT`).
const NO_PROCESS: u32 = 4 << 20;

/// Enables audit, adds so many rules, and lists them.
pub(crate) fn add(rules: u32) -> Result<Held, Refusal> {
    let socket = Socket::open(NETLINK_AUDIT, || {
        unknown("this kernel has no audit (CONFIG_AUDIT), or was booted with audit=0")
    })?;
    // `struct audit_status`: what is set of it, which is whether it is enabled.
    let set = |it: &mut Message| it.words(&[1, 1, 0, 0, 0, 0, 0, 0]);
    ask(&socket, AUDIT_SET, NLM_F_ACK, set, Socket::acknowledged)?;
    for number in 0..rules {
        let add_rule = |it: &mut Message| it.words(&rule(NO_PROCESS + 1 + number));
        ask(&socket, AUDIT_ADD_RULE, NLM_F_ACK, add_rule, Socket::acknowledged)?;
    }
    let [_, enabled] = ask(&socket, AUDIT_GET, 0, |_| (), |socket| socket.first(AUDIT_GET))?;
    let listed =
        ask(&socket, AUDIT_LIST_RULES, 0, |_| (), |socket| socket.count(AUDIT_LIST_RULES))?;
    let _ = sys::close(socket.0);
    if (enabled, listed) != (1, rules) {
        return Err(kernel_refusal(format_args!(
            "the kernel lists {listed} audit rules, and enabled={enabled}"
        )));
    }
    let plural = if rules == 1 { "" } else { "s" };
    Ok(Held::from_message(format_args!(
        "the kernel lists {listed} audit rule{plural}, and enabled={enabled}"
    )))
}

/// Sends a request with what `put` puts into it, and takes its answer.
fn ask<T>(
    socket: &Socket,
    kind: u16,
    flags: u16,
    put: impl FnOnce(&mut Message),
    answer: impl FnOnce(&Socket) -> Result<T, i32>,
) -> Result<T, Refusal> {
    let mut message = Message::default();
    message.begin(kind, flags, put);
    socket.send(&message).and_then(|()| answer(socket)).map_err(|error| failed(kind, error))
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

/// The kernel refuses a request.
fn failed(kind: u16, error: i32) -> Refusal {
    let what = match kind {
        AUDIT_ADD_RULE => "add an audit rule",
        AUDIT_LIST_RULES => "list its audit rules",
        AUDIT_GET => "tell whether its audit is enabled",
        _ => "enable its audit",
    };
    kernel_refusal(format_args!("the kernel does not {what} (error {error})"))
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
