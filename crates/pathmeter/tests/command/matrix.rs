//! Every option of every verb that takes subjects, with every kind of subject: it changes what
//! comes of the command, or is refused by name, and is never ignored.
//!
//! The options are read from the help, so that a new one without a value here fails. No guest runs:
//! kernels meet a QEMU that writes down what it is asked to run, and ends.
//!
//! The completions of shells and the manual pages name the same options of each verb as its help.

use std::collections::{BTreeMap, BTreeSet};

use pathmeter_model::{Measurement, Threshold, compare, example};
use pathmeter_trace::Explain;

use crate::report::window;
use crate::results::{base, measured_otherwise, more_expensive};
use crate::rows::program;
use crate::scene::{Ran, Scene, document, kernel, qemu};

/// A value for each option that takes one.
const VALUES: &[(&str, &[&str])] = &[
    ("--accept-edited", &["--accept-edited"]),
    ("--across", &["--across"]),
    ("--against", &["--against", "switch.yield"]),
    ("--all", &["--all"]),
    ("--append", &["--append", "nopti"]),
    ("--bad", &["--bad", "HEAD"]),
    ("--benchmarks", &["--benchmarks", "go"]),
    ("--bisect", &["--bisect"]),
    ("--bochs", &["--bochs", "no-bochs"]),
    ("--budget", &["--budget", "no-budget.toml"]),
    ("--build-timeout", &["--build-timeout", "5"]),
    ("--by-area", &["--by-area"]),
    ("--cached", &["--cached"]),
    ("--callers", &["--callers"]),
    ("--callgrind", &["--callgrind", "made"]),
    ("--check", &["--check"]),
    ("--color", &["--color", "always"]),
    ("--cpu", &["--cpu", "icelake"]),
    ("--depth", &["--depth", "1"]),
    ("--env", &["--env", "A=B"]),
    ("--event", &["--event", "lfence"]),
    ("--exit-code", &["--exit-code", "1"]),
    ("--explain", &["--explain"]),
    ("--find-files", &["--find-files", "list"]),
    ("--file", &["--file", "notes.txt"]),
    ("--folded", &["--folded", "made"]),
    ("--full", &["--full"]),
    ("--format", &["--format", "csv"]),
    ("--good", &["--good", "HEAD"]),
    ("--image", &["--image", "vmlinux"]),
    ("--iterations", &["--benchmarks", "go", "--iterations", "4"]),
    ("--json", &["--json"]),
    ("--lines", &["--lines"]),
    ("--memory", &["--memory", "512"]),
    ("--min", &["--min", "5"]),
    ("--module", &["--module", "no-module"]),
    ("--modules", &["--modules", "no-folder"]),
    ("--new-vmlinux", &["--new-vmlinux", "no-vmlinux"]),
    ("--new-probe", &["--new-probe", "made"]),
    ("--no-cache", &["--no-cache"]),
    ("--no-explain", &["--no-explain"]),
    ("--only", &["--only", "switch.yield"]),
    ("--profiles", &["--profiles"]),
    ("--only-benchmark", &["--benchmarks", "go", "--only-benchmark", "none"]),
    ("--only-process", &["--only-process", "no-process"]),
    ("--output", &["--output", "made"]),
    ("--path", &["--path", "switch.pipe"]),
    ("--perturb", &["--perturb", "5"]),
    ("--placement", &["--placement"]),
    ("--probe", &["--probe", "no-probe"]),
    ("--program", &["--program", "no-program"]),
    ("--qemu", &["--qemu", "no-qemu"]),
    ("--quiet", &["--quiet"]),
    ("--region-function", &["--region-function", "no_function"]),
    ("--relative-to", &["--relative-to", "before"]),
    ("--results", &["--results", "folder"]),
    ("--returns", &["--returns"]),
    ("--root", &["--root", "no-root"]),
    ("--set", &["--set", "no-set.toml"]),
    ("--slope", &["--slope", "landlock:{1,2}"]),
    ("--stdin", &["--stdin", "no-input"]),
    ("--svg", &["--svg", "made"]),
    ("--threshold", &["--threshold", "50"]),
    ("--timeout", &["--timeout", "7"]),
    ("--times", &["--times", "times.json"]),
    ("--under", &["--under", "boot:nopti"]),
    ("--vmlinux", &["--vmlinux", "no-vmlinux"]),
    ("--window", &["--window", "w=a..b"]),
    ("--write", &["--write", "csv=made"]),
];

