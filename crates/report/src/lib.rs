//! Results and comparisons as text for a terminal, and as pages for a browser.
//!
//! Every function is pure and returns the text, ending in a newline; the caller decides where it
//! goes, whether it may be coloured and how wide it may be ([`Style`]). Counts are printed whole
//! and with the name of their unit: an instruction count is never shown as a time.
//!
//! Names, releases and reasons come from files and guests: control characters in them are replaced.

mod budget;
mod causes;
mod comparison;
mod compilers;
mod document_table;
mod experiment;
mod explain;
mod fold;
mod folder_comparison;
mod format;
mod headline;
mod heat;
mod history;
mod joined;
mod largest_step;
mod measured_with;
mod measurement;
mod number;
mod options;
mod page;
mod paths;
mod picture;
mod program_slope;
mod program_table;
mod rows;
mod settings;
mod settings_rows;
mod severity;
mod shades;
mod slope;
mod style;
mod table;
mod times;
mod xml;

pub use budget::{budget_table, sentence as budget_sentence};
pub use causes::{AreaSums, sentence as comparison_sentence};
pub use comparison::Placement;
pub use document_table::{Shown, comparison_table, measurement_table};
pub use experiment::{counter_examples, experiment_page, host_experiment_page};
pub use explain::{
    FlameError, Least, LeastError, Limits, beside_row, callgrind, explanation, flame_graph,
    folded_stacks,
};
pub use folder_comparison::{folder_comparison_table, name_cells};
pub use format::{Content, FORMATS, Format, Judged, Outcome, RowsOf};
pub use heat::find_steps;
pub use heat::picture::{HeatBase, heat_map_svg};
pub use history::{blame_table, history_plot, history_svg, history_table, kept_table};
pub use joined::joined_table;
pub use measured_with::USUAL_COMMAND_LINE;
pub use number::{grouped, signed};
pub use options::options_table;
pub use page::{MOST_RESULTS, Page, PageSection, report_page};
pub use paths::{PathRow, paths_table};
pub use program_slope::program_slope_table;
pub use rows::Rows;
pub use settings::settings_tables;
pub use settings_rows::SettingsRows;
pub use slope::{MOST_SLOPES, slope_table, slopes_svg};
pub use style::{QUIET, Style, of_verdict};
pub use table::{Align, Cell, Table};
pub use times::{time_comparison_table, times_table};
