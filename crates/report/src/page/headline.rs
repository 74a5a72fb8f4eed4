//! The sentences at the top: what changed most, and in which function.

use pathmeter_model::{Comparison, PathComparison, Verdict};
use pathmeter_trace::{Difference, Explain};

use super::severity::worst_first;
use super::window::culprit;
use crate::number::{grouped, percent, signed, unit_word};

/// What a comparison comes to: `3 of 43 paths cost more: switch.yield +34 instructions (+1.02 %),
/// in finish_task_switch`.
pub(super) fn comparison(comparison: &Comparison, explanations: &[Explain]) -> String {
    let mut sorted = worst_first(&comparison.paths);
    sorted.retain(|row| row.is_own_work());
    let summary = comparison.own_summary();
    let count = |verdict| summary.count(verdict);
    let first = |verdicts: &[Verdict]| sorted.iter().find(|it| verdicts.contains(&it.verdict));
    let executed = summary.paths - count(Verdict::Unsupported);
    let of = |number: usize| format!("{number} of {}", counted(executed));
    let worse = [Verdict::Higher, Verdict::ModeAppeared, Verdict::LongerTail];
    let better = [Verdict::Lower, Verdict::ShorterTail];
    let higher = worse.map(count).iter().sum();
    let worst = first(&worse);
    let mut parts = Vec::new();
    if let Some(broken) = first(&[Verdict::Broken]) {
        let verb = if count(Verdict::Broken) == 1 { "is" } else { "are" };
        parts.push(format!("{} {verb} broken: {}.", of(count(Verdict::Broken)), broken.path));
    }
    match (worst, first(&better), first(&[Verdict::EventsDiffer])) {
        (Some(worst), ..) => {
            parts.push(format!("{} cost more: {}.", of(higher), change(worst, explanations)));
        }
        (_, Some(best), _) => parts.push(format!(
            "Nothing costs more; {} cost less: {}.",
            of(better.map(count).iter().sum()),
            change(best, explanations)
        )),
        (_, _, Some(other)) => parts.push(format!(
            "As many instructions everywhere; {} differ in other events: {}.",
            of(count(Verdict::EventsDiffer)),
            events(other)
        )),
        _ if parts.is_empty() && count(Verdict::Same) > 0 => {
            parts
                .push(format!("Nothing differs: {} cost the same.", counted(count(Verdict::Same))));
        }
        _ if parts.is_empty() => parts.push("No path could be compared.".to_owned()),
        _ => {}
    }
    parts.join(" ")
}

/// `1 path`, `43 paths`.
pub(super) fn counted(paths: usize) -> String {
    format!("{paths} {}", if paths == 1 { "path" } else { "paths" })
}

/// `switch.yield +34 instructions (+1.02 %), in finish_task_switch`.
fn change(path: &PathComparison, explanations: &[Explain]) -> String {
    let explained = explanations.iter().find(|explain| explain.path == path.path);
    step(path, explained.and_then(|explain| explain.difference.as_ref()))
}

/// The same with this explanation, if any.
pub(super) fn step(path: &PathComparison, difference: Option<&Difference>) -> String {
    let mut text = path.path.clone();
    if let Some(changed) = path.difference.filter(|difference| *difference != 0) {
        text.extend([" ", &signed(changed), " ", unit_word(path.unit)]);
    }
    if let Some(part) = path.percent.map(percent).filter(|part| !part.is_empty()) {
        text.extend([" (", &part, ")"]);
    }
    if matches!(path.verdict, Verdict::ModeAppeared | Verdict::LongerTail) {
        text += ", at times";
    }
    let place = difference.and_then(culprit);
    place.map_or(text.clone(), |place| format!("{text}, {place}"))
}

fn events(path: &PathComparison) -> String {
    let shown = path.shown_events().take(3);
    let texts: Vec<String> =
        shown.map(|event| format!("{} {}", event.event, signed(event.difference))).collect();
    format!("{} {}", path.path, texts.join(", "))
}

/// What a recording by itself shows.
pub(super) fn explanation(explain: &Explain) -> String {
    let Some((new, difference)) = explain.new.as_ref().zip(explain.difference.as_ref()) else {
        let base = &explain.base;
        return format!(
            "{} on {}: {} instructions.",
            base.path,
            base.name,
            grouped(base.window.total)
        );
    };
    let base = &explain.base;
    let sides = if base.path == new.path {
        format!("{}, {} → {}", new.path, base.name, new.name)
    } else {
        format!("{} → {} on {}", base.path, new.path, new.name)
    };
    let place = culprit(difference).map(|place| format!(", {place}")).unwrap_or_default();
    format!("{sides}: {} instructions{place}.", signed(difference.total))
}