/// What is documented to be about the look of text, and so is without effect on a pipe, or without
/// text.
const LOOK: &[&str] = &["--color", "--quiet", "--all", "--depth", "--min", "--placement"];

/// What a kernel's guest decides: here it ends before that. Where the effect is shown instead.
const IN_A_GUEST: &[(&str, &str)] = &[
    ("--across", "compare::across_compares_them_all_the_same_and_says_what_differs"),
    ("--all", "crates/report: a_program_with_all_rows"),
    ("--benchmarks", "e2e programs"),
    ("--bisect", "check: the codes for git"),
    ("--callgrind", "e2e explain"),
    ("--cached", "look: bash_completes_the_points_of_a_window"),
    ("--check", "check"),
    ("--env", "e2e program"),
    ("--event", "bisect"),
    ("--explain", "e2e explain"),
    ("--find-files", "e2e programs"),
    ("--file", "e2e program"),
    ("--folded", "e2e explain"),
    ("--format", "output"),
    ("--iterations", "e2e programs"),
    ("--json", "documents"),
    ("--lines", "e2e program"),
    ("--memory", "the machine, where no guest is started"),
    ("--min", "crates/report: one_subject_within_limits"),
    ("--no-cache", "guests: a_cache_that_cannot_be_is_named_once_and_done_without"),
    ("--no-explain", "e2e report"),
    ("--only", "compare::only_what_is_asked_for_is_shown"),
    ("--only-benchmark", "e2e programs"),
    ("--only-process", "e2e programs"),
    ("--output", "output"),
    ("--perturb", "e2e measure"),
    ("--profiles", "manners::doctor_ends_at_its_verdict"),
    ("--returns", "e2e program"),
    ("--slope", "e2e conditions"),
    ("--stdin", "e2e program"),
    ("--svg", "e2e explain"),
    ("--threshold", "compare::changes_below_the_threshold_are_the_same"),
    ("--timeout", "guests: a QEMU that hangs"),
    ("--times", "host: counts_and_times_are_joined_and_what_both_mean_is_told"),
    ("--vmlinux", "e2e explain"),
    ("--new-vmlinux", "e2e explain"),
    ("--window", "e2e waits"),
    ("--against", "e2e explain, e2e programs"),
    ("--exit-code", "e2e program"),
    ("--write", "output"),
];

/// What changes nothing of two results that are whole and can be compared, and is only ever said
/// beforehand.
const ADMITS: &[&str] = &["--accept-edited", "--across"];

/// A kind of subject, as a file of the scene.
const KINDS: [&str; 9] = [
    "vmlinux.elf",
    "base.json",
    "program.json",
    "explain.json",
    "comparison.json",
    "lab",
    "folder",
    "notes.txt",
    "times.json",
];

fn scene() -> Scene {
    let scene = Scene::new();
    let write = |name: &str, value: serde_json::Value| scene.write(name, document(&value));
    let result = |result: &Measurement| serde_json::to_value(result).unwrap();
    write("base.json", result(&base()));
    write("new.json", result(&more_expensive()));
    write("program.json", serde_json::to_value(program(1000, 70).result()).unwrap());
    write("dearer.json", serde_json::to_value(program(1010, 80).result()).unwrap());
    let explain = Explain::new(window(&base(), 3300), None);
    write("explain.json", serde_json::to_value(explain).unwrap());
    let comparison = compare(&base(), &more_expensive(), Threshold::default());
    write("comparison.json", serde_json::to_value(comparison).unwrap());
    scene.write("vmlinux.elf", std::fs::read(kernel("vmlinux.elf")).unwrap());
    let times =
        example::times(&[("syscall.getppid", 9, &[3000; 3]), ("switch.yield", 9, &[9000; 3])]);
    write("times.json", serde_json::to_value(times).unwrap());
    scene.write("notes.txt", "a shopping list");
    std::fs::create_dir(scene.path("folder")).unwrap();
    scene
}

