//! The options in which two kernels' configurations differ.

use pathmeter_model::OptionDifference;

use crate::number::{grouped, plural};
use crate::style::Style;
use crate::table::{Align, Table};

/// Options that are shown, unless all are wanted.
const FEW: usize = 5;
/// Functions shown that fit the name of an option.
const LIKELY: usize = 3;
/// Characters shown of a value.
const LONGEST_VALUE: usize = 40;

/// How many options differ, and the first few, the likely causes first. Nothing if none differs.
pub fn options_table(options: &[OptionDifference], style: Style) -> String {
    if options.is_empty() {
        return String::new();
    }
    let (shown, rest) = options.split_at(match options.len() {
        few if few <= FEW => few,
        _ => options.iter().filter(|option| has_hint(option)).count().min(FEW),
    });
    let heading = style.fill(&heading(options), 0);
    let more = match rest.len() {
        0 => String::new(),
        1 => style.quiet("1 more: --json has it"),
        rest => style.quiet(&format!("{} more: --json has them", grouped(rest as u64))),
    };
    if shown.is_empty() {
        return format!("\n{heading}\n{more}");
    }
    let mut table = Table::new(&[
        ("option", Align::Left),
        ("base", Align::Left),
        ("new", Align::Left),
        ("why it is among the first", Align::Left),
    ])
    .with_whole_remarks();
    for option in shown {
        table.row([
            option.name.as_str().into(),
            value(option.base.as_deref()).into(),
            value(option.new.as_deref()).into(),
            why(option).into(),
        ]);
    }
    format!("\n{heading}\n\n{}{more}", table.render(style))
}

fn has_hint(option: &OptionDifference) -> bool {
    option.everywhere || !option.likely.is_empty()
}

/// `the kernels' configurations differ in 3,694 options: 3,021 of modules of one kernel only; 8 of
/// code of every path; 12 with a name that fits a function that changed`.
fn heading(options: &[OptionDifference]) -> String {
    let number = |wanted: fn(&OptionDifference) -> bool| {
        options.iter().filter(|option| wanted(option)).count() as u64
    };
    let everywhere = number(|option| option.everywhere);
    let likely = number(|option| !option.likely.is_empty());
    let modules = number(OptionDifference::is_of_modules);
    let parts = [
        (modules, "of modules of one kernel only"),
        (everywhere, "of code of every path"),
        (likely, "with a name that fits a function that changed"),
    ];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> =
        parts.map(|(count, what)| format!("{} {what}", grouped(count))).collect();
    let all = plural(options.len(), "option");
    let colon = if parts.is_empty() { "" } else { ": " };
    format!("the kernels' configurations differ in {all}{colon}{}", parts.join("; "))
}

fn value(value: Option<&str>) -> String {
    let Some(value) = value else { return "not set".to_owned() };
    match value.char_indices().nth(LONGEST_VALUE) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}

fn why(option: &OptionDifference) -> String {
    if option.everywhere && option.likely.is_empty() {
        return "code of every path depends on it".to_owned();
    }
    let likely = &option.likely;
    let shown = likely[..likely.len().min(LIKELY)].join(", ");
    match likely.len().saturating_sub(LIKELY) {
        0 if shown.is_empty() => shown,
        0 => format!("its name fits {shown}"),
        more => format!("its name fits {shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(name: &str, likely: &[&str]) -> OptionDifference {
        OptionDifference {
            name: name.to_owned(),
            base: Some("y".to_owned()),
            new: None,
            everywhere: false,
            likely: likely.iter().map(|&it| it.to_owned()).collect(),
        }
    }

    #[test]
    fn few_are_shown_and_the_others_counted() {
        let mut options = vec![option("PREEMPT_RT", &["a", "b", "c", "d"])];
        options.extend((0..9).map(|number| option(&format!("X{number}"), &[])));
        let few = options_table(&options, Style::default());
        assert!(few.contains("differ in 10 options: 1 with a name that fits"), "{few}");
        assert!(few.contains("a, b, c and 1 more") && few.contains("not set"), "{few}");
        assert!(few.contains("9 more: --json has them") && !few.contains("X0"), "{few}");
        let one = options_table(&options[1..2], Style::default());
        assert!(one.contains("differ in 1 option\n") && one.contains("X0"), "{one}");
        assert_eq!(options_table(&[], Style::default()), "");
    }
}
