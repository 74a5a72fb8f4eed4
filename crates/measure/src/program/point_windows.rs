//! `run --window`: what the kernel executes between two points of its code while a program runs, as
//! rows beside the program's regions.

use std::fmt;

use pathmeter_model::{Check, PathResult, Unit, lower_median};
use pathmeter_trace::{
    AccountWindow, Event, KernelWindow, LoosePoints, PointTable, PointWindow, RegionWindow,
};

use crate::error::MeasureError;
use crate::program::executions::gather_executions;
use crate::subject::image::Image;
use crate::subject::points;

/// Longest name of a region, in bytes; `plugin/program/windows.h` takes longer ones.
const LONGEST_REGION: usize = 63;

/// A window between two points of the kernel, in a program of the user's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramWindow {
    window: PointWindow,
    /// The program's region that must be open when it begins.
    inside: Option<String>,
}

impl ProgramWindow {
    /// Reads `NAME=FROM..TO[,CONDITION…]`, as [`PointWindow::parse`]; there is one more condition,
    /// `inside=REGION`.
    ///
    /// # Errors
    /// What of it can't be understood, as a sentence for the user.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (mut words, mut inside) = (Vec::new(), None);
        for word in text.split(',') {
            match word.strip_prefix("inside=") {
                Some(region) => inside = Some(region_name(region)?),
                None => words.push(word),
            }
        }
        let window = PointWindow::parse(&words.join(","))?;
        if window.name.starts_with("user.") {
            return Err(format!("`{}`: names with user. are those of regions", window.name));
        }
        Ok(Self { window, inside })
    }

    /// What its row is called.
    pub fn name(&self) -> &str {
        &self.window.name
    }
}

fn region_name(region: &str) -> Result<String, String> {
    let region = region.strip_prefix("user.").unwrap_or(region);
    let plain = |c: char| c.is_ascii_graphic() && c != ',';
    if region.is_empty() || region.len() > LONGEST_REGION || !region.chars().all(plain) {
        return Err(format!("`{region}` is no name of a region"));
    }
    Ok(region.to_owned())
}

/// As [`ProgramWindow::parse`] reads it.
impl fmt::Display for ProgramWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.window)?;
        self.inside.iter().try_for_each(|region| write!(f, ",inside={region}"))
    }
}

/// Refuses two windows of one name.
pub fn refuse_twice(windows: &[ProgramWindow]) -> Result<(), MeasureError> {
    let mut names: Vec<&str> = windows.iter().map(ProgramWindow::name).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(MeasureError::Request {
            message: format!("there are two windows {}", pair[0]),
            help: "give each window a name of its own".to_owned(),
        }),
        None => Ok(()),
    }
}

/// The windows that are asked for, in one kernel.
#[derive(Default)]
pub struct ProgramWindows {
    /// The points, as the plugin reads them.
    pub table: PointTable,
    windows: Vec<ProgramWindow>,
    /// Of each, which points it has here if several were named.
    chosen: Vec<Vec<Check>>,
}

impl ProgramWindows {
    /// Finds them in the kernel in `image`, whose `/proc/kallsyms` has this text.
    ///
    /// # Errors
    /// A point is not in it.
    pub fn find(
        image: &Image,
        kallsyms: &[u8],
        windows: &[ProgramWindow],
    ) -> Result<Self, MeasureError> {
        if windows.is_empty() {
            return Ok(Self::default());
        }
        let finder = points::finder(image, kallsyms)?;
        let mut table = finder.table();
        for asked in windows {
            let added = finder.add(&mut table, &asked.window, []);
            added.map_err(|error| points::window_failure(image, asked, &error, &finder))?;
        }
        let chosen = windows.iter().map(|asked| points::alternatives(&asked.window, &finder));
        Ok(Self { table, windows: windows.to_vec(), chosen: chosen.collect() })
    }

