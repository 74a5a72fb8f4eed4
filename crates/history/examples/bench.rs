//! Takes the measurements of `docs/evidence/performance.md`: `bench RESULT FOLDER COUNT`.
//!
//! Makes a history of COUNT results in FOLDER, each of them RESULT with something changed, and
//! prints how long adding takes, how long reading takes, and how large the file is. Of adding and
//! of `blame` also the processor time, on all CPUs together, which other work on the machine
//! changes less. Twice: with changes as commits have them, where functions move in every path and
//! one path in ten results gets another cost; and with another cost in every path of every result.
#![allow(clippy::print_stdout, reason = "a measurement is printed")]

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use pathmeter_history::{Date, HistoryError, NewResult, Store, blame};
use pathmeter_model::{Estimate, Measurement, PathResult, Status, parse_measurement};

/// How often each reading is done.
const REPEATS: u32 = 3;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, result, folder, count] = &arguments[..] else {
        return Err("usage: bench RESULT FOLDER COUNT".into());
    };
    let base = parse_measurement(&std::fs::read(result)?)?;
    let count: u64 = count.parse()?;
    println!(
        "| history | results | paths | add, median | add, slowest | add, CPU | file | show | blame \
         | most values | most combinations |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for (name, changed) in [("as commits", as_commits as fn(_, _) -> _), ("all differ", all_differ)]
    {
        measure(name, &Path::new(folder).join("bench.sqlite"), count, |at| changed(&base, at))?;
    }
    Ok(())
}

/// Makes a history, and prints a row of the table.
fn measure(
    name: &str,
    file: &Path,
    count: u64,
    result: impl Fn(u64) -> Measurement,
) -> Result<(), Box<dyn Error>> {
    if file.exists() {
        std::fs::remove_file(file)?;
    }
    let (mut adding, mut used) = (Vec::new(), Duration::ZERO);
    for at in 0..count {
        let bytes = pathmeter_seal::to_document(&result(at))?.into_bytes();
        let date = Date::from_seconds(i64::try_from(at)? * 3600).ok_or("no such date")?;
        let before = processor_time()?;
        let begun = Instant::now();
        // Each as by a command of its own.
        let new = NewResult { bytes: &bytes, label: Some("linux"), commit: None, date };
        Store::create(file)?.add(new)?;
        adding.push(begun.elapsed());
        used += processor_time()?.saturating_sub(before);
    }
    adding.sort_unstable();
    let paths = result(0).paths;
    let usual = paths.iter().find(|it| costs(it)).ok_or("RESULT has no path with a cost")?;
    let values = |it: &&PathResult| it.histogram().iter().count();
    let combinations = |it: &&PathResult| it.events.as_ref().map_or(0, |it| it.distinct.len());
    let costly = || paths.iter().filter(|it| costs(it));
    let spread = costly().max_by_key(values).unwrap_or(usual);
    let various = costly().max_by_key(combinations).unwrap_or(usual);
    let show = median(|| Store::open(file)?.history(None, &[&usual.path]))?;
    println!(
        "| {name} | {count} | {} | {:.1?} | {:.1?} | {:.1?} | {:.1} MB | {:.0?} | {} | {} | {} |",
        paths.len(),
        adding[adding.len() / 2],
        adding[adding.len() - 1],
        used / u32::try_from(adding.len())?,
        f64::from(u32::try_from(std::fs::metadata(file)?.len() / 1000)?) / 1000.0,
        show,
        blamed(file, usual)?,
        blamed(file, spread)?,
        blamed(file, various)?,
    );
    Ok(())
}

/// How long `blame` of a path takes, and how much of all CPUs.
fn blamed(file: &Path, path: &PathResult) -> Result<String, Box<dyn Error>> {
    let before = processor_time()?;
    let elapsed = median(|| blame(&Store::open(file)?, &path.path, None, false))?;
    let used = processor_time()?.saturating_sub(before) / REPEATS;
    Ok(format!("{} {elapsed:.0?}, CPU {used:.0?}", path.path))
}

fn median<T>(act: impl Fn() -> Result<T, HistoryError>) -> Result<Duration, HistoryError> {
    let mut times = Vec::new();
    for _ in 0..REPEATS {
        let begun = Instant::now();
        act()?;
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    Ok(times[times.len() / 2])
}

/// What this process used of all CPUs: fields 14 and 15 of `/proc/self/stat`, 100ths of a second.
fn processor_time() -> Result<Duration, Box<dyn Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(") ").ok_or("no such field")?;
    let ticks = fields.split(' ').skip(11).take(2).map(str::parse::<u64>);
    Ok(Duration::from_millis(10 * ticks.sum::<Result<u64, _>>()?))
}

fn costs(path: &PathResult) -> bool {
    path.status == Status::Ok && !path.samples.is_empty()
}

/// Another kernel of the same cost, in which functions stand elsewhere; every tenth has a path that
/// costs something else from then on.
fn as_commits(base: &Measurement, at: u64) -> Measurement {
    let mut result = another(base, at);
    let paths = result.paths.len() as u64;
    for (number, path) in (0..).zip(&mut result.paths) {
        // How often this path has changed until now.
        let changes = (at / 10 + paths - number) / paths;
        raise(path, changes * 3);
        if let Some(events) = &mut path.events {
            for place in &mut events.placement {
                *place = place.wrapping_add(u8::try_from(at % 4).unwrap_or(0) * 16) % 64;
            }
        }
    }
    result
}

fn all_differ(base: &Measurement, at: u64) -> Measurement {
    let mut result = another(base, at);
    result.paths.iter_mut().for_each(|path| raise(path, at * 7 % 1009 + at));
    result
}

fn another(base: &Measurement, at: u64) -> Measurement {
    let mut result = base.clone();
    result.subject.name = format!("vmlinuz-{at}");
    result.configuration.image_sha256 = format!("{at:064x}");
    result.configuration.release = Some(format!("6.1.{at}"));
    result
}

/// The path with so many instructions more in each sample, all of one mode.
fn raise(path: &mut PathResult, by: u64) {
    if !costs(path) {
        return;
    }
    path.samples.iter_mut().for_each(|sample| *sample += by);
    path.estimate = Estimate::of(&path.samples);
    if let Some(events) = &mut path.events
        && let Some(kernel) =
            events.names.iter().position(|name| name == "kernel" || name == "user")
    {
        events.distinct.iter_mut().for_each(|row| row[kernel] += by);
    }
}
