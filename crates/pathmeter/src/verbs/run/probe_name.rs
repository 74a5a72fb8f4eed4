//! Which names a probe can have.

/// Most bytes of a region's name (`include/pathmeter.h`).
const MAX_NAME: usize = 63;
/// Names of the folder's other files, of the Makefile's targets, and of what make reads first.
const TAKEN: [&str; 6] = ["makefile", "gnumakefile", "readme.md", "pathmeter.h", "run", "compare"];

/// Whether this can be the name of a probe: of its region, its folder and its program.
pub(super) fn probe_name(word: &str) -> Result<String, String> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._+-".contains(&byte);
    if word.len() > MAX_NAME || !word.bytes().all(fits) {
        return Err(format!("a name has at most {MAX_NAME} of the characters A-Z a-z 0-9 . _ + -"));
    }
    if !word.starts_with(|first: char| first.is_ascii_alphanumeric()) {
        return Err("a name begins with a letter or a digit".to_owned());
    }
    if TAKEN.iter().any(|taken| taken.eq_ignore_ascii_case(word)) {
        return Err("a file or a target of the Makefile has this name; choose another".to_owned());
    }
    Ok(word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_regions_that_can_be_files_too() {
        let longest = "x".repeat(MAX_NAME);
        for right in ["probe", "0", "my-ioctl.v2+1_a", &longest] {
            assert_eq!(probe_name(right).as_deref(), Ok(right));
        }
        let longer = longest.clone() + "x";
        let wrong = [
            "",
            ".",
            "..",
            "-o",
            "+x",
            "_",
            "a b",
            "a/b",
            "ä",
            "a\n",
            "@NAME@",
            &longer,
            "run",
            "Makefile",
            "makefile",
            "GNUmakefile",
            "pathmeter.h",
            "README.md",
            "compare",
        ];
        for wrong in wrong {
            assert!(probe_name(wrong).is_err(), "{wrong:?}");
        }
    }
}
