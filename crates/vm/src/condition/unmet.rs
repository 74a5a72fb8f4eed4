//! Settings that can't be had in a guest, and why.

use std::fmt;

use pathmeter_wire::message::UnmetCause as Reported;
use serde::{Deserialize, Serialize};

/// A setting that can't be had in the guest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unmet {
    pub setting: String,
    /// Whether the kernel knows it.
    pub cause: UnmetCause,
    /// In words, what the kernel did.
    pub what: String,
    /// What the user can do about it; nothing for what is known of the boot, and so is kept.
    #[serde(skip)]
    pub help: Option<&'static str>,
}

/// Why a setting can't be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UnmetCause {
    /// The kernel does not know it.
    Unknown,
    /// The kernel knows it and refuses the value, or has another one.
    Refused,
    /// In a guest like this one no kernel has it.
    Unseen,
}

/// Kinds of settings whose names are the kernel's: of others a kernel lacks the whole kind.
const SPELLED: [&str; 8] =
    ["boot:", "sysctl:", "cgroup:", "sysfs:", "tracepoint:", "kprobe:", "ftrace:", "module:"];

impl Unmet {
    /// Whether the kernel does not know a name that may be misspelt.
    pub(crate) fn may_be_misspelt(&self) -> bool {
        let is_spelled = SPELLED.iter().any(|kind| self.setting.starts_with(kind));
        self.cause == UnmetCause::Unknown && is_spelled
    }
}

impl From<Reported> for UnmetCause {
    fn from(cause: Reported) -> Self {
        match cause {
            Reported::Unknown => Self::Unknown,
            Reported::Refused => Self::Refused,
        }
    }
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.setting, self.what)
    }
}
