//! Functions with another name: when two are one, and when only code moved.

use pathmeter_model::{Causes, MoveKind};

use crate::trees::explained;
use crate::{attributed, moves, names, of, with_more};

#[test]
fn a_function_with_another_name_is_no_cause() {
    let tree = |name: &str, own: u64| {
        format!("do_exit 10\n  unmap_vmas 20\n    {name} {own}\n      vm_normal_page 800\n")
    };
    let (base, new) = (tree("unmap_page_range", 7537), tree("__zap_vma_range", 7702));
    let causes = of(&[explained("exit", &base, &new)]);
    assert_eq!(names(&causes), [["__zap_vma_range+unmap_page_range"]]);
    let part = &causes.causes[0].parts[0];
    assert_eq!((part.difference, part.moves[0].kind), (165, MoveKind::Renamed));
    assert_eq!(part.moves[0].callees, Some(1.0));

    let same = of(&[explained("exit", &base, &base.replace("unmap_page_range", "zap"))]);
    assert!(same.causes.is_empty());
    assert_eq!(same.moves.len(), 1, "what moved is told");
}

#[test]
fn a_leaf_of_one_row_needs_a_similar_name_to_be_the_same() {
    let tree = |name: &str, own: u64| format!("tcp_v4_rcv 10\n  {name} {own}\n");
    let causes = |from, to| of(&[explained("tcp", &tree(from, 100), &tree(to, 100))]);
    assert!(causes("cubic_cwnd_event", "cubic_cwnd_event_start").causes.is_empty());
    assert_eq!(causes("sk_filter", "tcp_check_space").causes.len(), 1);
}

#[test]
fn functions_that_differ_in_other_rows_are_not_one_with_two_names() {
    let tree = |name: &str| format!("do_exit 10\n  {name} 100\n    vm_normal_page 800\n");
    let (base, new) = (tree("unmap_range"), tree("zap_range"));
    let rows = ["a", "b", "c"].map(|row| {
        let new = if row == "c" { "do_exit 10\n  vm_normal_page 800\n" } else { &new };
        explained(row, &base, new)
    });
    assert_eq!(moves(&of(&rows)), 0);
}

/// `unmap_page_range` and what is below it, by another name on new.
fn zap() -> [pathmeter_trace::Explain; 1] {
    let tree = |name: &str, own: u64| {
        format!("do_exit 10\n  unmap_vmas 20\n    {name} {own}\n      vm_normal_page 800\n")
    };
    let (base, new) = (tree("unmap_page_range", 7537), tree("__zap_vma_range", 7702));
    [explained("exit", &base, &new)]
}

/// How code moved from this function, if it did.
fn kind(causes: &Causes, from: &str) -> Option<MoveKind> {
    let mut moves = causes.causes.iter().flat_map(|it| &it.parts).flat_map(|it| &it.moves);
    moves.find(|it| it.from == from).map(|it| it.kind)
}

#[test]
fn a_name_that_both_kernels_have_is_not_another_one_of_the_same_function() {
    assert_eq!(kind(&of(&zap()), "unmap_page_range"), Some(MoveKind::Renamed));
    for more in [[&["__zap_vma_range"][..], &[]], [&[], &["unmap_page_range"]]] {
        let causes = with_more(&zap(), more);
        assert_eq!(kind(&causes, "unmap_page_range"), Some(MoveKind::Moved));
    }
}

#[test]
fn without_symbol_tables_nothing_is_called_a_rename() {
    let causes = attributed(&zap(), None);
    assert_eq!(kind(&causes, "unmap_page_range"), Some(MoveKind::Moved));
}

#[test]
fn code_that_is_cut_off_from_its_caller_at_another_place_moved() {
    let base = "free_pgtables 10\n  batch_final 100\n    remove_vma 81\n      \
                interval_tree_remove 195\n    down_write 32\n    up_write 22\n";
    let new = "free_pgtables 10\n  batch_final 30\n    unlink_file 149\n      \
               interval_tree_remove 195\n      down_write 32\n      up_write 22\n";
    let causes = of(&[explained("exit", base, new)]);
    assert_eq!(kind(&causes, "remove_vma"), Some(MoveKind::Moved));
}

#[test]
fn code_that_another_caller_calls_moved() {
    let base = "unmap_vmas 20\n  unmap_single 400\n    unmap_page_range 7537\n      \
                vm_normal_page 800\n";
    let new = "unmap_vmas 20\n  __zap_vma_range 7702\n    vm_normal_page 800\n";
    let causes = of(&[explained("exit", base, new)]);
    assert_eq!(kind(&causes, "unmap_page_range"), Some(MoveKind::Moved));
}
