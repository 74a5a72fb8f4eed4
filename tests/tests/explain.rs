//! `explain`: the functions that a path's instructions are in, on real kernels.

use std::path::Path;

use pathmeter_e2e::{Scene, built, debian};
use serde_json::{Value, json};

/// The explanation of `path` in Debian's cloud kernel.
fn explained(scene: &Scene, path: &str) -> Value {
    scene.run(&["explain", path, &debian("cloud"), "--json"]).json()
}

fn total(explain: &Value) -> u64 {
    explain["base"]["window"]["total"].as_u64().unwrap()
}

/// Instructions by function, of the window shown.
fn functions(explain: &Value) -> Vec<(String, u64)> {
    let functions = explain["base"]["window"]["functions"].as_array().unwrap();
    let self_of = |function: &Value| {
        let name = function["name"].as_str().unwrap_or_default().to_owned();
        (name, function["counts"]["instructions"].as_u64().unwrap())
    };
    functions.iter().map(self_of).collect()
}

fn of(functions: &[(String, u64)], name: &str) -> u64 {
    functions.iter().filter(|(function, _)| function == name).map(|(_, count)| count).sum()
}

/// Bytes moved by rep string instructions, over all functions.
fn rep_bytes(explain: &Value) -> u64 {
    let functions = explain["base"]["window"]["functions"].as_array().unwrap();
    functions.iter().map(|function| function["counts"]["rep_bytes"].as_u64().unwrap()).sum()
}

/// The events that `measure` counted in each of the path's samples.
fn events_of_samples(row: &Value) -> Vec<Value> {
    let events = &row["events"];
    let names = events["names"].as_array().unwrap();
    let of_sample = |place: &Value| {
        let numbers = &events["distinct"][usize::try_from(place.as_u64().unwrap()).unwrap()];
        let named = names.iter().zip(numbers.as_array().unwrap());
        let some = named.filter(|(_, number)| **number != 0);
        some.map(|(name, number)| (name.as_str().unwrap().to_owned(), number.clone())).collect()
    };
    events["of_samples"].as_array().unwrap().iter().map(of_sample).collect()
}

#[test]
fn the_functions_add_up_to_what_is_measured_in_every_event() {
    let scene = Scene::warm();
    let cloud = debian("cloud");
    let of_linux = ["file.stat", "memory.fault-anon", "process.fork-exit", "switch.pipe"];
    for (kernel, paths) in [(cloud.as_str(), &of_linux[..]), ("lab", &["syscall.getppid"])] {
        let measured = scene.run(&["measure", kernel, "--json"]).json();
        for path in paths {
            let run = scene.run(&["explain", path, kernel, "--json"]);
            let explain = run.json();
            let row = pathmeter_e2e::path(&measured, path);
            let window = &explain["base"]["window"];
            // Which of several exact values is the most frequent one differs from run to run.
            let samples = row["samples"].as_array().unwrap();
            assert!(samples.contains(&window["total"]), "{path}: {}", window["total"]);
            let sum: u64 = functions(&explain).iter().map(|(_, count)| count).sum();
            assert_eq!(sum, total(&explain), "{path}");
            let samples = events_of_samples(row);
            assert!(samples.contains(&window["events"]), "{path}: {}", window["events"]);
        }
    }
}

/// Kernels that execute as many instructions as `base`, the event that they have more of on the
/// way of every system call, and by how much.
const HIDDEN_COSTS: [(&str, &str, i64); 11] = [
    ("lfence", "lfence", 1),
    ("popf", "popf", 1),
    ("lock", "locked", 1),
    ("four-lines", "data-lines", 3),
    ("div", "div-64", 1),
    ("segment-load", "load-segment", 1),
    ("wrmsr", "wrmsr", 1),
    ("split-line", "split-accesses", 2),
    ("indirect-call", "indirect-branches", 1),
    ("clflush", "clflush", 1),
    ("two-pages", "data-pages", 1),
];

#[test]
fn a_cost_that_no_instruction_shows_is_found_in_its_function() {
    let scene = Scene::warm();
    let base = built("base");
    for (variant, event, more) in HIDDEN_COSTS {
        let arguments = ["explain", "syscall.getppid", &base, &built(variant)];
        let explain = scene.run(&[&arguments[..], &["--json"]].concat()).json();
        let difference = &explain["difference"];
        assert_eq!((&difference["total"], &difference["events"][event]), (&0.into(), &more.into()));
        let functions = difference["functions"].as_array().unwrap();
        let differ = |of: &&Value| !of["events"].as_object().unwrap().is_empty();
        let names: Vec<_> = functions.iter().filter(differ).map(|of| &of["name"]).collect();
        assert_eq!(names, ["pathmeter_fixture"], "{variant}");
        let table = scene.run(&arguments).stdout;
        let row = table.lines().find(|line| line.contains(&format!("  {event}  ")));
        assert!(row.is_some_and(|row| row.contains("  pathmeter_fixture +")), "{table}");
    }
}

