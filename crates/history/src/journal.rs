//! The journal beside a history: SQLite undoes with it what a killed process had begun, and takes
//! whatever has its name for it. A journal of another file would put that file's pages here.
//!
//! The layout is SQLite's (<https://www.sqlite.org/fileformat2.html>, 1.3 and 3). A transaction
//! keeps each page that it changes, of which the first is always one, and whenever it writes that
//! page, a counter in it is 1 more. So the page that a journal keeps is the file's own, or the one
//! before it.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::HistoryError;

/// What a journal begins with.
const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
/// Where its header has the sizes of a sector and of a page.
const SECTOR: Range<usize> = 20..24;
const PAGE: Range<usize> = 24..28;
const HEADER: usize = 28;
/// Where a file's first page has the counter of changes, and what stays as it is from one change to
/// the next: the application's number.
const CHANGES: Range<usize> = 24..28;
const APPLICATION: Range<usize> = 68..72;
const FIRST_PAGE_HEADER: usize = 100;
/// The longest page, and the most pages that are looked through.
const MOST_PAGE: usize = 1 << 16;
const MOST_PAGES: usize = 1 << 16;
/// Another process may write meanwhile, so a journal is foreign only if it is so each time.
const LOOKS: usize = 3;
const PAUSE: Duration = Duration::from_millis(50);

/// Refuses a history beside which there is a journal of another file.
///
/// # Errors
/// There is one; nothing was changed.
pub(crate) fn refuse_foreign(path: &Path) -> Result<(), HistoryError> {
    let mut journal = path.as_os_str().to_owned();
    journal.push("-journal");
    let journal = PathBuf::from(journal);
    for look in 0..LOOKS {
        if look > 0 {
            thread::sleep(PAUSE);
        }
        // What can't be read here SQLite can't read either, and says so.
        if !is_foreign(path, &journal).unwrap_or(false) {
            return Ok(());
        }
    }
    let name = journal.display();
    let what = format!("{name} beside it is the journal of another file: move that away");
    Err(HistoryError::Foreign { path: path.to_owned(), what })
}

fn is_foreign(path: &Path, journal: &Path) -> io::Result<bool> {
    let kept = match File::open(journal) {
        Ok(file) => read_first_page(file)?,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    let Some(kept) = kept else { return Ok(false) };
    let mut own = vec![0; kept.len()];
    File::open(path)?.read_exact(&mut own)?;
    let [before, now] = [&kept, &own].map(|page| read_number(page, CHANGES));
    let alike = kept[APPLICATION] == own[APPLICATION];
    // A power cut may have left any part of the page but its first sector as it was, or new.
    let same = kept[..FIRST_PAGE_HEADER] == own[..FIRST_PAGE_HEADER];
    Ok(!(alike && (same || now == before.wrapping_add(1))))
}

/// The file's first page as the journal keeps it; None if it keeps none.
fn read_first_page(mut journal: File) -> io::Result<Option<Vec<u8>>> {
    let mut header = [0; HEADER];
    journal.read_exact(&mut header)?;
    let (sector, page) = (read_number(&header, SECTOR), read_number(&header, PAGE) as usize);
    // One that was ended has no header any more.
    if header[..MAGIC.len()] != MAGIC || !(512..=MOST_PAGE).contains(&page) {
        return Ok(None);
    }
    journal.seek(SeekFrom::Start(sector.into()))?;
    // Its number, the page, and a checksum.
    let mut record = vec![0; 4 + page + 4];
    for _ in 0..MOST_PAGES {
        journal.read_exact(&mut record)?;
        if read_number(&record, 0..4) == 1 {
            return Ok(Some(record[4..4 + page].to_vec()));
        }
    }
    Ok(None)
}

fn read_number(bytes: &[u8], at: Range<usize>) -> u32 {
    bytes[at].iter().fold(0, |all, byte| all << 8 | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rusqlite::Connection;

    use super::*;
    use crate::database::Database;

    /// A change of the database that was begun, and written as far as to the disk; and its journal.
    fn begin_change(path: &Path) -> (Connection, PathBuf) {
        let connection = Connection::open(path).unwrap();
        let change = "PRAGMA cache_size = 1; BEGIN; CREATE TABLE x (y);
            INSERT INTO x WITH RECURSIVE n (i) AS
                (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
                SELECT randomblob(200) FROM n";
        connection.execute_batch(change).unwrap();
        (connection, path.with_file_name("h.sqlite-journal"))
    }

    /// A history that was changed so many times.
    fn make(folder: &Path, changes: u32) -> PathBuf {
        fs::create_dir(folder).unwrap();
        let path = folder.join("h.sqlite");
        let mut database = Database::create(&path).unwrap();
        for version in 0..changes {
            let change = database.begin().unwrap();
            change.execute("UPDATE total SET last = ?", [version]).unwrap();
            change.commit().unwrap();
        }
        path
    }

    #[test]
    fn a_journal_of_another_file_is_refused_and_its_own_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let [own, other] = [("own", 3), ("other", 5)]
            .map(|(name, changes)| make(&folder.path().join(name), changes));
        let before = fs::read(&own).unwrap();
        let (change, journal) = begin_change(&other);
        assert!(refuse_foreign(&other).is_ok());
        let beside = own.with_file_name("h.sqlite-journal");
        fs::copy(journal, &beside).unwrap();
        drop(change);
        for opened in [Database::open(&own), Database::create(&own)] {
            let Err(HistoryError::Foreign { what, .. }) = opened else { panic!("it is opened") };
            assert!(what.contains("the journal of another file"), "{what}");
        }
        assert_eq!(fs::read(&own).unwrap(), before);
        fs::remove_file(&beside).unwrap();
        Database::open(&own).unwrap();
    }

    #[test]
    fn its_own_journal_undoes_what_was_begun() {
        let folder = tempfile::tempdir().unwrap();
        let path = make(&folder.path().join("own"), 3);
        let (change, journal) = begin_change(&path);
        // As a killed process leaves them.
        let [file, kept] = [&path, &journal].map(|path| fs::read(path).unwrap());
        drop(change);
        fs::write(&path, file).unwrap();
        fs::write(&journal, kept).unwrap();
        Database::open(&path).unwrap();
        assert!(!journal.exists());
    }

    #[test]
    fn what_is_no_journal_is_left_to_sqlite() {
        let folder = tempfile::tempdir().unwrap();
        let path = make(&folder.path().join("own"), 1);
        for bytes in [&b""[..], b"x", &[0; 4096]] {
            fs::write(path.with_file_name("h.sqlite-journal"), bytes).unwrap();
            assert!(refuse_foreign(&path).is_ok());
        }
    }
}
