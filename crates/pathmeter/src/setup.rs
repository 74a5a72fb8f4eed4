//! What every measurement begins with: QEMU and the cache are found, and the kernels hashed.

use std::path::Path;
use std::sync::Arc;

use pathmeter_vm::{
    Cache, Caller, Condition, Cpu, EntryKind, Interrupt, Key, PROFILES, Progress, Qemu, Sought,
};

use crate::arguments::{GuestArgs, LONGEST, ResultsArg};
use crate::failure::Failure;
use crate::screen::output;
use pathmeter_measure::error::MeasureError;
use pathmeter_measure::session::Session;
use pathmeter_measure::session::plan_results::PlanResults;
use pathmeter_measure::session::selftest::SelfTest;
use pathmeter_measure::subject::image::{Image, Pair};
use pathmeter_measure::subject::modules::Modules;
use pathmeter_measure::threads::at_once;
use pathmeter_model::suggestion::suggest;

/// Finds QEMU and hashes the kernels, all at once: it is what a run from the cache waits for.
///
/// # Errors
/// All that are found, of QEMU and the kernels.
pub(crate) fn prepare(
    args: &GuestArgs,
    interrupt: Interrupt,
    names: &[&Path],
) -> Result<(Session, Vec<Image>), Failure> {
    let images = || match names {
        [one, two] => <[_; 2]>::from(at_once(|| Image::open(one), || Image::open(two))).into(),
        names => names.iter().map(|name| Image::open(name)).collect::<Vec<_>>(),
    };
    let (images, session) = at_once(images, || session(args, interrupt));
    let opened = images.into_iter().map(|image| under(args, image?));
    let (opened, session) = Failure::both(Failure::gather(opened), session)?;
    Ok((session, opened))
}

/// Opens the results that the user named, for all that the verb measures.
///
/// # Errors
/// There is no such folder, or it can't be read.
pub(crate) fn open_results(named: &ResultsArg, guest: &mut GuestArgs) -> Result<(), Failure> {
    let open = |folder: &Path| PlanResults::open(folder).map(Arc::new);
    guest.results = named.results.as_deref().map(open).transpose()?;
    Ok(())
}

/// The kernel, named with what the user measures all under.
///
/// # Errors
/// It lacks a module that the user named.
pub(crate) fn under(args: &GuestArgs, image: Image) -> Result<Image, Failure> {
    let modules = Modules::new(&args.module, args.modules.clone())?;
    let loads = !modules.is_empty();
    let image = image.with_modules(modules);
    match args.under() {
        // The session's settings have its CPU.
        Some(under) if under.cpu.is_none() || !under.condition.is_default() => {
            Ok(image.under(&under.condition)?)
        }
        _ if loads && args.under.len() < 2 => Ok(image.under(&Condition::default())?),
        _ => Ok(image),
    }
}

/// The same for one kernel on two CPUs, or under two conditions.
pub(crate) fn prepare_on(
    args: &GuestArgs,
    interrupt: Interrupt,
    name: &Path,
    pair: Pair<'_>,
) -> Result<(Session, Vec<Image>), Failure> {
    let (session, images) = prepare(args, interrupt, &[name])?;
    let pairs = images.iter().map(|image| pair.of(image));
    Ok((session, pairs.collect::<Result<Vec<_>, _>>()?.concat()))
}

/// A session with what the command line names.
///
/// # Errors
/// There is no QEMU that can run exact guests, or it can't have this CPU.
pub(crate) fn session(args: &GuestArgs, interrupt: Interrupt) -> Result<Session, Failure> {
    refuse_idle_folder(args)?;
    refuse_unfit(args)?;
    let (cache, note) = match (!args.no_cache).then(Cache::open).transpose() {
        Ok(cache) => (cache, None),
        Err(error) => (None, Some(format!("{error}; going on without a cache"))),
    };
    let qemu = Qemu::find(args.qemu.as_deref(), &interrupt)?;
    for cpu in args.cpus() {
        refuse_unknown(&qemu, cpu, &interrupt)?;
        qemu.check_cpu(cpu, &interrupt)?;
    }
    if !qemu.is_tested() {
        let progress = |progress: Progress<'_>| {
            if let Progress::Note(note) = progress {
                output::print_line(&format!("note: {note}"));
            }
        };
        let (limit, again) = (args.limit(), "trying this QEMU again");
        let caller = Caller { limit, interrupt: &interrupt, progress: &progress, again };
        try_out(&qemu, cache.as_ref(), caller)?;
    }
    let session = Session::new(qemu, cache, args.guests(), interrupt).with_note(note);
    Ok(session.with_results(args.results.clone()))
}

