//! The documents' examples: each `console` block that begins with `$ pathmeter` shows what that
//! command prints, to the last character.
//!
//! `make examples` (`PATHMETER_BLESS=1`) writes the blocks anew. A comment on the line before a
//! block may ask for something else:
//!
//! | comment                           | the block                                               |
//! |-----------------------------------|---------------------------------------------------------|
//! | `<!-- example: first table -->`   | holds the output as far as its second blank line        |
//! | `<!-- example: not run: WHY -->`  | can't be run here                                       |
//! | `<!-- example: file NAME -->`     | is a file that the document's commands find             |
//!
//! `tests/examples.sha256` has the kernels and the agent that the examples are of. With other
//! kernels, as on another distribution, nothing is compared. Another agent, as another compiler
//! makes it, lies elsewhere in memory, which a footprint shows: then the words are compared, not
//! the numbers.

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use pathmeter_e2e::{Scene, debian, pathmeter};

/// The documents whose examples are checked.
pub(crate) const DOCUMENTS: &[&str] = &[
    "README.md",
    "docs/guide/explain.md",
    "docs/guide/gates.md",
    "docs/guide/plans.md",
    "docs/tutorial/worked-example.md",
];
/// What blocks name kernels by.
const KERNELS: &[&str] = &["cloud", "rt"];

const FENCE: &str = "```console\n$ pathmeter ";

/// The folder of these tests.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// How much of the output a block shows.
enum Shown {
    All,
    FirstTable,
    NotRun,
}

/// Parses which part of an example is shown, from the comment in the last line of `before`.
fn parse_example_comment(before: &str) -> Shown {
    let comment = before.trim_end().lines().last().unwrap_or_default();
    match comment.strip_prefix("<!-- example: ").and_then(|rest| rest.strip_suffix(" -->")) {
        None => Shown::All,
        Some("first table") => Shown::FirstTable,
        Some(other) => {
            assert!(other.starts_with("not run: "), "{comment}");
            Shown::NotRun
        }
    }
}

/// A scene with the kernels by the names that the examples use.
fn scene() -> Scene {
    let scene = Scene::warm();
    for name in KERNELS {
        symlink(debian(name), scene.path(&format!("{name}.deb"))).unwrap();
    }
    scene
}

/// What the examples depend on, as sha256sum prints it: the kernels; in the last line the agent.
fn sums(scene: &Scene) -> String {
    let mut sums = String::new();
    let mut agent = String::new();
    for name in KERNELS {
        let file = format!("{name}.deb");
        let document = scene.run(&["measure", &file, "--json"]).json();
        let sum = |field: &str| document["configuration"][field].as_str().unwrap().to_owned();
        writeln!(sums, "{}  {file}", sum("image_sha256")).unwrap();
        agent = format!("{}  agent\n", sum("agent_sha256"));
    }
    sums + &agent
}

/// Whether the documents' numbers are of the agent that is in use.
pub(crate) fn is_agent_of_examples(scene: &Scene) -> bool {
    let document = scene.run(&["measure", "lab", "--json"]).json();
    let agent = document["configuration"]["agent_sha256"].as_str().unwrap().to_owned();
    let sums = fs::read_to_string(folder().join("examples.sha256")).unwrap();
    sums.lines().any(|line| line == format!("{agent}  agent"))
}

/// The kernels' lines of such a list.
fn kernels(sums: &str) -> Vec<&str> {
    sums.lines().take(KERNELS.len()).collect()
}

/// The text without its numbers and columns.
pub(crate) fn words(text: &str) -> String {
    let is_number = |word: &str| {
        word.contains(|char: char| char.is_ascii_digit()) && !word.contains(char::is_alphabetic)
    };
    let words_of = |line: &str| {
        let words = line.split_whitespace().filter(|word| !is_number(word));
        words.collect::<Vec<_>>().join(" ") + "\n"
    };
    text.lines().map(words_of).collect()
}

/// What the command, whose words are quoted for a shell, prints. A gate may find something.
fn printed(scene: &Scene, words: &str) -> String {
    let script = format!("exec \"$0\" {words}");
    let shell = scene.marked("sh", &["-c", &script, pathmeter().to_str().unwrap()]);
    let run = scene.run_command(shell);
    assert!(run.code < 2, "{words}: {}", run.stderr);
    run.stdout
}

