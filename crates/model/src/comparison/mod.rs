//! `pathmeter.comparison/1`: two results, row by row; and `pathmeter.folder-comparison/1`: those of
//! two folders.

pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod document;
pub(crate) mod event_pairs;
pub(crate) mod events;
pub(crate) mod folders;
pub(crate) mod only_process;
pub(crate) mod options;
pub(crate) mod pair_shown;
pub(crate) mod sleep_comparison;
pub(crate) mod tail;
pub(crate) mod verdict;
pub(crate) mod work_comparison;
