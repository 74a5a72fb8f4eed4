//! x86-64 guests.

pub(crate) mod arch_capabilities;
pub(crate) mod boot;
pub(crate) mod cpu;
pub(crate) mod doubt;
pub(crate) mod help;
pub(crate) mod looked_for;
pub(crate) mod machine;
pub(crate) mod register;
