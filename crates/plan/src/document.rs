//! The document of a plan, `pathmeter.plan/1`: its cells, and what is needed to measure them.
//!
//! Contract: canonical. The same wishes give the same bytes, in whatever order they were written.
//! Where a file lies stands beside the cells and is not part of their ids; what lies there is
//! compared with the hash before it is measured.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU32;

use pathmeter_model::Measurement;
use pathmeter_seal::{SealError, schema_name, unsealed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::is_id;
use crate::wanted::WantedProgram;

schema_name!(pub PlanSchema = "pathmeter.plan/1");

/// Cells that are to be measured. Hashes are SHA-256 in lower-case hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    pub schema: PlanSchema,
    /// The version of pathmeter that measures the cells.
    pub pathmeter: String,
    /// The version of QEMU that does.
    pub qemu: String,
    /// Hash of the agent: of its programs that are in the guest.
    pub agent_sha256: String,
    /// What the paths in this document are relative to: a folder, relative to that of this
    /// document.
    pub folder: String,
    /// How many shards the cells are dealt to; null if each run says so itself.
    pub shards: Option<NonZeroU32>,
    /// The guests' memory, in MiB; a program's may have more.
    pub memory_mib: u32,
    /// Perturbed runs.
    pub perturb: u32,
    /// Words that are added to the kernels' command line.
    pub append: String,
    /// Where modules are found; null for each kernel's own package.
    pub modules: Option<String>,
    pub images: Vec<PlanImage>,
    pub programs: Vec<PlanProgram>,
    /// The cells, in the order of their ids.
    pub cells: Vec<Cell>,
}

/// A kernel of a plan.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanImage {
    /// Its name in documents: the file's without folders, or `lab:…`.
    pub subject: String,
    /// Hash of the file, or of the lab kernel and its variants.
    pub sha256: String,
    /// Where it lies; null for the lab kernel, which is part of pathmeter.
    pub place: Option<String>,
}

/// A program of a plan, and how it is packed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanProgram {
    /// Hash of all that is packed for it.
    pub packed_sha256: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The folder that is the guest's root; null if files are where this machine has them.
    pub root: Option<String>,
    /// Files that are packed as well, each `SOURCE[:DESTINATION]`.
    pub file: Vec<String>,
    /// Variables of its environment, each `NAME=VALUE`.
    pub env: Vec<String>,
    /// The file that it reads from its standard input.
    pub stdin: Option<String>,
    /// The exit code that makes a run of it a measurement.
    pub exit_code: u8,
    /// The packed files by their paths in the guest, each with its hash.
    pub files: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// 32 hexadecimal digits of the hash of all that decides the result's bytes.
    pub id: String,
    /// The kernel: its place in `images`, from 0.
    pub image: usize,
    /// The CPU, as `--cpu` takes it; null for the usual one.
    pub cpu: Option<String>,
    /// The condition, as `--under` takes it; null for the default.
    pub under: Option<String>,
    /// The program: its place in `programs`, from 0; null if all paths are measured.
    pub program: Option<usize>,
}

/// Why a file is no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// It is no document of this schema.
    #[error("not a plan of this version of pathmeter: {0}")]
    Form(String),
    /// It is not the document that was written.
    #[error("{0}; plan again")]
    Seal(#[from] SealError),
    #[error("cell {0}: its id is not 32 hexadecimal digits")]
    Id(usize),
    /// The cells are not in order, or one is there twice.
    #[error("cell {0}: its id is not above that of the cell before it")]
    Order(usize),
    /// A cell refers to something that is not there.
    #[error("cell {0}: its image or program is not in the plan")]
    Reference(usize),
}

impl PlanProgram {
    /// The program as a plan's settings want it, so that it can be packed again.
    pub fn to_wanted(&self) -> WantedProgram {
        WantedProgram {
            command: self.command.clone(),
            root: self.root.clone(),
            file: self.file.clone(),
            env: self.env.clone(),
            stdin: self.stdin.clone(),
            exit_code: self.exit_code,
        }
    }
}

impl Plan {
    /// The same in its only form: everything sorted, what is there twice once. Of two that differ
    /// only in where they lie, the one whose text sorts first is kept.
    #[must_use]
    pub fn canonical(mut self) -> Self {
        let (images, at_image) = sorted(&self.images);
        let (programs, at_program) = sorted(&self.programs);
        for cell in &mut self.cells {
            cell.image = at_image[cell.image];
            cell.program = cell.program.map(|program| at_program[program]);
        }
        self.cells.sort();
        self.cells.dedup_by(|one, other| one.id == other.id);
        Self { images, programs, ..self }.without_unused()
    }

