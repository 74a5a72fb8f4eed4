//! Rows of the tables, each with a hash of its own in its last column: a row reads as it was
//! written, or it is damaged.
//!
//! The hash covers every other column, also the key, so that a row in another's place is
//! noticed as well. It is there for damage, not for forgery: who can write to the file can write
//! hashes. Each table is read with all its columns, in the order in which it was made.

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Row, params_from_iter};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

/// Bytes of a row's hash.
const HASH_BYTES: usize = 8;

/// Inserts a row of these values.
pub(crate) fn insert(at: &Connection, table: &str, values: Vec<Value>) -> rusqlite::Result<()> {
    write(at, "INSERT", table, values)
}

/// Puts a row of these values in place of the one with its key.
pub(crate) fn replace(at: &Connection, table: &str, values: Vec<Value>) -> rusqlite::Result<()> {
    write(at, "REPLACE", table, values)
}

fn write(at: &Connection, verb: &str, table: &str, mut values: Vec<Value>) -> rusqlite::Result<()> {
    let hash = hash(values.iter().map(ValueRef::from));
    values.push(Value::Blob(hash.to_vec()));
    let places = vec!["?"; values.len()].join(", ");
    let sql = format!("{verb} INTO {table} VALUES ({places})");
    at.prepare_cached(&sql)?.execute(params_from_iter(values)).map(drop)
}

/// Whether a row, with all its columns, is what was put there.
pub(crate) fn is_whole(row: &Row<'_>) -> bool {
    let last = row.as_ref().column_count() - 1;
    let values = (0..last).map(|at| row.get_ref(at));
    let Ok(values) = values.collect::<rusqlite::Result<Vec<_>>>() else { return false };
    matches!(row.get_ref(last), Ok(ValueRef::Blob(kept)) if kept == hash(values.into_iter()))
}

fn hash<'a>(values: impl Iterator<Item = ValueRef<'a>>) -> [u8; HASH_BYTES] {
    let mut hash = Sha256::new();
    let mut bytes = |kind: u8, bytes: &[u8]| {
        hash.update([kind]);
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    for value in values {
        match value {
            ValueRef::Null => bytes(0, &[]),
            ValueRef::Integer(number) => bytes(1, &number.to_le_bytes()),
            ValueRef::Real(number) => bytes(2, &number.to_le_bytes()),
            ValueRef::Text(text) => bytes(3, text),
            ValueRef::Blob(blob) => bytes(4, blob),
        }
    }
    let mut first = [0; HASH_BYTES];
    first.copy_from_slice(&hash.finalize()[..HASH_BYTES]);
    first
}

/// A number that can't be negative.
pub(crate) fn natural(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
    let value: i64 = row.get(at)?;
    u64::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(at, value))
}

/// The same as a value to keep: what is kept is bounded far below.
pub(crate) fn integer(value: u64) -> Value {
    i64::try_from(value).unwrap_or(i64::MAX).into()
}

/// A value that documents have a word for.
pub(crate) fn worded<T: DeserializeOwned>(row: &Row<'_>, at: usize) -> rusqlite::Result<T> {
    let word: String = row.get(at)?;
    serde_json::from_value(serde_json::Value::String(word)).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(at, rusqlite::types::Type::Text, error.into())
    })
}

/// The word that documents have for a value without fields.
pub(crate) fn word<T: Serialize>(value: &T) -> Value {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word.into(),
        _ => String::new().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_whole_until_anything_in_it_changes() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE t (a, b, c, hash)").unwrap();
        let values = || vec![Value::Integer(1), Value::Text("ab".into()), Value::Null];
        insert(&connection, "t", values()).unwrap();
        let whole =
            || connection.query_row("SELECT * FROM t", [], |row| Ok(is_whole(row))).unwrap();
        assert!(whole());
        for change in ["a = 2", "b = 'a'", "b = x'6162'", "c = 0", "hash = NULL", "hash = x'00'"] {
            connection.execute_batch(&format!("BEGIN; UPDATE t SET {change}")).unwrap();
            assert!(!whole(), "{change}");
            connection.execute_batch("ROLLBACK").unwrap();
        }
        // Where one value ends and the next begins is hashed too.
        let text = |text: &'static str| ValueRef::Text(text.as_bytes());
        assert_ne!(
            hash([text("a"), text("bc")].into_iter()),
            hash([text("ab"), text("c")].into_iter())
        );
    }
}
