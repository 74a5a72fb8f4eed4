//! What shows that the kernel took a word of its command line: data, with the places of Linux's
//! source where it follows (6.1 and 6.12, where nothing else is said).
//!
//! A word that has no row for its value is unproved. What reads the same whether or not the word
//! was taken is no proof and has no row: at READY the clock has not switched to high resolution
//! yet, so `nohz=` and `highres=` have none.

use super::{File, Row, Test};

const V: &str = "/sys/devices/system/cpu/vulnerabilities/";
/// Reads of a mitigation that is off; the second if the microcode could not do it either.
const OFF: &[&str] = &["^Vulnerable$", "^Vulnerable, no microcode$"];
const ON: &[&str] = &["^Mitigation"];
const BUFFERS: &[&str] = &["Clear CPU buffers"];
const SHARED_VERW: &str = "one instruction, verw, serves mds=, tsx_async_abort=, mmio_stale_data= \
    and reg_file_data_sampling=: turn off each of them that the CPU needs";
const OTHER_VALUE: &str = "the kernel has no such choice on this CPU: name another value, or \
    another --cpu";

/// What Linux shows of a vulnerability, and says in its log.
const BUGS: &str = "arch/x86/kernel/cpu/bugs.c";
const SECURITY: &str = "security/security.c";
const SCHED: &str = "kernel/sched/core.c";
const CLOCKS: &str = "/sys/devices/system/clocksource/clocksource0/";
const CLOCK_SOURCE: &str = "kernel/time/clocksource.c";
const SYSCTLS: &str = "/proc/sys/";

