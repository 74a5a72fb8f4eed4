//! The modules of a kernel that its guests load: those that the user named, and those that the
//! settings of a condition need, out of the kernel's own package or a folder of the user's.
//!
//! Contract: a module that the user named is loaded, or is part of the kernel, or there is no
//! measurement. One that only a setting needs may be missing: then the guest finds out whether the
//! kernel has what is set.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pathmeter_pack::PackError;
use pathmeter_pack::modules::{Module, modules};
use pathmeter_vm::Condition;

use crate::error::MeasureError;
use crate::interrupt;

/// Where a kernel's own modules may be.
pub(crate) struct Kernel<'a> {
    /// Its package, build folder or file; the lab kernel has none.
    pub(crate) file: Option<&'a Path>,
    /// How its release is found out.
    pub(crate) release: &'a dyn Fn() -> Option<String>,
}

/// What the user says of modules.
#[derive(Clone, Debug, Default)]
pub struct Modules {
    names: Condition,
    folder: Option<PathBuf>,
}

impl Modules {
    /// All guests load these; they are found in the folder, without one in the kernel's own file.
    ///
    /// # Errors
    /// A name that no module has, or one twice.
    pub fn new(names: &[String], folder: Option<PathBuf>) -> Result<Self, MeasureError> {
        let names = Condition::of_modules(names).map_err(|error| MeasureError::Request {
            message: format!("--module: {error}"),
            help: "name each module once".to_owned(),
        })?;
        Ok(Self { names, folder })
    }

    /// Whether guests load none but what a condition needs.
    pub fn is_empty(&self) -> bool {
        self.names.is_default()
    }

    /// The condition with these, and with the files of all modules that it needs.
    pub(crate) fn condition(
        &self,
        kernel: &Kernel<'_>,
        under: &Condition,
    ) -> Result<Condition, MeasureError> {
        let condition = self.names.and(under).map_err(|error| MeasureError::Request {
            message: format!("--module and --under: {error}"),
            help: "name each module once".to_owned(),
        })?;
        if !condition.needs_modules() {
            return Ok(condition);
        }
        let list = |named| -> Vec<String> { condition.needs(named).map(str::to_owned).collect() };
        let (named, others) = (list(true), list(false));
        let found = match self.find(kernel, &[&named[..], &others[..]].concat()) {
            Ok(found) => found,
            Err(error) if others.is_empty() => return Err(error),
            Err(_) => {
                let is_there = |name: &&String| self.find(kernel, &[(*name).clone()]).is_ok();
                let there: Vec<String> = others.iter().filter(is_there).cloned().collect();
                match &[&named[..], &there[..]].concat()[..] {
                    [] => Vec::new(),
                    names => self.find(kernel, names)?,
                }
            }
        };
        let module = |Module { name, bytes, optional }| {
            let bytes = Arc::from(bytes);
            pathmeter_vm::Module { name, bytes, optional }
        };
        Ok(condition.with_modules(found.into_iter().map(module).collect()))
    }

    fn find(&self, kernel: &Kernel<'_>, names: &[String]) -> Result<Vec<Module>, MeasureError> {
        let Some(file) = kernel.file else {
            return Err(MeasureError::Request {
                message: "the lab kernel has no modules".to_owned(),
                help: "name a kernel's package".to_owned(),
            });
        };
        let source = self.folder.as_deref().unwrap_or(file).to_owned();
        let (names, release) = (names.to_vec(), (kernel.release)());
        let found = interrupt::abandoning(move || modules(&source, &names, release.as_deref()))?;
        found.map_err(|error| match (error, &self.folder) {
            (PackError::Package(_), None) => MeasureError::Request {
                message: format!("{}: the file of a kernel has no modules", file.display()),
                help: "name its package, or give --modules a folder or package that has them"
                    .to_owned(),
            },
            (error, _) => MeasureError::Packing(error),
        })
    }
}
