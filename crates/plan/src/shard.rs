//! Shards: the cells of one task among several, and which task this is.
//!
//! Contract: which shard a cell belongs to depends on its id and on the number of shards alone, so
//! that no task needs to know of another. Each cell is in exactly one.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

/// One of several shards of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The number of this shard, from 1.
    pub number: u32,
    /// How many shards there are.
    pub count: NonZeroU32,
}

/// What a command line says of shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShardArg {
    /// `I/N`.
    This(Shard),
    /// `/N`: which one it is, the engine says.
    Of(NonZeroU32),
}

/// The shard of this task, and what says so; None for all cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenShard {
    pub shard: Shard,
    /// What chose it, in words.
    pub by: String,
}

/// Why it is not clear which shard this is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ShardError(String);

impl Shard {
    /// Whether the cell is in it.
    pub fn holds(self, id: &str) -> bool {
        let beginning = id.get(..16).and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let place = beginning.unwrap_or(0) % u64::from(self.count.get());
        place == u64::from(self.number) - 1
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

impl FromStr for ShardArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            "a shard is I/N, the first one 1/N, or /N where an engine's variable says which it is"
                .to_owned()
        };
        let (number, count) = text.split_once('/').ok_or_else(wrong)?;
        let count: NonZeroU32 = count.parse().map_err(|_| wrong())?;
        if number.is_empty() {
            return Ok(Self::Of(count));
        }
        let number: u32 = number.parse().map_err(|_| wrong())?;
        if number == 0 || number > count.get() {
            return Err(format!("there is no shard {number}: shards are 1 to {count}"));
        }
        Ok(Self::This(Shard { number, count }))
    }
}

/// What an engine says of this task.
struct Task {
    /// The variable, and its value.
    variable: String,
    /// Which task it is, from 0.
    index: u32,
    /// How many there are, if the engine says.
    count: Option<u32>,
}

