//! The experiments that are bundled.

use crate::failure::Failure;
use pathmeter_experiment::Experiment;
use pathmeter_model::suggestion::suggest;

/// What is between two pages.
pub(crate) const GAP: &str = "\n\n";

/// The experiments that are bundled, in the order of their subjects' history.
const ALL: &[&str] = &[
    include_str!("../../../../../experiments/softirq-2001.toml"),
    include_str!("../../../../../experiments/ioperm-2004.toml"),
    include_str!("../../../../../experiments/compat-ioctl-2004.toml"),
    include_str!("../../../../../experiments/eflags-2006.toml"),
    include_str!("../../../../../experiments/vgetcpu-2007.toml"),
];

/// The names of all experiments.
pub(crate) fn names() -> Vec<String> {
    choose(None).unwrap_or_default().into_iter().map(|experiment| experiment.name).collect()
}

/// The experiment of this name, or all.
pub(crate) fn choose(name: Option<&str>) -> Result<Vec<Experiment>, Failure> {
    let all = ALL.iter().map(|text| Experiment::parse(text)).collect::<Result<Vec<_>, _>>();
    // They are tested to be well-formed.
    let all = all.map_err(|error| Failure::Usage {
        message: format!("an experiment that is bundled is damaged: {error}"),
        help: "report this".to_owned(),
    })?;
    let Some(name) = name else { return Ok(all) };
    let names: Vec<&str> = all.iter().map(|experiment| &*experiment.name).collect();
    let found = all.iter().find(|experiment| experiment.name == name).cloned();
    found.map(|experiment| vec![experiment]).ok_or_else(|| Failure::Usage {
        message: format!("{name}: no experiment has this name"),
        help: suggest(name, &names) + "there are " + &names.join(", "),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathmeter_probes::Suite;

    #[test]
    fn every_path_and_check_of_an_experiment_exists() {
        let names: Vec<&str> = Suite::Exact.paths().iter().map(|path| path.name).collect();
        for experiment in choose(None).unwrap() {
            let paths = experiment.paths.iter().map(|path| &path.path);
            for path in paths.chain(&experiment.checks_of) {
                assert!(names.contains(&path.as_str()), "{}: {path}", experiment.name);
            }
            for row in &experiment.host.as_ref().unwrap().rows {
                let known = pathmeter_host::host_paths();
                assert!(known.iter().any(|path| path.name == row.path), "{}", row.path);
            }
            for path in experiment.elapsed.iter().map(|path| &path.path) {
                let found = Suite::Elapsed.find(path).is_some();
                assert!(found, "{}: {path}", experiment.name);
            }
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_all() {
        let Err(failure) = choose(Some("ioperm")) else { panic!() };
        assert!(failure.advice().unwrap().contains("ioperm-2004, compat-ioctl-2004, eflags-2006"));
    }
}
