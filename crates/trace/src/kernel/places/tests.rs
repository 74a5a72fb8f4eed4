use proptest::prelude::*;

use super::*;
use crate::c_header::{constants, header};

/// What every kernel has, in the order of addresses; each function has 64 bytes, the tables more.
const KERNEL: &str = "\
ffffffff81000000 T __x64_sys_read
ffffffff81000040 T __ia32_sys_read
ffffffff81000080 t __do_sys_fork
ffffffff810000c0 t __do_softirq.part.0
ffffffff81000100 T __do_softirq
ffffffff81000140 t __do_softirq.cold
ffffffff81000180 t unrelated
ffffffff82000000 T __entry_text_start
ffffffff82000000 T entry_SYSCALL_64
ffffffff82000040 T entry_INT80_compat
ffffffff82000080 T asm_exc_page_fault
ffffffff820000c0 T asm_exc_int3
ffffffff82000100 T asm_exc_general_protection
ffffffff82000140 T asm_sysvec_apic_timer_interrupt
ffffffff82000180 T irq_entries_start
ffffffff82000800 T spurious_entries_start
ffffffff82000880 T __switch_to_asm
ffffffff820008c0 T ret_from_fork
ffffffff82000900 T __entry_text_end
0000000000000010 A fixed_percpu_data
ffffffffc0000000 t __x64_sys_in_module\t[module]
";

fn find(text: &str) -> KernelPlaces {
    KernelPlaces::find(text.as_bytes()).unwrap()
}

/// Letter, first, end and id of each line.
fn lines(places: &KernelPlaces) -> Vec<(char, u64, u64, u64)> {
    let table = String::from_utf8(places.table(&[], &[])).unwrap();
    let number = |word: &str| u64::from_str_radix(word, 16).unwrap();
    let line = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        (words[0].chars().next().unwrap(), number(words[1]), number(words[2]), number(words[3]))
    };
    table.lines().map(line).collect()
}

/// The only line with this letter.
fn only(places: &KernelPlaces, letter: char) -> (u64, u64, u64) {
    let lines = lines(places);
    let mut found = lines.iter().filter(|line| line.0 == letter);
    let (Some(line), None) = (found.next(), found.next()) else { panic!("{letter}: {lines:x?}") };
    (line.1, line.2, line.3)
}

#[test]
fn the_table_is_in_the_order_in_which_the_plugin_searches_it() {
    let all = lines(&find(KERNEL));
    assert_eq!(all[0], (letter::ENTRY_TEXT, 0xffff_ffff_8200_0000, 0xffff_ffff_8200_0900, 0));
    assert!(all[1..].windows(2).all(|pair| pair[0].1 < pair[1].1 && pair[0].2 <= pair[1].1));
    assert!(all.iter().all(|(_, first, end, _)| first < end));
}

#[test]
fn a_kernel_shows_where_processes_start_and_execute_programs_or_does_not() {
    let letters = |text: &str| -> Vec<(char, u64)> {
        let own = ['b', 'c'];
        let all = lines(&find(text)).into_iter().filter(|line| own.contains(&line.0));
        all.map(|line| (line.0, line.1 & 0xfff)).collect()
    };
    assert_eq!(letters(KERNEL), []);
    for name in ["copy_thread", "copy_thread_tls"] {
        let text = KERNEL.replace("unrelated", name)
            + "ffffffff81000200 T setup_new_exec\nffffffff81000300 T setup_new_exec.cold\n";
        assert_eq!(letters(&text), [('c', 0x180), ('b', 0x200)]);
    }
}

#[test]
fn wake_ups_are_found_with_the_parts_that_a_compiler_made_of_them() {
    let text = KERNEL.replace("unrelated", "try_to_wake_up.isra.0")
        + "ffffffff81000200 t ttwu_do_activate.constprop.0\nffffffff81000300 t ttwu_do_wakeups\n\
           ffffffff81000400 t try_to_wake_up.isra.0.cold\n";
    let all = lines(&find(&text));
    let found: Vec<u64> =
        all.iter().filter(|line| line.0 == letter::WAKE_UP).map(|line| line.1 & 0xfff).collect();
    assert_eq!(found, [0x180, 0x200, 0x400]);
    assert!(lines(&find(KERNEL)).iter().all(|line| line.0 != letter::WAKE_UP));
}

#[test]
fn system_calls_are_named_without_their_prefix() {
    let places = find(KERNEL);
    let calls: Vec<_> = lines(&places).into_iter().filter(|line| line.0 == 'f').collect();
    let name = |line: &(char, u64, u64, u64)| {
        places.name(u32::try_from(line.3).unwrap()).unwrap().to_owned()
    };
    assert_eq!(calls.iter().map(name).collect::<Vec<_>>(), ["read", "read", "fork"]);
    assert_eq!(places.name(999), None);
}

