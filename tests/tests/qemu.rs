//! QEMUs that aren't there, don't suit, or die.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use pathmeter_e2e::{Scene, built, debian};
use rustix::process::{Pid, Signal, kill_process};

/// Makes a program of the scene out of a shell script.
fn script(scene: &Scene, name: &str, text: &str) -> String {
    let file = scene.write(name, format!("#!/bin/sh\n{text}\n"));
    fs::set_permissions(&file, Permissions::from_mode(0o755)).unwrap();
    file.into_os_string().into_string().unwrap()
}

#[test]
fn none_on_path_names_the_package() {
    let scene = Scene::cold();
    let mut command = scene.command(&["measure", &built("base")]);
    command.env("PATH", scene.path("empty"));
    let words = ["qemu-system-x86_64 was not found on PATH", "apt-get install qemu-system-x86"];
    scene.run_command(command).assert_unmeasured(&words);
}

#[test]
fn one_that_is_not_there_is_named() {
    let run = Scene::cold().run(&["measure", &built("base"), "--qemu", "/nonexistent/qemu"]);
    run.assert_unmeasured(&["/nonexistent/qemu was not found", "--qemu FILE"]);
}

#[test]
fn one_too_old_is_told_with_what_is_needed() {
    let scene = Scene::cold();
    let old = script(&scene, "old-qemu", "echo 'QEMU emulator version 5.2.0'");
    let run = scene.run(&["measure", &built("base"), "--qemu", &old]);
    run.assert_unmeasured(&["old-qemu is QEMU 5.2.0", "7.2 or newer is needed", "install a newer"]);
}

#[test]
fn one_that_ends_at_once_is_quoted() {
    let scene = Scene::cold();
    let text = "[ \"$1\" = --version ] && echo 'QEMU emulator version 8.0.0' && exit\n\
                echo 'qemu: there is no room' >&2; exit 1";
    let broken = script(&scene, "broken-qemu", text);
    let run = scene.run(&["measure", &built("base"), "--qemu", &broken]);
    run.assert_unmeasured(&["base.bzImage: booting the kernel: ", "qemu: there is no room"]);
    assert_eq!(scene.cached(), [""; 0]);
}

/// Kills QEMU once the command has said `phase`.
fn killed_while(phase: &str) {
    let scene = Scene::cold();
    let kernel = debian("cloud");
    let mut running = scene.start(&["measure", &kernel, "--perturb", "64"]);
    running.until_said(phase);
    running.until("QEMU runs", || !scene.guests().is_empty());
    for guest in scene.guests() {
        let guest = Pid::from_raw(i32::try_from(guest).unwrap()).unwrap();
        kill_process(guest, Signal::KILL).unwrap();
    }
    let run = running.wait();
    run.assert_unmeasured(&["cloud.deb: ", "QEMU", "signal: 9", "help: "]);
    scene.assert_nothing_running();
    scene.assert_cache_is_tidy();
}

#[test]
fn one_killed_during_boot() {
    killed_while("booting");
}

#[test]
fn one_killed_while_it_measures() {
    killed_while("walking the paths");
}
