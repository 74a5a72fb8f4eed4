//! What a symbol's name says: whether it is a function's, which of several names at one address
//! the function goes by, and what of a name is the compiler's.
//!
//! The rule: a name that a linker script gives to the limit of a section is no function's. Of the
//! others at one address that with the fewest leading underscores is taken, of these the shortest,
//! of these the first by spelling; but a thunk and a system call go by these names, and what looks
//! like a limit comes last. Nothing else decides: not the order of the table, and not whether a
//! name is global, weak or exported. These change from one kernel to the next where the code does
//! not: `__memcpy` is global and `memcpy` weak in 6.1, both are global in 6.12, and
//! `common_interrupt_return` is local in 5.10 and 6.12 and global in 6.1.

use std::{borrow::Cow, cmp::Reverse, collections::HashSet};

/// The limits of the kernel's text and of its sections of text, but for those in [`is_limit`].
///
/// Sources: linux `include/asm-generic/vmlinux.lds.h` (every `*_TEXT`, `INIT_TEXT_SECTION`) and
/// `arch/x86/kernel/vmlinux.lds.S`, 6.1; the tables of kernels from 5.10 to 7.3 have no others in
/// text. The limits of data are left out: no code is there.
const LIMITS: [&str; 7] = [
    "_text",
    "_stext",
    "_etext",
    "_sinittext",
    "_einittext",
    "__indirect_thunk_start",
    "__indirect_thunk_end",
];

/// The copies of symbols that code which runs before relocation may use (linux
/// `arch/x86/boot/startup`, `arch/x86/tools`): another name of the same address.
const EARLY: &str = "__pi_";

/// Names beside a system call's `__x64_sys_NAME`, of its body (linux
/// `arch/x86/include/asm/syscall_wrapper.h`).
const BODIES: [&str; 4] = ["__do_sys_", "__do_compat_sys_", "__se_sys_", "__se_compat_sys_"];

/// What comes before NAME in symbols that only a function has: its padding (objtool), its type's
/// hash (clang), its entry in the export table (linux `include/linux/export-internal.h`). Data is
/// exported too, but only names at an address of code are looked up.
const PROOFS: [&str; 5] = ["__pfx_", "__cfi_", "__kcfi_typeid_", "__ksymtab_", "__kstrtab_"];

/// What a limit's name begins or ends with. So do the names of many functions
/// (`__mmu_notifier_invalidate_range_start`): see [`Functions`].
const LIMIT_STARTS: [&str; 4] = ["__start_", "__stop_", "__begin_", "__end_"];
const LIMIT_ENDS: [&str; 4] = ["_start", "_end", "_begin", "_stop"];

/// Whether `name` is certainly that of a section's limit, also where it has an address to itself.
pub(crate) fn is_limit(name: &str) -> bool {
    let name = name.strip_prefix(EARLY).unwrap_or(name);
    let of_text = |end| name.starts_with("__") && name.ends_with(end);
    LIMITS.contains(&name) || of_text("_text_start") || of_text("_text_end")
}

/// Whether `name` is like that of a limit.
fn looks_like_limit(name: &str) -> bool {
    LIMIT_STARTS.iter().any(|start| name.starts_with(start))
        || name.starts_with('_') && LIMIT_ENDS.iter().any(|end| name.ends_with(end))
}

/// Whether a function does nothing but jump where a register points (linux
/// `arch/x86/lib/retpoline.S`).
pub(crate) fn is_thunk(name: &str) -> bool {
    name.starts_with("__x86_indirect_")
}

/// The names that look like a limit's and that the table shows to be functions'.
#[derive(Default)]
pub(crate) struct Functions<'a>(HashSet<&'a str>);

impl<'a> Functions<'a> {
    /// Sees the name of any symbol of the table.
    pub(crate) fn see(&mut self, symbol: &'a str) {
        let shown = PROOFS.iter().find_map(|proof| symbol.strip_prefix(proof));
        self.0.extend(shown.filter(|name| looks_like_limit(name)));
    }

    /// The least of all names at an address is the one to take. None of them is a limit.
    pub(crate) fn rank<'n>(&self, name: &'n str) -> impl Ord + use<'n> {
        let underscores = name.bytes().take_while(|byte| *byte == b'_').count();
        let is_body = BODIES.iter().any(|body| name.starts_with(body));
        let is_doubtful = looks_like_limit(name) && !self.0.contains(name);
        (Reverse(is_thunk(name)), is_doubtful, is_body, underscores, name.len(), name)
    }
}

/// What link-time optimizers append, with a number, so that functions of two files that have one
/// name get two: clang for a function made global, clang with unique names, gcc. The number depends
/// on the file's content or place.
const LINKING: [&str; 3] = ["llvm", "__uniq", "lto_priv"];

/// `name` without what a link-time optimizer appended: `foo.llvm.5776530594906201460.cold` is
/// `foo.cold`.
pub(crate) fn unlinked(name: &str) -> Cow<'_, str> {
    if !LINKING.iter().any(|word| name.contains(word)) {
        return Cow::Borrowed(name);
    }
    let mut words = name.split('.').peekable();
    let mut kept = words.next().unwrap_or_default().to_owned();
    while let Some(word) = words.next() {
        if LINKING.contains(&word) {
            words.next_if(|number| number.bytes().all(|digit| digit.is_ascii_hexdigit()));
        } else {
            kept.push('.');
            kept.push_str(word);
        }
    }
    Cow::Owned(kept)
}

/// `name` without what the compiler appended: `foo.isra.0.cold` is `foo`.
///
/// C has no dot in names, so all from the first one on is the compiler's: `.constprop.0`,
/// `.isra.0`, `.part.0`, `.cold`. Two kernels compiled from the same source differ in this by
/// accident, so functions are matched without it.
pub fn folded(name: &str) -> &str {
    match name.find('.') {
        Some(at) if at > 0 => &name[..at],
        _ => name,
    }
}

/// What gcc and clang append to the name of a function that they changed or cut.
const CUT: [&str; 4] = [".isra.", ".constprop.", ".part.", ".cold"];

/// The name of a program's function without what the compiler of C appended. Other languages have
/// dots in names (`runtime.mallocgc`), so nothing else is taken away.
pub(crate) fn unsuffixed(name: &str) -> &str {
    let places = CUT.iter().filter_map(|suffix| name.find(suffix));
    places.filter(|at| *at > 0).min().map_or(name, |at| &name[..at])
}

/// Labels within the assembly of an entry, which the table lists like functions of their own.
const ENTRY_LABELS: [&str; 4] = ["_safe_stack", "_after_hwframe", "_unsafe_stack", "_end"];

/// The function that a symbol's code is part of: that whose cold part the compiler moved away,
/// whose label or whose padding it is.
pub(crate) fn containing(name: &str) -> &str {
    if let Some(padded) = name.strip_prefix("__pfx_") {
        return padded;
    }
    if name.starts_with("entry_") {
        let stripped = ENTRY_LABELS.iter().find_map(|label| name.strip_suffix(label));
        return stripped.unwrap_or(name);
    }
    match name.find(".cold") {
        Some(at) if at > 0 && matches!(name.as_bytes().get(at + 5), None | Some(b'.')) => {
            &name[..at]
        }
        _ => name,
    }
}
