//! Kernels that lack something: what needs it is `unsupported`, each with a reason that names what
//! is missing, and the rest is measured.

use pathmeter_e2e::{NOT_ON_BUILT, NOT_ON_LINUX, Run, Scene, built, soak, with_status};

/// What `bare` can't do, and the option that its reason must name.
const BARE: &[(&str, &str)] = &[
    ("syscall.getppid-int80", "CONFIG_IA32_EMULATION"),
    ("switch.yield+rseq-offered", "rseq"),
    ("switch.yield+ioport-0x80", "CONFIG_X86_IOPL_IOPERM"),
    ("switch.yield+ioport-0xffff", "CONFIG_X86_IOPL_IOPERM"),
    ("switch.yield+ioport-both", "CONFIG_X86_IOPL_IOPERM"),
    ("switch.iopl-yield", "lab"),
    ("switch.iopl-yield+ioport-0x80", "lab"),
    ("switch.iopl-yield+ioport-0xffff", "lab"),
    ("ports.ioperm", "CONFIG_X86_IOPL_IOPERM"),
    ("ioctl.native", "CONFIG_NET"),
    ("ioctl.compat-int80", "CONFIG_IA32_EMULATION"),
    ("ioctl.compat-entry", "CONFIG_NET"),
    ("ioctl.native+2cpu", "lab"),
    ("ioctl.compat-int80+2cpu", "CONFIG_IA32_EMULATION"),
    ("ioctl.compat-entry+2cpu", "CONFIG_IA32_EMULATION"),
    ("lock.wait+2cpu", "lab"),
    ("getcpu.rdpid", "CPU"),
    ("softirq.timer+user", "CONFIG_NET"),
    ("softirq.timer+idle", "CONFIG_NET"),
    ("softirq.net-rx", "CONFIG_NET"),
    ("softirq.net-rx+user", "device"),
    ("softirq.net-rx+idle", "device"),
    ("softirq.net-rx+hlt", "device"),
    ("softirq.net-rx+calls", "device"),
    ("softirq.again+user", "device"),
    ("softirq.again+idle", "device"),
    ("softirq.again+slice", "device"),
    ("softirq.round-trip", "device"),
    ("signal.deliver+rseq-offered", "rseq"),
    ("unix.round-trip", "CONFIG_UNIX"),
    ("tcp.round-trip", "CONFIG_NET"),
    ("memory.fault-huge", "madvise"),
    ("tcp.connect", "CONFIG_NET"),
    ("udp.round-trip", "CONFIG_NET"),
    ("sem.round-trip", "semget"),
    ("io-uring.nop", "io_uring_setup"),
    ("io-uring.read", "io_uring_setup"),
    ("wake.switch", "CONFIG_KALLSYMS"),
    ("irq.softirq", "CONFIG_NET"),
    ("timer.expire", "CONFIG_KALLSYMS"),
    ("fault.return", "CONFIG_KALLSYMS"),
];

fn measure(variant: &str) -> Run {
    Scene::warm().run(&["measure", &built(variant), "--perturb", "2", "--json"])
}

#[test]
fn without_every_feature_at_once_the_rest_is_measured() {
    let result = measure("bare").json();
    assert_eq!(with_status(&result, "failed"), []);
    let unsupported = with_status(&result, "unsupported");
    let names: Vec<_> = unsupported.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, BARE.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    for ((name, reason), (_, option)) in unsupported.iter().zip(BARE) {
        assert!(reason.contains(option), "{name}: {reason}");
    }
}

#[test]
fn without_a_serial_console_or_the_quick_entry_all_paths_are_measured() {
    for variant in ["no-serial", "no-pvh"] {
        let result = measure(variant).json();
        assert_eq!(with_status(&result, "failed"), [], "{variant}");
        let unsupported = with_status(&result, "unsupported");
        let names: Vec<_> = unsupported.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, [NOT_ON_LINUX, NOT_ON_BUILT].concat(), "{variant}");
    }
}

#[test]
fn without_one_feature_only_what_needs_it_is_unsupported() {
    if !soak() {
        return;
    }
    let bare: Vec<_> = BARE.iter().map(|(name, _)| *name).collect();
    for variant in ["no-devtmpfs", "no-tracefs", "no-ia32", "no-net", "no-ioport"] {
        let result = measure(variant).json();
        assert_eq!(with_status(&result, "failed"), [], "{variant}");
        for (name, reason) in with_status(&result, "unsupported") {
            assert!(bare.contains(&name) && !reason.is_empty(), "{variant}: {name}: {reason}");
        }
    }
}