    /// The regions that windows must begin in, each after the window's number.
    pub fn inside(&self) -> Vec<(usize, &str)> {
        let windows = self.windows.iter().enumerate();
        windows.filter_map(|(number, asked)| Some((number, asked.inside.as_deref()?))).collect()
    }

    /// The name of the window with this number.
    pub fn name(&self, number: u32) -> Option<&str> {
        self.windows.get(usize::try_from(number).ok()?).map(ProgramWindow::name)
    }

    /// A row for each window of these runs: its samples are of the later runs, if there are any, as
    /// those of regions are. `lines` tells whether lines of data were counted.
    pub fn rows(&self, runs: &[Vec<AccountWindow>], lines: bool) -> Vec<PathResult> {
        let sampled = if runs.len() > 1 { &runs[1..] } else { runs };
        let to_row = |(number, asked): (usize, &ProgramWindow)| {
            let of_run = |run: &'_ Vec<AccountWindow>| {
                run.iter().find(|window| window.number as usize == number).cloned()
            };
            let all: Vec<AccountWindow> = runs.iter().filter_map(of_run).collect();
            let sampled: Vec<_> =
                sampled.iter().map(|run| of_run(run).unwrap_or_default().windows).collect();
            let mut row = row(asked.name(), &all, &sampled, lines);
            row.checks.extend(self.chosen.get(number).cloned().unwrap_or_default());
            row
        };
        self.windows.iter().enumerate().map(to_row).collect()
    }
}

fn row(
    name: &str,
    all: &[AccountWindow],
    sampled: &[Vec<KernelWindow>],
    lines: bool,
) -> PathResult {
    let checks = checks(all, sampled, lines);
    if sampled.iter().all(Vec::is_empty) {
        let ever = all.iter().any(|window| window.count > 0);
        let only_cold = "it began in the first run only, which is cold";
        let reason = if ever { only_cold } else { "it never began" };
        return PathResult::unsupported(name, Unit::Instructions, reason).noticing(checks);
    }
    let counts = |run: &Vec<KernelWindow>| run.iter().map(|one| one.counts.clone()).collect();
    let runs: Vec<Vec<RegionWindow>> = sampled.iter().map(counts).collect();
    let open = sampled.iter().flatten().enumerate().filter(|(_, window)| !window.ended);
    let open = open.map(|(place, _)| u32::try_from(place).unwrap_or(u32::MAX)).collect();
    gather_executions(name, &runs, &[], checks).with_lower_bounds(open)
}

/// The events of lines, as they are called beside a region or a window.
pub(crate) const LINES: [(&str, Event); 2] =
    [("lines", Event::DataLines), ("visits of lines", Event::LineVisits)];

