//! What an HTML parser makes of the page.
#![allow(clippy::unwrap_used, reason = "tests")]

use html5ever::tendril::TendrilSink;
use html5ever::{ParseOpts, parse_document};
use markup5ever_rcdom::{Handle, NodeData, RcDom};

use pathmeter_model::{Comparison, Compilers, PathResult, Threshold, Unit, compare};
use pathmeter_report::PageSection;

use crate::scene::{
    HOSTILE, comparison, everything, experiment, explained, history, joined_section,
    line_over_time, page, plan, program_comparison, program_runs, program_slope, result, session,
    settings, single, slope, times,
};

/// An element: its name, its attributes and its text.
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    text: String,
}

impl Element {
    fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

fn parse_page(page: &str) -> (RcDom, Vec<String>) {
    let dom = parse_document(RcDom::default(), ParseOpts::default()).one(page);
    let errors = dom.errors.borrow().iter().map(ToString::to_string).collect();
    (dom, errors)
}

fn elements(page: &str) -> Vec<Element> {
    let mut found = Vec::new();
    walk(&parse_page(page).0.document, &mut found);
    found
}

fn walk(node: &Handle, found: &mut Vec<Element>) {
    if let NodeData::Element { name, attrs, .. } = &node.data {
        let attribute =
            |it: &html5ever::Attribute| (it.name.local.to_string(), it.value.to_string());
        let attributes = attrs.borrow().iter().map(attribute).collect();
        found.push(Element { name: name.local.to_string(), attributes, text: text_of(node) });
    }
    node.children.borrow().iter().for_each(|child| walk(child, found));
}

fn text_of(node: &Handle) -> String {
    match &node.data {
        NodeData::Text { contents } => contents.borrow().to_string(),
        _ => node.children.borrow().iter().map(text_of).collect(),
    }
}

fn texts(page: &str, name: &str) -> Vec<String> {
    elements(page).into_iter().filter(|it| it.name == name).map(|it| it.text).collect()
}

/// Whether a name of a row, and a link to it, can have this.
fn is_of_a_link(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"#._-+:=".contains(&byte)
}

#[test]
fn the_page_is_well_formed() {
    let sections = everything();
    assert_eq!(parse_page(&page(&sections)).1, [""; 0]);
    for section in sections {
        assert_eq!(parse_page(&page(&[section])).1, [""; 0]);
    }
    assert_ne!(parse_page("<p></b>").1, [""; 0], "the parser tells what is wrong");
}

#[test]
fn nothing_that_came_from_outside_is_markup() {
    let page = page(&everything());
    let elements = elements(&page);
    let scripts: Vec<&Element> = elements.iter().filter(|it| it.name == "script").collect();
    assert_eq!(scripts.len(), 2, "the page's own, and its data");
    assert!(scripts[0].text.starts_with("// Makes the page"));
    assert!(serde_json::from_str::<serde_json::Value>(&scripts[1].text).is_ok());
    for element in &elements {
        assert!(!["img", "link", "iframe", "object", "embed", "base"].contains(&&*element.name));
        for (name, value) in &element.attributes {
            assert!(!name.starts_with("on") && name != "style" && name != "src");
            assert!(name != "href" || value.starts_with('#'), "{value}");
            assert!(
                !value.contains("window.hit")
                    || value == HOSTILE
                    || name == "aria-label"
                    || name == "title"
                    || value.bytes().all(is_of_a_link),
                "{name}={value}"
            );
        }
    }
    assert!(texts(&page, "td").iter().any(|text| text.contains(HOSTILE)), "it is there, as text");
}

#[test]
fn the_policy_admits_the_pages_own_script_and_style_and_nothing_else() {
    let page = page(&everything());
    let policy = elements(&page)
        .into_iter()
        .find(|it| it.attribute("http-equiv") == Some("Content-Security-Policy"));
    let policy = policy.unwrap().attribute("content").unwrap().to_owned();
    assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
    assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
}

#[test]
fn names_of_elements_are_unique_and_those_that_are_referred_to_exist() {
    let page = page(&everything());
    let elements = elements(&page);
    let mut ids: Vec<&str> = elements.iter().filter_map(|it| it.attribute("id")).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all);
    let of = |name: &'static str| elements.iter().filter_map(move |it| it.attribute(name));
    let linked: Vec<&str> = of("href").filter_map(|it| it.strip_prefix('#')).collect();
    assert!(linked.contains(&"file.stat") && linked.contains(&"cause.prandom_u32_state"));
    let referred: Vec<&str> = of("aria-controls").chain(linked).collect();
    assert!(referred.iter().all(|id| ids.contains(id)), "{referred:?}");
    assert!(ids.iter().all(|id| id.bytes().all(is_of_a_link)));
}

