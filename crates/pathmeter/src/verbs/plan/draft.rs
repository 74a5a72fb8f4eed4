//! From what a user wants to a plan: patterns become files, files hashes, and all of it cells.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use glob::MatchOptions;
use pathmeter_plan::{
    FileStep, Placed, Plan, PlanImage, PlanProgram, PlanSchema, Wanted, WantedError, WantedProgram,
};

use super::args::DraftArgs;
use super::bench::{Bench, Options};
use super::commits::Commits;
use super::conditions::conditions;
use super::loaded::{absolute, change_to, folder_of, qemu};
use super::product::Product;
use crate::failure::{Exit, Failure};
use crate::screen::contents::{Contents, Output};
use crate::screen::destination::save;
use crate::screen::output::{self, Screen};
use crate::subject_files::find_kernel;
use pathmeter_measure::session::cell::CellProgram;
use pathmeter_measure::subject::image::Image;
use pathmeter_measure::subject::{is_document_file, lab_words};
use pathmeter_model::suggestion::add_suggestion;

/// Most bytes of a file of wishes.
const MOST_BYTES: u64 = 4 << 20;

/// Makes the plan and puts it out.
pub(super) fn run(args: &DraftArgs, screen: &Screen) -> Result<Exit, Failure> {
    let Some(file) = &args.file else {
        let (message, help) = ("no file is named", "pathmeter plan FILE.toml -o plan.json");
        return Err(Failure::Usage { message: message.to_owned(), help: help.to_owned() });
    };
    let (option, contents) = ("--output", Contents::Json);
    Output { option, contents, file: args.output.as_deref() }.refuse_promise()?;
    let wanted = read(file)?;
    let output = args.output.as_deref().map(absolute).transpose()?;
    let options = Options {
        qemu: qemu(args.qemu.as_deref())?,
        memory: wanted.memory,
        perturb: wanted.perturb,
        append: wanted.append.clone(),
        modules: wanted.modules.clone(),
        ..Options::default()
    };
    let home = absolute(&folder_of(file))?;
    let folder = output.as_deref().map_or_else(|| Ok(".".to_owned()), |it| between(it, &home))?;
    change_to(&home)?;
    let named = file.display().to_string();
    let draft = Draft { named: &named, bench: Bench::new(options), screen };
    let plan = Plan { folder, shards: args.shards, ..draft.plan(&wanted)? };
    let bytes = output::json(&plan)?;
    match output {
        None => output::print(&bytes)?,
        Some(output) => {
            save(&output, &bytes)?;
            screen.note(&format!("{}: {}", output.display(), about(&plan)));
            screen.note(&describe_needs(&plan, &output));
        }
    }
    Ok(Exit::Done)
}

/// `12 cells: 2 kernels, 1 program`.
fn about(plan: &Plan) -> String {
    let count = |number: usize, what: &str| match number {
        1 => format!("1 {what}"),
        number => format!("{number} {what}s"),
    };
    let (cells, kernels) = (count(plan.cells.len(), "cell"), count(plan.images.len(), "kernel"));
    let programs = match plan.programs.len() {
        0 => String::new(),
        number => format!(" and {}", count(number, "program")),
    };
    format!("{cells} of {kernels}{programs}")
}

/// What another machine needs to measure the plan's cells, and the command that does.
fn describe_needs(plan: &Plan, output: &Path) -> String {
    let mut files: Vec<&str> = plan.images.iter().filter_map(|it| it.place.as_deref()).collect();
    files.sort_unstable();
    let absolute = files.iter().any(|file| file.starts_with('/'));
    let place = if absolute { "at the same places" } else { "beside it" };
    let names = match &files[..] {
        [] => String::new(),
        [one] => format!(", {one} {place}"),
        [one, two] => format!(", {one} and {two} {place}"),
        [one, more @ ..] => format!(", {one} and {} more kernels {place}", more.len()),
    };
    let programs = if plan.programs.is_empty() { "" } else { ", the programs' files" };
    let name = output.file_name().unwrap_or(output.as_os_str()).display();
    format!(
        "another machine needs the plan{names}{programs}, pathmeter {} and QEMU {}; `pathmeter \
         plan run {name} --results FOLDER` measures",
        plan.pathmeter, plan.qemu
    )
}

