//! `settings --check`: whether what settings cost passes as a gate.
//!
//! Contract: what a row shows as changed is judged, as `compare --check` judges the kernel under
//! the default against the kernel under the setting; what layout alone may have moved is not. A
//! setting that the kernel does not know costs nothing, and passes.

use pathmeter_budget::Sides;
use pathmeter_catalogue::Suite;
use pathmeter_model::{Measurement, SettingGate, SettingRow, Threshold, compare};

use crate::budget::Limited;
use crate::cli::SettingsArgs;
use crate::failure::Failure;
use crate::gated::GatedEvents;
use crate::output::Screen;

/// What fails a setting.
pub(super) struct SettingGates {
    gated: GatedEvents,
    budget: Option<Limited>,
}

impl SettingGates {
    /// What the user asked for, if it was asked for.
    pub(super) fn of(args: &SettingsArgs, screen: &Screen) -> Result<Option<Self>, Failure> {
        let Some(gated) = args.check.clone() else { return Ok(None) };
        let budget = args.budget.as_deref().map(|path| Limited::read(path, screen)).transpose()?;
        if let Some(budget) = &budget {
            let names: Vec<&str> = Suite::Exact.paths().iter().map(|path| path.name).collect();
            budget.check_early(&names)?;
        }
        Ok(Some(Self { gated, budget }))
    }

    /// Refuses rules that hold for none of the kernel's paths.
    pub(super) fn check(&self, base: &Measurement) -> Result<(), Failure> {
        let both = [base.clone(), base.clone()];
        self.budget.as_ref().map_or(Ok(()), |budget| budget.check(&both))
    }

    /// What it makes of a setting's row; `base` is the default, `new` the kernel under the setting.
    pub(super) fn judge(
        &self,
        row: &SettingRow,
        base: &Measurement,
        new: &Measurement,
    ) -> SettingGate {
        let comparison = compare(base, new, Threshold::default());
        let changed = |name: &str| row.changed.iter().any(|change| change.path == name);
        let mut gate = SettingGate::default();
        for path in comparison.paths.iter().filter(|path| changed(&path.path)) {
            let (rules, worse) = match &self.budget {
                Some(budget) => {
                    let fails = |path: &_| self.gated.is_worse(path);
                    budget.judge(path, Sides::of_paths([base, new]), fails)
                }
                None => (Vec::new(), self.gated.is_worse(path)),
            };
            gate.rules.extend(rules);
            if worse {
                gate.worse.push(path.path.clone());
            }
        }
        gate
    }
}

#[cfg(test)]
mod tests {
    use pathmeter_model::{Baseline, PathResult, ResultSchema, Subject, Unit, example};

    use super::*;
    use crate::cli::Look;

    fn result(costs: [u64; 2]) -> Measurement {
        let paths = ["file.stat", "switch.yield"].into_iter().zip(costs);
        let path =
            |(name, cost)| PathResult::ok(name, Unit::Instructions, &[vec![cost; 4]], vec![]);
        Measurement {
            schema: ResultSchema::V1,
            subject: Subject::kernel_image("vmlinuz"),
            configuration: example::configuration("6.1.0", 1),
            guest: None,
            paths: paths.map(path).collect(),
            notes: vec![],
        }
    }

    fn judged(budget: Option<&str>, new: [u64; 2]) -> SettingGate {
        let base = result([1000, 3000]);
        let baseline = Baseline::new(base.clone(), vec![base.clone()]);
        let new = result(new);
        let row = baseline.row(("boot:audit=1".to_owned(), String::new()), &new);
        let folder = tempfile::tempdir().unwrap();
        let budget = budget.map(|text| {
            let file = folder.path().join("budget.toml");
            std::fs::write(&file, text).unwrap();
            let look = Look { color: clap::ColorChoice::Never, quiet: true };
            Limited::read(&file, &Screen::new(&look)).unwrap()
        });
        SettingGates { gated: GatedEvents::usual(), budget }.judge(&row, &base, &new)
    }

    #[test]
    fn a_setting_that_makes_a_path_worse_fails_and_one_that_saves_does_not() {
        assert_eq!(judged(None, [1162, 2900]).worse, ["file.stat"]);
        assert_eq!(judged(None, [900, 3000]), SettingGate::default());
    }

    #[test]
    fn a_budget_decides_for_the_paths_that_its_rules_are_about() {
        let budget = "[paths.\"file.stat\"]\nmax-increase = \"20%\"\n";
        let gate = judged(Some(budget), [1162, 3162]);
        assert_eq!((gate.worse, gate.rules.len()), (vec!["switch.yield".to_owned()], 1));
        let gate = judged(Some(budget), [1300, 3000]);
        assert_eq!(gate.worse, ["file.stat"]);
    }
}
