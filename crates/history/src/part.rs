//! Parts of documents: the entry of each path, and skeletons. A document is put together of them.
//!
//! A part that is much like an earlier one of its path, its base, is packed by that; one that is
//! the same is that part. A base serves the results whose numbers divided by `RESULTS_ON_A_PART`
//! are the same, so that no more than so many hang on one part if it is damaged.

use pathmeter_model::MAX_DOCUMENT_BYTES;
use rusqlite::params;
use rusqlite::types::ValueRef;
use sha2::{Digest, Sha256};

use crate::HistoryError;
use crate::document::read_layout;
use crate::limits::RESULTS_ON_A_PART;
use crate::pack::{pack, unpack};
use crate::row::hash;
use crate::tables::{PathRow, Tables};

/// A part as it is in the database.
pub(crate) struct RawPart {
    id: i64,
    pub(crate) base: Option<i64>,
    length: usize,
    packed: Vec<u8>,
    hash: Vec<u8>,
}

impl RawPart {
    pub(crate) fn read(tables: Tables<'_>, id: i64) -> Result<Self, HistoryError> {
        let sql = "SELECT id, base, length, packed, hash FROM part WHERE id = ?";
        let read = tables.connection.prepare_cached(sql).and_then(|mut query| {
            query.query_row([id], |row| {
                let length = usize::try_from(row.get::<_, i64>(2)?).unwrap_or(usize::MAX);
                let (base, packed, hash) = (row.get(1)?, row.get(3)?, row.get(4)?);
                Ok(Self { id: row.get(0)?, base, length, packed, hash })
            })
        });
        match read {
            Ok(part) if part.id == id => Ok(part),
            Ok(_) | Err(rusqlite::Error::QueryReturnedNoRows) => Err(tables.corrupt(not_whole(id))),
            Err(error) => Err(tables.failed(&error)),
        }
    }

    /// None if it is damaged.
    pub(crate) fn unpacked(&self, dictionary: &[u8]) -> Option<Vec<u8>> {
        let length = Some(self.length).filter(|&length| length <= MAX_DOCUMENT_BYTES)?;
        let bytes = unpack(&self.packed, dictionary, length)?;
        (hash_of(self.id, &bytes) == self.hash[..]).then_some(bytes)
    }
}

fn hash_of(id: i64, bytes: &[u8]) -> [u8; 8] {
    hash([ValueRef::Integer(id), ValueRef::Blob(bytes)].into_iter())
}

pub(crate) fn not_whole(id: i64) -> String {
    format!("part {id} is not whole")
}

impl Tables<'_> {
    /// The bytes of a part.
    pub(crate) fn part(self, id: i64) -> Result<Vec<u8>, HistoryError> {
        let raw = RawPart::read(self, id)?;
        let base = raw.base.map(|base| {
            RawPart::read(self, base)?.unpacked(&[]).ok_or_else(|| self.corrupt(not_whole(base)))
        });
        let bytes = raw.unpacked(&base.transpose()?.unwrap_or_default());
        bytes.ok_or_else(|| self.corrupt(not_whole(id)))
    }

    /// The document of a result, byte by byte as it was added.
    pub(crate) fn document(self, number: u64) -> Result<Vec<u8>, HistoryError> {
        let damaged_by = |why: String| {
            self.corrupt(format!("the document of result {number} is not whole{why}"))
        };
        let sql = "SELECT length, sha256, skeleton, layout FROM result WHERE id = ?";
        let read = self.connection.query_row(sql, [number.cast_signed()], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        });
        let (length, sha256, skeleton, layout): (i64, Vec<u8>, i64, Vec<u8>) =
            read.map_err(|error| damaged_by(format!(": {}", error.to_string().escape_debug())))?;
        let part = |id| {
            self.part(id).map_err(|error| match error {
                HistoryError::Corrupt { detail, .. } => damaged_by(format!(": {detail}")),
                other => other,
            })
        };
        let damaged = || damaged_by(String::new());
        let length = usize::try_from(length).ok().filter(|&length| length <= MAX_DOCUMENT_BYTES);
        let length = length.ok_or_else(damaged)?;
        let skeleton = part(skeleton)?;
        let (mut bytes, mut rest) = (Vec::new(), &skeleton[..]);
        for (gap, entry) in read_layout(&layout).ok_or_else(damaged)? {
            let (before, after) = rest.split_at_checked(gap).ok_or_else(damaged)?;
            bytes.extend_from_slice(before);
            bytes.extend(part(entry)?);
            rest = after;
            if bytes.len() > length {
                return Err(damaged());
            }
        }
        bytes.extend_from_slice(rest);
        let whole = bytes.len() == length && Sha256::digest(&bytes).as_slice() == sha256;
        if whole { Ok(bytes) } else { Err(damaged()) }
    }

    /// Keeps `bytes` as a part of a result, under the number `next` if they need one. Its number.
    pub(crate) fn keep(
        self,
        path: &mut PathRow,
        result: u64,
        bytes: &[u8],
        next: &mut i64,
    ) -> Result<i64, HistoryError> {
        let unpackable = || self.corrupt("a part can't be packed");
        let serves = |of: u64| of / RESULTS_ON_A_PART == result / RESULTS_ON_A_PART;
        if let Some((base, _)) = path.base.filter(|&(_, of)| serves(of)) {
            let raw = RawPart::read(self, base)?;
            let dictionary = raw.unpacked(&[]).ok_or_else(|| self.corrupt(not_whole(base)))?;
            if dictionary == bytes {
                return Ok(base);
            }
            let packed = pack(bytes, &dictionary).ok_or_else(unpackable)?;
            // What has little in common with it is a better base for what comes after.
            if packed.len() * 2 <= raw.packed.len() {
                return self.insert(Some(base), bytes, &packed, next);
            }
        }
        let packed = pack(bytes, &[]).ok_or_else(unpackable)?;
        let id = self.insert(None, bytes, &packed, next)?;
        path.base = Some((id, result));
        Ok(id)
    }

    fn insert(
        self,
        base: Option<i64>,
        bytes: &[u8],
        packed: &[u8],
        next: &mut i64,
    ) -> Result<i64, HistoryError> {
        let id = *next;
        *next = id.checked_add(1).ok_or_else(|| self.corrupt("parts have no numbers left"))?;
        let length = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
        let values = params![id, base, length, packed, hash_of(id, bytes)];
        let sql = "INSERT INTO part VALUES (?, ?, ?, ?, ?)";
        let inserted = self.connection.prepare_cached(sql).and_then(|mut it| it.execute(values));
        inserted.map(|_| id).map_err(|error| self.failed(&error))
    }
}