/// Reads a file of wishes.
///
/// # Errors
/// There is none, or something in it is wrong.
pub(super) fn read(path: &Path) -> Result<Wanted, Failure> {
    use std::io::Read as _;
    let failed = |error| Failure::File { doing: FileStep::Reading, path: path.to_owned(), error };
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(MOST_BYTES).read_to_string(&mut text).map_err(failed)?;
    Wanted::parse(&text).map_err(|WantedError { line, what, help }| {
        draft_error(&path.display().to_string(), line, &add_suggestion(&what), &help)
    })
}

fn draft_error(file: &str, line: Option<usize>, what: &str, help: &str) -> Failure {
    let line = line.map_or_else(String::new, |line| format!(":{line}"));
    Failure::Usage { message: format!("{file}{line}: {what}"), help: help.to_owned() }
}

/// The folder `home` as the plan at `plan` names it: relative if it lies below the plan's own.
fn between(plan: &Path, home: &Path) -> Result<String, Failure> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (of_plan, home) = (real(&folder_of(plan)), real(home));
    let below = home.strip_prefix(&of_plan).map(Path::to_owned).unwrap_or(home);
    let below = if below.as_os_str().is_empty() { PathBuf::from(".") } else { below };
    text(&below)
}

fn text(path: &Path) -> Result<String, Failure> {
    path.to_str().map(str::to_owned).ok_or_else(|| Failure::Usage {
        message: format!("{}: a plan names files in UTF-8", path.display()),
        help: "rename it".to_owned(),
    })
}

/// A plan that is being made.
struct Draft<'a> {
    /// The file of wishes, as errors name it.
    named: &'a str,
    bench: Bench,
    screen: &'a Screen,
}

