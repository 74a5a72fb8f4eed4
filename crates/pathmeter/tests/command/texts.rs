//! Texts of others at every input: whatever is in them, the terminal is given no control character
//! but the command's own line ends, and no line that the command did not begin.
//!
//! A hundred texts; a thousand in the tests' long form (`make soak`). They follow from their
//! numbers alone. Each is given to every eighth input, the next one to those after these.

use std::collections::BTreeSet;

use pathmeter_model::{clean, is_obeyed};
use pathmeter_report::FORMATS;
use serde_json::{Value, json};

use crate::results::{base, leaking};
use crate::rows::program;
use crate::scene::{Scene, document, kernel, qemu, soak};

/// Each text is given to every so manieth input.
const APART: usize = 8;
/// The inputs of which no text is printed.
const SILENT: [&str; 2] = ["a budget that is no TOML", "a label"];
/// Begins each line that a text tries to forge.
const FORGED: &str = "FORGED";
/// What a terminal obeys, and what a reader would take for the command's own.
const PARTS: [&str; 20] = [
    "\nFORGED",
    "\npathmeter: error: FORGED",
    "\npathmeter: --check fails: FORGED\n",
    "\n  help: FORGED",
    "\r\nFORGED",
    "\rFORGED",
    "\u{85}FORGED",
    "\u{2028}FORGED",
    "\u{2029}FORGED",
    "\u{b}FORGED",
    "\x1b[35m",
    "\x1b[2J\x1b[H",
    "\x1b]0;title\u{7}",
    "\u{9b}2J",
    "\u{8}\u{8}\u{8}",
    "\u{7f}",
    "\u{202e}",
    "\u{2066}\u{200f}",
    "\t",
    "e\u{301}|<b>&\"'\\`,{}%s",
];

/// The text of this number; every tenth is very long.
fn hostile(number: usize) -> String {
    let part = |first: usize, each: usize| PARTS[(first + number / each) % PARTS.len()];
    let long = if number % 10 == 9 { "x".repeat(2000 + number) } else { String::new() };
    format!("a{}b{}{long}{}c", part(0, 1), part(1, 20), part(2, 400))
}

