//! A program of the user's, packed: the first files of a guest that runs it, its functions that can
//! be regions, and the memory that it needs.
//!
//! Contract: what executes is the program as it was packed and nothing else.

use std::collections::BTreeMap;
use std::path::Path;

use pathmeter_image::cpio::Entry;
use pathmeter_model::{Ended, Measurement, Program};
use pathmeter_pack::{Packed, PackedEntry, file_offset, functions};
use pathmeter_trace::ProgramFunction;
use pathmeter_vm::{Condition, Job, Parcel};
use wildmatch::WildMatch;

use crate::digest::sha256;
use crate::error::MeasureError;

/// MiB of memory that a guest needs beside what is packed: a kernel, and a program of usual size.
const BASE_MIB: u64 = 256;
/// How many times the archive a guest needs: as the agent has it, unpacked in the run's root, and
/// as much again of each, since either may take half of its memory (Linux `mm/shmem.c`). If the job
/// is in the initramfs, the kernel needs it twice while it boots: packed, and in the agent's root.
const TIMES_ARCHIVE: u64 = 4;
/// Memory comes in steps of this, so that a small change of the program does not change it.
const STEP_MIB: u64 = 128;
/// Most memory in MiB: microvm has all of it below this address.
const MOST_MIB: u64 = 3072;

/// A regular file that is packed.
pub(crate) struct PackedFile<'a> {
    /// Its path in the guest, without the `/` at its beginning.
    pub(crate) name: &'a str,
    pub(crate) data: &'a [u8],
    /// Where the host has it, if it was taken from there.
    pub(crate) source: Option<&'a Path>,
}

/// A program, packed, and how it is to be run.
pub struct PackedProgram {
    packed: Packed,
    /// The program, as documents name it.
    pub(crate) program: Program,
    /// How many runs there are, the first included.
    runs: u32,
    /// The exit code that makes a run of it a measurement.
    pub(crate) expected: u8,
    /// Bytes that a file may grow to.
    file_limit: u64,
}

impl PackedProgram {
    /// For a first run and so many later ones in a guest of so much memory, in MiB; each run must
    /// end with the exit code `expected`.
    pub fn new(packed: Packed, later: u32, memory_mib: u32, expected: u8) -> Self {
        let text = |words: &[Vec<u8>]| -> Vec<String> {
            words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect()
        };
        let mut this = Self {
            program: Program {
                command: text(&packed.arguments),
                environment: text(&packed.environment),
                packed_sha256: String::new(),
                files: packed.files,
                bytes: packed.bytes,
                modules: Vec::new(),
                windows: Vec::new(),
                process: None,
                benchmarks: None,
            },
            packed,
            runs: later + 1,
            expected,
            file_limit: u64::from(memory_mib) << 18,
        };
        // Modules belong to the kernel: the same program has the same hash on all of them.
        this.program.packed_sha256 = this.parcel_under(&Condition::default()).sha256();
        this
    }

    /// That the guest takes all its arguments and variables.
    ///
    /// # Errors
    /// There are too many, or they are too long.
    pub fn check(&self) -> Result<(), MeasureError> {
        let Packed { arguments, environment, .. } = &self.packed;
        if Job::fits(arguments, environment) {
            return Ok(());
        }
        Err(MeasureError::Request {
            message: format!(
                "{} arguments and {} variables exceed the guest's limits in number or length",
                arguments.len(),
                environment.len()
            ),
            help: "a program may have at most 16,384 of either, and less than 2 MiB of both: \
                   --file gives it a file with the rest"
                .to_owned(),
        })
    }

    /// The functions of the program that match one of `patterns`.
    ///
    /// # Errors
    /// None matches one of them, or more do than can be told apart.
    pub fn regions(&self, patterns: &[String]) -> Result<Vec<ProgramFunction>, MeasureError> {
        let name = self.packed.executable.trim_start_matches('/');
        let executable = self.packed.entries.iter().find_map(|entry| match entry {
            PackedEntry::File { name: file, data, .. } if file == name => Some(data.as_slice()),
            _ => None,
        });
        let mut found: Vec<ProgramFunction> = Vec::new();
        for pattern in patterns {
            let matcher = WildMatch::new(pattern);
            let functions = functions(executable.unwrap_or_default(), |name| matcher.matches(name));
            if functions.is_empty() {
                return Err(MeasureError::Request {
                    message: format!("{name} has no function {pattern}"),
                    help: "its symbol table must have it (`nm`): a stripped program has none, and \
                           a compiler may have inlined it"
                        .to_owned(),
                });
            }
            found.extend(functions.into_iter().map(|function| ProgramFunction {
                name: plain(&function.name),
                in_page: function.in_page,
                bytes: function.bytes,
            }));
        }
        if found.len() > MOST_FUNCTIONS {
            return Err(MeasureError::Request {
                message: format!("{} functions of {name} match", found.len()),
                help: format!("name at most {MOST_FUNCTIONS} of them"),
            });
        }
        Ok(found)
    }

