//! Reading JSON documents as a script would.

use serde_json::Value;

/// The names of all paths that `pathmeter paths --json`, a result or a comparison lists.
pub fn paths(document: &Value) -> Vec<&str> {
    rows(document).iter().map(|row| row["path"].as_str().unwrap()).collect()
}

/// The rows of a document, one a path.
pub fn rows(document: &Value) -> &[Value] {
    document["paths"].as_array().unwrap()
}

/// The row of one path.
pub fn path<'a>(document: &'a Value, name: &str) -> &'a Value {
    let found = rows(document).iter().find(|row| row["path"] == name);
    found.unwrap_or_else(|| panic!("{name} has vanished"))
}

/// The paths of a result that ended so, each with its reason.
pub fn with_status<'a>(result: &'a Value, status: &str) -> Vec<(&'a str, &'a str)> {
    let ended = rows(result).iter().filter(|row| row["status"] == status);
    let texts = |row: &'a Value| {
        (row["path"].as_str().unwrap(), row["reason"].as_str().unwrap_or_default())
    };
    ended.map(texts).collect()
}