#[test]
fn the_headline_names_what_changed_most_and_in_which_function() {
    let headline = |section| texts(&page(&[section]), "h1")[0].clone();
    assert_eq!(
        headline(comparison()),
        "1 of 4 paths costs more, 1 less: switch.yield +34 instructions (+1.13 %), in \
         finish_task_switch."
    );
    assert_eq!(headline(history()), "5.10 → 6.12: 1 of 4 rows differs: 1 higher.");
    let step = "Largest step, 5.10 → 6.1: switch.yield +500 instructions (+20.00 %), in \
                finish_task_switch.";
    assert!(texts(&page(&[history()]), "p").contains(&step.to_owned()));
    assert_eq!(headline(single()), "4 paths measured on 6.1.0, 1 unsupported.");
    assert!(headline(experiment()).starts_with("ioperm-2004: "));
}

#[test]
fn the_worst_change_comes_first_and_its_function_beside_it() {
    let page = page(&[comparison()]);
    let rows: Vec<String> =
        texts(&page, "tr").into_iter().filter(|row| row.starts_with(char::is_lowercase)).collect();
    let paths =
        rows.iter().filter(|row| row.contains('.')).map(|row| row.split('~').next().unwrap());
    let first: Vec<&str> = paths.take(1).collect();
    assert!(
        first[0].starts_with("switch.yield3,0003,034+34+1.13 %finish_task_switch +34"),
        "{first:?}"
    );
}

#[test]
fn settings_are_rows_that_open_and_those_without_numbers_stand_below() {
    let page = page(&[settings()]);
    let headline = &texts(&page, "h1")[0];
    assert!(
        headline.starts_with("3 of 5 settings change what 6.1.0 executes on max"),
        "{headline}"
    );
    assert!(
        headline.contains("+162 instructions (+5.40 %) on switch.yield, median 0 %."),
        "{headline}"
    );
    let buttons = texts(&page, "button");
    assert!(buttons.iter().any(|text| text.starts_with("boot:audit=1")), "{buttons:?}");
    let folded = texts(&page, "li");
    let of = |heading: &str| folded.iter().any(|line| line.starts_with(heading));
    assert!(of("no effect here: boot:nothing=1") && of("this guest can't show: boot:nosmt"));
    // The parts are those of two settings, of which one turns something off.
    let sums = texts(&page, "tr").into_iter().find(|row| row.starts_with("switch.yield-338"));
    assert_eq!(sums.as_deref(), Some("switch.yield-338+162+500"));
}

#[test]
fn what_a_setting_turns_off_has_its_price_in_the_headline_the_picture_and_the_table() {
    let page = page(&[settings()]);
    let headline = &texts(&page, "h1")[0];
    let price = "Largest single price, of page table isolation";
    assert!(headline.contains(price) && headline.contains(": +500 instructions (+20.00 %) on "));
    let has = |name: &str, what: &str| texts(&page, name).iter().any(|text| text.contains(what));
    assert!(has("li", "+500 (+20.00 %) on switch.yield, median 0 %"));
    assert!(has("tr", "+500+20.00 %") && !has("tr", "-500") && !has("tr", "-16.67 %"));
    assert!(has("td", "boot:nopti"), "the setting stands beside what it turns off");
}

