//! The steps of `doctor`.

use std::path::Path;
use std::time::Duration;

use pathmeter_vm::{Cache, Feature, Interrupt, LACKS_HELP, Qemu, VmError};
use serde::Serialize;

use super::args::DoctorArgs;
use crate::arguments::TIMEOUT;
use crate::failure::{Exit, Failure};
use crate::screen::output::{self, Screen};
use pathmeter_measure::error::UNFIT_QEMU;
use pathmeter_measure::interrupt;
use pathmeter_measure::session::memory::read_available_mib;
use pathmeter_measure::session::selftest::SelfTest;

use super::check::{self, Check, CheckStatus};
use super::host;
use super::profiles::{self, Nearest, ProfileReport};

/// Free disk below which a run's snapshots may not fit: a few guests' memory.
const LEAST_DISK_MIB: u64 = 512;
/// Available memory below which two guests and an unpacked kernel may not fit.
const LEAST_MEMORY_MIB: u64 = 1024;

/// After which time a guest of the self-test counts as hung.
const LIMIT: Duration = Duration::from_secs(TIMEOUT);

/// The document of `--json`, `pathmeter.doctor/1`.
#[derive(Serialize)]
struct Diagnosis {
    schema: &'static str,
    /// Whether exact runs work here.
    exact: bool,
    checks: Vec<Check>,
    /// The CPUs that `--cpu` names; none if there is no QEMU to have them.
    profiles: Vec<ProfileReport>,
    /// The profile with the most features in common with this machine's CPU; none if no
    /// profile has its vendor.
    nearest: Option<Nearest>,
}

/// The document of `--json` about times, `pathmeter.host-doctor/1`.
#[derive(Serialize)]
struct TimesDiagnosis {
    schema: &'static str,
    checks: Vec<Check>,
}

/// Looks at everything and prints what was found.
pub(crate) fn run(args: &DoctorArgs, screen: &Screen) -> Result<Exit, Failure> {
    let interrupt = interrupt::listen();
    let found = Qemu::find(args.qemu.as_deref(), &interrupt);
    let mut checks = qemu(&found, &interrupt)?;
    let profiles = profiles_of(&found, &interrupt)?;
    checks.extend(profiles::check(&profiles));
    checks.extend([cache(), disk(), memory(), processors(), kvm()]);
    if let Ok(qemu) = found
        && checks.iter().all(|check| check.status != CheckStatus::Fail)
    {
        checks.extend(tried(qemu, LIMIT, &interrupt, screen)?);
    }
    let exact = checks.iter().all(|check| check.status != CheckStatus::Fail);
    let nearest = Nearest::find();
    let report = Diagnosis { schema: "pathmeter.doctor/1", exact, checks, profiles, nearest };
    if args.json {
        output::print(&output::json(&report)?)?;
    } else {
        let cpus = if args.profiles { report.cpus() } else { String::new() };
        output::print((cpus + &text(&report, screen.style().colour)).as_bytes())?;
    }
    Ok(if exact { Exit::Done } else { Exit::Unmeasured })
}

/// Looks at what disturbs times on this machine, and prints that.
pub(crate) fn show_disturbances(json: bool, screen: &Screen) -> Result<Exit, Failure> {
    let checks = host::checks()?;
    if json {
        let schema = "pathmeter.host-doctor/1";
        output::print(&output::json(&TimesDiagnosis { schema, checks })?)?;
    } else {
        output::print(check::lines(&checks, screen.style().colour).as_bytes())?;
    }
    Ok(Exit::Done)
}

impl Diagnosis {
    /// What guests' CPUs can be here.
    fn cpus(&self) -> String {
        let nearest = self.nearest.as_ref().map(|it| it.text(&self.profiles)).unwrap_or_default();
        format!("{}{nearest}\n", profiles::text(&self.profiles).trim_start())
    }
}

/// QEMU, and what exact runs need of it.
fn qemu(found: &Result<Qemu, VmError>, interrupt: &Interrupt) -> Result<Vec<Check>, Failure> {
    let qemu = match found {
        Ok(qemu) => qemu,
        Err(error) => return Ok(vec![unusable(error)?]),
    };
    let found = format!("{} at {}", qemu.version, qemu.path.display());
    let features = match qemu.features(interrupt) {
        Ok(features) => features.iter().map(feature).collect(),
        Err(error) => vec![unusable(&error)?],
    };
    Ok(std::iter::once(Check::ok("qemu", found)).chain(features).collect())
}

/// The profiles, if there is a QEMU to have them: one that can't be asked is a failed check.
fn profiles_of(
    found: &Result<Qemu, VmError>,
    interrupt: &Interrupt,
) -> Result<Vec<ProfileReport>, Failure> {
    match found.as_ref().map(|qemu| qemu.profiles(interrupt)) {
        Ok(Ok(profiles)) => Ok(profiles.into_iter().map(ProfileReport::new).collect()),
        Ok(Err(VmError::Interrupted)) => Err(Failure::Interrupted),
        Ok(Err(_)) | Err(_) => Ok(vec![]),
    }
}

