//! The kind of work that a function does. What many parts of the kernel call, such as a lock, goes
//! by its own name; other functions by the nearest above them, in the call tree, that goes by a
//! name. Where debug information has a function's source file, that goes before the name.

use pathmeter_model::Area;

use crate::places::{ENTRIES, FILES, HANDLERS, OWN, Table};

/// The kind of work that a function of this name begins; none if it is no entry point.
pub(crate) fn entry(name: &str) -> Option<Area> {
    longest(ENTRIES, name).filter(|area| *area != Area::Other)
}

/// The kind of work that a function of this name does wherever it is called from, or begins.
pub(crate) fn own(name: &str) -> Option<Area> {
    longest(OWN, name.trim_start_matches('_')).or_else(|| entry(name))
}

/// The kind of work that the functions of a source file do.
pub(crate) fn of_file(file: &str) -> Option<Area> {
    longest(FILES, file)
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
    fn the_most_exact_name_of_a_file_or_its_folder_counts() {
        for (file, area) in [
            ("mm/memory.c", Some(Area::PageTables)),
            ("mm/slub.c", Some(Area::Allocator)),
            ("fs/pipe.c", Some(Area::Pipes)),
            ("fs/read_write.c", Some(Area::Files)),
            ("arch/x86/entry/entry_64.S", Some(Area::Entry)),
            ("arch/x86/kernel/process_64.c", Some(Area::Scheduler)),
            ("arch/x86/kernel/process.c", Some(Area::Processes)),
            ("kernel/signal.c", Some(Area::Signals)),
            ("lib/string.c", None),
            ("/usr/src/linux/mm/slub.c", None),
        ] {
            assert_eq!(of_file(file), area, "{file}");
        }
    }

    #[test]
    fn no_table_has_a_name_twice() {
        for table in [ENTRIES, FILES, OWN] {
            let names = table.iter().flat_map(|(_, names)| names.split(' '));
            let mut names: Vec<&str> = names.collect();
            names.sort_unstable();
            let twice = names.windows(2).find(|two| two[0] == two[1]);
            assert_eq!(twice, None);
        }
    }
}
