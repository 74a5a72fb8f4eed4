//! No two files need each other: Rust's files by what they `use` and name, C's files by what they
//! include, the lab's programs by the functions that they define and call. And no header of the
//! plugins holds state, which is its unit's.
//!
//! A file needs another if it names the other's module, or something that the other defines and a
//! module above only hands on. A `mod` line needs nothing, a part of a module may name the module,
//! and tests are left out; so is the lab's kernel (`lab/README.md` says why).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Item, ItemMod, ItemUse, Macro, UseTree};

/// Files by what each of them needs.
pub(crate) type Needs = BTreeMap<String, BTreeSet<String>>;

/// A module's path below the crate's root.
type Module = Vec<String>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files below `folder` with this extension.
fn files_of(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_of(&path, extension));
        } else if path.extension().is_some_and(|end| end == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// A circle for each file that is in one: from the file by what it needs back to it.
fn circles(needs: &Needs) -> Vec<Vec<String>> {
    let back_to = |start: &String| {
        let mut ways = std::collections::VecDeque::from([vec![start]]);
        let mut seen = BTreeSet::new();
        while let Some(way) = ways.pop_front() {
            for next in needs.get(way[way.len() - 1]).into_iter().flatten() {
                if next == start {
                    return Some(way.into_iter().cloned().collect());
                }
                if seen.insert(next) {
                    ways.push_back(way.iter().copied().chain([next]).collect());
                }
            }
        }
        None
    };
    let mut circles: Vec<Vec<String>> = needs.keys().filter_map(back_to).collect();
    // The same files, begun elsewhere, are the same circle.
    let mut seen = BTreeSet::new();
    circles.retain(|files| seen.insert(files.iter().cloned().collect::<BTreeSet<_>>()));
    circles
}

fn assert_no_circle(needs: &Needs) {
    let circles: Vec<String> = circles(needs).iter().map(|files| files.join(" -> ")).collect();
    assert!(circles.is_empty(), "these files need each other:\n{}", circles.join("\n"));
}

/// What a file of Rust names.
#[derive(Default)]
struct Names {
    /// Paths as they are written, each with the name that it has in this file.
    paths: Vec<(Vec<String>, String)>,
}

impl Names {
    fn add_tree(&mut self, before: &[String], tree: &UseTree) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        match tree {
            UseTree::Path(path) => self.add_tree(&with(&path.ident), &path.tree),
            UseTree::Name(name) => self.paths.push((with(&name.ident), name.ident.to_string())),
            UseTree::Rename(new) => self.paths.push((with(&new.ident), new.rename.to_string())),
            UseTree::Glob(_) => self.paths.push((before.to_vec(), "*".to_owned())),
            UseTree::Group(group) => group.items.iter().for_each(|it| self.add_tree(before, it)),
        }
    }
}

impl<'ast> Visit<'ast> for Names {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if module.ident != "tests" {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.add_tree(&[], &item.tree);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 {
            let parts: Vec<_> = path.segments.iter().map(|part| part.ident.to_string()).collect();
            self.paths.push((parts.clone(), parts[parts.len() - 1].clone()));
        }
        visit::visit_path(self, path);
    }

    /// The arguments of a macro, as far as they are expressions with commas between them.
    fn visit_macro(&mut self, called: &'ast Macro) {
        let arguments = called.parse_body_with(
            syn::punctuated::Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated,
        );
        arguments.iter().flatten().for_each(|argument| self.visit_expr(argument));
    }
}

/// The modules whose files a `path` attribute names, of a crate's root or of a file beside it: the
/// file's place, as a module's path, and the module's own.
fn elsewhere(source: &Path) -> Vec<(Module, Module)> {
    let mut found = Vec::new();
    for path in files_of(source, "rs").iter().filter(|path| path.parent() == Some(source)) {
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let parent = if ["lib", "main"].contains(&stem) { vec![] } else { vec![stem.to_owned()] };
        for item in syn::parse_file(&fs::read_to_string(path).unwrap()).unwrap().items {
            let Item::Mod(module) = item else { continue };
            let Some(file) = module.attrs.iter().find_map(named_file) else { continue };
            let place = file.strip_suffix(".rs").unwrap().trim_end_matches("/mod");
            let place = place.split('/').map(str::to_owned).collect();
            found.push((place, [&parent[..], &[module.ident.to_string()]].concat()));
        }
    }
    found
}

