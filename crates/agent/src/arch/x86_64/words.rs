//! What this architecture's kernels make of their command line.

/// Parameters that x86 kernels look for themselves, and then hand to pid 1 all the same (Linux
/// `arch/x86/kernel/cpu/bugs.c`, `arch/x86/mm/pti.c`, `arch/x86/kernel/fpu/init.c`,
/// `arch/x86/boot/compressed/kaslr.c`, `arch/x86/kernel/head64.c`). Of a value that they do not
/// take they print a line, which the host reads.
pub(crate) const LOOKED_FOR: [&[u8]; 16] = [
    b"spectre_v2",
    b"nospectre_v2",
    b"spectre_v2_user",
    b"spec_store_bypass_disable",
    b"nospec_store_bypass_disable",
    b"pti",
    b"nopti",
    b"no387",
    b"nofxsr",
    b"noxsave",
    b"noxsaveopt",
    b"noxsaves",
    b"clearcpuid",
    b"setcpuid",
    b"nokaslr",
    b"no5lvl",
];
