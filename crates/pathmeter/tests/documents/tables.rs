//! Tables of names: the paths, the crates, the exit codes, the documents' schemas.

use std::collections::BTreeSet;
use std::path::Path;

use assert_cmd::Command;
use pathmeter_probes::{HOST, Suite};
use pathmeter_report::FORMATS;

use crate::markdown::{code, documents, files, first_cells, prose, read, root, section, tables};

/// What `pathmeter` prints.
fn printed(arguments: &[&str]) -> String {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("pathmeter"));
    // Without PATH `doctor` finds no QEMU and has nothing to wait for.
    let output = command.args(arguments).env("PATH", "").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_path_is_documented_once() {
    let text = read("docs/reference/paths.md");
    let tables = tables(&text);
    let rows = tables.iter().filter(|table| table[0][0] == "path").flat_map(|table| &table[1..]);
    let documented: Vec<_> = rows.flat_map(|row| code(row[0])).collect();
    let names: Vec<_> = Suite::Exact.paths().iter().map(|path| path.name).collect();
    let lacking: Vec<_> = names.iter().filter(|name| !documented.contains(name)).collect();
    let unknown: Vec<_> = documented.iter().filter(|name| !names.contains(name)).collect();
    assert!(
        lacking.is_empty() && unknown.is_empty(),
        "docs/reference/paths.md lacks rows of {lacking:?}, and has rows of no path: {unknown:?}"
    );
    assert_eq!(documented.len(), names.len(), "docs/reference/paths.md has a row twice");
}

#[test]
fn every_path_of_a_live_host_is_documented_in_the_catalogues_order() {
    let text = read("docs/reference/paths.md");
    let tables = tables(&text);
    let table = tables.iter().find(|table| table[0][0] == "on a live host").unwrap();
    let documented: Vec<_> = table[1..].iter().flat_map(|row| code(row[0])).collect();
    assert_eq!(documented, HOST.iter().map(|path| path.name).collect::<Vec<_>>());
}

/// How many rows the first example of the README has.
fn rows_of_the_first_example(text: &str) -> usize {
    let (_, rest) = text.split_once("\npath ").unwrap();
    rest.lines().skip(1).take_while(|line| !line.starts_with("```")).count()
}

#[test]
fn readme_and_changelog_know_how_many_paths_there_are() {
    let count = Suite::Exact.paths().len();
    let shown = rows_of_the_first_example(&read("README.md"));
    for (document, before, number, after) in [
        ("README.md", "These are ", shown, " of "),
        ("README.md", &format!("{shown} of ")[..], count, " paths of two kernels"),
        ("README.md", "compares all ", count, " paths"),
        ("CHANGELOG.md", "\n- ", count, " paths, each with a probe"),
    ] {
        golden_number(document, before, number, after);
    }
}

/// The number between `before` and `after` in a document; `PATHMETER_BLESS=1` writes it.
fn golden_number(document: &str, before: &str, number: usize, after: &str) {
    let text = read(document);
    let places = text.match_indices(after).filter_map(|(end, _)| {
        let start = text[..end].trim_end_matches(|char: char| char.is_ascii_digit()).len();
        (start < end && text[..start].ends_with(before)).then_some((start, end))
    });
    let [(start, end)] = places.collect::<Vec<_>>()[..] else {
        panic!("{document}: not one {before:?}NUMBER{after:?}");
    };
    if std::env::var_os("PATHMETER_BLESS").is_some() {
        let new = format!("{}{number}{}", &text[..start], &text[end..]);
        std::fs::write(root().join(document), new).unwrap();
    } else {
        assert_eq!(
            text[start..end],
            number.to_string(),
            "{document}: {before}…{after}; PATHMETER_BLESS=1 writes the number"
        );
    }
}

/// The names of the files with this ending in a folder.
fn stems(folder: &str, ending: &str) -> BTreeSet<String> {
    let entries = root().join(folder).read_dir().unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter_map(|name| Some(name.strip_suffix(ending)?.to_owned())).collect()
}

#[test]
fn threads_and_programs_are_as_many_as_the_documents_say() {
    let words = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
    let threads = words[stems("experiments", ".toml").len()];
    let programs = words[stems("programs", ".c").len()];
    for (document, said) in [
        ("ARCHITECTURE.md", format!("the {threads} mailing-list threads as data")),
        ("CHANGELOG.md", format!("of {threads} mailing-list threads")),
        ("docs/explanation/lab.md", format!("\n## The {threads} threads\n")),
        ("docs/explanation/lab.md", format!("those of {threads} threads on")),
        ("docs/guide/own-programs.md", format!("has {programs} programs with regions")),
        ("programs/README.md", format!("Each of the {threads} threads")),
    ] {
        assert!(read(document).contains(&said), "{document}: {said}");
    }
}