/// The file that an attribute `path` names.
fn named_file(attribute: &syn::Attribute) -> Option<String> {
    let value = attribute.path().is_ident("path").then(|| attribute.meta.require_name_value());
    match &value?.ok()?.value {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(file), .. }) => Some(file.value()),
        _ => None,
    }
}

/// A crate's files, each with its module.
pub(crate) struct Crate {
    files: BTreeMap<Module, (String, syn::File)>,
    /// What a module hands on from others, by its path: the path that it has there.
    handed: BTreeMap<Module, Module>,
}

impl Crate {
    pub(crate) fn read(source: &Path) -> Self {
        let mut files = BTreeMap::new();
        let elsewhere = elsewhere(source);
        for path in files_of(source, "rs") {
            let below = path.strip_prefix(source).unwrap().with_extension("");
            let mut module: Module =
                below.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
            if module.last().is_some_and(|last| ["lib", "main", "mod"].contains(&&last[..])) {
                module.pop();
            }
            if module.iter().any(|part| part == "tests") {
                continue;
            }
            let name = path.strip_prefix(source).unwrap().display().to_string();
            for (place, named) in &elsewhere {
                if let Some(part) = module.strip_prefix(&place[..]) {
                    module = [&named[..], part].concat();
                }
            }
            let text = fs::read_to_string(&path).unwrap();
            // Beside a library's root there may be a program's, which names nothing of its own.
            files.entry(module).or_insert((name, syn::parse_file(&text).unwrap()));
        }
        let mut this = Self { files, handed: BTreeMap::new() };
        this.handed = this.handed_on();
        this
    }

    /// What each module names by `use`: its parts can name that as the module's, `pub` or not.
    fn handed_on(&self) -> BTreeMap<Module, Module> {
        let mut handed = BTreeMap::new();
        for (module, (_, file)) in &self.files {
            for item in &file.items {
                let Item::Use(item) = item else { continue };
                let mut names = Names::default();
                names.add_tree(&[], &item.tree);
                for (path, name) in names.paths {
                    let Some(meant) = self.absolute(module, &path) else { continue };
                    handed.insert([&module[..], &[name]].concat(), meant);
                }
            }
        }
        handed
    }

    /// The path below the crate's root, if it is one of the crate's own.
    fn absolute(&self, module: &Module, path: &[String]) -> Option<Module> {
        let mut from = module.clone();
        let mut path = path;
        match &path[0][..] {
            "crate" => {
                from.clear();
                path = &path[1..];
            }
            "self" => path = &path[1..],
            "super" => {
                while path.first().is_some_and(|part| part == "super") {
                    from.pop();
                    path = &path[1..];
                }
            }
            own => {
                let child = [&module[..], &[own.to_owned()]].concat();
                self.files.get(&child)?;
            }
        }
        Some([from, path.to_vec()].concat())
    }

    /// The module whose file defines this, which modules above may hand on.
    fn holder(&self, path: &Module) -> Module {
        let mut module = path.clone();
        while !self.files.contains_key(&module) {
            if let Some(meant) = self.handed.get(&module) {
                return self.holder(meant);
            }
            module.pop();
        }
        module
    }

    pub(crate) fn needs(&self) -> Needs {
        let mut needs = Needs::new();
        for (module, (name, file)) in &self.files {
            let mut names = Names::default();
            // The root of a crate names its parts to hand them on.
            if !module.is_empty() {
                names.visit_file(file);
            }
            let paths = names.paths.iter().filter_map(|(path, _)| self.absolute(module, path));
            let holders =
                paths.map(|path| self.holder(&path)).filter(|holder| !module.starts_with(holder));
            let files = holders.map(|holder| self.files[&holder].0.clone());
            needs.insert(name.clone(), files.collect());
        }
        needs
    }
}