/// What the help of a verb says.
fn help(scene: &Scene, verb: &str) -> String {
    scene.run(&verb.split_whitespace().chain(["--help"]).collect::<Vec<_>>()).stdout
}

/// The last long option before what follows its name, but for those that every command has.
fn long(text: &str) -> Option<String> {
    let long = &text[text.rfind("--")?..];
    let end = long.find(|c: char| c != '-' && !c.is_ascii_lowercase()).unwrap_or(long.len());
    Some(long[..end].to_owned()).filter(|it| !["--", "--help", "--version"].contains(&&**it))
}

/// The options that the help of a verb names, each with a text.
fn offered(scene: &Scene, verb: &str) -> BTreeSet<String> {
    let help = help(scene, verb);
    let lines: Vec<&str> = help.lines().collect();
    // Help texts stand further right.
    let is_option = |line: &str| line.find('-') < Some(8) && line.trim_start().starts_with('-');
    let mut options = BTreeSet::new();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| is_option(line)) {
        let below = lines.get(at + 1).copied().unwrap_or_default();
        let (name, text) = line.trim_start().split_once("  ").unwrap_or((line, below));
        let name = name.split_once(['<', '[', '=']).map_or(name, |(name, _)| name);
        let Some(option) = long(name) else { continue };
        let is_text = text.trim_start().starts_with(|c: char| c.is_uppercase());
        assert!(is_text && !is_option(text), "{verb} {option} has no help: {text}");
        options.insert(option);
    }
    options
}

/// The verbs that the help names, those of a verb after it.
fn verbs(scene: &Scene, above: &str) -> Vec<String> {
    let help = help(scene, above);
    let Some((_, list)) = help.split_once("\nCommands:\n") else { return vec![above.to_owned()] };
    let names = list.lines().map_while(|line| line.split_whitespace().next());
    let names = names.filter(|name| *name != "help");
    names.flat_map(|name| verbs(scene, format!("{above} {name}").trim_start())).collect()
}

/// The command line of a verb with a subject of this kind, before the program's.
fn line<'a>(verb: &'a str, kind: &'a str) -> (Vec<&'a str>, Vec<&'a str>) {
    let program = ["--", "/bin/true"];
    let is_kernel = ["vmlinux.elf", "lab"].contains(&kind);
    let (given, after): (&[&str], &[&str]) = match verb {
        "compare" if kind == "base.json" => (&[kind, "new.json"], &[]),
        "compare" if kind == "program.json" => (&[kind, "dearer.json"], &[]),
        "compare" => (&[kind, kind], &[]),
        "bisect" if kind == "base.json" => (&[kind, "new.json", "--path", "switch.yield"], &[]),
        "bisect" => (&[kind, kind, "--path", "switch.yield"], &[]),
        "explain" => (&["switch.yield", kind], &[]),
        "report" if kind == "base.json" => (&[kind, "new.json", "-o", "page.html"], &[]),
        "report" => (&[kind, "-o", "page.html"], &[]),
        "run" if is_kernel => (&[kind], &program),
        _ => (&[kind], &[]),
    };
    (verb.split(' ').chain(given.iter().copied()).collect(), after.to_vec())
}

/// All that came of a command: what it printed, the files that it left, and the machine that QEMU
/// was asked for.
#[derive(PartialEq, Eq, Debug)]
struct Came {
    code: Option<i32>,
    text: [String; 2],
    files: BTreeMap<String, String>,
    machine: BTreeSet<[String; 2]>,
}

fn come(scene: &Scene, line: &[&str], more: &[&str], after: &[&str]) -> Came {
    let qemu_of = qemu("tells");
    let own_qemu = more.contains(&"--qemu") || !wants_qemu(line);
    let given: &[&str] = if own_qemu { &[] } else { &["--qemu", &qemu_of] };
    let told = scene.path("told");
    let _ = std::fs::remove_file(&told);
    let mut command = scene.command(&[line, given, more, after].concat());
    let ran: Ran = command.env("PATHMETER_TOLD", &told).output().unwrap().into();
    let asked = std::fs::read_to_string(&told).unwrap_or_default();
    let words: Vec<&str> = asked.lines().collect();
    let named = words.windows(2).filter(|pair| ["-cpu", "-m", "-append"].contains(&pair[0]));
    let machine = named.map(|pair| [pair[0].to_owned(), pair[1].to_owned()]).collect();
    let mut files = BTreeMap::new();
    for name in ["made", "page.html"] {
        if let Ok(text) = std::fs::read_to_string(scene.path(name)) {
            files.insert(name.to_owned(), text);
            std::fs::remove_file(scene.path(name)).unwrap();
        }
    }
    Came { code: ran.code, text: [ran.stdout, ran.stderr], files, machine }
}

