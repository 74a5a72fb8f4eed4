//! What a program is not given is said: standard input, and folders that a shell's words name.

use std::io::Write;
use std::process::Command;

use super::scene::Scene;

const NOTE: &str = "standard input is not given to the program";

/// What `run` of a program writes to standard error if it has this standard input.
fn run_with_input(arguments: &[&str], input: &str) -> String {
    run_program(&[arguments, &["--", "/bin/true"]].concat(), input)
}

fn run_program(arguments: &[&str], input: &str) -> String {
    let scene = Scene::new();
    scene.write("bzImage", "no kernel");
    scene.write("input", "from a file");
    let command = [&["run", "bzImage"], arguments].concat();
    // It is there before the command looks.
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(input.as_bytes()).unwrap();
    drop(writer);
    let mut pathmeter = Command::new(assert_cmd::cargo::cargo_bin!("pathmeter"));
    pathmeter.args(command).current_dir(scene.path("")).env("XDG_CACHE_HOME", scene.path("cache"));
    String::from_utf8(pathmeter.stdin(reader).output().unwrap().stderr).unwrap()
}

#[test]
fn piped_input_is_noted_unless_the_program_gets_a_file() {
    assert!(run_with_input(&[], "piped").contains(NOTE), "{}", run_with_input(&[], "piped"));
    assert!(!run_with_input(&[], "").contains(NOTE));
    assert!(!run_with_input(&["--stdin", "input"], "piped").contains(NOTE));
}

#[test]
fn programs_in_a_shells_words_are_packed_and_folders_are_named() {
    let script = ["--", "sh", "-c", "ls /usr/bin | sort"];
    let told = run_program(&script, "");
    assert!(told.contains("and packed: `ls`, `sort`\n"), "{told}");
    assert!(told.contains("not packed: `/usr/bin`; add --file /usr/bin, or"), "{told}");
    let given = run_program(&[&["--file", "/bin/ls"], &script[..]].concat(), "");
    assert!(given.contains("and packed: `sort`\n"), "{given}");
    let own = run_program(&[&["--root", "/"], &script[..]].concat(), "");
    assert!(!own.contains("shell's words"), "{own}");
}