#[test]
fn no_two_files_of_a_crate_need_each_other() {
    let crates = root().join("crates");
    let folders = fs::read_dir(&crates).unwrap().map(|folder| folder.unwrap().path().join("src"));
    let is_root = |file: &PathBuf| file.ends_with("lib.rs") || file.ends_with("main.rs");
    let roots = folders.flat_map(|folder| files_of(&folder, "rs")).filter(is_root);
    let sources: BTreeSet<PathBuf> = roots.map(|file| file.parent().unwrap().to_owned()).collect();
    assert!(sources.len() > 10, "{sources:?}");
    let mut needs = Needs::new();
    for source in sources {
        let below = source.strip_prefix(&crates).unwrap().display();
        let whole = |file: &String| format!("{below}/{file}");
        for (file, others) in Crate::read(&source).needs() {
            needs.insert(whole(&file), others.iter().map(whole).collect());
        }
    }
    assert_no_circle(&needs);
}

/// A crate of these files, by their paths and texts.
pub(crate) fn crate_of(files: &[(&str, &str)]) -> Crate {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    Crate::read(folder.path())
}

#[test]
fn a_circle_is_found_through_a_name_that_the_root_hands_on() {
    let of = |b: &str| {
        let root = ("lib.rs", "mod a; mod b; pub use a::A; use a::of_a as from_a;");
        circles(&crate_of(&[root, ("a.rs", "use crate::b::B;"), ("b.rs", b)]).needs())
    };
    assert!(of("pub struct B;").is_empty());
    for names_a in ["use crate::{A};", "fn b() { crate::from_a() }", "use super::a::A as Other;"] {
        assert_eq!(of(names_a), [["a.rs", "b.rs"]], "{names_a}");
    }
    assert!(of("mod tests { use crate::A; }").is_empty());
}

#[test]
fn a_circle_is_found_in_a_macro_and_between_the_parts_of_a_module() {
    let (root, module) = (("lib.rs", "mod a;"), ("a.rs", "mod b; mod c; struct A;"));
    let c = ("a/c.rs", "use super::b::B; use super::A;");
    let of = |b| circles(&crate_of(&[root, module, ("a/b.rs", b), c]).needs());
    assert!(of("use super::A;").is_empty());
    let named = of("fn b() { println!(\"{}\", super::c::text()) }");
    assert_eq!(named, [["a/b.rs", "a/c.rs"]]);
}

#[test]
fn a_circle_is_found_through_a_file_that_is_elsewhere() {
    let root = ("lib.rs", "#[path = \"x/a.rs\"] mod a; mod b;");
    let of = |b| circles(&crate_of(&[root, ("x/a.rs", "use crate::b::B;"), ("b.rs", b)]).needs());
    assert!(of("struct B;").is_empty());
    assert_eq!(of("use crate::a::A;"), [["b.rs", "x/a.rs"]]);
}

fn name_of(file: &Path) -> String {
    file.file_name().unwrap().to_str().unwrap().to_owned()
}

/// The names of the headers that a file of C includes.
fn included(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.trim().strip_prefix("#include \"")?.strip_suffix('"'))
}

/// The units below `folder` by what they include: a header and the file of its name are one.
/// A header is named by its path below the folder.
fn units_of(folder: &Path) -> Needs {
    let mut needs = Needs::new();
    for path in [files_of(folder, "h"), files_of(folder, "c")].concat() {
        let text = fs::read_to_string(&path).unwrap();
        let unit = |name: &Path| name.with_extension("").display().to_string();
        let name = unit(path.strip_prefix(folder).unwrap());
        let others = included(&text).map(|name| unit(Path::new(name)));
        let others: Vec<_> = others.filter(|other| *other != name).collect();
        needs.entry(name).or_default().extend(others);
    }
    needs
}

#[test]
fn no_two_units_of_c_need_each_other() {
    for folder in ["plugin", "lab/user", "include"] {
        let needs = units_of(&root().join(folder));
        assert!(!needs.is_empty(), "{folder}");
        assert_no_circle(&needs);
    }
}

/// The lines of a header that define state: variables, with or without a name for their type.
fn state(header: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut inside = "";
    for line in header.lines() {
        let words: Vec<&str> = words(line).collect();
        let first = words.first().copied().unwrap_or_default();
        if !line.starts_with(['\t', ' ', '}']) {
            inside = first;
        }
        if defines_state(line, &words, inside) {
            found.push(line);
        }
    }
    found
}

