#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;

const KERNEL: &[u8] = b"\
ffffffff81000000 T do_idle
ffffffff81000100 T try_to_wake_up
ffffffff81000200 t finish_task_switch.isra.0
ffffffff81000300 t finish_task_switch.isra.0.cold
ffffffff81000400 t copied
ffffffff81000410 t copied.constprop.0
ffffffff81000420 t copied.part.0
ffffffff81000500 t twice
ffffffff81000600 t twice
ffffffff81000700 T asm_exc_page_fault
ffffffff81000800 T __switch_to_asm
ffffffff81000900 T alias
ffffffff81000900 T alias
ffffffff81000a00 D some_data
ffffffffc0000000 t of_module [ext4]
";

fn finder() -> PointFinder<'static> {
    PointFinder::new(KERNEL).unwrap()
}

/// The lines of the points of this window, which are those that begin with b, e or U.
fn points(window: &str) -> Result<Vec<String>, PointsError> {
    let mut table = PointTable::default();
    finder().add(&mut table, &PointWindow::parse(window).unwrap(), [5])?;
    let lines = table.text.lines().filter(|line| line.starts_with(['b', 'B', 'e', 'E', 'U']));
    Ok(lines.map(str::to_owned).collect())
}

fn points_error(window: &str) -> String {
    points(window).unwrap_err().to_string()
}

#[test]
fn a_table_says_where_interrupts_enter_where_the_cpu_idles_and_where_tasks_are_switched() {
    let table = finder().table();
    assert_eq!(
        table.text,
        "i ffffffff81000700 ffffffff81000701\n\
         s ffffffff81000800 ffffffff81000900\n\
         d ffffffff81000000 ffffffff81000100\n"
    );
    assert!(table.is_empty(), "it has no window");
}

#[test]
fn a_window_is_numbered_and_has_its_conditions_and_paths() {
    let finder = finder();
    let mut table = PointTable::default();
    for window in ["a=do_idle..alias", "b=do_idle..user,from=user+idle,same-task,latest,nth=17"] {
        finder.add(&mut table, &PointWindow::parse(window).unwrap(), [5, 0x20]).unwrap();
    }
    assert_eq!(
        table.text,
        "w 0 0 0 0\nb 0 ffffffff81000000 0 0\ne 0 ffffffff81000900 0 0\np 5 0\np 20 0\n\
         w 1 9 3 11\nb 1 ffffffff81000000 0 0\nU 1 0 0 0\np 5 1\np 20 1\n"
    );
    assert!(!table.is_empty());
}

#[test]
fn of_several_points_the_first_that_the_kernel_has_counts() {
    let one = points("w=finish_task_switch..do_idle").unwrap();
    assert_eq!(points("w=no_such|finish_task_switch|alias..gone|do_idle|user").unwrap(), one);
    let window = PointWindow::parse("w=no_such|alias..gone|user").unwrap();
    assert_eq!(finder().choose_points(&window).unwrap().to_string(), "w=alias..user");
    assert!(points_error("w=no_such|gone..user").contains("no_such"));
}

#[test]
fn a_name_is_found_with_what_compilers_append_but_not_the_parts_that_they_moved() {
    let window = "w=finish_task_switch..copied:return";
    let end = ["E 0 ffffffff81000400 0 0", "E 0 ffffffff81000410 0 0"];
    assert_eq!(points(window).unwrap(), [&["b 0 ffffffff81000200 0 0"][..], &end].concat());
    let moved = "w=finish_task_switch.isra.0.cold..copied.part.0";
    let exactly = ["b 0 ffffffff81000300 0 0", "e 0 ffffffff81000420 0 0"];
    assert_eq!(points(moved).unwrap(), exactly);
}

#[test]
fn a_caller_is_all_of_its_code() {
    let window = "w=do_idle@copied..0xffffffff81000123@try_to_wake_up";
    assert_eq!(
        points(window).unwrap(),
        [
            "b 0 ffffffff81000000 ffffffff81000400 ffffffff81000410",
            "b 0 ffffffff81000000 ffffffff81000410 ffffffff81000420",
            "e 0 ffffffff81000123 ffffffff81000100 ffffffff81000200",
        ]
    );
}