#[test]
fn every_format_is_documented_and_no_other() {
    let text = read("docs/guide/gates.md");
    let documented: BTreeSet<&str> =
        first_cells(&text, "format").into_iter().flat_map(code).collect();
    assert_eq!(documented, FORMATS.iter().map(|format| format.word).collect());
}

#[test]
fn every_bundled_set_of_settings_is_documented() {
    let text = read("docs/guide/settings.md");
    let documented = first_cells(&text, "set").into_iter().flat_map(code).map(str::to_owned);
    assert_eq!(documented.collect::<BTreeSet<_>>(), stems("crates/pathmeter/sets", ".toml"));
}

#[test]
fn every_cpu_profile_is_documented_in_the_lists_order() {
    let text = read("docs/reference/cpu.md");
    let cells = first_cells(&text, "`--cpu`").into_iter().flat_map(code);
    let documented = cells.filter(|name| *name != "FILE.toml");
    let (ends, machines): (Vec<_>, Vec<_>) = documented.partition(|name| name.ends_with("-guest"));
    let listed = printed(&["list", "cpus"]);
    let names = listed.lines().filter_map(|line| line.split_whitespace().next());
    let (guests, listed): (Vec<_>, Vec<_>) = names.partition(|name| name.ends_with("-guest"));
    assert_eq!(machines, listed);
    assert_eq!(ends, [guests[0], guests[guests.len() - 1]], "from the first to the last");
}

/// The commands in a document, from the word after the program's name on: lines of blocks, and
/// what stands between backticks.
fn commands(text: &str) -> Vec<Vec<String>> {
    let prose = prose(text);
    let blocks = text.lines().zip(&prose).filter(|(_, outside)| outside.is_empty());
    let blocks = blocks.map(|(line, _)| line.trim_start().trim_start_matches("$ ").to_owned());
    let inline = prose.join(" ");
    let inline = inline.split('`').skip(1).step_by(2).map(str::to_owned);
    let words = blocks.chain(inline).filter_map(|command| {
        let words = command.strip_prefix("pathmeter ")?.split_whitespace();
        Some(words.map(str::to_owned).collect())
    });
    words.collect()
}

/// Whether a word is a verb's, and neither an option nor a word for any.
fn is_verb(word: &str) -> bool {
    word.chars().all(|char| char.is_ascii_lowercase() || char == '-') && !word.starts_with('-')
}

#[test]
fn the_documents_name_verbs_that_there_are() {
    let of_help = |arguments: &[&str]| -> BTreeSet<String> {
        let help = printed(arguments);
        let (_, list) = help.split_once("\nCommands:\n").unwrap();
        list.lines().map_while(|line| line.split_whitespace().next()).map(str::to_owned).collect()
    };
    let mut verbs = of_help(&["--help"]);
    verbs.extend(["completions", "man"].map(str::to_owned));
    let lists = of_help(&["list", "--help"]);
    let mut found = 0;
    // Files of these formats begin with the name, too.
    for document in documents().iter().filter(|name| !name.contains("-format.")) {
        for words in commands(&read(document)) {
            let named: Vec<_> = words.iter().take(2).take_while(|word| is_verb(word)).collect();
            let known = named.first().is_none_or(|verb| verbs.contains(*verb))
                && (named.len() < 2 || named[0] != "list" || lists.contains(named[1]));
            assert!(known, "{document}: pathmeter {}", words.join(" "));
            found += named.len();
        }
    }
    assert!(found > 100, "{found}");
    let sources = files(|name| Path::new(name).extension().is_some_and(|end| end == "rs"));
    for source in sources {
        for rest in read(&source).split("`pathmeter ").skip(1) {
            let end = |char: char| !(char.is_ascii_lowercase() || char == '-');
            let verb = rest.split(end).next().unwrap();
            let known = verb.is_empty() || verb.starts_with('-') || verbs.contains(verb);
            assert!(known, "{source}: pathmeter {verb}");
        }
    }
}

/// The crates of this workspace that `manifest` depends on outside its tests.
pub(crate) fn dependencies(manifest: &str) -> BTreeSet<String> {
    let (_, rest) = manifest.split_once("\n[dependencies]\n").unwrap_or_default();
    let lines = rest.lines().take_while(|line| !line.starts_with('['));
    let names = lines.filter_map(|line| line.strip_prefix("pathmeter-")?.split_once(['.', ' ']));
    names.map(|(name, _)| name.to_owned()).collect()
}

