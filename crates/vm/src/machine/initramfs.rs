//! What the guest's root file system holds: the agent's programs and a console, and the parcel.

use std::collections::{BTreeSet, HashSet};

use pathmeter_image::cpio::{self, Entry};
use pathmeter_wire::{job, parcel, plan::Plan};

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

/// Paths that may kill the kernel before the rest is given up: each costs all that was run.
const MAX_LOST: usize = 4;

/// Whether the path with this index, in which the kernel died, may be left out of the plan too,
/// after so many that were `lost`.
pub(crate) fn may_lose(plan: &Plan, lost: usize, index: usize) -> bool {
    lost < MAX_LOST && !plan.skips(index)
}

/// A program of the user's, as the agent is handed it. No byte string has a NUL in it.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// How many perturbed runs are made.
    pub runs: u32,
    /// Bytes that a file may grow to.
    pub file_limit: u64,
    /// The guest's path of what is executed.
    pub executable: &'a str,
    /// The guest's path of what it reads; nothing if there is none.
    pub stdin: Option<&'a str>,
    /// Its arguments, its own name first.
    pub arguments: &'a [Vec<u8>],
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

/// What a guest is to do, and under which condition: the same for the same condition, plan or
/// program, always.
pub struct Parcel {
    /// By their paths; the plan or the program is the last.
    files: Vec<(String, Vec<u8>)>,
    in_initramfs: bool,
}

impl Parcel {
    /// For the paths of this plan.
    pub fn of_paths(plan: &Plan, condition: &Condition) -> Self {
        Self::of(("plan", plan.to_string().into_bytes()), condition)
    }

    /// For a program with these files, which the agent unpacks before each run.
    pub fn of_program(files: &[Entry<'_>], job: &Job<'_>, condition: &Condition) -> Self {
        Self::of((parcel::PROGRAM, job.bytes(files)), condition)
    }

    fn of(last: (&str, Vec<u8>), condition: &Condition) -> Self {
        let under = condition.files().into_iter().map(|(name, data)| (name, data.into_owned()));
        let files: Vec<_> = under.chain([(last.0.to_owned(), last.1)]).collect();
        let in_initramfs = cpio::archive(&entries(&files)).len() > parcel::MAX_PARCEL;
        Self { files, in_initramfs }
    }

    /// The same, as a part of the initramfs: for a guest that is not restored.
    #[must_use]
    pub fn in_initramfs(self) -> Self {
        Self { in_initramfs: true, ..self }
    }

    /// SHA-256 of an initramfs with all of it.
    pub fn sha256(&self) -> String {
        sha256(&self.whole())
    }

    /// Whether it is handed over: guests with other parcels are restored from the same snapshot.
    pub fn is_handed_over(&self) -> bool {
        !self.in_initramfs
    }

    /// What is handed over, if it is.
    pub(crate) fn handed(&self) -> Option<Vec<u8>> {
        self.is_handed_over().then(|| cpio::archive(&entries(&self.files)))
    }

    /// The initramfs that the guest boots with.
    pub(crate) fn initramfs(&self) -> Vec<u8> {
        if self.in_initramfs { self.whole() } else { initramfs(&[]) }
    }

    /// An initramfs with all of it.
    pub(crate) fn whole(&self) -> Vec<u8> {
        initramfs(&entries(&self.files))
    }
}

/// A parcel's files, and their folders before them.
fn entries(files: &[(String, Vec<u8>)]) -> Vec<Entry<'_>> {
    let folders: BTreeSet<&str> =
        files.iter().filter_map(|(name, _)| name.split_once('/')).map(|it| it.0).collect();
    let folders = folders.into_iter().map(|name| Entry::Directory { name, mode: 0o755 });
    let files = files.iter().map(|(name, data)| Entry::File { name, mode: 0o644, data });
    folders.chain(files).collect()
}

/// Packs the agent and these files.
fn initramfs(files: &[Entry<'_>]) -> Vec<u8> {
    let folders = ["dev", "proc", "sys"].map(|path| Entry::Directory { name: path, mode: 0o755 });
    let console = Entry::CharDevice { name: "dev/console", mode: 0o600, major: 5, minor: 1 };
    let program = |name, data| Entry::File { name, mode: 0o755, data };
    let agent = [console, program("init", INIT), program("paths", PATHS)];
    let last = Entry::File { name: parcel::LAST, mode: 0o644, data: b"" };
    let entries = folders.into_iter().chain(agent).chain(files.iter().copied()).chain([last]);
    cpio::archive(&entries.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathmeter_probes::Suite;

    #[test]
    fn four_paths_may_be_lost_and_none_twice() {
        let mut plan = Plan::new(Suite::Exact, 8);
        for index in 0..MAX_LOST {
            assert!(may_lose(&plan, index, index));
            plan = plan.without(index);
            assert!(!may_lose(&plan, index, index));
        }
        assert!(!may_lose(&plan, MAX_LOST, MAX_LOST));
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
    fn a_parcel_is_handed_over_unless_it_is_large_or_the_guest_is_not_restored() {
        let (words, condition) = ([b"a".to_vec()], Condition::default());
        let job = Job {
            runs: 1,
            file_limit: 1,
            executable: "/a",
            stdin: None,
            arguments: &words,
            environment: &[],
        };
        let parcel = |data: &[u8]| {
            let entry = Entry::File { name: "a", mode: 0o755, data };
            Parcel::of_program(&[entry], &job, &condition)
        };
        let has = |archive: &[u8], data: &[u8]| archive.windows(data.len()).any(|it| it == data);
        let (small, other) = (parcel(b"one\xff\xfeone"), parcel(b"two\xff\xfetwo"));
        assert!(has(&small.handed().unwrap(), b"one\xff\xfeone"));
        assert!(!has(&small.initramfs(), b"one\xff\xfeone"));
        assert_eq!(other.initramfs(), small.initramfs(), "one boot serves both");
        assert_ne!(other.sha256(), small.sha256());
        let plan = Parcel::of_paths(&Plan::new(Suite::Exact, 8), &condition);
        assert_eq!(plan.initramfs(), small.initramfs(), "and a plan");
        let (name, large) = (small.sha256(), parcel(&vec![0; parcel::MAX_PARCEL]));
        assert!(large.handed().is_none());
        let small = small.in_initramfs();
        assert!(small.handed().is_none() && has(&small.initramfs(), b"one\xff\xfeone"));
        assert_eq!(small.sha256(), name);
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
    fn a_parcel_is_the_same_for_the_same_plan_and_condition() {
        let plan = Plan::new(Suite::Exact, 8);
        let of = |condition: &str| {
            let condition = Condition::parse(condition, &|_: &str| Err(String::new())).unwrap();
            Parcel::of_paths(&plan, &condition)
        };
        assert_eq!(of("default").handed(), of("default").handed());
        assert_ne!(of("default").handed(), of("sysctl:a.b=1").handed());
        assert_ne!(of("default").sha256(), of("sysctl:a.b=1").sha256());
    }
}