impl Draft<'_> {
    fn plan(&self, wanted: &Wanted) -> Result<Plan, Failure> {
        let cpus = self.cpus(wanted)?;
        let conditions = conditions(&self.bench, wanted)
            .map_err(|(line, failure)| self.in_line(line, failure))?;
        let images = self.images(wanted)?;
        let programs = self.programs(&wanted.programs)?;
        let usual = self.bench.session(cpus[0].as_deref())?;
        let guest = self.bench.guest(None)?;
        let sessions = cpus.iter().map(|cpu| Ok((cpu, self.bench.session(cpu.as_deref())?)));
        let sessions: Vec<_> = sessions.collect::<Result<_, Failure>>()?;
        let packed: Vec<_> = programs.iter().map(|(program, _)| program).collect();
        let product = Product {
            bench: &self.bench,
            conditions: &conditions,
            cpus: &sessions,
            paths: wanted.paths,
            programs: &packed,
        };
        let cells = product.cells(&images.iter().map(|(image, _)| image).collect::<Vec<_>>())?;
        let plan = Plan {
            schema: PlanSchema::V1,
            pathmeter: env!("CARGO_PKG_VERSION").to_owned(),
            qemu: usual.qemu_version().to_owned(),
            agent_sha256: usual.agent_sha256().to_owned(),
            folder: String::new(),
            shards: None,
            memory_mib: guest.memory,
            perturb: guest.runs(),
            append: guest.append,
            modules: wanted.modules.clone(),
            images: images.into_iter().map(|(_, image)| image).collect(),
            programs: programs.into_iter().map(|(_, program)| program).collect(),
            cells,
        };
        Ok(plan.canonical())
    }

    /// The CPUs; one that is not named is the usual one.
    fn cpus(&self, wanted: &Wanted) -> Result<Vec<Option<String>>, Failure> {
        let check = |cpu: &Placed| {
            let session = self.bench.session(Some(&cpu.text));
            session.map_err(|failure| self.in_line(cpu.line, failure))?;
            Ok(Some(cpu.text.clone()))
        };
        let named: Vec<_> = wanted.cpus.iter().map(check).collect::<Result<_, Failure>>()?;
        Ok(if named.is_empty() { vec![None] } else { named })
    }

    /// What is wrong with something in the file, with its line.
    fn in_line(&self, line: usize, failure: Failure) -> Failure {
        match failure {
            Failure::Usage { message, help } => {
                draft_error(self.named, Some(line), &message, &help)
            }
            other => other,
        }
    }

    /// The kernels, each once: a file that lies in several places is one.
    fn images(&self, wanted: &Wanted) -> Result<Vec<(Image, PlanImage)>, Failure> {
        let mut names: Vec<PathBuf> = Vec::new();
        for subject in &wanted.subjects {
            names.extend(self.files(subject)?);
        }
        for (line, commits) in &wanted.commits {
            let commits = Commits::of(commits).and_then(|it| it.built(self.named, self.screen));
            names.extend(commits.map_err(|failure| self.in_line(*line, failure))?);
        }
        if names.is_empty() {
            let help = "correct the build command, and remove what it printed";
            return Err(draft_error(self.named, None, "no commit could be built", help));
        }
        names.sort();
        names.dedup();
        let opened = names.iter().map(|name| {
            let image = Image::open(&find_kernel(name, self.screen)?)?;
            let place = lab_words(name).is_none().then(|| text(name)).transpose()?;
            let (subject, sha256) = (image.subject().name, image.sha256().to_owned());
            Ok::<_, Failure>((image, PlanImage { subject, sha256, place }))
        });
        let mut images = Failure::gather(opened)?;
        images.sort_by(|(_, one), (_, other)| one.cmp(other));
        let mut seen: HashMap<String, Vec<usize>> = HashMap::new();
        let mut kept: Vec<(Image, PlanImage)> = Vec::new();
        for (image, about) in images {
            let alike = seen.entry(about.sha256.clone()).or_default();
            if let Some(at) = alike.iter().find(|at| kept[**at].0.is_same_as(&image)) {
                self.note_same(&kept[*at].1, &about);
                continue;
            }
            alike.push(kept.len());
            kept.push((image, about));
        }
        Ok(kept)
    }

    fn note_same(&self, kept: &PlanImage, other: &PlanImage) {
        let name = |image: &PlanImage| image.place.as_ref().unwrap_or(&image.subject).clone();
        self.screen.note(&format!(
            "{} is the same kernel as {}, and is planned once, as that",
            name(other),
            name(kept)
        ));
    }

    /// The files that a subject names; those that a pattern matches.
    fn files(&self, subject: &Placed) -> Result<Vec<PathBuf>, Failure> {
        let path = Path::new(&subject.text);
        let subject_error =
            |what: &str, help: &str| draft_error(self.named, Some(subject.line), what, help);
        let is_pattern = subject.text.contains(['*', '?', '[']) && !path.exists();
        if lab_words(path).is_some() || !is_pattern {
            return self.refuse_results(vec![path.to_owned()], subject.line);
        }
        let options = MatchOptions { require_literal_leading_dot: true, ..MatchOptions::new() };
        let found = glob::glob_with(&subject.text, options).map_err(|error| {
            subject_error(&format!("{}: {error}", subject.text), "correct the pattern")
        })?;
        let found = found.collect::<Result<Vec<_>, _>>().map_err(|error| Failure::File {
            doing: FileStep::Reading,
            path: error.path().to_owned(),
            error: error.into(),
        })?;
        if found.is_empty() {
            let help = "paths are relative to the folder of this file";
            return Err(subject_error(&format!("{}: no file matches", subject.text), help));
        }
        self.refuse_results(found, subject.line)
    }

    fn refuse_results(&self, files: Vec<PathBuf>, line: usize) -> Result<Vec<PathBuf>, Failure> {
        match files.iter().find(|file| is_document_file(file)) {
            None => Ok(files),
            Some(file) => {
                let what = format!("{}: a document, and no kernel", file.display());
                Err(draft_error(
                    self.named,
                    Some(line),
                    &what,
                    "name kernels, or a narrower pattern",
                ))
            }
        }
    }

    fn programs(
        &self,
        wanted: &[WantedProgram],
    ) -> Result<Vec<(CellProgram, PlanProgram)>, Failure> {
        let pack = |wanted: &WantedProgram| {
            let note = |note: &pathmeter_pack::Note| self.screen.note(&note.to_string());
            let program = self.bench.pack(wanted, note)?;
            let WantedProgram { command, root, file, env, stdin, exit_code } = wanted.clone();
            let about = PlanProgram {
                packed_sha256: program.packed.sha256().to_owned(),
                command,
                root,
                file,
                env,
                stdin,
                exit_code,
                files: program.packed.file_hashes(),
            };
            Ok::<_, Failure>((program, about))
        };
        Failure::gather(wanted.iter().map(pack))
    }
}
