//! What became of the table of all drivers' 32-bit ioctls beside its cost: facts that the 2004
//! compat-ioctl thread is about, each told as yes or no on the lab kernel with two CPUs.

use crate::{
    failure::{Failure, Outcome, broken, prove},
    int80::supported,
    ioctl::target::{Target, devices},
    lab,
    report::ProbeReport,
    task::{self, Board, Partner},
};

/// How often the driver is loaded and unloaded.
const TIMES: usize = 20;
const NO_TABLE: &str = "no table";

/// Whether two drivers can have one number; whether a driver's commands are found while it is
/// loaded and only then; and whether its unloading waits for calls that are at work: one that stays
/// on its CPU, and one that sleeps.
pub(super) fn tell(report: &mut ProbeReport) -> Outcome {
    supported()?;
    let twin = Target::device(lab::TWIN)?;
    let served = twin.is_some_and(|twin| twin.ask_int80(lab::PARAMS_32, None) == 0);
    report.check("two drivers, one number", format_args!("{}", word(served)));
    if lab::load().is_err() {
        for name in [COMES_AND_GOES, WAITS_RUNNING, WAITS_SLEEPING] {
            report.check(name, format_args!("{NO_TABLE}"));
        }
        return Ok(());
    }
    let found = comes_and_goes()?;
    report.check(COMES_AND_GOES, format_args!("{}", word(found)));
    for (name, argument) in
        [(WAITS_RUNNING, lab::MOST_LOOKS), (WAITS_SLEEPING, lab::MOST_LOOKS + 1)]
    {
        let left = left_by_unloading(argument)?;
        report.check(name, format_args!("{}", word(left == 0)));
    }
    Ok(())
}

const COMES_AND_GOES: &str = "loaded: found, unloaded: not";
const WAITS_RUNNING: &str = "unload waits for a running call";
const WAITS_SLEEPING: &str = "unload waits for a sleeping one";

fn word(is_so: bool) -> &'static str {
    if is_so { "yes" } else { "no" }
}

/// Whether the driver's command is found while it is loaded, and at no other time, and another
/// driver's in the same bucket always.
fn comes_and_goes() -> Result<bool, Failure> {
    let (target, _) = devices()?;
    let mut as_expected = true;
    for _ in 0..TIMES {
        prove!(lab::load() == Ok(0), "the driver can't be loaded");
        as_expected &= target.ask_int80(lab::LOADED, Some(0)) == lab::LOADED_ANSWER;
        as_expected &= target.ask_int80(lab::STATE, None) == 0;
        prove!(lab::unload().is_ok(), "the driver can't be unloaded");
        as_expected &= target.ask_int80(lab::LOADED, Some(0)) != lab::LOADED_ANSWER;
        as_expected &= target.ask_int80(lab::STATE, None) == 0;
    }
    Ok(as_expected)
}

/// How many calls are still in the driver as it has been unloaded, of one that a partner on CPU 1
/// began with `argument`.
fn left_by_unloading(argument: usize) -> Result<usize, Failure> {
    /// Nanoseconds between two looks for the partner's call, and looks.
    const PAUSE: u64 = 20_000;
    const LOOKS: usize = 1000;
    let (_, second) = devices()?;
    let board = Board::new()?;
    prove!(lab::load() == Ok(0), "the driver can't be loaded");
    let _partner = Partner::on_second_cpu(board, || {
        board.take_turn();
        while second.ask_int80(lab::LOADED, Some(argument)) == lab::LOADED_ANSWER {}
    })?;
    for _ in 0..LOOKS {
        if lab::calls_at_work() == Ok(1) {
            return lab::unload().map_err(|error| {
                Failure::broken(format_args!("the driver can't be unloaded (error {error})"))
            });
        }
        task::sleep(PAUSE)?;
    }
    broken!("the partner on CPU 1 makes no call")
}