#[test]
fn a_function_that_only_moved_is_named() {
    let scene = Scene::warm();
    let (base, moved) = (built("base"), built("moved-entry"));
    let explain = scene.run(&["explain", "syscall.getppid", &base, &moved, "--json"]).json();
    assert_eq!(explain["difference"]["total"], 0);
    let functions = explain["difference"]["functions"].as_array().unwrap();
    let moved_ones: Vec<_> = functions.iter().filter(|of| of["moved"] == true).collect();
    let [entry] = moved_ones[..] else { panic!("{moved_ones:?}") };
    let place = |side: &str| entry[side]["entry_in_line"].as_u64().unwrap();
    assert_eq!((&entry["name"], place("base") + 16), (&"entry_SYSCALL_64".into(), place("new")));
    let arguments = ["explain", "syscall.getppid", &base, &moved];
    let said = "moved  entry_SYSCALL_64 (entry ";
    assert!(scene.run(&arguments).stdout.contains(said));
    let table = scene.run(&[&arguments[..], &["--placement"]].concat()).stdout;
    assert!(table.contains("  moved   entry_SYSCALL_64\n"), "{table}");
}

#[test]
fn a_comparison_explains_a_path_in_which_only_an_event_differs() {
    let scene = Scene::warm();
    let (base, lfence) = (built("base"), built("lfence"));
    let only = "syscall.getppid,flags.popf";
    let run = scene.run(&["compare", &base, &lfence, "--only", only, "--explain", "--full"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("path  syscall.getppid"), "{}", run.stdout);
    assert!(run.stdout.contains("  lfence  pathmeter_fixture +1"), "{}", run.stdout);
    assert!(!run.stdout.contains("path  flags.popf"), "which did not change");
}

#[test]
fn two_full_bitmaps_are_copied_on_the_way_to_user_mode() {
    let scene = Scene::warm();
    let bare = explained(&scene, "switch.yield");
    let both = explained(&scene, "switch.yield+ioport-both");
    let update = "native_tss_update_io_bitmap";
    assert_eq!(of(&functions(&bare), update), 0);
    assert!(of(&functions(&both), update) > 0);
    assert_eq!(rep_bytes(&both) - rep_bytes(&bare), 2 * 8192, "8 KiB for each task");
    let lines = |explain: &Value| explain["base"]["window"]["footprint"]["data_lines"].as_u64();
    assert!(lines(&both) >= lines(&bare).map(|lines| lines + 100), "further lines of data");
    let clock = |explain: &Value| explain["base"]["window"]["clock"].as_u64().unwrap();
    assert!(clock(&both) > clock(&bare) + 2 * 8192, "each byte is a step of the clock");
    let more = total(&both) - total(&bare);
    assert!((1..1000).contains(&more), "{more}: each copy is one instruction");
}

#[test]
fn one_nop_in_the_entry_is_found_in_the_entry() {
    let scene = Scene::warm();
    let arguments = ["explain", "syscall.getppid", &built("base"), &built("nop"), "--json"];
    let explain = scene.run(&arguments).json();
    assert_eq!(explain["difference"]["total"], 1);
    let functions = explain["difference"]["functions"].as_array().unwrap();
    let changed: Vec<&Value> =
        functions.iter().filter(|function| function["difference"] != 0).collect();
    let [entry] = changed[..] else { panic!("{changed:?}") };
    assert_eq!((&entry["name"], &entry["difference"]), (&"entry_SYSCALL_64".into(), &1.into()));
}

#[test]
fn the_same_explanation_every_time() {
    let scene = Scene::warm();
    let cloud = debian("cloud");
    let explain = ["explain", "switch.yield", &cloud, "--json"];
    let first = scene.run(&explain).stdout;
    let times = if pathmeter_e2e::soak() { 100 } else { 1 };
    for _ in 0..times {
        // Recorded anew.
        let again = scene.run(&[&explain[..], &["--no-cache"]].concat()).stdout;
        assert_eq!(again, first);
    }
}

/// A file that is built like the vmlinux of a kernel whose `getppid` runs into a function that was
/// inlined there. Only its lines and addresses are asked for; a banner names the kernel it belongs
/// to.
const GETPPID: &str = r#"
#line 1 "kernel/sys.c"
static inline __attribute__((always_inline)) void read_parent(void)
{
	asm volatile(".skip 0x20, 0x90");
}

void getppid(void)
{
	asm volatile(".skip 4, 0x90");
	read_parent();
	asm volatile(".skip 0x40, 0x90");
}
#ifdef BANNER
const char linux_banner[] = BANNER;
#endif
"#;

/// The compiler's option that gives [`GETPPID`] the banner of this kernel.
fn banner_of(kernel: &str) -> String {
    let banner = pathmeter_image::load(Path::new(kernel)).unwrap().banner.unwrap();
    format!("-DBANNER=\"{banner}\"")
}

/// Compiles [`GETPPID`] to where the measured kernel has its own.
fn vmlinux(scene: &Scene, address: &str, options: &[&str]) -> String {
    scene.write("getppid.c", GETPPID);
    let text = format!("-Wl,-Ttext={address},-e,getppid,--build-id=none");
    let mut gcc = scene.marked("gcc", &["-g", "-O2", "-ffreestanding", "-mcmodel=kernel"]);
    gcc.args(["-nostdlib", "-static", "-no-pie", "-fno-pie", "-fcf-protection=none"]);
    gcc.arg(text).args(options).args(["getppid.c", "-o", "vmlinux"]);
    assert!(gcc.status().unwrap().success());
    scene.path("vmlinux").into_os_string().into_string().unwrap()
}

/// The one function called `name`.
fn function<'a>(explain: &'a Value, name: &str) -> &'a Value {
    let functions = explain["base"]["window"]["functions"].as_array().unwrap();
    let found: Vec<_> = functions.iter().filter(|function| function["name"] == name).collect();
    let [function] = found[..] else { panic!("{} called {name}", found.len()) };
    function
}

