//! The cache's entries: damaged, swapped, replaced and removed.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, symlink};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use fastrand::Rng;
use pathmeter_e2e::Running;

use super::outcome::Ended;
use super::stage::Stage;

/// Does something to a file.
type Damage = fn(&Path, &mut Rng);

/// What may be done to a file.
const DAMAGES: &[(&str, Damage)] = &[
    ("flipped", flip),
    ("cut", cut),
    ("emptied", |file, _| fs::write(file, "").unwrap()),
    ("zeroed", zero),
    ("longer", |file, rng| {
        fs::write(
            file,
            [fs::read(file).unwrap(), vec![rng.u8(..); 1 + rng.usize(..5000)]].concat(),
        )
        .unwrap();
    }),
    ("removed", |file, _| fs::remove_file(file).unwrap()),
    ("a folder", |file, _| {
        fs::remove_file(file).unwrap();
        fs::create_dir(file).unwrap();
    }),
    ("a link to itself", |file, _| {
        fs::remove_file(file).unwrap();
        symlink(file, file).unwrap();
    }),
    ("a pipe", |file, _| {
        fs::remove_file(file).unwrap();
        let made = std::process::Command::new("mkfifo").arg(file).status().unwrap();
        assert!(made.success());
    }),
];

/// Damages up to three entries, then runs.
pub(super) fn damaged(stage: &Stage, rng: &mut Rng) -> Ended {
    let mut files = entries(stage);
    rng.shuffle(&mut files);
    for file in files.iter().take(1 + rng.usize(..3)) {
        let (name, damage) = DAMAGES[rng.usize(..DAMAGES.len())];
        stage.tell(format!("{} {name}", suffix(file)));
        damage(file, rng);
    }
    run(stage, rng)
}

/// Gives each entry the name of another, of the same kind or of any.
pub(super) fn swapped(stage: &Stage, rng: &mut Rng) -> Ended {
    let kinds: &[&str] =
        if rng.bool() { &["result", "snapshot", "symbols"] } else { &["result|snapshot|symbols"] };
    for kind in kinds {
        let of_kind = |file: &PathBuf| kind.split('|').any(|kind| suffix(file) == kind);
        let files: Vec<_> = entries(stage).into_iter().filter(of_kind).collect();
        let moved = |file: &PathBuf| file.with_extension("moved");
        for file in &files {
            fs::rename(file, moved(file)).unwrap();
        }
        for (index, file) in files.iter().enumerate() {
            fs::rename(moved(file), &files[(index + 1) % files.len()]).unwrap();
        }
        stage.tell(format!("{} of {kind} swapped", files.len()));
    }
    run(stage, rng)
}

/// Removes entries, and sometimes the folder, again and again while a command runs.
pub(super) fn removed_during_a_run(stage: &Stage, rng: &mut Rng) -> Ended {
    let expected = stage.any(rng);
    let whole = rng.u8(..4) == 0;
    stage.tell(if whole { "the folder" } else { "entries" });
    let running = Running::start(stage.command(expected, 60));
    for _ in 0..rng.usize(1..200) {
        if whole {
            // It may be removed while something is made in it: then the next time.
            let _ = fs::remove_dir_all(stage.cache());
        }
        for file in entries(stage) {
            // Whoever made it may have given it its name by now.
            let _ = fs::remove_file(file);
        }
        sleep(Duration::from_millis(rng.u64(..10)));
    }
    let ended = expected.assert_kept(&stage.finish(running), &[]);
    assert_eq!(ended, Ended::Same, "a cache that vanishes costs time only");
    ended
}

/// What was done to the cache can't be a reason to fail.
fn run(stage: &Stage, rng: &mut Rng) -> Ended {
    let expected = stage.any(rng);
    let running = Running::start(stage.command(expected, 60));
    let run = stage.finish(running);
    assert_eq!(run.code, 0, "{}", run.stderr);
    expected.assert_kept(&run, &[])
}

fn entries(stage: &Stage) -> Vec<PathBuf> {
    stage.scene.cached().iter().map(|name| stage.cache().join(name)).collect()
}

fn suffix(file: &Path) -> &str {
    file.extension().unwrap_or_default().to_str().unwrap()
}

pub(super) fn flip(file: &Path, rng: &mut Rng) {
    let open = File::options().read(true).write(true).open(file).unwrap();
    let length = open.metadata().unwrap().len();
    for _ in 0..=rng.usize(..4) {
        let (at, mut byte) = (rng.u64(..length.max(1)), [0]);
        if open.read_at(&mut byte, at).unwrap() == 1 {
            open.write_all_at(&[byte[0] ^ (1 << rng.u32(..8))], at).unwrap();
        }
    }
}

pub(super) fn cut(file: &Path, rng: &mut Rng) {
    let open = File::options().write(true).open(file).unwrap();
    let length = open.metadata().unwrap().len();
    open.set_len(rng.u64(..length.max(1))).unwrap();
}

pub(super) fn zero(file: &Path, rng: &mut Rng) {
    let open = File::options().write(true).open(file).unwrap();
    let at = rng.u64(..open.metadata().unwrap().len().max(1));
    open.write_all_at(&vec![0; 1 + rng.usize(..4096)], at).unwrap();
}
