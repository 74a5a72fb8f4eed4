//! The rows of each process of a program, from those that each run has of it.

use pathmeter_trace::{Event, RowKind};

use crate::program_rows::{row, rows, total};
use crate::row_name::OWN_WORK;
use crate::work::Counts;
use crate::{ProcessResult, ProcessRun, ProgramRun};

/// The processes of these runs, in the order in which the runs have them; none if no run has more
/// than one, or if some run does not tell them apart. Of each row the events `counted` were
/// counted.
pub fn process_results(runs: &[ProgramRun], counted: &[Event]) -> Vec<ProcessResult> {
    let is_apart = runs.iter().all(|run| !run.processes.is_empty());
    if !is_apart || runs.iter().all(|run| run.processes.len() == 1) {
        return Vec::new();
    }
    let mut names: Vec<&str> = Vec::new();
    for process in runs.iter().flat_map(|run| &run.processes) {
        if !names.contains(&&*process.process) {
            names.push(&process.process);
        }
    }
    names.into_iter().map(|name| process_result(name, runs, counted)).collect()
}

fn process_result(name: &str, runs: &[ProgramRun], counted: &[Event]) -> ProcessResult {
    let of_run = |run: &ProgramRun| run.processes.iter().find(|it| it.process == name).cloned();
    let parts: Vec<Option<ProcessRun>> = runs.iter().map(of_run).collect();
    let threads = parts.iter().map(|part| part.as_ref().map_or(0, |part| part.threads)).collect();
    let alone = |(part, run): (Option<ProcessRun>, &ProgramRun)| ProgramRun {
        clock: run.clock,
        rows: part.map(|part| part.rows).unwrap_or_default(),
        processes: Vec::new(),
    };
    let alone: Vec<ProgramRun> = parts.into_iter().zip(runs).map(alone).collect();
    let mut rows = rows(&alone, counted);
    let own: Vec<Counts> = alone.iter().map(|run| total(run, RowKind::OwnWork)).collect();
    rows.push(row(OWN_WORK, RowKind::OwnWork, &own, counted));
    ProcessResult { process: name.to_owned(), threads, rows }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::runs::{of_processes, row as work, run};

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
}
