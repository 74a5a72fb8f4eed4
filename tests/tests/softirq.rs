//! A kernel that leaves softirqs to the next tick says so: its long waits are not lost.

use pathmeter_e2e::{Scene, built, path};
use serde_json::Value;

/// Instructions that a program executes from tick to tick in the test kernels, by `CONFIG_HZ`: one
/// a nanosecond.
const TICK: u64 = 1_000_000_000 / 250;
/// From a raise in one tick to the entry at the end of the next is about a tick.
const ABOUT_A_TICK: u64 = TICK / 100 * 99;
/// More than any kernel takes to run a softirq at the end of the tick that raised it.
const AT_ONCE: u64 = 10_000;

/// Those whose softirq the tick raises.
const TIMER: [&str; 2] = ["softirq.timer+user", "softirq.timer+idle"];

fn samples(result: &Value, name: &str) -> Vec<u64> {
    let samples = path(result, name)["samples"].as_array().unwrap();
    samples.iter().map(|sample| sample.as_u64().unwrap()).collect()
}

/// How often the CPU was told to wait in each sample.
fn halts(result: &Value, name: &str) -> Vec<u64> {
    let events = &path(result, name)["events"];
    let names = events["names"].as_array().unwrap();
    let place = names.iter().position(|name| name == "halts");
    let of_sample = |number: &Value| {
        let numbers = &events["distinct"][usize::try_from(number.as_u64().unwrap()).unwrap()];
        place.map_or(0, |place| numbers[place].as_u64().unwrap())
    };
    events["of_samples"].as_array().unwrap().iter().map(of_sample).collect()
}

#[test]
fn a_softirq_that_is_left_to_the_tick_waits_for_a_tick() {
    let scene = Scene::warm();
    let (base, late) = (built("base"), built("softirq-tick"));
    let measured = |kernel: &str| scene.run(&["measure", kernel, "--json"]).json();
    let (of_base, of_late) = (measured(&base), measured(&late));
    for name in TIMER {
        let at_once = samples(&of_base, name);
        assert!(at_once.iter().all(|wait| *wait < AT_ONCE), "{name}: {at_once:?}");
        assert!(halts(&of_base, name).iter().all(|count| *count == 0), "{name}");
    }
    // Not all: what another softirq's tick finds raised runs with it.
    let waits = samples(&of_late, "softirq.timer+user");
    let ticks = waits.iter().filter(|wait| **wait >= ABOUT_A_TICK).count();
    assert!(ticks * 5 >= waits.len(), "{waits:?}");
    // The idle CPU executes nothing while it waits for the tick.
    let halts = halts(&of_late, "softirq.timer+idle");
    let halted = halts.iter().filter(|count| **count > 0).count();
    assert!(halted * 5 >= halts.len(), "{halts:?}");
    let only = ["compare", &base, &late, "--only", "softirq.timer*", "--json"];
    let comparison = scene.run(&only).json();
    for name in TIMER {
        let verdict = &path(&comparison, name)["verdict"];
        assert!(
            ["higher", "longer-tail", "mode-appeared"].iter().any(|worse| verdict == worse),
            "{verdict}"
        );
    }
}

#[test]
fn a_softirq_left_to_the_tick_in_every_second_tick_has_a_longer_tail_however_rare_it_is() {
    let kernels = [built("base"), built("softirq-second-tick")];
    let arguments = ["compare", &kernels[0], &kernels[1], "--only", "softirq.timer*", "--json"];
    let comparison = Scene::warm().run(&arguments).json();
    for name in TIMER {
        let row = path(&comparison, name);
        // Where it is half of a run's waits or more, all of the run is higher.
        let worse = ["longer-tail", "mode-appeared", "higher"];
        let worse = worse.iter().any(|verdict| row["verdict"] == *verdict);
        assert!(worse, "{name}: {row}");
    }
    // What the user program sees is the worst of them: the row's own pair, not a footnote.
    let row = path(&comparison, TIMER[0]);
    assert!(row["new"].as_u64().unwrap() >= ABOUT_A_TICK, "{row}");
}
