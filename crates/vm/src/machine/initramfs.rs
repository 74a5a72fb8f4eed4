//! What the guest's root file system holds: the agent's programs, its plan, and a console.

use std::collections::{BTreeSet, HashSet};

use pathmeter_image::cpio::{self, Entry};
use pathmeter_wire::{job, plan::Plan};

use crate::Condition;
use crate::cache::entry::sha256;

/// The agent's program that is pid 1, built with this crate.
pub const INIT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/init/pathmeter_init"));

/// The agent's program that executes paths: each perturbed run is a start of it.
pub const PATHS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/paths/pathmeter_paths"));

/// SHA-256 of both programs.
pub fn agent_sha256() -> String {
    sha256(&[INIT, PATHS].concat())
}

/// Paths that may kill the kernel before the rest is given up: each costs a boot.
const MAX_LOST: usize = 4;

/// Whether the path with this index, in which the kernel died, may be left out of the plan too.
pub(crate) fn may_lose(plan: &Plan, index: usize) -> bool {
    plan.skipped().count() < MAX_LOST && !plan.skips(index)
}

/// A program of the user's, as the agent is handed it. No byte string has a NUL in it.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// Perturbed runs.
    pub runs: u32,
    /// Bytes that a file may grow to.
    pub file_limit: u64,
    /// The guest's path of what is executed.
    pub executable: &'a str,
    /// The guest's path of what it reads; nothing if there is none.
    pub stdin: Option<&'a str>,
    /// Its arguments, its own name first.
    pub arguments: &'a [Vec<u8>],
    /// Its environment.
    pub environment: &'a [Vec<u8>],
}

impl Job<'_> {
    /// Whether the agent, and the kernel, take so many arguments and variables.
    pub fn fits(arguments: &[Vec<u8>], environment: &[Vec<u8>]) -> bool {
        let bytes: usize = arguments.iter().chain(environment).map(|word| word.len() + 1).sum();
        let most = arguments.len().max(environment.len());
        most <= job::MAX_WORDS && bytes <= MAX_WORD_BYTES
    }

    /// The job with the program's files, as the agent is handed it.
    pub fn bytes(&self, files: &[Entry<'_>]) -> Vec<u8> {
        let given: HashSet<&str> = files.iter().map(Entry::name).collect();
        let folders = [("dev", 0o755), ("proc", 0o555), ("sys", 0o555), ("tmp", 0o1777)];
        let folders = folders.into_iter().filter(|(name, _)| !given.contains(name));
        let folders = folders.map(|(name, mode)| Entry::Directory { name, mode });
        let mut bytes = Vec::new();
        job::write(
            (self.runs, self.file_limit),
            (self.executable.as_bytes(), self.stdin.unwrap_or_default().as_bytes()),
            [self.arguments, self.environment],
            |piece| bytes.extend_from_slice(piece),
        );
        bytes.append(&mut cpio::archive(&folders.chain(files.iter().copied()).collect::<Vec<_>>()));
        bytes
    }
}

/// Most bytes of arguments and variables together: what else a job has is far less than the rest.
const MAX_WORD_BYTES: usize = job::MAX_JOB - (128 << 10);

/// An initramfs: the same bytes for the same agent, plan and condition, always.
pub struct Initramfs(Vec<u8>);

impl Initramfs {
    /// Packs agent, plan and condition.
    pub fn new(plan: &Plan, condition: &Condition) -> Self {
        let plan = plan.to_string();
        let paths = Entry::File { name: "paths", mode: 0o755, data: PATHS };
        let plan = Entry::File { name: "plan", mode: 0o644, data: plan.as_bytes() };
        Self::of(&[paths, plan], condition, None)
    }

    /// Packs the agent for a program, with the job or without.
    ///
    /// The job comes last, so that where it is, all has arrived.
    fn for_program(condition: &Condition, job: Option<&[u8]>) -> Self {
        let job = job.map(|data| Entry::File { name: "program", mode: 0o644, data });
        Self::of(&[], condition, job)
    }

