//! What the counting program wrote: `line.rs` has the form.
//!
//! It is our own program, but it runs probes that may write anywhere: all is bounded and checked.

use std::str::FromStr;

use pathmeter_probes::MAX_SAMPLES;
use pathmeter_probes::Suite;
use thiserror::Error;

/// Most bytes of a pass: several times what all paths with all samples take.
pub(crate) const MAX_BYTES: usize = 1 << 20;
/// Most characters of a reason.
const MAX_REASON: usize = 400;

/// What one pass over all paths gave.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Pass {
    /// Whether the program was in the root cgroup.
    pub(crate) root_cgroup: bool,
    /// Windows written out by hand: without nops, and with 100.
    pub(crate) straight: [Vec<u64>; 2],
    /// One a path, in the catalogue's order.
    pub(crate) paths: Vec<Came>,
}

/// What came of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Came {
    Samples(Vec<u64>),
    /// This processor or kernel can't execute it.
    Unsupported(String),
    /// Its proof failed, or the counter did.
    Failed(String),
    /// It was not executed, for this reason.
    LeftOut(String),
}

/// Why a pass can't be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum LinesError {
    /// The program stopped at a step.
    #[error("{step}: error {error}")]
    Refused {
        step: String,
        /// Linux's error number, or 0.
        error: i32,
    },
    /// There is no end, or a path is missing.
    #[error("it ended early, after {paths} paths")]
    Cut {
        /// How many paths came before the end.
        paths: usize,
    },
    /// A line is none of the program's.
    #[error("line {number} is not one of its lines")]
    Line {
        /// The number of the line, from 1.
        number: usize,
    },
}

/// Reads what one pass wrote.
pub(crate) fn parse(text: &str) -> Result<Pass, LinesError> {
    let mut pass = Pass::default();
    let mut ended = false;
    for (number, line) in (1..).zip(text.lines()) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let understood = match word {
            "refused" => return Err(parse_refusal(rest).unwrap_or(LinesError::Line { number })),
            "end" => {
                ended = true;
                Some(())
            }
            "cgroup" => number_of(rest).map(|root: u8| pass.root_cgroup = root != 0),
            "straight" => straight(&mut pass, rest),
            "path" => path(rest, pass.paths.len()).map(|came| pass.paths.push(came)),
            _ => None,
        };
        understood.ok_or(LinesError::Line { number })?;
    }
    let whole = ended && pass.paths.len() == Suite::Exact.paths().len();
    let measured = pass.straight.iter().all(|samples| !samples.is_empty());
    if whole && measured { Ok(pass) } else { Err(LinesError::Cut { paths: pass.paths.len() }) }
}

fn number_of<N: FromStr>(text: &str) -> Option<N> {
    text.parse().ok()
}

/// Parses the step that the kernel refused and its error.
fn parse_refusal(rest: &str) -> Option<LinesError> {
    let (step, error) = rest.split_once(' ')?;
    let plain = step.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    let step = plain.then(|| step.to_owned())?;
    Some(LinesError::Refused { step, error: number_of(error)? })
}

fn straight(pass: &mut Pass, rest: &str) -> Option<()> {
    let (nops, counts) = rest.split_once(' ')?;
    let place = ["0", "100"].iter().position(|known| *known == nops)?;
    pass.straight[place] = samples(counts)?;
    Some(())
}

fn path(rest: &str, expected: usize) -> Option<Came> {
    let (index, rest) = rest.split_once(' ')?;
    let kind = Suite::Exact.paths().get(expected)?.kind;
    if number_of(index) != Some(expected) {
        return None;
    }
    let (word, rest) = rest.split_once(' ')?;
    let reason = || rest.chars().take(MAX_REASON).filter(|c| !c.is_control()).collect();
    match word {
        "ok" => {
            let samples = samples(rest)?;
            (samples.len() == kind.samples() as usize).then_some(Came::Samples(samples))
        }
        "unsupported" => Some(Came::Unsupported(reason())),
        "failed" => Some(Came::Failed(reason())),
        "left-out" => Some(Came::LeftOut(reason())),
        _ => None,
    }
}

fn samples(text: &str) -> Option<Vec<u64>> {
    let samples: Option<Vec<u64>> = text.split(' ').take(MAX_SAMPLES + 1).map(number_of).collect();
    samples.filter(|samples| samples.len() <= MAX_SAMPLES)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A pass in which every path that has windows has `samples` alike, and `check`s are left out.
    pub(crate) fn whole(samples: u64, straight: [u64; 2]) -> String {
        use std::fmt::Write;
        let mut text =
            format!("cgroup 1\nstraight 0 {}\nstraight 100 {}\n", straight[0], straight[1]);
        for (index, path) in Suite::Exact.paths().iter().enumerate() {
            let count = path.kind.samples() as usize;
            let _ = match count {
                0 => writeln!(text, "path {index} left-out it is a check"),
                _ => writeln!(text, "path {index} ok{}", format!(" {samples}").repeat(count)),
            };
        }
        text + "end\n"
    }

    #[test]
    fn a_whole_pass_is_read() {
        let pass = parse(&whole(330, [6, 106])).unwrap();
        assert!(pass.root_cgroup);
        assert_eq!(pass.straight, [vec![6], vec![106]]);
        assert_eq!(pass.paths[0], Came::Samples(vec![330; 51]));
        let (check, _) = Suite::Exact.find("flags.isolation").unwrap();
        assert_eq!(pass.paths[check], Came::LeftOut("it is a check".into()));
    }

    #[test]
    fn a_step_that_failed_is_named_with_its_error() {
        let refused = LinesError::Refused { step: "perf_event_open".into(), error: 2 };
        assert_eq!(parse("refused perf_event_open 2\n"), Err(refused));
        assert_eq!(parse("refused \x1b[0m 2\n"), Err(LinesError::Line { number: 1 }));
    }

    #[test]
    fn a_pass_cut_anywhere_is_refused() {
        let text = whole(330, [6, 106]);
        let lines: Vec<&str> = text.lines().collect();
        for kept in 0..lines.len() {
            assert!(parse(&lines[..kept].join("\n")).is_err(), "{kept} lines");
        }
        let without = |gone: usize| {
            let rest = lines.iter().enumerate().filter(|(at, _)| *at != gone);
            rest.map(|(_, line)| *line).collect::<Vec<_>>().join("\n")
        };
        assert!((1..lines.len()).all(|gone| parse(&without(gone)).is_err()));
    }

    #[test]
    fn what_the_program_would_not_write_is_refused() {
        for line in [
            "path 1 ok 1",
            "path 0 ok 1",
            "path 0 ok",
            "path 0 ok -1",
            "path 0 maybe x",
            "path 99999999999999999999 ok 1",
            "straight 7 1",
            "cgroup yes",
            "hello",
        ] {
            assert_eq!(parse(line), Err(LinesError::Line { number: 1 }), "{line:?}");
        }
        let many = format!("straight 0{}", " 1".repeat(MAX_SAMPLES + 1));
        assert_eq!(parse(&many), Err(LinesError::Line { number: 1 }));
    }
}
