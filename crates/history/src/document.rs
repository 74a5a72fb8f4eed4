//! Documents, compressed by zstd: each by itself, or with an earlier one, its base, as dictionary.
//!
//! Documents of one configuration are much alike, and with a base they take a fraction of the room.
//! A base is compressed by itself. It serves results whose numbers have the same quotient by
//! `RESULTS_ON_A_BASE`, so that damage to one document makes no more than so many unreadable.

use std::io::{self, Read};

use pathmeter_model::MAX_DOCUMENT_BYTES;
use rusqlite::{OptionalExtension, params};
use sha2::{Digest, Sha256};
use zstd::bulk::Compressor;
use zstd::stream::read::Decoder;

use crate::HistoryError;
use crate::limits::RESULTS_ON_A_BASE;
use crate::tables::Tables;

/// Higher levels take longer, and save little beside a base.
const LEVEL: i32 = 3;

impl Tables<'_> {
    /// The document of a result, byte by byte as it was added.
    pub(crate) fn document(self, number: u64) -> Result<Vec<u8>, HistoryError> {
        let damaged = |why: String| {
            let why = why.escape_debug();
            self.corrupt(format!("the document of result {number} is not whole: {why}"))
        };
        let sql = "SELECT result.sha256, document.packed, base.packed FROM result
            JOIN document ON document.id = result.id
            LEFT JOIN document AS base ON base.id = document.base WHERE result.id = ?";
        let read = self.connection.prepare_cached(sql).and_then(|mut query| {
            query.query_row([number.cast_signed()], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
        });
        let (sha256, packed, base): (Vec<u8>, Vec<u8>, Option<Vec<u8>>) =
            read.map_err(|error| damaged(error.to_string()))?;
        let base = base.map_or(Ok(Vec::new()), |base| unpack(&base, &[]));
        let bytes = base.and_then(|base| unpack(&packed, &base));
        let bytes = bytes.map_err(|error| damaged(error.to_string()))?;
        if Sha256::digest(&bytes).as_slice() != sha256 {
            return Err(damaged("it has another hash".to_owned()));
        }
        Ok(bytes)
    }

    /// Keeps the document of a new result that was measured with this configuration.
    pub(crate) fn insert_document(
        self,
        number: u64,
        configuration: i64,
        bytes: &[u8],
    ) -> Result<(), HistoryError> {
        let base = self.find_base(number, configuration)?;
        let dictionary = base.map_or(Ok(Vec::new()), |base| self.document(base.cast_unsigned()))?;
        let packed = pack(bytes, &dictionary)
            .map_err(|error| self.corrupt(format!("a document can't be compressed: {error}")))?;
        let values = params![number.cast_signed(), base, packed];
        let inserted = self.connection.execute("INSERT INTO document VALUES (?, ?, ?)", values);
        inserted.map(drop).map_err(|error| self.failed(&error))
    }

    /// The number of the result whose document is the base of a new one.
    fn find_base(self, number: u64, configuration: i64) -> Result<Option<i64>, HistoryError> {
        let sql = "SELECT document.id FROM document JOIN result ON result.id = document.id
            WHERE document.id >= ? AND base IS NULL AND configuration = ?
            ORDER BY document.id DESC LIMIT 1";
        let first = number - number % RESULTS_ON_A_BASE;
        let found = self
            .connection
            .query_row(sql, [first.cast_signed(), configuration], |row| row.get(0))
            .optional();
        found.map_err(|error| self.failed(&error))
    }
}

fn pack(bytes: &[u8], base: &[u8]) -> io::Result<Vec<u8>> {
    Compressor::with_dictionary(LEVEL, base)?.compress(bytes)
}

/// What [`pack`] was given; what is longer than any document is cut off.
fn unpack(packed: &[u8], base: &[u8]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let most = MAX_DOCUMENT_BYTES as u64;
    Decoder::with_dictionary(packed, base)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_alike_takes_a_few_bytes() {
        let base: Vec<u8> =
            (0..40_000_u32).flat_map(|number| (number * 7919).to_string().into_bytes()).collect();
        let mut bytes = base.clone();
        bytes[20_000] = b'x';
        assert!(pack(&bytes, &base).unwrap().len() < 400);
        assert!(pack(&bytes, &[]).unwrap().len() > 50_000);
    }

    #[test]
    fn a_few_bytes_that_stand_for_too_many_are_cut_off() {
        let packed = pack(&vec![b' '; MAX_DOCUMENT_BYTES + 100], &[]).unwrap();
        assert!(packed.len() < 10_000);
        assert_eq!(unpack(&packed, &[]).unwrap().len(), MAX_DOCUMENT_BYTES);
    }
}