/// Which shard this is, by the command line, the plan and the variables of engines.
///
/// # Errors
/// They contradict each other, or it can't be known.
pub fn choose(
    argument: Option<ShardArg>,
    frozen: Option<NonZeroU32>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<ChosenShard>, ShardError> {
    let count = match (argument, frozen) {
        (Some(ShardArg::This(Shard { count, .. }) | ShardArg::Of(count)), Some(frozen))
            if count != frozen =>
        {
            return Err(ShardError(format!(
                "--shard names {count} shards, but the plan has {frozen}"
            )));
        }
        (Some(ShardArg::This(shard)), _) => {
            return Ok(Some(ChosenShard { shard, by: "--shard".to_owned() }));
        }
        (Some(ShardArg::Of(count)), _) => Some(count),
        (None, frozen) => frozen,
    };
    match (task(variable)?, argument) {
        (Some(task), _) => task.of(count).map(Some),
        (None, Some(_)) => Err(ShardError(format!(
            "no engine's variable says which shard this is: none of {VARIABLES} is set"
        ))),
        (None, None) => Ok(None),
    }
}

const VARIABLES: &str = "SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX and CI_NODE_INDEX";

impl Task {
    /// Its shard of so many, or of as many as the engine says.
    fn of(self, count: Option<NonZeroU32>) -> Result<ChosenShard, ShardError> {
        let Self { variable, index, count: told } = self;
        let count = match (count, told.and_then(NonZeroU32::new)) {
            (Some(count), Some(told)) if count != told => {
                return Err(ShardError(format!(
                    "{variable} is one of {told} tasks, but there are {count} shards: name this \
                     one with --shard I/{count}"
                )));
            }
            (count, told) => count.or(told),
        };
        let Some(count) = count else {
            return Err(ShardError(format!(
                "{variable} does not give the number of shards: give --shard /N, or plan with \
                 --shards N"
            )));
        };
        let number = index.saturating_add(1);
        if number > count.get() {
            return Err(ShardError(format!("{variable} is beyond the {count} shards")));
        }
        Ok(ChosenShard { shard: Shard { number, count }, by: variable })
    }
}

/// What the engine that runs this says, if there is one.
fn task(variable: &dyn Fn(&str) -> Option<String>) -> Result<Option<Task>, ShardError> {
    let number = |name: &str| -> Result<Option<u32>, ShardError> {
        let Some(text) = variable(name) else { return Ok(None) };
        let wrong = |_| ShardError(format!("{name} is {text:?}, which is no number"));
        text.trim().parse().map(Some).map_err(wrong)
    };
    let slurm = number("SLURM_ARRAY_TASK_ID")?.map(|id| slurm(id, &number)).transpose()?;
    let kubernetes = number("JOB_COMPLETION_INDEX")?.map(|index| Task {
        variable: format!("JOB_COMPLETION_INDEX={index}, which counts from 0,"),
        index,
        count: None,
    });
    let gitlab = match number("CI_NODE_INDEX")? {
        None => None,
        Some(0) => return Err(ShardError("CI_NODE_INDEX is 0, and counts from 1".to_owned())),
        Some(index) => Some(Task {
            variable: format!("CI_NODE_INDEX={index}, which counts from 1,"),
            index: index - 1,
            count: number("CI_NODE_TOTAL")?,
        }),
    };
    let mut tasks: Vec<Task> = [slurm, kubernetes, gitlab].into_iter().flatten().collect();
    match tasks.len() {
        0 | 1 => Ok(tasks.pop()),
        _ => Err(ShardError(format!(
            "more than one of {VARIABLES} is set: name the shard with --shard I/N"
        ))),
    }
}

/// A task of a Slurm array, whose ids may begin anywhere and have steps, but must have no holes.
fn slurm(
    id: u32,
    number: &impl Fn(&str) -> Result<Option<u32>, ShardError>,
) -> Result<Task, ShardError> {
    let count = number("SLURM_ARRAY_TASK_COUNT")?;
    let step = number("SLURM_ARRAY_TASK_STEP")?.unwrap_or(1).max(1);
    let min = number("SLURM_ARRAY_TASK_MIN")?.unwrap_or(0);
    let max = number("SLURM_ARRAY_TASK_MAX")?;
    let variable = format!("SLURM_ARRAY_TASK_ID={id} of an array that begins with {min}");
    let holes = || {
        ShardError(format!(
            "{variable}: the array has holes, as one of tasks that are repeated does: name the \
             shard with --shard I/N"
        ))
    };
    let index = id.checked_sub(min).filter(|from| from % step == 0).ok_or_else(holes)? / step;
    let whole = max.zip(count).is_none_or(|(max, count)| {
        max.checked_sub(min).is_some_and(|last| last % step == 0 && last / step + 1 == count)
    });
    if !whole || count.is_some_and(|count| index >= count) {
        return Err(holes());
    }
    Ok(Task { variable, index, count })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::id::sha256;

    fn with(
        argument: Option<&str>,
        frozen: Option<u32>,
        variables: &[(&str, &str)],
    ) -> Result<Option<ChosenShard>, ShardError> {
        let find = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, it)| (*it).to_owned())
        };
        let argument = argument.map(|it| it.parse().unwrap());
        choose(argument, frozen.and_then(NonZeroU32::new), &find)
    }

    fn shard(argument: Option<&str>, frozen: Option<u32>, variables: &[(&str, &str)]) -> String {
        let chosen = with(argument, frozen, variables);
        chosen.unwrap().map_or("all".to_owned(), |it| it.shard.to_string())
    }

    const SLURM: [(&str, &str); 4] = [
        ("SLURM_ARRAY_TASK_ID", "2"),
        ("SLURM_ARRAY_TASK_COUNT", "8"),
        ("SLURM_ARRAY_TASK_MIN", "0"),
        ("SLURM_ARRAY_TASK_MAX", "7"),
    ];

    proptest! {
        #[test]
        fn each_cell_is_in_exactly_one_of_any_number_of_shards(
            names in prop::collection::vec(".*", 1..50), count in 1u32..300,
        ) {
            let count = NonZeroU32::new(count).unwrap();
            for name in names {
                let id = &sha256(name.as_bytes())[..32];
                let of = (1..=count.get()).filter(|&number| Shard { number, count }.holds(id));
                prop_assert_eq!(of.count(), 1);
            }
        }
    }

    #[test]
    fn cells_are_dealt_about_evenly() {
        let count = NonZeroU32::new(10).unwrap();
        let ids: Vec<String> = (0..10_000).map(|n| sha256(format!("{n}").as_bytes())).collect();
        for number in 1..=10 {
            let held = ids.iter().filter(|id| Shard { number, count }.holds(id)).count();
            assert!((850..1150).contains(&held), "{held}");
        }
    }

    #[test]
    fn each_engine_has_a_base_of_its_own() {
        assert_eq!(shard(None, None, &[]), "all");
        assert_eq!(shard(Some("2/3"), None, &SLURM), "2/3");
        assert_eq!(shard(None, None, &SLURM), "3/8");
        let from_one = [
            ("SLURM_ARRAY_TASK_ID", "5"),
            ("SLURM_ARRAY_TASK_COUNT", "3"),
            ("SLURM_ARRAY_TASK_MIN", "1"),
            ("SLURM_ARRAY_TASK_MAX", "5"),
            ("SLURM_ARRAY_TASK_STEP", "2"),
        ];
        assert_eq!(shard(None, None, &from_one), "3/3");
        let index = [("JOB_COMPLETION_INDEX", "0")];
        assert_eq!(shard(Some("/4"), None, &index), "1/4");
        assert_eq!(shard(None, Some(4), &index), "1/4");
        let gitlab = [("CI_NODE_INDEX", "4"), ("CI_NODE_TOTAL", "4")];
        assert_eq!(shard(None, None, &gitlab), "4/4");
        // GitLab sets it in every job.
        assert_eq!(shard(None, None, &[("CI_NODE_TOTAL", "1")]), "all");
    }

    #[test]
    fn what_can_not_be_known_is_refused_with_the_variable() {
        let told = |argument, frozen, variables: &[(&str, &str)]| {
            with(argument, frozen, variables).unwrap_err().to_string()
        };
        assert!(told(None, None, &[("JOB_COMPLETION_INDEX", "0")]).contains("--shard /N"));
        assert!(told(Some("/4"), None, &[]).contains("none of SLURM_ARRAY_TASK_ID"));
        assert!(told(Some("1/4"), Some(5), &[]).contains("the plan has 5"));
        assert!(told(None, Some(5), &SLURM).contains("one of 8 tasks"));
        assert!(told(None, Some(5), &[("JOB_COMPLETION_INDEX", "5")]).contains("beyond the 5"));
        assert!(told(None, None, &[("CI_NODE_INDEX", "0")]).contains("counts from 1"));
        assert!(told(None, None, &[("CI_NODE_INDEX", "x")]).contains("no number"));
        let both = [("CI_NODE_INDEX", "1"), ("CI_NODE_TOTAL", "2"), SLURM[0]];
        assert!(told(None, None, &both).contains("more than one of"));
        let repeated = [
            ("SLURM_ARRAY_TASK_ID", "7"),
            ("SLURM_ARRAY_TASK_COUNT", "2"),
            ("SLURM_ARRAY_TASK_MIN", "3"),
            ("SLURM_ARRAY_TASK_MAX", "7"),
        ];
        assert!(told(None, None, &repeated).contains("holes"));
    }

    #[test]
    fn a_shard_is_one_of_those_that_there_are() {
        for text in ["", "1", "0/3", "4/3", "1/0", "/0", "-1/3", "a/b", "1/3/4"] {
            assert!(text.parse::<ShardArg>().is_err(), "{text}");
        }
    }
}
