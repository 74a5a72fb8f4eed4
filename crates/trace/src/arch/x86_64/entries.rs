//! The names and numbers by which the kernel's entries are known, its way from task to task, and
//! where it idles: of Linux on x86-64, and of the lab kernel.
//!
//! Sources: `arch/x86/entry/entry_64.S`, `arch/x86/include/asm/idtentry.h`,
//! `arch/x86/include/asm/syscall_wrapper.h`, `arch/x86/include/asm/irq_vectors.h`.

/// All code that enters the kernel or leaves it: its first byte, and the one after its last.
pub(crate) const ENTRY_TEXT: [&str; 2] = ["__entry_text_start", "__entry_text_end"];
/// Where a 64-bit system call arrives.
pub(crate) const SYSCALL_ENTRY: &str = "entry_SYSCALL_64";
/// Where a 32-bit one does.
pub(crate) const SYSCALL_ENTRIES_32: [&str; 4] =
    ["entry_INT80_compat", "entry_SYSENTER_compat", "entry_SYSCALL_compat", "asm_int80_emulation"];
/// Where a page fault arrives.
pub(crate) const PAGE_FAULT_ENTRY: &str = "asm_exc_page_fault";
/// What the entries of exceptions and of interrupts with a name are called, before that name.
pub(crate) const EXCEPTION_PREFIX: &str = "asm_exc_";
pub(crate) const INTERRUPT_PREFIX: &str = "asm_sysvec_";
/// Where Linux goes from task to task.
pub(crate) const SWITCH: &str = "__switch_to_asm";
/// Where a new task begins, in new kernels and in older ones.
pub(crate) const NEW_TASK_ENTRIES: [&str; 2] = ["ret_from_fork_asm", "ret_from_fork"];
/// Beginnings of the names of system calls' functions, the ones to be preferred first.
pub(crate) const SYSCALL_PREFIXES: [&str; 6] = [
    "__x64_sys_",
    "__x64_compat_sys_",
    "__ia32_compat_sys_",
    "__ia32_sys_",
    "__x32_compat_sys_",
    "__do_sys_",
];
/// Exceptions that come after their instruction, or without one (Intel SDM volume 3, table 6-1);
/// and the one for an unknown instruction, since QEMU's clock counts that although it is not
/// executed.
pub(crate) const TRAPS: [&str; 7] =
    ["int3", "debug", "overflow", "nmi", "machine_check", "double_fault", "invalid_op"];
/// Most vectors that a table of entries has; with one in 8 bytes for each.
pub(crate) const MOST_VECTORS: u64 = 224;
/// The vectors of a PC's timer, keyboard and clock (Linux `arch/x86/include/asm/irq_vectors.h`,
/// `ISA_IRQ_VECTOR`).
pub(crate) const PC_VECTORS: [u64; 3] = [0x30, 0x31, 0x38];
/// The first vector that is not an exception's.
pub(crate) const FIRST_VECTOR: u64 = 0x20;
/// Functions in which the CPU idles. Linux `kernel/sched/idle.c`, `arch/x86/kernel/process.c`,
/// `drivers/cpuidle`; the lab kernel's `kernel/sched.c`.
pub(crate) const IDLE: [&str; 19] = [
    "acpi_idle_do_entry",
    "acpi_safe_halt",
    "amd_e400_idle",
    "arch_cpu_idle",
    "cpu_idle_poll",
    "cpuidle_enter_state",
    "default_idle",
    "default_idle_call",
    "do_idle",
    "idle_by_hlt",
    "idle_by_hlt_checked_early",
    "idle_by_poll",
    "idle_loop",
    "intel_idle",
    "mwait_idle",
    "native_safe_halt",
    "poll_idle",
    "pv_native_safe_halt",
    "sched_idle",
];
/// Tables with an entry for each interrupt, which go on in `asm_common_interrupt`.
pub(crate) const ENTRY_TABLES: [&str; 2] = ["irq_entries_start", "spurious_entries_start"];
/// Where the stack of the next task is loaded: Linux `arch/x86/entry/entry_64.S`, the lab kernel's
/// `x86/switch.S`.
pub(crate) const SWITCHES: [&str; 2] = ["__switch_to_asm", "switch_to"];
/// What the names of other entries begin with: on Linux, and in the lab kernel.
pub(crate) const ENTRY_PREFIXES: [&str; 6] =
    ["asm_exc_", "asm_sysvec_", "entry_network", "entry_reschedule", "entry_test", "entry_timer"];

/// Bytes of each entry of a table that has so many: with `CONFIG_X86_KERNEL_IBT` they are 16.
pub(crate) fn table_entry_bytes(table: u64) -> u64 {
    if table / 8 > MOST_VECTORS { 16 } else { 8 }
}

/// How Linux names what an interrupt or exception arrives at, since 5.8 and before.
const INTERRUPT_ENTRIES: [&str; 13] = [
    "asm_sysvec_",
    "asm_common_interrupt",
    "asm_spurious_interrupt",
    "asm_exc_nmi",
    "asm_exc_xen_hypervisor_callback",
    "irq_entries_start",
    "spurious_entries_start",
    "common_interrupt",
    "apic_timer_interrupt",
    "reschedule_interrupt",
    "call_function_",
    "irq_work_interrupt",
    "hyperv_",
];
const EXCEPTION_ENTRIES: [&str; 12] = [
    "asm_exc_",
    "asm_int3",
    "early_idt_handler_array",
    "page_fault",
    "async_page_fault",
    "general_protection",
    "invalid_op",
    "device_not_available",
    "double_fault",
    "divide_error",
    "stack_segment",
    "int3",
];

/// What kind of entry into the kernel a function is, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    Interrupt,
    Exception,
}

impl Gate {
    /// The gate whose first instruction stands `offset` bytes into the function `name`.
    pub(crate) fn at(name: &str, offset: u64) -> Option<Self> {
        // Tables of entries have one every few bytes.
        let is_table = name.ends_with("entries_start") || name.ends_with("handler_array");
        if offset == 0 || is_table { Self::of(name) } else { None }
    }

    fn of(name: &str) -> Option<Self> {
        // Names that end with `_` are families, the others whole names.
        let is = |entry: &str| name == entry || entry.ends_with('_') && name.starts_with(entry);
        if INTERRUPT_ENTRIES.iter().any(|entry| is(entry)) {
            return Some(Self::Interrupt);
        }
        EXCEPTION_ENTRIES.iter().any(|entry| is(entry)).then_some(Self::Exception)
    }
}
