//! Which rows are shown, and how many.

use clap::Args;
use pathmeter_report::{AreaSums, Rows};

/// Which rows are shown, and how many.
#[derive(Debug, Args)]
pub(crate) struct RowArgs {
    #[command(flatten)]
    pub(crate) only: OnlyArg,
    /// Show all that is folded: small rows, and rows other than those that changed most
    #[arg(long)]
    pub(crate) all: bool,
}

impl RowArgs {
    /// Which rows of programs are shown: what the user names is not folded.
    pub(crate) fn rows(&self) -> Rows {
        let is_all = self.all || !self.only.only.is_empty();
        if is_all { Rows::All } else { Rows::Folded }
    }
}

/// Whether causes are also summed up.
#[derive(Debug, Args)]
pub(crate) struct SumArg {
    /// With --explain, also show the sum of the causes of each kind of work: locks, page tables,
    /// sockets, …
    #[arg(long)]
    by_area: bool,
}

impl SumArg {
    /// Whether tables show the sums.
    pub(crate) fn sums(&self) -> AreaSums {
        if self.by_area { AreaSums::Shown } else { AreaSums::Hidden }
    }
}

#[derive(Debug, Args)]
pub(crate) struct OnlyArg {
    /// Show only these paths or rows: names or patterns (`switch.*`), repeated or separated by
    /// commas
    ///
    /// Only the groups of paths that are needed are executed, which saves most of the time. A
    /// path's cost never depends on what else was asked for: a group is always executed whole.
    #[arg(long, value_name = "GLOB", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
}