/// Makes the files that the document shows.
fn make_files(scene: &Scene, text: &str) {
    for piece in text.split("<!-- example: file ").skip(1) {
        let (name, after) = piece.split_once(" -->\n").unwrap();
        let block = after.strip_prefix("```").and_then(|block| block.split_once('\n')).unwrap().1;
        scene.write(name, block.split_once("```").unwrap().0);
    }
}

/// The output as far as its second blank line.
fn first_table(output: &str) -> String {
    let parts: Vec<_> = output.splitn(3, "\n\n").take(2).collect();
    parts.join("\n\n").trim_end().to_owned() + "\n"
}

/// The document with every block as the commands print it today, and how many were run.
fn rewritten(scene: &Scene, text: &str) -> (String, u32) {
    let mut pieces = text.split(FENCE);
    let (mut rewritten, mut run) = (pieces.next().unwrap().to_owned(), 0);
    for piece in pieces {
        let (block, after) = piece.split_once("```\n").unwrap();
        let (words, output) = block.split_once('\n').unwrap();
        let output = match parse_example_comment(&rewritten) {
            Shown::NotRun => output.to_owned(),
            Shown::All => printed(scene, words),
            Shown::FirstTable => first_table(&printed(scene, words)),
        };
        run += u32::from(!matches!(parse_example_comment(&rewritten), Shown::NotRun));
        write!(rewritten, "{FENCE}{words}\n{output}```\n{after}").unwrap();
    }
    (rewritten, run)
}

/// The document must show what the commands print; without the numbers if it is another agent.
fn assert_current(document: &str, text: &str, rewritten: &str, same_agent: bool) {
    let seen = |text: &str| if same_agent { text.to_owned() } else { words(text) };
    let (text, rewritten) = (seen(text), seen(rewritten));
    let lines = text.lines().zip(rewritten.lines());
    let differing: Vec<_> = lines.filter(|(old, new)| old != new).take(5).collect();
    assert!(text == rewritten, "{document} is stale, run `make examples`: {differing:#?}");
}

#[test]
fn the_documents_examples_are_what_the_commands_print() {
    let scene = scene();
    let (file, today) = (folder().join("examples.sha256"), sums(&scene));
    let bless = std::env::var_os("PATHMETER_BLESS").is_some();
    if bless {
        fs::write(&file, &today).unwrap();
    }
    let then = fs::read_to_string(&file).unwrap();
    if kernels(&then) != kernels(&today) {
        println!("left out: the examples are of other kernels than cloud.deb and rt.deb here");
        return;
    }
    let mut all = 0;
    for document in DOCUMENTS {
        let path = folder().join("..").join(document);
        let text = fs::read_to_string(&path).unwrap();
        make_files(&scene, &text);
        let (rewritten, run) = rewritten(&scene, &text);
        all += run;
        if bless {
            fs::write(path, rewritten).unwrap();
        } else {
            assert_current(document, &text, &rewritten, then == today);
        }
    }
    assert!(all >= 5, "only {all} examples were run");
}

#[test]
fn without_its_numbers_a_table_has_its_words() {
    let one = "base  new  difference\n  45   39          -6  +1  read_zero\n";
    let other = "base   new  difference\n 145   139         -6      read_zero\n";
    assert_eq!(words(one), words(other));
    assert_eq!(words(one), "base new difference\nread_zero\n");
    assert_ne!(words(one), words(&other.replace("zero", "one")));
}

#[test]
fn a_block_shows_all_the_first_table_or_what_cannot_be_run() {
    assert!(matches!(parse_example_comment("Text:\n\n"), Shown::All));
    assert!(matches!(parse_example_comment("<!-- example: first table -->\n"), Shown::FirstTable));
    assert!(matches!(
        parse_example_comment("<!-- example: not run: no kernel -->\n\n"),
        Shown::NotRun
    ));
    assert_eq!(
        first_table("head\n\ntable\ntotal\n\ntree\n\nfootprint\n"),
        "head\n\ntable\ntotal\n"
    );
    assert_eq!(first_table("head\n\ntable\n"), "head\n\ntable\n");
}
