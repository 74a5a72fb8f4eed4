//! Windows between two points of the kernel, as a user writes them:
//! `NAME=FROM..TO[,CONDITION…]`, with `FROM|OTHER..TO` for a point that kernels name differently.

use std::fmt;

/// A window between two points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointWindow {
    pub name: String,
    /// What the kernel must have been entered from when it begins.
    pub origins: Origins,
    /// Whether it ends only in the task in which it began.
    pub same_task: bool,
    /// Whether a begin while the window is open begins it anew.
    pub latest: bool,
    /// Whether it lasts from the first `rdtsc` in it to the last, where the kernel itself takes the
    /// time of both points.
    pub stamped: bool,
    /// Which of the begins after a path's begin marker counts, from 1; 0 for all.
    pub nth: u32,
    /// It begins at any of these, or, if a user wrote it, at the first that a kernel has, ...
    pub from: Vec<Point>,
    /// ... and ends at any of these, or at the first.
    pub to: Vec<Point>,
}

/// A place where control must come, and perhaps from where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    pub place: Place,
    /// Functions from one of which control must come; from anywhere, if there is none.
    pub callers: Vec<String>,
}

/// A place in the kernel's code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The first instruction of a function, or one so many bytes after it.
    Function(String, u64),
    /// Where a call of the function returns to.
    Return(String),
    /// An instruction at an address.
    Address(u64),
    /// The first instruction of a program's.
    Program,
}

/// What the CPU may have done when it entered the kernel; anything, if none is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origins(u32);

impl Origins {
    /// It executed a program, and was interrupted.
    pub const PROGRAM: Self = Self(1);
    /// A program made a system call.
    pub const CALL: Self = Self(2);
    /// It executed the kernel, and was interrupted.
    pub const KERNEL: Self = Self(4);
    /// It idled, and was interrupted.
    pub const IDLE: Self = Self(8);

    const WORDS: [(&'static str, Self); 4] = [
        ("user", Self::PROGRAM),
        ("call", Self::CALL),
        ("kernel", Self::KERNEL),
        ("idle", Self::IDLE),
    ];

    /// A sum of the numbers of `enum origin` in `plugin/kernel/points.h`.
    pub fn bits(self) -> u32 {
        self.0
    }

    /// The origins that either of them names.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(name, _)| *name == word).map(|(_, origin)| *origin)
    }
}

/// Most characters of a window's name.
const LONGEST_NAME: usize = 63;

impl PointWindow {
    /// Reads `NAME=FROM..TO[,CONDITION…]`.
    ///
    /// FROM and TO are each `FUNCTION`, `FUNCTION:return`, `FUNCTION+0xOFFSET`, `0xADDRESS`, or
    /// `user`, the first instruction of a program; `@CALLER` after it says from which function
    /// control must come. Several of them with `|` between stand for the first that a kernel has.
    /// Conditions are `from=ORIGIN` (`user`, `call`, `kernel` or `idle`, several
    /// with `+` between), `same-task`, `latest` and `nth=N`.
    ///
    /// # Errors
    /// What of it can't be understood, as a sentence for the user.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, rest) = text.split_once('=').ok_or(
            "it has no name: NAME=FROM..TO, such as wake=try_to_wake_up..finish_task_switch",
        )?;
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+');
        if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(plain) {
            return Err(format!(
                "`{name}` is no name: up to {LONGEST_NAME} of the characters A-Z a-z 0-9 . _ + -"
            ));
        }
        let mut words = rest.split(',');
        let points = words.next().unwrap_or_default();
        let (from, to) = points
            .split_once("..")
            .ok_or_else(|| format!("`{points}` has no two points: FROM..TO"))?;
        let from = Point::parse_each(from)?;
        if from.iter().any(|point| point.place == Place::Program) {
            return Err("a window can't begin in a program: only end there".to_owned());
        }
        let mut window = Self {
            name: name.to_owned(),
            origins: Origins::default(),
            same_task: false,
            latest: false,
            stamped: false,
            nth: 0,
            from,
            to: Point::parse_each(to)?,
        };
        words.try_for_each(|condition| window.add(condition))?;
        Ok(window)
    }

    fn add(&mut self, condition: &str) -> Result<(), String> {
        match condition {
            "same-task" => self.same_task = true,
            "latest" => self.latest = true,
            other => return self.add_value(other),
        }
        Ok(())
    }

    fn add_value(&mut self, condition: &str) -> Result<(), String> {
        let unknown = || {
            format!(
                "`{condition}` is no condition: there are same-task, latest, nth=N, and from= \
                 user, call, kernel or idle"
            )
        };
        match condition.split_once('=').ok_or_else(unknown)? {
            ("nth", number) => {
                let number = number.parse().ok().filter(|number| *number > 0);
                self.nth = number.ok_or_else(unknown)?;
            }
            ("from", words) => {
                for word in words.split('+') {
                    self.origins = self.origins.or(Origins::from_word(word).ok_or_else(unknown)?);
                }
            }
            _ => return Err(unknown()),
        }
        Ok(())
    }
}