/// What else is known of a window: in all runs together, or what stands for the executions that are
/// its samples.
fn checks(all: &[AccountWindow], sampled: &[Vec<KernelWindow>], lines: bool) -> Vec<Check> {
    let windows = || all.iter().flat_map(|window| &window.windows);
    let samples = || sampled.iter().flatten();
    let sum = |count: fn(&AccountWindow) -> u64| all.iter().map(count).fold(0, u64::saturating_add);
    let loose: LoosePoints = all.iter().map(|window| window.loose).sum();
    let of_event = |event| lower_median(samples().map(|window| window.counts.events.of(event)));
    let always = [
        ("executions", sum(|window| window.count)),
        ("user code", lower_median(samples().map(|window| window.counts.user))),
        ("string bytes", of_event(Event::StringBytes)),
    ];
    let of_lines = |(name, event): (&'static str, Event)| (name, of_event(event));
    let lines = LINES.into_iter().filter(|_| lines).map(of_lines);
    let sometimes = [
        ("no end", windows().filter(|window| !window.ended).count() as u64),
        ("more windows", loose.omitted),
        ("overlapping", loose.overlapping),
        ("loose ends", loose.ends),
        ("outside the region", sum(|window| window.outside)),
        ("elsewhere", loose.elsewhere),
        ("hidden", loose.hidden),
    ];
    let sometimes = sometimes.into_iter().filter(|(_, count)| *count > 0);
    let all = always.into_iter().chain(lines).chain(sometimes);
    all.map(|(name, count)| Check::new(name, &count)).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pathmeter_model::Status;

    use super::*;

    fn asked(text: &str) -> ProgramWindow {
        ProgramWindow::parse(text).unwrap()
    }

    fn window(instructions: u64, ended: bool) -> KernelWindow {
        let events = [(Event::StringBytes, 8), (Event::DataLines, 2)];
        let events = Arc::new(events.into_iter().collect());
        let counts = RegionWindow { steps: instructions + 5, instructions, user: 3, events };
        KernelWindow { counts, ended }
    }

    fn of_run(windows: &[KernelWindow]) -> Vec<AccountWindow> {
        let count = windows.len() as u64;
        vec![AccountWindow { count, windows: windows.to_vec(), ..AccountWindow::default() }]
    }

    /// The row of one window in these runs.
    fn row_of(runs: &[Vec<AccountWindow>]) -> PathResult {
        let windows = vec![asked("read=ksys_read..ksys_read:return")];
        let windows = ProgramWindows { windows, ..ProgramWindows::default() };
        windows.rows(runs, true).remove(0)
    }

    fn check<'a>(row: &'a PathResult, name: &str) -> Option<&'a str> {
        row.checks.iter().find(|check| check.name == name).map(|check| &*check.value)
    }

    #[test]
    fn a_window_may_have_to_begin_in_a_region() {
        let text = "a=f..g:return,same-task,inside=my-read";
        let read = asked(text);
        assert_eq!((read.to_string(), read.inside.as_deref()), (text.to_owned(), Some("my-read")));
        assert_eq!(asked("a=f..g,inside=user.x").inside.as_deref(), Some("x"));
        for (text, words) in [
            ("a=f..g,inside=", "no name of a region"),
            ("a=f..g,inside=a b", "no name of a region"),
            ("user.a=f..g", "those of regions"),
            ("a=f", "no two points"),
        ] {
            let error = ProgramWindow::parse(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
        assert!(refuse_twice(&[asked("a=f..g"), asked("b=f..g")]).is_ok());
        assert!(refuse_twice(&[asked("a=f..g"), asked("a=g..f")]).is_err());
    }

    #[test]
    fn samples_are_those_of_the_later_runs_and_one_without_an_end_is_a_lower_bound() {
        let first = of_run(&[window(99, true)]);
        let later = of_run(&[window(7, true), window(4, false)]);
        let row = row_of(&[first.clone(), later.clone(), later]);
        assert_eq!((row.samples_per_run, row.lower_bounds), (vec![2, 2], vec![1, 3]));
        assert_eq!(row.samples, [7, 4, 7, 4]);
        let row = row_of(&[first]);
        assert_eq!((&*row.path, row.status, &row.samples[..]), ("read", Status::Ok, &[99][..]));
        assert_eq!(check(&row, "lines"), Some("2"));
        assert_eq!((check(&row, "executions"), check(&row, "no end")), (Some("1"), None));
    }

    #[test]
    fn what_is_no_sample_is_told() {
        let mut seen = of_run(&[window(7, true)]);
        seen[0].loose = LoosePoints { overlapping: 3, omitted: 2, ..LoosePoints::default() };
        seen[0].outside = 4;
        let row = row_of(&[seen.clone(), of_run(&[])]);
        assert_eq!(row.status, Status::Unsupported);
        assert_eq!(row.reason.as_deref(), Some("it began in the first run only, which is cold"));
        for (name, count) in [("overlapping", "3"), ("more windows", "2"), ("elsewhere", "")] {
            assert_eq!(check(&row, name).unwrap_or_default(), count, "{name}");
        }
        assert_eq!(check(&row, "outside the region"), Some("4"));
        assert_eq!(row_of(&[Vec::new()]).reason.as_deref(), Some("it never began"));
    }
}
