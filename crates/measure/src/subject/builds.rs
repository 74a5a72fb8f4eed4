//! How two kernels that are compared were built: the options in which they differ, the compilers.

use pathmeter_model::{Compilers, OptionDifference, option_differences};
use pathmeter_trace::Explain;

use crate::session::Session;
use crate::subject::image::{Build, Image};
use crate::threads::at_once;

/// How base and new were built.
pub struct Builds([Build; 2]);

impl Builds {
    /// Those of two kernels; none if they are one.
    pub fn of(session: &Session, [base, new]: [&Image; 2]) -> Option<Self> {
        if base.sha256() == new.sha256() {
            return None;
        }
        Some(Self(at_once(|| session.build(base), || session.build(new)).into()))
    }

    /// The options that differ, if both configurations are known; first those on which every path
    /// depends, then those that the functions may be about in which the paths were found to differ.
    pub fn options(&self, explanations: &[Explain]) -> Option<Vec<OptionDifference>> {
        let differences = explanations.iter().filter_map(|explain| explain.difference.as_ref());
        let functions = differences.flat_map(|difference| &difference.functions);
        let functions = functions.filter(|function| function.difference != 0);
        let functions = functions.map(|function| function.name.as_str());
        let [base, new] = &self.0;
        Some(option_differences(base.config.as_ref()?, new.config.as_ref()?, functions))
    }

    /// What compiled them, if that is known of both.
    pub fn compilers(&self) -> Option<Compilers> {
        let [base, new] = self.0.each_ref().map(|build| build.compiler.clone());
        Some(Compilers { base: base?, new: new? })
    }
}
