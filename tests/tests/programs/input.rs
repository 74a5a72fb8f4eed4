//! What a program is given as its standard input is kept by its content.

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
