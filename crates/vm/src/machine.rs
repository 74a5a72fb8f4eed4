//! The guest's machine, and QEMU's command line for it, as data.
//!
//! Every flag here is part of what a result depends on. Why each is there:
//! `docs/explanation/exactness.md`.

pub(crate) mod facts;
pub(crate) mod initramfs;

use std::ffi::OsString;
use std::sync::LazyLock;

use crate::arch::{
    COMMAND_LINE, CONTROL_DEVICE, DEFAULT_CPU, FIRMWARE, Firmware, LEFT_OUT, MACHINE, PORT_DEVICE,
};
use crate::{Condition, Cpu};

/// First version whose flags we use, and whose clock was checked.
pub(crate) const OLDEST: (u32, u32) = (7, 2);

/// What a user may choose of a guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    pub cpu: Cpu,
    pub memory_mib: u32,
    pub cpus: u32,
    /// Words that the kernel is always given.
    pub base_words: BaseWords,
    /// Words added to the kernel's command line.
    pub append: String,
    /// What it is measured under.
    pub condition: Condition,
    pub clock: Clock,
}

/// What the guest's clocks follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The instructions that it executes, and nothing of the host: its CPUs take turns.
    Exact,
    /// The host's time: its CPUs are threads, and execute at once where the host has CPUs for them.
    Host,
}

/// The words of the command line that a kind of kernel is always given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BaseWords {
    /// Linux's, without which its boot would take longer and results vary.
    Linux,
    /// None: a kernel that refuses what it does not know.
    None,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            cpu: Cpu::from_name(DEFAULT_CPU),
            memory_mib: 128,
            cpus: 1,
            base_words: BaseWords::Linux,
            append: String::new(),
            condition: Condition::default(),
            clock: Clock::Exact,
        }
    }
}

/// Descriptors that a QEMU process inherits, by number.
pub(crate) mod fd {
    pub(crate) const PORT: i32 = 3;
    pub(crate) const CONSOLE: i32 = 4;
    pub(crate) const QMP: i32 = 5;
    pub(crate) const KERNEL: i32 = 6;
    pub(crate) const INITRAMFS: i32 = 7;
    pub(crate) const INCOMING: i32 = 8;
    pub(crate) const PLUGIN: i32 = 9;
    pub(crate) const MEMORY: i32 = 10;
    pub(crate) const FIRMWARE: i32 = 11;
    pub(crate) const ALARM: i32 = 12;
    pub(crate) const COUNTS: i32 = 13;
    pub(crate) const GDB: i32 = 14;
    pub(crate) const POINTS: i32 = 15;
    /// The same as the first to record: a guest has either.
    pub(crate) const PLACES: i32 = 16;
    pub(crate) const CLASSES: i32 = 17;
    /// The first of as many as there are paths to record.
    pub(crate) const TRACE: i32 = 16;
}

/// What a QEMU process begins with; either way paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It boots the kernel that it is handed.
    Boot,
    /// It restores the snapshot that it is handed.
    Snapshot,
}

