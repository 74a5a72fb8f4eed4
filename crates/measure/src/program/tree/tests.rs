//! Tests of the call trees of programs.

use pathmeter_model::{ProgramRow, RunClock};
use pathmeter_trace::{AccountNode, AccountNodeKind};

use super::*;

fn places() -> KernelPlaces {
    let text = "\
ffffffff81000000 T __x64_sys_read
ffffffff81000040 T __ia32_sys_read
ffffffff81000080 T __do_softirq
ffffffff82000000 T __entry_text_start
ffffffff82000000 T entry_SYSCALL_64
ffffffff82000080 T asm_exc_page_fault
ffffffff82000180 T irq_entries_start
ffffffff82000800 T spurious_entries_start
ffffffff82000880 T __switch_to_asm
ffffffff820008c0 T ret_from_fork
ffffffff82000900 T __entry_text_end
";
    KernelPlaces::find(text.as_bytes()).unwrap()
}

fn rows(name: &str) -> Vec<(RowKind, u32)> {
    find_rows(name, &places()).unwrap()
}

#[test]
fn a_row_is_found_by_the_name_that_tables_have() {
    let reads = rows("read");
    // Two entries of one call have one name.
    assert!(reads.len() == 2 && reads.iter().all(|row| row.0 == RowKind::Syscall), "{reads:?}");
    assert!(rows("read (32-bit)").iter().all(|row| row.0 == RowKind::Syscall32));
    let faults = rows("page fault: write, page not present");
    // Error codes that differ in bits that no name tells.
    assert_eq!(faults, [(RowKind::PageFault, 6), (RowKind::PageFault, 14)]);
    assert_eq!(rows("user code"), [(RowKind::User, 0)]);
    assert_eq!(rows("softirqs"), [(RowKind::Softirq, 0)]);
    assert_eq!(rows("timer interrupt (timer)"), [(RowKind::Interrupt, VECTOR | 0x30)]);
    let unknown = find_rows("raed", &places()).unwrap_err();
    assert!(unknown.contains("did you mean read"), "{unknown}");
    let lines = KernelPlaces::tree_lines(&faults, Some("a"), true);
    assert_eq!(lines, "g 3 6\ng 3 e\nh a\nq\n");
    assert_eq!(KernelPlaces::tree_lines(&[], None, false), "");
}

#[test]
fn regions_and_the_program_s_own_code_always_have_callers() {
    assert!(has_callers("user.a") && has_callers("user code"));
    assert!(!has_callers("read") && !has_callers("user") && !has_callers("softirqs"));
    assert!(refuse_odd_row("read").is_ok() && refuse_odd_row("user.a").is_ok());
    assert!(refuse_odd_row("user.").is_err() && refuse_odd_row("user.a b").is_err());
}

fn wanted_row(region: Option<&'static str>) -> Wanted<'static> {
    let rows = if region.is_some() { vec![] } else { vec![(RowKind::Syscall, 1)] };
    Wanted { name: "read", region, rows }
}

fn run(instructions: u64) -> ProgramRun {
    let row = ProgramRow {
        kind: RowKind::Syscall,
        name: "read".to_owned(),
        calls: 2,
        instructions,
        steps: instructions,
        events: BTreeMap::new(),
    };
    ProgramRun { clock: RunClock { clock: 0, idle: 0 }, rows: vec![row], processes: vec![] }
}

fn tree_run(kind: RowKind, instructions: u64, regions: Regions) -> TreeRun {
    let (parent, site) = (None, 0);
    let root = AccountNode { parent, kind: AccountNodeKind::Root(0), site, target: 0 };
    let cell = TreeCell { kind, id: 1, node: 0, block: 1, steps: 1, instructions };
    let tree = AccountTree { nodes: vec![root], cells: vec![cell], ..AccountTree::default() };
    TreeRun { tree, regions, processes: BTreeMap::new() }
}

#[test]
fn a_tree_that_is_not_its_row_is_an_error_in_whichever_run() {
    let none = (0, Some(0));
    let trees = [40, 50].map(|own| tree_run(RowKind::Syscall, own, none));
    assert_eq!(totals(&wanted_row(None), &trees, &[run(40), run(50)]), Ok(vec![40, 50]));
    let wrong = totals(&wanted_row(None), &trees, &[run(40), run(51)]).unwrap_err();
    assert!(wrong.starts_with("run 2: read has 51 instructions, but 50 in its call tree"));
    let wrong = totals(&wanted_row(None), &trees, &[run(39), run(50)]).unwrap_err();
    assert!(wrong.starts_with("run 1: "), "{wrong}");
    // A region of which executions were left out can't be compared.
    let region = |regions| [tree_run(RowKind::Region, 40, regions)];
    let of = |regions| totals(&wanted_row(Some("a")), &region(regions), &[run(7)]);
    assert_eq!(of((2000, None)), Ok(vec![40]));
    assert_eq!(of((2, Some(40))), Ok(vec![40]));
    assert!(of((2, Some(41))).is_err());
}

#[test]
fn the_run_that_is_shown_is_a_later_one_with_the_median() {
    assert_eq!(choose_run(&[9, 5, 7, 6]), Some(3));
    assert_eq!(choose_run(&[9, 5, 5]), Some(1));
    assert_eq!(choose_run(&[9]), Some(0));
    assert_eq!(choose_run(&[9, 0, 0, 4]), None);
    assert_eq!(choose_run(&[]), None);
}
