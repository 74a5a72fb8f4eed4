//! What a user can do, where that depends on the architecture.

/// About a QEMU that lacks a feature.
pub const LACKS_HELP: &str = "install your distribution's full qemu-system-x86, or name another \
                              QEMU with --qemu FILE";
/// About one that is too old.
pub(crate) const OLD_HELP: &str =
    "install a newer qemu-system-x86, or name another one with --qemu FILE";
/// About a program that does not say that it is QEMU.
pub(crate) const ASK_HELP: &str = "run it by hand with --version: it must print its version, as \
    the qemu-system-x86_64 of your distribution does; or name another one with --qemu FILE";
/// About a QEMU that is not there.
pub(crate) const INSTALL_HELP: &str = "install it (Debian, Ubuntu: apt-get install \
    qemu-system-x86; Fedora: dnf install qemu-system-x86-core; Arch: pacman -S qemu-system-x86), \
    or name it with --qemu FILE";
/// About a QEMU that made another machine than it was asked for.
pub(crate) const OTHER_MACHINE_HELP: &str = "what --qemu names, or qemu-system-x86_64 on PATH, \
    changes QEMU's arguments, as a script may: name QEMU itself with --qemu FILE";
/// About a QEMU that ends as it starts.
pub(crate) const START_HELP: &str = "if QEMU says why above, fix that: --cpu names a profile \
    (haswell, skylake, cascadelake, icelake, sapphirerapids, zen1, zen2, zen3, zen4, each of these \
    as a guest sees it (skylake-guest), plain, max) or one of `qemu-system-x86_64 -cpu help`, \
    --memory what this machine can spare, and a library or module that is missing is in another \
    package of your distribution's QEMU; `pathmeter doctor` checks QEMU";
/// About a kernel that panics while it boots.
pub(crate) const BOOT_HELP: &str = "the kernel must boot in QEMU's microvm machine without disk or \
    ACPI; add words to its command line with --append";
/// The same, if it may be QEMU's doing.
pub(crate) const DOUBTED_BOOT_HELP: &str = "the kernel must boot in QEMU's microvm machine without \
    disk or ACPI; add words to its command line with --append. QEMU before 8.0 may also make a \
    kernel die by chance, the same each time: try --append printk.any=1, or name a newer QEMU with \
    --qemu FILE";
/// About a panic that may be QEMU's (docs/explanation/exactness.md).
pub(crate) const DOUBTED_HELP: &str = "QEMU before 8.0 may set a guest's flags wrongly, by which a \
    kernel dies by chance, the same each time. If it lives with --append printk.any=1, on both \
    sides of a comparison, or with a newer QEMU (--qemu FILE), it was that";
/// About what arrives from the guest and is not the agent's.
pub(crate) const PORT_HELP: &str = "the kernel, or a driver in it, writes to I/O port 0xe9";
/// The same while a program of the user's runs.
pub(crate) const PORT_IN_PROGRAM_HELP: &str = "the program writes to I/O port 0xe9, or the kernel \
    does for it: nothing but pathmeter's agent may";
/// Of what a kernel's reads can't be answered.
pub(crate) const UNANSWERED: &str = "MSR 0x10a";
