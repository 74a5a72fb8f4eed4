//! Programs of the user's machine that set something in the guest, such as nft(8), each with a file
//! of the user's.

use std::sync::Arc;

use crate::condition::error::ConditionError;
use crate::condition::filter::{Filter, Ruleset};

/// Where the guest has them.
const FOLDER: &str = ".tools";
/// Digits of a hash that stand for a file.
pub(crate) const HASH_DIGITS: usize = 12;

/// A program that sets something before anything is measured, and must end with 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// What stands before the colon of the setting.
    pub kind: &'static str,
    /// The user's file, as it is shown; of one that makes a file system, that one's type.
    pub name: String,
    /// The SHA-256 of the file, or of the program.
    pub sha256: String,
    /// The program with its files ([`crate::Job`]).
    pub job: Arc<[u8]>,
    /// Modules of the kernel's without which it can't set anything.
    pub modules: &'static [&'static str],
}

impl Tool {
    /// Its file in the guest.
    pub(crate) fn file(&self) -> String {
        format!("{FOLDER}/{}-{}", self.kind, self.hash())
    }

    /// What stands for the user's file.
    pub(crate) fn hash(&self) -> &str {
        &self.sha256[..HASH_DIGITS]
    }
}

/// What is made of the files that settings name.
pub trait Sources {
    /// The filter of system calls of this name.
    ///
    /// # Errors
    /// What is wrong with it.
    fn filter(&self, name: &str) -> Result<Filter, String>;

    /// The ruleset of Landlock in this file.
    ///
    /// # Errors
    /// What is wrong with it.
    fn ruleset(&self, file: &str) -> Result<Ruleset, String>;

    /// The program for this file, if settings of this kind have one.
    ///
    /// # Errors
    /// What is wrong with the file, or that there is no such program.
    fn tool(&self, kind: &str, file: &str) -> Option<Result<Tool, ConditionError>>;

    /// The program that makes a file system of this type, if there is one.
    ///
    /// # Errors
    /// The machine lacks the program.
    fn maker(&self, file_system: &str) -> Option<Result<Tool, ConditionError>>;
}

/// A function gives filters, and nothing else.
impl<F: Fn(&str) -> Result<Filter, String>> Sources for F {
    fn filter(&self, name: &str) -> Result<Filter, String> {
        self(name)
    }

    fn ruleset(&self, file: &str) -> Result<Ruleset, String> {
        Err(format!("{file}: no such file"))
    }

    fn tool(&self, _: &str, _: &str) -> Option<Result<Tool, ConditionError>> {
        None
    }

    fn maker(&self, _: &str) -> Option<Result<Tool, ConditionError>> {
        None
    }
}
