//! The kind of work that a function does. What many parts of the kernel call, such as a lock, goes
//! by its own name; other functions by the nearest above them, in the call tree, that goes by a
//! name.

use pathmeter_model::Area;

use crate::places::{ENTRIES, HANDLERS, OWN, Table};

/// The kind of work that a function of this name begins; none if it is no entry point.
pub(crate) fn entry(name: &str) -> Option<Area> {
    longest(ENTRIES, name).filter(|area| *area != Area::Other)
}

/// The kind of work that a function of this name does wherever it is called from, or begins.
pub(crate) fn own(name: &str) -> Option<Area> {
    longest(OWN, name.trim_start_matches('_')).or_else(|| entry(name))
}

/// Whether an interrupt's handler begins with a function of this name.
pub(crate) fn is_interrupt(name: &str) -> bool {
    HANDLERS.split(' ').any(|begin| name.starts_with(begin))
}

/// The area of the longest beginning of `name` in a table.
fn longest(table: Table, name: &str) -> Option<Area> {
    let begins = table.iter().flat_map(|(area, names)| names.split(' ').map(move |it| (it, *area)));
    let fits = begins.filter(|(begin, _)| name.starts_with(begin));
    fits.max_by_key(|(begin, _)| begin.len()).map(|(_, area)| area)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_many_call_goes_by_its_own_name() {
        for (name, area) in [
            ("rt_spin_unlock", Some(Area::Locking)),
            ("_raw_spin_lock_irqsave", Some(Area::Locking)),
            ("raw_spin_rq_unlock", Some(Area::Scheduler)),
            ("migrate_enable", Some(Area::Scheduler)),
            ("__rcu_read_unlock", Some(Area::Rcu)),
            ("exit_to_user_mode_loop", Some(Area::Entry)),
            ("exit_mmap", Some(Area::PageTables)),
            ("timer_interrupt", Some(Area::Interrupts)),
            ("__x64_sys_getcpu", None),
            ("memset_orig", None),
        ] {
            assert_eq!(own(name), area, "{name}");
        }
    }

    #[test]
    fn no_table_has_a_name_twice() {
        for table in [ENTRIES, OWN] {
            let names = table.iter().flat_map(|(_, names)| names.split(' '));
            let mut names: Vec<&str> = names.collect();
            names.sort_unstable();
            let twice = names.windows(2).find(|two| two[0] == two[1]);
            assert_eq!(twice, None);
        }
    }
}