impl Settings {
    /// QEMU's machine with its options.
    pub fn machine(&self) -> &'static str {
        MACHINE
    }

    /// The kernel's command line without the words of the condition.
    pub fn command_line_without_condition(&self) -> String {
        Self { condition: Condition::default(), ..self.clone() }.command_line()
    }

    /// The whole command line of the kernel.
    pub fn command_line(&self) -> String {
        let words = match self.base_words {
            BaseWords::Linux => COMMAND_LINE,
            BaseWords::None => "",
        };
        let parts = [words, " ", &self.append, " ", &self.condition.words()];
        parts.concat().trim().to_owned()
    }

    /// Whether the CPU tells Linux of a second thread, which is not there. Other kernels might look
    /// for it.
    fn has_two_threads(&self) -> bool {
        self.base_words == BaseWords::Linux && self.cpus == 1 && self.cpu.has_two_threads()
    }

    /// All flags that a guest is started with, and its condition: what they are changes results, so
    /// whatever is kept of a run is named by them.
    pub fn fingerprint(&self) -> String {
        let condition = self.condition.fingerprint();
        let under = if condition.is_empty() { "" } else { " under " };
        let hashes = self.condition.hashes();
        format!("{}{under}{condition}{hashes}", self.flags())
    }

    /// Those of them that a guest boots with, and which of its words are settings: those that it
    /// does not take are found as it boots.
    pub(crate) fn boot_fingerprint(&self) -> String {
        format!("{} under {}", self.flags(), self.condition.words())
    }

    fn flags(&self) -> String {
        let words = self.words(OLDEST, Origin::Boot, Firmware::Own);
        let cpu = self.cpu.description();
        format!("{} {:08x} {cpu}", words.join(" "), *FIRMWARE_SUM)
    }

    /// Whether every QEMU that is tested gives the same samples with these settings, if the
    /// firmware is our own (`docs/explanation/exactness.md`). With two CPUs it is QEMU's version
    /// that decides whose turn it is, and QEMU's own CPU models may stand for another CPU in
    /// another version.
    pub fn is_portable(&self) -> bool {
        self.cpu.is_portable() && self.cpus == 1 && self.clock == Clock::Exact
    }

    /// Arguments of a process of QEMU of this version.
    pub(crate) fn arguments(
        &self,
        version: (u32, u32),
        origin: Origin,
        firmware: Firmware,
    ) -> Vec<OsString> {
        self.words(version, origin, firmware).into_iter().map(OsString::from).collect()
    }

    fn words(&self, version: (u32, u32), origin: Origin, firmware: Firmware) -> Vec<String> {
        let memory = self.memory_mib.to_string();
        let clock = match self.clock {
            Clock::Exact => EXACT,
            Clock::Host => ELAPSED,
        };
        let cpu = self.cpu.text() + &self.cpu.corrections(version);
        let mut words: Vec<String> =
            [&["-M", MACHINE, "-cpu", &cpu, "-m", &memory][..], clock, CONFINED]
                .concat()
                .into_iter()
                .map(str::to_owned)
                .collect();
        if self.cpus > 1 {
            words.extend(["-smp".to_owned(), self.cpus.to_string()]);
        } else if self.has_two_threads() {
            words.extend(["-smp".to_owned(), "1,maxcpus=2,threads=2".to_owned()]);
        }
        if firmware == Firmware::Own {
            words.extend(["-bios".to_owned(), path(fd::FIRMWARE)]);
        }
        words.extend(channels());
        words.extend(match origin {
            Origin::Boot => self.boot(),
            Origin::Snapshot => vec!["-incoming".to_owned(), format!("fd:{}", fd::INCOMING)],
        });
        words
    }

    fn boot(&self) -> Vec<String> {
        [
            ["-kernel".to_owned(), path(fd::KERNEL)],
            ["-initrd".to_owned(), path(fd::INITRAMFS)],
            ["-append".to_owned(), self.command_line()],
        ]
        .concat()
    }
}

/// Checksum of the firmware, which plans of many cells ask for as often.
static FIRMWARE_SUM: LazyLock<u32> = LazyLock::new(|| crc32fast::hash(FIRMWARE));

/// The file behind an inherited descriptor, as QEMU itself names it.
fn path(number: i32) -> String {
    format!("/proc/self/fd/{number}")
}

/// One instruction, one nanosecond of the guest's clocks; nothing of the host's time or chance.
const EXACT: &[&str] = &[
    "-accel",
    "tcg",
    "-icount",
    "shift=0,sleep=off",
    "-rtc",
    "base=2020-01-01T00:00:00,clock=vm",
    "-seed",
    "1",
];

/// A thread of the interpreter for each CPU. Never KVM, even where there is one: an emulated one,
/// as in rented machines, is slower than this and can't be told from a real one.
const ELAPSED: &[&str] =
    &["-accel", "tcg,thread=multi", "-rtc", "base=2020-01-01T00:00:00", "-seed", "1"];

/// No devices but those named, no configuration files, no network, no new processes or privileges;
/// a reboot ends QEMU; and nothing runs before the control channel is listened to.
const CONFINED: &[&str] = &[
    "-no-user-config",
    "-nodefaults",
    "-display",
    "none",
    "-global",
    LEFT_OUT,
    "-no-reboot",
    "-S",
    "-sandbox",
    SANDBOX,
];

/// The seccomp filter at its strictest.
pub(crate) const SANDBOX: &str =
    "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny";

