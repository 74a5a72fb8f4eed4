//! What to ask next of a program whose rows differ between two kernels.

use pathmeter_model::{
    Comparison, PathComparison, ProgramComparison, Verdict, clean, command_line,
};

use crate::style::Style;

/// What the names of a program's regions begin with.
const REGIONS: &str = "user.";

/// How to have the causes of the first of these rows and regions that changed; nothing if none did,
/// or if they differ in more than the kernel: such a difference has no causes in kernels.
pub(super) fn next_step<'a>(
    comparison: &Comparison,
    program: &ProgramComparison,
    rows: impl Iterator<Item = &'a PathComparison>,
    style: Style,
) -> String {
    let [base, new] = [&comparison.base, &comparison.new];
    let of_program = |field: &str| field.starts_with("program.");
    let differences = &comparison.configuration_differences;
    let is_one_kernel = base.image_sha256 == new.image_sha256;
    let is_one_program = !differences.iter().any(|it| of_program(&it.field));
    let changed = |row: &&PathComparison| {
        let has_tree = row.work.is_some() || row.path.starts_with(REGIONS);
        has_tree && row.verdict != Verdict::Same && row.difference.is_some_and(|it| it != 0)
    };
    match rows.filter(changed).map(|row| row.path.clone()).next() {
        Some(row) if !is_one_kernel && is_one_program && program.process.is_none() => {
            let words = [&row, &base.name, &new.name].map(|word| clean(word));
            let command = clean(&command_line(&program.command));
            style.quiet(&format!(
                "causes and call tree of a row: pathmeter explain {} -- {command}; with the \
                 options of this command",
                command_line(&words)
            ))
        }
        _ => String::new(),
    }
}
