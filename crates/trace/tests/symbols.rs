//! The kernel's symbol table, as hostile text.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use pathmeter_trace::{Location, Resolve, Symbols, SymbolsError, folded};
use proptest::prelude::*;

const TABLE: &[u8] = b"0000000000000000 A fixed_percpu_data\n\
    ffffffff81000000 T _stext\n\
    ffffffff81000000 T startup_64\n\
    ffffffff81000040 t __pfx_local\n\
    ffffffff81000080 t local.isra.0\n\
    ffffffff82000000 D some_data\n\
    ffffffffc0001000 t init_it\t[loop]\n";

#[test]
fn an_address_has_the_name_of_the_symbol_before_it() {
    let symbols = Symbols::parse(TABLE).unwrap();
    assert_eq!(symbols.len(), 4);
    let at = |address| symbols.resolve(address);
    let located = |name, module, offset| Some(Location { name, module, offset });
    assert_eq!(at(0xffff_ffff_8100_003f), located("startup_64", None, 0x3f));
    assert_eq!(at(0xffff_ffff_8100_0080), located("local.isra.0", None, 0));
    assert_eq!(at(0xffff_ffff_c000_1002), located("init_it", Some("loop"), 2));
    assert_eq!([at(0), at(0xffff_ffff_80ff_ffff), at(0xffff_ffff_8fff_ffff)], [None, None, None]);
}

#[test]
fn hidden_addresses_are_named_so() {
    let hidden = b"0000000000000000 T _stext\n0000000000000000 t local\n";
    assert_eq!(Symbols::parse(hidden).unwrap_err(), SymbolsError::Restricted);
}

#[test]
fn a_table_without_functions_is_refused() {
    assert_eq!(Symbols::parse(b"").unwrap_err(), SymbolsError::Empty);
    assert_eq!(Symbols::parse(b"ffffffff82000000 D data\n").unwrap_err(), SymbolsError::Empty);
}

#[test]
fn a_line_that_is_none_is_named() {
    for line in ["x", "zz T name", "0 TT name", "0 T", "0 T name module", "0 T name [m] more"] {
        let text = format!("ffffffff81000000 T _stext\n{line}\n");
        assert_eq!(Symbols::parse(text.as_bytes()).unwrap_err(), SymbolsError::Line(2), "{line}");
    }
}

/// Resolves an address that several symbols have; asserts that the order of the symbols does not
/// change the name.
fn resolve_shared_address(symbols: &[&str], others: &[&str]) -> String {
    let at = |address: u64, symbol: &&str| format!("{address:x} {symbol}\n");
    let mut lines: Vec<_> =
        symbols.iter().map(|symbol| at(0xffff_ffff_8100_0040, symbol)).collect();
    lines.extend(others.iter().map(|symbol| at(0xffff_ffff_8200_0000, symbol)));
    let mut names = Vec::new();
    for _ in 0..lines.len() {
        for _ in 0..2 {
            let table = Symbols::parse(lines.concat().as_bytes()).unwrap();
            let location = table.resolve(0xffff_ffff_8100_0040);
            names.push(location.map_or_else(String::new, |found| found.name.to_owned()));
            lines.reverse();
        }
        lines.rotate_left(1);
    }
    names.dedup();
    assert_eq!(names.len(), 1, "it depends on the order: {names:?}");
    names.remove(0)
}

#[test]
fn of_several_names_the_functions_is_taken() {
    // As the tables of Debian's kernels have them.
    let cases: &[(&[&str], &str)] = &[
        (&["T _stext", "T _text", "T startup_64"], "startup_64"),
        (
            &["T srso_alias_untrain_ret", "T _stext", "T _text", "T __pi__text"],
            "srso_alias_untrain_ret",
        ),
        (
            &[
                "T __x86_indirect_thunk_array",
                "T __x86_indirect_thunk_rax",
                "T __pi___x86_indirect_thunk_rax",
                "T __softirqentry_text_end",
                "T __indirect_thunk_start",
                "T __static_call_text_end",
            ],
            "__x86_indirect_thunk_rax",
        ),
        (&["T __x86_return_thunk", "T __pi___x86_return_thunk"], "__x86_return_thunk"),
        (&["T __do_softirq", "T __softirqentry_text_start"], "__do_softirq"),
        (&["T irq_entries_start", "T __irqentry_text_start"], "irq_entries_start"),
        (&["T __bhi_args", "T __bhi_args_end"], "__bhi_args"),
        (
            &["t __do_sys_getppid", "T __ia32_sys_getppid", "T __x64_sys_getppid"],
            "__x64_sys_getppid",
        ),
        (
            &["t __do_compat_sys_sigreturn", "T __ia32_compat_sys_sigreturn"],
            "__ia32_compat_sys_sigreturn",
        ),
    ];
    for (symbols, name) in cases {
        assert_eq!(resolve_shared_address(symbols, &[]), *name);
    }
}

