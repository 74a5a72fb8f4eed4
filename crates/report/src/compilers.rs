//! What compiled two kernels, in few words.

use pathmeter_model::{Compilers, clean};

/// `The kernels were built by different compilers: gcc 12.2.0 and clang 19.1.7.` Nothing if they
/// are of one version.
pub(crate) fn describe_compilers(compilers: &Compilers) -> Option<String> {
    let [base, new] = [&compilers.base, &compilers.new].map(|text| compiler(text));
    let differ = base != new;
    differ.then(|| format!("The kernels were built by different compilers: {base} and {new}."))
}

/// Name and version in a compiler's words for itself: `gcc-12 (Debian 12.2.0-14) 12.2.0`,
/// `gcc version 8.3.0 (Debian 8.3.0-6)` or `Debian clang version 19.1.7 (3)`; all of them if they
/// are in another order.
fn compiler(text: &str) -> String {
    let is_version =
        |word: &&str| word.starts_with(|first: char| first.is_ascii_digit()) && word.contains('.');
    let after = |marker| text.split_once(marker)?.1.split([' ', '-']).next().filter(is_version);
    if let Some(version) = after("clang version ") {
        return format!("clang {version}");
    }
    let is_gcc = text.split(' ').next().is_some_and(|name| name.contains("gcc"));
    // The date of a snapshot may follow the version.
    let last = || text.rsplit(' ').take_while(|word| !word.ends_with(')')).find(is_version);
    match after("gcc version ").or_else(last) {
        Some(version) if is_gcc => format!("gcc {version}"),
        _ => clean(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two(base: &str, new: &str) -> Option<String> {
        describe_compilers(&Compilers { base: base.to_owned(), new: new.to_owned() })
    }

    #[test]
    fn compilers_of_two_versions_are_told_in_few_words() {
        let twelve = "x86_64-linux-gnu-gcc-12 (Debian 12.2.0-14) 12.2.0";
        assert_eq!(
            two(twelve, "Debian clang version 19.1.7 (3~deb12u1)").unwrap(),
            "The kernels were built by different compilers: gcc 12.2.0 and clang 19.1.7."
        );
        for (text, words) in [
            ("Ubuntu clang version 14.0.0-1ubuntu1.1", "clang 14.0.0"),
            ("gcc-10 (Debian 10.2.1-6) 10.2.1 20210110", "gcc 10.2.1"),
            ("gcc version 8.3.0 (Debian 8.3.0-6)", "gcc 8.3.0"),
            ("occ 3.1", "occ 3.1"),
        ] {
            assert!(two(twelve, text).unwrap().ends_with(&format!(" and {words}.")), "{text}");
        }
        assert_eq!(two(twelve, "gcc (Debian 12.2.0-14+deb12u1) 12.2.0"), None);
    }
}
