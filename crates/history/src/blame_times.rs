//! Two neighbouring results of times, compared.
//!
//! A time depends on all of its session, so whole documents are read, each once.

use pathmeter_model::{KeptKind, TIME_MARGIN, TimeComparison, TimeRow, Times};

use crate::kept_document::KeptDocument;
use crate::{HistoryError, Store};

/// Notes that a reader needs in order to judge steps in time.
const UNPAIRED: &str = "times: each result is compared with the one before it; the two are not \
                        paired, so that all that changed in between is in a step, the boot \
                        included; slower and faster are steps, equal and undecidable are none";
const ONE_BOOT: &str = "times: a session is one boot, and boots of one kernel differ too: gather \
                        several of each kernel (host --boots FILE), and add the file";
const APART: &str = "counts and times of this path are followed each by themselves";

/// The sessions of results, of which the last is kept: what was new is the next one's base.
pub(crate) struct Sessions<'a> {
    store: &'a Store,
    path: &'a str,
    last: Option<(u64, Vec<Times>)>,
}

impl<'a> Sessions<'a> {
    pub(crate) fn new(store: &'a Store, path: &'a str) -> Self {
        Self { store, path, last: None }
    }

    /// Compares the path's times in two results; None if one result has one boot and the other
    /// several, which can't be compared.
    pub(crate) fn compare_results(
        &mut self,
        base: u64,
        new: u64,
    ) -> Result<Option<TimeRow>, HistoryError> {
        let of_base = match self.last.take() {
            Some((number, sessions)) if number == base => sessions,
            _ => self.read(base)?,
        };
        let of_new = self.read(new)?;
        let shown = |path: &str| path == self.path;
        let compared = TimeComparison::of_two([&of_base, &of_new], shown, TIME_MARGIN);
        self.last = Some((new, of_new));
        Ok(compared.and_then(|compared| compared.paths.into_iter().next()))
    }

    fn read(&self, number: u64) -> Result<Vec<Times>, HistoryError> {
        let Ok(KeptDocument::Times(boots)) = KeptDocument::parse(&self.store.document(number)?)
        else {
            let what = format!("the document of result {number} is not what its row says");
            return Err(self.store.tables().corrupt(what));
        };
        Ok(boots.boots)
    }
}

/// Notes on steps between results of these kinds; `several` tells whether each document of times
/// has several boots.
pub(crate) fn notes(kinds: &[KeptKind], several: bool) -> Vec<String> {
    let timed = kinds.iter().filter(|kind| **kind == KeptKind::Host).count();
    let all = [
        (timed > 1, UNPAIRED),
        (timed > 1 && !several, ONE_BOOT),
        (timed > 0 && timed < kinds.len(), APART),
    ];
    let told = all.into_iter().filter(|(holds, _)| *holds);
    told.map(|(_, note)| note.to_owned()).collect()
}
