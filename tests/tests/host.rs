//! The subject `host` on a machine whose kernel's image is at hand: Debian's, in plain QEMU, where
//! pathmeter runs as on any machine. Times mean nothing there; that they join the exact counts of
//! the same image, that settings are proved, and that nothing of them is left, does.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use pathmeter_e2e::{Scene, built, debian, pathmeter};
use pathmeter_image::cpio::{Entry, archive};
use serde_json::Value;

/// What the machine executes beside the command.
const PROGRAMS: [&str; 7] = [
    "/bin/sh",
    "/bin/mount",
    "/bin/cat",
    "/bin/sleep",
    "/bin/mkdir",
    "/bin/chown",
    "/usr/bin/setpriv",
];

/// The files of the machine's root, by their names there.
fn root() -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    files.insert("init".to_owned(), include_bytes!("host/init.sh").to_vec());
    let command = pathmeter().to_str().unwrap();
    for program in PROGRAMS.into_iter().chain([command]) {
        let name = Path::new(program).file_name().unwrap().to_str().unwrap();
        files.insert(format!("bin/{name}"), fs::read(program).unwrap());
        let listed = Command::new("ldd").arg(program).output().unwrap();
        let listed = String::from_utf8(listed.stdout).unwrap();
        let libraries = listed.split_whitespace().filter(|word| word.starts_with('/'));
        files.extend(libraries.map(|it| (it[1..].to_owned(), fs::read(it).unwrap())));
    }
    let named = files.remove(&format!("bin/{}", Path::new(command).file_name().unwrap().display()));
    files.extend(named.map(|bytes| ("bin/pathmeter".to_owned(), bytes)));
    files
}

/// An initramfs with these files.
fn initramfs(files: &BTreeMap<String, Vec<u8>>) -> Vec<u8> {
    let around = files.keys().flat_map(|name| Path::new(name).ancestors().skip(1));
    let mut folders: Vec<&str> = around.map(|folder| folder.to_str().unwrap()).collect();
    folders.extend(["proc", "sys", "dev", "tmp"]);
    folders.sort_unstable();
    folders.dedup();
    let folders = folders.into_iter().filter(|name| !name.is_empty());
    let folders = folders.map(|name| Entry::Directory { name, mode: 0o755 });
    let files = files.iter().map(|(name, data)| Entry::File { name, mode: 0o755, data });
    archive(&folders.chain(files).collect::<Vec<_>>())
}

/// Writes the package's bzImage. QEMU would write a vmlinux to memory again when the machine wakes
/// up, over the kernel that was suspended.
const UNPACK: &str = "ar p \"$1\" data.tar.xz | tar -xJO --wildcards './boot/vmlinuz-*' > bzImage";

/// What the machine wrote, by the lines that it wrote before each text.
fn booted(scene: &Scene, package: &str) -> BTreeMap<String, String> {
    scene.run_command(scene.marked("sh", &["-c", UNPACK, "sh", package])).succeeded();
    scene.write("initramfs", initramfs(&root()));
    let line = "-M q35 -accel tcg -cpu max -m 1G -nodefaults -display none -no-reboot \
                -serial file:console -serial file:told -kernel bzImage -initrd initramfs -append";
    let mut words: Vec<&str> = line.split_whitespace().collect();
    words.push("console=ttyS0 panic=-1 quiet lsm=bpf");
    scene.run_command(scene.marked("qemu-system-x86_64", &words)).succeeded();
    let told = fs::read_to_string(scene.path("told")).unwrap().replace('\r', "");
    let texts = told.split("@ ").skip(1).filter_map(|text| text.split_once('\n'));
    let texts: BTreeMap<_, _> =
        texts.map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
    assert!(texts.contains_key("end"), "{told}\n{:?}", fs::read_to_string(scene.path("console")));
    texts
}

fn document(texts: &BTreeMap<String, String>, name: &str) -> Value {
    let (told, code) = (&texts[name], texts[&format!("{name}.code")].trim());
    assert_eq!(code, "0", "{told}");
    serde_json::from_str(&texts[&format!("{name}.json")]).unwrap()
}