/// The crates that a cell of the column `depends on` stands for; what is in brackets is about
/// tests.
fn depends_on(cell: &str, krate: &str, crates: &BTreeSet<String>) -> BTreeSet<String> {
    let cell = cell.split('(').next().unwrap();
    let named: BTreeSet<_> = code(cell).into_iter().map(str::to_owned).collect();
    if cell.starts_with("all but ") {
        crates.iter().filter(|name| *name != krate && !named.contains(*name)).cloned().collect()
    } else {
        assert!(!named.is_empty() || cell.trim() == "nothing", "{cell}");
        named
    }
}

#[test]
fn the_map_has_every_crate_and_what_it_depends_on() {
    let folders = root().join("crates").read_dir().unwrap();
    let folders = folders.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let crates: BTreeSet<_> = folders.collect();
    let text = read("ARCHITECTURE.md");
    let section = section(&text, "## The crates");
    let tables = tables(section);
    let rows = &tables[0][1..];
    let listed: Vec<_> = rows.iter().map(|row| code(row[0])[0].to_owned()).collect();
    assert_eq!(listed.iter().cloned().collect::<BTreeSet<_>>(), crates);
    for (krate, row) in listed.iter().zip(rows) {
        let manifest = read(&format!("crates/{krate}/Cargo.toml"));
        assert_eq!(depends_on(row[2], krate, &crates), dependencies(&manifest), "{krate}");
    }
}

/// The numbers in `lines` that `number` finds, each once.
fn numbers<'a>(
    lines: impl Iterator<Item = &'a str>,
    number: impl Fn(&'a str) -> Option<&'a str>,
) -> BTreeSet<u8> {
    lines.filter_map(number).filter_map(|word| word.parse().ok()).collect()
}

#[test]
fn exit_codes_are_the_same_in_the_code_the_help_and_the_documents() {
    let source = read("crates/pathmeter/src/failure.rs");
    let (_, body) = source.split_once("enum Exit {").unwrap();
    let (body, _) = body.split_once("\n}").unwrap();
    let codes = numbers(body.lines(), |line| {
        line.split_once(" = ").and_then(|(_, code)| code.strip_suffix(','))
    });
    assert!(codes.len() > 3, "{codes:?}");

    let help = printed(&["--help"]);
    let (_, help) = help.split_once("Exit codes:\n").unwrap();
    assert_eq!(numbers(help.lines(), |line| line.split_whitespace().next()), codes, "--help");

    let text = read("docs/reference/results.md");
    let tables = tables(section(&text, "## Exit codes"));
    let rows = tables[0][1..].iter().map(|row| row[0]);
    assert_eq!(numbers(rows, Some), codes, "docs/reference/results.md");

    for document in documents() {
        let text = prose(&read(&document)).join(" ");
        let after = text.split("exit code ").skip(1).map(|rest| rest.trim_start_matches("is "));
        let named = numbers(after, |rest| rest.split(|char: char| !char.is_ascii_digit()).next());
        assert!(named.is_subset(&codes), "{document}: {named:?}");
    }
}

/// The names of this form in `text`: `pathmeter.word/1`.
fn schema_names(text: &str) -> BTreeSet<String> {
    let end = |char: char| !(char.is_ascii_alphanumeric() || "-/".contains(char));
    let names = text.split("pathmeter.").skip(1).filter_map(|rest| rest.split(end).next());
    names.filter(|name| name.contains('/')).map(|name| format!("pathmeter.{name}")).collect()
}

#[test]
fn the_documents_name_the_schemas_that_there_are() {
    let files = root().join("docs/schemas").read_dir().unwrap();
    let files = files.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let published: BTreeSet<_> = files
        .map(|name| {
            let (name, number) = name.strip_suffix(".json").unwrap().rsplit_once('-').unwrap();
            format!("{name}/{number}")
        })
        .collect();
    // That one takes a kernel to print.
    let functions = "pathmeter.functions/1".to_owned();
    assert!(printed(&["list", "functions", "--help"]).contains(&functions));
    let mut all = published.clone();
    all.insert(functions);
    let commands =
        ["list paths --json", "doctor --json", "host doctor --json", "list cpus --capture"];
    for command in commands {
        all.extend(schema_names(&printed(&command.split(' ').collect::<Vec<_>>())));
    }
    assert_eq!(all.len(), published.len() + 5, "{all:?}");
    assert_eq!(schema_names(&read("docs/reference/results.md")), all);
    for document in documents() {
        let named = schema_names(&read(&document));
        assert!(named.is_subset(&all), "{document}: {named:?}");
    }
}

#[test]
fn the_debian_package_has_the_commands_version() {
    let newest = format!("pathmeter ({}) ", env!("CARGO_PKG_VERSION"));
    assert!(read("debian/changelog").starts_with(&newest), "debian/changelog: no {newest}");
}
