//! `--only-process`: one process or thread of a program, or those of one name together.

use pathmeter_model::suggestion::suggest;
use pathmeter_model::{Measurement, ProcessResult, ThreadResult};
use wildmatch::WildMatch;

use crate::error::MeasureError;

/// Most processes that an error lists.
const MOST_LISTED: usize = 12;

/// The result with the rows of the processes that `name` names in place of the program's: the one
/// with this place in the tree of processes; or else all that execute a program of this name, added
/// up; or else all whose place matches this pattern, in which `*` is any text and `?` any
/// character. If no process is named so, it has those of the threads that are, in the same ways.
///
/// # Errors
/// The result has no rows of processes, or none of them, nor a thread of one, is named so.
pub fn of_process(result: &Measurement, name: &str) -> Result<Measurement, MeasureError> {
    let all = result.processes();
    if all.is_empty() {
        return Err(not_apart(result));
    }
    let pattern = WildMatch::new(name);
    let such = |is_such: &dyn Fn(&ProcessResult) -> bool| -> Vec<&ProcessResult> {
        all.iter().filter(|process| is_such(process)).collect()
    };
    let ways: [Vec<&ProcessResult>; 3] = [
        such(&|process| process.process == name),
        such(&|process| process.program() == name),
        such(&|process| pattern.matches(&process.process)),
    ];
    if let Some(found) = ways.into_iter().find(|found| !found.is_empty()) {
        return Ok(result.of_processes(name, &found));
    }
    match threads(all, name) {
        found if found.is_empty() => Err(unknown(result, name)),
        found => Ok(result.of_threads(name, &found)),
    }
}

/// The threads that `name` names: the one at this place (`sh/redis-server:2`), or else those of a
/// program (`redis-server:2`), or else those of which one of the two matches the pattern.
fn threads<'a>(all: &'a [ProcessResult], name: &str) -> Vec<&'a ThreadResult> {
    let pattern = WildMatch::new(name);
    let such = |is_such: &dyn Fn(&str, &str) -> bool| -> Vec<&'a ThreadResult> {
        let of = |process: &'a ProcessResult| process.by_thread.iter().map(move |it| (process, it));
        let all = all.iter().flat_map(of);
        let of_program = |(process, thread): &(&ProcessResult, &ThreadResult)| {
            format!("{}{}", process.program(), process.number_of(thread))
        };
        all.filter(|it| is_such(&it.1.thread, &of_program(it))).map(|(_, thread)| thread).collect()
    };
    let ways = [
        such(&|place, _| place == name),
        such(&|_, of_program| of_program == name),
        such(&|place, of_program| pattern.matches(place) || pattern.matches(of_program)),
    ];
    ways.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
}

fn not_apart(result: &Measurement) -> MeasureError {
    let help = find_note(result, "processes were not told apart").unwrap_or_else(|| {
        "leave out --only-process if the program has only one process, of one thread; measure a \
         result again that an earlier version made"
            .to_owned()
    });
    MeasureError::Request {
        message: format!("{} has no rows of single processes", result.subject.name),
        help,
    }
}

/// Finds the result's note that begins so.
fn find_note(result: &Measurement, begin: &str) -> Option<String> {
    result.notes.iter().find(|note| note.starts_with(begin)).cloned()
}

fn unknown(result: &Measurement, name: &str) -> MeasureError {
    let processes = result.processes();
    let threads: Vec<&str> =
        processes.iter().flat_map(|it| &it.by_thread).map(|it| &*it.thread).collect();
    let asks_for_thread = name.contains(':');
    let help = if asks_for_thread && !threads.is_empty() {
        among("threads", name, &threads)
    } else {
        let names: Vec<&str> = processes.iter().map(|process| &*process.process).collect();
        among("processes", name, &names)
    };
    let without = asks_for_thread && threads.is_empty();
    let why =
        without.then(|| find_note(result, "threads were not told apart").unwrap_or(NONE.into()));
    let name = name.escape_debug();
    MeasureError::Request {
        message: format!("no process or thread on {} is named {name}", result.subject.name),
        help: why.map_or_else(String::new, |why| format!("{why}; ")) + &help,
    }
}

/// What is said of a result without threads.
const NONE: &str = "none of its processes has rows of several threads";

/// Which processes or threads there are, and those that were probably meant.
fn among(what: &str, name: &str, names: &[&str]) -> String {
    let more = match names.len().saturating_sub(MOST_LISTED) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let listed = names.iter().take(MOST_LISTED).copied().collect::<Vec<_>>().join(", ");
    let close = suggest(name, names).escape_debug().to_string();
    format!("{close}its {what} are: {}{more}", listed.escape_debug())
}

#[cfg(test)]
mod tests {
    use pathmeter_model::example::runs::{of_processes, of_threads, program, row, run};
    use pathmeter_model::{ProgramRow, RowKind};

    use super::*;

    /// `sh`, and `sh/a` twice: of these the first has three threads, and the second two. A row has
    /// as many instructions as its place among all.
    fn result() -> Measurement {
        let rows: Vec<ProgramRow> =
            (1..=18).map(|at| row(RowKind::Syscall, &format!("call-{at:02}"), 1, at)).collect();
        let run = of_processes(run(0, rows), &["sh", "sh/a", "sh/a[2]"]);
        let threads: [&[&str]; 3] = [&["sh"], &["a", "x", "y"], &["a", "x"]];
        let configuration = pathmeter_model::example::configuration("6.1.0", 1);
        program("vmlinuz", configuration, vec![of_threads(run, &threads)]).result()
    }

    /// All own work of what is chosen.
    fn own(name: &str) -> u64 {
        let chosen = of_process(&result(), name).unwrap();
        chosen.paths.iter().find(|row| row.path == "own work").unwrap().samples[0]
    }

    #[test]
    fn a_thread_is_chosen_by_its_place_by_its_program_or_by_a_pattern() {
        // `sh/a` has the calls 2, 5, 8, 11, 14 and 17; its second thread 5 and 14.
        assert_eq!((own("sh/a"), own("sh/a:2"), own("sh/a[2]:1")), (57, 19, 27));
        // Of both processes that execute `a`, `sh/a[2]:2` has 6, 12 and 18.
        assert_eq!((own("a:2"), own("a:3"), own("a:*"), own("sh/a:?")), (55, 25, 120, 57));
        // A pattern that names processes names no threads.
        assert_eq!((own("sh/*"), own("*")), (120, 171));
    }

    #[test]
    fn the_names_of_threads_are_listed_for_one_that_asks_for_a_thread() {
        let refused_by = |result: &Measurement, name| match of_process(result, name) {
            Err(MeasureError::Request { message, help }) => (message, help),
            other => panic!("{other:?}"),
        };
        let refused = |name| refused_by(&result(), name);
        let (message, help) = refused("b:2");
        assert_eq!(message, "no process or thread on vmlinuz is named b:2");
        assert!(help.ends_with("its threads are: sh/a:1, sh/a:2, sh/a:3, sh/a[2]:1, sh/a[2]:2"));
        assert!(refused("x").1.ends_with("its processes are: sh, sh/a, sh/a[2]"));
        let mut without = result();
        let processes = &mut without.execution.as_mut().unwrap().processes;
        for process in processes {
            process.by_thread.clear();
        }
        let told = |result: &Measurement| refused_by(result, "b:2").1;
        assert!(told(&without).starts_with("none of its processes has rows of several threads; "));
        without.notes.push("threads were not told apart: x".to_owned());
        assert!(told(&without).starts_with("threads were not told apart: x; "));
    }
}