pub(super) const ROWS: &[Row] = &[
    // Mitigations.
    state("mitigations", "off", "spectre_v1", &["^Vulnerable"]),
    state("mitigations", "off", "spectre_v2", OFF),
    state("mitigations", "off", "meltdown", OFF),
    state("mitigations", "off", "mds", OFF),
    state("mitigations", "off", "tsx_async_abort", OFF),
    state("mitigations", "off", "mmio_stale_data", OFF),
    state("mitigations", "off", "retbleed", OFF),
    state("mitigations", "off", "spec_store_bypass", OFF),
    state("mitigations", "off", "spec_rstack_overflow", OFF),
    state("mitigations", "auto", "spectre_v1", ON),
    state("nospectre_v1", "", "spectre_v1", &["^Vulnerable"]),
    state("nospectre_v2", "", "spectre_v2", OFF),
    state("spectre_v2", "off", "spectre_v2", OFF),
    state("spectre_v2", "on", "spectre_v2", ON),
    state("spectre_v2", "retpoline|retpoline,generic", "spectre_v2", &["^Mitigation: Retpolines"]),
    state("spectre_v2", "retpoline,lfence|retpoline,amd", "spectre_v2", &["LFENCE"]),
    state("spectre_v2", "ibrs", "spectre_v2", &["^Mitigation: IBRS"]),
    state(
        "spectre_v2",
        "eibrs",
        "spectre_v2",
        &[
            "^Mitigation: Enhanced IBRS$",
            "^Mitigation: Enhanced / Automatic IBRS$",
            "^Vulnerable: eIBRS with unprivileged eBPF",
        ],
    ),
    state("spectre_v2", "eibrs,retpoline", "spectre_v2", &["IBRS + Retpolines"]),
    state("spectre_v2", "eibrs,lfence", "spectre_v2", &["IBRS + LFENCE"]),
    part("spectre_bhi", "off", "spectre_v2", ("BHI: ", &["BHI: Vulnerable", "BHI: Retpoline"])),
    part("spectre_bhi", "on", "spectre_v2", ("BHI: ", &["BHI: SW loop", "BHI: BHI_DIS_S"])),
    part("spectre_v2_user", "off", "spectre_v2", ("IBPB", &["IBPB: disabled"])),
    part("spectre_v2_user", "on", "spectre_v2", ("IBPB", &["IBPB: always-on"])),
    part("spectre_v2_user", "prctl|seccomp", "spectre_v2", ("IBPB", &["IBPB: conditional"])),
    state("retbleed", "off", "retbleed", OFF),
    state("retbleed", "unret", "retbleed", &["untrained return thunk"]),
    state("retbleed", "ibpb", "retbleed", &["^Mitigation: IBPB"]),
    state("retbleed", "stuff", "retbleed", &["^Mitigation: Stuffing"]),
    state("mds", "off", "mds", OFF).helped(SHARED_VERW),
    state("mds", "full|full,nosmt", "mds", BUFFERS),
    state("tsx_async_abort", "off", "tsx_async_abort", OFF).helped(SHARED_VERW),
    state("tsx_async_abort", "full|full,nosmt", "tsx_async_abort", BUFFERS),
    state("mmio_stale_data", "off", "mmio_stale_data", OFF).helped(SHARED_VERW),
    state("mmio_stale_data", "full|full,nosmt", "mmio_stale_data", BUFFERS),
    state("reg_file_data_sampling", "off", "reg_file_data_sampling", OFF).helped(SHARED_VERW),
    state("reg_file_data_sampling", "on", "reg_file_data_sampling", &["Clear Register File"]),
    state("srbds", "off", "srbds", OFF),
    state("gather_data_sampling", "off", "gather_data_sampling", OFF),
    state("gather_data_sampling", "force", "gather_data_sampling", ON),
    state("indirect_target_selection", "off", "indirect_target_selection", OFF),
    state("indirect_target_selection", "on|force", "indirect_target_selection", &["thunks"]),
    state("tsa", "off", "tsa", OFF),
    state("tsa", "on", "tsa", BUFFERS),
    state("vmscape", "off", "vmscape", OFF),
    state("spec_rstack_overflow", "off", "spec_rstack_overflow", OFF),
    state("spec_rstack_overflow", "safe-ret", "spec_rstack_overflow", &["afe RET"]),
    state("spec_rstack_overflow", "microcode", "spec_rstack_overflow", &["icrocode"]),
    state("spec_rstack_overflow", "ibpb", "spec_rstack_overflow", &["^Mitigation: IBPB"]),
    state("nospec_store_bypass_disable", "", "spec_store_bypass", OFF),
    state("spec_store_bypass_disable", "off", "spec_store_bypass", OFF),
    state("spec_store_bypass_disable", "on", "spec_store_bypass", &["Bypass disabled$"]),
    state("spec_store_bypass_disable", "prctl", "spec_store_bypass", &["via prctl$"]),
    state("spec_store_bypass_disable", "seccomp", "spec_store_bypass", &["and seccomp$"]),
    state("nopti", "", "meltdown", OFF),
    state("pti", "off", "meltdown", OFF),
    log("pti", "on", "page tables isolation: ", &["enabled"], "arch/x86/mm/pti.c"),
    // Clocks and the scheduler.
    // At READY the TSC may still be the early one: the same counter, not refined yet.
    row(
        "clocksource",
        "tsc",
        file(CLOCKS, "current_clocksource"),
        Test::Any(&["^tsc"]),
        CLOCK_SOURCE,
    )
    .listing("available_clocksource"),
    row("clocksource", "*", file(CLOCKS, "current_clocksource"), Test::Equal, CLOCK_SOURCE)
        .listing("available_clocksource"),
    log("tsc", "unstable", "Marking TSC unstable", &["boot parameter"], "arch/x86/kernel/tsc.c"),
    log("preempt", "none", "Dynamic Preempt: ", &["Preempt: none"], SCHED),
    log("preempt", "voluntary", "Dynamic Preempt: ", &["Preempt: voluntary"], SCHED),
    log("preempt", "full", "Dynamic Preempt: ", &["Preempt: full"], SCHED),
    log("preempt", "lazy", "Dynamic Preempt: ", &["Preempt: lazy"], SCHED),
    sysctl("noautogroup", "", "kernel/sched_autogroup_enabled", &["^0$"]),
    sysctl("schedstats", "enable", "kernel/sched_schedstats", &["^1$"]),
    sysctl("schedstats", "disable", "kernel/sched_schedstats", &["^0$"]),
    sysctl("delayacct", "", "kernel/task_delayacct", &["^1$"]),
    sysctl("nowatchdog", "", "kernel/watchdog", &["^0$"]),
    // Memory.
    row(
        "transparent_hugepage",
        "always|madvise|never",
        file("/sys/kernel/mm/transparent_hugepage/", "enabled"),
        Test::Chosen,
        "mm/huge_memory.c, hugepage_init: off below 512 MiB",
    )
    .with_least_memory(
        1024,
        "Linux keeps it off in less than 512 MiB of memory: give --memory 1024",
    ),
    log("init_on_alloc", "1|on|y", "mem auto-init: stack", &["heap alloc:on"], "init/main.c"),
    log("init_on_alloc", "0|off|n", "mem auto-init: stack", &["heap alloc:off"], "init/main.c"),
    log("init_on_free", "1|on|y", "mem auto-init: stack", &["heap free:on"], "init/main.c"),
    log("init_on_free", "0|off|n", "mem auto-init: stack", &["heap free:off"], "init/main.c"),
    slub("slub_debug", "F", "sanity_checks"),
    slub("slab_debug", "F", "sanity_checks"),
    slub("slub_debug", "Z", "red_zone"),
    slub("slab_debug", "Z", "red_zone"),
    slub("slub_debug", "P", "poison"),
    slub("slab_debug", "P", "poison"),
    slub("slub_debug", "U", "store_user"),
    slub("slab_debug", "U", "store_user"),
    slub("slub_debug", "T", "trace"),
    slub("slab_debug", "T", "trace"),
    row(
        "page_owner",
        "on",
        file("/sys/kernel/debug/", "page_owner"),
        Test::Exists,
        "mm/page_owner.c",
    ),
    row("hugepages", "*", file(SYSCTLS, "vm/nr_hugepages"), Test::Equal, "mm/hugetlb.c"),
    sysctl("norandmaps", "", "kernel/randomize_va_space", &["^0$"]),
    maps("vsyscall", "none", ("[vsyscall]", Test::None)),
    maps("vsyscall", "xonly", ("[vsyscall]", Test::Any(&["--xp"]))),
    maps("vsyscall", "emulate", ("[vsyscall]", Test::Any(&["r-xp"]))),
    maps("vdso", "0", ("[vdso]", Test::None)),
    // Security modules, auditing, groups.
    row("lsm", "*", file("/sys/kernel/security/", "lsm"), Test::Modules, SECURITY),
    row("apparmor", "1", file("/sys/kernel/security/", "lsm"), Test::Any(&["apparmor"]), SECURITY),
    row("apparmor", "0", file("/sys/kernel/security/", "lsm"), Test::Not("apparmor"), SECURITY),
    row("selinux", "1", file("/sys/kernel/security/", "lsm"), Test::Any(&["selinux"]), SECURITY),
    row("selinux", "0", file("/sys/kernel/security/", "lsm"), Test::Not("selinux"), SECURITY),
    row("security", "*", file("/sys/kernel/security/", "lsm"), Test::Listed, SECURITY),
    log("audit", "1|on", "audit: ", &["enabled (after initialization)"], "kernel/audit.c"),
    log("audit", "0|off", "audit: ", &["disabled (until reboot)"], "kernel/audit.c"),
    log("cgroup_disable", "memory", "Disabling memory control", &[""], "kernel/cgroup"),
    log("cgroup_disable", "pressure", "Disabling pressure control", &[""], "kernel/cgroup"),
    row("psi", "1", file("/proc/pressure/", "cpu"), Test::Exists, "kernel/sched/psi.c"),
];

