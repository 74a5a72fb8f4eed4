//! `settings --check`: whether what settings cost passes as a gate.
//!
//! Contract: what a row shows as changed is judged, as `compare --check` judges the kernel under
//! the default against the kernel under the setting. A setting that the kernel does not know costs
//! nothing, and passes.

use pathmeter_model::{
    GateReason, Measurement, PathComparison, SettingGate, SettingRow, Threshold, compare,
};
use pathmeter_probes::Suite;

use super::args::SettingsArgs;
use crate::comparison::judge::budget;
use crate::failure::Failure;
use crate::screen::output::Screen;
use pathmeter_gate::BudgetFile;
use pathmeter_gate::EventGate;
use pathmeter_gate::judge;

/// Before the name of a program's row that fails the gate, so that it is told from a path.
const PROGRAM: &str = "the program's ";

/// What decides whether a setting fails.
pub(super) struct SettingGates {
    events: EventGate,
    budget: Option<BudgetFile>,
}

impl SettingGates {
    /// What the user asked for, if it was asked for.
    pub(super) fn of(args: &SettingsArgs, screen: &Screen) -> Result<Option<Self>, Failure> {
        let Some(events) = args.check.clone() else { return Ok(None) };
        let budget = budget(args.budget.as_deref(), screen)?;
        // Of a program the rows are known only once it was measured.
        if let Some(budget) = budget.as_ref().filter(|_| args.packing.command.is_empty()) {
            let names: Vec<&str> = Suite::Exact.paths().iter().map(|path| path.name).collect();
            budget.check_early(&names)?;
        }
        Ok(Some(Self { events, budget }))
    }

    /// Refuses rules that hold for none of the kernel's paths, nor of the program's rows if there
    /// is one; `base` is the default.
    pub(super) fn check(
        &self,
        base: &Measurement,
        program: Option<&Measurement>,
    ) -> Result<(), Failure> {
        let Some(budget) = &self.budget else { return Ok(()) };
        let mut all = base.clone();
        all.paths.extend(program.into_iter().flat_map(|program| program.paths.clone()));
        budget.check(&[all.clone(), all]).map_err(Failure::from)
    }

    /// What it makes of a setting's row; `base` is the default, `new` the kernel under the setting.
    pub(super) fn judge(
        &self,
        row: &SettingRow,
        base: &Measurement,
        new: &Measurement,
    ) -> SettingGate {
        let mut gate = SettingGate::default();
        let changed = |name: &str| row.changed.iter().any(|change| change.path == name);
        self.add(&mut gate, [base, new], "", |path| changed(&path.path));
        gate
    }

    /// The same of the rows of a program, of which its own work is judged.
    pub(super) fn judge_program(&self, gate: &mut SettingGate, sides: [&Measurement; 2]) {
        self.add(gate, sides, PROGRAM, PathComparison::is_own_work);
    }

    fn add(
        &self,
        gate: &mut SettingGate,
        [base, new]: [&Measurement; 2],
        before: &str,
        is_judged: impl Fn(&PathComparison) -> bool,
    ) {
        let comparison = compare(base, new, Threshold::default());
        for path in &comparison.paths {
            let why = |path: &PathComparison| {
                if is_judged(path) { self.events.why(path) } else { Vec::new() }
            };
            let limited = is_judged(path) || path.work.is_some();
            let budget = self.budget.as_ref().filter(|_| limited);
            let (rules, reasons) = judge(path, [base, new], budget, why);
            gate.rules.extend(rules);
            let named = |reason: GateReason| {
                let row = format!("{before}{}", reason.row);
                GateReason { row, ..reason }
            };
            gate.worse.extend(reasons.into_iter().map(named));
        }
    }
}

#[cfg(test)]
mod tests {
    use pathmeter_model::{example, gate_lines};

    use super::*;

    fn result(costs: [u64; 2]) -> Measurement {
        let paths = ["file.stat", "switch.yield"].into_iter().zip(costs);
        let paths = paths.map(|(name, cost)| example::path(name, &[cost; 2])).collect();
        example::measurement("vmlinuz", example::configuration("6.1.0", 2), paths)
    }

    fn judge_costs(budget: Option<&str>, new: [u64; 2]) -> SettingGate {
        let base = result([1000, 3000]);
        let new = result(new);
        let about = ("boot:audit=1".to_owned(), String::new());
        let row = SettingRow::compare(about, [&base, &new]);
        let folder = tempfile::tempdir().unwrap();
        let budget = budget.map(|text| {
            let file = folder.path().join("budget.toml");
            std::fs::write(&file, text).unwrap();
            BudgetFile::read(&file, |_| {}).unwrap()
        });
        SettingGates { events: EventGate::usual(), budget }.judge(&row, &base, &new)
    }

    fn lines(gate: &SettingGate) -> Vec<String> {
        gate_lines(&gate.worse)
    }

    #[test]
    fn a_setting_that_makes_a_path_worse_fails_and_one_that_saves_does_not() {
        let why = "file.stat: instructions 1,000 → 1,162 (+162, higher)";
        assert_eq!(lines(&judge_costs(None, [1162, 2900])), [why]);
        assert_eq!(judge_costs(None, [900, 3000]), SettingGate::default());
    }

    #[test]
    fn a_budget_decides_for_the_paths_that_its_rules_are_about() {
        let budget = "[paths.\"file.stat\"]\nmax-increase = \"20%\"\n";
        let gate = judge_costs(Some(budget), [1162, 3162]);
        let why = "switch.yield: instructions 3,000 → 3,162 (+162, higher)";
        assert_eq!((lines(&gate), gate.rules.len()), (vec![why.to_owned()], 1));
        let gate = judge_costs(Some(budget), [1300, 3000]);
        let why = "file.stat: budget: instructions 1,000 → 1,300 (+30.00 %) over (limit: +20%), ";
        assert!(lines(&gate)[0].starts_with(why) && lines(&gate).len() == 1);
    }
}
