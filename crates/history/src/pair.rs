//! Two results of a history, compared in one path by their documents.

use pathmeter_model::{
    MeasuredAlike, PathComparison, TIME_MARGIN, TimeComparison, TimeRow, TimeVerdict, Verdict,
    compare_path,
};

use crate::kept_document::KeptDocument;
use crate::{HistoryError, Store};

/// What came of a comparison: neither if the two can't be compared.
#[derive(Default)]
pub(crate) struct Compared {
    pub(crate) counts: Option<PathComparison>,
    pub(crate) times: Option<TimeRow>,
}

impl Compared {
    /// Whether the two differ, or could not be compared.
    pub(crate) fn differ(&self) -> bool {
        match (&self.counts, &self.times) {
            (Some(counts), _) => counts.verdict != Verdict::Same,
            (None, Some(times)) => {
                matches!(times.verdict, TimeVerdict::Slower | TimeVerdict::Faster)
            }
            (None, None) => true,
        }
    }
}

/// Pairs of results, one after the other: the new one of a pair is mostly the base of the next, and
/// its document is read once.
pub(crate) struct Pairs<'a> {
    store: &'a Store,
    path: &'a str,
    last: Option<(u64, KeptDocument)>,
}

impl<'a> Pairs<'a> {
    pub(crate) fn new(store: &'a Store, path: &'a str) -> Self {
        Self { store, path, last: None }
    }

    /// Compares two results of one kind, of these numbers.
    pub(crate) fn compare(&mut self, base: u64, new: u64) -> Result<Compared, HistoryError> {
        let of_base = match self.last.take() {
            Some((number, document)) if number == base => document,
            _ => self.read(base)?,
        };
        let of_new = self.read(new)?;
        let compared = self.compare_documents(&of_base, &of_new);
        self.last = Some((new, of_new));
        compared.ok_or_else(|| {
            let what = format!("the documents of results {base} and {new} contradict their rows");
            self.store.tables().corrupt(what)
        })
    }

    /// None of documents that are not of one kind.
    fn compare_documents(&self, base: &KeptDocument, new: &KeptDocument) -> Option<Compared> {
        match (base, new) {
            (KeptDocument::Result(base), KeptDocument::Result(new)) => {
                let alike = MeasuredAlike::of(&base.configuration, &new.configuration);
                let [one, two] = [base, new]
                    .map(|result| result.paths.iter().find(|path| path.path == self.path));
                Some(Compared { counts: compare_path(one, two, alike), times: None })
            }
            (KeptDocument::Times(base), KeptDocument::Times(new)) => {
                let shown = |path: &str| path == self.path;
                let both = [&base.boots[..], &new.boots[..]];
                let compared = TimeComparison::of_two(both, shown, TIME_MARGIN);
                let times = compared.and_then(|compared| compared.paths.into_iter().next());
                Some(Compared { counts: None, times })
            }
            _ => None,
        }
    }

    fn read(&self, number: u64) -> Result<KeptDocument, HistoryError> {
        KeptDocument::parse_kept(&self.store.document(number)?).map_err(|error| {
            self.store.tables().corrupt(format!("the document of result {number}: {error}"))
        })
    }
}