#[test]
fn one_function_with_two_names_has_the_preferred_one() {
    let text =
        KERNEL.replace("ffffffff81000040 T __ia32_sys_read", "ffffffff81000000 T __ia32_sys_x");
    let places = find(&text);
    let line = lines(&places).into_iter().find(|line| line.1 == 0xffff_ffff_8100_0000).unwrap();
    assert_eq!(places.name(u32::try_from(line.3).unwrap()), Some("read"));
}

#[test]
fn faults_and_traps_are_told_apart() {
    let places = find(KERNEL);
    assert_eq!(only(&places, letter::TRAP_ENTRY).0, 0xffff_ffff_8200_00c0);
    assert_eq!(only(&places, letter::FAULT_ENTRY).0, 0xffff_ffff_8200_0100);
    assert_eq!(only(&places, letter::PAGE_FAULT_ENTRY).0, 0xffff_ffff_8200_0080);
}

#[test]
fn softirqs_are_all_parts_of_the_function_and_the_newer_name_wins() {
    let softirqs = |text: &str| {
        let lines = lines(&find(text)).into_iter();
        lines.filter(|line| line.0 == 's').map(|line| (line.1 & 0xfff, line.3)).collect::<Vec<_>>()
    };
    assert_eq!(softirqs(KERNEL), [(0xc0, 6), (0x100, 6), (0x140, 0x106)]);
    let newer = KERNEL.replace(" t unrelated", " t handle_softirqs.isra.0");
    assert_eq!(softirqs(&newer), [(0x180, 6)]);
    let gone = KERNEL.replace("__do_softirq", "do_nothing");
    let error = KernelPlaces::find(gone.as_bytes()).unwrap_err();
    assert_eq!(error, PlacesError::Missing { what: "__do_softirq" });
}

#[test]
fn a_tables_entries_have_the_size_that_fits_it() {
    // 0x680 bytes are 208 vectors of 8 bytes; 224 and more have 16 each.
    let tables = |text: &str| {
        let lines = lines(&find(text)).into_iter();
        lines.filter(|line| line.0 == 'v').map(|line| line.3).collect::<Vec<_>>()
    };
    assert_eq!(tables(KERNEL), [8 | 0x20 << 8, 8 | (0x20 + 208) << 8]);
    let wide = KERNEL.replace("ffffffff82000800 T spur", "ffffffff82000880 T spur");
    let wide = wide.replace("ffffffff82000880 T __switch", "ffffffff820008a0 T __switch");
    let wide = wide.replace("ffffffff82000180 T irq", "ffffffff82000171 T irq");
    assert_eq!(tables(&wide)[0], 16 | 0x20 << 8);
    // However large a gap is, a vector has 8 bits more than that.
    let huge = KERNEL.replace("ffffffff82000180 T irq", "8000000000000000 T irq");
    assert_eq!(tables(&huge), [16 | 0x20 << 8, 8 | (0x20 + 224) << 8]);
}

#[test]
fn what_is_missing_is_named() {
    for name in [
        "__entry_text_start",
        "__entry_text_end",
        "entry_SYSCALL_64",
        "asm_exc_page_fault",
        "irq_entries_start",
        "spurious_entries_start",
        "__switch_to_asm",
        "ret_from_fork",
    ] {
        let text = KERNEL.replace(&format!(" {name}\n"), " other\n");
        let error = KernelPlaces::find(text.as_bytes()).unwrap_err();
        assert_eq!(error, PlacesError::Missing { what: name });
        assert!(error.to_string().contains("Linux 5.8 or newer"), "{error}");
    }
    let calls = KERNEL.replace("_sys_", "_other_");
    assert!(KernelPlaces::find(calls.as_bytes()).is_err());
    for optional in ["entry_INT80_compat", "asm_sysvec_apic_timer_interrupt", "asm_exc_int3"] {
        find(&KERNEL.replace(&format!(" {optional}\n"), " other\n"));
    }
}

#[test]
fn what_is_no_symbol_table_is_refused() {
    let wrong = |text: &str| KernelPlaces::find(text.as_bytes()).unwrap_err();
    let none = PlacesError::Missing { what: "function" };
    assert_eq!(wrong(""), none);
    assert_eq!(wrong("ffffffff81000000 T a\nnonsense\n"), SymbolsError::Line(2).into());
    // As a user without privilege sees it.
    assert_eq!(wrong(&KERNEL.replace("ffffffff", "00000000")), none);
}

#[test]
fn more_places_than_the_plugin_takes_are_refused() {
    let line = |number: u64| format!("{:x} T __x64_sys_c{number}\n", u64::MAX - number);
    let more: String = (0..MAX_PLACES as u64).map(line).collect();
    let error = KernelPlaces::find((KERNEL.to_owned() + &more).as_bytes()).unwrap_err();
    assert!(matches!(error, PlacesError::TooMany { places } if places > MAX_PLACES), "{error:?}");
}