#[test]
fn a_slope_is_a_picture_of_each_row_and_a_table() {
    let page = page(&[slope()]);
    let headline = &texts(&page, "h1")[0];
    assert!(
        headline.contains("2 of 3 paths differ. 1 costs a constant plus the same"),
        "{headline}"
    );
    let pictures: Vec<_> = elements(&page).into_iter().filter(|it| it.name == "svg").collect();
    assert_eq!(pictures.len(), 4, "two rows of paths, two of the program");
    let told = pictures[0].attribute("aria-label").unwrap();
    assert!(told.contains("from 2 +40"), "{told}");
    let captions = texts(&page, "figcaption");
    assert!(captions.iter().any(|it| it.contains("0 and +10 per rule")), "{captions:?}");
}

#[test]
fn the_fingerprint_is_there_in_full() {
    let page = page(&[comparison()]);
    let all = texts(&page, "details").concat();
    for field in ["command_line", "cpu", "machine", "agent_sha256", "initramfs_sha256", "runs"] {
        assert!(all.contains(field), "{field}");
    }
    assert!(all.contains(&"b1".repeat(32)) && all.contains("6.12.0"));
}

#[test]
fn what_was_measured_differently_is_marked() {
    let page = page(&[history()]);
    assert!(page.contains("<b>Measured differently.</b>"));
    assert!(!crate::scene::page(&[comparison()]).contains("Measured differently"));
}

#[test]
fn the_same_documents_give_the_same_bytes() {
    assert_eq!(page(&everything()), page(&everything()));
}

#[test]
fn without_a_section_there_is_a_page() {
    assert_eq!(texts(&page(&[]), "h1"), ["There is nothing to show."]);
}

#[test]
fn no_line_goes_from_one_unit_to_another() {
    let of = |release: &str, unit, cost: u64| {
        let mut result = result(release, [3000, 900, 5000]);
        result.paths = vec![PathResult::ok("b.wait", unit, &[vec![cost; 4]], vec![])];
        result
    };
    let instructions = Unit::Instructions;
    let results = vec![
        of("5.10", instructions, 50_000),
        of("6.1", instructions, 51_000),
        of("6.12", Unit::Clock, 4_000),
    ];
    let page = page(&[PageSection::History {
        results,
        windows: vec![],
        explained: vec![],
        across: vec![],
    }]);
    assert!(!page.contains("-92") && !page.contains("50,000 → 4,000"), "{page}");
    let b_wait = "<b>b.<wbr>wait";
    assert!(
        page.contains(&format!(
            "{b_wait}, instructions</b> <span>50,000 → 51,000 (+2.00 %)</span>"
        ))
    );
    assert!(page.contains(&format!("{b_wait}, steps of the clock</b> <span>4,000</span>")));
    let values = "\"values\":[[50000,51000,null]]";
    assert!(page.contains(values), "{page}");
}

#[test]
fn every_section_of_numbers_says_what_they_were_measured_with() {
    for section in [comparison(), single(), history(), settings(), slope()] {
        let page = page(&[section]);
        assert!(page.contains("Measured with QEMU 7.2.22, "), "{page}");
    }
}

#[test]
fn the_head_is_the_sentence_with_the_compilers_and_the_machine() {
    let PageSection::Comparison { mut comparison, .. } = explained() else { return };
    let compiler = |version: &str| format!("gcc (Debian {version}-1) {version}");
    let [base, new] = ["12.2.0", "14.2.0"].map(compiler);
    comparison.compilers = Some(Compilers { base, new });
    let (explanations, results) = (vec![], vec![]);
    let page = page(&[PageSection::Comparison { comparison, explanations, results }]);
    let answer = "2 of 5 paths cost more, 1 less: a.read +39 instructions (+11.89 %); the median \
                  of these 3 is +11.89 %.";
    assert_eq!(texts(&page, "h1"), [answer]);
    let head: String = texts(&page, "p").concat();
    let sentence = "The kernels were built by different compilers: gcc 12.2.0 and gcc 14.2.0. \
                    Instructions: entry and exit, +39 a call in 2 rows (prandom_u32_state (new), ";
    assert!(head.contains(sentence) && head.contains("Measured with QEMU"), "{head}");
}

