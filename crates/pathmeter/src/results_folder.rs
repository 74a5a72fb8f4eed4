//! Folders of results, a plan's or the user's own, named where results are: each stands for all in
//! it. `compare` takes two of them, cell by cell. Where a verb takes one result, the folder of one
//! stands for that, and others are refused with what they have.

use std::cmp::Ordering;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use pathmeter_model::Measurement;
use pathmeter_plan::{FileStep, Folder, FolderError};

use pathmeter_measure::subject::{Subject, is_host, lab_words};

/// Most results of a folder that an error names.
const MOST_NAMED: usize = 8;

/// The results in a folder, if it is one of results: those of a plan's cells, or else all files
/// `*.json`, unless it is the folder that a kernel was built in.
fn results(path: &Path) -> Result<Option<Vec<PathBuf>>, Failure> {
    if lab_words(path).is_some() || is_host(path) || !path.is_dir() {
        return Ok(None);
    }
    let results = Folder::open(path).and_then(|folder| folder.results());
    let failed = |FolderError { doing, path, error }| Failure::File { doing, path, error };
    let mut results = results.map_err(failed)?;
    if results.is_empty() && !path.join("arch").exists() {
        results = list_documents(path).map_err(|error| Failure::File {
            doing: FileStep::Reading,
            path: path.to_owned(),
            error,
        })?;
    }
    Ok(Some(results).filter(|results| !results.is_empty()))
}

/// The files `*.json` in this folder, by their names.
fn list_documents(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = entries.collect::<io::Result<Vec<_>>>()?;
    paths.retain(|path| path.extension().is_some_and(|it| it == "json") && path.is_file());
    paths.sort();
    Ok(paths)
}

/// Whether it is a folder of results.
pub(crate) fn is_results(path: &Path) -> bool {
    results(path).is_ok_and(|results| results.is_some())
}

/// How many results a folder has, if it is one of results.
pub(crate) fn count_results(path: &Path) -> Option<usize> {
    results(path).ok()?.map(|results| results.len())
}

/// Whether both are folders of results, of which at least one has several.
pub(crate) fn are_results(base: &Path, new: &Path) -> bool {
    let counts = [base, new].map(count_results);
    counts.iter().all(Option::is_some) && counts != [Some(1); 2]
}

/// The only result of a folder in place of the folder; all else as it is.
///
/// # Errors
/// The folder has several results; with the name of each.
pub(crate) fn take_only_result(path: &Path) -> Result<PathBuf, Failure> {
    let Some(results) = results(path)? else { return Ok(path.to_owned()) };
    if let [only] = &results[..] {
        return Ok(only.clone());
    }
    let all = read_sorted(results)?;
    let mut named: Vec<String> = all.iter().take(MOST_NAMED).map(describe).collect();
    let more = all.len() - named.len();
    named.extend((more > 0).then(|| format!("{more} more")));
    Err(Failure::Usage {
        message: format!("{} has {} results, and one is wanted here", path.display(), all.len()),
        help: format!(
            "name one of them ({}), or give the folder to a verb that takes all of it: `report`, \
             `bisect`, `history add`, or `compare` with another folder",
            named.join(", ")
        ),
    })
}

/// `results/ID.json (6.1.deb, skylake)`.
fn describe((path, subject): &(PathBuf, Subject)) -> String {
    let [name, cpu, _] = list_names(subject);
    let cpu = cpu.split_once(": ").map_or(&*cpu, |(profile, _)| profile);
    format!("{} ({name}, {cpu})", path.display())
}

/// The same paths, with the results of a folder in place of the folder: by the subjects' names, in
/// which numbers are compared as such, and then by CPU and condition.
pub(crate) fn expanded(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut expanded = Vec::new();
    for path in paths {
        match results(path)? {
            None => expanded.push(path.clone()),
            Some(results) => expanded.extend(read_sorted(results)?.into_iter().map(|it| it.0)),
        }
    }
    Ok(expanded)
}

/// The results of a folder, in the same order.
///
/// # Errors
/// It can't be read, or a file that has the name of a result is none.
pub(crate) fn read_results(folder: &Path) -> Result<Vec<Measurement>, Failure> {
    let read = read_sorted(results(folder)?.unwrap_or_default())?;
    let take = |(path, subject): (PathBuf, Subject)| match subject {
        Subject::Result(result) => Ok(*result),
        Subject::Kernel(_) => Err(Failure::Usage {
            message: format!("{}: not a result, but it has the name of one", path.display()),
            help: "remove it, and run the plan again to measure its cell".to_owned(),
        }),
    };
    Failure::gather(read.into_iter().map(take))
}

fn read_sorted(results: Vec<PathBuf>) -> Result<Vec<(PathBuf, Subject)>, Failure> {
    let read = results.into_iter().map(|path| Subject::open(&path).map(|subject| (path, subject)));
    let mut read = Failure::gather(read)?;
    read.sort_by(|(_, one), (_, other)| {
        let names = list_names(one).into_iter().zip(list_names(other));
        let names = names.map(|(one, other)| by_number(&one, &other));
        names.fold(Ordering::Equal, Ordering::then)
    });
    Ok(read)
}

/// The name of a result's subject, its CPU and its condition.
fn list_names(subject: &Subject) -> [String; 3] {
    match subject {
        Subject::Result(result) => {
            let configuration = &result.configuration;
            [&result.subject.name, &configuration.cpu, &configuration.condition].map(String::clone)
        }
        // What is no result is refused by who reads it.
        Subject::Kernel(_) => [const { String::new() }; 3],
    }
}

/// Compares texts, in which a row of digits is a number: 6.9 is before 6.12.
fn by_number(one: &str, other: &str) -> Ordering {
    let (one, other) = (parts(one), parts(other));
    one.cmp(&other)
}

/// The rows of digits and of other characters; a number by its length without zeros, then itself.
fn parts(text: &str) -> Vec<(usize, &str)> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_digit = first.is_ascii_digit();
        let end = rest.find(|c: char| c.is_ascii_digit() != is_digit).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        let number = part.trim_start_matches('0');
        parts.push(if is_digit { (number.len(), number) } else { (0, part) });
        rest = after;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_version_is_later() {
        let mut names = ["6.12.deb", "6.9.deb", "5.10-rc10", "5.10-rc2", "10", "6.1", "lab"];
        names.sort_by(|one, other| by_number(one, other));
        assert_eq!(names, ["lab", "5.10-rc2", "5.10-rc10", "6.1", "6.9.deb", "6.12.deb", "10"]);
        assert_eq!(by_number("a007", "a7"), Ordering::Equal);
    }
}
