//! The columns of a map: what tells results apart, and which of them are of one series.
//!
//! A series is results that were measured alike on different kernels. A plan over two CPUs has two:
//! from one to the other no kernel changed, so the difference is no step.

use pathmeter_model::{Configuration, Measurement, differences};

use crate::measured_with::{cpu_name, strip_condition};

/// What stands for no condition.
const DEFAULT: &str = "default";

/// The names of a map's columns.
pub(crate) struct Columns {
    /// What tells each result from the others, its kernel first.
    pub(crate) labels: Vec<String>,
    /// The kernel, if it is the same in all and so in none of the labels.
    pub(crate) kernel: Option<String>,
}

/// What may tell results of one kernel apart, as text.
const PARTS: [fn(&Configuration) -> String; 6] = [
    |it| cpu_name(&it.cpu),
    |it| if it.condition.is_empty() { DEFAULT.to_owned() } else { it.condition.clone() },
    |it| format!("{} CPUs", it.cpus),
    |it| format!("{} MiB", it.memory_mib),
    |it| format!("{} runs", it.runs),
    |it| format!("QEMU {}", it.qemu),
];

/// The names of the columns of these results: what differs between them, and not what all have.
pub(crate) fn name_columns(results: &[Measurement]) -> Columns {
    let kernels = kernels(results);
    let differ = |values: &[String]| values.iter().any(|value| *value != values[0]);
    let of = |part: &fn(&Configuration) -> String| -> Vec<String> {
        results.iter().map(|result| part(&result.configuration)).collect()
    };
    let parts: Vec<Vec<String>> = PARTS.iter().map(of).filter(|values| differ(values)).collect();
    let is_one = !differ(&kernels) && !parts.is_empty();
    let label = |at: usize| {
        let kernel = (!is_one).then(|| kernels[at].clone());
        let parts = parts.iter().map(|values| values[at].clone());
        kernel.into_iter().chain(parts).collect::<Vec<_>>().join(" ")
    };
    let labels = (0..results.len()).map(label).collect();
    Columns { labels, kernel: kernels.into_iter().next().filter(|_| is_one) }
}

/// A short name for each kernel: its release, or its file's name where two have one release,
/// without what all have at the end.
fn kernels(results: &[Measurement]) -> Vec<String> {
    let release = |result: &Measurement| result.configuration.release.clone();
    let image = |result: &Measurement| result.configuration.image_sha256.clone();
    let mut names: Vec<String> =
        results.iter().map(|it| release(it).unwrap_or_else(|| it.subject.name.clone())).collect();
    for (at, result) in results.iter().enumerate() {
        let is_other = |other: &Measurement| {
            release(other) == release(result) && image(other) != image(result)
        };
        if results.iter().any(is_other) {
            let condition = &result.configuration.condition;
            strip_condition(&result.subject.name, condition).clone_into(&mut names[at]);
        }
    }
    let shared = shared_end(&names);
    names.iter().map(|name| name[..name.len() - shared].to_owned()).collect()
}

/// How many bytes all end with alike, from a dash on; none may be left empty.
fn shared_end(names: &[String]) -> usize {
    let Some(first) = names.first().filter(|first| names.iter().any(|it| it != *first)) else {
        return 0;
    };
    let ends = first.match_indices('-').map(|(at, _)| &first[at..]);
    let all = |end: &&str| names.iter().all(|it| it.len() > end.len() && it.ends_with(*end));
    ends.clone().find(all).map_or(0, str::len)
}

/// For each result the last one before it that differs from it in the kernel alone; none of the
/// first of a series.
pub(crate) fn find_before(results: &[Measurement]) -> Vec<Option<usize>> {
    let is_alike = |one: &Measurement, other: &Measurement| {
        let condition = |it: &Measurement| it.configuration.condition.clone();
        differences(one, other).is_empty() && condition(one) == condition(other)
    };
    let last = |at: usize| (0..at).rev().find(|before| is_alike(&results[*before], &results[at]));
    (0..results.len()).map(last).collect()
}