/// Whether a guest is to run, and so its QEMU can be named.
fn wants_qemu(line: &[&str]) -> bool {
    line.iter().any(|word| ["vmlinux.elf", "lab", "folder", "notes.txt"].contains(word))
}

/// Every option of a verb with every kind of subject; what is ignored.
fn ignored(verb: &str) -> Vec<String> {
    let scene = scene();
    let values: BTreeMap<&str, &[&str]> = VALUES.iter().copied().collect();
    let mut ignored = Vec::new();
    for kind in KINDS {
        let (line, after) = line(verb, kind);
        let without = come(&scene, &line, &[], &after);
        for option in offered(&scene, verb) {
            let value = values.get(&*option).unwrap_or_else(|| panic!("{option} has no value"));
            if line.contains(&&*option) || (option == "--output" && line.contains(&"-o")) {
                continue;
            }
            let with = come(&scene, &line, value, &after);
            let refused = with.code == Some(2) && with.text[1].contains(&*option);
            // Nothing can be made of the subject, whatever the option.
            let unfit = with == without && without.code != Some(0) && !wants_qemu(&line)
                || with == without && ["folder", "notes.txt"].contains(&kind);
            let elsewhere = wants_qemu(&line) && IN_A_GUEST.iter().any(|one| one.0 == option);
            let harmless = LOOK.contains(&&*option) || ADMITS.contains(&&*option);
            if with == without && !(refused || unfit || elsewhere || harmless) {
                ignored.push(format!("{verb} {kind} {option}"));
            }
        }
    }
    ignored
}

#[test]
fn measure_ignores_nothing() {
    assert_eq!(ignored("measure"), [""; 0]);
}

#[test]
fn compare_ignores_nothing() {
    assert_eq!(ignored("compare"), [""; 0]);
}

#[test]
fn bisect_ignores_nothing() {
    assert_eq!(ignored("bisect"), [""; 0]);
}

#[test]
fn explain_ignores_nothing() {
    assert_eq!(ignored("explain"), [""; 0]);
}

#[test]
fn report_ignores_nothing() {
    assert_eq!(ignored("report"), [""; 0]);
}

#[test]
fn run_ignores_nothing() {
    assert_eq!(ignored("run"), [""; 0]);
}

#[test]
fn settings_ignore_nothing() {
    assert_eq!(ignored("settings"), [""; 0]);
}

#[test]
fn witness_ignores_nothing() {
    assert_eq!(ignored("witness"), [""; 0]);
}

#[test]
fn list_functions_ignores_nothing() {
    assert_eq!(ignored("list functions"), [""; 0]);
}

/// That `more` is refused beside results, with its name and the reason.
fn assert_refused(line: &[&str], more: &[&str], why: &str) {
    let scene = scene();
    scene.write("other.json", document(&measured_otherwise()));
    let ran = scene.run(&[line, more].concat());
    assert_eq!((ran.code, &ran.stdout[..]), (Some(2), ""), "{line:?} {more:?}");
    assert!(ran.stderr.contains(more[0]) && ran.stderr.contains(why), "{}", ran.stderr);
}

#[test]
fn how_guests_run_is_refused_where_none_does() {
    let guests: [&[&str]; 8] = [
        &["--cpu", "icelake"],
        &["--under", "boot:nopti"],
        &["--memory", "512"],
        &["--append", "nopti"],
        &["--perturb", "5"],
        &["--timeout", "5"],
        &["--qemu", "/bin/true"],
        &["--no-cache"],
    ];
    for verb in
        [&["compare"][..], &["report", "-o", "page.html"], &["bisect", "--path", "switch.pipe"]]
    {
        for more in guests {
            let line = [verb, &["base.json", "new.json"]].concat();
            assert_refused(&line, more, "base.json and new.json are documents, so nothing is run");
        }
    }
    assert_refused(&["measure", "base.json"], &["--cpu", "icelake"], "base.json is a document");
    assert_refused(&["run", "program.json"], &["--lines"], "program.json is a document");
    assert_refused(&["run", "program.json"], &["--returns"], "program.json is a document");
}

