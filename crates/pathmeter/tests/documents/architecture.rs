//! What knows the guest's architecture is in one folder of each crate, `arch/`, so that a second
//! architecture is a second folder: words of x86's are nowhere else in these crates' code.
//!
//! Left out are tests, whose examples may be x86's, the catalogue of paths, and the few files of
//! [`ADMITTED`].

use std::path::Path;

use crate::markdown::{files, read};

/// The crates that have the folder.
const CRATES: [&str; 3] = ["agent", "probes", "vm"];

/// Words that only x86 has: instructions, registers, ports, devices.
const WORDS: &[&str] = &[
    "0x10a", "0x505", "0xe9", "apic", "asm!", "bzimage", "cpuid", "eax", "ebx", "ecx", "edx",
    "eflags", "i8042", "int80", "ioperm", "iopl", "isa", "lapic", "microvm", "msr", "nopl", "pvh",
    "rax", "rbp", "rbx", "rcx", "rdi", "rdmsr", "rdpid", "rdpmc", "rdtsc", "rdtscp", "rdx",
    "rflags", "rip", "rsi", "rsp", "sysenter", "tsc", "x86", "x86_64",
];

/// Files that have some of them all the same: which, and why.
const ADMITTED: &[(&str, &[&str], &str)] = &[
    ("probes/src/clock.rs", &["asm!"], "markers, whose code is the architecture's"),
    ("probes/src/lab.rs", &["tsc"], "the lab kernel is x86's, and so are its structures"),
    ("probes/src/lib.rs", &["int80"], "a part is named after the entry that it makes"),
    ("probes/src/switch.rs", &["ioperm"], "the thread whose measurement it is"),
    ("probes/src/sys.rs", &["ioperm", "iopl"], "calls among the others, whose code stays in order"),
    ("probes/src/syscall.rs", &["int80"], "the group has a path by each entry"),
    (
        "vm/src/condition/proof/table.rs",
        &["tsc", "x86"],
        "Linux's words and where they follow from",
    ),
];

/// The words in a text: letters, digits, `_` and `!` belong to one.
fn words(text: &str) -> impl Iterator<Item = String> {
    let belongs = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '!';
    text.split(move |c| !belongs(c)).map(str::to_ascii_lowercase)
}

/// The words of x86's in a file of Rust, but for its tests and where it names the folder.
fn find_arch_words(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    let lines = code.lines().filter(|line| {
        let line = line.trim_start();
        !(line.starts_with("#[path = \"arch/") || line.starts_with("#[cfg(target_arch = \""))
    });
    let words = lines.flat_map(words).filter(|word| WORDS.contains(&&word[..]));
    words.collect()
}

fn is_elsewhere(path: &str) -> bool {
    let inside = |source: &str| path.strip_prefix(source).map(Path::new);
    CRATES.iter().any(|name| {
        let below = inside(&format!("crates/{name}/src/"));
        below.is_some_and(|below| {
            // Names of paths are often names of instructions.
            let folder = below.iter().next().and_then(|first| Path::new(first).file_stem());
            folder.is_none_or(|folder| folder != "arch" && folder != "catalogue")
        })
    }) && !path.ends_with("tests.rs")
}

#[test]
fn what_is_x86s_own_is_in_the_folder_for_it() {
    let sources = files(|name| Path::new(name).extension().is_some_and(|end| end == "rs"));
    let sources: Vec<_> = sources.iter().filter(|path| is_elsewhere(path)).collect();
    assert!(sources.len() > 60, "{sources:?}");
    for path in sources {
        let admitted = ADMITTED.iter().find(|(file, ..)| path.ends_with(file));
        let expected = admitted.map_or(&[][..], |(_, words, _)| *words);
        let mut found = find_arch_words(&read(path));
        found.sort();
        found.dedup();
        assert_eq!(found, expected, "{path}");
    }
}

#[test]
fn a_word_is_found_in_code_and_in_comments_and_not_in_tests() {
    assert_eq!(
        find_arch_words("//! Intel's MSR.\nfn a() { asm!(\"rdtsc\") }"),
        ["msr", "asm!", "rdtsc"]
    );
    assert!(
        find_arch_words("fn message() {}\n#[cfg(test)]\nmod tests { const A: &str = \"x86\"; }")
            .is_empty()
    );
    assert!(find_arch_words("#[path = \"arch/x86_64/flags.rs\"]\nmod flags;").is_empty());
}
