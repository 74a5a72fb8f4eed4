//! The code that a program's JITs made in a run, as their perf maps name it.

use std::collections::BTreeMap;

use pathmeter_pack::PerfMap;
use pathmeter_trace::{BlockFunction, UnusedDebug};
use pathmeter_vm::PerfMapFile;

/// What names of code that is in no file are followed by, in the place of a file.
const MODULE: &str = "JIT";

/// The code of all processes of a run.
#[derive(Default)]
pub(crate) struct JitCode {
    /// The maps, by the process's number.
    maps: BTreeMap<u64, PerfMap>,
    /// What could not be read.
    pub(crate) unused: Vec<UnusedDebug>,
}

impl JitCode {
    /// Reads the perf maps of a run.
    pub(crate) fn read<'a>(files: impl Iterator<Item = &'a PerfMapFile>) -> Self {
        let mut code = Self::default();
        for file in files {
            let map = PerfMap::read(&file.bytes);
            code.unused.extend(find_unread(file, &map).map(|reason| UnusedDebug {
                file: MODULE.to_owned(),
                debug_file: Some(format!("/tmp/perf-{}.map", file.process)),
                reason,
            }));
            code.maps.insert(file.process, map);
        }
        code
    }

    /// The function that a process has at this address.
    pub(crate) fn function(&self, process: u64, address: u64) -> Option<BlockFunction> {
        let function = self.maps.get(&process)?.function_at(address)?;
        Some(BlockFunction {
            name: function.name.clone(),
            module: Some(MODULE.to_owned()),
            offset: address - function.address,
            address,
        })
    }
}

/// What of a perf map names nothing.
fn find_unread(file: &PerfMapFile, map: &PerfMap) -> Option<String> {
    let read = file.bytes.len() as u64;
    if read < file.total {
        return Some(format!("of its {} bytes {read} could be read", file.total));
    }
    let lines = map.unread;
    (lines > 0).then(|| format!("{lines} of its lines are not START SIZE NAME"))
}
