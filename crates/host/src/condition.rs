//! What paths are executed under on a live host: what needs no other boot, and is undone with the
//! process.

use std::fmt;

use crate::bpf::Programs;
use crate::cgroup::Limit;

/// I/O ports that there are: a condition may permit all of them.
const PORTS: u32 = 1 << 16;

/// A condition that the paths are executed under.
#[derive(Debug, Clone, Default)]
pub struct Condition {
    /// What the user called it.
    pub name: String,
    /// What processes restrain themselves by, as an agent's file has it: eight bytes with the
    /// filter's flags and the number of Landlock's layers, then the filter of system calls, as
    /// instructions of classic BPF.
    pub restraint: Option<Vec<u8>>,
    /// Processes may use the I/O ports below this one; 0 is none.
    pub ports: u32,
    /// The number in tracefs of a tracepoint that is counted in each process; 0 is none.
    pub tracepoint: u64,
    /// Limits of a control group that processes are in; without any they are in none of their own.
    pub limits: Vec<Limit>,
    /// BPF programs that are attached while a process is executed.
    pub programs: Vec<Programs>,
    /// What a reader must know of it, in words.
    pub notes: Vec<String>,
}

impl Condition {
    /// Nothing that a process does not have by itself.
    pub fn none() -> Self {
        Self { name: "default".to_owned(), ..Self::default() }
    }
}

/// A setting that only processes of a live host have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Setting {
    /// They may use the I/O ports below this one.
    Ports(u32),
    /// They are counted at a tracepoint.
    Tracepoint {
        /// Its category, a folder of tracefs.
        category: String,
        /// Its name in that folder.
        event: String,
    },
}

impl Setting {
    /// What they begin with, before a colon.
    pub const KINDS: [&str; 2] = ["ioports", "perf"];

    /// Reads one; None if the word begins otherwise than those of live hosts do.
    ///
    /// # Errors
    /// It does, and does not go on like one of them.
    pub fn parse(word: &str) -> Option<Result<Self, String>> {
        match word.split_once(':')? {
            ("ioports", end) => Some(ports(end)),
            ("perf", name) => Some(tracepoint(name)),
            _ => None,
        }
    }

    /// Whether it sets what the other one sets.
    pub fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

fn ports(end: &str) -> Result<Setting, String> {
    let number = end.parse().ok().filter(|end| (1..=PORTS).contains(end));
    number.map(Setting::Ports).ok_or_else(|| {
        format!("ioports:{end}: a number of I/O ports, counted from port 0, is 1 to {PORTS}")
    })
}

fn tracepoint(name: &str) -> Result<Setting, String> {
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
    };
    match name.split_once(':') {
        Some((category, event)) if is_name(category) && is_name(event) => {
            Ok(Setting::Tracepoint { category: category.to_owned(), event: event.to_owned() })
        }
        _ => Err(format!("perf:{name}: a tracepoint is GROUP:EVENT, such as sched:sched_switch")),
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ports(end) => write!(f, "ioports:{end}"),
            Self::Tracepoint { category, event } => write!(f, "perf:{category}:{event}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_of_live_hosts_is_shown_as_it_is_read() {
        for word in ["ioports:1", "ioports:65536", "perf:sched:sched_switch"] {
            assert_eq!(Setting::parse(word).unwrap().unwrap().to_string(), word);
        }
        for other in ["boot:nopti", "seccomp:docker", "default"] {
            assert_eq!(Setting::parse(other), None);
        }
    }

    #[test]
    fn what_is_no_number_of_ports_and_no_tracepoint_is_refused() {
        for word in ["ioports:", "ioports:0", "ioports:65537", "ioports:0x80"] {
            assert!(Setting::parse(word).unwrap().unwrap_err().contains("1 to 65536"));
        }
        for word in ["perf:sched", "perf::a", "perf:a:", "perf:..:a"] {
            assert!(Setting::parse(word).unwrap().unwrap_err().contains("GROUP:EVENT"));
        }
    }
}
