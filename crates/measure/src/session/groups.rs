//! Groups of paths: each is measured in a guest of its own, and is a result of its own in the
//! cache; what is asked for is put together from those that have its paths.
//!
//! Contract: what a group's guest counts does not depend on which other groups are measured, nor on
//! how many guests there are at a time.

use std::time::Instant;

use pathmeter_model::Measurement;
use pathmeter_probes::{GROUPS, Group, Suite, WAITS};
use pathmeter_trace::{Counting, PointTable};
use pathmeter_vm::{
    Cache, Entry, EntryKind, Execution, Key, MeasuredKernel, Plan, Progress, Sought,
};

use super::joint_progress::JointProgress;
use super::turns::{TURNS, count_guests};
use super::{Report, Session, group_times};
use crate::error::MeasureError;
use crate::path::waits::{self, WaitPoints};
use crate::session::cached_results;
use crate::session::plan_results::Elsewhere;
use crate::subject::image::Image;
use crate::threads::each;

/// A set of groups, a bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Groups(u32);

const _: () = assert!(GROUPS.len() <= u32::BITS as usize);

impl Groups {
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

/// What came of a group.
#[derive(PartialEq)]
pub(super) struct GroupResult {
    result: Measurement,
    /// The paths, by index, that took longer than the limit.
    late: Vec<usize>,
}

/// Whether one of the group's paths waits between two points of the kernel.
fn has_waits(group: &Group) -> bool {
    WAITS.iter().any(|wait| group.holds(wait.path))
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
        Self { groups: Groups::of(wanted), ..self.hand_over() }
    }

    /// A session like this one with so many perturbed runs. It tells what this one was still to
    /// tell.
    #[must_use]
    pub fn with_runs(&self, runs: u32) -> Self {
        Self { runs, ..self.hand_over() }
    }

    /// Whether it measures all groups.
    pub(crate) fn measures_all_groups(&self) -> bool {
        self.groups == Groups::ALL
    }

    /// The plan by which a guest comes to the path with this index.
    pub(crate) fn plan_with(&self, index: usize) -> Plan {
        let group = Suite::Exact.paths().get(index).and_then(|path| Group::of(path.name));
        group.map_or_else(|| Plan::new(Suite::Exact, self.runs), |group| self.plan_of(group))
    }

    fn plan_of(&self, group: &Group) -> Plan {
        Plan::of_group(group, self.runs)
    }

    /// Finds the results of all groups in the cache, or measures those that are not there.
    pub(super) fn measure_groups(
        &self,
        image: &Image,
        progress: Report<'_>,
    ) -> Result<Measurement, MeasureError> {
        let (mut found, mut missing, mut late) = (Vec::new(), Vec::new(), Vec::new());
        for group in self.groups.iter() {
            match self.seek_group(image, group, progress)? {
                Some(Sought::Found(result)) => found.push(result),
                Some(Sought::Missing(slot)) => missing.push((group, Some(slot))),
                None => missing.push((group, None)),
            }
        }
        if missing.is_empty() {
            self.tell(Elsewhere::Cache);
        } else {
            self.tell(Elsewhere::Guest);
            let groups: Vec<&Group> = missing.iter().map(|(group, _)| *group).collect();
            self.announce(&groups, progress);
            let measured = self.measure_anew(image, &groups, progress)?;
            for ((_, slot), GroupResult { result, late: of_group }) in
                missing.into_iter().zip(measured)
            {
                late.extend(of_group);
                if let Some(slot) = slot {
                    cached_results::keep(slot, &result);
                }
                found.push(result);
            }
        }
        let result = join(found).ok_or(MeasureError::Interrupted)?;
        let result = Measurement { subject: image.subject(), ..result };
        match late.iter().min() {
            Some(first) if self.refuses_late => Err(refuse_late(&result, *first)),
            _ => Ok(result),
        }
    }

