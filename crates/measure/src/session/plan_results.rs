//! Results of a plan's cells, in a folder that other processes and machines filled.
//!
//! Contract: nothing is written there. What has the name of a cell's result is that result, or a
//! failure names it: a cell whose result is wrong is never measured again without a word.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use pathmeter_model::{Measurement, Subject};
use pathmeter_plan::{Folder, FolderError, Found};

use crate::error::MeasureError;

/// What to do about a file that is not the result that it is named as.
const AGAIN: &str = "remove it, and have it measured again: pathmeter plan run PLAN --results \
                     FOLDER; without --results nothing is taken from there";
/// What to do about two results of a cell.
const CONFLICT: &str = "a third machine's result tells which one is wrong: remove that one \
                        (docs/guide/plans.md); without --results nothing is taken from there";

/// A folder of results, and how many results came from where since it was opened.
#[derive(Debug)]
pub struct PlanResults {
    folder: Folder,
    /// The ids of cells with two results.
    conflicts: BTreeSet<String>,
    found: AtomicUsize,
    cached: AtomicUsize,
    measured: AtomicUsize,
}

/// Where a result comes from that the folder lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Elsewhere {
    Cache,
    /// A guest, which is run, whatever comes of it.
    Guest,
}

impl PlanResults {
    /// Those in the folder at `path`.
    ///
    /// # Errors
    /// There is no such folder, or it can't be read.
    pub fn open(path: &Path) -> Result<Self, MeasureError> {
        let failed = |FolderError { doing, path, error }| MeasureError::File { doing, path, error };
        let folder = Folder::open(path).map_err(failed)?;
        let conflicts = folder.conflicts().map_err(failed)?;
        let [found, cached, measured] = [const { AtomicUsize::new(0) }; 3];
        Ok(Self { folder, conflicts, found, cached, measured })
    }

    /// The result of the cell `id`, which is `subject`'s, if it is there; `is_of` tells whether a
    /// result was measured as this cell.
    ///
    /// # Errors
    /// Something else has its name, or can't be read; or the cell has another result as well.
    pub(crate) fn find(
        &self,
        id: &str,
        subject: &Subject,
        is_of: impl Fn(&Measurement) -> bool,
    ) -> Result<Option<Measurement>, MeasureError> {
        let refused = |what, help| {
            let path = self.folder.place(id);
            MeasureError::PlanResult { path, what, help }
        };
        let unread = |it: FolderError| refused(format!("{}: {}", it.doing, it.error), AGAIN);
        let result = match self.folder.result(id).map_err(unread)? {
            Found::Missing => return Ok(None),
            Found::Damaged(what) => return Err(refused(format!("no result: {what}"), AGAIN)),
            Found::Whole(result, _) => result,
        };
        if self.conflicts.contains(id) {
            let what = "another result of this cell lies beside it, and differs".to_owned();
            return Err(refused(what, CONFLICT));
        }
        if result.subject != *subject || !is_of(&result) {
            return Err(refused(other(&result.subject, subject), AGAIN));
        }
        self.found.fetch_add(1, Ordering::Relaxed);
        Ok(Some(*result))
    }