/// A file, all of whose lines are read.
const fn file(folder: &'static str, name: &'static str) -> File {
    File { folder, name, part: "" }
}

const fn row(
    word: &'static str,
    values: &'static str,
    file: File,
    test: Test,
    source: &'static str,
) -> Row {
    Row { word, values, file, test, source, help: None, listing: None, memory_mib: 0 }
}

/// A file of the folder `vulnerabilities`.
const fn state(
    word: &'static str,
    values: &'static str,
    name: &'static str,
    reads: &'static [&'static str],
) -> Row {
    part(word, values, name, ("", reads))
}

/// What such a file has behind a word.
const fn part(
    word: &'static str,
    values: &'static str,
    name: &'static str,
    (after, reads): (&'static str, &'static [&'static str]),
) -> Row {
    row(word, values, file(V, name), Test::State(after, reads), BUGS).helped(OTHER_VALUE)
}

/// Lines of the kernel's log that hold a part.
const fn log(
    word: &'static str,
    values: &'static str,
    part: &'static str,
    reads: &'static [&'static str],
    source: &'static str,
) -> Row {
    let file = File { folder: "/dev/", name: "kmsg", part };
    row(word, values, file, Test::Any(reads), source)
}

/// A sysctl that the word sets.
const fn sysctl(
    word: &'static str,
    values: &'static str,
    name: &'static str,
    reads: &'static [&'static str],
) -> Row {
    row(word, values, file(SYSCTLS, name), Test::Any(reads), "kernel/sysctl.c")
}

/// Lines of a process's mappings.
const fn maps(word: &'static str, values: &'static str, (part, test): (&'static str, Test)) -> Row {
    let file = File { folder: "/proc/self/", name: "maps", part };
    row(word, values, file, test, "arch/x86/entry")
}

/// A letter among those of `slub_debug=`.
const fn slub(word: &'static str, letter: &'static str, name: &'static str) -> Row {
    let file = file("/sys/kernel/slab/kmalloc-64/", name);
    row(word, letter, file, Test::Letter, "mm/slub.c, setup_slub_debug")
}

impl Row {
    const fn helped(self, help: &'static str) -> Self {
        Self { help: Some(help), ..self }
    }

    /// With a file of the same folder that lists what could be chosen.
    const fn listing(self, name: &'static str) -> Self {
        Self { listing: Some(file(self.file.folder, name)), ..self }
    }

    /// The least memory, in MiB, of a guest from which this can be expected; `help` is for others.
    const fn with_least_memory(self, memory_mib: u32, help: &'static str) -> Self {
        Self { memory_mib, ..self.helped(help) }
    }
}
