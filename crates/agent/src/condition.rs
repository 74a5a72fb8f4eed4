//! The condition that the guest is put under before it is measured: the file `/condition`
//! has its settings, `/filter` what measured processes restrain themselves by.
//!
//! Modules come first. Each setting that can't be had is reported by its place: a setting without
//! effect must never be one that the kernel does not know. If all can be had, the kernel's files
//! are shown that tell of them.

use pathmeter_probes::{
    sys::{self, CStr, errno, flag},
    task::{self, Ended},
    text::Text,
};
use pathmeter_wire::{
    Kind,
    condition::{self, DEPTH, MAX_CONDITION, Setting, SettingKind},
    message::{Shown, Unmet, UnmetCause},
    plan,
};

use crate::{
    arch::LOOKED_FOR,
    audit, bpf, cgroup,
    file::{Held, contents, holds, words},
    filter::Filter,
    layers, module, netns, nft,
    path::Path,
    port::Port,
    refusal::{Refusal, kernel_refusal, not_taken, unknown},
    restraint::Restraint,
    shown, sysfs, tool, tracing,
    trouble::Trouble,
};

/// Longest command line that Linux takes, and so all that it may hand to pid 1.
const MAX_WORDS: usize = 2048;
/// Parameters with a dot of no module (Linux `cgroup.c`, `security.c`, `proc_sysctl.c`).
const NO_MODULES: [&[u8]; 3] = [b"cgroup", b"lsm", b"sysctl"];

/// Gives a sysctl this value, and reads it back where that can be done.
#[inline(never)]
fn set(name: &[u8], value: &[u8]) -> Result<Held, Refusal> {
    // As sysctl(8) has it: dots separate, unless there are slashes.
    let slashes = name.contains(&b'/');
    let path = name.iter().map(|byte| if *byte == b'.' && !slashes { b'/' } else { *byte });
    let path = Path::of(b"/proc/sys/", path);
    let fd = sys::open(path.as_c(), flag::O_WRONLY, 0).map_err(|error| match error {
        errno::ENOENT => unknown("this kernel has no such sysctl"),
        error => kernel_refusal(format_args!("it can't be written to (error {error})")),
    })?;
    let written = sys::write(fd, value);
    let _ = sys::close(fd);
    written.map_err(not_taken)?;
    holds(&path, |held| words(held).eq(words(value)))
}

