//! Kernels with flipped bits.

use std::fs;
use std::time::Duration;

use fastrand::Rng;
use pathmeter_e2e::{Running, built_vmlinux};
use serde_json::Value;

use super::outcome::{Ended, assert_names_a_cause, assert_no_panic};
use super::stage::Stage;

/// Flips up to 64 bits anywhere in an uncompressed kernel. Whatever it then does, the run ends in
/// time, with a document or an error.
pub(super) fn flipped(stage: &Stage, rng: &mut Rng) -> Ended {
    let mut bytes = fs::read(built_vmlinux()).unwrap();
    let flips = 1 + rng.usize(..64);
    // Half of them near the beginning, where the headers and the code are.
    for _ in 0..flips {
        let span = if rng.bool() { bytes.len() } else { bytes.len().min(1 << 20) };
        bytes[rng.usize(..span)] ^= 1 << rng.u32(..8);
    }
    stage.tell(format!("{flips} bits"));
    let kernel = stage.scene.write("out/flipped", bytes);
    let arguments = ["measure", kernel.to_str().unwrap(), "--perturb", "1", "--json"];
    let mut command = stage.scene.command(&arguments);
    command.args(["--timeout", "2"]).env("TMPDIR", stage.scene.path("tmp"));
    let run = stage.finish(Running::start(command));
    assert_no_panic(&run);
    // Five kernels that die in a path, three steps each, and what the machine takes for them.
    assert!(run.elapsed < Duration::from_secs(60), "it took {:?}", run.elapsed);
    assert!([0, 3].contains(&run.code), "exit code {}: {}", run.code, run.stderr);
    if run.stdout.is_empty() {
        assert_names_a_cause(&run);
        return Ended::Refused;
    }
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(document["schema"], "pathmeter.result/1");
    Ended::Same
}