/// The only note that begins so.
fn note<'a>(document: &'a Value, begin: &str) -> &'a str {
    let notes = document["notes"].as_array().unwrap().iter().filter_map(Value::as_str);
    let mut notes = notes.filter(|note| note.starts_with(begin));
    notes.next().unwrap_or_else(|| panic!("no note {begin}: {document}"))
}

#[test]
fn a_machine_whose_image_is_at_hand_is_measured_and_joined_and_nothing_is_left_on_it() {
    let scene = Scene::warm();
    let debian = debian("cloud");
    let kernel = pathmeter_image::load(Path::new(&debian)).unwrap();
    let texts = booted(&scene, &debian);
    let times = document(&texts, "default");
    let id = kernel.build_id.iter().flatten();
    let id = id.fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
    assert_eq!(times["host"]["release"].as_str(), kernel.release.as_deref());
    assert_eq!(times["host"]["build_id"], id.as_str());
    settings_are_proved(&texts);
    assert_counts_join_times(&scene, &texts, &debian);
}

fn settings_are_proved(texts: &BTreeMap<String, String>) {
    let limited = document(texts, "cgroup");
    let limits = note(&limited, "cgroup:");
    for proof in ["/in, and its ", "memory.max reads 67108864", "pids.max reads 100"] {
        assert!(limits.contains(proof), "{limits}");
    }
    assert!(limits.contains("the processes were in the group /pathmeter-"), "{limits}");
    let programs = document(texts, "bpf");
    let programs = note(&programs, "bpf:");
    assert!(programs.contains("executed at least once per call of file.read-zero"), "{programs}");
    assert!(programs.contains("unproved on syscall.getppid"), "{programs}");
    let hooks = document(texts, "lsm");
    let hooks = note(&hooks, "bpf:lsm:");
    assert!(hooks.contains("executed at least once per call of file.read-zero"), "{hooks}");
    let delegated = document(texts, "delegated");
    let delegated = note(&delegated, "cgroup:");
    assert!(delegated.contains("the processes were in the group /user/pathmeter-"), "{delegated}");
    let guardless = document(texts, "guardless");
    let removed = note(&guardless, "the process that was to remove the control group ");
    assert!(removed.ends_with("pathmeter has removed the group itself"), "{removed}");
    let suspended = document(texts, "suspended");
    let slept = note(&suspended, "the machine was suspended for ");
    assert!(slept.ends_with(" s of the session"), "{slept}");
    assert!(texts["refused"].contains("the controller io is not handed on"), "{texts:?}");
    assert_eq!(texts["refused.code"].trim(), "3");
    // The shell may tell of what was killed.
    let killed = texts["KILL"].replace("Killed\n", "");
    assert_eq!((texts["TERM"].trim(), killed.trim()), ("130", "137"));
    assert_eq!(texts["left"], "");
}

/// Asserts that the counts of the same image join the times, and that those of another kernel are
/// refused.
fn assert_counts_join_times(scene: &Scene, texts: &BTreeMap<String, String>, debian: &str) {
    let files = ["default", "cgroup"].map(|name| {
        let file = scene.write(&format!("{name}.json"), &texts[&format!("{name}.json")]);
        file.into_os_string().into_string().unwrap()
    });
    let times = ["--times", &files[0], "--times", &files[1], "--json"];
    let counted = scene.run(&["measure", debian, "--perturb", "1", "-o", "count.json"]);
    counted.succeeded();
    let joined = scene.run(&[&["compare", "count.json", "count.json"], &times[..]].concat());
    let joined = joined.json();
    let names: Vec<&str> = joined["paths"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["path"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"syscall.getppid") && names.contains(&"file.read-zero"), "{names:?}");
    let other = built("base");
    for sides in [[&other, &other], [&debian.to_owned(), &other]] {
        let line = [&["compare", sides[0], sides[1], "--perturb", "1"], &times[..]].concat();
        let refused = scene.run(&line);
        assert_eq!((refused.code, &*refused.stdout), (2, ""), "{}", refused.stderr);
        refused.assert_printed(&["is not the kernel that was timed", "--across"]);
    }
}
