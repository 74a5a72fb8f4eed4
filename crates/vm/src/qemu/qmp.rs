//! QEMU's control protocol: JSON objects, one a line (QEMU `docs/interop/qmp-spec`).

use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
use serde_json::{Value, json};

/// Longest line accepted from QEMU, in bytes.
const MAX_LINE: usize = 1 << 20;

/// A message that QEMU sent.
#[derive(Debug, PartialEq)]
pub(crate) enum QmpMessage {
    /// The answer to a command.
    Return(Value),
    /// A command's failure, in QEMU's words.
    Error(String),
    /// QEMU tells that something happened.
    Event { name: String, data: Value },
}

/// The lines of the control channel, as they arrive.
#[derive(Default)]
pub(crate) struct Lines(Vec<u8>);

impl Lines {
    /// Appends bytes that were read.
    pub(crate) fn extend(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Whether a line has grown beyond reason.
    pub(crate) fn overlong(&self) -> bool {
        self.0.len() > MAX_LINE
    }

    /// The next thing said; greetings and unreadable lines are passed over.
    pub(crate) fn next_message(&mut self) -> Option<QmpMessage> {
        while let Some(end) = self.0.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.0.drain(..=end).collect();
            if let Some(said) = serde_json::from_slice(&line).ok().and_then(interpret) {
                return Some(said);
            }
        }
        None
    }
}

fn interpret(mut message: Value) -> Option<QmpMessage> {
    if let Some(value) = message.get_mut("return") {
        return Some(QmpMessage::Return(value.take()));
    }
    if let Some(error) = message.get("error") {
        return Some(QmpMessage::Error(
            error["desc"].as_str().unwrap_or("no reason given").to_owned(),
        ));
    }
    let name = message.get("event")?.as_str()?.to_owned();
    Some(QmpMessage::Event { name, data: message["data"].take() })
}

/// Sends a command, with a descriptor beside it if it takes one.
pub(crate) fn send(
    mut stream: &UnixStream,
    command: &str,
    arguments: &Value,
    descriptor: Option<BorrowedFd<'_>>,
) -> std::io::Result<()> {
    let mut line = json!({ "execute": command, "arguments": arguments }).to_string();
    line.push('\n');
    let Some(descriptor) = descriptor else {
        return stream.write_all(line.as_bytes());
    };
    let descriptors = [descriptor];
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
    let bytes = [std::io::IoSlice::new(line.as_bytes())];
    rustix::net::sendmsg(stream.as_fd(), &bytes, &mut ancillary, SendFlags::empty())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_errors_and_events_are_told_apart() {
        let mut lines = Lines::default();
        lines.extend(
            b"{\"QMP\": {}}\r\n{\"return\": {}}\r\n{\"error\": {\"desc\": \"no\"}}\r\n{\"ev",
        );
        assert_eq!(lines.next_message(), Some(QmpMessage::Return(json!({}))));
        assert_eq!(lines.next_message(), Some(QmpMessage::Error("no".to_owned())));
        assert_eq!(lines.next_message(), None);
        lines.extend(b"ent\": \"STOP\"}\n");
        let stop = QmpMessage::Event { name: "STOP".to_owned(), data: Value::Null };
        assert_eq!(lines.next_message(), Some(stop));
    }

    #[test]
    fn nonsense_is_passed_over() {
        let mut lines = Lines::default();
        lines.extend(b"\x00\xff\n[]\n{\"event\": 7}\n");
        assert_eq!(lines.next_message(), None);
    }
}
