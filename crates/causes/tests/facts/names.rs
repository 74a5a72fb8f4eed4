//! Functions with another name: when two are one, and when only code moved.

use pathmeter_model::{Causes, MoveKind};
use pathmeter_trace::Explain;

use crate::trees::explained;
use crate::{attributed, moves, names, of, with_more};

#[test]
fn a_function_with_another_name_is_no_cause() {
    let tree = |name: &str, own: u64| {
        format!("do_exit 10\n  unmap_vmas 20\n    {name} {own}\n      vm_normal_page 800\n")
    };
    let (base, new) = (tree("unmap_range", 7537), tree("zap_range", 7702));
    let causes = of(&[explained("exit", &base, &new)]);
    assert_eq!(names(&causes), [["zap_range+unmap_range"]]);
    let part = &causes.causes[0].parts[0];
    assert_eq!((part.difference, part.moves[0].kind), (165, MoveKind::Moved));
    assert_eq!(part.moves[0].callees, Some(1.0));

    let same = of(&[explained("exit", &base, &base.replace("unmap_range", "zap"))]);
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

/// A function by one name on base and another one on new, and what is below it.
fn renamed(base: &str, new: &str) -> [Explain; 1] {
    let tree = |name: &str, own: u64| {
        format!("vfs_read 10\n  {name} {own}\n    copy_page 80\n    mutex_lock 20\n")
    };
    [explained("pipe", &tree(base, 750), &tree(new, 770))]
}

/// How code moved from this function, if it did.
fn kind(causes: &Causes, from: &str) -> Option<MoveKind> {
    let mut moves = causes.causes.iter().flat_map(|it| &it.parts).flat_map(|it| &it.moves);
    moves.find(|it| it.from == from).map(|it| it.kind)
}

#[test]
fn a_name_that_both_kernels_have_is_not_another_one_of_the_same_function() {
    let read = renamed("pipe_read", "anon_pipe_read");
    assert_eq!(kind(&of(&read), "pipe_read"), Some(MoveKind::Renamed));
    for more in [[&["anon_pipe_read"][..], &[]], [&[], &["pipe_read"]]] {
        assert_eq!(kind(&with_more(&read, more), "pipe_read"), Some(MoveKind::Moved));
    }
}

#[test]
fn without_symbol_tables_nothing_is_called_a_rename() {
    let causes = attributed(&renamed("pipe_read", "anon_pipe_read"), None);
    assert_eq!(kind(&causes, "pipe_read"), Some(MoveKind::Moved));
}

#[test]
fn functions_of_unlike_names_and_a_function_and_its_wrapper_are_two() {
    for (base, new) in [("kernel_init_pages", "prep_new_page"), ("futex_put", "__futex_put")] {
        assert_eq!(kind(&of(&renamed(base, new)), base), Some(MoveKind::Moved), "{base}");
    }
}

#[test]
fn code_that_another_caller_calls_moved() {
    let base = "unmap_vmas 20\n  unmap_single 400\n    unmap_range 7537\n      vm_page 800\n";
    let new = "unmap_vmas 20\n  zap_range 7702\n    vm_page 800\n";
    let causes = of(&[explained("exit", base, new)]);
    assert_eq!(kind(&causes, "unmap_range"), Some(MoveKind::Moved));
}

#[test]
fn what_compilers_append_to_a_name_makes_no_other_function() {
    let appended = [".llvm.5776530594906201460", ".isra.0", ".part.0", ".constprop.0.cold", ""];
    for (base, new) in appended.iter().zip(&appended[1..]) {
        let tree = |suffix: &str, own| format!("ksys_read 10\n  vfs_read{suffix} {own}\n");
        let causes = of(&[explained("read", &tree(base, 20), &tree(new, 30))]);
        assert_eq!(names(&causes), [["vfs_read"]], "{base} {new}");
        assert_eq!((causes.causes[0].difference, moves(&causes)), (10, 0));
    }
}
