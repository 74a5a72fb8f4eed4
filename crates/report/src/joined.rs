//! The table of counts and times of the same two sides.

use anstyle::{AnsiColor, Style as Paint};
use pathmeter_model::{EventComparison, Host, Joined, JoinedRow, Meaning, Prediction, Prices};

use crate::number::{plural, signed};
use crate::rows::Rows;
use crate::style::{PLAIN, QUIET, Style};
use crate::table::{Align, Cell, Table};
use crate::times::{machine, noted};

/// Most events in a row of the table; the document has all.
const MOST_EVENTS: usize = 3;

/// The sentence, a row for each path, what things cost here, and how it was compared.
pub fn joined_table(joined: &Joined, rows: Rows, style: Style) -> String {
    let mut table = Table::new(&[
        ("path", Align::Left),
        ("instructions", Align::Right),
        ("other events", Align::Left),
        ("ns", Align::Right),
        ("95 % interval", Align::Right),
        ("predicted ns", Align::Right),
        ("count", Align::Left),
        ("time", Align::Left),
        ("together", Align::Left),
    ])
    .sparing(&["95 % interval", "other events"]);
    let folded = |row: &JoinedRow| {
        rows == Rows::Folded && matches!(row.meaning, Meaning::Same | Meaning::Open)
    };
    for row in joined.paths.iter().filter(|row| !folded(row)) {
        table.row(joined_row(row));
    }
    let left_out = joined.paths.iter().filter(|row| folded(row)).count();
    let more = if left_out > 0 {
        let more = format!("{} same or open: --all shows them", plural(left_out, "more path"));
        style.paint(&more, QUIET) + "\n"
    } else {
        String::new()
    };
    style.fill(&sentence(joined), 0)
        + "\n\n"
        + &table.render(style)
        + &more
        + &noted(&joined.notes, &facts(joined), style)
}

fn joined_row(row: &JoinedRow) -> [Cell; 9] {
    let text = |text: Option<String>| Cell::from(text.unwrap_or_default());
    [
        row.path.as_str().into(),
        text(row.instructions.map(signed)),
        events(&row.events).into(),
        text(row.nanoseconds.map(nanoseconds)),
        text(row.interval.map(range)),
        text(row.predicted.as_ref().map(predicted).or_else(|| row.unpredicted.clone())),
        row.exact.to_string().into(),
        row.time.word().into(),
        Cell::painted(row.meaning.words(), paint(row.meaning)),
    ]
}

/// The events that differ most, and how many others.
pub(crate) fn events(events: &[EventComparison]) -> String {
    let mut all: Vec<&EventComparison> = events.iter().collect();
    all.sort_by_key(|event| std::cmp::Reverse(event.difference.unsigned_abs()));
    let left_out = all.len().saturating_sub(MOST_EVENTS);
    let one = |event: &&EventComparison| format!("{} {}", signed(event.difference), event.event);
    let shown = all.iter().take(MOST_EVENTS).map(one);
    let more = (left_out > 0).then(|| format!("{left_out} more"));
    shown.chain(more).collect::<Vec<_>>().join(", ")
}

pub(crate) fn predicted(prediction: &Prediction) -> String {
    format!("{} ({})", nanoseconds(prediction.nanoseconds), range(prediction.interval))
}

pub(crate) fn range([low, high]: [f64; 2]) -> String {
    format!("{} … {}", nanoseconds(low), nanoseconds(high))
}

/// With a sign, and as many digits as matter.
pub(crate) fn nanoseconds(value: f64) -> String {
    match value.abs() {
        ..10.0 => format!("{value:+.2}"),
        ..100.0 => format!("{value:+.1}"),
        _ => format!("{value:+.0}"),
    }
}

fn paint(meaning: Meaning) -> Paint {
    match meaning {
        Meaning::Contradiction => AnsiColor::Red.on_default(),
        Meaning::Placement => AnsiColor::Yellow.on_default(),
        Meaning::Confirmed => PLAIN,
        Meaning::Hidden | Meaning::Same | Meaning::Open => QUIET,
    }
}

/// `Of 40 paths, count and time agree on 35 (12 confirmed, 23 same); 3 are hidden by width; …`.
pub(crate) fn sentence(joined: &Joined) -> String {
    let count = |meaning: Meaning| joined.count(meaning);
    let (confirmed, same) = (count(Meaning::Confirmed), count(Meaning::Same));
    let part = |meaning: Meaning| {
        let (count, one) = (count(meaning), count(meaning) == 1);
        let words = match meaning {
            Meaning::Contradiction if one => "contradicts itself",
            Meaning::Contradiction => "contradict themselves",
            Meaning::Placement if one => "is a matter of placement or the cache",
            Meaning::Placement => "are a matter of placement or the cache",
            Meaning::Hidden if one => "is hidden by the processor's width",
            Meaning::Hidden => "are hidden by the processor's width",
            Meaning::Open if one => "is open",
            Meaning::Open => "are open",
            Meaning::Confirmed | Meaning::Same => return None,
        };
        (count > 0).then(|| format!("; {count} {words}"))
    };
    let parts: String = Meaning::ALL.into_iter().filter_map(part).collect();
    format!(
        "Of {}, count and time agree on {} ({confirmed} confirmed, {same} same){parts}.",
        plural(joined.paths.len(), "path"),
        confirmed + same,
    )
}

pub(crate) fn facts(joined: &Joined) -> Vec<String> {
    let (exact, times) = (&joined.exact, &joined.times);
    let mut facts = vec![
        format!(
            "counted: {} and {}, exactly, on a CPU on which the kernel may take other mitigations",
            exact.base.name, exact.new.name
        ),
        format!(
            "timed: {} and {} on {}",
            times.base.condition,
            times.new.condition,
            machines(&times.base.host, &times.new.host)
        ),
        "confirmed: more takes longer, or less takes less long; hidden by width: more or less is \
         executed in as much time; placement or cache: as much is executed, in another time; \
         contradiction: more is executed in less time, or less in more; open: one of the two has \
         no verdict"
            .to_owned(),
    ];
    let predicted = joined.predicted_well();
    facts.extend(joined.prices.as_ref().map(|it| prices(it, predicted)));
    facts
}

/// Both machines, or the one that both are.
fn machines(base: &Host, new: &Host) -> String {
    let [base, new] = [machine(base), machine(new)];
    if base == new { base } else { format!("{base}, and on {new}") }
}

/// The prices, and how well they describe the paths and predict the differences.
fn prices(prices: &Prices, [well, all]: [usize; 2]) -> String {
    let priced = prices.prices.iter().filter(|(_, price)| price.nanoseconds > 0.0);
    let each: Vec<String> =
        priced.map(|(name, price)| format!("{name} {:.3} ns", price.nanoseconds)).collect();
    format!(
        "predicted by prices of this machine, fitted on base's {}: {}; each left out in turn, the \
         median error is {:.0} %, and 90 % of the paths are within a factor of {:.2}, which is the \
         predicted range; {well} of {} lie in it",
        plural(prices.paths, "path"),
        each.join(", "),
        100.0 * prices.error,
        1.0 + prices.spread,
        plural(all, "difference"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_sign_and_the_digits_that_matter() {
        let times = [0.5, -12.34, 1234.5].map(nanoseconds);
        assert_eq!(times, ["+0.50", "-12.3", "+1234"]);
    }
}
