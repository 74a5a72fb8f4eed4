//! The end of what a guest printed on its console.

use std::collections::VecDeque;
use std::fmt;

/// Bytes kept; older ones are dropped.
const KEPT: usize = 16 * 1024;
/// The most lines that are shown.
const LINES: usize = 20;
/// How Linux begins the last words of a kernel.
const PANIC: &str = "Kernel panic - not syncing";

/// The last bytes of a stream, however long it is.
#[derive(Clone, Debug, Default)]
pub struct Tail(VecDeque<u8>);

impl Tail {
    /// Appends what the guest printed.
    pub fn extend(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
        let excess = self.0.len().saturating_sub(KEPT);
        self.0.drain(..excess);
    }

    /// The kernel's words at a panic, if it had one.
    pub(crate) fn panic(&self) -> Option<String> {
        let text = self.text();
        let line = text.lines().find(|line| line.contains(PANIC))?;
        Some(line[line.find(PANIC)?..].to_owned())
    }

    /// The first line of all that is kept for which this holds, without the time before it.
    pub(crate) fn line(&self, holds: impl Fn(&str) -> bool) -> Option<String> {
        let text = self.text();
        let line = text.lines().find(|line| holds(line))?;
        Some(line.rsplit_once("] ").map_or(line, |(_, line)| line).trim().to_owned())
    }

    /// Whether this holds for a line's text after `mark` anywhere.
    pub(crate) fn after(&self, mark: &str, holds: impl Fn(&str) -> bool) -> bool {
        self.text().lines().any(|line| line.split(mark).skip(1).any(&holds))
    }

    /// All that is kept, without what could move a terminal's cursor.
    fn text(&self) -> String {
        let bytes: Vec<u8> = self.0.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        text.chars().filter(|c| *c == '\n' || !c.is_control()).collect()
    }
}

impl fmt::Display for Tail {
    /// The last lines, each indented; nothing if there are none.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text();
        let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        for line in &lines[lines.len().saturating_sub(LINES)..] {
            let cut: String = line.chars().take(200).collect();
            write!(f, "\n  | {cut}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(bytes: &[u8]) -> Tail {
        let mut tail = Tail::default();
        tail.extend(bytes);
        tail
    }

    #[test]
    fn only_the_end_is_kept() {
        let tail = tail(&b"a line\n".repeat(10_000));
        assert_eq!(tail.0.len(), KEPT);
        assert_eq!(tail.to_string().lines().filter(|line| !line.is_empty()).count(), LINES);
    }

    #[test]
    fn escape_sequences_are_defused() {
        assert_eq!(tail(b"\x1b[2Jboo\r\n").to_string(), "\n  | [2Jboo");
    }

    #[test]
    fn a_panic_is_found() {
        let text = b"[ 1.0] Kernel panic - not syncing: Attempted to kill init!\n[ 1.1] CPU: 0\n";
        let said = "Kernel panic - not syncing: Attempted to kill init!";
        assert_eq!(tail(text).panic().as_deref(), Some(said));
        assert_eq!(tail(b"all is well").panic(), None);
    }
}
