//! Where the window that an explanation shows has other numbers than the row that it explains. The
//! row's pair is typical of all samples of all runs; one run is recorded, and one window shown.

use pathmeter_model::{PathComparison, Unit};
use pathmeter_trace::{Event, Explain, Role};

use crate::number::{grouped, signed};

/// A sentence for each number that the two have differently; none if they agree.
pub fn beside_row(explain: &Explain, row: &PathComparison) -> Vec<String> {
    let (Some(new), Some(difference)) = (&explain.new, &explain.difference) else {
        return Vec::new();
    };
    let mut sentences = Vec::new();
    if let (Unit::Instructions, Some(row_base), Some(row_new)) = (row.unit, row.base, row.new) {
        let shown = [explain.base.window.total, new.window.total];
        if shown != [row_base, row_new] {
            sentences.push(sentence("instructions", [row_base, row_new], shown));
        }
    }
    let costs = |event: &Event| matches!(event.role(), Role::Cost | Role::Footprint);
    for event in Event::all().filter(costs) {
        let of_row = row.events.iter().find(|found| found.event == event.word());
        let shown = difference.events.get(&event).copied().unwrap_or(0);
        let sides = [explain.base.window.typical(event), new.window.typical(event)];
        match of_row {
            Some(found) if found.difference != shown => {
                sentences.push(sentence(event.word(), [found.base, found.new], sides));
            }
            None if shown != 0 => sentences.push(format!(
                "{event}: as many in all samples; the windows shown have {}",
                pair(sides)
            )),
            _ => {}
        }
    }
    sentences
}

fn sentence(what: &str, row: [u64; 2], shown: [u64; 2]) -> String {
    format!(
        "{what}: {} in the row, of all samples; the windows shown have {}",
        pair(row),
        pair(shown)
    )
}

/// `5,824 → 5,831 (+7)`.
fn pair([base, new]: [u64; 2]) -> String {
    let difference = new.wrapping_sub(base).cast_signed();
    format!("{} → {} ({})", grouped(base), grouped(new), signed(difference))
}
