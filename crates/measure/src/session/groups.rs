//! Groups of paths: each is measured in a guest of its own, and is a result of its own in the
//! cache; what is asked for is put together from those that have its paths.
//!
//! Contract: what a group's guest counts does not depend on which other groups are measured, nor on
//! how many guests there are at a time.

use std::collections::BTreeSet;
use std::fs::read_to_string;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::available_parallelism;

use pathmeter_catalogue::{GROUPS, Group, Path, Suite, WAITS, Wait};
use pathmeter_model::Measurement;
use pathmeter_trace::{Counting, PointTable};
use pathmeter_vm::{Entry, EntryKind, Execution, Key, MeasuredKernel, Plan, Progress, Sought};

use super::{Report, Session};
use crate::failure::Failure;
use crate::image::Image;
use crate::plan_results::Elsewhere;
use crate::results;
use crate::threads::each;
use crate::waits::{self, WaitPoints};

/// A set of groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Groups(u32);

const _: () = assert!(GROUPS.len() <= u32::BITS as usize);

impl Groups {
    /// All groups.
    pub(super) const ALL: Self = Self((1 << GROUPS.len()) - 1);

    /// Those with a path that is `wanted`, by its name; the first one if there is none, so that
    /// there is a result.
    pub(super) fn of(wanted: impl Fn(&str) -> bool) -> Self {
        let has = |group: &Group| group.paths().any(|(_, path)| wanted(path.name));
        let bits = GROUPS.iter().enumerate().filter(|(_, group)| has(group));
        Self(bits.map(|(index, _)| 1 << index).sum::<u32>().max(1))
    }

    fn iter(self) -> impl Iterator<Item = &'static Group> {
        let has = move |(index, _): &(usize, _)| self.0 >> index & 1 != 0;
        GROUPS.iter().enumerate().filter(has).map(|(_, group)| group)
    }
}

/// What one guest executes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part {
    /// All paths: a guest with several CPUs is booted for each measurement, which takes longer than
    /// all of them.
    All,
    /// Those of a group.
    Of(&'static Group),
}

impl Part {
    fn plan(self, runs: u32) -> Plan {
        match self {
            Self::All => Plan::new(Suite::Exact, runs),
            Self::Of(group) => Plan::of_group(group, runs),
        }
    }

    pub(super) fn holds(self, path: &Path) -> bool {
        match self {
            Self::All => true,
            Self::Of(group) => group.holds(path.name),
        }
    }

    fn has_waits(self) -> bool {
        let path = |wait: &Wait| Suite::Exact.find(wait.path).map(|(_, path)| path);
        WAITS.iter().filter_map(path).any(|path| self.holds(path))
    }
}

/// The plans of all groups, as one text: which paths share a guest, and in how many runs, is a part
/// of what is measured.
pub(super) fn describe_plans(runs: u32) -> String {
    let each = GROUPS.iter().map(|group| Plan::of_group(group, runs).to_string());
    each.collect::<Vec<_>>().join("\n")
}

impl Session {
    /// A session like this one that measures the groups with a path that is `wanted`, and no
    /// others. It tells what this one was still to tell.
    #[must_use]
    pub fn narrow_to(&self, wanted: impl Fn(&str) -> bool) -> Self {
        let note = self.note.lock().unwrap_or_else(PoisonError::into_inner).take();
        let narrow = Self { groups: Groups::of(wanted), ..self.again(self.cache.clone()) };
        narrow.with_note(note)
    }

    /// Whether it measures all groups.
    pub(crate) fn measures_all_groups(&self) -> bool {
        self.groups == Groups::ALL
    }

    /// What is executed, guest by guest, for all that is wanted.
    fn parts(&self, image: &Image) -> Vec<Part> {
        match image.cpus() {
            1 => self.groups.iter().map(Part::Of).collect(),
            _ => vec![Part::All],
        }
    }

    /// The plan by which a guest comes to the path with this index.
    pub(crate) fn plan_with(&self, image: &Image, index: usize) -> Plan {
        let path = Suite::Exact.paths().get(index).filter(|_| image.cpus() == 1);
        let group = path.and_then(|path| Group::of(path.name));
        group.map_or(Part::All, Part::Of).plan(self.runs)
    }

