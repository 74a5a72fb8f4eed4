//! One pair of kernels: the table, the JSON document, the formats, the page and the explanations
//! have each number from one source, so that they agree in every cell.

use pathmeter_e2e::{Scene, debian};
use serde_json::Value;

/// Whether it is a wait between two points of the kernel.
fn is_wait(path: &str) -> bool {
    let others = ["wake.switch", "irq.softirq", "timer.expire", "fault.return"];
    path.starts_with("softirq.") || others.contains(&path)
}

/// `111632` as `111,632`.
fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn array(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

/// The cells of the line of a path, in the first table that has it.
fn line<'a>(text: &'a str, path: &str) -> Vec<&'a str> {
    let mut lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    lines.find(|words| words.first() == Some(&path)).unwrap_or_default()
}

/// Of a page, the cells' numbers in the row of a path: base, new, difference.
fn cells(page: &str, path: &str) -> Vec<String> {
    let Some((_, row)) = page.split_once(&format!("<tbody id=\"{path}\"")) else {
        return Vec::new();
    };
    let values = row.split("data-value=\"").skip(1).take(3);
    values.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

#[test]
fn two_kernels_are_the_same_numbers_wherever_they_are_shown() {
    let scene = Scene::warm();
    let (cloud, rt) = (debian("cloud"), debian("rt"));
    let formats = ["--write", "csv=change.csv", "-o", "change.json"];
    let line_of = [&["compare", &cloud, &rt, "--explain", "--full"][..], &formats].concat();
    let run = scene.run(&line_of);
    let text = &run.succeeded().stdout;
    let read = |name: &str| std::fs::read_to_string(scene.path(name)).unwrap();
    let document: Value = serde_json::from_str(&read("change.json")).unwrap();
    scene.run(&["report", "change.json", "-o", "page.html"]).succeeded();
    let (csv, page) = (read("change.csv"), read("page.html"));
    let mut seen = 0;
    for row in array(&document["comparison"]["paths"]) {
        let path = row["path"].as_str().unwrap();
        let (Some(base), Some(new)) = (row["base"].as_u64(), row["new"].as_u64()) else { continue };
        let difference = row["difference"].as_i64().unwrap_or_default();
        let bare = |word: &&str| word.trim_end_matches('~').to_owned();
        let shown: Vec<String> = line(text, path).iter().skip(1).take(2).map(bare).collect();
        assert_eq!(shown, [grouped(base), grouped(new)], "{path} in the table");
        let unit = row["unit"].as_str().unwrap();
        let in_csv = format!("{path},{unit},{base},{new},{difference},");
        assert!(csv.contains(&in_csv), "{in_csv} is not in the CSV");
        let numbers = [base.to_string(), new.to_string(), difference.to_string()];
        assert_eq!(cells(&page, path), numbers, "{path} on the page");
        for event in array(&row["events"]) {
            let name = event["event"].as_str().unwrap();
            let (base, new) = (event["base"].as_u64().unwrap(), event["new"].as_u64().unwrap());
            let in_csv = format!("{path},{name},{base},{new},{},", event["difference"]);
            assert!(csv.contains(&in_csv), "{in_csv} is not in the CSV");
        }
        seen += 1;
    }
    assert!(seen > 20, "{seen}");
    assert_explained(&document, text, &page);
}

/// Checks that every explanation shows the pair of its row, with the events of that pair, or states
/// which other windows it shows.
fn assert_explained(document: &Value, text: &str, page: &str) {
    let rows = array(&document["comparison"]["paths"]);
    let explanations = array(&document["explanations"]);
    assert!(explanations.len() > 5, "{}", explanations.len());
    let mut events_seen = 0;
    for explain in explanations {
        let row = rows.iter().find(|row| row["path"] == explain["path"]).unwrap();
        let totals = [&explain["base"], &explain["new"]].map(|side| &side["window"]["total"]);
        let path = explain["path"].as_str().unwrap();
        if totals != [&row["base"], &row["new"]] {
            if row["unit"] == "instructions" {
                let of = |value: &Value| grouped(value.as_u64().unwrap());
                let said = format!("instructions: {} → {} (", of(&row["base"]), of(&row["new"]));
                assert!(text.contains(&said) && page.contains(&said), "{path}: {said}");
            }
            continue;
        }
        // Of a wait the recorder and the counter may differ by some (docs/reference/waits.md).
        if is_wait(path) {
            continue;
        }
        for (event, part) in [("data-lines", "data_lines"), ("data-pages", "data_pages")] {
            for it in array(&row["events"]).iter().filter(|it| it["event"] == event) {
                let footprint = |side: &str| &explain[side]["window"]["footprint"][part];
                let explained = ["base", "new"].map(footprint);
                assert_eq!(explained, [&it["base"], &it["new"]], "{path}: {event}");
                events_seen += 1;
            }
        }
    }
    assert!(events_seen > 10, "{events_seen}");
}