    /// Looks for a group's result in the cache, if there is one.
    fn seek_group<'a>(
        &'a self,
        image: &Image,
        group: &Group,
        progress: Report<'a>,
    ) -> Result<Option<Sought<'a, Measurement>>, MeasureError> {
        let Some(cache) = &self.cache else { return Ok(None) };
        let read = |entry: Entry| {
            let result = cached_results::read(&entry)?;
            Ok(result.filter(|result| self.is_of(image, &result.configuration)))
        };
        let sought = cache.seek(self.group_key(image, group), self.caller(progress), read);
        sought.map(Some).map_err(|error| image.failure(error))
    }

    fn group_key(&self, image: &Image, group: &Group) -> Key {
        self.key_of(EntryKind::Result, &format!("result\n{}", self.plan_of(group)), image)
    }

    /// Says how many groups are measured, and how long that took the last time.
    fn announce(&self, groups: &[&Group], progress: Report<'_>) {
        let folder = self.cache.as_ref().map(Cache::folder);
        let took = folder.and_then(|folder| group_times::find(folder, &self.describe(groups)));
        progress(Progress::Groups { count: groups.len(), took });
    }

    /// What is executed, by name: these groups in so many runs.
    fn describe(&self, groups: &[&Group]) -> String {
        let names: Vec<&str> = groups.iter().map(|group| group.name).collect();
        format!("{} {}", names.join("+"), self.runs)
    }

    /// Measures these groups, as many at a time as there is room for: the result of each.
    pub(super) fn measure_now(
        &self,
        image: &Image,
        groups: &[&Group],
        progress: Report<'_>,
    ) -> Result<Vec<GroupResult>, MeasureError> {
        let points = self.find_waits(image, groups, progress)?;
        let measured = self.execute(image, groups, &points.table, progress)?;
        let both = groups.iter().zip(measured);
        let result = |(group, mut of): (&&Group, MeasuredKernel<Counting>)| {
            let late = std::mem::take(&mut of.late);
            GroupResult { result: self.document(image, of, (group, &points)), late }
        };
        Ok(both.map(result).collect())
    }

    /// The points between which paths of these groups wait. The kernel is asked for its symbols
    /// only if one of them does.
    pub(crate) fn find_waits(
        &self,
        image: &Image,
        groups: &[&Group],
        progress: Report<'_>,
    ) -> Result<WaitPoints, MeasureError> {
        if groups.iter().any(|group| has_waits(group)) {
            Ok(waits::points(image, &self.symbols(image, progress)?))
        } else {
            Ok(WaitPoints::default())
        }
    }

    /// What came of each group, in a guest of its own. All are restored from one snapshot.
    fn execute(
        &self,
        image: &Image,
        groups: &[&Group],
        table: &PointTable,
        progress: Report<'_>,
    ) -> Result<Vec<MeasuredKernel<Counting>>, MeasureError> {
        let plans: Vec<Plan> = groups.iter().map(|group| self.plan_of(group)).collect();
        let [first, ..] = &plans[..] else { return Ok(Vec::new()) };
        let snapshot =
            self.with_points(image, table, progress, |it| pathmeter_vm::share_snapshot(it, first))?;
        let of = plans.iter().map(|plan| plan.order().count() as u64).sum();
        let joint = JointProgress::new(progress, plans.len(), of);
        let turns = TURNS.share();
        let one = |(guest, plan): (usize, &Plan)| {
            let report = |of_one: Progress<'_>| joint.report(guest, of_one);
            let _turn = turns.take(count_guests(image.settings(&self.settings).memory_mib));
            let begin = (plan, snapshot.clone());
            self.with_points(image, table, &report, |request| {
                pathmeter_vm::measure_plan(request, begin, &pathmeter_trace::count)
            })
        };
        let started = Instant::now();
        let measured = MeasureError::gather(each(plans.iter().enumerate(), plans.len(), one))?;
        if let Some(cache) = &self.cache {
            group_times::keep(cache.folder(), self.describe(groups), started.elapsed());
        }
        Ok(measured)
    }

    /// What is counted in windows between two points, in the executions of all paths that are
    /// wanted: a group's executions in their order, and what was counted in them.
    pub fn count_windows(
        &self,
        image: &Image,
        table: &PointTable,
        progress: Report<'_>,
    ) -> Result<Vec<(Vec<Execution>, Counting)>, MeasureError> {
        let measured =
            self.execute(image, &self.groups.iter().collect::<Vec<_>>(), table, progress)?;
        let counts = measured.into_iter().map(|measured| {
            measured.counts.ok_or_else(|| MeasureError::Request {
                message: "this QEMU can't see windows between two points of the kernel".to_owned(),
                help: "use a QEMU with plugins: `pathmeter doctor` shows whether it has them"
                    .to_owned(),
            })
        });
        counts.collect()
    }
}

/// Why a result with this late path, by its index, is none.
fn refuse_late(result: &Measurement, late: usize) -> MeasureError {
    let path = Suite::Exact.paths().get(late).map_or("", |path| path.name);
    let row = result.paths.iter().find(|row| row.path == path);
    let reason = row.and_then(|row| row.reason.clone()).unwrap_or_default();
    let (subject, path) = (result.subject.name.clone(), path.to_owned());
    MeasureError::Late { subject, path, reason }
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
    fn a_late_path_is_told_with_the_reason_of_its_row() {
        let paths = vec![example::path("a.b", &[1]), example::failed("syscall.getppid", "slow")];
        let result = example::measurement("k", example::configuration("6.1.0", 1), paths);
        let (late, _) = Suite::Exact.find("syscall.getppid").unwrap();
        let error = refuse_late(&result, late);
        assert_eq!(error.to_string(), "k: syscall.getppid took too long: slow");
        assert!(error.is_of_the_moment());
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
}
