//! `report`: pages of documents, and what is refused. `crates/report/tests/page` looks into them.

use pathmeter_model::{Measurement, Threshold, compare, example};
use pathmeter_trace::{Explain, SubjectWindow};
use serde_json::Value;

use crate::results::{base, cheaper, measured_otherwise, more_expensive};
use crate::scene::{Ran, Scene, document, reseal};

fn reported(scene: &Scene, arguments: &[&str]) -> Ran {
    scene.run(&[&["report", "-o", "report.html"], arguments].concat())
}

const WRITTEN: &str = "pathmeter: note: report.html: written\n";

#[test]
fn two_results_are_a_page_and_its_first_sentence_is_printed() {
    let scene = Scene::with(&base(), &more_expensive());
    let ran = reported(&scene, &["base.json", "new.json"]);
    let headline = "1 of 4 paths costs more, 1 less: switch.yield +33 instructions (+1.00 %).";
    assert_eq!(
        (ran.code, &*ran.stdout, &*ran.stderr),
        (Some(0), &*format!("{headline}\n"), WRITTEN)
    );
    let page = scene.read("report.html");
    assert!(page.contains(&format!("<h1>{headline}</h1>")) && page.len() < 1 << 20);
    let mut files = scene.files(".");
    files.sort();
    assert_eq!(files, ["base.json", "new.json", "report.html"]);
}

#[test]
fn one_result_and_three_are_pages_too() {
    let scene = Scene::with(&base(), &more_expensive());
    scene.write("third.json", document(&cheaper()));
    assert_eq!(reported(&scene, &["base.json"]).code, Some(0));
    assert!(
        scene.read("report.html").contains("<h1>4 paths measured on 6.1.0-old, 1 unsupported.")
    );
    assert_eq!(reported(&scene, &["base.json", "new.json", "third.json"]).code, Some(0));
    assert!(scene.read("report.html").contains("<h1>6.1.0-old → "));
}

/// A window of `switch.yield` on the kernel of `result`, all of it in one function.
pub(crate) fn window(result: &Measurement, total: u64) -> SubjectWindow {
    let window = example::window(
        "switch.yield",
        &result.subject.name,
        &[(None, "finish_task_switch", total)],
    );
    let image_sha256 = result.configuration.image_sha256.clone();
    SubjectWindow { image_sha256, ..window }
}

#[test]
fn functions_of_results_are_those_of_documents_beside_them() {
    let [first, mut second, mut third] = [base(), more_expensive(), base()];
    second.paths[2] = first.paths[2].clone();
    second.configuration.image_sha256 = "b".repeat(64);
    third.configuration.image_sha256 = "c".repeat(64);
    let scene = Scene::with(&first, &second);
    scene.write("third.json", document(&third));
    // The first two are known; of the third kernel there is a window on another CPU.
    for (name, [one, two]) in [
        ("explain.json", [window(&first, 3300), window(&second, 3333)]),
        ("other.json", [window(&second, 3333), window(&third, 2900)]),
    ] {
        let explain = Explain::new(one, Some(two));
        scene.write(name, document(&explain));
    }
    let given = ["base.json", "new.json", "third.json", "explain.json", "other.json"];
    let ran = reported(&scene, &given);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), WRITTEN));
    let page = scene.read("report.html");
    let headline = "Largest step, vmlinuz-old → 6.1.0-new: \
         switch.yield +33 instructions (+1.00 %), in finish_task_switch.";
    let (_, shown) = page.split_once("<h1>").unwrap();
    assert!(shown.contains(headline), "{}", shown.split_once("</h1>").unwrap().0);
    // By path and kernel: the number of a function's name, and what it executes.
    let functions = "\"functions\":[[null,null,null],[[0,3300],[0,3333],null],[null,null,null]]";
    assert!(page.contains(functions));
}