    /// Packs pid 1's program with its condition, between these files.
    fn of(first: &[Entry<'_>], condition: &Condition, last: Option<Entry<'_>>) -> Self {
        let under = condition.files();
        let folders =
            ["dev", "proc", "sys"].map(|path| Entry::Directory { name: path, mode: 0o755 });
        let console = Entry::CharDevice { name: "dev/console", mode: 0o600, major: 5, minor: 1 };
        let init = Entry::File { name: "init", mode: 0o755, data: INIT };
        let own: BTreeSet<&str> =
            under.iter().filter_map(|(name, _)| name.split_once('/')).map(|it| it.0).collect();
        let own = own.into_iter().map(|name| Entry::Directory { name, mode: 0o755 });
        let under = under.iter().map(|(name, data)| Entry::File { name, mode: 0o644, data });
        let entries =
            folders.into_iter().chain([console, init]).chain(first.iter().copied()).chain(own);
        Self(cpio::archive(&entries.chain(under).chain(last).collect::<Vec<_>>()))
    }

    /// The newc archive.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// What the guest of a program is given. In the job are the program's own files, which the agent
/// unpacks before each run.
pub struct ProgramFiles {
    whole: Initramfs,
    /// What one boots with that is handed the job at READY, and the job.
    in_parts: Option<(Initramfs, Vec<u8>)>,
}

impl ProgramFiles {
    /// The same for the same agent, files, job and condition, always. The job is handed over unless
    /// it is too large, or the condition has to be tried with the program's files.
    pub fn new(files: &[Entry<'_>], job: &Job<'_>, condition: &Condition) -> Self {
        let job = job.bytes(files);
        let whole = Initramfs::for_program(condition, Some(&job));
        let is_handed_over = job.len() <= job::MAX_HANDED && !condition.has_any_of_run();
        let in_parts = is_handed_over.then(|| (Initramfs::for_program(condition, None), job));
        Self { whole, in_parts }
    }

    /// The same with the job in the initramfs, so that QEMU boots with it, as Bochs does.
    #[must_use]
    pub fn in_initramfs(self) -> Self {
        Self { in_parts: None, ..self }
    }

    /// SHA-256 of all of it.
    pub fn sha256(&self) -> String {
        sha256(self.whole.as_bytes())
    }

    /// Whether the job is handed over: guests of other jobs are restored from the same snapshot.
    pub fn is_handed_over(&self) -> bool {
        self.in_parts.is_some()
    }

    /// An initramfs with the job.
    pub(crate) fn whole(&self) -> &Initramfs {
        &self.whole
    }

    /// What the guest boots with, and the job if it is handed that at READY.
    pub(crate) fn parts(&self) -> (&Initramfs, Option<&[u8]>) {
        match &self.in_parts {
            Some((initramfs, job)) => (initramfs, Some(job)),
            None => (&self.whole, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathmeter_catalogue::Suite;

    #[test]
    fn four_paths_may_be_lost_and_none_twice() {
        let mut plan = Plan::new(Suite::Exact, 8);
        for index in 0..MAX_LOST {
            assert!(may_lose(&plan, index));
            plan = plan.without(index);
            assert!(!may_lose(&plan, index));
        }
        assert!(!may_lose(&plan, MAX_LOST));
    }

    #[test]
    fn what_fits_is_a_job_that_the_agent_reads() {
        let words = |count: usize, bytes: usize| vec![vec![b'a'; bytes]; count];
        let read = |arguments: &[Vec<u8>]| {
            let mut text = Vec::new();
            let strings = (&b"/bin/a"[..], &b""[..]);
            job::write((1, 1), strings, [arguments, &[]], |piece| {
                text.extend_from_slice(piece);
            });
            text.len() <= job::MAX_JOB && job::Job::read(&text).is_ok()
        };
        for (arguments, fits) in [
            (words(job::MAX_WORDS, 1), true),
            (words(job::MAX_WORDS, MAX_WORD_BYTES / job::MAX_WORDS - 1), true),
            (words(job::MAX_WORDS + 1, 1), false),
            (words(30, job::MAX_JOB / 30), false),
        ] {
            assert_eq!(Job::fits(&arguments, &[]), fits);
            assert_eq!(read(&arguments), fits);
        }
        assert!(!Job::fits(&words(1, MAX_WORD_BYTES / 2), &words(1, MAX_WORD_BYTES / 2)));
    }

    #[test]
    fn a_job_is_handed_over_if_it_is_small_and_no_condition_needs_it_before() {
        let (words, condition) = ([b"a".to_vec()], Condition::default());
        let job = Job {
            runs: 1,
            file_limit: 1,
            executable: "/a",
            stdin: None,
            arguments: &words,
            environment: &[],
        };
        let files = |data: &[u8], condition: &Condition| {
            let entry = Entry::File { name: "a", mode: 0o755, data };
            ProgramFiles::new(&[entry], &job, condition)
        };
        let small = files(b"1", &condition);
        let (initramfs, handed) = small.parts();
        let ends = |archive: &[u8], job: &[u8]| archive.windows(job.len()).any(|it| it == job);
        assert!(ends(small.whole().as_bytes(), handed.unwrap()));
        assert!(!ends(initramfs.as_bytes(), handed.unwrap()));
        let other = files(b"2", &condition);
        assert_eq!(other.parts().0.as_bytes(), initramfs.as_bytes(), "one boot serves both");
        assert_ne!(other.sha256(), small.sha256());
        let large = files(&vec![0; job::MAX_HANDED], &condition);
        let parse = |text| Condition::parse(text, &|_: &str| Err(String::new())).unwrap();
        let tried = files(b"1", &parse("uprobe:/a:main"));
        let not_tried = files(b"1", &parse("sysctl:a.b=1"));
        assert_eq!(
            [&large, &tried, &not_tried].map(|it| it.parts().1.is_some()),
            [false, false, true]
        );
        assert_eq!(large.parts().0.as_bytes(), large.whole().as_bytes());
    }

    #[test]
    fn the_agents_programs_are_static_x86_64_executables() {
        for program in [INIT, PATHS] {
            // ELF64, little endian; ET_EXEC; EM_X86_64.
            assert_eq!(&program[..6], b"\x7fELF\x02\x01");
            assert_eq!(&program[16..20], &[2, 0, 62, 0]);
            // A dynamic program would name its interpreter.
            assert!(!program.windows(7).any(|bytes| bytes == b"ld-linu"));
        }
    }

    #[test]
    fn nothing_of_conditions_is_in_the_program_that_executes_paths() {
        let names = |program: &[u8]| program.windows(8).any(|bytes| bytes == b"nftables");
        assert!(names(INIT) && !names(PATHS));
    }

    #[test]
    fn the_same_plan_gives_the_same_bytes() {
        let plan = Plan::new(Suite::Exact, 8);
        let packed = |condition| Initramfs::new(&plan, condition);
        let default = Condition::default();
        assert_eq!(packed(&default).as_bytes(), packed(&default).as_bytes());
        let other = Condition::parse("sysctl:a.b=1", &|_: &str| Err(String::new())).unwrap();
        assert_ne!(packed(&default).as_bytes(), packed(&other).as_bytes());
    }
}
