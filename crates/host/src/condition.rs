//! What paths are executed under on a live host: what needs no other boot, and is undone with the
//! process.

/// A condition that the paths are executed under.
#[derive(Debug, Clone, Default)]
pub struct Condition {
    /// What the user called it.
    pub name: String,
    /// A filter of system calls: eight bytes of flags, as an agent's file has them, then
    /// instructions of classic BPF, as the kernel takes them.
    pub filter: Option<Vec<u8>>,
}