#[test]
fn a_vmlinux_gives_inlined_functions_and_lines() {
    let scene = Scene::warm();
    let plain = explained(&scene, "syscall.getppid");
    let getppid = function(&plain, "__x64_sys_getppid");
    assert_eq!((&getppid["source"], &getppid["lines"]), (&Value::Null, &json!([])));
    let cloud = debian("cloud");
    let banner = banner_of(&cloud);
    let vmlinux = vmlinux(&scene, getppid["address"].as_str().unwrap(), &[&banner]);
    let arguments = ["explain", "syscall.getppid", &cloud, "--vmlinux", &vmlinux];
    let run = |more: &[&str]| scene.run(&[&arguments, more].concat());

    let explain = run(&["--json", "--callgrind", "profile"]).json();
    assert_eq!(total(&explain), total(&plain));
    let (outer, inner) =
        (function(&explain, "__x64_sys_getppid"), function(&explain, "read_parent"));
    assert_eq!(outer["address"], getppid["address"]);
    assert_eq!(outer["source"], json!({"file": "kernel/sys.c", "line": 8}));
    assert_eq!((&inner["address"], &inner["source"]["line"]), (&Value::Null, &json!(3)));
    let own = |function: &Value| function["counts"]["instructions"].as_u64().unwrap();
    assert_eq!(own(outer) + own(inner), own(getppid));
    assert_eq!(inner["lines"][0]["instructions"], own(inner));

    let lines = format!("fl=kernel/sys.c\nfn=read_parent\n3 {} ", own(inner));
    let profile = std::fs::read_to_string(scene.path("profile")).unwrap();
    assert!(profile.contains(&lines), "{profile}");
    let table = run(&["--min", "1"]).stdout;
    assert!(table.contains("read_parent (inlined)"), "{table}");
    assert!(table.contains("  __x64_sys_getppid at kernel/sys.c:8\n"), "{table}");
}

#[test]
fn a_vmlinux_of_another_kernel_is_refused() {
    let scene = Scene::warm();
    let banner = r#"-DBANNER="Linux version 5.0.0-other (u@h) #1 SMP""#;
    let vmlinux = vmlinux(&scene, "0xffffffff81000000", &[banner]);
    let run = scene.run(&["explain", "syscall.getppid", &debian("cloud"), "--vmlinux", &vmlinux]);
    run.assert_unmeasured(&["made for another kernel", "5.0.0-other"]);
}

