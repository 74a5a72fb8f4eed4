//! What the rest of this crate needs to know of the guest's architecture. There is one yet.

mod x86_64;

pub(crate) use x86_64::arch_capabilities::{Supply, places};
pub use x86_64::boot::Firmware;
#[cfg(test)]
pub(crate) use x86_64::boot::any_boot;
pub(crate) use x86_64::boot::{loaded, vmlinux};
pub(crate) use x86_64::cpu::named_since;
pub use x86_64::cpu::{
    CPU_SCHEMA, Cpu, CpuFile, CpuFileError, CpuidRegister, FEATURES, FeatureWord, KnownStates,
    Lack, Looked, NAMES, PROFILES, Priced, Profile, Sourced, ValueFrom,
};
pub(crate) use x86_64::doubt::Doubt;
pub use x86_64::help::LACKS_HELP;
pub(crate) use x86_64::help::{
    ASK_HELP, BOOT_HELP, DOUBTED_BOOT_HELP, DOUBTED_HELP, INSTALL_HELP, OLD_HELP,
    OTHER_MACHINE_HELP, PORT_HELP, PORT_IN_PROGRAM_HELP, START_HELP, UNANSWERED,
};
pub(crate) use x86_64::looked_for::KNOWN_TO_AGENT;
pub use x86_64::looked_for::find_own_words;
pub use x86_64::machine::FIRMWARE;
pub(crate) use x86_64::machine::{
    ASKS_PROPERTIES, COMMAND_LINE, CONTROL_DEVICE, DEFAULT_CPU, LEFT_OUT, MACHINE, MACHINE_MEANS,
    MACHINE_NAME, OWN_WORDS, PORT_DEVICE, PROGRAM, READBACK,
};
