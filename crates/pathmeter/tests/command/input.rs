//! Standard input that a program is not given is not dropped silently.

use super::scene::Scene;

const NOTE: &str = "standard input is not given to the program";

/// What is said of a program when the command has this standard input.
fn said(arguments: &[&str], input: &str) -> String {
    let scene = Scene::new();
    scene.write("bzImage", "no kernel");
    scene.write("input", "from a file");
    let command = [&["run", "bzImage"], arguments, &["--", "/bin/true"]].concat();
    let output = scene.command(&command).write_stdin(input).output().unwrap();
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn piped_input_is_noted_unless_the_program_gets_a_file() {
    assert!(said(&[], "piped").contains(NOTE), "{}", said(&[], "piped"));
    assert!(!said(&[], "").contains(NOTE));
    assert!(!said(&["--stdin", "input"], "piped").contains(NOTE));
}
