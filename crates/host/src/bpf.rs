//! BPF programs of a condition: where they are attached, as the server of live hosts takes it
//! (`live/src/bpf.rs`). They are the agent's, which do nothing.

use std::fmt;
use std::fs;

use thiserror::Error;

use crate::btf;
use crate::tracepoint::{TracepointError, number};

/// Why there are no programs at a place.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ProgramsError {
    /// This machine's kernel has no such place, or a program there would not be the measured
    /// processes' alone.
    #[error("{0}")]
    Place(String),
    /// This process may not find out.
    #[error("{0}")]
    Refused(String),
}

impl From<String> for ProgramsError {
    fn from(why: String) -> Self {
        Self::Place(why)
    }
}

/// BPF programs that are attached at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Programs {
    /// Their type and what they are attached to, as in `raw_tracepoint:sys_enter`.
    place: String,
    count: u32,
    /// The number of the tracepoint, of the kind of events or of the function; else 0.
    number: u64,
}

impl Programs {
    /// So many at this place of this machine's kernel.
    ///
    /// # Errors
    /// The kernel has no such place, a program there would not be the measured processes' alone, or
    /// this process lacks a right.
    pub fn find(place: &str, count: u32) -> Result<Self, ProgramsError> {
        let (kind, name) = place.split_once(':').unwrap_or((place, ""));
        let number = match kind {
            "tracepoint" => tracepoint(name)?,
            "kprobe" | "kretprobe" => kprobe()?,
            "fentry" | "fexit" | "fmod_ret" => btf::function(name)?.into(),
            "lsm" => {
                has_module()?;
                btf::function(&format!("bpf_lsm_{name}"))?.into()
            }
            "raw_tracepoint" | "xdp" | "tcx" | "netfilter" | "sk_lookup" => 0,
            _ => {
                let why = "it is attached to the group of all processes of the machine";
                return Err(ProgramsError::Place(why.to_owned()));
            }
        };
        Ok(Self { place: place.to_owned(), count, number })
    }

    /// The line that the server reads.
    pub(crate) fn line(&self) -> String {
        format!("{} {} {}\n", self.count, self.number, self.place)
    }
}

impl fmt::Display for Programs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count {
            1 => write!(f, "bpf:{}", self.place),
            count => write!(f, "bpf:{}={count}", self.place),
        }
    }
}

fn tracepoint(name: &str) -> Result<u64, ProgramsError> {
    let (category, event) = name.split_once(':').unwrap_or_default();
    number(category, event).map_err(|error| match error {
        TracepointError::Unknown { .. } => ProgramsError::Place(error.to_string()),
        error => ProgramsError::Refused(error.to_string()),
    })
}

fn kprobe() -> Result<u64, String> {
    let text = fs::read_to_string("/sys/bus/event_source/devices/kprobe/type");
    let number = text.ok().and_then(|text| text.trim().parse().ok());
    number.ok_or_else(|| "this kernel has no kprobes as events (CONFIG_KPROBE_EVENTS)".to_owned())
}

/// Whether BPF is among the security modules: without it the kernel attaches programs to hooks
/// that it never calls.
fn has_module() -> Result<(), ProgramsError> {
    let list = fs::read_to_string("/sys/kernel/security/lsm").map_err(|error| {
        ProgramsError::Refused(format!("/sys/kernel/security/lsm can't be read: {error}"))
    })?;
    if list.trim().split(',').any(|module| module == "bpf") {
        return Ok(());
    }
    Err("bpf is not among the security modules that this machine was booted with (lsm=…,bpf on \
         the kernel's command line, CONFIG_BPF_LSM)"
        .to_owned()
        .into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_shown_as_the_user_writes_them_and_as_the_server_reads_them() {
        let two = Programs::find("raw_tracepoint:sys_enter", 2).unwrap();
        assert_eq!(two.to_string(), "bpf:raw_tracepoint:sys_enter=2");
        assert_eq!(two.line(), "2 0 raw_tracepoint:sys_enter\n");
        let one = Programs::find("xdp:lo", 1).unwrap();
        assert_eq!(one.to_string(), "bpf:xdp:lo");
    }

    #[test]
    fn what_belongs_to_all_processes_is_refused() {
        for place in ["cgroup_skb:ingress", "cgroup_sysctl", "sock_ops"] {
            let refused = Programs::find(place, 1).unwrap_err();
            assert!(matches!(&refused, ProgramsError::Place(_)), "{place}");
            assert!(refused.to_string().contains("all processes"), "{place}");
        }
    }

    /// This holds whatever the machine has.
    #[test]
    fn a_place_that_no_kernel_has_is_refused_with_the_reason() {
        let refused = |place: &str| Programs::find(place, 1).unwrap_err().to_string();
        assert!(refused("tracepoint:sched:no_such").contains("trace"));
        assert!(refused("fentry:no_such_function_here").contains("kernel"));
    }
}
