//! Reading times back: as of a result, everything is checked that the rest relies on.

use crate::reading::bounds::{OF_RESULTS, bounded, check_names, field, first_complaint, quoted};
use crate::reading::read::read;
use crate::{MAX_SAMPLE, MAX_SAMPLES, ParseError, PathTimes, Status, Times};

/// Most replicates of a path: twice what can be asked for. The work of an interval grows with them.
const MAX_REPLICATES: usize = 2000;
/// Most executions of a path in a call.
const MAX_REPEATS: u32 = 1 << 16;

/// Reads times from the bytes of a file.
///
/// # Errors
/// Any [`ParseError`]: it names what is wrong and what to do. The caller adds the file's name.
pub fn parse_times(bytes: &[u8]) -> Result<Times, ParseError> {
    let times: Times = read(bytes, "pathmeter.times/1")?;
    check_times(&times)?;
    Ok(times)
}

/// Checks everything that the rest relies on.
pub(crate) fn check_times(times: &Times) -> Result<(), ParseError> {
    if !(1..=2).contains(&times.conditions.len()) {
        return Err(field("conditions", "are neither one nor two"));
    }
    if times.method.ticks_per_second == 0 {
        return Err(field("ticks_per_second", "is 0"));
    }
    check_names(times.paths.iter().map(|path| &*path.path), OF_RESULTS)?;
    let mut batches = 0;
    for path in &times.paths {
        if let Some(what) = contradiction(path, times.conditions.len()) {
            return Err(field(&quoted(&path.path), what));
        }
        let all = path.replicates.iter().flat_map(|replicate| &replicate.sides);
        batches += all.map(Vec::len).sum::<usize>();
    }
    bounded("number of batches", batches, MAX_SAMPLES)
}

/// What contradicts what, of a path under so many conditions.
fn contradiction(path: &PathTimes, conditions: usize) -> Option<&'static str> {
    let sides = || path.replicates.iter().flat_map(|replicate| &replicate.sides);
    let is_ok = path.status == Status::Ok;
    first_complaint([
        (path.calls == 0 || path.repeats == 0, "a batch has no calls"),
        (path.calls > 1 << 40, "a batch has more calls than can be made"),
        (path.repeats > MAX_REPEATS, "a call has more executions than can be made"),
        (path.replicates.len() > MAX_REPLICATES, "it has more replicates than can be asked for"),
        (is_ok && path.replicates.is_empty(), "it is ok and has no times"),
        (!is_ok && path.reason.is_none(), "it has no times and no reason"),
        (
            path.replicates.iter().any(|it| it.sides.len() != conditions + 1),
            "a replicate does not have base, its copy and each other condition",
        ),
        (sides().any(Vec::is_empty), "a side has no batches"),
        (sides().flatten().any(|ticks| *ticks > MAX_SAMPLE), "a batch takes too many ticks"),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    fn read_back(change: impl FnOnce(&mut Times)) -> Result<Times, ParseError> {
        let mut times = example::times(&[("a.b", 10, &[3050; 3]), ("a.c", 1, &[90; 3])]);
        change(&mut times);
        parse_times(&serde_json::to_vec(&times).unwrap())
    }

    #[test]
    fn what_was_written_is_read() {
        let read = read_back(|_| ()).unwrap();
        assert_eq!(read, example::times(&[("a.b", 10, &[3050; 3]), ("a.c", 1, &[90; 3])]));
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        let changes: [fn(&mut Times); 10] = [
            |times| times.conditions.clear(),
            |times| times.method.ticks_per_second = 0,
            |times| times.paths[0].calls = 0,
            |times| times.paths[0].replicates.clear(),
            |times| times.paths[0].repeats = u32::MAX,
            |times| {
                let one = times.paths[0].replicates[0].clone();
                times.paths[0].replicates = vec![one; 2001];
            },
            |times| times.paths[0].status = Status::Failed,
            |times| times.paths[1].replicates[2].sides.truncate(1),
            |times| times.paths[1].replicates[2].sides[1].clear(),
            |times| times.paths[1].path = "a.b".into(),
        ];
        for (number, change) in changes.into_iter().enumerate() {
            assert!(read_back(change).is_err(), "{number}");
        }
    }

    #[test]
    fn a_result_is_no_times_and_is_named() {
        let error = parse_times(br#"{"schema":"pathmeter.result/1"}"#).unwrap_err().to_string();
        assert!(error.contains("pathmeter.result/1"), "{error}");
        assert!(error.contains("pathmeter.times/1"), "{error}");
    }
}
