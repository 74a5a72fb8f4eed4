//! The steps of `history`.

use std::path::{Path, PathBuf};

use pathmeter_history::{Added, Date, Found, KeptDocument, NewResult, Pruned, Store, check_label};
use pathmeter_model::{KeptResult, clean};
use pathmeter_plan::FileStep;
use pathmeter_report::{history_plot, history_svg, history_table, kept_table};

use super::args::{AddArgs, ExportArgs, HistoryArgs, HistoryVerb, PlotArgs, PruneArgs, ShowArgs};
use super::blame;
use super::matching::matching;
use crate::command_line::given::Given;
use crate::failure::{Exit, Failure};
use crate::results_folder::expanded;
use crate::screen::contents::{Contents, Output};
use crate::screen::destination::{self, Named};
use crate::screen::formats;
use crate::screen::output::{self, Screen};
use pathmeter_measure::error::MeasureError;
use pathmeter_measure::subject::{self, is_host};

/// Most characters of a subject's name in that of an exported file.
const LONGEST_NAME: usize = 100;

/// Does what the user chose.
pub(crate) fn run(
    args: &mut HistoryArgs,
    given: &Given<'_>,
    screen: &Screen,
) -> Result<Exit, Failure> {
    given.refuse_idle(&[])?;
    let file = args.db.clone().map_or_else(default_file, Ok)?;
    match &mut args.verb {
        HistoryVerb::Add(args) => add(args, &file, screen),
        HistoryVerb::Show(args) => show(args, &file, screen),
        HistoryVerb::Plot(args) => plot(args, &file, screen),
        HistoryVerb::Blame(args) => blame::show(args, &file, screen),
        HistoryVerb::Remove(args) => {
            removed(&file, (Pruned::Numbered(&args.numbers), None), args.dry_run, screen)
        }
        HistoryVerb::Prune(args) => prune(args, &file, screen),
        HistoryVerb::Export(args) => export(args, &file, screen),
    }
    .map(|()| Exit::Done)
}

/// Adds results, and reports each once it is on the disk.
fn add(args: &mut AddArgs, file: &Path, screen: &Screen) -> Result<(), Failure> {
    args.edited.apply();
    args.results = expanded(&args.results)?;
    // All that can be wrong with the files is found before anything is changed.
    let read = Failure::gather(args.results.iter().map(|path| document(path)))?;
    args.label.as_deref().map_or(Ok(()), check_label)?;
    make_folder(file)?;
    let mut store = Store::create(file)?;
    let (label, commit) = (args.label.as_deref(), args.commit.as_deref());
    for (path, Read { bytes, began }) in args.results.iter().zip(&read) {
        let date = args.date.or(*began).unwrap_or_else(Date::now);
        let added = store.add(NewResult { bytes, label, commit, date })?;
        let (done, kept) = match &added {
            Added::New(kept) => ("added to", kept),
            Added::Known(kept) => ("already in", kept),
        };
        let line = format!("{}: {done} {}: {}", path.display(), file.display(), about(kept));
        output::print((clean(&line) + "\n").as_bytes())?;
        if matches!(added, Added::Known(_)) && differs(args, kept) {
            screen.note(&unchanged(kept));
        }
    }
    Ok(())
}

/// Whether the user names another date, label or commit than a result has.
fn differs(args: &AddArgs, kept: &KeptResult) -> bool {
    args.date.is_some_and(|date| date.to_string() != kept.date)
        || args.label.as_ref().is_some_and(|label| *label != kept.label)
        || args.commit.as_ref().is_some_and(|commit| Some(commit) != kept.commit.as_ref())
}

/// That a result which is known keeps what it has.
fn unchanged(kept: &KeptResult) -> String {
    let number = kept.number;
    format!(
        "#{number} stays as it is, {}: to change that, `pathmeter history remove {number}` and add \
         it again",
        facts(kept)
    )
}

/// `with the label cloud.deb, the date 2026-01-31T12:00:00Z and no commit`.
fn facts(kept: &KeptResult) -> String {
    let commit = kept.commit.as_ref().map_or("no commit".into(), |it| format!("the commit {it}"));
    format!("with the label {}, the date {} and {commit}", kept.label, kept.date)
}

