//! The steps of one path: the first result of each.
//!
//! Results are taken in their order, and each is compared with the last one before it in which the
//! path ran, by `pathmeter_model::compare_path`. What comes out as the same is no step. Results
//! that were measured differently are not compared, unless the caller wants that: the place is a
//! step without a comparison, and the next results are compared with what comes after it. Counts
//! and times are followed apart; of times only what is slower or faster is a step.

use std::collections::HashMap;
use std::thread;

use pathmeter_model::{
    Blame, BlameSchema, Configuration, ConfigurationDifference, FirstPoint, KeptKind, KeptResult,
    MeasuredAlike, PathComparison, PathResult, Point, Status, Step, Subject, TimeRow, TimeVerdict,
    Verdict, compare_path, configuration_differences, parse_path,
};

use crate::blame_times::{Sessions, notes};
use crate::kept_document::Fingerprint;
use crate::part::{RawPart, not_whole};
use crate::tables::{Measured, ResultRow};
use crate::{HistoryError, Store};

/// Comparisons that are worth a thread.
const WORTH_A_THREAD: usize = 64;

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
    let configurations = store.tables().configurations()?.into_iter().collect();
    let candidates = candidates(&rows, &configurations, across);
    let compared = compare_counts(store, &rows, &configurations, &candidates)?;
    let mut sessions = Sessions::new(store, path);
    let mut steps = Vec::new();
    for (candidate, comparison) in candidates.into_iter().zip(compared) {
        let Candidate { base, new, always, .. } = candidate;
        let [base, new] = [base, new].map(|row| rows[row].kept.clone());
        let times = if candidate.is_compared(true) {
            sessions.compare_results(base.number, new.number)?
        } else {
            None
        };
        if always || differ(comparison.as_ref(), times.as_ref()) {
            steps.push(Step {
                result: new,
                against: base,
                comparison,
                times,
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

/// Whether two results differ, or could not be compared.
fn differ(counts: Option<&PathComparison>, times: Option<&TimeRow>) -> bool {
    match (counts, times) {
        (Some(counts), _) => counts.verdict != Verdict::Same,
        (None, Some(times)) => matches!(times.verdict, TimeVerdict::Slower | TimeVerdict::Faster),
        (None, None) => true,
    }
}

/// Whether each document has several boots.
fn are_several(rows: &[PathRow], configurations: &HashMap<i64, Fingerprint>) -> bool {
    rows.iter().all(|row| match configurations.get(&row.configuration) {
        Some(Fingerprint::Times(times)) => times.is_of_several_boots(),
        _ => true,
    })
}

/// The path in one result.
struct PathRow {
    kept: KeptResult,
    point: Point,
    configuration: i64,
    part: i64,
    /// Of the same cost are the same, by every rule.
    cost: Vec<u8>,
}

/// In the order of the results.
fn rows(store: &Store, path: &str, label: Option<&str>) -> Result<Vec<PathRow>, HistoryError> {
    let mut measured: HashMap<u64, Measured> =
        store.read_path_results(path)?.into_iter().map(|it| (it.result, it)).collect();
    let row = |ResultRow { kept, configuration, .. }: ResultRow| {
        let Measured { point, part, cost, .. } = measured.remove(&kept.number)?;
        Some(PathRow { kept, point, configuration, part, cost })
    };
    let rows: Vec<PathRow> = store.rows()?.into_iter().filter_map(row).collect();
    let labelled = |row: &PathRow| label.is_none_or(|label| row.kept.label == label);
    Ok(rows.into_iter().filter(labelled).collect())
}

/// Two rows that may be a step.
struct Candidate {
    base: usize,
    new: usize,
    /// Whether they can be compared.
    comparable: bool,
    /// Whether it is a step whatever the verdict: the path begins or ceases to run.
    always: bool,
    /// Whether they are times rather than counts.
    timed: bool,
    differences: Vec<ConfigurationDifference>,
}

impl Candidate {
    /// Whether it is to be compared, as times or as counts.
    fn is_compared(&self, timed: bool) -> bool {
        self.comparable && self.timed == timed
    }
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
                found.push(Candidate { base, new, comparable, always, timed, differences });
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

/// What counts were measured with.
fn of_counts<'a>(
    configurations: &'a HashMap<i64, Fingerprint>,
    row: &PathRow,
) -> Option<&'a Configuration> {
    match configurations.get(&row.configuration) {
        Some(Fingerprint::Counts(configuration)) => Some(configuration),
        _ => None,
    }
}

/// The row that was new in the comparison before, and its path.
type Last = Option<(usize, PathResult)>;

/// Compares the counts of each candidate's results; None for a candidate whose counts can't be
/// compared.
fn compare_counts(
    store: &Store,
    rows: &[PathRow],
    configurations: &HashMap<i64, Fingerprint>,
    candidates: &[Candidate],
) -> Result<Vec<Option<PathComparison>>, HistoryError> {
    let comparable = || candidates.iter().filter(|candidate| candidate.is_compared(false));
    let mut parts: Vec<i64> =
        comparable().flat_map(|it| [rows[it.base].part, rows[it.new].part]).collect();
    parts.sort_unstable();
    parts.dedup();
    let parts = RawParts::read(store, &parts)?;
    // Where each result differs from the one before, what was new is the next one's base.
    let one = |last: &mut Last, candidate: &Candidate| -> Result<_, String> {
        if !candidate.is_compared(false) {
            return Ok(None);
        }
        let (base, new) = (&rows[candidate.base], &rows[candidate.new]);
        let both = of_counts(configurations, base).zip(of_counts(configurations, new));
        let (one, two) = both.ok_or_else(|| "a configuration is missing".to_owned())?;
        let parse = |row: &PathRow, clock| {
            let bytes = parts.unpacked(row.part).ok_or_else(|| not_whole(row.part))?;
            parse_path(&bytes, clock).map_err(|error| format!("part {}: {error}", row.part))
        };
        let base = match last.take() {
            Some((row, parsed)) if row == candidate.base => parsed,
            _ => parse(base, one.clock)?,
        };
        let new = parse(new, two.clock)?;
        let comparison = compare_path(Some(&base), Some(&new), MeasuredAlike::of(one, two));
        *last = Some((candidate.new, new));
        Ok(comparison)
    };
    let done = in_threads(candidates, one);
    done.into_iter().map(|done| done.map_err(|detail| store.tables().corrupt(detail))).collect()
}

/// Parts as they are in the database, with those that they are packed by.
struct RawParts {
    raw: HashMap<i64, RawPart>,
    /// The bytes of those by which others are packed.
    bases: HashMap<i64, Vec<u8>>,
}

impl RawParts {
    fn read(store: &Store, ids: &[i64]) -> Result<Self, HistoryError> {
        let tables = store.tables();
        let (mut raw, mut bases) = (HashMap::new(), HashMap::new());
        for &id in ids {
            let part = RawPart::read(tables, id)?;
            if let Some(base) = part.base
                && !bases.contains_key(&base)
            {
                bases.insert(base, tables.part(base)?);
            }
            raw.insert(id, part);
        }
        Ok(Self { raw, bases })
    }

    fn unpacked(&self, id: i64) -> Option<Vec<u8>> {
        let part = self.raw.get(&id)?;
        let dictionary = match part.base {
            Some(base) => self.bases.get(&base)?.as_slice(),
            None => &[],
        };
        part.unpacked(dictionary)
    }
}

/// `act` of each item, in their order, on all CPUs if there are many. Items that follow each other
/// share a state, which is new where a thread begins.
fn in_threads<T: Sync, R: Send, S: Default>(
    items: &[T],
    act: impl Fn(&mut S, &T) -> R + Sync,
) -> Vec<R> {
    let of_all = |items: &[T]| {
        let mut state = S::default();
        items.iter().map(|item| act(&mut state, item)).collect::<Vec<R>>()
    };
    let of_all = &of_all;
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let share = items.len().div_ceil(threads).max(WORTH_A_THREAD);
    let (first, rest) = items.split_at(share.min(items.len()));
    thread::scope(|scope| {
        let others: Vec<_> = rest
            .chunks(share)
            .map(|chunk| {
                // Where there is no thread to be had, it is done below.
                (chunk, thread::Builder::new().spawn_scoped(scope, || of_all(chunk)).ok())
            })
            .collect();
        let mut done = of_all(first);
        for (chunk, thread) in others {
            match thread.and_then(|thread| thread.join().ok()) {
                Some(more) => done.extend(more),
                None => done.extend(of_all(chunk)),
            }
        }
        done
    })
}
