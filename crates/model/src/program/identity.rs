//! Which program was executed, with which files, and by what two of them differ.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was executed, and the files that it was given.
///
/// Fields not known here are refused when reading: counts depend on all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The program and its arguments.
    pub command: Vec<String>,
    #[serde(default)]
    pub environment: Vec<String>,
    /// Hash of all files that were packed for it: SHA-256 in lower-case hexadecimal.
    pub packed_sha256: String,
    pub files: u64,
    /// Their size, in bytes.
    pub bytes: u64,
    /// The kernel modules loaded before it, in this order.
    #[serde(default)]
    pub modules: Vec<String>,
    /// The windows between two points of the kernel that were measured in it, as `NAME=FROM..TO`
    /// and conditions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<String>,
    /// The process, as the user named it, that the rows are of; null if they are of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// The framework whose benchmarks in the program the paths are of, and how often each was
    /// executed; null if the rows are the program's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub benchmarks: Option<String>,
}

/// Words as one would type them in a shell: in single quotes where they would be read differently.
pub fn command_line(words: &[String]) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "%+,-./:=@^_".contains(c);
    let quoted = |word: &String| match word {
        word if !word.is_empty() && word.chars().all(is_plain) => word.clone(),
        word => format!("'{}'", word.replace('\'', r"'\''")),
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// What makes two programs different. Taken apart whole, so that a field added can't be forgotten.
pub(crate) fn program_conditions(program: Option<&Program>) -> [(&'static str, String); 6] {
    let nothing = Program::default();
    let program = program.unwrap_or(&nothing);
    let Program {
        command,
        environment,
        packed_sha256,
        files: _,
        bytes: _,
        modules: _,
        windows,
        process,
        benchmarks,
    } = program;
    [
        ("program.command", command_line(command)),
        ("program.environment", command_line(environment)),
        ("program.packed_sha256", packed_sha256.clone()),
        ("program.windows", windows.join(" ")),
        ("program.process", process.clone().unwrap_or_default()),
        ("program.benchmarks", benchmarks.clone().unwrap_or_default()),
    ]
}
