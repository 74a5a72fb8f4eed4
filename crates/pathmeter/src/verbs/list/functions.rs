//! `pathmeter list functions`: a kernel's functions, which can be points of a window.

use std::sync::PoisonError;

use pathmeter_debuginfo::DebugInfo;
use pathmeter_trace::PointFinder;
use serde::Serialize;
use wildmatch::WildMatch;

use super::args::FunctionsArgs;
use crate::failure::{Exit, Failure};
use crate::screen::output::{self, Screen};
use crate::screen::progress::Board;
use crate::setup;
use crate::subject_files::find_files;
use pathmeter_measure::interrupt;
use pathmeter_measure::subject;
use pathmeter_measure::subject::image::Image;
use pathmeter_measure::subject::points;

/// The document of `--json`, `pathmeter.functions/1`.
#[derive(Serialize)]
struct Functions<'a> {
    schema: &'static str,
    functions: Vec<Function<'a>>,
}

/// One function in the document.
#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    /// Of its first instruction, as `0x…`; several functions may have one name.
    addresses: Vec<String>,
}

/// Prints the functions that have one of the names.
pub(crate) fn run(args: &mut FunctionsArgs, screen: &Screen) -> Result<Exit, Failure> {
    find_files([&mut args.subject], screen)?;
    subject::refuse_results([&args.subject])?;
    let (session, images) = setup::prepare(&args.guest, interrupt::listen(), &[&args.subject])?;
    let image = &images[0].clone().with_vmlinux(args.vmlinux.as_deref());
    let text = if args.cached {
        let Some(text) = session.cached_symbols(image)? else { return Ok(Exit::Done) };
        text
    } else {
        let board = Board::new(screen);
        board.during(image.subject().name, |it| session.symbols(image, it))?
    };
    let finder = points::finder(image, &text)?;
    let matchers: Vec<WildMatch> = args.name.iter().map(|name| WildMatch::new(name)).collect();
    let asked = |name: &&str| matchers.is_empty() || matchers.iter().any(|one| one.matches(name));
    let functions: Vec<&str> = finder.functions().filter(asked).collect();
    print(&finder, &functions, args.json)?;
    let missing = |name: &&String| {
        let matcher = WildMatch::new(name);
        !functions.iter().any(|function| matcher.matches(function))
    };
    let missing: Vec<&str> = args.name.iter().filter(missing).map(String::as_str).collect();
    // A completion wants names, and nothing else.
    if missing.is_empty() || args.cached {
        return Ok(Exit::Done);
    }
    let debug = image.debug_info(&|_| {})?;
    let debug = debug.as_ref().map(|it| it.lock().unwrap_or_else(PoisonError::into_inner));
    Err(no_function(image, &missing, &finder, debug.as_deref()))
}

fn print(finder: &PointFinder<'_>, functions: &[&str], json: bool) -> Result<(), Failure> {
    if json {
        let functions = functions.iter().map(|name| function(finder, name)).collect();
        let document = Functions { schema: "pathmeter.functions/1", functions };
        return output::print(&output::json(&document)?);
    }
    let lines: String = functions.iter().flat_map(|name| [name, "\n"]).collect();
    output::print(lines.as_bytes())
}

fn function<'a>(finder: &PointFinder<'_>, name: &'a str) -> Function<'a> {
    let addresses = finder.addresses_of(name).iter().map(|address| format!("{address:#x}"));
    Function { name, addresses: addresses.collect() }
}

/// Names of no function; where debug information is at hand, with the functions that hold them.
fn no_function(
    image: &Image,
    missing: &[&str],
    finder: &PointFinder<'_>,
    debug: Option<&DebugInfo>,
) -> Failure {
    let what = |name: &&str| match points::holders(name, debug) {
        Some(holders) => format!("{name}: {holders}"),
        None => format!("no function is called {name}"),
    };
    let words: Vec<String> = missing.iter().map(what).collect();
    Failure::Usage {
        message: format!("{}: {}", image.name().display(), words.join("; ")),
        help: points::close_functions(missing, finder, debug.is_some()),
    }
}
