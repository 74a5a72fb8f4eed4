//! The names of a program's rows as people read them.

use pathmeter_trace::RowKind;

/// The name of what a program does itself: all rows that do not depend on the timer.
pub const OWN_WORK: &str = RowKind::OwnWork.plural();
/// The name of all rows together.
pub const SUM: &str = RowKind::Sum.plural();

/// A row's name as people read it.
pub fn row_name(kind: RowKind, name: &str) -> String {
    match (kind, name) {
        (RowKind::Syscall32, name) if !name.is_empty() => format!("{name} (32-bit)"),
        (RowKind::Interrupt, name) if name.contains("timer") => {
            format!("timer interrupt ({})", source(name))
        }
        (RowKind::Syscall | RowKind::Region, name) if !name.is_empty() => name.to_owned(),
        (kind, "") => kind.plural().to_owned(),
        (kind, name) => format!("{}: {}", kind.singular(), source(name)),
    }
}

/// The source of an interrupt or exception without what Linux adds to the name of each entry.
fn source(name: &str) -> &str {
    let short = name.strip_prefix("asm_").unwrap_or(name);
    let short = short.strip_prefix("sysvec_").or(short.strip_prefix("exc_")).unwrap_or(short);
    let short = short.strip_suffix("_interrupt").unwrap_or(short);
    if short.is_empty() { name } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_named_as_people_read_it() {
        for (kind, name, expected) in [
            (RowKind::User, "", "user code"),
            (RowKind::Syscall, "openat", "openat"),
            (RowKind::Syscall32, "openat", "openat (32-bit)"),
            (RowKind::Syscall, "", "system calls"),
            (RowKind::PageFault, "write, not present", "page fault: write, not present"),
            (RowKind::Exception, "asm_exc_int3", "exception: int3"),
            (RowKind::Interrupt, "sysvec_apic_timer_interrupt", "timer interrupt (apic_timer)"),
            (RowKind::Interrupt, "asm_common_interrupt", "interrupt: common"),
            (RowKind::Interrupt, "_interrupt", "interrupt: _interrupt"),
            (RowKind::Softirq, "", "softirqs"),
            (RowKind::Softirq, "NET_RX", "softirq: NET_RX"),
            (RowKind::NewTask, "", "new tasks"),
            (RowKind::KernelThread, "", "kernel threads"),
            (RowKind::Agent, "", "pathmeter's own"),
            (RowKind::Other, "", "other"),
            (RowKind::InterpreterFault, "read", "QEMU's page fault: read"),
        ] {
            assert_eq!(row_name(kind, name), expected);
        }
    }
}