#[test]
fn a_cause_opens_to_its_functions_and_rows_and_a_move_says_how_sure_it_is() {
    let page = page(&[explained()]);
    let rows = texts(&page, "tr");
    let has = |row: &str| rows.iter().any(|it| it == row);
    assert!(has("prandom_u32_state (new)+80270 %") && has("a.read+39rdtsc -1"), "{rows:?}");
    let moves: Vec<String> =
        texts(&page, "li").into_iter().filter(|it| it.contains("comes back")).collect();
    assert_eq!(moves.len(), 2, "of the cause, and without a cost");
    assert!(moves[0].ends_with(": 99 % of the difference comes back, no callees, in 1 row"));
}

#[test]
fn a_column_without_content_is_left_out() {
    let headings = |section| texts(&page(&[section]), "th").concat();
    assert!(headings(comparison()).contains("most in"));
    let without = headings(explained());
    assert!(!without.contains("most in") && without.contains("verdict"), "{without}");
}

#[test]
fn rows_of_another_unit_say_so() {
    let side = |cost: u64| {
        let mut result = result("6.1", [3000, 900, 5000]);
        result.paths.push(PathResult::ok("b.wait", Unit::Clock, &[vec![cost; 4]], vec![]));
        result
    };
    let results = vec![side(4000), side(5000), side(5000)];
    let two = compare(&results[0], &results[1], Threshold::default());
    let (explanations, none) = (vec![], vec![]);
    let comparison = Box::new(two);
    let two = PageSection::Comparison { comparison, explanations, results: none };
    let (windows, explained, across) = (vec![], vec![], vec![]);
    let many = PageSection::History { results, windows, explained, across };
    for section in [two, many] {
        let page = page(&[section]);
        let told = texts(&page, "th").into_iter().filter(|it| it.contains("steps of the clock"));
        assert_eq!(told.collect::<Vec<_>>(), ["b.wait steps of the clock"]);
    }
}

#[test]
fn each_step_of_many_kernels_has_its_sentence_and_the_legend_stands_above_the_map() {
    let PageSection::History { results, windows, .. } = history() else { return };
    let step = compare(&results[0], &results[1], Threshold::default());
    let causes = Some(crate::causes::causes());
    let explained = vec![(0, 1, Comparison { causes, ..step })];
    let page = page(&[PageSection::History { results, windows, explained, across: vec![] }]);
    let steps = texts(&page, "dd");
    assert!(steps[0].starts_with("1 of 4 rows differs: 1 higher. Instructions: "), "{steps:?}");
    assert_eq!(steps[1], "1 of 4 rows differs: 1 higher.");
    assert!(page.find("class=\"legend\"") < page.find("class=\"heat\""));
}

#[test]
fn times_have_their_unit_and_are_told_from_counts() {
    let notes = |sections: &[PageSection]| texts(&page(sections), "p").join("\n");
    let [counts, timed] = [notes(&[single()]), notes(&[session()])];
    assert!(counts.contains("exact counts of instructions") && !counts.contains("nanoseconds"));
    assert!(!timed.contains("exact counts") && timed.contains("nanoseconds of one machine"));
    for sections in [vec![single(), session()], vec![joined_section()]] {
        let both = notes(&sections);
        assert!(both.contains("exact counts") && both.contains("nanoseconds of one machine"));
    }
    let page = page(&[session()]);
    let headings = texts(&page, "th");
    assert!(headings.iter().any(|text| text == "ns") && !page.contains(">value<"));
    let figures = texts(&page, "td");
    assert!(figures.iter().any(|text| text == "9,002"), "50 ticks are the clock's: {figures:?}");
}