#[test]
fn functions_of_the_program_follow() {
    let function =
        ProgramFunction { name: "work".to_owned(), in_page: 0xff0, bytes: vec![0xf3, 0x0f] };
    let table = String::from_utf8(find(KERNEL).table(&[function], &[])).unwrap();
    assert_eq!(table.lines().last(), Some("u ff0 f30f work"));
}

#[test]
fn letters_are_the_plugins() {
    let plugin = constants("program/places.h");
    for (ours, name) in [
        (letter::SYSCALL_ENTRY, "SYSCALL_ENTRY"),
        (letter::SYSCALL_FUNCTION, "SYSCALL_FUNCTION"),
        (letter::PAGE_FAULT_ENTRY, "PAGE_FAULT_ENTRY"),
        (letter::FAULT_ENTRY, "FAULT_ENTRY"),
        (letter::TRAP_ENTRY, "TRAP_ENTRY"),
        (letter::INTERRUPT_ENTRY, "INTERRUPT_ENTRY"),
        (letter::INTERRUPT_TABLE, "INTERRUPT_TABLE"),
        (letter::ROW_FUNCTION, "ROW_FUNCTION"),
        (letter::SWITCH, "SWITCH"),
        (letter::NEW_TASK, "NEW_TASK_ENTRY"),
        (letter::ENTRY_TEXT, "ENTRY_TEXT"),
        ('u', "FUNCTION"),
    ] {
        assert_eq!(u64::from(ours), plugin[name], "{name}");
    }
    let header = header("program/places.h");
    for (name, bit) in [("ELSEWHERE", ELSEWHERE), ("OWN_WORK", OWN_WORK)] {
        let defined = format!("#define {name} {bit:#x}");
        let defines = |line: &str| line.split('\t').next() == Some(&*defined);
        assert!(header.lines().any(defines), "{header}");
    }
    assert_eq!(MAX_PLACES as u64, constants("program/places.c")["MOST_PLACES"]);
}

proptest! {
    #[test]
    fn any_text_is_answered(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        moved in any::<u64>(), line in 0..20_usize,
    ) {
        let _ = KernelPlaces::find(&bytes);
        // Any function anywhere.
        let at = |(number, text): (usize, &str)| match text.split_once(' ') {
            Some((_, rest)) if number == line => format!("{moved:x} {rest}\n"),
            _ => format!("{text}\n"),
        };
        let text: String = KERNEL.lines().enumerate().map(at).collect();
        if let Ok(places) = KernelPlaces::find(text.as_bytes()) {
            prop_assert!(lines(&places)[1..].windows(2).all(|pair| pair[0].1 < pair[1].1));
        }
    }
}

#[test]
fn regions_that_windows_must_begin_in_come_last() {
    let table = String::from_utf8(find(KERNEL).table(&[], &[(11, "my-read")])).unwrap();
    assert_eq!(table.lines().last(), Some("r b my-read"));
}

#[test]
fn a_debugger_is_told_where_to_stop() {
    let landmarks = find(KERNEL).landmarks();
    let at = |address: u64| {
        let there = landmarks.iter().filter(|(range, _)| range.start == address);
        there.map(|(_, what)| *what).collect::<Vec<_>>()
    };
    let entry = |kind, id| Landmark::Entry { kind, id };
    let text = 0xffff_ffff_8200_0000;
    let both = [Landmark::EntryText, entry(RowKind::Syscall, UNNAMED)];
    assert_eq!(at(text), both);
    assert_eq!(at(text + 0x40), [entry(RowKind::Syscall32, UNNAMED)]);
    assert_eq!(at(text + 0x80), [entry(RowKind::PageFault, UNNAMED)]);
    // Entries of 8 bytes, from vector 0x20 on.
    assert_eq!(at(text + 0x180 + 0x80), [entry(RowKind::Interrupt, VECTOR | 0x30)]);
    assert_eq!(at(text + 0x180 + 0xc0), [entry(RowKind::Interrupt, VECTOR | 0x38)]);
    assert_eq!(at(text + 0x180 + 0x90), []);
    assert_eq!(at(text + 0x880), [Landmark::Switch]);
    assert_eq!(at(text + 0x8c0), [Landmark::NewTask]);
    let softirqs: Vec<_> =
        landmarks.iter().filter(|(_, what)| *what == entry(RowKind::Softirq, 0)).collect();
    assert_eq!(softirqs.len(), 2);
    assert!(matches!(at(0xffff_ffff_8100_0000)[..], [Landmark::Function(_)]));
}