/// The console, the protocol port, the control channel; and the device by which the agent pauses
/// the guest.
fn channels() -> Vec<String> {
    let socket = |id: &str, number: i32| format!("socket,id={id},fd={number}");
    [
        ["-chardev".to_owned(), socket("console", fd::CONSOLE)],
        ["-serial".to_owned(), "chardev:console".to_owned()],
        ["-chardev".to_owned(), socket("port", fd::PORT)],
        ["-device".to_owned(), format!("{PORT_DEVICE},chardev=port")],
        ["-chardev".to_owned(), socket("qmp", fd::QMP)],
        ["-qmp".to_owned(), "chardev:qmp".to_owned()],
        ["-device".to_owned(), CONTROL_DEVICE.to_owned()],
        ["-action".to_owned(), "panic=pause".to_owned()],
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(origin: Origin) -> String {
        let words = Settings::default().arguments(OLDEST, origin, Firmware::Own);
        words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_sandbox_is_always_on() {
        let elapsed = Settings { clock: Clock::Host, ..Settings::default() }.fingerprint();
        for words in [words(Origin::Boot), words(Origin::Snapshot), elapsed] {
            assert!(words.contains("-sandbox on,"));
            assert!(words.contains("-nodefaults") && !words.contains("-netdev"));
        }
    }

    #[test]
    fn qemus_own_firmware_is_used_by_not_naming_one() {
        let settings = Settings::default();
        let named = |firmware| {
            settings.arguments(OLDEST, Origin::Boot, firmware).iter().any(|word| word == "-bios")
        };
        assert!(named(Firmware::Own) && !named(Firmware::Qemu));
    }

    #[test]
    fn only_the_fixed_machine_is_portable() {
        let usual = Settings::default();
        assert!(usual.is_portable());
        assert!(Settings { append: "quiet".to_owned(), ..usual.clone() }.is_portable());
        for other in [
            Settings { cpu: Cpu::from_name("max"), ..usual.clone() },
            Settings { cpus: 2, ..usual.clone() },
            Settings { clock: Clock::Host, ..usual },
        ] {
            assert!(!other.is_portable());
        }
    }

    #[test]
    fn only_a_boot_names_a_kernel_and_only_a_snapshot_is_incoming() {
        assert!(words(Origin::Boot).contains(" -kernel "));
        assert!(!words(Origin::Boot).contains(" -incoming "));
        assert!(!words(Origin::Snapshot).contains(" -kernel "));
        assert!(words(Origin::Snapshot).contains("-incoming fd:8"));
    }

    #[test]
    fn instructions_are_counted_or_cpus_run_at_once_never_both() {
        let of = |clock| Settings { clock, ..Settings::default() }.fingerprint();
        let (exact, elapsed) = (of(Clock::Exact), of(Clock::Host));
        assert!(exact.contains("-icount") && !exact.contains("thread=multi"));
        assert!(elapsed.contains("thread=multi") && !elapsed.contains("-icount"));
    }

    #[test]
    fn a_word_that_is_a_setting_is_another_boot_and_what_is_set_later_is_the_same() {
        let of = |append: &str, under: &str| {
            let condition = Condition::parse(under, &|_: &str| Err(String::new())).unwrap();
            Settings { append: append.to_owned(), condition, ..Settings::default() }
        };
        let (appended, set) = (of("a b", "default"), of("a", "boot:b"));
        assert_eq!(appended.command_line(), set.command_line());
        assert_ne!(appended.boot_fingerprint(), set.boot_fingerprint());
        let later = of("a", "boot:b sysctl:vm.x=1");
        assert_eq!(later.boot_fingerprint(), set.boot_fingerprint());
        assert_ne!(later.fingerprint(), set.fingerprint());
    }

    #[test]
    fn a_second_cpu_is_part_of_the_fingerprint_whatever_it_begins_with() {
        let settings = Settings { cpus: 2, ..Settings::default() };
        assert!(settings.fingerprint().contains(" -smp 2 "));
        let restoring = settings.arguments(OLDEST, Origin::Snapshot, Firmware::Own);
        assert!(restoring.iter().any(|word| word == "-smp"));
        let plain = Settings { cpu: Cpu::from_name("plain"), ..Settings::default() };
        assert!(!plain.fingerprint().contains("-smp"));
    }

    #[test]
    fn linux_is_told_of_a_profiles_second_thread_and_other_kernels_are_not() {
        let zen2 = Settings { cpu: Cpu::from_name("zen2"), ..Settings::default() };
        assert!(zen2.fingerprint().contains(" -smp 1,maxcpus=2,threads=2 "));
        let other = Settings { base_words: BaseWords::None, ..zen2 };
        assert!(!other.fingerprint().contains("-smp"));
        assert_eq!(other.command_line(), "");
    }

    #[test]
    fn a_profile_is_part_of_the_fingerprint_with_its_name_and_all_that_it_is() {
        let icelake = Settings { cpu: Cpu::from_name("icelake"), ..Settings::default() };
        assert!(icelake.fingerprint().contains("icelake: base,"));
        assert!(icelake.fingerprint().ends_with("msr-0x10a=0x202016b"));
        assert!(icelake.is_portable());
    }

    #[test]
    fn what_the_user_appends_stands_last_and_is_part_of_the_fingerprint() {
        let settings = Settings { append: "mitigations=off".to_owned(), ..Settings::default() };
        assert!(settings.command_line().ends_with(" mitigations=off"));
        assert!(settings.fingerprint().contains(" mitigations=off"));
    }
}
