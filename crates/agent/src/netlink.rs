//! Messages to the kernel and back by its sockets for them (netlink(7), `<linux/netlink.h>`).

use pathmeter_probes::sys::{self, nr};

use crate::refusal::{Refusal, kernel_refusal};

/// Longest message, and most that is received at once.
const MAX_MESSAGE: usize = 4096;
/// Bytes of a message's head (`struct nlmsghdr`), and of an attribute's (`struct nlattr`).
const HEAD: usize = 16;
const REQUEST: u16 = 1;
const NESTED: u16 = 0x8000;
const ERROR: u16 = 2;
const DONE: u16 = 3;
/// The kernel has no such family of sockets, or none for this purpose.
const MISSING: [i32; 2] = [93, 97];

/// One or more messages; what does not fit is left out, and the kernel refuses the rest.
pub(crate) struct Message {
    bytes: [u8; MAX_MESSAGE],
    length: usize,
}

impl Default for Message {
    fn default() -> Self {
        Self { bytes: [0; MAX_MESSAGE], length: 0 }
    }
}

impl Message {
    /// A message of this kind, with what `put` puts into it.
    pub(crate) fn begin(&mut self, kind: u16, flags: u16, put: impl FnOnce(&mut Self)) {
        let begin = self.length;
        self.put(&[0; HEAD]);
        put(self);
        self.end(begin, kind, flags | REQUEST);
    }

    #[inline(never)]
    fn end(&mut self, begin: usize, kind: u16, flags: u16) {
        let length = (self.length - begin) as u32;
        self.write(begin, &length.to_le_bytes());
        self.write(begin + 4, &kind.to_le_bytes());
        self.write(begin + 6, &flags.to_le_bytes());
    }

    /// The head of a netfilter's message (`struct nfgenmsg`).
    pub(crate) fn head(&mut self, family: u8, resource: u16) {
        let [high, low] = resource.to_be_bytes();
        self.put(&[family, 0, high, low]);
    }

    /// Words in this machine's order of bytes.
    #[inline(never)]
    pub(crate) fn words(&mut self, words: &[u32]) {
        for word in words {
            self.put(&word.to_le_bytes());
        }
    }

    /// An attribute that is a number, in the network's order of bytes.
    pub(crate) fn number(&mut self, kind: u16, value: u32) {
        self.text(kind, &value.to_be_bytes());
    }

    /// An attribute of these bytes.
    #[inline(never)]
    pub(crate) fn text(&mut self, kind: u16, bytes: &[u8]) {
        self.attribute(kind, |it| it.put(bytes));
    }

    /// An attribute that holds those that `put` adds.
    pub(crate) fn nest(&mut self, kind: u16, put: impl FnOnce(&mut Self)) {
        self.attribute(kind | NESTED, put);
    }

    fn attribute(&mut self, kind: u16, put: impl FnOnce(&mut Self)) {
        let begin = self.length;
        self.put(&[0; 4]);
        put(self);
        self.end_attribute(begin, kind);
    }

    #[inline(never)]
    fn end_attribute(&mut self, begin: usize, kind: u16) {
        let length = (self.length - begin) as u16;
        self.write(begin, &length.to_le_bytes());
        self.write(begin + 2, &kind.to_le_bytes());
        // The next one begins at a multiple of four.
        let padding = self.length.next_multiple_of(4) - self.length;
        self.put(&[0; 3][..padding]);
    }

    #[inline(never)]
    fn put(&mut self, bytes: &[u8]) {
        let end = (self.length + bytes.len()).min(MAX_MESSAGE);
        self.write(self.length, bytes);
        self.length = end;
    }

    fn write(&mut self, at: usize, bytes: &[u8]) {
        let places = self.bytes.iter_mut().skip(at);
        places.zip(bytes).for_each(|(place, byte)| *place = *byte);
    }
}

#[cfg(test)]
impl Message {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// The first attribute of this kind in a list.
pub(crate) fn attribute(mut list: &[u8], wanted: u16) -> Option<&[u8]> {
    while let Some(([a, b, c, d], rest)) = list.split_first_chunk() {
        let length = usize::from(u16::from_le_bytes([*a, *b])).saturating_sub(4);
        if u16::from_le_bytes([*c, *d]) & !NESTED == wanted {
            return rest.get(..length);
        }
        list = rest.get(length.next_multiple_of(4)..)?;
    }
    None
}

/// A socket to one of the kernel's families of messages.
pub(crate) struct Socket(pub(crate) usize);

impl Socket {
    /// A socket to this family; `absent` tells that the kernel has none.
    pub(crate) fn open(family: usize, absent: impl FnOnce() -> Refusal) -> Result<Self, Refusal> {
        const AF_NETLINK: usize = 16;
        const SOCK_RAW: usize = 3;
        // SAFETY: takes no pointer.
        let made = unsafe { sys::checked(nr::SOCKET, [AF_NETLINK, SOCK_RAW, family, 0, 0, 0]) };
        made.map(Self).map_err(|error| match error {
            error if MISSING.contains(&error) => absent(),
            error => {
                kernel_refusal(format_args!("the kernel has no socket for it (error {error})"))
            }
        })
    }

    #[inline(never)]
    pub(crate) fn send(&self, message: &Message) -> Result<(), i32> {
        sys::write(self.0, &message.bytes[..message.length]).map(drop)
    }

    /// Waits for the answer to a message that wants one: the first error, if there is one.
    pub(crate) fn acknowledged(&self) -> Result<(), i32> {
        self.answers(|_, _| None)
    }

    /// The first two words of the first answer of this kind.
    pub(crate) fn first(&self, wanted: u16) -> Result<[u32; 2], i32> {
        self.answer(wanted, |bytes| {
            let (first, rest) = bytes.split_first_chunk()?;
            Some([*first, *rest.first_chunk()?].map(u32::from_le_bytes))
        })
    }

    /// What `read` makes of the first answer of this kind that it can read.
    pub(crate) fn answer<T: Default>(
        &self,
        wanted: u16,
        mut read: impl FnMut(&[u8]) -> Option<T>,
    ) -> Result<T, i32> {
        let mut found = T::default();
        self.answers(|kind, bytes| {
            found = Some(bytes).filter(|_| kind == wanted).and_then(&mut read)?;
            Some(())
        })?;
        Ok(found)
    }

    /// How many messages of this kind are answered until the last.
    pub(crate) fn count(&self, wanted: u16) -> Result<u32, i32> {
        let mut count = 0;
        self.answers(|kind, _| {
            count += u32::from(kind == wanted);
            (kind == DONE).then_some(())
        })?;
        Ok(count)
    }

    /// Hands each answer's kind and bytes to `take`, until it has what it wants, or an error or an
    /// acknowledgement comes.
    fn answers(&self, mut take: impl FnMut(u16, &[u8]) -> Option<()>) -> Result<(), i32> {
        let mut bytes = [0; MAX_MESSAGE];
        loop {
            let received = sys::read(self.0, &mut bytes)?;
            let mut rest = &bytes[..received];
            while let Some((head, after)) = rest.split_at_checked(HEAD) {
                let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
                let kind = u16::from_le_bytes([head[4], head[5]]);
                if kind == ERROR {
                    let error = after.first_chunk().map_or(0, |error| i32::from_le_bytes(*error));
                    return if error == 0 { Ok(()) } else { Err(-error) };
                }
                let body = length.saturating_sub(HEAD).min(after.len());
                if take(kind, &after[..body]).is_some() {
                    return Ok(());
                }
                rest = rest.get(length.max(HEAD).next_multiple_of(4)..).unwrap_or_default();
            }
        }
    }
}
