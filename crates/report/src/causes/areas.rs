//! The causes of each kind of work, summed up.

use std::collections::BTreeMap;

use pathmeter_model::{Area, Cause, Causes};

use super::wording::{name, telling};
use crate::number::{grouped, signed};
use crate::style::Style;
use crate::table::{Align, Table};

/// Functions named of the largest cause.
const FUNCTIONS: usize = 2;

/// Whether the causes are also summed up by the kind of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AreaSums {
    #[default]
    Hidden,
    Shown,
}

/// A kind of work, as the cells of a table: share, instructions, causes, the kind, the functions of
/// its largest cause.
pub(crate) type AreaLine = [String; 5];
/// The headings of the cells of an [`AreaLine`].
pub(crate) const HEADS: [(&str, Align); 5] = [
    ("share", Align::Right),
    ("instructions", Align::Right),
    ("causes", Align::Right),
    ("kind of work", Align::Left),
    ("largest cause", Align::Left),
];

/// All kinds of work that have a cause, the one with the largest share first.
pub(crate) fn area_lines(causes: &Causes) -> Vec<AreaLine> {
    let mut by_area: BTreeMap<Area, Vec<&Cause>> = BTreeMap::new();
    for cause in &causes.causes {
        by_area.entry(cause.area).or_default().push(cause);
    }
    let share = |causes: &[&Cause]| causes.iter().map(|cause| cause.share).sum::<f64>();
    let mut areas: Vec<(Area, Vec<&Cause>)> = by_area.into_iter().collect();
    areas.sort_by(|one, other| share(&other.1).total_cmp(&share(&one.1)));
    let line = |(area, causes): &(Area, Vec<&Cause>)| {
        let difference = causes.iter().map(|cause| cause.difference).sum();
        // The causes' own order is that of their shares.
        let largest = telling(causes[0], FUNCTIONS).map(name).collect::<Vec<_>>().join(", ");
        [
            super::share(share(causes)),
            signed(difference),
            grouped(causes.len() as u64),
            area.words().to_owned(),
            largest,
        ]
    };
    areas.iter().map(line).collect()
}

/// The same as a table. Nothing if there is no cause.
pub(crate) fn areas_table(causes: &Causes, style: Style) -> String {
    let lines = area_lines(causes);
    if lines.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&HEADS).with_whole_remarks();
    for line in lines {
        table.row(line.map(Into::into));
    }
    table.render(style) + "\n"
}