impl Point {
    /// The entry of a function.
    pub fn entry(function: &str) -> Self {
        Self { place: Place::Function(function.to_owned(), 0), callers: Vec::new() }
    }

    fn parse_each(text: &str) -> Result<Vec<Self>, String> {
        text.split('|').map(Self::parse).collect()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let (place, caller) = match text.split_once('@') {
            Some((place, caller)) => (place, Some(symbol(caller)?)),
            None => (text, None),
        };
        let place = Place::parse(place)?;
        if caller.is_some() && matches!(place, Place::Return(_) | Place::Program) {
            return Err(format!("`{text}`: only a function's entry or an address has a caller"));
        }
        Ok(Self { place, callers: caller.into_iter().collect() })
    }
}

impl Place {
    fn parse(text: &str) -> Result<Self, String> {
        if text == "user" {
            return Ok(Self::Program);
        }
        if let Some(address) = hexadecimal(text) {
            return address.map(Self::Address);
        }
        if let Some(function) = text.strip_suffix(":return") {
            return symbol(function).map(Self::Return);
        }
        match text.split_once('+') {
            Some((function, offset)) => {
                let offset = hexadecimal(offset).unwrap_or_else(|| {
                    Err(format!("`{offset}` is no offset: write 0x and digits"))
                })?;
                Ok(Self::Function(symbol(function)?, offset))
            }
            None => Ok(Self::Function(symbol(text)?, 0)),
        }
    }
}

/// A number that is written as one, with `0x`.
fn hexadecimal(text: &str) -> Option<Result<u64, String>> {
    let digits = text.strip_prefix("0x")?;
    Some(u64::from_str_radix(digits, 16).map_err(|_| format!("`{text}` is no address")))
}

fn symbol(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    if text.is_empty() || !text.chars().all(plain) || text.starts_with(|c: char| c.is_ascii_digit())
    {
        return Err(format!(
            "`{text}` is no point: FUNCTION, FUNCTION:return, FUNCTION+0xOFFSET, 0xADDRESS or user"
        ));
    }
    Ok(text.to_owned())
}

/// As [`PointWindow::parse`] reads it.
impl fmt::Display for PointWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined =
            |points: &[Point]| points.iter().map(Point::to_string).collect::<Vec<_>>().join("|");
        write!(f, "{}={}..{}", self.name, joined(&self.from), joined(&self.to))?;
        let origins: Vec<_> = Origins::WORDS
            .iter()
            .filter(|(_, origin)| self.origins.0 & origin.0 != 0)
            .map(|(word, _)| *word)
            .collect();
        if !origins.is_empty() {
            write!(f, ",from={}", origins.join("+"))?;
        }
        if self.same_task {
            f.write_str(",same-task")?;
        }
        if self.latest {
            f.write_str(",latest")?;
        }
        if self.nth > 0 {
            write!(f, ",nth={}", self.nth)?;
        }
        Ok(())
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::Function(name, 0) => f.write_str(name)?,
            Place::Function(name, offset) => write!(f, "{name}+{offset:#x}")?,
            Place::Return(name) => write!(f, "{name}:return")?,
            Place::Address(address) => write!(f, "{address:#x}")?,
            Place::Program => f.write_str("user")?,
        }
        if !self.callers.is_empty() {
            write!(f, "@{}", self.callers.join("|"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_written_the_same() {
        for text in [
            "wake=try_to_wake_up..finish_task_switch",
            "a.b-c=ksys_read..ksys_read:return,same-task",
            "x=raise_softirq@run_local_timers..run_timer_softirq,from=user+idle",
            "irq=asm_common_interrupt..user,latest,nth=3",
            "at=do_idle+0x1f..0xffffffff81000010",
            "open=do_sys_openat2|do_sys_open..do_filp_open@path_openat|user",
        ] {
            assert_eq!(PointWindow::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, wrong) in [
            ("a..b", "no name"),
            ("a b=c..d", "`a b` is no name"),
            ("a=b", "`b` has no two points"),
            ("a=..b", "`` is no point"),
            ("a=b..9c", "`9c` is no point"),
            ("a=b+12..c", "`12` is no offset"),
            ("a=0xzz..c", "`0xzz` is no address"),
            ("a=b|..c", "`` is no point"),
            ("a=b|user..c", "can't begin in a program"),
            ("a=user..b", "can't begin in a program"),
            ("a=b..c:return@d", "only a function's entry"),
            ("a=b..c,slowly", "`slowly` is no condition"),
            ("a=b..c,nth=0", "`nth=0` is no condition"),
            ("a=b..c,from=there", "`from=there` is no condition"),
        ] {
            let error = PointWindow::parse(text).unwrap_err();
            assert!(error.contains(wrong), "{text}: {error}");
        }
    }
}
