//! What the guest's root file system holds: the agent as /init, its plan, and a console.

use std::fmt::Write as _;

use pathmeter_image::cpio::{self, Entry};
use pathmeter_probes::Suite;

/// The agent's executable, built with this crate.
pub const AGENT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/pathmeter_init"));

/// What the agent shall do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Which table of paths.
    pub suite: Suite,
    /// Perturbed starts; every path is walked once in each.
    pub starts: u32,
    /// Indices of paths to leave out, because the kernel died in them.
    pub skip: Vec<usize>,
}

/// Paths that may kill the kernel before the rest is given up: each costs a boot.
const MAX_LOST: usize = 4;

impl Plan {
    /// Whether the path with this index, in which the kernel died, may be left out of it too.
    pub(crate) fn may_lose(&self, index: usize) -> bool {
        self.skip.len() < MAX_LOST && !self.skip.contains(&index)
    }

    /// The plan as the agent reads it (its `plan` module has the format).
    fn text(&self) -> String {
        let mut text = format!("starts {}\n", self.starts);
        if self.suite == Suite::Elapsed {
            text.push_str("suite elapsed\n");
        }
        for index in &self.skip {
            // Writing to a String can't fail.
            let _ = writeln!(text, "skip {index}");
        }
        text
    }
}

/// An initramfs: the same bytes for the same agent and plan, always.
pub struct Initramfs(Vec<u8>);

impl Initramfs {
    /// Packs agent and plan.
    pub fn new(plan: &Plan) -> Self {
        let plan = plan.text();
        let folders =
            ["dev", "proc", "sys"].map(|path| Entry::Directory { name: path, mode: 0o755 });
        let console = Entry::CharDevice { name: "dev/console", mode: 0o600, major: 5, minor: 1 };
        let files = [
            Entry::File { name: "init", mode: 0o755, data: AGENT },
            Entry::File { name: "plan", mode: 0o644, data: plan.as_bytes() },
        ];
        let entries: Vec<_> = folders.into_iter().chain([console]).chain(files).collect();
        Self(cpio::archive(&entries))
    }

    /// The newc archive.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_lists_what_to_skip() {
        let plan = Plan { suite: Suite::Exact, starts: 8, skip: vec![3, 17] };
        assert_eq!(plan.text(), "starts 8\nskip 3\nskip 17\n");
    }

    #[test]
    fn the_plan_names_its_suite_unless_it_is_the_exact_one() {
        let plan = Plan { suite: Suite::Elapsed, starts: 1, skip: vec![] };
        assert_eq!(plan.text(), "starts 1\nsuite elapsed\n");
    }

    #[test]
    fn the_agent_is_a_static_x86_64_executable() {
        // ELF64, little endian; ET_EXEC; EM_X86_64.
        assert_eq!(&AGENT[..6], b"\x7fELF\x02\x01");
        assert_eq!(&AGENT[16..20], &[2, 0, 62, 0]);
        // A dynamic program would name its interpreter.
        assert!(!AGENT.windows(7).any(|bytes| bytes == b"ld-linu"));
    }

    #[test]
    fn the_same_plan_gives_the_same_bytes() {
        let plan = Plan { suite: Suite::Exact, starts: 8, skip: vec![] };
        assert_eq!(Initramfs::new(&plan).as_bytes(), Initramfs::new(&plan).as_bytes());
    }
}