/// A document that can be kept.
struct Read {
    bytes: Vec<u8>,
    /// When a session of times began.
    began: Option<Date>,
}

fn document(path: &Path) -> Result<Read, Failure> {
    if is_host(path) {
        return Err(Failure::Usage {
            message: "host is this machine, and a history keeps documents".to_owned(),
            help: "add what `pathmeter host -o FILE` writes; name a file of this name \
                   ./host"
                .to_owned(),
        });
    }
    let Some(bytes) = subject::sealed_document(path)? else {
        // What is missing is reported as that.
        std::fs::metadata(path).map_err(|error| Failure::File {
            doing: FileStep::Reading,
            path: path.to_owned(),
            error,
        })?;
        return Err(Failure::Usage {
            message: format!("{}: not a result", path.display()),
            help:
                "give a file written by `pathmeter measure --json` or `pathmeter run --json`, or \
                   times: `pathmeter host -o FILE`"
                    .to_owned(),
        });
    };
    match KeptDocument::parse(&bytes) {
        Ok(document) => {
            let seconds = document.began().and_then(|it| i64::try_from(it).ok());
            Ok(Read { bytes, began: seconds.and_then(Date::from_seconds) })
        }
        Err(error) => Err(MeasureError::ResultFile { path: path.to_owned(), error }.into()),
    }
}

/// `#12, cloud.deb, 2026-01-31T12:00:00Z`.
fn about(kept: &KeptResult) -> String {
    format!("#{}, {}, {}", kept.number, kept.label, kept.date)
}

fn show(args: &ShowArgs, file: &Path, screen: &Screen) -> Result<(), Failure> {
    let store = Store::open(file)?;
    let names = store.path_names()?;
    let chosen = if args.paths.is_empty() { Vec::new() } else { matching(&args.paths, &names)? };
    let history = store.history(args.which.label.as_deref(), &chosen)?;
    formats::document(&args.document, file, &history, history_table, screen)
}

fn plot(args: &PlotArgs, file: &Path, screen: &Screen) -> Result<(), Failure> {
    let store = Store::open(file)?;
    let file_of_picture = args.svg.as_deref();
    let outputs = [Output { option: "--svg", contents: Contents::Svg, file: file_of_picture }];
    let [svg] = Named { outputs, inputs: &[file], prints: args.svg.is_none() }.open(screen)?;
    let names = store.path_names()?;
    let chosen = matching(&args.paths, &names)?;
    let history = store.history(args.which.label.as_deref(), &chosen)?;
    match svg {
        Some(svg) => svg.write(history_svg(&history).as_bytes()),
        None => output::print(history_plot(&history, screen.style()).as_bytes()),
    }
}

fn prune(args: &PruneArgs, file: &Path, screen: &Screen) -> Result<(), Failure> {
    let what = match (args.keep, args.before) {
        (Some(kept), _) => Pruned::AllBut(kept),
        (None, Some(date)) => Pruned::Before(date),
        // clap requires one of them.
        (None, None) => Pruned::AllBut(u64::MAX),
    };
    removed(file, (what, args.which.label.as_deref()), args.dry_run, screen)
}

/// Removes results of a history, of one label if that is given, and shows which; `dry` only shows.
fn removed(
    file: &Path,
    (what, label): (Pruned<'_>, Option<&str>),
    dry: bool,
    screen: &Screen,
) -> Result<(), Failure> {
    // A history that is not there is not made.
    drop(Store::open(file)?);
    let mut store = Store::create(file)?;
    let gone = store.prune(what, label, dry)?;
    let verb = if dry { "would be removed" } else { "removed" };
    output::print(kept_table(&gone, verb, screen.style()).as_bytes())?;
    if !dry && !gone.is_empty() {
        // The results are gone either way.
        if let Err(error) = store.shrink() {
            screen.note(&format!("the file is as large as before: {error}"));
        }
    }
    Ok(())
}

/// Gives back all documents that are whole, and names what is not.
fn export(args: &ExportArgs, file: &Path, screen: &Screen) -> Result<(), Failure> {
    let store = Store::open(file)?;
    args.output.as_deref().map_or(Ok(()), refuse_document)?;
    let (found, damage) = store.find_results(args.which.label.as_deref());
    let damage = damage.into_iter().map(Failure::from).collect();
    let mut documents = Documents { store: &store, found, damage, given: 0 };
    documents.put(args.output.as_deref(), file, screen)?;
    let Documents { damage, given, .. } = documents;
    if let Some(place) = args.output.as_deref().filter(|place| !destination::is_stdout(place)) {
        let documents = if given == 1 { "document" } else { "documents" };
        screen.note(&format!("{} has {given} {documents}", place.display()));
    }
    formats::failed(damage)
}

/// What writes one document of a history.
type Put<'a> = &'a mut dyn FnMut(&Found, Vec<u8>) -> Result<(), Failure>;

/// The documents of a history, as they are given back.
struct Documents<'a> {
    store: &'a Store,
    found: Vec<Found>,
    /// What was found not to be whole.
    damage: Vec<Failure>,
    /// How many documents were given back.
    given: usize,
}

