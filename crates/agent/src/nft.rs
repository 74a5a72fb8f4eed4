//! nftables rules that match nothing, by the kernel's own socket (`<linux/netfilter/nf_tables.h>`,
//! netlink(7)): each packet that comes in by IPv4 is compared with them all, as by
//!
//! ```text
//! nft add rule ip pathmeter input ip saddr 240.0.0.1 drop
//! ```
//!
//! with a source of its own for each rule, which no packet can have (RFC 1112, section 4).

use pathmeter_probes::sys;

use crate::file::Held;
use crate::netlink::{Message, Socket};
use crate::refusal::{Refusal, kernel_refusal, unknown};

const NETLINK_NETFILTER: usize = 12;
/// Kinds of messages: those that begin and end a batch, and those of nftables.
const BATCH_BEGIN: u16 = 0x10;
const BATCH_END: u16 = 0x11;
const NFTABLES: u16 = 10;
const NEW_TABLE: u16 = NFTABLES << 8;
const NEW_CHAIN: u16 = NFTABLES << 8 | 3;
const NEW_RULE: u16 = NFTABLES << 8 | 6;
const GET_RULE: u16 = NFTABLES << 8 | 7;
/// Flags of a message, beside that it is a request.
const ACK: u16 = 4;
const DUMP: u16 = 0x300;
const CREATE: u16 = 0x400;
const APPEND: u16 = 0x800;
const IPV4: u8 = 2;
const TABLE: &[u8] = b"pathmeter\0";
const CHAIN: &[u8] = b"input\0";
/// How many rules are added in one batch.
const AT_ONCE: u32 = 8;

/// Adds so many rules, and lists them.
pub(crate) fn add(rules: u32) -> Result<Held, Refusal> {
    let socket = Socket::open(NETLINK_NETFILTER, || {
        unknown("this kernel has no nftables, and its file has no module nf_tables")
    })?;
    batch(&socket, |message| {
        message.begin(NEW_TABLE, CREATE, |it| {
            it.head(IPV4, 0);
            it.text(1, TABLE);
        });
        message.begin(NEW_CHAIN, CREATE | ACK, chain);
    })?;
    let mut added = 0;
    while added < rules {
        let next = rules.min(added + AT_ONCE);
        batch(&socket, |message| {
            for number in added..next {
                let last = if number + 1 == next { ACK } else { 0 };
                message.begin(NEW_RULE, CREATE | APPEND | last, |it| rule(it, number));
            }
        })?;
        added = next;
    }
    let listed = count_listed_rules(&socket)?;
    let _ = sys::close(socket.0);
    if listed != rules {
        return Err(kernel_refusal(format_args!("the kernel lists {listed} nftables rules")));
    }
    let plural = if rules == 1 { "" } else { "s" };
    Ok(Held::from_message(format_args!("the kernel lists {listed} nftables rule{plural}")))
}

/// Sends what is put between the begin and the end of a batch, which is made as a whole.
fn batch(socket: &Socket, put: impl FnOnce(&mut Message)) -> Result<(), Refusal> {
    let mut message = Message::default();
    message.begin(BATCH_BEGIN, 0, |it| it.head(0, NFTABLES));
    put(&mut message);
    message.begin(BATCH_END, 0, |it| it.head(0, NFTABLES));
    socket.send(&message).and_then(|()| socket.acknowledged()).map_err(|error| {
        kernel_refusal(format_args!("the kernel does not take nftables rules (error {error})"))
    })
}

/// The chain that each packet for this machine passes, before it is delivered.
fn chain(message: &mut Message) {
    const LOCAL_IN: u32 = 1;
    const PRIORITY: u32 = 0;
    message.head(IPV4, 0);
    message.text(1, TABLE);
    message.text(3, CHAIN);
    message.nest(4, |hook| {
        hook.number(1, LOCAL_IN);
        hook.number(2, PRIORITY);
    });
    message.text(7, b"filter\0");
}

/// Loads the source's address, compares it, and drops the packet if it is this one.
fn rule(message: &mut Message, number: u32) {
    const REGISTER: u32 = 8;
    const VERDICT_REGISTER: u32 = 0;
    const DROP: u32 = 0;
    /// 240.0.0.1.
    const FIRST_SOURCE: u32 = 0xf000_0001;
    message.head(IPV4, 0);
    message.text(1, TABLE);
    message.text(2, CHAIN);
    message.nest(4, |expressions| {
        expression(expressions, b"payload\0", |it| {
            // Of the network's header, four bytes from the twelfth on.
            [REGISTER, 1, 12, 4]
                .into_iter()
                .zip(1..)
                .for_each(|(value, kind)| it.number(kind, value));
        });
        expression(expressions, b"cmp\0", |it| {
            it.number(1, REGISTER);
            it.number(2, 0);
            it.nest(3, |data| data.number(1, FIRST_SOURCE + number));
        });
        expression(expressions, b"immediate\0", |it| {
            it.number(1, VERDICT_REGISTER);
            it.nest(2, |data| data.nest(2, |verdict| verdict.number(1, DROP)));
        });
    });
}

fn expression(list: &mut Message, name: &[u8], data: impl FnOnce(&mut Message)) {
    list.nest(1, |element| {
        element.text(1, name);
        element.nest(2, data);
    });
}

/// Counts the rules that the kernel lists in our chain.
fn count_listed_rules(socket: &Socket) -> Result<u32, Refusal> {
    let mut message = Message::default();
    message.begin(GET_RULE, DUMP, |it| {
        it.head(IPV4, 0);
        it.text(1, TABLE);
        it.text(2, CHAIN);
    });
    let count = socket.send(&message).and_then(|()| socket.count(NEW_RULE));
    count.map_err(|error| {
        kernel_refusal(format_args!("the kernel does not list its rules (error {error})"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_compares_the_source_and_drops() {
        let mut message = Message::default();
        message.begin(NEW_RULE, APPEND, |it| rule(it, 1));
        let bytes = message.bytes();
        assert_eq!(bytes.len(), u32::from_le_bytes(*bytes.first_chunk().unwrap()) as usize);
        assert_eq!(bytes[4..8], [6, 10, 1, 8]);
        // The family, then the attribute with the table's name.
        assert_eq!(bytes[16..24], [2, 0, 0, 0, 14, 0, 1, 0]);
        let at = |text: &[u8]| bytes.windows(text.len()).position(|part| part == text).unwrap();
        let [payload, cmp, immediate] = [&b"payload\0"[..], b"cmp\0", b"immediate\0"].map(at);
        assert!(payload < cmp && cmp < immediate);
        assert!(at(&[240, 0, 0, 2]) > cmp);
        assert!(bytes.len() * AT_ONCE as usize + 40 <= 4096, "a batch fits into a message");
    }
}
