//! The running kernel's own types.

use std::fs;
use std::io::ErrorKind;

use pathmeter_probes::btf::{NONE, find};

const FILE: &str = "/sys/kernel/btf/vmlinux";

/// The number of the running kernel's function with this name.
pub(crate) fn function(name: &str) -> Result<u32, String> {
    let types = fs::read(FILE).map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            "this kernel has no types of its own (CONFIG_DEBUG_INFO_BTF)".to_owned()
        }
        _ => format!("{FILE} can't be read: {error}"),
    })?;
    match find(&types, name.as_bytes()) {
        Some(NONE) => Err("this kernel's types have no such function".to_owned()),
        Some(number) => Ok(number),
        None => Err(format!("{FILE} has types of a form that is not known here")),
    }
}
