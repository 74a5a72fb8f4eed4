//! Several at once on one cache.

use fastrand::Rng;
use pathmeter_e2e::Running;
use rustix::process::Signal;

use super::outcome::Ended;
use super::stage::Stage;

/// Two to eight runs at once, of one command or of several; sometimes one of them is killed.
pub(super) fn several_at_once(stage: &Stage, rng: &mut Rng) -> Ended {
    let count = rng.usize(2..=8);
    let one = rng.bool().then(|| stage.any(rng));
    stage.tell(format!("{count} at once"));
    let mut killed = (rng.u8(..3) == 0).then(|| rng.usize(..count));
    let runs: Vec<_> = (0..count)
        .map(|_| {
            let expected = one.unwrap_or_else(|| stage.any(rng));
            (expected, Running::start(stage.command(expected, 60)))
        })
        .collect();
    if let Some(index) = killed {
        std::thread::sleep(std::time::Duration::from_millis(rng.u64(..1000)));
        stage.tell("one killed");
        runs[index].1.signal(Signal::KILL);
    }
    for (index, (expected, running)) in runs.into_iter().enumerate() {
        let run = running.wait();
        let excused: &[i32] = if killed.take_if(|killed| *killed == index).is_some() {
            &[128 + 9]
        } else {
            assert_eq!(run.code, 0, "{}", run.stderr);
            &[]
        };
        expected.assert_kept(&run, excused);
    }
    stage.scene.assert_nothing_running_soon();
    Ended::Same
}
