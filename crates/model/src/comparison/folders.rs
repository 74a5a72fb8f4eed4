//! `pathmeter.folder-comparison/1`: two folders of a plan's results, compared cell by cell.
//!
//! A cell of one folder is compared with the cell of the other that was measured alike on another
//! kernel. A cell that has no such partner is named, and never dropped.

use pathmeter_seal::schema_name;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Comparison, Measurement, SideInfo};

schema_name!(pub FolderComparisonSchema = "pathmeter.folder-comparison/1");

/// The comparisons of all cells that two folders have in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FolderComparison {
    pub schema: FolderComparisonSchema,
    /// A comparison for each pair of cells: by the names of base's kernels, then by CPU and
    /// condition. What a cell is, its sides tell in `measured_with`.
    pub comparisons: Vec<Comparison>,
    /// Cells that only base's folder has.
    pub only_base: Vec<SideInfo>,
    /// Cells that only new's folder has.
    pub only_new: Vec<SideInfo>,
}

impl FolderComparison {
    /// The document of these comparisons, and of the cells that have no partner.
    pub fn new(comparisons: Vec<Comparison>, [only_base, only_new]: [&[Measurement]; 2]) -> Self {
        let list = |alone: &[Measurement]| alone.iter().map(SideInfo::from).collect();
        Self {
            schema: FolderComparisonSchema::V1,
            comparisons,
            only_base: list(only_base),
            only_new: list(only_new),
        }
    }
}

/// The results of two folders, paired.
#[derive(Debug, Default)]
pub struct CellPairs {
    /// Base and new of each cell that both have, in base's order.
    pub pairs: Vec<[Measurement; 2]>,
    /// What only base's folder has, and what only new's has.
    pub alone: [Vec<Measurement>; 2],
}

impl CellPairs {
    /// Pairs results that were measured alike: first those of kernels of one name, then what is
    /// left, where only one result of each folder can be meant. No other pair is guessed.
    pub fn find(base: Vec<Measurement>, new: Vec<Measurement>) -> Self {
        let mut partners = vec![None; base.len()];
        for alike in [is_same_kernel, is_same_cell] {
            let free: Vec<usize> =
                (0..new.len()).filter(|at| !partners.contains(&Some(*at))).collect();
            let left: Vec<usize> = (0..base.len()).filter(|at| partners[*at].is_none()).collect();
            for &at in &left {
                let its = |other: &&usize| alike(&base[at], &new[**other]);
                let mut candidates = free.iter().filter(its);
                let (Some(&only), None) = (candidates.next(), candidates.next()) else { continue };
                let claims = left.iter().filter(|at| alike(&base[**at], &new[only])).count();
                partners[at] = (claims == 1).then_some(only);
            }
        }
        Self::join(base, new, &partners)
    }

    /// The pairs, by the place of each one's partner in `new`.
    fn join(base: Vec<Measurement>, new: Vec<Measurement>, partners: &[Option<usize>]) -> Self {
        let mut new: Vec<Option<Measurement>> = new.into_iter().map(Some).collect();
        let mut found = Self::default();
        for (result, partner) in base.into_iter().zip(partners) {
            match partner.and_then(|at| new[at].take()) {
                Some(other) => found.pairs.push([result, other]),
                None => found.alone[0].push(result),
            }
        }
        found.alone[1] = new.into_iter().flatten().collect();
        found
    }
}

/// Whether the two were measured alike, but for the kernel.
fn is_same_cell(base: &Measurement, new: &Measurement) -> bool {
    base.configuration.list_cell_values() == new.configuration.list_cell_values()
}

/// Whether the two were measured alike, on kernels of one name.
fn is_same_kernel(base: &Measurement, new: &Measurement) -> bool {
    base.subject.name == new.subject.name && is_same_cell(base, new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    fn results(cells: &[(&str, &str)]) -> Vec<Measurement> {
        let result = |(name, cpu): &(&str, &str)| {
            let mut configuration = example::configuration("6.1.0", 2);
            configuration.cpu = format!("{cpu}: what it can");
            example::measurement(name, configuration, vec![])
        };
        cells.iter().map(result).collect()
    }

    fn name(result: &Measurement) -> String {
        let cpu = result.configuration.cpu.split(':').next().unwrap_or_default();
        format!("{} {cpu}", result.subject.name)
    }

    fn find_pair_names(
        base: &[(&str, &str)],
        new: &[(&str, &str)],
    ) -> (Vec<String>, [Vec<String>; 2]) {
        let found = CellPairs::find(results(base), results(new));
        let pairs = found.pairs.iter().map(|[base, new]| name(base) + " - " + &name(new));
        (pairs.collect(), found.alone.map(|alone| alone.iter().map(name).collect()))
    }

    #[test]
    fn cells_are_paired_by_what_they_were_measured_with_and_the_others_are_left_over() {
        let base = [("6.1", "skylake"), ("6.1", "zen2"), ("6.1", "zen3")];
        let (pairs, alone) =
            find_pair_names(&base, &[("6.12", "zen2"), ("6.12", "skylake"), ("6.12", "max")]);
        assert_eq!(pairs, ["6.1 skylake - 6.12 skylake", "6.1 zen2 - 6.12 zen2"]);
        assert_eq!(alone, [["6.1 zen3"], ["6.12 max"]]);
    }

    #[test]
    fn of_several_kernels_those_of_one_name_are_paired_and_what_is_left_only_if_it_is_one() {
        let base = [("6.1", "zen2"), ("lab", "zen2")];
        let (pairs, alone) = find_pair_names(&base, &[("6.12", "zen2"), ("lab", "zen2")]);
        assert_eq!(pairs, ["6.1 zen2 - 6.12 zen2", "lab zen2 - lab zen2"]);
        assert_eq!(alone, [[""; 0]; 2]);
        let (pairs, alone) = find_pair_names(&base, &[("6.12", "zen2"), ("6.13", "zen2")]);
        assert_eq!((pairs.len(), alone.map(|it| it.len())), (0, [2, 2]));
    }
}