#[test]
fn a_comparison_of_times_begins_with_its_sentence_and_draws_its_intervals() {
    let page = page(&[times()]);
    let headline = texts(&page, "h1").concat();
    let told = "of 2 paths, 1 is slower, by +99.98 %; 1 is faster, by -4.99 %.";
    assert!(headline.ends_with(told), "{headline}");
    let bodies: Vec<Element> =
        elements(&page).into_iter().filter(|it| it.name == "tbody").collect();
    let verdicts: Vec<Option<&str>> =
        bodies.iter().map(|it| it.attribute("data-verdict")).collect();
    assert_eq!(verdicts, [Some("slower"), Some("faster")]);
    let pictures = elements(&page).into_iter();
    assert_eq!(pictures.filter(|it| it.attribute("class") == Some("whisker")).count(), 2);
    assert!(texts(&page, "li").iter().any(|text| text.contains("unmeasured")));
}

#[test]
fn a_run_begins_with_its_own_work_and_goes_on_by_instructions() {
    let page = page(&[program_runs()]);
    let headline = &texts(&page, "h1")[0];
    let own = "/bin/true and its system calls execute 9,310 instructions, most in openat (6,000), \
         on 6.1.0.";
    assert_eq!(headline, own);
    let rows = elements(&page).into_iter().filter(|it| it.name == "tbody");
    let rows = rows.filter(|row| row.attribute("id").is_some());
    let names: Vec<String> = rows.map(|row| row.attribute("id").unwrap().to_owned()).collect();
    assert_eq!(names[..4], ["own_work", "openat", "user_code:_user_code", "read"]);
    assert_eq!(names[5..], ["sum", "timer_interrupt__timer_"]);
}

#[test]
fn two_runs_of_a_program_are_ranked_by_instructions_after_its_own_work() {
    let page = page(&[program_comparison()]);
    let rows = elements(&page).into_iter().filter(|it| it.name == "tbody");
    let names: Vec<String> =
        rows.filter_map(|row| row.attribute("id").map(str::to_owned)).collect();
    assert_eq!(names[..3], ["own_work", "openat", "pipe2"]);
    let bars = texts(&page, "li").into_iter().filter(|it| it.contains(" %)"));
    let bars: Vec<String> = bars.collect();
    assert_eq!(bars[0], "own work+7,952 (+1.59 %)");
    assert_eq!(bars[1..], ["openat+7,295 (+1.46 %)", "pipe2+657 (+73.00 %)"]);
    let captions = texts(&page, "figcaption");
    let caption = "Largest changes in instructions, 3 of 3 rows that differ.";
    assert!(captions.iter().any(|it| it == caption), "{captions:?}");
}

#[test]
fn a_programs_slope_is_a_sentence_a_picture_of_the_rows_that_matter_and_a_table() {
    let page = page(&[program_slope()]);
    let headline = &texts(&page, "h1")[0];
    assert!(headline.starts_with("One more N costs 62"), "{headline}");
    let lead = texts(&page, "p").into_iter().find(|it| it.starts_with("1 row costs the same"));
    assert!(lead.unwrap().starts_with("1 row costs the same for each, exactly: getppid +321."));
    let told: Vec<String> = elements(&page)
        .iter()
        .filter(|it| it.name == "svg")
        .filter_map(|it| it.attribute("aria-label").map(str::to_owned))
        .collect();
    assert_eq!(told.len(), 3, "own work and two rows: {told:?}");
    assert_eq!(told[1], "getppid: 1,000 and +321 per N");
    assert!(told[2].starts_with("write: scatters: +"), "{told:?}");
    let rows = texts(&page, "tr");
    assert!(rows.iter().any(|row| row.contains("getppid9,02565,2001,000+321")), "{rows:?}");
}

