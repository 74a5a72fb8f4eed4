//! What debug information adds: where inlined functions are, and the kinds of work by files.

use pathmeter_causes::{Holders, Kernel};
use pathmeter_model::{Area, Causes, CodeMove, MoveKind};
use pathmeter_trace::Explain;

use crate::{attributed, executed, of, trees::explained};

/// The causes, if new has no function of these names, but their code in others.
fn inlined(explanations: &[Explain], holders: &[(&str, &str)]) -> Causes {
    let [base, mut new] = executed(explanations);
    new.retain(|name| holders.iter().all(|(inlined, _)| name != inlined));
    let mut held = Holders::new();
    for (inlined, holder) in holders {
        held.entry((*inlined).to_owned()).or_default().insert((*holder).to_owned());
    }
    let base = Kernel { names: base, ..Kernel::default() };
    attributed(explanations, Some(&[base, Kernel { names: new, holders: held }]))
}

fn moves(causes: &Causes) -> Vec<&CodeMove> {
    let parts = causes.causes.iter().flat_map(|cause| &cause.parts);
    parts.flat_map(|part| &part.moves).chain(&causes.moves).collect()
}

/// A caller that has a function's code, and much that is new besides: no cost shows that it has.
fn much_besides() -> [Explain; 1] {
    [explained("a", "schedule 500\n  pick 100\n", "schedule 1500\n")]
}

#[test]
fn a_function_that_is_inlined_in_its_caller_is_one_part_with_it_whatever_they_cost() {
    assert_eq!(moves(&of(&much_besides())), [] as [&CodeMove; 0]);
    let explanations = much_besides();
    let causes = inlined(&explanations, &[("pick", "schedule")]);
    let moves = moves(&causes);
    let [only] = &moves[..] else { panic!("{moves:?}") };
    assert_eq!((only.kind, &*only.from, &*only.to), (MoveKind::Inlined, "pick", "schedule"));
    assert!(only.in_debug_info);
    assert!(causes.causes.iter().flat_map(|it| &it.parts).any(|part| part.difference == 900));
}

#[test]
fn a_function_that_was_inlined_and_is_called_now_was_taken_out() {
    let explanations =
        [explained("a", "schedule 900\n  rb_first 20\n", "schedule 500\n  pick 100\n")];
    let [base, new] = executed(&explanations);
    let holders = Holders::from([("pick".to_owned(), ["schedule".to_owned()].into())]);
    let base = Kernel { names: base, holders };
    let new = Kernel { names: new, ..Kernel::default() };
    let causes = attributed(&explanations, Some(&[base, new]));
    let moves = moves(&causes);
    let [only] = &moves[..] else { panic!("{moves:?}") };
    assert_eq!((only.kind, &*only.from, &*only.to), (MoveKind::Outlined, "schedule", "pick"));
}

#[test]
fn what_stands_as_an_inlined_function_on_the_other_side_is_one_part_with_its_caller() {
    // Both have debug information: the tree has a place for it on either side.
    let explanations = [explained("a", "schedule 500\n  pick 100\n", "schedule 496\n  pick 91\n")];
    let causes = inlined(&explanations, &[("pick", "schedule")]);
    assert_eq!((causes.causes.len(), causes.causes[0].parts.len()), (1, 1));
    assert_eq!(causes.causes[0].difference, -13);
}

#[test]
fn functions_that_are_inlined_in_one_another_are_one_part_with_what_has_them_all() {
    let base = "schedule 500\n  pick 100\n    pick_fair 400\n";
    let explanations = [explained("a", base, "schedule 2000\n")];
    let causes = inlined(&explanations, &[("pick", "schedule"), ("pick_fair", "schedule")]);
    assert_eq!(causes.causes[0].parts[0].functions.len(), 3);
    assert_eq!(causes.causes[0].difference, 1000);
}

#[test]
fn what_another_function_has_or_many_callers_had_stays_apart() {
    let explanations = [explained("a", "schedule 500\n  pick 100\n", "schedule 590\n")];
    assert_eq!(moves(&inlined(&explanations, &[])).len(), 1);
    let elsewhere = inlined(&explanations, &[("pick", "schedule_idle")]);
    assert_eq!(moves(&elsewhere), [] as [&CodeMove; 0]);
    let base = "x64_sys_call 10\n  one 500\n    get 100\n  two 500\n    get 100\n";
    let explanations = [explained("a", base, "x64_sys_call 10\n  one 2900\n  two 2900\n")];
    let causes = inlined(&explanations, &[("get", "one"), ("get", "two")]);
    assert!(moves(&causes).iter().all(|it| !it.in_debug_info));
}

#[test]
fn the_file_that_a_function_is_in_is_its_kind_of_work_before_its_name() {
    let area = |function: &str| {
        let tree = |own| format!("do_syscall_64 10\n  vfs_read 50\n    {function} {own}\n");
        of(&[explained("a", &tree(5), &tree(9))]).causes[0].area
    };
    assert_eq!(area("kmalloc_something"), Area::Allocator);
    assert_eq!(area("kmalloc_something@kernel/sched/core.c"), Area::Scheduler);
    // A file that many use says nothing: then the name counts, or else the nearest above.
    assert_eq!(area("kmalloc_something@lib/x.c"), Area::Allocator);
    assert_eq!(area("find_it@lib/x.c"), Area::Files);
    assert_eq!(area("find_it@net/core/sock.c"), Area::Sockets);
}
