//! Words for places: the kernel's own entry points, and which kind of work is below each. A
//! function goes by the nearest of these above it in the call tree, itself included.
//!
//! Source: the call trees of the 67 paths on Linux 5.10 to 7.3; the names are those of kallsyms.

use pathmeter_model::Area;

/// What a name begins with, and the kind of work. The longest that fits counts.
const PLACES: &[(&str, Area)] = &[
    ("__alloc_pages", Area::Allocator),
    ("__alloc_frozen_pages", Area::Allocator),
    ("__common_interrupt", Area::Interrupts),
    ("__do_fault", Area::PageTables),
    ("__do_sys_new", Area::Files),
    ("__fput", Area::Files),
    ("__handle_mm_fault", Area::PageTables),
    ("__kmalloc", Area::Allocator),
    ("__kmem_cache", Area::Allocator),
    ("__schedule", Area::Scheduler),
    ("__set_task_", Area::Processes),
    ("__switch_to", Area::Scheduler),
    ("__x64_sys_", Area::Other),
    ("__x64_sys_futex", Area::Futex),
    ("__x64_sys_clone", Area::Processes),
    ("__x64_sys_close", Area::Files),
    ("__x64_sys_exit", Area::Processes),
    ("__x64_sys_fork", Area::Processes),
    ("__x64_sys_ioctl", Area::Files),
    ("__x64_sys_kill", Area::Signals),
    ("__x64_sys_open", Area::Files),
    ("__x64_sys_read", Area::Files),
    ("__x64_sys_recv", Area::Sockets),
    ("__x64_sys_rt_sig", Area::Signals),
    ("__x64_sys_sched_yield", Area::Scheduler),
    ("__x64_sys_send", Area::Sockets),
    ("__x64_sys_tgkill", Area::Signals),
    ("__x64_sys_vfork", Area::Processes),
    ("__x64_sys_wait", Area::Processes),
    ("__x64_sys_write", Area::Files),
    ("[user]", Area::User),
    ("alloc_pages", Area::Allocator),
    ("anon_pipe_", Area::Pipes),
    ("apparmor_", Area::Security),
    ("arch_do_signal_or_restart", Area::Signals),
    ("arch_exit_to_user_mode", Area::Entry),
    ("asm_common_interrupt", Area::Interrupts),
    ("asm_exc_page_fault", Area::PageTables),
    ("asm_sysvec_", Area::Interrupts),
    ("common_interrupt", Area::Interrupts),
    ("complete_signal", Area::Signals),
    ("copy_page_range", Area::PageTables),
    ("copy_process", Area::Processes),
    ("do_exit", Area::Processes),
    ("do_fast_syscall_32", Area::Entry),
    ("do_filp_open", Area::Files),
    ("do_futex", Area::Futex),
    ("do_int80", Area::Entry),
    ("do_send_sig_info", Area::Signals),
    ("do_softirq", Area::Interrupts),
    ("do_syscall_64", Area::Entry),
    ("do_user_addr_fault", Area::PageTables),
    ("do_wait", Area::Processes),
    ("dup_mm", Area::PageTables),
    ("entry_SYSCALL_64", Area::Entry),
    ("entry_INT80", Area::Entry),
    ("exc_page_fault", Area::PageTables),
    ("exit_mm", Area::PageTables),
    ("exit_to_user_mode", Area::Entry),
    ("free_pages", Area::Allocator),
    ("free_unref", Area::Allocator),
    ("futex_", Area::Futex),
    ("get_signal", Area::Signals),
    ("handle_mm_fault", Area::PageTables),
    ("handle_softirqs", Area::Interrupts),
    ("hrtimer_interrupt", Area::Interrupts),
    ("inet_", Area::Sockets),
    ("ip_", Area::Sockets),
    ("irqentry_", Area::Entry),
    ("kernel_clone", Area::Processes),
    ("kfree", Area::Allocator),
    ("kmem_cache_", Area::Allocator),
    ("ksys_ioperm", Area::Processes),
    ("landlock_", Area::Security),
    ("lockdown_", Area::Security),
    ("mmput", Area::PageTables),
    ("native_tss_update_io_bitmap", Area::Scheduler),
    ("pcpu_alloc", Area::Allocator),
    ("pipe_", Area::Pipes),
    ("release_task", Area::Processes),
    ("sched_tick", Area::Scheduler),
    ("schedule", Area::Scheduler),
    ("scheduler_tick", Area::Scheduler),
    ("security_", Area::Security),
    ("send_signal", Area::Signals),
    ("signal_setup_done", Area::Signals),
    ("sock_", Area::Sockets),
    ("switch_fpu", Area::Scheduler),
    ("switch_mm", Area::Scheduler),
    ("syscall_enter_from_user_mode", Area::Entry),
    ("syscall_exit_", Area::Entry),
    ("sysvec_", Area::Interrupts),
    ("tcp_", Area::Sockets),
    ("tick_", Area::Interrupts),
    ("timer_interrupt", Area::Interrupts),
    ("try_to_wake_up", Area::Scheduler),
    ("unix_", Area::Sockets),
    ("unmap_", Area::PageTables),
    ("update_process_times", Area::Interrupts),
    ("vfs_", Area::Files),
    ("x64_sys_call", Area::Entry),
];

/// The functions that an interrupt's handler begins with.
const INTERRUPTS: &[&str] = &[
    "asm_common_interrupt",
    "asm_sysvec_",
    "common_interrupt",
    "__common_interrupt",
    "sysvec_",
    "__sysvec_",
    "timer_interrupt",
];

/// The kind of work that a function of this name begins; none if it is not in the table.
pub(crate) fn area(name: &str) -> Option<Area> {
    let fits = PLACES.iter().filter(|(begin, _)| name.starts_with(begin));
    let longest = fits.max_by_key(|(begin, _)| begin.len())?;
    (longest.1 != Area::Other).then_some(longest.1)
}

/// Whether an interrupt's handler begins with a function of this name.
pub(crate) fn is_interrupt(name: &str) -> bool {
    INTERRUPTS.iter().any(|begin| name.starts_with(begin))
}
