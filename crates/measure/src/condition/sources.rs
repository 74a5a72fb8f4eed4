//! What is made of the files that a condition's settings name: filters of system calls, and
//! programs of this machine that set something in the guest, packed with the file.
//!
//! Contract: nothing is executed here. In the guest a program is executed once, before anything is
//! measured, with no environment of this machine's; the kernel takes what it sets, or the program
//! must say so by its exit code.

use std::ffi::OsString;
use std::path::Path;

use pathmeter_pack::{FileArg, PackedEntry, Packing, pack};
use pathmeter_vm::{Condition, ConditionError, Filter, Ruleset, Sources, Tool};

use crate::bounded_file::read_bounded;
use crate::condition::seccomp;
use crate::condition::tool::{job, program};
use crate::condition::{file_systems, landlock};
use crate::digest::sha256;

/// A program that reads a file of the user's.
struct Reader {
    /// What stands before the colon of a setting.
    kind: &'static str,
    /// The program, and its arguments around the file: `FILE` stands for it.
    command: &'static [&'static str],
    /// Modules of the kernel's without which it can't set anything.
    modules: &'static [&'static str],
    /// Lines after the user's, for what a service would do beside.
    last: &'static str,
    /// Debian's package that has it.
    package: &'static str,
}

/// Longest file: dd(1) writes no longer policy at once, and rules and programs are shorter.
const MOST_BYTES: u64 = 64 << 20;
/// Where a command has the user's file.
const FILE: &str = "FILE";
/// Where the guest has it.
const IN_GUEST: &str = "/given";

const READERS: [Reader; 7] = [
    Reader {
        kind: "nft",
        command: &["nft", "-f", FILE],
        modules: &["nf_tables"],
        last: "",
        package: "nftables",
    },
    Reader {
        kind: "audit",
        command: &["auditctl", "-R", FILE],
        modules: &[],
        // Without auditd(8) nobody has audit look at rules.
        last: "\n-e 1\n",
        package: "auditd",
    },
    Reader {
        kind: "tc",
        command: &["tc", "-batch", FILE],
        modules: &[],
        last: "",
        package: "iproute2",
    },
    Reader {
        kind: "ip",
        command: &["ip", "-batch", FILE],
        modules: &[],
        last: "",
        package: "iproute2",
    },
    Reader {
        kind: "bpf",
        command: &["bpftool", "prog", "loadall", FILE, "/sys/fs/bpf/pathmeter", "autoattach"],
        modules: &[],
        last: "",
        package: "bpftool",
    },
    Reader {
        kind: "apparmor",
        command: &["apparmor_parser", "--add", "--skip-cache", FILE],
        modules: &[],
        last: "",
        package: "apparmor",
    },
    // The kernel takes a policy only as one write(2) (Linux `security/selinux/selinuxfs.c`,
    // `sel_write_load`).
    Reader {
        kind: "selinux",
        command: &["dd", "if=FILE", "of=/sys/fs/selinux/load", "bs=64M", "conv=notrunc,nocreat"],
        modules: &[],
        last: "",
        package: "coreutils",
    },
];

/// The kinds of settings that programs of this machine make, by what stands before the colon.
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    READERS.iter().map(|reader| reader.kind)
}

/// Sources that are files of this machine.
pub(super) struct Files;

impl Sources for Files {
    fn filter(&self, name: &str) -> Result<Filter, String> {
        seccomp::filter(name)
    }

    fn ruleset(&self, file: &str) -> Result<Ruleset, String> {
        landlock::ruleset(Path::new(file))
    }

    fn tool(&self, kind: &str, file: &str) -> Option<Result<Tool, ConditionError>> {
        let reader = READERS.iter().find(|reader| reader.kind == kind)?;
        // nft:10 and audit:10 are numbers of rules, bpf:fentry:FUNCTION is no file.
        let is_file = file.contains(['/', '.']) && !file.contains(':') || Path::new(file).is_file();
        let is_number = file.bytes().all(|byte| byte.is_ascii_digit());
        let by_file_alone = ["tc", "ip", "apparmor", "selinux"].contains(&kind);
        (by_file_alone || is_file && !is_number).then(|| {
            let refused = |why| ConditionError::Tool(format!("{kind}:{file}"), why);
            reader.tool(Path::new(file)).map_err(refused)
        })
    }