#[test]
fn only_the_paths_that_are_asked_for_are_shown() {
    let scene = Scene::with(&base(), &more_expensive());
    assert_eq!(reported(&scene, &["base.json", "new.json", "--only", "*.pipe"]).code, Some(0));
    let page = scene.read("report.html");
    assert!(page.contains("Nothing costs more; 1 of 1 path costs less: switch.pipe"));
    let ran = reported(&scene, &["base.json", "--only", "switch.yeild"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("did you mean switch.yield"), "{ran:?}");
}

#[test]
fn what_was_measured_differently_is_refused_or_marked() {
    let scene = Scene::with(&base(), &measured_otherwise());
    let ran = reported(&scene, &["base.json", "new.json"]);
    assert_eq!(ran.code, Some(2));
    let names = "vmlinuz-old and vmlinuz-new were measured differently:";
    assert!(ran.stderr.contains(names) && ran.stderr.contains("--across"), "{}", ran.stderr);
    assert!(!scene.path("report.html").exists());
    let ran = reported(&scene, &["base.json", "new.json", "--across"]);
    assert_eq!(ran.code, Some(0));
    assert!(scene.read("report.html").contains("<b>Measured differently.</b>"));
}

#[test]
fn a_comparison_is_a_page_unless_it_was_changed() {
    let scene = Scene::new();
    let comparison = compare(&base(), &more_expensive(), Threshold::default());
    let mut value = serde_json::to_value(&comparison).unwrap();
    scene.write("whole.json", document(&value));
    assert_eq!(reported(&scene, &["whole.json"]).code, Some(0));
    // Sealed again, so that it is what it says that is refused.
    let mut refused = |field: &str, number: Value, told: &str| {
        let whole = std::mem::replace(&mut value["paths"][1][field], number);
        scene.write("changed.json", document(&value));
        value["paths"][1][field] = whole;
        let ran = reported(&scene, &["changed.json"]);
        assert!(ran.code == Some(3) && ran.stderr.contains(told), "{field}: {ran:?}");
    };
    refused("difference", 1.into(), "is not new less base");
    refused("base", 3301.into(), "is not new less base");
    refused(
        "percent",
        41.99.into(),
        "percent of \"switch.yield\": is not the difference in percent",
    );
    refused("percent", 1.000_001.into(), "is not the difference in percent");
}

#[test]
fn other_documents_and_versions_are_refused_by_their_schema() {
    let scene = Scene::new();
    for schema in ["pathmeter.comparison/2", "pathmeter.result/9", "pathmeter.program/1"] {
        scene.write("other.json", format!("{{\"schema\": \"{schema}\"}}"));
        let ran = reported(&scene, &["other.json"]);
        assert!(ran.code == Some(3) && ran.stderr.contains(schema), "{ran:?}");
    }
    scene.write("cut.json", "{\"schema\": \"pathmeter.comp");
    assert_eq!(reported(&scene, &["cut.json"]).code, Some(3));
    assert!(!scene.path("report.html").exists());
}

#[test]
fn a_page_of_more_results_than_it_compares_is_refused() {
    let scene = Scene::with(&base(), &base());
    let ran = reported(&scene, &["base.json"; 41]);
    assert!(ran.code == Some(2) && ran.stderr.contains("41 kernels and results"), "{ran:?}");
}

#[test]
fn the_page_is_not_written_over_what_it_is_made_of() {
    let scene = Scene::with(&base(), &base());
    let ran = scene.run(&["report", "base.json", "-o", "base.json"]);
    assert!(ran.code == Some(2) && scene.read("base.json").starts_with('{'), "{ran:?}");
    assert_eq!(scene.run(&["report", "base.json"]).code, Some(2), "--output is needed");
}

#[test]
fn a_file_that_ends_in_svg_gets_the_heat_map_as_a_picture() {
    let scene = Scene::with(&base(), &more_expensive());
    scene.write("third.json", document(&cheaper()));
    let drawn = |more: &[&str]| {
        let subjects = ["report", "base.json", "new.json", "third.json", "-o", "heat.svg"];
        let ran = scene.run(&[&subjects, more].concat());
        let note = "pathmeter: note: heat.svg: written\n";
        assert_eq!((ran.code, &*ran.stdout, &*ran.stderr), (Some(0), "", note), "{more:?}");
        scene.read("heat.svg")
    };
    let svg = drawn(&[]);
    assert!(svg.starts_with("<svg ") && svg.contains("+33, +1.00 %, higher"), "{svg}");
    let svg = drawn(&["--relative-to", "new.json"]);
    assert!(svg.contains("costs more or less than 6.1.0-new"), "{svg}");
    let svg = drawn(&["--relative-to", "before", "--only", "switch.pipe,switch.yield"]);
    let place = |path| svg.find(&format!(">{path}</text>")).unwrap();
    assert!(place("switch.pipe") < place("switch.yield") && !svg.contains("syscall.getppid"));
}

#[test]
fn a_picture_is_of_two_or_more_results_and_nothing_else() {
    let scene = Scene::with(&base(), &more_expensive());
    let comparison = compare(&base(), &more_expensive(), Threshold::default());
    scene.write("compared.json", document(&comparison));
    let refused = |arguments: &[&str], why: &str| {
        let ran = scene.run(&[&["report"], arguments].concat());
        assert!(ran.code == Some(2) && ran.stderr.contains(why), "{ran:?}");
        assert!(!scene.path("heat.svg").exists() && !scene.path("heat.html").exists());
    };
    refused(&["base.json", "-o", "heat.svg"], "two or more");
    refused(&["base.json", "new.json", "compared.json", "-o", "heat.svg"], "nothing else");
    let relative = ["base.json", "new.json", "--relative-to", "other.json", "-o"];
    refused(&[&relative[..], &["heat.svg"]].concat(), "not one of the subjects");
    refused(&[&relative[..], &["heat.html"]].concat(), "is for a picture");
}

#[test]
fn what_a_history_shows_is_a_page_with_dates_unless_it_was_changed() {
    let scene = Scene::with(&base(), &more_expensive());
    for (file, date) in [("base.json", "2026-01-31"), ("new.json", "2026-02-28")] {
        let added = scene.run(&["history", "add", file, "--date", date, "--db", "h.sqlite"]);
        assert_eq!(added.code, Some(0), "{}", added.stderr);
    }
    let show = ["history", "show", "switch.*", "--db", "h.sqlite", "--json"];
    let shown = scene.run(&[&show[..], &["-o", "history.json"]].concat());
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    let ran = reported(&scene, &["history.json", "--only", "switch.yield"]);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), WRITTEN));
    let page = scene.read("report.html");
    let headline = "<h1>switch.yield over 2 results, 2026-01-31 to 2026-02-28.</h1>";
    assert!(page.contains(headline) && page.contains("largest step: +1.00 % at #2"), "{page}");
    let mut value: serde_json::Value = serde_json::from_str(&scene.read("history.json")).unwrap();
    value["paths"][0]["points"].as_array_mut().unwrap().pop();
    value.as_object_mut().unwrap().remove("seal");
    scene.write("history.json", reseal(&value.to_string()));
    let ran = reported(&scene, &["history.json"]);
    assert!(ran.code == Some(3) && ran.stderr.contains("has 1 entries for 2 results"), "{ran:?}");
}