/// The places of the results of each series, in the order in which the series begin.
pub(crate) fn find_series(results: &[Measurement]) -> Vec<Vec<usize>> {
    let mut series: Vec<Vec<usize>> = Vec::new();
    for (at, before) in find_before(results).into_iter().enumerate() {
        let its = series.iter_mut().find(|it| before.is_some() && it.last().copied() == before);
        match its {
            Some(its) => its.push(at),
            None => series.push(vec![at]),
        }
    }
    series
}

/// The pairs of results that a page of several tells in sentences, by the places of both: the first
/// and the last of each series, and each with the one before it.
pub fn find_steps(results: &[Measurement]) -> Vec<(usize, usize)> {
    let ends = find_series(results).into_iter().filter(|its| its.len() > 2);
    let ends = ends.filter_map(|its| Some((*its.first()?, *its.last()?)));
    let neighbours = find_before(results).into_iter().enumerate();
    ends.chain(neighbours.filter_map(|(new, before)| Some((before?, new)))).collect()
}

#[cfg(test)]
mod tests {
    use pathmeter_model::example;

    use super::*;

    fn result(release: &str, cpu: &str, condition: &str) -> Measurement {
        let configuration = Configuration {
            cpu: format!("{cpu}: all of its features"),
            condition: condition.to_owned(),
            image_sha256: release.to_owned(),
            ..example::configuration(release, 2)
        };
        example::measurement("vmlinuz", configuration, vec![])
    }

    #[test]
    fn columns_say_what_differs_and_fold_what_does_not() {
        let named = |results: &[Measurement]| {
            let Columns { labels, kernel } = name_columns(results);
            (labels.join(", "), kernel)
        };
        let plan = [("6.1-amd64", "zen2"), ("6.1-amd64", "zen3"), ("6.12-amd64", "zen2")];
        let plan = plan.map(|(release, cpu)| result(release, cpu, ""));
        assert_eq!(named(&plan), ("6.1 zen2, 6.1 zen3, 6.12 zen2".to_owned(), None));
        let cpus = ["zen2", "zen3"].map(|cpu| result("6.1-amd64", cpu, ""));
        assert_eq!(named(&cpus), ("zen2, zen3".to_owned(), Some("6.1-amd64".to_owned())));
        let kernels = ["6.1-amd64", "6.12-amd64"].map(|it| result(it, "zen2", ""));
        assert_eq!(named(&kernels), ("6.1, 6.12".to_owned(), None));
        let under = ["", "boot:nopti"].map(|it| result("6.1", "zen2", it));
        assert_eq!(named(&under), ("default, boot:nopti".to_owned(), Some("6.1".to_owned())));
        let alike = ["", ""].map(|it| result("6.1", "zen2", it));
        assert_eq!(named(&alike), ("6.1, 6.1".to_owned(), None));
    }

    #[test]
    fn a_step_goes_from_kernel_to_kernel_and_never_to_another_cpu() {
        let plan = ["6.1", "6.6", "6.12"]
            .map(|release| ["zen2", "zen3"].map(|cpu| result(release, cpu, "")));
        let plan = plan.concat();
        assert_eq!(find_series(&plan), [[0, 2, 4], [1, 3, 5]]);
        assert_eq!(find_steps(&plan), [(0, 4), (1, 5), (0, 2), (1, 3), (2, 4), (3, 5)]);
        let cpus = ["zen2", "zen3"].map(|cpu| result("6.1", cpu, ""));
        assert_eq!(find_steps(&cpus), []);
    }

    #[test]
    fn what_all_names_end_with_is_left_out() {
        let of =
            |names: &[&str]| shared_end(&names.iter().map(|&it| it.to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["6.1.0-48-cloud-amd64", "6.12.94-cloud-amd64"]), "-cloud-amd64".len());
        assert_eq!(of(&["-a", "-a"]), 0);
        assert_eq!(of(&["6.1-a"]), 0);
    }
}
