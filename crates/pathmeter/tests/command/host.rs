//! The verb `host`: this machine, in time, whatever it permits.

use pathmeter_model::{Boots, Times, example};

use crate::results::{base, more_expensive};
use crate::scene::{Scene, document, reseal};

const QUICK: [&str; 6] = ["--only", "syscall.getppid,insn.inc", "--replicates", "3", "--seed", "1"];

#[test]
fn this_machine_is_measured_in_nanoseconds_and_its_document_is_a_subject() {
    let scene = Scene::new();
    let ran = scene.run(&[&["host", "-o", "host.json"], &QUICK[..]].concat());
    assert_eq!((ran.code, &*ran.stderr), (Some(0), "pathmeter: note: host.json: written\n"));
    let head = ran.stdout.lines().next().unwrap();
    assert!(head.starts_with("path") && head.contains("ns") && head.contains("A/A"), "{head}");
    assert!(ran.stdout.contains("\nsyscall.getppid") && ran.stdout.contains("\ninsn.inc"));
    assert!(!ran.stdout.contains("instructions"), "{}", ran.stdout);
    let again = scene.run(&["host", "host.json", "--only", "syscall.getppid,insn.inc"]);
    assert_eq!((again.code, again.stdout), (Some(0), ran.stdout));
    let same =
        scene.run(&["host", "compare", "host.json", "host.json", "--only", "syscall.getppid"]);
    assert_eq!(same.code, Some(0), "{}", same.stderr);
    // Of three replicates chance decides whether they are enough for `equal`.
    let told = ["Nothing is decided: of 1 path, 1 is undecidable.", "Of 1 path, 1 is equal."];
    assert!(told.iter().any(|told| same.stdout.starts_with(told)), "{}", same.stdout);
}

#[test]
fn two_conditions_are_compared_in_one_session() {
    let scene = Scene::new();
    let pair = ["host", "compare", "--under", "default", "--under", "seccomp:docker"];
    let ran = scene.run(&[&pair[..], &QUICK].concat());
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
    // Of three replicates chance decides whether they are enough for a verdict.
    let told = ["Of 2 paths, ", "Nothing is decided: of 2 paths, "];
    assert!(told.iter().any(|told| ran.stdout.starts_with(told)), "{}", ran.stdout);
    assert!(ran.stdout.contains("new: seccomp:docker"), "{}", ran.stdout);
}

/// On a kernel without Landlock no path has times, and each says why.
#[test]
fn processes_of_a_live_host_restrict_themselves_by_layers() {
    let scene = Scene::new();
    let under = "landlock:2 seccomp:docker";
    let pair = ["host", "compare", "--under", "default", "--under", under];
    let ran = scene.run(&[&pair[..], &QUICK].concat());
    let told = format!("{}{}", ran.stdout, ran.stderr);
    let is_compared = ran.code == Some(0) && told.contains(&format!("new: {under}"));
    assert!(is_compared || told.contains("restraint"), "{told}");
}