    /// Without kernels and programs of no cell.
    fn without_unused(mut self) -> Self {
        let images = used(&mut self.images, self.cells.iter().map(|cell| cell.image));
        let programs = used(&mut self.programs, self.cells.iter().filter_map(|cell| cell.program));
        for cell in &mut self.cells {
            cell.image = images[&cell.image];
            cell.program = cell.program.map(|program| programs[&program]);
        }
        self
    }

    /// Reads a plan.
    ///
    /// # Errors
    /// It is none, was changed after it was written, or contradicts itself.
    pub fn parse(bytes: &[u8]) -> Result<Self, PlanError> {
        let bytes = unsealed(bytes)?;
        let plan: Self =
            serde_json::from_slice(&bytes).map_err(|error| PlanError::Form(error.to_string()))?;
        let mut last = "";
        for (number, cell) in plan.cells.iter().enumerate() {
            if !is_id(&cell.id) {
                return Err(PlanError::Id(number));
            }
            if *cell.id <= *last {
                return Err(PlanError::Order(number));
            }
            let known = |program| program < plan.programs.len();
            if cell.image >= plan.images.len() || !cell.program.is_none_or(known) {
                return Err(PlanError::Reference(number));
            }
            last = &cell.id;
        }
        Ok(plan)
    }

    /// The cell in a person's words: `cloud.deb on zen3 under boot:nopti: ls -R /`.
    pub fn title(&self, cell: &Cell) -> String {
        let on = cell.cpu.as_ref().map(|cpu| format!(" on {cpu}"));
        let under = cell.under.as_ref().map(|under| format!(" under {under}"));
        let program = cell.program.and_then(|program| self.programs.get(program));
        let runs = program.map(|program| format!(": {}", program.command.join(" ")));
        let subject = self.images.get(cell.image).map(|image| image.subject.clone());
        [subject, on, under, runs].into_iter().flatten().collect()
    }

    /// Whether a result was measured on a cell's kernel.
    pub fn is_of(&self, cell: &Cell, result: &Measurement) -> bool {
        result.configuration.image_sha256 == self.images[cell.image].sha256
    }

    /// The only cell whose id begins so.
    pub fn cell(&self, beginning: &str) -> Option<&Cell> {
        let mut found = self.cells.iter().filter(|cell| cell.id.starts_with(beginning));
        found.next().filter(|_| found.next().is_none())
    }
}

/// Sorted, each once, and where each went.
fn sorted<T: Ord + Clone>(all: &[T]) -> (Vec<T>, Vec<usize>) {
    let mut sorted = all.to_vec();
    sorted.sort();
    sorted.dedup();
    let place = |one: &T| sorted.binary_search(one).unwrap_or_default();
    let places = all.iter().map(place).collect();
    (sorted, places)
}

