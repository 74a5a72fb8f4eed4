//! The rows of each process of a program and of its threads, from those that each run has of it.

use pathmeter_trace::{Event, RowKind};

use crate::program::row_name::OWN_WORK;
use crate::program::rows::{row, rows, total};
use crate::program::work::Counts;
use crate::{
    PathResult, ProcessResult, ProcessRun, ProgramRow, ProgramRun, ThreadResult, ThreadRun,
};

/// The processes of these runs, in the order in which the runs have them; none if no run has more
/// than one process or thread, or if some run does not tell processes apart. Of each row the events
/// `counted` were counted.
pub fn process_results(runs: &[ProgramRun], counted: &[Event]) -> Vec<ProcessResult> {
    let is_apart = runs.iter().all(|run| !run.processes.is_empty());
    let processes = || runs.iter().flat_map(|run| &run.processes);
    let is_one = runs.iter().all(|run| run.processes.len() == 1);
    if !is_apart || (is_one && processes().all(|process| process.by_thread.len() < 2)) {
        return Vec::new();
    }
    let names = distinct(processes().map(|process| &*process.process));
    names.into_iter().map(|name| process_result(name, runs, counted)).collect()
}

/// These names, each once, in the order of their first occurrence.
fn distinct<'a>(all: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names = Vec::new();
    for name in all {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn process_result(name: &str, runs: &[ProgramRun], counted: &[Event]) -> ProcessResult {
    let of_run = |run: &'_ ProgramRun| run.processes.iter().position(|it| it.process == name);
    let parts: Vec<Option<&ProcessRun>> =
        runs.iter().map(|run| of_run(run).map(|at| &run.processes[at])).collect();
    let threads = parts.iter().map(|part| part.map_or(0, |part| part.threads)).collect();
    let of_process: Vec<&[ProgramRow]> =
        parts.iter().map(|part| part.map_or(&[][..], |part| &part.rows)).collect();
    let rows = all_rows(&of_process, runs, counted);
    let by_thread = thread_results(&parts, runs, counted);
    ProcessResult { process: name.to_owned(), threads, rows, by_thread }
}

/// The threads of a process, of which these are the runs; none if it never has more than one, or if
/// some run does not tell them apart.
fn thread_results(
    parts: &[Option<&ProcessRun>],
    runs: &[ProgramRun],
    counted: &[Event],
) -> Vec<ThreadResult> {
    let told = || parts.iter().flatten();
    let is_apart = told().all(|part| !part.by_thread.is_empty());
    if !is_apart || told().all(|part| part.by_thread.len() == 1) {
        return Vec::new();
    }
    let all = told().flat_map(|part| &part.by_thread);
    let result = |thread: &str| {
        let of_run = |part: Option<&ProcessRun>| -> Option<ThreadRun> {
            part?.by_thread.iter().find(|it| it.thread == thread).cloned()
        };
        let found: Vec<Option<ThreadRun>> = parts.iter().copied().map(of_run).collect();
        let of_thread: Vec<&[ProgramRow]> =
            found.iter().map(|it| it.as_ref().map_or(&[][..], |it| &it.rows)).collect();
        let names = found.iter().flatten().map(|it| &*it.name).filter(|name| !name.is_empty());
        ThreadResult {
            thread: thread.to_owned(),
            names: distinct(names).into_iter().map(str::to_owned).collect(),
            rows: all_rows(&of_thread, runs, counted),
        }
    };
    distinct(all.map(|thread| &*thread.thread)).into_iter().map(result).collect()
}

/// Rows of own work from those of each run, then all of it.
fn all_rows(parts: &[&[ProgramRow]], runs: &[ProgramRun], counted: &[Event]) -> Vec<PathResult> {
    let alone = |(rows, run): (&&[ProgramRow], &ProgramRun)| ProgramRun {
        clock: run.clock,
        rows: rows.to_vec(),
        processes: Vec::new(),
    };
    let alone: Vec<ProgramRun> = parts.iter().zip(runs).map(alone).collect();
    let mut rows = rows(&alone, counted);
    let own: Vec<Counts> = alone.iter().map(|run| total(run, RowKind::OwnWork)).collect();
    rows.push(row(OWN_WORK, RowKind::OwnWork, &own, counted));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::runs::{of_processes, of_threads, row as work, run};

    #[test]
    fn processes_are_results_if_there_are_several_and_every_run_tells_them_apart() {
        let run = || run(0, vec![work(RowKind::User, "", 1, 5), work(RowKind::Syscall, "a", 1, 7)]);
        let names = |runs: &[ProgramRun]| -> Vec<String> {
            process_results(runs, &[]).into_iter().map(|process| process.process).collect()
        };
        let (one, two) = (of_processes(run(), &["sh"]), of_processes(run(), &["sh", "sh/a"]));
        assert_eq!(names(&[two.clone(), one.clone()]), ["sh", "sh/a"]);
        assert_eq!(names(&[one.clone(), one]), [""; 0]);
        assert_eq!(names(&[two, run()]), [""; 0]);
    }
    #[test]
    fn threads_are_results_if_there_are_several_and_every_run_tells_them_apart() {
        let run = || run(0, vec![work(RowKind::User, "", 1, 5), work(RowKind::Syscall, "a", 1, 7)]);
        let one = |threads: &[&str]| of_threads(of_processes(run(), &["sh"]), &[threads]);
        let names = |runs: &[ProgramRun]| -> Vec<(String, Vec<String>)> {
            let processes = process_results(runs, &[]).into_iter();
            let all = processes.flat_map(|process| process.by_thread);
            all.map(|thread| (thread.thread, thread.names)).collect()
        };
        let expected = |all: &[(&str, &[&str])]| -> Vec<(String, Vec<String>)> {
            let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
            all.iter().map(|(thread, names)| ((*thread).to_owned(), owned(names))).collect()
        };
        let several = expected(&[("sh:1", &["sh"]), ("sh:2", &["io", "aof"])]);
        assert_eq!(names(&[one(&["sh", "io"]), one(&["sh"]), one(&["sh", "aof"])]), several);
        let unknown = expected(&[("sh:1", &["sh"]), ("sh:2", &[])]);
        assert_eq!(names(&[one(&["sh", ""])]), unknown);
        // Of one thread there are none, nor of a run that does not tell them.
        assert_eq!(process_results(&[one(&["sh"]), one(&["sh"])], &[]), []);
        let without_threads = of_processes(run(), &["sh"]);
        assert_eq!(names(&[one(&["sh", "io"]), without_threads]), []);
        // In a run without the thread it did nothing.
        let result = process_results(&[one(&["sh", "io"]), one(&["sh"])], &[]);
        let own = result[0].by_thread[1].own_work().unwrap().counts();
        assert_eq!((own[0].instructions, own[1].instructions), (7, 0));
    }
}