/// A QEMU that can't be asked.
fn unusable(error: &VmError) -> Result<Check, Failure> {
    if matches!(error, VmError::Interrupted) {
        return Err(Failure::Interrupted);
    }
    Ok(Check::fail("qemu", error.to_string(), error.help().unwrap_or(UNFIT_QEMU)))
}

fn feature(feature: &Feature) -> Check {
    if feature.present {
        return Check::ok(feature.name, feature.means.to_owned());
    }
    Check::fail(feature.name, format!("{}{}", feature.means, feature.errors), LACKS_HELP)
}

/// The self-test, on the lab kernel.
fn tried(
    qemu: Qemu,
    limit: Duration,
    interrupt: &Interrupt,
    screen: &Screen,
) -> Result<[Check; 2], Failure> {
    screen.note("trying the lab kernel");
    let test = SelfTest::new(qemu, limit, interrupt.clone());
    let clock = match test.clock().map_err(Failure::from) {
        Err(Failure::Interrupted) => return Err(Failure::Interrupted),
        Err(failure) => Check::fail("clock", failure.to_string(), advice_of(&failure)),
        Ok(found) => Check::ok("clock", found),
    };
    // Without a recorder everything but `explain` works.
    let recorder = match test.recorder().map_err(Failure::from) {
        Err(Failure::Interrupted) => return Err(Failure::Interrupted),
        Err(failure) => Check::warn("recorder", failure.to_string(), advice_of(&failure)),
        Ok(found) => Check::ok("recorder", found),
    };
    Ok([clock, recorder])
}

fn advice_of(failure: &Failure) -> &str {
    failure.advice().unwrap_or(UNFIT_QEMU)
}

fn cache() -> Check {
    let tried = Cache::open().and_then(|cache| cache.probe().map(|()| cache));
    match tried {
        Ok(cache) => {
            let (folder, mib) = (cache.folder().display(), cache.size() >> 20);
            let bound = Cache::BOUND >> 20;
            Check::ok("cache", format!("{mib} of at most {bound} MiB in {folder}"))
        }
        Err(error) => Check::warn(
            "cache",
            error.to_string(),
            "nothing is kept, so every run boots the kernels anew: make room there, or name \
             another folder with XDG_CACHE_HOME",
        ),
    }
}

fn disk() -> Check {
    // The cache folder itself may not be there yet.
    let folder = Cache::location().unwrap_or_default();
    let about = folder.ancestors().find_map(|folder| rustix::fs::statvfs(folder).ok());
    let Some(about) = about else {
        return Check::warn("disk", "unknown".into(), "run `df` on the cache folder");
    };
    let mib = about.f_bavail.saturating_mul(about.f_frsize) >> 20;
    let found = format!("{mib} MiB free for the cache");
    if mib >= LEAST_DISK_MIB {
        Check::ok("disk", found)
    } else {
        Check::warn("disk", found, "make room: a kernel's snapshot takes about 64 MiB")
    }
}

fn memory() -> Check {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let Some(mib) = read_available_mib(&text) else {
        return Check::warn("memory", "unknown".into(), "run `free`");
    };
    let found = format!("{mib} MiB available");
    if mib >= LEAST_MEMORY_MIB {
        Check::ok("memory", found)
    } else {
        Check::warn("memory", found, "end other programs: two guests and their images need 1 GiB")
    }
}

fn processors() -> Check {
    match std::thread::available_parallelism().map_or(1, usize::from) {
        1 => Check::warn(
            "processors",
            "1".into(),
            "compare runs two guests at once; on one processor it takes twice as long",
        ),
        number => Check::ok("processors", number.to_string()),
    }
}

fn kvm() -> Check {
    let there = if Path::new("/dev/kvm").exists() { "there is" } else { "there is no" };
    Check::ok("kvm", format!("{there} /dev/kvm; exact runs don't use it"))
}

fn text(report: &Diagnosis, colour: bool) -> String {
    let exact = if report.exact { "exact runs work here" } else { "exact runs don't work here" };
    format!("{}\n{exact}\n", check::lines(&report.checks, colour))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_stands_below_what_was_found() {
        let checks = vec![Check::ok("qemu", "7.2".into()), Check::warn("disk", "0".into(), "more")];
        let (profiles, nearest) = (vec![], None);
        let report = Diagnosis { schema: "", exact: true, checks, profiles, nearest };
        let lines = "ok    qemu  7.2\nwarn  disk  0\n            more\n\nexact runs work here\n";
        assert_eq!(text(&report, false), lines);
    }
}