    /// Whether this is a result of it, as it has to end.
    pub(crate) fn is_of(&self, result: &Measurement) -> bool {
        let program = result.configuration.program.as_ref();
        program.is_some_and(|it| it.packed_sha256 == self.program.packed_sha256)
            && result.execution.as_ref().is_some_and(|it| it.ended == Ended::Code(self.expected))
    }

    /// The hash of all files that are packed for it.
    pub fn sha256(&self) -> &str {
        &self.program.packed_sha256
    }

    /// SHA-256 of each file that is packed, by its path in the guest.
    pub fn file_hashes(&self) -> BTreeMap<String, String> {
        let hash = |entry: &PackedEntry| match entry {
            PackedEntry::File { name, data, .. } => Some((name.clone(), sha256(data))),
            _ => None,
        };
        self.packed.entries.iter().filter_map(hash).collect()
    }

    /// Each regular file that is packed.
    pub(crate) fn files(&self) -> impl Iterator<Item = PackedFile<'_>> {
        let source = |name: &str| self.packed.sources.get(name).map(|source| &**source);
        self.packed.entries.iter().filter_map(move |entry| match entry {
            PackedEntry::File { name, data, .. } => {
                Some(PackedFile { name, data, source: source(name) })
            }
            _ => None,
        })
    }

    /// The program and its arguments, as documents have them.
    pub fn command(&self) -> &[String] {
        &self.program.command
    }

    /// Perturbed runs, the first one included.
    pub fn runs(&self) -> u32 {
        self.runs
    }

    /// A condition whose uprobes have their offsets in the program's files.
    ///
    /// # Errors
    /// A file that is not packed, or has no such function.
    pub(crate) fn with_offsets(&self, condition: &Condition) -> Result<Condition, MeasureError> {
        let refused = |file: &str, symbol: &str, what: String, help: &str| MeasureError::Request {
            message: format!("uprobe:{file}:{symbol}: {what}"),
            help: help.to_owned(),
        };
        condition.with_offsets(|file, symbol| {
            let data = self.packed.file(file).ok_or_else(|| {
                let what = "the program's guest has no such file".to_owned();
                refused(file, symbol, what, "name the program or a library of it, as in the guest")
            })?;
            file_offset(data, symbol).map_err(|count| {
                let what = match count {
                    0 => "the file has no such function".to_owned(),
                    count => format!("the file has {count} functions of this name"),
                };
                refused(file, symbol, what, "`nm` and `nm -D` list its functions")
            })
        })
    }

    /// What its guest is given, under this condition.
    pub fn parcel_under(&self, condition: &Condition) -> Parcel {
        let entries: Vec<Entry<'_>> = self.packed.entries.iter().map(entry).collect();
        let job = Job {
            runs: self.runs,
            file_limit: self.file_limit,
            executable: &self.packed.executable,
            stdin: self.packed.stdin.as_deref(),
            arguments: &self.packed.arguments,
            environment: &self.packed.environment,
        };
        Parcel::of_program(&entries, &job, condition)
    }
}

/// Functions that can be regions at a time; `plugin/program/functions.h` has as many.
const MOST_FUNCTIONS: usize = 1024;
/// Longest name of a region, in bytes.
const LONGEST_NAME: usize = 63;

/// A symbol as a region's name: its beginning, without white space.
fn plain(symbol: &str) -> String {
    let allowed = |c: char| if c.is_ascii_graphic() { c } else { '_' };
    symbol.chars().map(allowed).take(LONGEST_NAME).collect()
}

/// MiB of memory that a guest needs for files of so many bytes.
pub fn memory_for(bytes: u64) -> u32 {
    let mib = BASE_MIB + TIMES_ARCHIVE * bytes.div_ceil(1 << 20);
    u32::try_from(mib.next_multiple_of(STEP_MIB).min(MOST_MIB)).unwrap_or(u32::MAX)
}

/// A file, as archives have it.
pub(crate) fn entry(entry: &PackedEntry) -> Entry<'_> {
    match entry {
        PackedEntry::Directory { name, mode } => Entry::Directory { name, mode: *mode },
        PackedEntry::File { name, mode, data } => Entry::File { name, mode: *mode, data },
        PackedEntry::Symlink { name, target } => Entry::Symlink { name, target },
    }
}