#[test]
fn an_offset_counts_from_the_beginning_of_its_function() {
    let window = "w=try_to_wake_up+0xff..alias+0x1";
    let places = ["b 0 ffffffff810001ff 0 0", "e 0 ffffffff81000901 0 0"];
    // The last symbol's code has at least a byte.
    assert!(points_error(window).contains("alias+0x1 is not in alias, which has 0x1 bytes"));
    assert_eq!(points("w=try_to_wake_up+0xff..alias").unwrap()[0], places[0]);
    let far = points_error("w=try_to_wake_up+0x100..alias");
    assert_eq!(far, "try_to_wake_up+0x100 is not in try_to_wake_up, which has 0x100 bytes");
    points_error("w=try_to_wake_up+0xffffffffffffffff..alias");
    assert!(points_error("w=copied+0x1..alias").contains("2 functions that are called copied"));
}

#[test]
fn what_is_missing_is_named() {
    for (window, missing) in [
        ("w=try_to_wakeup..alias", "try_to_wakeup"),
        ("w=alias..gone:return", "gone"),
        ("w=alias@gone..do_idle", "gone"),
        ("w=alias..gone+0x5", "gone"),
        ("w=some_data..alias", "some_data"),
        ("w=of_module..alias", "of_module"),
    ] {
        let error = format!("this kernel has no function {missing}");
        assert_eq!(points_error(window), error, "{window}");
    }
}

#[test]
fn several_functions_of_one_name_are_none_of_them() {
    let error = "this kernel has 2 functions that are called twice: name one by its address, of \
                 0xffffffff81000500, 0xffffffff81000600";
    for window in ["w=twice..alias", "w=alias..twice:return", "w=alias@twice..do_idle"] {
        assert_eq!(points_error(window), error);
    }
    // Two symbols of one name at one address are one function.
    assert_eq!(points("w=do_idle..alias").unwrap().len(), 2);
}

#[test]
fn an_address_of_programs_is_no_point() {
    assert!(points_error("w=0x401000..alias").contains("0x401000 is an address of programs"));
    assert!(points_error("w=alias..0x7fffffffffffffff").contains("an address of programs"));
    points("w=0xffffffffffffffff..0x8000000000000000").unwrap();
}

/// A window whose points have these names, each perhaps.
fn any(from: &[&str], callers: &[&str]) -> PointWindow {
    let callers: Vec<String> = callers.iter().map(|&name| name.to_owned()).collect();
    let entry = |name: &&str| Point { callers: callers.clone(), ..Point::entry(name) };
    PointWindow {
        from: from.iter().map(entry).collect(),
        ..PointWindow::parse("w=alias..alias").unwrap()
    }
}

#[test]
fn of_names_in_any_kernel_those_count_that_this_one_has() {
    let finder = finder();
    let mut table = PointTable::default();
    let window = any(&["gone", "twice", "do_idle"], &["gone", "copied.part.0"]);
    finder.add_any(&mut table, &window, []).unwrap();
    let begins = table.text.lines().filter(|line| line.starts_with('b')).collect::<Vec<_>>();
    let from = "ffffffff81000420 ffffffff81000500";
    let at = |address: &str| format!("b 0 {address} {from}");
    let addresses = ["ffffffff81000500", "ffffffff81000600", "ffffffff81000000"];
    assert_eq!(begins, addresses.map(at));
    for (from, callers, error) in [
        (&["gone", "lost"][..], &[][..], "this kernel has no function gone, or lost"),
        (&["do_idle"], &["gone"], "this kernel has no function do_idle@gone"),
    ] {
        let before = table.clone();
        let refused = finder.add_any(&mut table, &any(from, callers), [1]).unwrap_err();
        assert_eq!(refused.to_string(), error);
        assert_eq!(table, before, "a window that is refused leaves nothing");
    }
}

#[test]
fn no_more_windows_and_points_than_the_plugins_take() {
    let finder = finder();
    let mut table = PointTable::default();
    let window = PointWindow::parse("w=do_idle..alias").unwrap();
    (0..MAX_WINDOWS).for_each(|_| finder.add(&mut table, &window, []).unwrap());
    assert_eq!(finder.add(&mut table, &window, []), Err(PointsError::TooMany));
    let names = vec!["do_idle"; MAX_POINTS];
    let mut table = PointTable::default();
    assert_eq!(finder.add_any(&mut table, &any(&names, &[]), []), Err(PointsError::TooMany));
    assert_eq!(table, PointTable::default());
    finder.add_any(&mut table, &any(&names[1..], &[]), []).unwrap();
}

#[test]
fn what_is_no_symbol_table_is_refused() {
    for (text, error) in [
        (&b""[..], SymbolsError::Empty),
        (b"ffffffff81000000 D data\n", SymbolsError::Empty),
        (b"what is this?\n", SymbolsError::Line(1)),
    ] {
        assert_eq!(PointFinder::new(text).err(), Some(PointsError::Symbols(error)));
    }
}
