//! Programs of this machine that a guest executes before anything is measured, as their files.

use std::path::PathBuf;
use std::sync::Arc;

use pathmeter_pack::Packed;
use pathmeter_vm::Job;

use crate::program::packed::entry;

/// Where programs are that only root needs, beside those on PATH.
const OF_ROOT: &str = "/usr/local/sbin:/usr/sbin:/sbin";

/// Where this machine has the program, which is in this package of Debian's.
///
/// # Errors
/// It has none.
pub(crate) fn program(name: &str, package: &str) -> Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(std::env::split_paths(OF_ROOT));
    let mut places = folders.map(|folder| folder.join(name));
    places
        .find(|place| place.is_file())
        .ok_or_else(|| format!("this machine has no {name}, which it needs (Debian: {package})"))
}

/// The file that has the program for the agent.
pub(crate) fn job(packed: &Packed) -> Arc<[u8]> {
    let entries: Vec<_> = packed.entries.iter().map(entry).collect();
    let job = Job {
        runs: 1,
        file_limit: 0,
        executable: &packed.executable,
        stdin: None,
        arguments: &packed.arguments,
        environment: &packed.environment,
    };
    Arc::from(job.bytes(&entries))
}