#[test]
fn one_subject_refuses_what_only_two_have() {
    let alone = "there is nothing to compare the only subject with";
    for more in [&["--across"][..], &["--threshold", "1"], &["--by-area"]] {
        assert_refused(&["run", "program.json"], more, alone);
    }
    assert_refused(&["report", "-o", "page.html", "base.json"], &["--across"], alone);
}

#[test]
fn beside_a_kernel_they_are_about_the_kernel() {
    let scene = scene();
    let line = ["compare", "--across", "base.json", "vmlinux.elf"];
    let came = come(&scene, &line, &["--append", "pathmeter.word"], &[]);
    assert_eq!(came.code, Some(3), "{came:?}");
    assert!(came.machine.iter().any(|[_, words]| words.contains("pathmeter.word")), "{came:?}");
}

/// What bash's script proposes for a verb.
fn in_bash(script: &str, verb: &str) -> BTreeSet<String> {
    let label = format!("\n        pathmeter__subcmd__{})\n", verb.replace(' ', "__subcmd__"));
    let (_, rest) = script.split_once(&label).unwrap_or_else(|| panic!("{verb} is not in bash's"));
    rest.lines().next().unwrap().split([' ', '"']).filter_map(long).collect()
}

/// What zsh's script proposes for a verb.
fn in_zsh(script: &str, verb: &str) -> BTreeSet<String> {
    let rest = verb.split(' ').fold(script, |rest, name| {
        let label = format!("({name})\n_arguments ");
        rest.split_once(&label).unwrap_or_else(|| panic!("{verb} is not in zsh's")).1
    });
    let lines = rest.lines().skip(1).take_while(|line| !line.starts_with("&& "));
    let options = lines.filter(|line| line.starts_with('\'') && line.contains("--"));
    options.filter_map(|line| long(line.split_once('[')?.0)).collect()
}

/// What a manual page explains.
fn in_page(page: &str) -> BTreeSet<String> {
    let page = page.replace("\\-", "-");
    let names = page.lines().filter(|line| line.starts_with("\\fB-"));
    names.filter_map(|line| long(line.split("\\fI").next()?)).collect()
}

#[test]
fn completions_and_the_manual_name_the_options_that_the_help_does() {
    let scene = Scene::new();
    let [bash, zsh] = ["bash", "zsh"].map(|shell| scene.run(&["completions", shell]).stdout);
    scene.run(&["man", "--out", "man"]);
    let verbs = verbs(&scene, "");
    assert!(verbs.len() > 15, "{verbs:?}");
    for verb in &verbs {
        let offered = offered(&scene, verb);
        assert_eq!(in_bash(&bash, verb), offered, "bash: {verb}");
        assert_eq!(in_zsh(&zsh, verb), offered, "zsh: {verb}");
        let page = scene.read(&format!("man/pathmeter-{}.1", verb.replace(' ', "-")));
        assert_eq!(in_page(&page), offered, "the page of {verb}");
    }
}

/// Which of these options a verb has.
fn has(scene: &Scene, options: &[&str], verb: &str) -> bool {
    options.iter().all(|option| offered(scene, verb).contains(*option))
}

#[test]
fn one_word_chooses_one_unfolds_and_every_result_has_its_places() {
    let scene = Scene::new();
    let measured = ["measure", "compare", "run", "settings", "bisect", "experiment"];
    for verb in measured {
        assert!(has(&scene, &["--json", "--output", "--format", "--write"], verb), "{verb}");
    }
    for verb in ["explain", "history show", "history blame"] {
        assert!(has(&scene, &["--json", "--output"], verb), "{verb}");
    }
    for verb in ["measure", "compare", "run", "settings", "report"] {
        assert!(has(&scene, &["--only"], verb), "{verb}");
    }
    for verb in ["measure", "compare", "run"] {
        assert!(has(&scene, &["--all"], verb), "{verb}");
    }
}
