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

#[test]
fn compilers_suffixes_are_folded() {
    let cases = [
        ("schedule", "schedule"),
        ("finish_task_switch.isra.0", "finish_task_switch"),
        ("f.constprop.0.isra.0", "f"),
        ("f.part.0.cold", "f"),
        ("f.llvm.1234567", "f"),
        ("f.cold", "f"),
        ("__compound_literal.3", "__compound_literal.3"),
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
