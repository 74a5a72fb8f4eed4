//! The heat map as a picture.
#![allow(clippy::unwrap_used, reason = "tests")]

use pathmeter_report::{HeatBase, PageSection, heat_map_svg};
use roxmltree::{Document, Node};

use crate::scene::{HOSTILE, plan, result};

/// A picture of three kernels; the names of all, of a path and a reason are hostile.
fn picture(base: HeatBase) -> String {
    let kernels = [("5.10.9-x", 2500), ("6.1.9-x", 3000), ("6.12.9-x", 3034)];
    let mut results: Vec<_> =
        kernels.iter().map(|(release, cost)| result(release, [*cost, 900, 5000])).collect();
    for result in &mut results {
        HOSTILE.clone_into(&mut result.paths[1].path);
    }
    heat_map_svg(&results, base)
}

/// The titles and texts of the cells of the row of `switch.yield`.
fn cells(svg: &str) -> Vec<(String, String)> {
    let document = Document::parse(svg).unwrap();
    let text = |cell: &Node<'_, '_>, name| {
        let child = cell.children().find(|it| it.has_tag_name(name)).unwrap();
        child.text().unwrap_or_default().to_owned()
    };
    let cells =
        document.descendants().filter(|it| it.has_tag_name(("http://www.w3.org/2000/svg", "g")));
    cells.map(|cell| (text(&cell, "title"), text(&cell, "text"))).collect()
}

#[test]
fn a_cell_has_its_percent_and_both_values() {
    let svg = picture(HeatBase::Result(0));
    let row: Vec<_> =
        cells(&svg).into_iter().filter(|(title, _)| title.starts_with("switch.yield")).collect();
    let cell = |kernels: &str, what: &str, text: &str| {
        (format!("switch.yield, {kernels}: {what}"), text.to_owned())
    };
    let expected = [
        cell("5.10.9", "2,500 instructions", "2,500"),
        cell("5.10.9 to 6.1.9", "2,500 to 3,000 instructions, +500, +20.00 %, higher", "+20"),
        cell("5.10.9 to 6.12.9", "2,500 to 3,034 instructions, +534, +21.36 %, higher", "+21"),
    ];
    assert_eq!(row, expected);
    assert!(svg.contains("What each kernel costs more or less than 5.10.9<"));
}

#[test]
fn each_can_be_relative_to_any_or_to_the_one_before() {
    let texts = |base| {
        let row = cells(&picture(base)).into_iter();
        let row = row.filter(|(title, _)| title.starts_with("switch.yield"));
        row.map(|(_, text)| text).collect::<Vec<_>>()
    };
    assert_eq!(texts(HeatBase::Result(1)), ["-17", "3,000", "+1.1"]);
    assert_eq!(texts(HeatBase::Before), ["2,500", "+20", "+1.1"]);
    assert_eq!(texts(HeatBase::Result(9)), ["–", "–", "–"], "there is no such result");
}

#[test]
fn what_came_from_outside_is_text() {
    for base in [HeatBase::Result(0), HeatBase::Before] {
        let svg = picture(base);
        let document = Document::parse(&svg).unwrap();
        for element in document.descendants().filter(Node::is_element) {
            let name = element.tag_name().name();
            assert!(["svg", "title", "style", "rect", "text", "g"].contains(&name), "{name}");
            assert!(element.attributes().all(|it| !it.name().starts_with("on")));
        }
        assert!(cells(&svg).iter().any(|(title, _)| title.contains(HOSTILE)), "it is there");
    }
}

#[test]
fn the_same_results_give_the_same_bytes_and_none_a_picture_too() {
    assert_eq!(picture(HeatBase::Before), picture(HeatBase::Before));
    assert!(Document::parse(&heat_map_svg(&[], HeatBase::Result(0))).is_ok());
}

#[test]
fn of_two_cpus_each_kernel_is_relative_to_the_one_before_on_its_own() {
    let PageSection::History { results, .. } = plan() else { panic!("it is a map") };
    let svg = heat_map_svg(&results, HeatBase::Before);
    let row = cells(&svg).into_iter().filter(|(title, _)| title.starts_with("switch.yield"));
    let texts: Vec<String> = row.map(|(_, text)| text).collect();
    assert_eq!(texts, ["3,000", "9,000", "+1.1", "+2.0"]);
    for line in ["6.1.0", "skylake", "zen2"] {
        assert!(svg.contains(&format!(">{line}</text>")), "{line}");
    }
    let one = heat_map_svg(&results[..2], HeatBase::Result(0));
    assert!(one.contains("What 6.1.0 costs more or less than with skylake<"));
    assert!(!one.contains(">6.1.0</text>"), "what both have is in no column");
}
