//! Help, generated texts, usage errors and colours.

use std::process::{Command, Stdio};

use crate::results::{base, more_expensive};
use crate::scene::{Scene, kernel, qemu};

#[test]
fn help_teaches_with_examples_and_exit_codes() {
    insta::assert_snapshot!(Scene::new().run(&["--help"]).stdout);
    insta::assert_snapshot!(Scene::new().run(&["compare", "--help"]).stdout);
}

/// The verbs that the help names.
fn verbs() -> Vec<String> {
    let help = Scene::new().run(&["--help"]).stdout;
    let (_, list) = help.split_once("\nCommands:\n").unwrap();
    let names = list.lines().map_while(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

#[test]
fn the_verbs_are_these() {
    let all = [
        "measure",
        "compare",
        "run",
        "settings",
        "explain",
        "bisect",
        "report",
        "plan",
        "history",
        "experiment",
        "list",
        "witness",
        "doctor",
        "host",
    ];
    assert_eq!(verbs(), all);
}

#[test]
fn every_verb_has_help_and_says_nothing_else() {
    let hidden = ["completions", "man", "list paths"].map(str::to_owned);
    for verb in verbs().into_iter().chain(hidden) {
        let words: Vec<&str> = verb.split(' ').chain(["--help"]).collect();
        let ran = Scene::new().run(&words);
        assert_eq!((ran.code, &ran.stderr[..]), (Some(0), ""), "{verb}");
        assert!(ran.stdout.contains("Usage: pathmeter"), "{verb}");
    }
}

#[test]
fn wrong_usage_is_exit_code_2_and_goes_to_stderr() {
    let wrong: &[&[&str]] = &[
        &[],
        &["explain"],
        &["measure"],
        &["compare", "one"],
        &["measure", "k", "--perturb", "0"],
        &["measure", "k", "--perturb", "100000"],
        &["measure", "k", "--memory", "1"],
        &["measure", "k", "--timeout", "0"],
        &["list", "paths", "--color", "sometimes"],
    ];
    for arguments in wrong {
        let ran = Scene::new().run(arguments);
        assert_eq!((ran.code, &ran.stdout[..]), (Some(2), ""), "{arguments:?}");
        assert!(!ran.stderr.is_empty());
    }
}

#[test]
fn the_version_is_told() {
    let version = format!("pathmeter {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(Scene::new().run(&["--version"]).stdout, version);
}

#[test]
fn completions_know_the_verbs() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = Scene::new().run(&["completions", shell]);
        assert!(ran.stdout.contains("compare") && ran.stdout.contains("no-cache"), "{shell}");
    }
}

#[test]
fn an_unknown_verb_is_refused_with_those_most_like_it() {
    let unknown = Scene::new().run(&["path"]).stderr;
    assert!(unknown.contains("unrecognized subcommand 'path'"), "{unknown}");
}

/// What bash proposes for this line, with a `pathmeter` that has three functions.
fn proposed(line: &str, words: &[&str]) -> Vec<String> {
    let scene = Scene::new();
    let script = scene.run(&["completions", "bash"]).stdout;
    std::fs::write(scene.path("script"), script).unwrap();
    std::fs::write(scene.path("bzImage"), "").unwrap();
    let words: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let bash = format!(
        "pathmeter() {{ [ \"$*\" = 'list functions --cached --quiet -- bzImage try*' ] && \
         printf 'try_to_free\\ntry_to_wake_up\\n'; }}\n. ./script\nCOMP_LINE='{line}'\n\
         COMP_POINT=${{#COMP_LINE}}\nCOMP_WORDS=({})\nCOMP_CWORD={}\n_pathmeter_or_points \
         pathmeter \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\"\n\
         printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        words.join(" "),
        words.len() - 1
    );
    let output = Command::new("bash").args(["-c", &bash]).current_dir(scene.path(".")).output();
    let output = output.unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_cpus_sets_paths_formats_and_experiments() {
    for (verb, option, begun, all) in [
        ("measure", "--cpu", "zen3", &["zen3", "zen3-guest"][..]),
        ("settings", "--set", "har", &["hardening"]),
        ("compare", "--only", "switch.p", &["switch.pipe"]),
        ("compare", "--write", "ju", &["junit="]),
        ("bisect", "--path", "syscall.getppid-", &["syscall.getppid-int80"]),
    ] {
        let line = format!("pathmeter {verb} {option} {begun}");
        let found = proposed(&line, &["pathmeter", verb, option, begun]);
        assert!(all.iter().all(|one| found.iter().any(|it| it == one)), "{line}: {found:?}");
        assert!(found.iter().all(|one| one.starts_with(begun)), "{line}: {found:?}");
    }
    let experiments =
        proposed("pathmeter experiment eflags", &["pathmeter", "experiment", "eflags"]);
    assert_eq!(experiments, ["eflags-2006"]);
}

#[test]
fn zsh_is_told_the_same_words() {
    let script = Scene::new().run(&["completions", "zsh"]).stdout;
    for word in ["zen3-guest", "hardening", "switch.pipe", "eflags-2006"] {
        assert!(script.contains(word), "{word}");
    }
}

#[test]
fn bash_completes_the_points_of_a_window() {
    let line = "pathmeter measure bzImage --window w=try";
    let begun = ["pathmeter", "measure", "bzImage", "--window", "w", "=", "try"];
    assert_eq!(proposed(line, &begun), ["try_to_free", "try_to_wake_up"]);
    let line = "pathmeter measure bzImage --window=w=schedule..try";
    let ended = ["pathmeter", "measure", "bzImage", "--window", "=", "w", "=", "schedule..try"];
    assert_eq!(proposed(line, &ended), ["schedule..try_to_free", "schedule..try_to_wake_up"]);
    let line = "pathmeter measure bzImage --window w=schedule@try";
    let called = ["pathmeter", "measure", "bzImage", "--window", "w", "=", "schedule", "@", "try"];
    assert_eq!(proposed(line, &called), ["try_to_free", "try_to_wake_up"]);
    // Everything else is as before.
    let line = "pathmeter measure bzImage --no-c";
    assert_eq!(proposed(line, &["pathmeter", "measure", "bzImage", "--no-c"]), ["--no-cache"]);
}

#[test]
fn manual_pages_are_written_one_a_verb() {
    let scene = Scene::new();
    assert!(scene.run(&["man"]).stdout.contains(".TH pathmeter 1"));
    std::fs::create_dir(scene.path("man1")).unwrap();
    assert_eq!(scene.run(&["man", "--out", "man1"]).code, Some(0));
    let mut pages = scene.files("man1");
    pages.sort();
    let of_history = ["add", "blame", "export", "plot", "prune", "remove", "show"];
    let of_host = ["compare", "doctor", "experiment"];
    let of_list = ["cpus", "functions", "paths"];
    let of_plan = ["build", "emit", "merge", "recheck", "run", "status"];
    let below = of_history.map(|verb| format!("history-{verb}")).into_iter();
    let below = below.chain(of_host.map(|verb| format!("host-{verb}")));
    let below = below.chain(of_plan.map(|verb| format!("plan-{verb}")));
    let below = below.chain(of_list.map(|verb| format!("list-{verb}")));
    let pages_of = verbs().into_iter().chain(below).map(|verb| format!("pathmeter-{verb}.1"));
    let mut all: Vec<String> = pages_of.chain(["pathmeter.1".to_owned()]).collect();
    all.sort();
    assert_eq!(pages, all);
    assert!(scene.read("man1/pathmeter-compare.1").contains("\\-\\-threshold"));
    scene.write("file", "");
    assert_eq!(scene.run(&["man", "--out", "file/man1"]).code, Some(3));
}

#[test]
fn paths_are_a_table() {
    let ran = Scene::new().run(&["list", "paths"]);
    let first: Vec<&str> = ran.stdout.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(first, ["path", "unit", "measures"]);
    assert!(ran.stdout.lines().any(|line| line.starts_with("switch.yield+ioport-both ")));
}

#[test]
fn colours_are_for_terminals_unless_asked_for() {
    let scene = Scene::with(&base(), &more_expensive());
    let coloured = |more: &[&str]| {
        let arguments = [&["compare", "base.json", "new.json"], more].concat();
        scene.run(&arguments).stdout.contains('\x1b')
    };
    assert!(!coloured(&[]) && !coloured(&["--color", "never"]));
    assert!(coloured(&["--color", "always"]));
}

/// What `pathmeter` prints on a terminal of this kind and width, both streams.
fn on_terminal(scene: &Scene, term: &str, columns: u32, arguments: &str) -> String {
    let pathmeter = assert_cmd::cargo::cargo_bin!("pathmeter").display();
    let command = format!("stty rows 40 cols {columns}; {pathmeter} {arguments}");
    let output = Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .env("TERM", term)
        .env_remove("NO_COLOR")
        .env("XDG_CACHE_HOME", scene.path("cache"))
        .current_dir(scene.path("."))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_dumb_terminal_gets_neither_colours_nor_moving_lines() {
    let scene = Scene::with(&base(), &more_expensive());
    let measure = format!("measure {} --qemu {}", kernel("vmlinux.elf"), qemu("ends"));
    for arguments in ["compare base.json new.json", "measure missing", &measure] {
        assert!(on_terminal(&scene, "xterm", 100, arguments).contains('\x1b'), "{arguments}");
        let dumb = on_terminal(&scene, "dumb", 100, arguments);
        assert!(!dumb.contains('\x1b') && !dumb.is_empty(), "{arguments}: {dumb:?}");
    }
    assert!(
        on_terminal(&scene, "dumb", 100, "compare base.json new.json --color always")
            .contains('\x1b')
    );
}

#[test]
fn tables_fit_the_terminal() {
    let scene = Scene::with(&base(), &more_expensive());
    for columns in [60, 80, 100] {
        for arguments in ["compare base.json new.json", "measure base.json", "list paths"] {
            let text = on_terminal(&scene, "dumb", columns, arguments);
            let widest = text.lines().map(|line| line.trim_end().chars().count()).max();
            assert!(widest <= Some(columns as usize), "{arguments} at {columns}:\n{text}");
        }
    }
}