/// Keeps those that are used; where each of these went.
fn used<T>(all: &mut Vec<T>, uses: impl Iterator<Item = usize>) -> HashMap<usize, usize> {
    let uses: std::collections::BTreeSet<usize> = uses.collect();
    let mut place = 0;
    all.retain(|_| {
        place += 1;
        uses.contains(&(place - 1))
    });
    uses.into_iter().enumerate().map(|(new, old)| (old, new)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::folder::json;
    use crate::id::sha256;

    fn image(name: &str, place: &str) -> PlanImage {
        PlanImage {
            subject: name.to_owned(),
            sha256: sha256(name.as_bytes()),
            place: Some(place.to_owned()),
        }
    }

    fn cell(image: usize, cpu: &str) -> Cell {
        let id = sha256(format!("{image} {cpu}").as_bytes())[..32].to_owned();
        Cell { id, image, cpu: Some(cpu.to_owned()), under: None, program: None }
    }

    fn plan(images: Vec<PlanImage>, cells: Vec<Cell>) -> Plan {
        Plan {
            schema: PlanSchema::V1,
            pathmeter: "0.1.0".to_owned(),
            qemu: "7.2.22".to_owned(),
            agent_sha256: sha256(b"agent"),
            folder: ".".to_owned(),
            shards: None,
            memory_mib: 128,
            perturb: 6,
            append: String::new(),
            modules: None,
            images,
            programs: Vec::new(),
            cells,
        }
    }

    /// A plan of `images` × 3 CPUs, its images and cells in this order.
    fn shuffled(images: usize, order: &[usize], cells: &[usize]) -> Plan {
        let names = order.iter().map(|name| image(&format!("k{name}"), &format!("f/k{name}")));
        let place = |name: usize| order.iter().position(|one| *one == name).unwrap();
        let all: Vec<(usize, &str)> =
            (0..images).flat_map(|name| ["a", "b", "c"].map(|cpu| (name, cpu))).collect();
        let cells = cells.iter().map(|at| {
            let (name, cpu) = all[*at];
            Cell { image: place(name), ..cell(name, cpu) }
        });
        plan(names.collect(), cells.collect())
    }

    proptest! {
        #[test]
        fn in_whatever_order_it_was_written_it_is_the_same_plan(
            order in Just((0..5).collect::<Vec<usize>>()).prop_shuffle(),
            cells in Just((0..15).collect::<Vec<usize>>()).prop_shuffle(),
        ) {
            let sorted = shuffled(5, &[0, 1, 2, 3, 4], &(0..15).collect::<Vec<_>>()).canonical();
            let other = shuffled(5, &order, &cells).canonical();
            prop_assert_eq!(&sorted, &other);
            let bytes = json(&other);
            prop_assert_eq!(Plan::parse(&bytes).unwrap(), sorted);
            for cell in &other.cells {
                let name = &other.images[cell.image].subject;
                let named = other.title(cell);
                let begins = format!("{name} on ");
                prop_assert!(named.starts_with(&begins));
                let cpu = cell.cpu.as_deref().unwrap();
                let of = format!("{} {cpu}", &name[1..]);
                prop_assert_eq!(&cell.id, &sha256(of.as_bytes())[..32]);
            }
        }

        #[test]
        fn nothing_in_a_file_makes_the_reader_panic(text in ".*", cut in 0usize..400) {
            let _ = Plan::parse(text.as_bytes());
            let bytes = json(&shuffled(1, &[0], &[0]));
            let cut = cut.min(bytes.len() - 1);
            prop_assert!(Plan::parse(&bytes[..cut]).is_err());
        }
    }

    #[test]
    fn what_is_there_twice_is_there_once_and_what_no_cell_needs_is_left_out() {
        let images = vec![image("k", "b/k"), image("k", "a/k"), image("unused", "u")];
        let twice = Cell { image: 1, ..cell(0, "x") };
        let plan = plan(images, vec![cell(0, "x"), twice]).canonical();
        assert_eq!((plan.cells.len(), plan.images.len()), (1, 1));
        assert_eq!(plan.images[0].place.as_deref(), Some("a/k"));
    }

    #[test]
    fn a_plan_that_contradicts_itself_is_none() {
        let good = shuffled(2, &[0, 1], &[0, 1, 2, 3]).canonical();
        let parsed = |plan: &Plan| Plan::parse(&json(plan));
        assert_eq!(parsed(&good).as_ref(), Ok(&good));
        let mut wrong = good.clone();
        wrong.cells.swap(0, 1);
        assert_eq!(parsed(&wrong), Err(PlanError::Order(1)));
        wrong = good.clone();
        wrong.cells[2].image = 2;
        assert_eq!(parsed(&wrong), Err(PlanError::Reference(2)));
        wrong = good.clone();
        wrong.cells[0].id = "../escape".to_owned();
        assert_eq!(parsed(&wrong), Err(PlanError::Id(0)));
        let other = serde_json::to_string(&good).unwrap().replace("plan/1", "plan/2");
        assert!(matches!(Plan::parse(other.as_bytes()), Err(PlanError::Seal(_))));
        let other = pathmeter_seal::sealed(&other).unwrap();
        assert!(matches!(Plan::parse(other.as_bytes()), Err(PlanError::Form(_))));
    }

    #[test]
    fn a_cell_is_found_by_the_beginning_of_its_id_if_no_other_begins_so() {
        let plan = shuffled(5, &[0, 1, 2, 3, 4], &(0..15).collect::<Vec<_>>()).canonical();
        let one = &plan.cells[3];
        assert_eq!(plan.cell(&one.id), Some(one));
        assert_eq!(plan.cell(""), None);
    }
}