    /// Finds the results of all parts in the cache, or measures those that are not there.
    pub(super) fn measure_parts(
        &self,
        image: &Image,
        progress: Report<'_>,
    ) -> Result<Measurement, Failure> {
        let (mut found, mut missing) = (Vec::new(), Vec::new());
        for part in self.parts(image) {
            match &self.cache {
                None => missing.push((part, None)),
                Some(cache) => {
                    let read = |entry: Entry| {
                        let result = results::read(&entry)?;
                        Ok(result.filter(|result| self.is_of(image, &result.configuration)))
                    };
                    let key = self.part_key(image, part);
                    let sought = cache.seek(key, self.caller(progress), read);
                    match sought.map_err(|error| image.failure(error))? {
                        Sought::Found(result) => found.push(result),
                        Sought::Missing(slot) => missing.push((part, Some(slot))),
                    }
                }
            }
        }
        if missing.is_empty() {
            self.tell(Elsewhere::Cache);
        } else {
            self.tell(Elsewhere::Guest);
            let parts: Vec<Part> = missing.iter().map(|(part, _)| *part).collect();
            let measured = self.measure_anew(image, &parts, progress)?;
            for ((_, slot), result) in missing.into_iter().zip(measured) {
                if let Some(slot) = slot {
                    results::keep(slot, &result);
                }
                found.push(result);
            }
        }
        let result = join(found).ok_or(Failure::Interrupted)?;
        Ok(Measurement { subject: image.subject(), ..result })
    }

    fn part_key(&self, image: &Image, part: Part) -> Key {
        self.key_of(EntryKind::Result, &format!("result\n{}", part.plan(self.runs)), image)
    }

    /// Measures these parts, as many at a time as there is room for: the result of each.
    pub(super) fn measure_now(
        &self,
        image: &Image,
        parts: &[Part],
        progress: Report<'_>,
    ) -> Result<Vec<Measurement>, Failure> {
        let points = if parts.iter().any(|part| part.has_waits()) {
            waits::points(image, &self.symbols(image, progress)?)
        } else {
            WaitPoints::default()
        };
        let plans: Vec<Plan> = parts.iter().map(|part| part.plan(self.runs)).collect();
        let measured = self.execute(image, &plans, &points.table, progress)?;
        let both = parts.iter().zip(measured);
        Ok(both.map(|(part, of)| self.document(image, of, (*part, &points))).collect())
    }

    /// What came of each plan, in a guest of its own. All are restored from one snapshot.
    fn execute(
        &self,
        image: &Image,
        plans: &[Plan],
        table: &PointTable,
        progress: Report<'_>,
    ) -> Result<Vec<MeasuredKernel<Counting>>, Failure> {
        let [first, ..] = plans else { return Ok(Vec::new()) };
        let snapshot =
            self.with_points(image, table, progress, |it| pathmeter_vm::share_snapshot(it, first))?;
        let notes = Mutex::new(BTreeSet::new());
        let of = plans.iter().map(|plan| plan.order().count() as u64).sum();
        let done: Vec<AtomicU64> = plans.iter().map(|_| AtomicU64::new(0)).collect();
        let one = |(plan, own): (&Plan, &AtomicU64)| {
            let report = |of_one: Progress<'_>| match of_one {
                Progress::Running { path, done: here, .. } => {
                    own.store(here, Ordering::Relaxed);
                    let done = done.iter().map(|one| one.load(Ordering::Relaxed)).sum();
                    progress(Progress::Running { path, done, of });
                }
                Progress::Note(note) => {
                    let mut notes = notes.lock().unwrap_or_else(PoisonError::into_inner);
                    // What holds for one guest and all is said once.
                    if notes.insert(note.to_owned()) {
                        progress(of_one);
                    }
                }
                _ => progress(of_one),
            };
            let _turn = TURNS.take(count_guests(image.settings(&self.settings).memory_mib));
            let begin = (plan, snapshot.clone());
            self.with_points(image, table, &report, |request| {
                pathmeter_vm::measure_plan(request, begin, &pathmeter_trace::count)
            })
        };
        Failure::gather(each(plans.iter().zip(&done), plans.len(), one))
    }

    /// What is counted in windows between two points, in the executions of all paths that are
    /// wanted: a part's executions in their order, and what was counted in them.
    pub fn count_windows(
        &self,
        image: &Image,
        table: &PointTable,
        progress: Report<'_>,
    ) -> Result<Vec<(Vec<Execution>, Counting)>, Failure> {
        let plans: Vec<Plan> = self.parts(image).iter().map(|part| part.plan(self.runs)).collect();
        let counts = self.execute(image, &plans, table, progress)?.into_iter().map(|measured| {
            measured.counts.ok_or_else(|| Failure::Usage {
                message: "this QEMU can't see windows between two points of the kernel".to_owned(),
                help: "use a QEMU with plugins: `pathmeter doctor` shows whether it has them"
                    .to_owned(),
            })
        });
        counts.collect()
    }
}