/// Refuses the name of no profile and of no model of QEMU's, with those most like it.
fn refuse_unknown(qemu: &Qemu, cpu: &Cpu, interrupt: &Interrupt) -> Result<(), Failure> {
    let Some(models) = qemu.lacks_model(cpu, interrupt)? else { return Ok(()) };
    let profiles = PROFILES.iter().map(|profile| profile.name);
    let names: Vec<&str> = profiles.chain(models.iter().map(String::as_str)).collect();
    Err(Failure::Usage {
        message: format!("--cpu {}: no profile, and no CPU model of this QEMU", cpu.name()),
        help: suggest(&cpu.name().to_lowercase(), &names)
            + "`pathmeter list cpus` lists the profiles, `qemu-system-x86_64 -cpu help` the models",
    })
}

/// Refuses conditions that no guest can have.
pub(crate) fn refuse_unfit(args: &GuestArgs) -> Result<(), Failure> {
    refuse_live_settings(args)?;
    refuse_long_lines(args)
}

/// Refuses settings that only processes of a live host have.
fn refuse_live_settings(args: &GuestArgs) -> Result<(), Failure> {
    match args.under.iter().find_map(|under| under.live.first()) {
        None => Ok(()),
        Some(setting) => Err(Failure::Usage {
            message: format!("--under {setting}: only processes of a live host are put under it"),
            help: format!("pathmeter host compare --under default --under {setting}"),
        }),
    }
}

/// Refuses to be told where modules are if none is loaded.
fn refuse_idle_folder(args: &GuestArgs) -> Result<(), Failure> {
    if args.modules.is_none() || args.needs_modules() {
        return Ok(());
    }
    Err(Failure::Usage {
        message: "--modules would change nothing: no module is loaded".to_owned(),
        help: "name one with --module, or a setting that needs one".to_owned(),
    })
}

/// Refuses what a kernel would cut short without a word.
fn refuse_long_lines(args: &GuestArgs) -> Result<(), Failure> {
    let usual = args.settings();
    let lines = args.under.iter().map(|under| under.settings(&usual).command_line().len());
    match lines.max() {
        Some(length) if length > LONGEST => Err(Failure::Usage {
            message: format!("--append and --under make a command line of {length} bytes"),
            help: format!("x86 kernels read {LONGEST}"),
        }),
        _ => Ok(()),
    }
}

/// A QEMU of a version that nobody has tested has to pass the self-test, once.
fn try_out(qemu: &Qemu, cache: Option<&Cache>, caller: Caller<'_>) -> Result<(), Failure> {
    let parts = [
        ("pathmeter", env!("CARGO_PKG_VERSION")),
        ("agent_sha256", &pathmeter_vm::agent_sha256()),
        ("qemu", &qemu.description()),
    ];
    let key = Key::new(EntryKind::Passed, &parts);
    let sought = cache.map(|cache| cache.seek(key, caller, |_| Ok(Some(()))));
    let slot = match sought.transpose().map_err(|_| Failure::Interrupted)? {
        Some(Sought::Found(())) => return Ok(()),
        Some(Sought::Missing(slot)) => Some(slot),
        None => None,
    };
    let note = format!("QEMU {} is not among the tested versions: trying it", qemu.version);
    (caller.progress)(Progress::Note(&note));
    let test = SelfTest::new(qemu.clone(), caller.limit, caller.interrupt.clone());
    test.clock().map_err(|failure| match failure {
        MeasureError::Interrupted => failure,
        failure => MeasureError::SelfTest {
            what: format!("QEMU {} fails the self-test: {failure}", qemu.version),
        },
    })?;
    if let Some(slot) = slot {
        slot.keep(|_| Ok(()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_footer_shows_the_words_that_the_user_appended_and_no_others() {
        let usual = GuestArgs::default().settings().command_line();
        assert_eq!(usual, pathmeter_report::USUAL_COMMAND_LINE);
    }
}
