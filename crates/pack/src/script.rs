//! The `#!` line of a script, as the kernel and `env` read it.
//!
//! Sources: Linux's `fs/binfmt_script.c`; `env(1)` of coreutils.

/// How many scripts may be each other's interpreters: the kernel gives up at one more.
pub(crate) const MAX_SCRIPTS: usize = 5;
/// Linux's `BINPRM_BUF_SIZE`: it looks at no more of a file.
pub(crate) const LINE_BYTES: usize = 256;

/// What a `#!` line states.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) interpreter: String,
    /// The rest of the line, which is handed over as one word.
    pub(crate) argument: Option<String>,
}

/// Whether a file is a script.
pub(crate) fn is_script(data: &[u8]) -> bool {
    data.starts_with(b"#!")
}

/// Reads the first line of a script.
pub(crate) fn line(data: &[u8]) -> Result<Line, &'static str> {
    let head = &data[..LINE_BYTES.min(data.len())];
    let line = match head.iter().position(|byte| *byte == b'\n') {
        Some(end) => &head[..end],
        None if data.len() < LINE_BYTES => head,
        None => return Err("is cut: the kernel reads 256 bytes of it"),
    };
    let line = line.split(|byte| *byte == 0).next().unwrap_or_default();
    let text = std::str::from_utf8(line.get(2..).unwrap_or_default()).map_err(|_| "is no UTF-8")?;
    let text = text.trim_matches([' ', '\t']);
    let (interpreter, argument) = text.split_once([' ', '\t']).unwrap_or((text, ""));
    if interpreter.is_empty() {
        return Err("names no interpreter");
    }
    if interpreter.ends_with('\r') || argument.ends_with('\r') {
        return Err("ends with a carriage return, which becomes part of the last word");
    }
    if !interpreter.starts_with('/') {
        return Err("names its interpreter by a relative path");
    }
    let argument = argument.trim_start_matches([' ', '\t']);
    let argument = (!argument.is_empty()).then(|| argument.to_owned());
    Ok(Line { interpreter: interpreter.to_owned(), argument })
}

impl Line {
    /// The program that the interpreter looks for, if the interpreter is `env`.
    pub(crate) fn for_env(&self) -> Option<String> {
        if self.interpreter.rsplit('/').next() != Some("env") {
            return None;
        }
        let argument = self.argument.as_deref()?;
        let split = ["-S", "-vS", "-iS", "-viS", "-ivS", "--split-string="];
        match split.iter().find_map(|option| argument.strip_prefix(option)) {
            Some(words) => command(words.split([' ', '\t']).map(unquoted)),
            None => command(std::iter::once(argument.to_owned())),
        }
    }
}

fn unquoted(word: &str) -> String {
    word.replace(['"', '\''], "")
}

/// The first of `env`'s words that is neither option nor variable.
fn command(words: impl Iterator<Item = String>) -> Option<String> {
    const WITH_VALUE: [&str; 4] = ["-u", "--unset", "-C", "--chdir"];
    let mut words = words.filter(|word| !word.is_empty());
    while let Some(word) = words.next() {
        if WITH_VALUE.contains(&word.as_str()) {
            words.next();
        } else if !word.starts_with('-') && !word.contains('=') {
            return Some(word);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (String, Option<String>) {
        let line = line(text.as_bytes()).unwrap();
        (line.interpreter, line.argument)
    }

    #[test]
    fn a_line_gives_an_interpreter_and_one_argument() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(read("#!/bin/sh\necho"), ("/bin/sh".to_owned(), None));
        assert_eq!(read("#! \t/bin/sh  -e -u \t\n"), ("/bin/sh".to_owned(), some("-e -u")));
        assert_eq!(read("#!/bin/sh"), ("/bin/sh".to_owned(), None));
    }

    #[test]
    fn a_line_that_the_kernel_refuses_is_refused() {
        let long = format!("#!/{}\n", "a".repeat(LINE_BYTES - 3));
        for bad in ["#!", "#!  \n", "#!sh\n", "#!bin/sh\n", "#!/bin/sh\r\n", &long] {
            assert!(line(bad.as_bytes()).is_err(), "{bad:?}");
        }
        let longest = format!("#!/{}\n", "a".repeat(LINE_BYTES - 4));
        assert!(line(longest.as_bytes()).is_ok());
    }

    #[test]
    fn env_is_asked_for_the_program_it_starts() {
        let cases = [
            ("#!/usr/bin/env python3\n", Some("python3")),
            ("#!/usr/bin/env -S python3 -u\n", Some("python3")),
            ("#!/usr/bin/env -S -i A=1 -u HOME perl -w\n", Some("perl")),
            ("#!/usr/bin/env --split-string='awk' -f\n", Some("awk")),
            ("#!/usr/bin/env\n", None),
            ("#!/usr/bin/envy python3\n", None),
        ];
        for (text, name) in cases {
            let found = line(text.as_bytes()).unwrap().for_env();
            assert_eq!(found.as_deref(), name, "{text}");
        }
    }
}
