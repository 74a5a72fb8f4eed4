//! The kernels that tests run on.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustix::process::geteuid;

/// Debian's `linux-image` package of this flavour: `cloud` or `rt`.
pub fn debian(flavour: &str) -> String {
    file("PATHMETER_KERNELS", &format!("{flavour}.deb"))
}

/// The small Linux of this variant of `tests/kernels/config`. The first test that needs it builds
/// it, so that nobody waits for kernels that no chosen test needs.
pub fn built(variant: &str) -> String {
    static BUILT: Mutex<BTreeMap<String, Arc<OnceLock<()>>>> = Mutex::new(BTreeMap::new());
    let once = {
        let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(built.entry(variant.to_owned()).or_default())
    };
    once.get_or_init(|| build(variant));
    file("PATHMETER_TEST_KERNELS", &format!("{variant}.bzImage"))
}

/// Builds the variant, unless it is there and up to date.
fn build(variant: &str) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/build.sh");
    let output =
        Command::new(script).arg(read_folder("PATHMETER_TEST_KERNELS")).arg(variant).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The uncompressed kernel that `base` was made of.
pub fn built_vmlinux() -> String {
    built("base");
    file("PATHMETER_TEST_KERNELS", "base-objects/vmlinux")
}

/// A kernel of `tests/kernels/fake`; its name tells what it does.
pub fn fake(name: &str) -> String {
    file("PATHMETER_FAKES", &format!("{name}.elf"))
}

/// The folder of Kubernetes' API server and Job controller; prints a line if there is none.
pub fn job_controller() -> Option<PathBuf> {
    let folder = env::var_os("PATHMETER_JOB_CONTROLLER").map(PathBuf::from);
    let made = folder.filter(|folder| folder.is_dir());
    if made.is_none() {
        println!("left out: PATHMETER_JOB_CONTROLLER names no folder (make job-controller)");
    }
    made
}

/// Whether Slurm is installed; prints a line if not.
pub fn slurm() -> bool {
    let programs = ["munged", "slurmctld", "slurmd"];
    let has = programs.iter().all(|program| Path::new("/usr/sbin").join(program).exists());
    if !has {
        println!("left out: there is no Slurm here");
    }
    has
}

/// Whether root runs the tests; prints a line if not.
pub fn root() -> bool {
    let is_root = geteuid().is_root();
    if !is_root {
        println!("left out: only root can mount a file system that Slurm's programs see");
    }
    is_root
}

/// Whether the long forms of the tests run; prints a line if not.
pub fn soak() -> bool {
    let soak = env::var_os("PATHMETER_SOAK").is_some_and(|value| value == "1");
    if !soak {
        println!("left out: it takes long; PATHMETER_SOAK=1 runs it (make soak)");
    }
    soak
}

/// The folder that this variable of the environment names.
fn read_folder(variable: &str) -> PathBuf {
    let folder = env::var_os(variable).map(PathBuf::from);
    folder.unwrap_or_else(|| panic!("{variable} is not set: run `make test`"))
}

fn file(variable: &str, name: &str) -> String {
    let file = read_folder(variable).join(name);
    assert!(file.is_file(), "{} is missing: run `make test`", file.display());
    file.into_os_string().into_string().unwrap()
}