    fn maker(&self, file_system: &str) -> Option<Result<Tool, ConditionError>> {
        let refused = |why| ConditionError::Tool(format!("disk:{file_system}"), why);
        file_systems::maker(file_system).map(|made| made.map_err(refused))
    }
}

impl Reader {
    /// The program for this file.
    fn tool(&self, file: &Path) -> Result<Tool, String> {
        let bytes = read_bounded(file, MOST_BYTES).map_err(|error| error.to_string())?;
        if self.kind == "audit" {
            refuse_watches(&String::from_utf8_lossy(&bytes))?;
        }
        let words = self.command[1..].iter().map(|word| word.replace(FILE, IN_GUEST).into());
        let program = program(self.command[0], self.package)?;
        let command: Vec<OsString> = std::iter::once(program.into()).chain(words).collect();
        let given = FileArg { source: file.to_owned(), destination: Some(IN_GUEST.into()) };
        let packing =
            Packing { command: &command, root: None, files: &[given], env: &[], stdin: None };
        let mut packed = pack(&packing).map_err(|error| error.to_string())?;
        for entry in &mut packed.entries {
            if let PackedEntry::File { name, data, .. } = entry
                && name == IN_GUEST.trim_start_matches('/')
            {
                data.extend(self.last.as_bytes());
            }
        }
        let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned();
        let (sha256, job) = (sha256(&bytes), job(&packed));
        Ok(Tool { kind: self.kind, name, sha256, job, modules: self.modules })
    }
}

/// Refuses audit rules about files: the kernel keeps the file that it finds when it is given the
/// rule (`audit_add_watch`), and what is measured has files of its own.
fn refuse_watches(rules: &str) -> Result<(), String> {
    let is_watch = |line: &str| {
        let mut words = line.split_whitespace();
        let fields = ["path=", "dir=", "exe="];
        !line.trim_start().starts_with('#')
            && words.any(|word| word == "-w" || fields.iter().any(|it| word.starts_with(it)))
    };
    rules.lines().position(is_watch).map_or(Ok(()), |line| {
        Err(format!(
            "line {}: a rule about a file applies only to a file that exists when the rule is \
             read, and the guest has new files: leave it out (it costs only calls that reach the \
             file)",
            line + 1
        ))
    })
}

/// Reads a condition that names files of this machine.
///
/// # Errors
/// What is no setting, or contradicts another one.
pub(super) fn condition(text: &str) -> Result<Condition, ConditionError> {
    Condition::parse(text, &Files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_a_program_and_a_number_or_a_place_has_none() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let name = file.path().display().to_string();
        assert!(Files.tool("tc", &name).is_some() && Files.tool("nft", &name).is_some());
        for (kind, other) in
            [("nft", "10"), ("audit", "2"), ("bpf", "fentry:vfs_read"), ("boot", &*name)]
        {
            assert!(Files.tool(kind, other).is_none(), "{kind}:{other}");
        }
        let missing = Files.tool("ip", "nowhere/at/all").unwrap().unwrap_err().to_string();
        assert!(missing.starts_with("ip:nowhere/at/all: "), "{missing}");
    }

    #[test]
    fn no_file_of_a_condition_is_read_without_an_end() {
        for reader in &READERS {
            let refused = Files.tool(reader.kind, "/dev/zero").unwrap().unwrap_err().to_string();
            assert!(refused.contains("more than 67108864 bytes"), "{refused}");
        }
        let ruleset = Files.ruleset("/dev/zero").unwrap_err();
        assert!(ruleset.contains("more than 1048576 bytes"), "{ruleset}");
        let filter = Files.filter("/dev/zero").unwrap_err();
        assert!(filter.contains("more than 1048576 bytes"), "{filter}");
    }

    #[test]
    fn audit_rules_about_files_are_refused_by_their_line() {
        assert!(refuse_watches("-D\n# -w /etc -p wa\n-a always,exit -S getppid\n").is_ok());
        for rules in ["-D\n-w /etc/passwd -p wa\n", "-D\n-a always,exit -F path=/etc/x -F perm=r"] {
            assert!(refuse_watches(rules).unwrap_err().starts_with("line 2: "), "{rules}");
        }
    }
}
