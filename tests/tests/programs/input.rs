//! What a program is given: its standard input, kept by its content, and the files that it opens.

use std::fs::File;

use pathmeter_e2e::{Scene, built};
use serde_json::Value;

#[test]
fn standard_input_is_given_and_only_its_content_counts() {
    let (scene, kernel) = (Scene::warm(), built("base"));
    let result = |name: &str, text: &str| -> Value {
        let file = scene.write(name, text);
        let options = ["--stdin", "-", "--perturb", "2", "--json"];
        let words = [&["run", &kernel], &options[..], &["--", "/bin/cat"]].concat();
        let mut command = scene.command(&words);
        let output = command.stdin(File::open(file).unwrap()).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let one = result("one", "some text\n");
    assert_eq!(one["execution"]["output"]["stdout"]["text"], "some text\n");
    let packed = |result: &Value| result["configuration"]["program"]["packed_sha256"].clone();
    assert_eq!(packed(&one), packed(&result("copy", "some text\n")));
    assert_ne!(packed(&one), packed(&result("other", "some more text\n")));
}

#[test]
fn files_that_a_program_opens_here_are_packed_and_listed() {
    let (scene, kernel) = (Scene::warm(), built("base"));
    let file = scene.write("words", "some text\n");
    let words = format!("cat {}", file.display());
    let options = ["--find-files", "list", "--perturb", "1", "--json", "--"];
    let run = || scene.run(&[&["run", &kernel], &options[..], &["sh", "-c", &words]].concat());
    let first = run();
    first.assert_printed(&["was executed here and ended with exit code 0", "packed", "list"]);
    assert_eq!(first.json()["execution"]["output"]["stdout"]["text"], "some text\n");
    let list = std::fs::read_to_string(scene.path("list")).unwrap();
    let names: Vec<&str> = list.lines().collect();
    assert!(names[0].starts_with("# opened by sh -c"), "{list}");
    assert!(names.contains(&&*file.display().to_string()), "{list}");
    assert!(names.iter().any(|name| name.ends_with("/cat")), "{list}");
    let again = run();
    assert!(!again.stderr.contains("executed here"), "{}", again.stderr);
    let packed =
        |run: &pathmeter_e2e::Run| run.json()["configuration"]["program"]["packed_sha256"].clone();
    assert_eq!(packed(&first), packed(&again));
}