/// An input: what it is, and the arguments by which the command reads `text` there.
type Input = (&'static str, fn(&Scene, &str) -> Vec<String>);

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// A result with a text at the places in it that `change` names.
fn result(scene: &Scene, change: impl FnOnce(&mut Value)) {
    changed(scene, "it.json", serde_json::to_value(base()).unwrap(), change);
}

fn changed(scene: &Scene, file: &str, mut value: Value, change: impl FnOnce(&mut Value)) {
    change(&mut value);
    scene.write(file, document(&value));
}

/// Writes a result that is whole, and has this text wherever a result can have one.
fn write_hostile_result(scene: &Scene, text: &str) {
    result(scene, |it| {
        it["subject"]["name"] = text.into();
        it["configuration"]["release"] = text.into();
        it["paths"][4]["reason"] = text.into();
        it["paths"][1]["path"] = text.into();
        it["notes"] = json!([text]);
    });
}

/// The text as a string of TOML.
fn toml(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        c if is_obeyed(c) => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

fn budget(scene: &Scene, budget: &str) -> Vec<String> {
    scene.write("b.toml", budget);
    words(&["compare", "base.json", "new.json", "--check", "--budget", "b.toml"])
}

fn set(scene: &Scene, set: &str) -> Vec<String> {
    scene.write("set.toml", set);
    words(&["settings", &kernel("vmlinux.elf"), "--set", "set.toml", "--qemu", &qemu("ends")])
}

fn profile(scene: &Scene, profile: &Value) -> Vec<String> {
    scene.write("profile.json", profile.to_string());
    measure_command(&["--under", "seccomp:profile.json"])
}

fn measure_command(more: &[&str]) -> Vec<String> {
    let kernel = kernel("vmlinux.elf");
    words(&[&["measure", &kernel, "--qemu", &qemu("ends"), "--timeout", "9"][..], more].concat())
}

/// A name that a file can have.
fn file_name(text: &str) -> String {
    text.chars().filter(|c| *c != '/').take(60).collect()
}

const INPUTS: [Input; 46] = [
    ("a status", |scene, text| {
        result(scene, |it| it["paths"][1]["status"] = text.into());
        words(&["report", "it.json", "-o", "p.html"])
    }),
    ("a key of a result", |scene, text| {
        result(scene, |it| it["configuration"][text] = 1.into());
        words(&["measure", "it.json"])
    }),
    ("a schema", |scene, text| {
        result(scene, |it| it["schema"] = text.into());
        words(&["report", "it.json", "-o", "p.html"])
    }),
    ("a clock", |scene, text| {
        result(scene, |it| it["configuration"]["clock"] = text.into());
        words(&["compare", "it.json", "base.json"])
    }),
    ("a result's texts, as a table", |scene, text| {
        write_hostile_result(scene, text);
        words(&["measure", "it.json"])
    }),
    ("a result's texts, in colour", |scene, text| {
        write_hostile_result(scene, text);
        words(&["compare", "base.json", "it.json", "--color", "always", "--across"])
    }),
    ("a result's texts, compared", |scene, text| {
        write_hostile_result(scene, text);
        words(&["compare", "it.json", "new.json", "--across", "--check"])
    }),
    ("a result's texts, as JSON", |scene, text| {
        write_hostile_result(scene, text);
        words(&["compare", "it.json", "new.json", "--across", "--json"])
    }),
    ("a result's texts, for CI", |scene, text| {
        write_hostile_result(scene, text);
        let format = FORMATS[text.len() % FORMATS.len()].word;
        words(&["compare", "it.json", "new.json", "--across", "--format", format])
    }),
    ("a path's name asked for", |_, text| {
        words(&["compare", "base.json", "new.json", "--only", text])
    }),
    ("how it was measured", |scene, text| {
        result(scene, |it| it["configuration"]["qemu"] = text.into());
        words(&["compare", "it.json", "new.json"])
    }),
    ("how it was measured, in a report", |scene, text| {
        result(scene, |it| it["configuration"]["qemu"] = text.into());
        words(&["report", "it.json", "new.json", "-o", "p.html"])
    }),
    ("an outcome of a comparison", |scene, text| {
        let ran = scene.run(&["compare", "base.json", "new.json", "--json"]);
        let document = serde_json::from_str(&ran.stdout).unwrap();
        changed(scene, "c.json", document, |it| it["paths"][0]["verdict"] = text.into());
        words(&["report", "c.json", "-o", "p.html"])
    }),
    ("an experiment's document", |scene, text| {
        scene.write(
            "e.json",
            document(&json!({"schema": "pathmeter.experiment/1", "judged": [{"outcome": text}]})),
        );
        words(&["report", "e.json", "-o", "p.html"])
    }),
    ("an explanation's document", |scene, text| {
        scene.write(
            "e.json",
            document(&json!({"schema": "pathmeter.explain/1", "base": {"idle": text}})),
        );
        words(&["report", "e.json", "-o", "p.html"])
    }),
    ("a settings document", |scene, text| {
        scene.write(
            "s.json",
            document(&json!({"schema": "pathmeter.settings/1", "base": {"kind": text}})),
        );
        words(&["report", "s.json", "-o", "p.html"])
    }),
    ("a key of a budget", |scene, text| budget(scene, &format!("{} = 1\n", toml(text)))),
    ("a path of a budget", |scene, text| {
        budget(scene, &format!("[paths.{}]\nmax = 1\n", toml(text)))
    }),
    ("a key of a rule", |scene, text| {
        budget(scene, &format!("[paths.\"*\"]\n{} = 1\n", toml(text)))
    }),
    ("an event of a budget", |scene, text| {
        budget(scene, &format!("[paths.\"*\".events]\n{} = {{ max = 1 }}\n", toml(text)))
    }),
    ("a reason of a budget", |scene, text| {
        let reason = toml(text);
        let accepted = "path = \"switch.yield\"\nexpires = 2999-01-01\n";
        budget(scene, &format!("[paths.\"*\"]\nmax = 1\n[[accept]]\n{accepted}reason = {reason}\n"))
    }),
    ("a budget that is no TOML", |scene, text| budget(scene, text)),
    ("a key of a set", |scene, text| set(scene, &format!("{} = 1\n", toml(text)))),
    ("a condition of a set", |scene, text| {
        let condition = toml(text);
        set(
            scene,
            &format!("title = \"t\"\n[[setting]]\ncondition = {condition}\nsource = \"s\"\n"),
        )
    }),
    ("a set's name", |_, text| words(&["settings", &kernel("vmlinux.elf"), "--set", text])),
    ("an action", |scene, text| profile(scene, &json!({"defaultAction": text}))),
    ("a key of a profile", |scene, text| {
        profile(scene, &json!({"defaultAction": "SCMP_ACT_ALLOW", text: 1}))
    }),
    ("a flag of a profile", |scene, text| {
        profile(scene, &json!({"defaultAction": "SCMP_ACT_ALLOW", "flags": [text]}))
    }),
    ("an architecture of a profile", |scene, text| {
        profile(scene, &json!({"defaultAction": "SCMP_ACT_ALLOW", "architectures": [text]}))
    }),
    ("a profile's name", |_, text| measure_command(&["--under", &format!("seccomp:{text}")])),
    ("a condition", |_, text| measure_command(&["--under", text])),
    ("a word for the kernel", |_, text| measure_command(&["--append", text])),
    ("an option", |_, text| measure_command(&[&format!("--{text}")])),
    ("a verb", |_, text| words(&[text])),
    ("a number", |_, text| measure_command(&["--perturb", text])),
    ("a file that is not there", |_, text| words(&["compare", text, &format!("{text}/x")])),
    ("a file's name", |scene, text| {
        let name = file_name(text);
        scene.write(&name, "no kernel");
        words(&["report", &name, "-o", "p.html"])
    }),
    ("a place to write to", |_, text| {
        words(&["measure", "base.json", "-o", &format!("{text}/it.json")])
    }),
    ("a program", |_, text| {
        words(&["run", &kernel("vmlinux.elf"), "--qemu", &qemu("ends"), "--", text, text])
    }),
    ("a program's command", |scene, text| {
        let mut it = program(1000, 70);
        it.program.command = words(&[text, text]);
        it.notes = words(&[text]);
        scene.write("p1.json", crate::rows::bytes(&it));
        scene.write("p2.json", crate::rows::bytes(&program(1010, 70)));
        words(&["run", "p1.json", "p2.json", "--across", "--check"])
    }),
    ("a new probe's name", |_, text| words(&["run", "--new-probe", text])),
    ("a label", |_, text| words(&["history", "add", "--db", "h", "base.json", "--label", text])),
    ("a label asked for", |_, text| words(&["history", "show", "--db", text, "--label", text])),
    ("a history's names", |scene, text| {
        write_hostile_result(scene, text);
        scene.run(&["history", "add", "--db", "h", "it.json"]);
        words(&["history", "show", "--db", "h"])
    }),
    ("a history's paths", |scene, text| {
        write_hostile_result(scene, text);
        scene.run(&["history", "add", "--db", "h", "it.json"]);
        words(&["history", "show", "*", "--db", "h"])
    }),
    ("a history's documents", |scene, text| {
        write_hostile_result(scene, text);
        scene.run(&["history", "add", "--db", "h", "it.json"]);
        words(&["history", "export", "--db", "h"])
    }),
];

/// What is wrong with what was printed.
fn fault(printed: &str, coloured: bool) -> Option<String> {
    let mut text = printed.to_owned();
    if coloured {
        // Ours; 35 is not among them.
        for colour in ["0", "1", "2", "31", "32", "33"] {
            text = text.replace(&format!("\x1b[{colour}m"), "");
        }
    }
    if let Some(c) = text.chars().find(|&c| is_obeyed(c) && c != '\n') {
        return Some(format!("a terminal would obey {c:?}"));
    }
    let own = ["", "pathmeter: error: ", "pathmeter: --check fails: ", "help: "];
    let is_forged = |line: &&str| {
        own.iter().any(|own| line.trim_start().starts_with(&format!("{own}{FORGED}")))
    };
    text.lines().find(is_forged).map(|line| format!("forged: {line}"))
}

#[test]
fn no_text_of_others_moves_the_terminal_or_forges_a_line() {
    let texts = if soak() { 1000 } else { 100 };
    let (mut runs, mut shown) = (0, BTreeSet::new());
    for number in 0..texts {
        let scene = Scene::with(&base(), &leaking());
        let text = hostile(number);
        for (what, input) in INPUTS.iter().skip(number % APART).step_by(APART) {
            let arguments = input(&scene, &text);
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let ran = scene.run(&arguments);
            let case = || format!("{what}, {number}: {text:?}\n{}\n{}", ran.stdout, ran.stderr);
            assert!(ran.code.is_some_and(|code| code <= 3), "{:?}: {}", ran.code, case());
            for printed in [&ran.stdout, &ran.stderr] {
                let fault = fault(printed, arguments.contains(&"always"));
                assert!(fault.is_none(), "{}\n{}", fault.unwrap_or_default(), case());
                let visible: String = clean(&text).chars().take(4).collect();
                if printed.contains(&visible) {
                    shown.insert(*what);
                }
            }
            runs += 1;
        }
    }
    println!("{texts} texts, {runs} runs at {} inputs", INPUTS.len());
    let silent = INPUTS.map(|(what, _)| what).into_iter().filter(|what| !shown.contains(what));
    assert_eq!(silent.collect::<Vec<_>>(), SILENT, "what shows nothing of its texts tries nothing");
}