#[test]
fn what_a_live_host_can_not_have_is_refused_with_the_reason() {
    let scene = Scene::new();
    for (line, told) in [
        (&["host", "--under", "boot:nopti"][..], "it would have to boot again"),
        (&["host", "--under", "sysctl:vm.swappiness=1"], "change the whole machine"),
        (&["host", "--under", "bpf:cgroup_sysctl"], "the group of all processes"),
        (&["host", "--under", "bpf:tracepoint:sched:shed_switch"], "trace"),
        (&["host", "--under", "ioports:0"], "is 1 to 65536"),
        (&["host", "--under", "perf:sched"], "GROUP:EVENT"),
        (&["host", "--under", "perf:sched:shed_switch"], "tracepoint"),
        (&["measure", "lab", "--under", "ioports:10"], "only processes of a live host"),
        (&["host", "--under", "cpu:zen2"], "it has the CPU that it has"),
        (&["host", "--cpu", "zen2"], "host has no option --cpu"),
        (&["host", "--format", "csv"], "host has no option --format"),
        (&["host", "--pin", "9999"], "may not execute on CPU 9999"),
        (&["host", "--only", "no.path"], "no.path"),
        (&["measure", "lab", "--replicates", "3"], "--replicates"),
        (&["measure", "host"], "`pathmeter host` measures it"),
        (&["host", "--under", "default", "--under", "seccomp:docker"], "host compare --under"),
        (&["host", "compare", "lab", "lab"], "is measured in instructions"),
        (&["compare", "host", "lab"], "host is this machine"),
        (&["explain", "file.stat", "host"], "host"),
        (&["run", "host", "--", "/bin/true"], "host is this machine"),
        (&["bisect", "host", "host", "--path", "file.stat"], "host"),
    ] {
        let ran = scene.run(line);
        assert_eq!((ran.code, &*ran.stdout), (Some(2), ""), "{line:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(told), "{line:?}: {}", ran.stderr);
    }
}

#[test]
fn a_gate_on_times_fails_by_what_is_slower_and_by_what_has_no_verdict() {
    let scene = Scene::new();
    for (name, levels) in [("a", [10_000, 50_000, 90_000]), ("b", [10_000, 55_000, 90_000])] {
        scene.write(&format!("{name}.json"), times(levels));
    }
    let mut few = read_times(&times([10_000, 50_000, 90_000]));
    few.paths.iter_mut().for_each(|path| path.replicates.truncate(3));
    scene.write("few.json", document(&few));
    let check = |words: &[&str]| {
        let ran = scene.run(&[&["host", "compare"], words, &["--check"]].concat());
        (ran.code, ran.stderr)
    };
    assert_eq!(check(&["a.json", "a.json"]), (Some(0), String::new()));
    assert_eq!(check(&["a.json", "b.json"]).0, Some(1));
    assert_eq!(check(&["b.json", "a.json"]).0, Some(0));
    let (code, told) = check(&["a.json", "few.json"]);
    assert_eq!(code, Some(3), "{told}");
    assert!(told.contains("--check: syscall.getppid and 2 more: no verdict"), "{told}");
    // Without a gate that is a result like any other, and its first words say so.
    let shown = scene.run(&["host", "compare", "a.json", "few.json"]);
    assert_eq!(shown.code, Some(0));
    assert!(shown.stdout.starts_with("Nothing is decided: of 3 paths, 3 are undecidable."));
    assert!(shown.stdout.contains("too few replicates: --replicates "), "{}", shown.stdout);
    let idle = scene.run(&["host", "compare", "a.json", "a.json", "--pin", "0"]);
    assert_eq!((idle.code, &*idle.stdout), (Some(2), ""));
    assert!(idle.stderr.contains("--pin would change nothing: a.json is"), "{}", idle.stderr);
    let counted = scene.run(&["compare", "a.json", "a.json"]);
    assert_eq!((counted.code, &*counted.stdout), (Some(2), ""));
    assert!(
        counted.stderr.contains("a.json has times, which are not counts"),
        "{}",
        counted.stderr
    );
}

#[test]
fn damaged_times_are_refused_by_name() {
    let scene = Scene::new();
    scene.write(
        "bad.json",
        document(&serde_json::json!({"schema": "pathmeter.times/1", "conditions": []})),
    );
    let ran = scene.run(&["host", "bad.json"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(3), ""));
    assert!(ran.stderr.contains("bad.json: not a whole pathmeter.times/1"), "{}", ran.stderr);
    let ran = scene.run(&["history", "add", "bad.json"]);
    assert!(ran.code != Some(0) && ran.stderr.contains("pathmeter.times/1"), "{}", ran.stderr);
}

#[test]
fn a_boot_is_added_to_a_file_once() {
    let scene = Scene::new();
    let boots = [&["host", "--boots", "boots.json"], &QUICK[..]].concat();
    let first = scene.run(&boots);
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    assert!(first.stderr.contains("boots.json has 1 of this kernel's boots"), "{}", first.stderr);
    let kept = std::fs::read(scene.path("boots.json")).unwrap();
    let again = scene.run(&boots);
    assert_eq!((again.code, &*again.stdout), (Some(2), ""));
    assert!(again.stderr.contains("this boot is there already; boot again"), "{}", again.stderr);
    assert_eq!(std::fs::read(scene.path("boots.json")).unwrap(), kept);
    let twice = scene.run(&[&boots[..], &["-o", "boots.json"]].concat());
    assert_eq!((twice.code, &*twice.stdout), (Some(2), ""));
    assert_eq!(std::fs::read(scene.path("boots.json")).unwrap(), kept, "{}", twice.stderr);
}

#[test]
fn times_that_can_not_be_joined_are_refused_before_a_kernel_is_measured() {
    let scene = Scene::with(&base(), &more_expensive());
    scene.write(
        "bad.json",
        document(&serde_json::json!({"schema": "pathmeter.times/1", "conditions": []})),
    );
    scene.write("one.json", times([10_000, 50_000, 90_000]));
    for (more, told) in [
        (&["--times", "one.json"][..], "nothing to compare"),
        (&["--times", "bad.json", "--times", "one.json"], "bad.json: not a whole"),
        (&["--times", "one.json", "--times", "lab"], "lab is measured in instructions"),
    ] {
        let ran = scene.run(&[&["compare", "lab", "lab", "--qemu", "no-qemu"], more].concat());
        assert!(ran.stderr.contains(told), "{more:?}: {}", ran.stderr);
        assert!(!ran.stderr.contains("no-qemu"), "{}", ran.stderr);
    }
}

/// 20 processes of each path, whose levels lie at and above these.
fn times(levels: [u64; 3]) -> String {
    let of = |level: u64| (0..20).map(|at| level + at % 5).collect::<Vec<u64>>();
    let [getppid, yields, pipe] = levels.map(of);
    let times = example::times(&[
        ("syscall.getppid", 1, &getppid),
        ("switch.yield", 1, &yields),
        ("switch.pipe", 1, &pipe),
    ]);
    document(&times)
}

/// The same, of the kernel of this release.
fn times_of(release: &str, levels: [u64; 3]) -> String {
    reseal(&times(levels).replace("\"7.1.0\"", &format!("\"{release}\"")))
}

/// Times as they were before they were a document.
fn read_times(text: &str) -> Times {
    serde_json::from_slice(&pathmeter_seal::unsealed(text.as_bytes()).unwrap()).unwrap()
}

#[test]
fn counts_and_times_of_two_kernels_are_joined_only_if_that_is_asked_for() {
    let scene = Scene::new();
    scene.write("a.json", document(&base()));
    scene.write("a.times.json", times_of("6.1.0-old", [10_000, 50_000, 90_000]));
    scene.write("b.times.json", times_of("6.2.0", [10_500, 55_000, 90_000]));
    let sides = ["compare", "a.json", "a.json", "--times", "a.times.json"];
    let sides = [&sides[..], &["--times", "b.times.json"]].concat();
    let ran = scene.run(&sides);
    assert_eq!((ran.code, &*ran.stdout), (Some(2), ""), "{}", ran.stderr);
    let told = "is not the kernel that was timed: it is 6.1.0-old, and that was 6.2.0";
    assert!(ran.stderr.contains(told) && ran.stderr.contains("--across"), "{}", ran.stderr);
    let across = scene.run(&[&sides[..], &["--across"]].concat());
    assert_eq!(across.code, Some(0), "{}", across.stderr);
    assert!(across.stderr.contains(told), "{}", across.stderr);
    let noted = "new was counted with Linux 6.1.0-old and timed with Linux 6.2.0";
    assert!(across.stdout.replace('\n', " ").contains(noted), "{}", across.stdout);
}

#[test]
fn counts_and_times_are_joined_and_what_both_mean_is_told() {
    let scene = Scene::new();
    scene.write("a.json", document(&base()));
    scene.write("b.json", document(&more_expensive()));
    scene.write("a.times.json", times_of("6.1.0-old", [10_000, 50_000, 90_000]));
    scene.write("b.times.json", times_of("6.1.0-new", [10_500, 55_000, 90_000]));
    let sides = ["compare", "a.json", "b.json", "--times", "a.times.json"];
    let ran = scene.run(&[&sides[..], &["--times", "b.times.json"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let told = "Of 3 paths, count and time agree on 1 (1 confirmed, 0 same); 1 is a matter of \
                placement or the cache; 1 is hidden by the processor's width.";
    assert!(ran.stdout.replace('\n', " ").starts_with(told), "{}", ran.stdout);
    assert!(ran.stdout.contains("nothing is predicted: 0 paths"), "{}", ran.stdout);
    let one = scene.run(&sides);
    assert_eq!(one.code, Some(2), "{}", one.stderr);
    assert!(one.stderr.contains("nothing to compare"), "{}", one.stderr);
}

#[test]
fn times_are_kept_with_the_date_of_their_session_and_given_back() {
    let scene = Scene::new();
    let text = times([10_050, 50_050, 90_050]).replace("\"began\":1,", "\"began\":1790000000,");
    let text = reseal(&text);
    scene.write("a.times.json", &text);
    scene.write("count.json", document(&base()));
    let on = |arguments: &[&str]| scene.run(&[&["history"], arguments, &["--db", "h"]].concat());
    let added = on(&["add", "a.times.json"]);
    assert_eq!((added.code, &*added.stderr), (Some(0), ""));
    let began = "a.times.json: added to h: #1, host, 2026-09-21T14:13:20Z\n";
    assert_eq!(added.stdout, began);
    assert_eq!(on(&["add", "count.json", "--date", "2026-01-02"]).code, Some(0));
    let shown = on(&["show", "switch.yield"]).stdout;
    let heading = shown.lines().next().unwrap();
    assert!(heading.contains("switch.yield (ns)"), "{shown}");
    assert!(heading.contains("switch.yield (instructions)"), "{shown}");
    assert!(shown.contains("50,002") && shown.contains("times were taken on "), "{shown}");
    let plotted = on(&["plot", "switch.yield"]).stdout;
    assert!(plotted.contains("path  switch.yield (ns)") && plotted.contains("50,002"), "{plotted}");
    let drawn = on(&["plot", "switch.yield", "--svg", "p.svg"]);
    assert_eq!(drawn.code, Some(0), "{}", drawn.stderr);
    assert!(scene.read("p.svg").contains("<title>50,002 ns, #1, "));
    std::fs::create_dir(scene.path("out")).unwrap();
    assert_eq!(on(&["export", "-o", "out"]).code, Some(0));
    assert_eq!(scene.read("out/000001-host.json"), text);
    let documents = on(&["show", "*", "--json"]).stdout;
    let document = serde_json::from_str(&documents).unwrap();
    assert_eq!(crate::documents::faults("pathmeter.history-1.json", &document), [""; 0]);
}

#[test]
fn a_step_in_time_is_named_with_its_interval_and_with_what_it_can_not_show() {
    let scene = Scene::new();
    let on = |arguments: &[&str]| scene.run(&[&["history"], arguments, &["--db", "h"]].concat());
    for (day, level) in [10_050, 10_050, 12_050].into_iter().enumerate() {
        let name = format!("{day}.json");
        // Sessions that are alike are two documents.
        let text = times([level, 1, 1]).replace("\"began\":", &format!("\"began\":{}", day + 1));
        scene.write(&name, reseal(&text));
        let date = format!("2026-01-0{}", day + 1);
        assert_eq!(on(&["add", &name, "--date", &date]).code, Some(0));
    }
    let blamed = on(&["blame", "syscall.getppid"]);
    assert_eq!(blamed.code, Some(0), "{}", blamed.stderr);
    insta::assert_snapshot!(blamed.stdout);
    let document = serde_json::from_str(&on(&["blame", "syscall.getppid", "--json"]).stdout);
    let faults = crate::documents::faults("pathmeter.blame-1.json", &document.unwrap());
    assert_eq!(faults, [""; 0]);
}

#[test]
fn what_a_history_can_not_keep_is_refused_with_the_next_step() {
    let scene = Scene::new();
    let ran = scene.run(&["history", "add", "host", "--db", "h"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(2), ""));
    assert!(ran.stderr.contains("pathmeter host -o FILE"), "{}", ran.stderr);
    assert!(!scene.path("h").exists());
}

fn reported(scene: &Scene, arguments: &[&str]) -> (Option<i32>, String) {
    let _ = std::fs::remove_file(scene.path("page.html"));
    let ran = scene.run(&[&["report", "-o", "page.html"], arguments].concat());
    // A page's first sentence is printed, and nothing else.
    let lines = usize::from(scene.path("page.html").exists());
    assert_eq!(ran.stdout.lines().count(), lines, "{}", ran.stdout);
    (ran.code, ran.stderr.replace("pathmeter: note: page.html: written\n", ""))
}

#[test]
fn times_are_a_page_of_one_session_of_two_and_beside_counts() {
    let scene = Scene::new();
    scene.write("a.json", times_of("6.1.0-old", [10_000, 50_000, 90_000]));
    scene.write("b.json", times_of("6.1.0-old", [10_500, 55_000, 90_000]));
    scene.write("count.json", document(&base()));
    let page = |arguments: &[&str]| {
        assert_eq!(reported(&scene, arguments), (Some(0), String::new()), "{arguments:?}");
        scene.read("page.html")
    };
    assert!(page(&["a.json"]).contains("<h1>3 paths timed on Linux "));
    let two = page(&["a.json", "b.json"]);
    assert!(two.contains(": of 3 paths, 2 are slower, by +5.0") && two.contains("whisker"));
    assert!(
        page(&["a.json", "b.json", "--only", "switch.*"]).contains(": of 2 paths, 1 is slower")
    );
    let both = page(&["a.json", "count.json"]);
    assert!(both.contains("<h1>4 paths measured on ") && both.contains("<h2>3 paths timed on "));
    let compared = scene.run(&["host", "compare", "a.json", "b.json", "-o", "c.json"]);
    assert_eq!(compared.code, Some(0), "{}", compared.stderr);
    assert!(page(&["c.json"]).contains(": of 3 paths, 2 are slower, by +5.0"));
    let sides = ["compare", "count.json", "count.json", "--times", "a.json", "--times", "b.json"];
    assert_eq!(scene.run(&[&sides[..], &["-o", "joined.json"]].concat()).code, Some(0));
    let joined = page(&["joined.json"]);
    assert!(joined.contains("<h1>Of 3 paths, count and time agree on"));
    assert_eq!(joined.matches("<section class=\"part\">").count(), 3);
}

#[test]
fn times_that_no_page_can_show_are_refused_with_the_next_step() {
    let scene = Scene::new();
    scene.write("a.json", times([10_000, 50_000, 90_000]));
    scene.write("count.json", document(&base()));
    let boot = |id: u64| {
        let mut times = read_times(&times([10_000, 50_000, 90_000]));
        times.host.boot_id = id.to_string();
        times
    };
    let boots = Boots { boots: vec![boot(1), boot(2)], ..Boots::default() };
    scene.write("boots.json", document(&boots));
    for (arguments, told) in [
        (&["a.json", "a.json", "a.json"][..], "3 documents of times: a page compares two"),
        (&["a.json", "boots.json"], "host --boots FILE"),
        (&["a.json", "a.json", "--across"], "--across would change nothing"),
        (&["a.json", "count.json", "--across"], "--across would change nothing"),
        (&["a.json", "--cpu", "plain"], "--cpu would change nothing"),
        (&["host"], "pathmeter host -o FILE"),
    ] {
        let (code, error) = reported(&scene, arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {error}");
        assert!(error.contains(told) && error.contains("help: "), "{arguments:?}: {error}");
        assert!(!scene.path("page.html").exists());
    }
    let shown = reported(&scene, &["boots.json"]);
    assert_eq!(shown, (Some(0), String::new()));
    assert!(scene.read("page.html").contains("shown is the last of 2 boots"));
    let sides = ["host", "compare", "a.json", "a.json", "-o", "c.json"];
    assert_eq!(scene.run(&sides).code, Some(0));
    scene.write("turned.json", turned(&scene.read("c.json")));
    let (code, error) = reported(&scene, &["turned.json"]);
    assert_eq!(code, Some(3), "{error}");
    assert!(error.contains("its interval ends before it begins"), "{error}");
}

/// A comparison with an interval the wrong way round.
fn turned(text: &str) -> String {
    let mut value: serde_json::Value = serde_json::from_str(text).unwrap();
    value["paths"][0]["interval"] = serde_json::json!([2.0, 1.0]);
    document(&value)
}