#[test]
fn the_columns_of_two_cpus_name_them_and_no_step_goes_from_cpu_to_cpu() {
    let page = page(&[plan()]);
    let columns: Vec<String> = texts(&page, "th").into_iter().take(5).collect();
    let of = |kernel: &str| ["skylake", "zen2"].map(|cpu| format!("{kernel} {cpu}"));
    assert_eq!(columns[1..], [of("6.1.0"), of("6.12.0")].concat());
    let headline = &texts(&page, "h1")[0];
    assert!(headline.contains("6.1.0 skylake → 6.12.0 skylake: 1 of 4 rows differs"), "{headline}");
    assert!(headline.contains("6.1.0 zen2 → 6.12.0 zen2: 1 of 4 rows differs"), "{headline}");
    let lead = texts(&page, "p").into_iter().find(|it| it.starts_with("Largest step"));
    let largest =
        "Largest step, 6.1.0 zen2 → 6.12.0 zen2: switch.yield +180 instructions (+2.00 %).";
    assert_eq!(lead.as_deref(), Some(largest));
    assert_eq!(texts(&page, "dt").iter().filter(|it| it.contains('→')).count(), 2);
    assert!(page.contains("\"before\":[0,1,0,1]"));
    let lines = elements(&page).into_iter().filter(|it| it.name == "polyline");
    assert_eq!(lines.count(), 2 * 3, "two lines in the chart of each path");
}

#[test]
fn a_history_is_a_line_with_its_dates_and_its_largest_step() {
    let page = page(&[line_over_time()]);
    let headline = &texts(&page, "h1")[0];
    assert_eq!(headline, "switch.yield over 4 results, 2026-01-01 to 2026-04-01.");
    let spans = texts(&page, "span");
    for text in ["1,000 → 1,300 (+30.00 %)", "1,300", "1,000", "2026-01-01", "2026-04-01"] {
        assert!(spans.iter().any(|span| span == text), "{text}: {spans:?}");
    }
    let step = texts(&page, "p").into_iter().find(|it| it.starts_with("largest step"));
    let step = step.unwrap();
    assert!(step.starts_with("largest step: +28.71 % at #4, 2026-04-01, 6.4"), "{step}");
    let rows = texts(&page, "tr");
    assert!(rows.iter().any(|row| row.contains("2026-03-010123456789ab6.1.0failed")), "{rows:?}");
}

#[test]
fn the_rows_that_differ_most_have_named_bars_and_none_is_cut() {
    let mut costs: Vec<(String, u64)> =
        (1..=20).map(|at| (format!("a.p{at}"), 1000 + at)).collect();
    costs[0].1 = 4640;
    costs[1].1 = 500;
    let side = |is_new: bool| {
        let mut result = result("6.1.0", [3000, 900, 5000]);
        let cost = |(name, new): &(String, u64)| {
            pathmeter_model::example::path(name, &[if is_new { *new } else { 1000 }; 4])
        };
        result.paths = costs.iter().map(cost).collect();
        result
    };
    let comparison = Box::new(compare(&side(false), &side(true), Threshold::default()));
    let (explanations, results) = (vec![], vec![]);
    let page = page(&[PageSection::Comparison { comparison, explanations, results }]);
    let bars = texts(&page, "li").into_iter().filter(|it| it.starts_with("a.p"));
    let bars: Vec<String> = bars.collect();
    assert_eq!(bars.len(), 12);
    assert_eq!((&*bars[0], &*bars[11]), ("a.p1+364.00 % (+3,640)", "a.p2-50.00 % (-500)"));
    let caption = "Largest changes in percent, 12 of 20 rows; the others differ by no more than \
                   1.00 %.";
    let captions = texts(&page, "figcaption");
    assert!(captions.iter().any(|it| it == caption), "{captions:?}");
}

#[test]
fn lines_end_at_hyphens_and_dots_and_not_within_words() {
    let page = page(&everything());
    assert!(page.contains("switch.<wbr>yield") && page.contains("file.<wbr>stat"));
    let style = texts(&page, "style").concat();
    assert!(!style.contains("anywhere") && !style.contains("break-all"));
}
