//! Plain text in the manner of reports on kernel lists: what was measured, before and after, the
//! functions, and the commits if the kernels tell theirs.

use pathmeter_model::{GateReason, SideInfo, clean};

use super::{Format, Judged, Line, Outcome, RowsOf, describe_measured_with, verdict};

/// Columns that mail has room for, quoted a few times.
const COLUMNS: usize = 72;

/// What a reader of the list must know.
const ABOUT: &str = "\
The numbers are retired instructions of one execution of each path, counted exactly in QEMU's \
interpreter: the same kernels give the same numbers on any machine. An instruction count is not a \
time.";

/// The row of the table of formats.
pub(super) const FORMAT: Format = Format {
    word: "text",
    about: "for a mail to a kernel list, in 72 columns",
    ending: "txt",
    is_of_gate: false,
    rows: text,
    page: None,
};

/// The report. Numbers are as exact as they look.
fn text(judged: Judged<'_>) -> String {
    let (base, new) = (&judged.comparison.base, &judged.comparison.new);
    let lines = judged.worst_first();
    let notable: Vec<&Line<'_>> = lines.iter().filter(|line| line.is_notable()).collect();
    let rest = lines.len() - notable.len();
    let rest = match judged.of {
        _ if rest == 0 || notable.is_empty() => String::new(),
        RowsOf::One => format!("Without a number: {}.\n\n", others(judged, rest)),
        _ => format!("{} did not change, or can't run on either kernel.\n\n", others(judged, rest)),
    };
    [
        filled(&format!("pathmeter: {}.", verdict(judged)), ""),
        match judged.of {
            RowsOf::One => format!("\nkernel: {}\n\n", side(new)),
            _ => format!("\nbefore: {}\nafter:  {}\n\n", side(base), side(new)),
        },
        judged.beside_paths().map(format_gate_reason).collect(),
        notable.iter().map(|line| entry(line)).collect(),
        rest,
        filled(ABOUT, ""),
        describe_measured_with(judged)
            .iter()
            .map(|line| filled(&format!("Measured with {line}."), ""))
            .collect(),
        introduced(base, new),
    ]
    .concat()
}

fn others(judged: Judged<'_>, number: usize) -> String {
    judged.paths(number).replace(' ', " other ")
}

fn side(side: &SideInfo) -> String {
    let release = side.release.as_deref().unwrap_or("release unknown");
    format!("{} ({})", clean(release), clean(&side.name))
}

fn entry(line: &Line<'_>) -> String {
    let mark = match line.outcome {
        Outcome::Worse => " [worse]",
        Outcome::Missing => " [not compared]",
        Outcome::Passed | Outcome::Skipped | Outcome::Unasked => "",
    };
    let change = line.change();
    let change = if change.is_empty() { line.verdict() } else { change };
    let functions = line.functions().join(", ");
    let functions = if functions.is_empty() { functions } else { format!("in {functions}") };
    let notes = [change, functions, line.remarks().join(", ")].into_iter().chain(line.budget());
    let why = line.why();
    let why = if why.is_empty() { why } else { format!("fails: {why}") };
    let notes = notes.chain([why]).filter(|note| !note.is_empty());
    let notes = notes.map(|note| filled(&note, "      "));
    format!("  {}{mark}\n{}\n", clean(&line.row.path), notes.collect::<String>())
}

fn format_gate_reason(reason: &GateReason) -> String {
    let why = filled(&format!("fails: {}", clean(&reason.why)), "      ");
    format!("  {} [worse]\n{why}\n", clean(&reason.row))
}

/// `text` after `indent`, on lines of no more than [`COLUMNS`].
fn filled(text: &str, indent: &str) -> String {
    let options = textwrap::Options::new(COLUMNS)
        .initial_indent(indent)
        .subsequent_indent(indent)
        .break_words(false);
    // Mail is ASCII.
    textwrap::wrap(&text.replace('→', "->"), options).join("\n") + "\n"
}

/// A line for the kernel's regression tracker, if both releases end in their commit, as those of
/// `CONFIG_LOCALVERSION_AUTO` do.
fn introduced(base: &SideInfo, new: &SideInfo) -> String {
    let commit_of = |side: &SideInfo| side.release.as_deref().and_then(commit).map(str::to_owned);
    match (commit_of(base), commit_of(new)) {
        (Some(base), Some(new)) if base != new => format!("\n#regzbot introduced: {base}..{new}\n"),
        _ => String::new(),
    }
}

/// The commit in the name of a release, such as `6.12.0-rc3-00012-g0123456789ab`; none if the tree
/// had changes that were not committed.
fn commit(release: &str) -> Option<&str> {
    let is_hash = |text: &&str| {
        let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        (7..=40).contains(&text.len()) && text.bytes().all(hex)
    };
    if release.ends_with("-dirty") {
        return None;
    }
    release.split('-').find_map(|part| part.strip_prefix('g').filter(is_hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_tells_its_commit() {
        assert_eq!(commit("6.12.0-rc3-00012-g0123456789ab"), Some("0123456789ab"));
        assert_eq!(commit("6.12.0-gdeadbeef-dirty"), None);
        for release in ["6.12.0", "6.1.0-generic", "6.1-gABCDEF0", "6.1-gabc", ""] {
            assert_eq!(commit(release), None, "{release}");
        }
    }
}
