//! What the user can do about what went wrong.

use crate::arch::{
    BOOT_HELP, DOUBTED_BOOT_HELP, DOUBTED_HELP, Doubt, OTHER_MACHINE_HELP, PORT_HELP,
    PORT_IN_PROGRAM_HELP, START_HELP,
};
use crate::error::qemu::{KILLED_HELP, shortage_help};
use crate::error::{GuestCause, Step};
use crate::{Unmet, UnmetCause, VmError};

/// How Linux's last words end if it ran out of memory while it booted (`mm/oom_kill.c`).
const OUT_OF_MEMORY: &str = "deadlocked on memory";

impl VmError {
    /// What the user can do about it.
    pub fn help(&self) -> Option<&'static str> {
        Some(match self {
            Self::Qemu(error) => error.help(),
            Self::Guest { step, cause, .. } => return cause.help(step),
            Self::Recorder { .. } => {
                "explaining needs a QEMU with plugins, 7.2 or newer, built with --enable-plugins \
                 as distributions do; name another one with --qemu FILE. Measuring and comparing \
                 work without"
            }
            Self::Refused { .. } => {
                "`pathmeter doctor` checks QEMU; try another one with --qemu FILE"
            }
            Self::Lacking { source, .. } | Self::Host { source, .. } | Self::Save { source }
                if shortage_help(source).is_some() =>
            {
                return shortage_help(source);
            }
            Self::Interpreter { help, .. } => return *help,
            Self::ArchCapabilityPlaces | Self::ArchCapabilities => {
                "choose a profile that needs no such answer, such as skylake or zen2; \
                 docs/reference/cpu.md explains them"
            }
            Self::Unmet(unmet) if unmet.iter().any(|unmet| unmet.help.is_some()) => {
                return unmet.iter().find_map(|unmet| unmet.help);
            }
            Self::Unmet(unmet) if unmet.iter().all(|it| it.setting.starts_with("ftrace:")) => {
                "check the spelling, or give another name of the same address: the tracer knows \
                 one of them alone, such as __do_sys_getppid for __x64_sys_getppid"
            }
            Self::Unmet(unmet) if unmet.iter().any(Unmet::may_be_misspelt) => {
                "check the spelling; what a kernel lacks depends on its version and configuration, \
                 and on the modules that are built into it"
            }
            Self::Unmet(unmet) if unmet.iter().any(|it| it.cause == UnmetCause::Unknown) => {
                "measure without it, or a kernel that is built with it: what a kernel has depends \
                 on its version and configuration"
            }
            Self::OtherMachine(_) => OTHER_MACHINE_HELP,
            Self::Lacking { .. } => {
                "mount /dev and /proc here as every Linux system has them: in a chroot, for \
                 example, `mount --rbind /dev ROOT/dev` and `mount -t proc proc ROOT/proc`"
            }
            _ => return None,
        })
    }
}

impl GuestCause {
    /// What the user can do about it, if it came at `step`.
    fn help(&self, step: &Step) -> Option<&'static str> {
        match self {
            Self::Timeout { .. } => Some(after_the_limit(step)),
            Self::Panicked { message, doubt } => after_a_panic(message, *doubt, step),
            Self::Killed { .. } => Some(KILLED_HELP),
            Self::Ended { by_guest, .. } => Some(after_the_end(*by_guest, step)),
            Self::Protocol { .. } => Some(match step {
                Step::Program { .. } => PORT_IN_PROGRAM_HELP,
                _ => PORT_HELP,
            }),
            Self::Abort { .. } | Self::Overlong { .. } => None,
        }
    }
}

fn after_the_limit(step: &Step) -> &'static str {
    match step {
        Step::Start => {
            "QEMU does not answer on its control channel: is it a script, or stopped? \
             `pathmeter doctor` checks it; name another one with --qemu FILE"
        }
        Step::Boot => {
            "the kernel must boot with a serial console (CONFIG_SERIAL_8250_CONSOLE) and an \
             initramfs (CONFIG_BLK_DEV_INITRD, CONFIG_BINFMT_ELF); give a slow one more time \
             with --timeout SECONDS"
        }
        Step::Program { .. } => {
            "give a long program more time with --timeout SECONDS; one that waits for input, a \
             terminal or the network waits for ever in the guest (--stdin FILE gives it input)"
        }
        _ => "give it more time with --timeout SECONDS",
    }
}

fn after_a_panic(message: &str, doubt: Doubt, step: &Step) -> Option<&'static str> {
    match (doubt, step) {
        _ if message.contains(OUT_OF_MEMORY) => Some(
            "this kernel needs more memory than the guest has: give it more, for example \
             --memory 512, on both sides of a comparison",
        ),
        (Doubt::Shown, _) => Some(DOUBTED_HELP),
        (Doubt::Possible, Step::Boot) => Some(DOUBTED_BOOT_HELP),
        (Doubt::None, Step::Boot) => Some(BOOT_HELP),
        (_, Step::Program { .. }) => Some(
            "a program that ends process 1, or that has the kernel panic, can't be measured; \
             if it shall do neither, see the end of the guest's console",
        ),
        (Doubt::Possible, _) => Some(DOUBTED_HELP),
        (Doubt::None, _) => None,
    }
}

fn after_the_end(by_guest: bool, step: &Step) -> &'static str {
    match step {
        Step::Start => START_HELP,
        _ if !by_guest => "it crashed: try again; `pathmeter doctor` checks QEMU",
        Step::Program { .. } => {
            "a program that ends, pauses or reboots the machine can't be measured; if it shall \
             not, see the end of the guest's console"
        }
        _ => "see the end of the guest's console for what it did before",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::Tail;

    #[test]
    fn a_cpu_that_qemu_does_not_know_brings_up_the_profiles() {
        let cause = GuestCause::Ended { by_guest: false, how: String::new() };
        assert!(cause.help(&Step::Start).unwrap().contains(crate::NAMES));
    }

    #[test]
    fn only_names_that_the_user_spelled_may_be_misspelt() {
        let help = |setting: &str| {
            let unmet = Unmet {
                setting: setting.to_owned(),
                cause: UnmetCause::Unknown,
                what: String::new(),
                help: None,
            };
            VmError::Unmet(vec![unmet]).help().unwrap()
        };
        for setting in ["boot:mitigation=off", "sysctl:kernel.pid_maxx=9", "module:veht"] {
            assert!(help(setting).contains("spelling"), "{setting}");
        }
        for setting in ["landlock:1", "audit:1", "seccomp:docker"] {
            assert!(!help(setting).contains("spelling"), "{setting}");
        }
    }

    #[test]
    fn a_kernel_that_ran_out_of_memory_is_told_how_to_get_more() {
        let panicked = |message: &str| VmError::Guest {
            step: Step::Boot,
            cause: GuestCause::Panicked { message: message.to_owned(), doubt: Doubt::None },
            console: Tail::default(),
        };
        let memory = panicked("Kernel panic - not syncing: System is deadlocked on memory");
        assert!(memory.help().unwrap().contains("--memory 512"));
        let other = panicked("Kernel panic - not syncing: No working init found");
        assert!(!other.help().unwrap().contains("--memory"));
    }
}