/// Whether a line does, of a definition that begins with the word `inside`.
fn defines_state(line: &str, words: &[&str], inside: &str) -> bool {
    if line.contains("static ") {
        return !words.iter().any(|word| ["inline", "const"].contains(word));
    }
    if ["extern", "typedef"].contains(&inside) {
        return false;
    }
    if line.starts_with('}') {
        return !words.is_empty();
    }
    let is_type = ["struct", "enum"].contains(&inside) && words.len() == 2;
    let is_statement = line.starts_with(|first: char| first.is_ascii_alphabetic());
    is_statement && line.contains(';') && !line.contains(['(', '{']) && !is_type
}

#[test]
fn no_header_of_the_plugins_holds_state() {
    for path in files_of(&root().join("plugin"), "h") {
        let text = without_comments(&fs::read_to_string(&path).unwrap());
        assert_eq!(state(&text), [""; 0], "{}", path.display());
    }
}

#[test]
fn state_is_found_in_a_header() {
    for text in [
        "static int count;",
        "uint64_t count;",
        "int first = 1;",
        "static struct {\n\tint a;\n} both;",
        "struct a {\n\tint a;\n} both;",
        "static inline void f(void)\n{\n\tstatic int calls;\n}",
        "struct task tasks[4];",
    ] {
        assert!(!state(text).is_empty(), "{text}");
    }
    let none = "extern HIDDEN int count;\nstruct a;\nstruct b {\n\tint a;\n};\n\
        typedef struct {\n\tint a;\n} c;\nenum { A, B = 2 };\nint f(int a);\n\
        static inline int g(void)\n{\n\tstatic const int X = 1;\n\treturn X;\n}\n";
    assert_eq!(state(none), [""; 0]);
}

fn without_comments(text: &str) -> String {
    let pieces = text.split("/*").enumerate();
    let kept = |(number, piece): (usize, &str)| match number {
        0 => piece.to_owned(),
        _ => piece.split_once("*/").unwrap().1.to_owned(),
    };
    pieces.map(kept).collect()
}

/// A header that can be compiled by itself includes all that it needs, so what includes nothing
/// back is needed by nothing that it needs.
#[test]
fn each_header_of_the_plugins_includes_all_that_it_needs() {
    for path in files_of(&root().join("plugin"), "h") {
        let ran = std::process::Command::new("cc")
            .args(["-fsyntax-only", "-w", "-std=gnu11", "-I"])
            .arg(root().join("plugin"))
            .arg("-include")
            .arg(&path)
            .args(["-x", "c", "/dev/null"])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(ran.status.success(), "{}: {said}", path.display());
    }
}

/// The functions that a file of C defines for others: no `static`, and a brace in the next line.
fn defined(text: &str) -> BTreeSet<&str> {
    let lines: Vec<&str> = text.lines().collect();
    let pairs = lines.windows(2).filter(|pair| pair[1] == "{" && pair[0].ends_with(')'));
    let heads = pairs.map(|pair| pair[0]).filter(|head| {
        head.starts_with(|first: char| first.is_ascii_lowercase()) && !head.starts_with("static")
    });
    let names = heads.filter_map(|head| words(head.split('(').next()?).last());
    // Each program has a main of its own.
    names.filter(|name| *name != "main").collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

#[test]
fn no_two_programs_of_the_lab_need_each_other() {
    let files: Vec<(String, String)> = files_of(&root().join("lab/user"), "c")
        .into_iter()
        .filter(|path| path.parent().is_some_and(|folder| folder.ends_with("lab/user")))
        .map(|path| (name_of(&path), fs::read_to_string(&path).unwrap()))
        .collect();
    let mut owners = BTreeMap::new();
    for (name, text) in &files {
        owners.extend(defined(text).into_iter().map(|function| (function, name)));
    }
    assert!(owners.len() > 20, "{}", owners.len());
    let mut needs = Needs::new();
    for (name, text) in &files {
        let used = words(text).filter_map(|word| owners.get(word)).filter(|owner| **owner != name);
        needs.insert(name.clone(), used.map(|owner| (*owner).clone()).collect());
    }
    assert_no_circle(&needs);
}
