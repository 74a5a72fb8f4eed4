//! The files in `examples/`: parsed, and their shell parts run.

use std::path::Path;
use std::process::Command;

use pathmeter_model::Measurement;
use yaml_rust2::{Yaml, YamlLoader};

use crate::results::{base, cheaper, more_expensive, without_a_path};
use crate::scene::{Ran, Scene};

fn example(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

fn yaml(name: &str) -> Yaml {
    YamlLoader::load_from_str(&example(name)).unwrap().remove(0)
}

/// `script` in `shell`, with the command on `PATH` and these variables.
fn run(scene: &Scene, shell: &str, script: &str, variables: &[(&str, &str)]) -> Ran {
    let command = assert_cmd::cargo::cargo_bin!("pathmeter");
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", command.parent().unwrap().display());
    let mut shell = Command::new(shell);
    shell.args(["-c", script]).current_dir(scene.path(".")).env("PATH", path);
    shell.env("XDG_CACHE_HOME", scene.path("cache")).envs(variables.iter().copied());
    shell.output().unwrap().into()
}

/// How each of these new results is judged: not worse, worse, not compared.
fn judged(run: impl Fn(&Scene) -> Ran) -> [(Scene, Ran); 3] {
    [cheaper(), more_expensive(), without_a_path()].map(|new: Measurement| {
        let scene = Scene::with(&base(), &new);
        let ran = run(&scene);
        (scene, ran)
    })
}

#[test]
fn the_github_action_writes_the_summary_and_fails_on_what_is_worse() {
    let action = yaml("github-action/action.yml");
    let step = &action["runs"]["steps"][0];
    let script = step["run"].as_str().unwrap();
    assert_eq!(
        (action["runs"]["using"].as_str(), step["shell"].as_str()),
        (Some("composite"), Some("bash"))
    );
    for name in step["env"].as_hash().unwrap().keys() {
        let input = name.as_str().unwrap().to_lowercase();
        let value = step["env"][name.as_str().unwrap()].as_str().unwrap();
        assert_eq!(value, format!("${{{{ inputs.{input} }}}}"));
        assert!(action["inputs"][&*input].as_hash().is_some(), "{input}");
    }
    let variables = [
        ("BASE", "base.json"),
        ("NEW", "new.json"),
        ("BUDGET", ""),
        ("GITHUB_STEP_SUMMARY", "s.md"),
    ];
    // GitHub runs `bash` with -e.
    let script = format!("set -eo pipefail\n{script}");
    let codes = judged(|scene| run(scene, "bash", &script, &variables)).map(|(scene, ran)| {
        assert!(scene.read("s.md").starts_with("### "), "{}", ran.stderr);
        ran.code
    });
    assert_eq!(codes, [Some(0), Some(1), Some(3)]);
}

#[test]
fn the_gitlab_job_leaves_its_reports() {
    let jobs = yaml("gitlab-ci.yml");
    let job = &jobs["pathmeter"];
    let script = job["script"][0].as_str().unwrap();
    let variables = [("BASE", "base.json"), ("NEW", "new.json")];
    let codes = judged(|scene| run(scene, "sh", script, &variables)).map(|(scene, ran)| {
        for report in ["junit", "metrics"] {
            let file = job["artifacts"]["reports"][report].as_str().unwrap();
            assert!(!scene.read(file).is_empty(), "{}", ran.stderr);
        }
        scene.read(job["artifacts"]["paths"][0].as_str().unwrap());
        ran.code
    });
    assert_eq!(codes, [Some(0), Some(1), Some(3)]);
}

#[test]
fn the_hook_refuses_only_what_is_worse() {
    let variables = [("PATHMETER_BASE", "base.json"), ("PATHMETER_NEW", "new.json")];
    let codes = judged(|scene| run(scene, "sh", &example("pre-commit.sh"), &variables));
    assert_eq!(codes.map(|(_, ran)| ran.code), [Some(0), Some(1), Some(0)]);
    let none = run(&Scene::new(), "sh", &example("pre-commit.sh"), &variables);
    assert_eq!((none.code, &*none.stdout), (Some(0), ""));
}

#[test]
fn the_budget_is_read_to_its_end() {
    let scene = Scene::with(&base(), &base());
    scene.write("budget.toml", example("budget.toml"));
    let arguments = ["compare", "base.json", "new.json", "--check", "--budget", "budget.toml"];
    let ran = scene.run(&arguments);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("limits are met"), "{}", ran.stdout);
}