impl Documents<'_> {
    fn each(&mut self, put: Put<'_>) -> Result<(), Failure> {
        for result in &self.found {
            match self.store.document(result.number) {
                Ok(bytes) => {
                    self.given += 1;
                    put(result, bytes)?;
                }
                Err(error) => self.damage.push(error.into()),
            }
        }
        Ok(())
    }

    /// Writes them to files in a folder, to one file, or to stdout; `history` is not written over.
    fn put(
        &mut self,
        place: Option<&Path>,
        history: &Path,
        screen: &Screen,
    ) -> Result<(), Failure> {
        let Some(place) = place else {
            return self.each(&mut |_, bytes| output::print(&output::shown_json(line(bytes))));
        };
        if place.is_dir() {
            return self.each(&mut |result, bytes| {
                destination::save(&place.join(file_name(result)), &bytes)
            });
        }
        let (option, contents) = ("--output", Contents::Lines);
        let outputs = [Output { option, contents, file: Some(place) }];
        let [lines] = Named { outputs, inputs: &[history], prints: false }.open(screen)?;
        let mut all = Vec::new();
        self.each(&mut |_, bytes| {
            all.extend(line(bytes));
            Ok(())
        })?;
        lines.map_or(Ok(()), |lines| lines.write(&all))
    }
}

/// Refuses to write over a file that holds one document: what `export` writes holds several.
fn refuse_document(path: &Path) -> Result<(), Failure> {
    if !subject::is_one_document(path)? {
        return Ok(());
    }
    Err(Failure::Usage {
        message: format!("{}: this is a document, and would be overwritten", path.display()),
        help: "name a folder for a file of each document, or a new file for all".to_owned(),
    })
}

/// A document as one line. A line break in JSON is outside its texts, where a space is the same.
fn line(mut document: Vec<u8>) -> Vec<u8> {
    let end = document.iter().rposition(|byte| !byte.is_ascii_whitespace());
    document.truncate(end.map_or(0, |end| end + 1));
    for byte in &mut document {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    document.push(b'\n');
    document
}

/// `000012-cloud.deb.json`: of the subject's name only what any filesystem takes.
fn file_name(result: &Found) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let name: String = result.subject.chars().take(LONGEST_NAME).map(plain).collect();
    format!("{:06}-{name}.json", result.number)
}

/// The history if none is named.
fn default_file() -> Result<PathBuf, Failure> {
    let full = |name: &str| {
        std::env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute())
    };
    let data = full("XDG_DATA_HOME").or_else(|| Some(full("HOME")?.join(".local/share")));
    let data = data.ok_or_else(|| Failure::Usage {
        message:
            "there is no folder for the history: neither XDG_DATA_HOME nor HOME is a full path"
                .to_owned(),
        help: "name the history with --db FILE".to_owned(),
    })?;
    Ok(data.join("pathmeter/history.sqlite"))
}

/// Makes the folder of the default history; one that the user names has to be there.
fn make_folder(file: &Path) -> Result<(), Failure> {
    let default = default_file().ok().filter(|default| default == file);
    let Some(folder) = default.as_deref().and_then(Path::parent) else { return Ok(()) };
    std::fs::create_dir_all(folder).map_err(|error| Failure::File {
        doing: FileStep::Making,
        path: folder.to_owned(),
        error,
    })
}