#[test]
fn a_function_keeps_its_name_if_only_its_linkage_changes() {
    for (one, other, name) in [
        (["T __memcpy", "W memcpy"], ["T __memcpy", "T memcpy"], "memcpy"),
        (
            ["t common_interrupt_return", "T swapgs_restore_regs_and_return_to_usermode"],
            ["T common_interrupt_return", "T swapgs_restore_regs_and_return_to_usermode"],
            "common_interrupt_return",
        ),
        (
            ["T thermal_genl_event_tz", "T thermal_genl_event_tz_delete"],
            ["t thermal_genl_event_tz", "T thermal_genl_event_tz_delete"],
            "thermal_genl_event_tz",
        ),
    ] {
        assert_eq!(
            [resolve_shared_address(&one, &[]), resolve_shared_address(&other, &[])],
            [name; 2]
        );
        let exported = format!("r __ksymtab_{}", other[1].trim_start_matches("T "));
        assert_eq!(resolve_shared_address(&other, &[&exported]), name);
    }
}

#[test]
fn what_looks_like_a_limit_gives_way_unless_the_table_shows_a_function() {
    let both = ["T __a_begin", "T __a_longer_function"];
    assert_eq!(resolve_shared_address(&both, &[]), "__a_longer_function");
    for proof in ["t __pfx___a_begin", "r __ksymtab___a_begin", "t __cfi___a_begin"] {
        assert_eq!(resolve_shared_address(&both, &[proof]), "__a_begin", "{proof}");
    }
    let data = ["r __ksymtab_a_begin", "d __a_begin"];
    assert_eq!(resolve_shared_address(&both, &data), "__a_longer_function");
    // Alone, it is a function's as any other.
    let alone = "__mmu_notifier_invalidate_range_end";
    assert_eq!(resolve_shared_address(&[&format!("T {alone}")], &[]), alone);
}

#[test]
fn no_function_reaches_beyond_its_section() {
    let table = b"ffffffff81000000 T last\n\
        ffffffff81000010 T __sched_text_end\n\
        ffffffff81000010 T __cpuidle_text_start\n\
        ffffffff81000020 t .slowpath\n\
        ffffffff81000040 t first\n\
        ffffffff81000048 t .slowpath\n";
    let symbols = Symbols::parse(table).unwrap();
    assert_eq!((symbols.len(), symbols.is_empty()), (2, false));
    let at = |offset: u64| symbols.resolve(0xffff_ffff_8100_0000 + offset).map(|found| found.name);
    assert_eq!([at(0xf), at(0x10), at(0x20), at(0x3f)], [Some("last"), None, None, None]);
    assert_eq!([at(0x40), at(0x48)], [Some("first"); 2]);
    let limits = b"ffffffff81000000 T _stext\nffffffff81000010 T _etext\n";
    assert_eq!(Symbols::parse(limits).unwrap_err(), SymbolsError::Empty);
}

#[test]
fn what_a_link_time_optimizer_appends_is_no_part_of_a_name() {
    for (name, expected) in [
        ("do_sched_yield.llvm.5776530594906201460", "do_sched_yield"),
        ("f.llvm.577.cold", "f.cold"),
        ("f.cold.llvm.577", "f.cold"),
        ("f.__uniq.123456.llvm.577", "f"),
        ("f.lto_priv.0", "f"),
        ("f.isra.0.lto_priv.1", "f.isra.0"),
        ("f.constprop.0", "f.constprop.0"),
        ("llvm_f.isra.0", "llvm_f.isra.0"),
    ] {
        assert_eq!(resolve_shared_address(&[&format!("t {name}")], &[]), expected);
    }
    // The number decides nothing.
    let of =
        |number: &str| resolve_shared_address(&[&format!("t aa.llvm.{number}"), "t aaaa"], &[]);
    assert_eq!([of("1"), of("5776530594906201460")], ["aa"; 2]);
}

#[test]
fn compilers_suffixes_are_folded() {
    let cases = [
        ("schedule", "schedule"),
        ("finish_task_switch.isra.0", "finish_task_switch"),
        ("f.constprop.0.isra.0", "f"),
        ("f.constprop.1", "f"),
        ("f.part.0.cold", "f"),
        ("f.llvm.1234567", "f"),
        ("f.cold", "f"),
        ("f.specialized.1", "f"),
        ("f.7", "f"),
        (".cold", ".cold"),
        ("[user]", "[user]"),
    ];
    for (name, expected) in cases {
        assert_eq!(folded(name), expected);
    }
}

proptest! {
    #[test]
    fn any_text_is_answered(text in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = Symbols::parse(&text);
    }

    #[test]
    fn any_name_folds_to_its_beginning(name in "[a-z]{0,3}(\\.(cold|isra|part|x)?[0-9]?){0,5}") {
        let result = folded(&name);
        prop_assert!(name.starts_with(result));
        prop_assert_eq!(folded(result), result);
    }
}