/// Puts the guest under its condition; false if it can't be, and then the host was told why, of all
/// settings at once. `of_run` sees to a setting that each run of a program has by itself.
#[inline(never)]
pub(crate) fn meet(
    port: &mut Port,
    mut of_run: impl FnMut(Setting<'_>) -> Result<Held, Refusal>,
) -> Result<bool, Trouble> {
    let mut text = [0; MAX_CONDITION + 1];
    let length = contents(CStr::new(b"/condition\0"), &mut text).map_err(|error| -> Trouble {
        Text::format(format_args!("/condition can't be read (error {error})"))
    })?;
    let settings = || {
        condition::read(&text[..length])
            .map_err(|error| -> Trouble { Text::format(format_args!("/condition: {error}")) })
    };
    for file in settings()?.filter(|setting| setting.kind == SettingKind::Load) {
        module::load(file.name, file.value)?;
    }
    let is_depth = |it: &Setting<'_>| it.kind == SettingKind::Cgroup && it.name == DEPTH.as_bytes();
    let depth = settings()?.find(is_depth).map_or(1, |setting| count(setting.value));
    let (mut files, mut met) = (0, true);
    let made = settings()?.filter(|setting| setting.kind != SettingKind::Load);
    for (index, setting) in made.enumerate() {
        let applied = match setting.kind {
            SettingKind::Show if met => {
                shown::send(port, files, (setting.name, setting.value));
                files += 1;
                continue;
            }
            SettingKind::Uprobe | SettingKind::Disk => of_run(setting).map(Some),
            _ => apply(setting, depth),
        };
        match applied {
            // Shown as it was read after it was written: reading it again would be one more change
            // of the guest.
            Ok(Some(held)) if met => {
                port.send_shown(&Shown { file: files, error: held.error, text: held.text() });
                files += 1;
            }
            Ok(_) => {}
            Err((cause, what)) => {
                port.send_unmet(&Unmet { setting: index as u64, cause, what: what.as_bytes() });
                met = false;
            }
        }
    }
    if !met {
        port.send_plain(Kind::Done, b"");
    }
    Ok(met)
}

/// Why what a run of a program has can't be had where there is no program.
pub(crate) fn of_programs() -> Refusal {
    kernel_refusal(format_args!(
        "only a program of yours can have it: `run KERNEL --under … -- PROGRAM`"
    ))
}

/// A number of things, which the host has checked.
fn count(value: &[u8]) -> u32 {
    plan::number(value).unwrap_or(1)
}

/// Sees to a setting, with control groups so deep; what shows that it was made.
#[inline(never)]
fn apply(setting: Setting<'_>, depth: u32) -> Result<Option<Held>, Refusal> {
    match setting.kind {
        SettingKind::Boot => known(setting.name).map(|()| None),
        SettingKind::Sysctl => set(setting.name, setting.value).map(Some),
        SettingKind::Seccomp => try_filter().map(|()| None),
        SettingKind::Cgroup => cgroup::set((setting.name, setting.value), depth).map(Some),
        SettingKind::Sysfs => sysfs::set(setting.name, setting.value).map(Some),
        SettingKind::Landlock => try_landlock(plan::number(setting.value)).map(Some),
        SettingKind::Audit => audit::add(count(setting.value)).map(Some),
        SettingKind::Nft => nft::add(count(setting.value)).map(Some),
        SettingKind::Netns => netns::join(setting.name).map(Some),
        SettingKind::Tracepoint => tracing::tracepoint(setting.name).map(Some),
        SettingKind::Kprobe => tracing::kprobe(setting.name).map(Some),
        SettingKind::Ftrace => tracing::function(setting.name).map(Some),
        SettingKind::Module => module::prove_loaded(setting.name).map(Some),
        SettingKind::Tool => tool::execute(setting.name).map(Some),
        SettingKind::Bpf => bpf::attach(setting.name, count(setting.value)).map(Some),
        // None of them is made here.
        SettingKind::Uprobe | SettingKind::Disk | SettingKind::Load | SettingKind::Show => Ok(None),
    }
}

/// Whether the kernel knows a word that it was given. Those that it does not know are arguments and
/// variables of pid 1, but for parameters of modules, of which it says nothing.
#[inline(never)]
fn known(word: &[u8]) -> Result<(), Refusal> {
    let name = word.split(|byte| *byte == b'=').next().unwrap_or_default();
    if let Some(dot) = name.iter().position(|byte| *byte == b'.') {
        return module_is_there(&name[..dot]);
    }
    if LOOKED_FOR.contains(&name) {
        return Ok(());
    }
    let mut text = [0; MAX_WORDS];
    for file in [&b"/proc/self/environ\0"[..], b"/proc/self/cmdline\0"] {
        // Without procfs nothing is known of it.
        let length = contents(CStr::new(file), &mut text).unwrap_or(0);
        if text[..length].split(|byte| *byte == 0).any(|left| left == word) {
            return Err(unknown("this kernel has no such parameter, or not with this value"));
        }
    }
    Ok(())
}

/// Whether a module of this name is built into the kernel.
#[inline(never)]
fn module_is_there(module: &[u8]) -> Result<(), Refusal> {
    if NO_MODULES.contains(&module) {
        return Ok(());
    }
    let all = sys::open(CStr::new(b"/sys/module\0"), flag::O_RDONLY, 0);
    let underscored = |byte: &u8| if *byte == b'-' { b'_' } else { *byte };
    let path = Path::of(b"/sys/module/", module.iter().map(underscored));
    let found = sys::open(path.as_c(), flag::O_RDONLY, 0);
    let _ = [all, found].map(|fd| fd.map(sys::close));
    match (all, found) {
        (Ok(_), Err(errno::ENOENT)) => Err(unknown("no module of this name is in this kernel")),
        _ => Ok(()),
    }
}

/// Whether a process can be filtered, and lives long enough to end.
fn try_filter() -> Result<(), Refusal> {
    let filter = restraint()?.filter();
    tried(|| filter.map_or(Err(errno::ENOENT), Filter::install))?.map_err(|error| match error {
        errno::ENOSYS => unknown("this kernel has no system-call filters"),
        error => {
            kernel_refusal(format_args!("the kernel does not take the filter (error {error})"))
        }
    })
}

/// Whether a process can restrict itself by so many layers of Landlock, or by the ruleset without
/// a number; what shows it.
fn try_landlock(layers: Option<u32>) -> Result<Held, Refusal> {
    let restraint = restraint()?;
    tried(|| restraint.install_landlock())?.map_err(layers::refusal)?;
    layers::describe_layers(layers)
}

/// What measured processes restrain themselves by.
fn restraint() -> Result<Restraint, Refusal> {
    match Restraint::read() {
        Ok(Some(restraint)) => Ok(restraint),
        Ok(None) => Err(kernel_refusal(format_args!("/filter is missing"))),
        Err(trouble) => Err((UnmetCause::Refused, trouble)),
    }
}

/// What becomes of a process that does this to itself, and exits: the error number, if that fails.
#[inline(never)]
fn tried(what: impl Fn() -> Result<(), i32>) -> Result<Result<(), i32>, Refusal> {
    let ended = task::in_child(|| {
        what().err().map_or(0, |error| usize::try_from(error).unwrap_or(usize::MAX))
    });
    match ended {
        Ok((_, Ended::Exit(0))) => Ok(Ok(())),
        Ok((_, Ended::Exit(error))) => Ok(Err(error.cast_signed())),
        Ok((_, Ended::Signal(signal))) => Err(kernel_refusal(format_args!(
            "it kills a process that only exits (signal {signal})"
        ))),
        Err(error) => Err(kernel_refusal(format_args!("no process to try it in (error {error})"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sysctl_that_is_not_there_is_unknown_and_one_that_can_be_read_is_compared() {
        let (cause, what) = set(b"kernel.pathmeter_no_such", b"1").err().unwrap();
        assert_eq!(cause, UnmetCause::Unknown);
        assert_eq!(what.as_bytes(), b"this kernel has no such sysctl");
        assert!(words(b"4096\t87380\n").eq(words(b"4096 87380")));
        assert!(!words(b"1\n").eq(words(b"2")));
    }

    #[test]
    fn a_word_that_pid_1_was_not_given_is_known() {
        assert!(known(b"pathmeter_never_given=1").is_ok());
    }
}
