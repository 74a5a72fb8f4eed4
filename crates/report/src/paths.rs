//! The table of what can be measured.

use pathmeter_model::Unit;

use crate::style::Style;
use crate::table::{Align, Table};

/// A path that can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathRow<'a> {
    pub name: &'a str,
    pub unit: Unit,
    /// What is measured, in one line.
    pub about: &'a str,
}

/// A row for each of `paths`: its name, unit, and what is measured.
pub fn paths_table(paths: &[PathRow<'_>], style: Style) -> String {
    let columns = [("path", Align::Left), ("unit", Align::Left), ("measures", Align::Left)];
    let mut table = Table::new(&columns).with_whole_remarks();
    for path in paths {
        table.row([path.name.into(), path.unit.to_string().into(), path.about.into()]);
    }
    // In a pipe a path and what it measures stay on one line, for those who search.
    table.render(Style { table_width: None, ..style })
}