#[test]
fn what_nothing_identifies_and_a_system_map_are_refused_before_anything_is_measured() {
    let scene = Scene::cold();
    let stripped = vmlinux(&scene, "0xffffffff81000000", &[]);
    scene.write("System.map", "ffffffff81000000 T _text\n");
    let map = scene.path("System.map").into_os_string().into_string().unwrap();
    for (file, what) in [(stripped, "it can't be identified"), (map, "not an ELF file")] {
        let compare = ["compare", &debian("cloud"), &debian("rt"), "--explain", "--vmlinux", &file];
        let run = scene.run(&compare);
        run.assert_unmeasured(&[&file, what]);
        assert!(!run.stderr.contains("booting"), "{}", run.stderr);
    }
}

#[test]
fn a_path_without_windows_is_refused_before_anything_runs() {
    let scene = Scene::cold();
    for path in ["flags.isolation", "softirq.round-trip"] {
        let run = scene.run(&["explain", path, &debian("cloud")]);
        assert_eq!(run.code, 2, "{}", run.stderr);
        run.assert_printed(&["has no window to record"]);
    }
    let run = scene.run(&["explain", "switch.yeild", &debian("cloud")]);
    assert_eq!(run.code, 2);
    run.assert_printed(&["did you mean switch.yield"]);
}

#[test]
fn a_comparison_explains_each_path_that_changed() {
    let scene = Scene::warm();
    let (base, nop) = (built("base"), built("nop"));
    let only = ["--only", "file.stat,flags.popf", "--explain"];
    let run = scene.run(&[&["compare", &base, &nop][..], &only, &["--full"]].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("path  file.stat") && run.stdout.contains("entry_SYSCALL_64"));
    assert!(!run.stdout.contains("path  flags.popf"), "which did not change");
}

#[test]
fn an_injected_change_is_the_only_cause_and_another_order_of_functions_is_none() {
    let scene = Scene::warm();
    let base = built("base");
    for (variant, function) in [
        ("nop", Some("entry_SYSCALL_64")),
        ("wrmsr", Some("pathmeter_fixture")),
        ("reordered", None),
    ] {
        let only = ["--only", "syscall.getppid,file.stat,switch.yield", "--explain", "--json"];
        let run = scene.run(&[&["compare", &base, &built(variant)][..], &only].concat());
        let causes = run.json()["comparison"]["causes"].clone();
        let found = causes["causes"].as_array().unwrap();
        let names: Vec<_> =
            found.iter().map(|cause| cause["parts"][0]["functions"][0].as_str()).collect();
        assert_eq!(names, function.map(Some).into_iter().collect::<Vec<_>>(), "{variant}");
        assert!(found.iter().all(|cause| cause["parts"].as_array().unwrap().len() == 1));
        let Some(cause) = found.first() else { continue };
        let shown = scene.run(&[&["compare", &base, &built(variant)][..], &only[..2]].concat());
        // The recordings are at hand now.
        let [named, table] = [function.unwrap(), "share  rows"].map(|it| shown.stdout.contains(it));
        assert!(named && table, "{}", shown.stdout);
        assert_eq!(cause["rows"].as_array().unwrap().len(), 3);
    }
}

#[test]
fn functions_without_names_have_no_causes_and_the_output_says_why() {
    let scene = Scene::warm();
    let only = ["--only", "syscall.getppid", "--explain"];
    let run = scene.run(&[&["compare", &built("base"), &built("bare")][..], &only].concat());
    let told = "no causes: bare.bzImage has no symbol table";
    assert!(run.stdout.contains(told) && !run.stdout.contains("share  rows"), "{}", run.stdout);
}

/// A QEMU that was built without plugins: it runs everything else.
pub(crate) const WITHOUT_PLUGINS: &str = r#"#!/bin/sh
for word; do
	if [ "$word" = -plugin ]; then
		echo "qemu-system-x86_64: -plugin: invalid option" >&2
		exit 1
	fi
done
exec qemu-system-x86_64 "$@"
"#;

#[test]
fn a_qemu_without_plugins_still_measures() {
    let scene = Scene::cold();
    let qemu = &scene.executable("qemu", WITHOUT_PLUGINS);
    let run = scene.run(&["explain", "file.stat", "lab", "--qemu", qemu, "--perturb", "1"]);
    assert_eq!(run.code, 3, "{}", run.stderr);
    run.assert_printed(&["does not take the recorder plugin", "invalid option", "7.2 or newer"]);
    let run = scene.run(&["measure", "lab", "--qemu", qemu, "--perturb", "1"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
}
