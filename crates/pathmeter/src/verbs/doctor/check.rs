//! One thing that `doctor` looks at, and its line.

use anstyle::{AnsiColor, Style as Paint};
use pathmeter_model::clean;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Check {
    pub(super) name: &'static str,
    pub(super) status: CheckStatus,
    pub(super) found: String,
    /// What to do; nothing if all is well.
    pub(super) advice: Option<String>,
}

/// What was made of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum CheckStatus {
    Ok,
    Warn,
    Fail,
}

impl Check {
    pub(super) fn ok(name: &'static str, found: String) -> Self {
        Self { name, status: CheckStatus::Ok, found, advice: None }
    }

    pub(super) fn warn(name: &'static str, found: String, advice: &str) -> Self {
        Self { name, status: CheckStatus::Warn, found, advice: Some(advice.to_owned()) }
    }

    pub(super) fn fail(name: &'static str, found: String, advice: &str) -> Self {
        Self { name, status: CheckStatus::Fail, found, advice: Some(advice.to_owned()) }
    }
}

/// A line for each, and its advice below.
pub(super) fn lines(checks: &[Check], colour: bool) -> String {
    let width = checks.iter().map(|check| check.name.len()).max().unwrap_or(0);
    let line = |check: &Check| {
        let advice = check.advice.as_ref().map(|advice| {
            let indent = " ".repeat("fail  ".len() + width + 2);
            format!("{indent}{}\n", clean(advice))
        });
        let status = status(check.status, colour);
        let line = format!("{status}  {:width$}  {}\n", check.name, clean(&check.found));
        line + &advice.unwrap_or_default()
    };
    checks.iter().map(line).collect()
}

fn status(status: CheckStatus, colour: bool) -> String {
    let (word, paint) = match status {
        CheckStatus::Ok => ("ok  ", AnsiColor::Green),
        CheckStatus::Warn => ("warn", AnsiColor::Yellow),
        CheckStatus::Fail => ("fail", AnsiColor::Red),
    };
    let paint = if colour { paint.on_default() } else { Paint::new() };
    format!("{paint}{word}{paint:#}")
}
