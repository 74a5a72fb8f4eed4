//! `pathmeter-witness-pmu`: holds pathmeter's exact counts against a real processor's counter of
//! retired instructions (`docs/evidence/witness-pmu.md`).
//!
//! It runs the counting program (the library) in three passes: user mode alone, the kernel alone,
//! and both. What they say of each path it puts beside an exact result of the same kernel.

mod document;
mod failure;
mod lines;
mod program;
mod table;

use std::io::{Write, stderr, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, value_parser};
use pathmeter_model::{MAX_DOCUMENT_BYTES, Measurement, clean, clean_lines, parse_measurement};
use pathmeter_seal::{sealed, unsealed};

use crate::document::Witness;
use crate::failure::Failure;
use crate::program::{Counter, Passes};

/// Holds pathmeter's exact counts against this processor's counter of retired instructions
#[derive(Debug, Parser)]
#[command(version)]
struct Cli {
    /// What `pathmeter measure KERNEL -o FILE` wrote of the kernel that runs here
    exact: PathBuf,
    /// Write the JSON document to FILE
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The CPU to execute on
    #[arg(long, value_name = "CPU", default_value_t = 0)]
    pin: usize,
    /// How often each pass is executed
    #[arg(long, value_name = "N", default_value_t = 6)]
    #[arg(value_parser = value_parser!(u32).range(1..=100))]
    runs: u32,
    /// Read the time-stamp counter in place of the counter: to test the program where there is no
    /// counter. The numbers are ticks
    #[arg(long)]
    fake: bool,
}

#[expect(clippy::disallowed_methods, reason = "what is written to it here is clean")]
fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let _ = writeln!(stderr(), "error: {}", clean(&failure.to_string()));
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "what is written to it here is clean")]
fn run(cli: &Cli) -> Result<(), Failure> {
    let exact = read_exact(&cli.exact)?;
    if !rustix::process::geteuid().is_root() {
        return Err(Failure::NotRoot);
    }
    let counter = if cli.fake { Counter::Clock } else { Counter::Processor };
    let passes = Passes::execute(counter, cli.pin, cli.runs)?;
    let witness = Witness::new(
        counter,
        pathmeter_host::machine(u32::try_from(cli.pin).unwrap_or(u32::MAX)),
        &passes,
        &exact,
    )?;
    if let Some(path) = &cli.output {
        let text = serde_json::to_string_pretty(&witness).and_then(|text| sealed(&text));
        let json = text.map_err(|error| error.to_string());
        let written = json.and_then(|json| std::fs::write(path, json).map_err(|e| e.to_string()));
        written.map_err(|error| Failure::Output { path: path.clone(), error })?;
    }
    // A reader that has gone needs no table.
    let _ = stdout().write_all(clean_lines(&table::table(&witness)).as_bytes());
    Ok(())
}

/// The exact result; refused if it has no events, in which user mode and the kernel are apart.
fn read_exact(path: &Path) -> Result<Measurement, Failure> {
    let unreadable = |error: String| Failure::Exact { path: path.to_owned(), error };
    let length = std::fs::metadata(path).map_err(|error| unreadable(error.to_string()))?.len();
    if length > MAX_DOCUMENT_BYTES as u64 {
        return Err(unreadable(format!("{length} bytes are too many for a result")));
    }
    let bytes = std::fs::read(path).map_err(|error| unreadable(error.to_string()))?;
    let bytes = unsealed(&bytes).map_err(|error| unreadable(format!("{error}; measure again")))?;
    let exact = parse_measurement(&bytes).map_err(|error| unreadable(error.to_string()))?;
    if exact.paths.iter().all(|path| path.events.is_none()) {
        return Err(Failure::NoEvents { path: path.to_owned() });
    }
    Ok(exact)
}
