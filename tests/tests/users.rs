//! Root and an ordinary user get the same numbers.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::process::Command;

use pathmeter_e2e::{Scene, assert_identical, built, pathmeter, rows};
use rustix::process::geteuid;

/// Debian's `nobody`; any number that owns nothing would do.
const NOBODY: u32 = 65534;

/// A scene that anyone may use, with the command and a kernel in it.
fn open_scene() -> Scene {
    let scene = Scene::cold();
    fs::set_permissions(scene.path("."), Permissions::from_mode(0o755)).unwrap();
    fs::copy(pathmeter(), scene.path("pathmeter")).unwrap();
    fs::write(scene.path("bzImage"), fs::read(built("base")).unwrap()).unwrap();
    scene
}

/// What makes the command run as somebody else: root becomes nobody, and an ordinary user root of a
/// name space.
fn as_somebody_else(scene: &Scene) -> Command {
    if !geteuid().is_root() {
        return scene.marked("unshare", &["--map-root-user"]);
    }
    fs::create_dir(scene.path("cache")).unwrap();
    chown(scene.path("cache"), Some(NOBODY), Some(NOBODY)).unwrap();
    let ids = [format!("--reuid={NOBODY}"), format!("--regid={NOBODY}")];
    let mut command = scene.marked("setpriv", &[&ids[0], &ids[1], "--clear-groups"]);
    command.env("HOME", scene.path("cache"));
    command
}

#[test]
fn root_and_an_ordinary_user_get_the_same_numbers() {
    let arguments = ["./pathmeter", "measure", "bzImage", "--perturb", "1", "--json"];
    let (mine, theirs) = (open_scene(), open_scene());
    let one = mine.run_command(mine.marked("env", &arguments)).json();
    let mut command = as_somebody_else(&theirs);
    command.args(arguments);
    let other = theirs.run_command(command).json();
    assert!(rows(&one).len() > 30);
    assert_identical(&one, &other);
}
