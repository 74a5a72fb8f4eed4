//! The steps of one path: the first result of each.
//!
//! Results are taken in their order, and each is compared with the last one before it in which the
//! path ran, by `pathmeter_model::compare_path`. What comes out as the same is no step. Results
//! that were measured differently are not compared, unless the caller wants that: the place is a
//! step without a comparison, and the next results are compared with what comes after it. Counts
//! and times are followed apart; of times only what is slower or faster is a step.

use std::collections::HashMap;

use pathmeter_model::{
    Blame, BlameSchema, ConfigurationDifference, FirstPoint, KeptKind, KeptResult, Point, Status,
    Step, Subject, configuration_differences,
};

use crate::kept_document::Fingerprint;
use crate::pair::{Compared, Pairs};
use crate::tables::{Measured, ResultRow};
use crate::{HistoryError, Store};

/// Notes that a reader needs in order to judge steps in time.
const UNPAIRED: &str = "times: each result is compared with the one before it; the two are not \
                        paired, so that all that changed in between is in a step, the boot \
                        included; slower and faster are steps, equal and undecidable are none";
const ONE_BOOT: &str = "times: a session is one boot, and boots of one kernel differ too: gather \
                        several of each kernel (host --boots FILE), and add the file";
const APART: &str = "counts and times of this path are followed each by themselves";

/// Finds the steps of `path` in all results of `store`, or in those of one label. With `across`
/// also results that were measured differently are compared.
///
/// # Errors
/// The database can't be read, or no result has the path.
pub fn blame(
    store: &Store,
    path: &str,
    label: Option<&str>,
    across: bool,
) -> Result<Blame, HistoryError> {
    let rows = rows(store, path, label)?;
    let configurations = store.tables().configurations()?;
    let mut pairs = Pairs::new(store, path);
    let mut steps = Vec::new();
    for candidate in candidates(&rows, &configurations, across) {
        let [base, new] = [candidate.base, candidate.new].map(|row| rows[row].kept.clone());
        let compared = if candidate.comparable {
            pairs.compare(base.number, new.number)?
        } else {
            Compared::default()
        };
        if candidate.always || compared.differ() {
            steps.push(Step {
                result: new,
                against: base,
                comparison: compared.counts,
                times: compared.times,
                configuration_differences: candidate.differences,
                whole: None,
            });
        }
    }
    let first = rows.first().map(|it| FirstPoint { result: it.kept.clone(), point: it.point });
    let kinds: Vec<KeptKind> = rows.iter().map(|row| row.kept.kind).collect();
    let notes = notes(&kinds, are_several(&rows, &configurations));
    let results = rows.len() as u64;
    Ok(Blame { schema: BlameSchema::V1, path: path.to_owned(), results, first, steps, notes })
}

/// Whether each document has several boots.
fn are_several(rows: &[PathRow], configurations: &HashMap<i64, Fingerprint>) -> bool {
    rows.iter().all(|row| match configurations.get(&row.configuration) {
        Some(Fingerprint::Times(times)) => times.is_of_several_boots(),
        _ => true,
    })
}

/// Notes on steps between results of these kinds; `several` tells whether each document of times
/// has several boots.
fn notes(kinds: &[KeptKind], several: bool) -> Vec<String> {
    let timed = kinds.iter().filter(|kind| **kind == KeptKind::Host).count();
    let all = [
        (timed > 1, UNPAIRED),
        (timed > 1 && !several, ONE_BOOT),
        (timed > 0 && timed < kinds.len(), APART),
    ];
    let told = all.into_iter().filter(|(holds, _)| *holds);
    told.map(|(_, note)| note.to_owned()).collect()
}

/// The path in one result.
struct PathRow {
    kept: KeptResult,
    point: Point,
    configuration: i64,
    /// Of the same cost are the same, by every rule.
    cost: Vec<u8>,
}

/// In the order of the results.
fn rows(store: &Store, path: &str, label: Option<&str>) -> Result<Vec<PathRow>, HistoryError> {
    let results = store.rows(label)?;
    let measured = store.tables().read_path(path, &results)?;
    let row = |(ResultRow { kept, configuration, .. }, measured): (_, Option<Measured>)| {
        let Measured { point, cost, .. } = measured?;
        Some(PathRow { kept, point, configuration, cost })
    };
    Ok(results.into_iter().zip(measured).filter_map(row).collect())
}

/// Two rows that may be a step.
struct Candidate {
    base: usize,
    new: usize,
    /// Whether they can be compared.
    comparable: bool,
    /// Whether it is a step whatever the verdict: the path begins or ceases to run.
    always: bool,
    differences: Vec<ConfigurationDifference>,
}

/// Where results of one kind have been followed to.
#[derive(Clone, Copy, Default)]
struct Followed {
    last: Option<usize>,
    /// The last one in which the path ran.
    ran: Option<usize>,
}

fn candidates(
    rows: &[PathRow],
    configurations: &HashMap<i64, Fingerprint>,
    across: bool,
) -> Vec<Candidate> {
    let mut found = Vec::new();
    let mut both = [Followed::default(); 2];
    for (new, row) in rows.iter().enumerate() {
        let timed = row.kept.kind == KeptKind::Host;
        let Followed { last, ran } = &mut both[usize::from(timed)];
        let runs = row.point.status == Status::Ok;
        if let (Some(base), Some(last)) = (ran.or(*last), *last) {
            let differences = differing(&rows[base], row, configurations);
            let comparable = across || differences.is_empty();
            let always = row.point.status != rows[last].point.status;
            let may_differ = runs && row.cost != rows[base].cost;
            if !comparable || always || may_differ {
                found.push(Candidate { base, new, comparable, always, differences });
            }
            if !comparable {
                *ran = None;
            }
        }
        *last = Some(new);
        *ran = if runs { Some(new) } else { *ran };
    }
    found
}

fn differing(
    base: &PathRow,
    new: &PathRow,
    configurations: &HashMap<i64, Fingerprint>,
) -> Vec<ConfigurationDifference> {
    if base.configuration == new.configuration {
        return Vec::new();
    }
    let subject = |row: &PathRow| {
        Some(Subject { kind: row.kept.kind.subject()?, name: row.kept.subject.clone() })
    };
    match [base, new].map(|row| (configurations.get(&row.configuration), subject(row))) {
        [
            (Some(Fingerprint::Counts(base)), Some(one)),
            (Some(Fingerprint::Counts(new)), Some(two)),
        ] => configuration_differences((&one, base), (&two, new)),
        [(Some(Fingerprint::Times(base)), _), (Some(Fingerprint::Times(new)), _)] => {
            base.differences(new)
        }
        _ => vec![ConfigurationDifference {
            field: "configuration".into(),
            base: base.configuration.to_string(),
            new: new.configuration.to_string(),
        }],
    }
}
