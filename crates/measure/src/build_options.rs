//! The build configurations of two kernels that are compared, and the options in which they differ.

use pathmeter_model::{OptionDifference, option_differences};
use pathmeter_trace::Explain;

use crate::image::Image;
use crate::session::Session;
use crate::threads::at_once;

/// The configurations of base and new.
pub struct BuildOptions([String; 2]);

impl BuildOptions {
    /// Those of two kernels, if both files have them, or their packages.
    pub fn of(session: &Session, [base, new]: [&Image; 2]) -> Option<Self> {
        if base.sha256() == new.sha256() {
            return None;
        }
        let (base, new) = at_once(|| session.build_options(base), || session.build_options(new));
        Some(Self([base?, new?]))
    }

    /// What differs; first what every path depends on, then what the functions may be about in
    /// which the paths were found to differ.
    pub fn differences(&self, explanations: &[Explain]) -> Vec<OptionDifference> {
        let differences = explanations.iter().filter_map(|explain| explain.difference.as_ref());
        let functions = differences.flat_map(|difference| &difference.functions);
        let functions = functions.filter(|function| function.difference != 0);
        let functions = functions.map(|function| function.name.as_str());
        let [base, new] = &self.0;
        option_differences(base, new, functions)
    }
}
