//! What `--slope` names: a setting, with numbers in braces in place of one.

use pathmeter_vm::Condition;

use crate::condition::under::Under;

/// Settings whose numbers are of things that a kernel without them has none of, and what one is
/// called.
const COUNTED: [(&str, &str); 5] = [
    ("landlock:", "layer"),
    ("audit:", "rule"),
    ("nft:", "rule"),
    ("seccomp:", "filter instruction"),
    ("cgroup:depth=", "group"),
];
/// Most numbers: each is a kernel to boot.
const MOST: usize = 64;

/// A setting under several numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slope {
    /// As the user wrote it.
    pub text: String,
    /// What one more is called.
    pub unit: &'static str,
    /// The numbers, which ascend, and the condition of each; not that of the default.
    pub steps: Vec<(u64, Condition)>,
}

impl Slope {
    /// Reads a setting with numbers in braces. Of things that are counted, 0 is the default.
    ///
    /// # Errors
    /// What is no such setting, or too few numbers to tell a slope.
    pub fn parse(text: &str) -> Result<Self, String> {
        let shape = || {
            format!(
                "{text}: --slope takes one setting with numbers in braces, in quotation marks: \
                 'landlock:{{0,1,2,4}}'"
            )
        };
        let is_one = text.split_whitespace().count() == 1;
        let (before, rest) = text.split_once('{').filter(|_| is_one).ok_or_else(shape)?;
        let (list, after) = rest.split_once('}').ok_or_else(shape)?;
        let counted = unit(before).filter(|_| after.is_empty());
        let numbers = numbers(list).map_err(|what| format!("{text}: {what}"))?;
        let numbers = numbers.into_iter().filter(|number| counted.is_none() || *number > 0);
        let steps: Vec<(u64, Condition)> = numbers
            .map(|number| Ok((number, condition(&format!("{before}{number}{after}"))?)))
            .collect::<Result<_, String>>()?;
        if !(2..=MOST).contains(&steps.len()) {
            return Err(format!("{text}: a slope needs 2 to {MOST} numbers besides the default"));
        }
        Ok(Self { text: text.to_owned(), unit: counted.unwrap_or("unit"), steps })
    }
}

/// What one more of a setting is called, if a kernel without the setting has none of them.
fn unit(before: &str) -> Option<&'static str> {
    let is_program = before.starts_with("bpf:") && before.ends_with('=');
    let counted = || COUNTED.iter().find(|(kind, _)| before == *kind);
    if is_program { Some("program") } else { counted().map(|(_, unit)| *unit) }
}

fn numbers(list: &str) -> Result<Vec<u64>, String> {
    let number = |text: &str| text.parse().map_err(|_| format!("{text:?} is no number"));
    let numbers = list.split(',').map(number).collect::<Result<Vec<u64>, String>>()?;
    if numbers.is_sorted_by(|one, next| one < next) {
        return Ok(numbers);
    }
    Err("each number must be larger than the one before".to_owned())
}

/// The condition of one number.
fn condition(setting: &str) -> Result<Condition, String> {
    let under = Under::parse(setting)?;
    match under.cpu {
        Some(_) => Err(format!("{setting}: a CPU has no slope")),
        None => Ok(under.condition),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_has_its_numbers_and_the_default_is_none_of_them() {
        let slope = Slope::parse("landlock:{0,1,2,16}").unwrap();
        let steps: Vec<_> = slope.steps.iter().map(|(n, it)| (*n, it.to_string())).collect();
        let expected = [(1, "landlock:1"), (2, "landlock:2"), (16, "landlock:16")];
        assert_eq!(steps, expected.map(|(n, it)| (n, it.to_owned())));
        assert_eq!((slope.unit, &*slope.text), ("layer", "landlock:{0,1,2,16}"));
        let other = Slope::parse("sysctl:vm.swappiness={0,10}").unwrap();
        assert_eq!((other.unit, other.steps[0].0), ("unit", 0));
        assert_eq!(Slope::parse("cgroup:depth={1,2}").unwrap().unit, "group");
        let programs = Slope::parse("bpf:fentry:vfs_read={0,1,2}").unwrap();
        assert_eq!((programs.unit, programs.steps.len()), ("program", 2));
    }

    #[test]
    fn what_is_no_slope_is_named() {
        for (text, why) in [
            ("landlock:4", "numbers in braces"),
            ("landlock:{1,2", "numbers in braces"),
            ("landlock:{1,2} audit:1", "numbers in braces"),
            ("landlock:{1,x}", "\"x\" is no number"),
            ("landlock:{2,1}", "larger than the one before"),
            ("landlock:{0,1}", "2 to 64 numbers besides the default"),
            ("landlock:{1,17}", "landlock:17: landlock:N has 1 to 16 layers"),
            ("audit:{-1,2}", "\"-1\" is no number"),
            ("nosuch:{1,2}", "nosuch:1: a setting is"),
        ] {
            let told = Slope::parse(text).unwrap_err();
            assert!(told.contains(why), "{told}");
        }
    }
}
