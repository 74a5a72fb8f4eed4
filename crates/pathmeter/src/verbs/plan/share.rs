//! The share of this task: the cells, or the commits, of the shard that the command line and the
//! engine choose.

use std::num::NonZeroU32;

use pathmeter_plan::{ChosenShard, ShardArg, choose};

use super::node::variable;
use crate::failure::Failure;
use crate::screen::output::Screen;

/// The shard of this task; None for all.
///
/// # Errors
/// It is not clear which it is.
pub(super) fn choose_shard(
    argument: Option<ShardArg>,
    frozen: Option<NonZeroU32>,
) -> Result<Option<ChosenShard>, Failure> {
    choose(argument, frozen, &variable).map_err(|error| Failure::Usage {
        message: error.to_string(),
        help: "`pathmeter plan run --help` tells which variables are looked at".to_owned(),
    })
}

/// Those of `all` in the shard, by their hashes; says how many if there is a shard.
pub(super) fn share<'a, T>(
    chosen: Option<&ChosenShard>,
    (all, hash): (&'a [T], fn(&T) -> &str),
    what: &str,
    screen: &Screen,
) -> Vec<&'a T> {
    let Some(ChosenShard { shard, by }) = chosen else { return all.iter().collect() };
    let share: Vec<&T> = all.iter().filter(|one| shard.holds(hash(one))).collect();
    let by = by.trim_end_matches(',');
    screen.note(&format!("shard {shard}, by {by}: {} of {} {what}", share.len(), all.len()));
    share
}