/// One result with the paths of all, in the order of the suite.
fn join(parts: Vec<Measurement>) -> Option<Measurement> {
    let mut parts = parts.into_iter();
    let mut all = parts.next()?;
    for part in parts {
        all.paths.extend(part.paths);
        for note in part.notes {
            if !all.notes.contains(&note) {
                all.notes.push(note);
            }
        }
    }
    let place = |name: &str| Suite::Exact.find(name).map(|(index, _)| index);
    all.paths.sort_by_key(|path| place(&path.path));
    Some(all)
}

/// How many guests of so much memory, in MiB, this machine has CPUs and memory for; at least one.
fn count_guests(memory_mib: u32) -> usize {
    /// What a guest's QEMU takes beside the guest's memory, in MiB.
    const QEMU_MIB: u64 = 256;
    let cpus = available_parallelism().map_or(1, usize::from);
    let available = read_to_string("/proc/meminfo").ok().and_then(|text| read_available_mib(&text));
    let guests = available.map_or(cpus as u64, |mib| mib / (u64::from(memory_mib) + QEMU_MIB));
    usize::try_from(guests).map_or(cpus, |guests| guests.clamp(1, cpus))
}

/// The memory that programs can have, in MiB (`MemAvailable` of `proc_meminfo(5)`).
fn read_available_mib(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib >> 10)
}

/// The turns of all guests of groups in this process: two kernels that are measured at once share
/// the machine.
static TURNS: Turns = Turns { taken: Mutex::new(0), freed: Condvar::new() };

struct Turns {
    taken: Mutex<usize>,
    freed: Condvar,
}

/// A turn, until dropped.
struct Turn(&'static Turns);

impl Turns {
    /// Waits until fewer than `most` turns are taken, and takes one.
    fn take(&'static self, most: usize) -> Turn {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let free = self.freed.wait_while(taken, |taken| *taken >= most);
        *free.unwrap_or_else(PoisonError::into_inner) += 1;
        Turn(self)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *self.0.taken.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathmeter_model::example;

    #[test]
    fn a_question_has_the_groups_of_its_paths_and_no_others() {
        let names = |groups: Groups| groups.iter().map(|group| group.name).collect::<Vec<_>>();
        assert_eq!(names(Groups::of(|name| name == "syscall.getppid")), ["calls"]);
        let two = Groups::of(|name| name.starts_with("tcp.") || name == "timer.expire");
        assert_eq!(names(two), ["network", "interrupts"]);
        assert_eq!(names(Groups::of(|_| false)), ["calls"]);
        assert_eq!(Groups::of(|_| true), Groups::ALL);
        assert_eq!(names(Groups::ALL).len(), GROUPS.len());
    }

    #[test]
    fn parts_are_joined_in_the_order_of_the_suite_with_each_note_once() {
        let part = |names: &[&str], note: &str| {
            let paths = names.iter().map(|name| example::path(name, &[1])).collect();
            let part = example::measurement("k", example::configuration("6.1.0", 1), paths);
            Measurement { notes: vec![note.to_owned()], ..part }
        };
        let parts = vec![
            part(&["tcp.round-trip"], "no plugin"),
            part(&["syscall.getppid", "timer.expire"], "no plugin"),
            part(&["file.stat"], "it died"),
        ];
        let all = join(parts).unwrap();
        let names: Vec<&str> = all.paths.iter().map(|path| &*path.path).collect();
        assert_eq!(names, ["syscall.getppid", "file.stat", "tcp.round-trip", "timer.expire"]);
        assert_eq!(all.notes, ["no plugin", "it died"]);
        assert_eq!(join(vec![]), None);
    }

    #[test]
    fn memory_is_read_and_what_is_unlike_it_is_not() {
        assert_eq!(read_available_mib("MemFree: 1 kB\nMemAvailable:    2097152 kB\n"), Some(2048));
        assert_eq!(read_available_mib("MemAvailable: many kB\n"), None);
        assert_eq!(read_available_mib(""), None);
    }

    #[test]
    fn no_more_turns_are_taken_than_there_are() {
        static SOME: Turns = Turns { taken: Mutex::new(0), freed: Condvar::new() };
        let at_once = AtomicU64::new(0);
        let work = |_| {
            let _turn = SOME.take(2);
            let now = at_once.fetch_add(1, Ordering::SeqCst) + 1;
            at_once.fetch_sub(1, Ordering::SeqCst);
            Ok::<_, ()>(now)
        };
        let seen = each(0..64, 8, work);
        assert!(seen.iter().all(|now| now.is_ok_and(|now| now <= 2)), "{seen:?}");
        assert_eq!(*SOME.taken.lock().unwrap(), 0);
    }
}
