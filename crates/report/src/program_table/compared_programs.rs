//! The program that two kernels executed, or the two of them, above their rows.

use pathmeter_model::{
    Comparison, ConfigurationDifference, IdleSteps, ProgramComparison, Verdict, Written,
    command_line,
};

use super::{
    ENDED, IDLE, PROGRAM, STDERR, STDOUT, command, describe_written, format_output, process,
};
use crate::comparison::fact;
use crate::number::grouped;
use crate::style::{PLAIN, Style, of_verdict};

/// What two programs differ in, by the fields' names.
const COMMAND: &str = "program.command";
const CONTENT: &str = "program.packed_sha256";
/// Digits that are shown of the hash of a program's files.
const HASH_DIGITS: usize = 12;

/// Whether a difference is that of two programs, which the head shows.
pub(super) fn is_of_program(difference: &ConfigurationDifference) -> bool {
    [COMMAND, CONTENT].contains(&&*difference.field)
}

/// What is known of the program, or of the two: the command, the process, how it ended, what it
/// wrote, and how long the CPU idled.
pub(super) fn describe_programs(
    comparison: &Comparison,
    program: &ProgramComparison,
    style: Style,
) -> String {
    [
        programs(comparison, program, style),
        process(program.process.as_deref(), style),
        ended(program, style),
        describe_outputs(program, style),
        idle(program, style),
    ]
    .concat()
}

/// The program, or the two of them: `./sort-1 words → ./sort-2 words`, or of one command which
/// contents it had.
fn programs(comparison: &Comparison, program: &ProgramComparison, style: Style) -> String {
    let find = |field| comparison.configuration_differences.iter().find(|it| it.field == field);
    let beginning = |hash: &str| hash.chars().take(HASH_DIGITS).collect::<String>();
    match (find(COMMAND), find(CONTENT)) {
        (Some(two), _) => fact(PROGRAM, &format!("{} → {}", two.base, two.new), PLAIN, style),
        (None, Some(two)) => {
            let command = command_line(&program.command);
            let (base, new) = (beginning(&two.base), beginning(&two.new));
            fact(PROGRAM, &format!("{command}, files {base} → {new}"), PLAIN, style)
        }
        (None, None) => command(&program.command, style),
    }
}

/// How the program ended on both sides.
fn ended(program: &ProgramComparison, style: Style) -> String {
    let (base, new) = (program.base_ended, program.new_ended);
    if base == new {
        return fact(ENDED, &base.to_string(), PLAIN, style);
    }
    fact(ENDED, &format!("{base} on base, {new} on new"), of_verdict(Verdict::Broken), style)
}

/// What the program wrote in the first run: once if that is the same on both sides, else a line for
/// each.
fn describe_outputs(program: &ProgramComparison, style: Style) -> String {
    let (base, new) = (&program.base_output, &program.new_output);
    let streams = [(STDOUT, &base.stdout, &new.stdout), (STDERR, &base.stderr, &new.stderr)];
    let line = |(name, base, new): (&str, &Written, &Written)| {
        if base == new {
            return format_output(name, base, style);
        }
        let sides = [("base", base), ("new", new)].map(|(side, written)| {
            let text = match written.bytes {
                0 => format!("nothing on {side}"),
                _ => format!("on {side}: {}", describe_written(written)),
            };
            fact(name, &text, of_verdict(Verdict::ModeAppeared), style)
        });
        sides.concat()
    };
    streams.map(line).concat()
}

/// How long the CPU idled, if it did: what the program waits for is in no row.
fn idle(program: &ProgramComparison, style: Style) -> String {
    let (base, new) = (&program.base_idle, &program.new_idle);
    if base.most.max(new.most) == 0 {
        return String::new();
    }
    let side = |idle: &IdleSteps| match (idle.least, idle.most) {
        (least, most) if least == most => grouped(least),
        (least, most) => format!("{}…{}", grouped(least), grouped(most)),
    };
    let text = format!("{} steps a run on base, {} on new", side(base), side(new));
    let paint = if base == new { PLAIN } else { of_verdict(Verdict::ModeAppeared) };
    fact(&format!("{IDLE:width$}", width = PROGRAM.len()), &text, paint, style)
}