    /// One more comes from there.
    pub(crate) fn count(&self, elsewhere: Elsewhere) {
        let counter = match elsewhere {
            Elsewhere::Cache => &self.cached,
            Elsewhere::Guest => &self.measured,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Describes where the results came from; None if there was none.
    pub fn describe_sources(&self) -> Option<String> {
        let count = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
        let [found, cached, measured] = [&self.found, &self.cached, &self.measured].map(count);
        let all = found + cached + measured;
        let some = [(found, "from the folder"), (cached, "from the cache")];
        let some = some.into_iter().filter(|(number, _)| *number > 0);
        let parts = some.chain([(measured, "measured here")]);
        let parts: Vec<String> = parts.map(|(number, what)| format!("{number} {what}")).collect();
        let results = if all == 1 { "result" } else { "results" };
        let (folder, parts) = (self.folder.path().display(), parts.join(", "));
        (all > 0).then(|| format!("--results {folder}: {all} {results}: {parts}"))
    }
}

/// In what a result is another one than that of the cell whose name it has.
fn other(found: &Subject, wanted: &Subject) -> String {
    let wanted = &wanted.name;
    if found.name == *wanted {
        return format!(
            "this is a result of {wanted}, but of another kernel or with other options"
        );
    }
    format!("this is a result of {}, under the name of the result of {wanted}", found.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathmeter_model::example;

    const ID: &str = "0123456789abcdef0123456789abcdef";

    fn result() -> Measurement {
        let paths = vec![example::path("a.b", &[330, 330])];
        example::measurement("vmlinuz", example::configuration("6.1.0", 1), paths)
    }

    fn document() -> Vec<u8> {
        pathmeter_seal::to_document(&result()).unwrap().into_bytes()
    }

    /// A folder in which this is under the name of the result.
    fn results(bytes: &[u8]) -> (tempfile::TempDir, PlanResults) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(format!("{ID}.json")), bytes).unwrap();
        let results = PlanResults::open(folder.path()).unwrap();
        (folder, results)
    }

    fn failure_text(found: Result<Option<Measurement>, MeasureError>) -> String {
        let failure = found.unwrap_err();
        assert!(failure.help().is_some_and(|help| help.contains("remove ")), "{failure}");
        failure.to_string()
    }

    #[test]
    fn a_result_is_found_by_its_id_and_each_source_is_counted() {
        let (folder, results) = results(&document());
        assert_eq!(results.describe_sources(), None);
        let subject = result().subject;
        let found = results.find(ID, &subject, |_| true).unwrap();
        assert_eq!(found, Some(result()));
        assert!(results.find(&ID.replace('0', "1"), &subject, |_| true).unwrap().is_none());
        results.count(Elsewhere::Guest);
        let begin = format!("--results {}: ", folder.path().display());
        assert_eq!(
            results.describe_sources().unwrap(),
            begin.clone() + "2 results: 1 from the folder, 1 measured here"
        );
        results.count(Elsewhere::Cache);
        let told = "3 results: 1 from the folder, 1 from the cache, 1 measured here";
        assert_eq!(results.describe_sources().unwrap(), begin + told);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_has_the_name_of_a_result_and_is_another_thing_is_named() {
        let whole = document();
        let subject = result().subject;
        for damaged in [&whole[..whole.len() - 9], b"", b"{}"] {
            let (folder, results) = results(damaged);
            let told = failure_text(results.find(ID, &subject, |_| true));
            let named = format!("{}/{ID}.json: no result: ", folder.path().display());
            assert!(told.starts_with(&named), "{told}");
            assert_eq!(results.describe_sources(), None);
        }
        let (_folder, results) = results(&whole);
        let told_of_other = failure_text(results.find(ID, &subject, |_| false));
        assert!(told_of_other.ends_with("but of another kernel or with other options"));
        let other = Subject { name: "bzImage".to_owned(), ..subject };
        let told = failure_text(results.find(ID, &other, |_| true));
        assert!(
            told.ends_with("this is a result of vmlinuz, under the name of the result of bzImage")
        );
    }

    #[test]
    fn of_two_results_of_a_cell_none_is_taken() {
        let (folder, _) = results(&document());
        std::fs::write(folder.path().join(format!("{ID}.conflict-n-1.json")), b"{}").unwrap();
        let results = PlanResults::open(folder.path()).unwrap();
        let told = failure_text(results.find(ID, &result().subject, |_| true));
        assert!(told.ends_with("another result of this cell lies beside it, and differs"));
    }

    #[test]
    fn a_folder_that_is_not_there_is_no_empty_one() {
        let folder = tempfile::tempdir().unwrap();
        let failure = PlanResults::open(&folder.path().join("gone")).unwrap_err();
        assert!(failure.to_string().starts_with("opening "), "{failure}");
    }
}
