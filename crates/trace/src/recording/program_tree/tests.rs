use proptest::prelude::*;

use super::*;

/// Kernel code: `enter` at 0, `read` at 0x100, `write` at 0x200, a thunk at 0x300, `read.cold` at
/// 0x400. Programs' code: `main` in page 1, `leaf` in page 2, a linkage table in page 3.
struct Names;

const KERNEL: u64 = 1 << 63;

impl BlockNames for Names {
    fn function(&self, block: u64) -> Option<BlockFunction> {
        let (kernel, place) = (block >= KERNEL, block & !KERNEL);
        let names: [&str; 5] = if kernel {
            ["enter", "read", "write", "__x86_indirect_thunk_rax", "read.cold"]
        } else {
            ["", "main", "leaf", "[plt]", ""]
        };
        let size = if kernel { 0x100 } else { 0x1000 };
        let name = names.get(usize::try_from(place / size).unwrap()).filter(|it| !it.is_empty())?;
        Some(BlockFunction {
            name: (*name).to_owned(),
            module: (!kernel).then(|| "prog".to_owned()),
            offset: place % size,
            address: block,
        })
    }

    fn nameless(&self, block: u64) -> (String, Option<String>) {
        (format!("{block:#x}"), None)
    }

    fn process(&self, number: u64) -> String {
        format!("[process {number}]")
    }

    fn line(&self, block: u64, function: &BlockFunction) -> Option<SourceLine> {
        let line = u32::try_from((function.address - function.offset) & !KERNEL).ok()?;
        let file = if block < KERNEL { "prog.c" } else { "kernel.c" };
        Some(SourceLine { file: file.to_owned(), line })
    }
}

fn node(parent: Option<u32>, kind: AccountNodeKind, site: u64, target: u64) -> AccountNode {
    AccountNode { parent, kind, site, target }
}

fn call(parent: u32, site: u64, target: u64) -> AccountNode {
    node(Some(parent), AccountNodeKind::Call, site, target)
}

fn cell(node: u32, block: u64, instructions: u64) -> TreeCell {
    let (kind, steps) = (RowKind::Syscall, instructions + 1);
    TreeCell { kind, id: 1, node, block, steps, instructions }
}

fn built(form: TreeForm, nodes: Vec<AccountNode>, cells: Vec<TreeCell>) -> WindowTree {
    let tree = AccountTree { form, nodes, cells, ..AccountTree::default() };
    program_tree(&tree, 2, |cell| cell.kind == RowKind::Syscall, &Names)
}

/// Formats each node as `PATH KIND INSTRUCTIONS`.
fn format_nodes(tree: &WindowTree) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    let mut lines = Vec::new();
    for node in &tree.nodes {
        let above =
            node.parent.map_or_else(String::new, |parent| paths[parent as usize].clone() + "/");
        paths.push(above + tree.name(node));
        lines.push(format!(
            "{} {:?} {}",
            paths[paths.len() - 1],
            node.kind,
            node.counts.instructions
        ));
    }
    lines
}

const ROOT: AccountNodeKind = AccountNodeKind::Root(0);
const SYSCALL: AccountNodeKind = AccountNodeKind::Entry(RowKind::Syscall);

#[test]
fn a_row_begins_at_its_entry_and_jumps_are_tail_calls() {
    let nodes = vec![
        node(None, ROOT, 0, 0),
        node(Some(0), SYSCALL, 0x1010, KERNEL),
        call(1, KERNEL + 8, KERNEL + 0x100),
    ];
    let cells = vec![
        cell(1, KERNEL, 5),
        cell(2, KERNEL + 0x140, 7),
        // A part that the compiler moved away, and a function that is jumped to.
        cell(2, KERNEL + 0x410, 1),
        cell(2, KERNEL + 0x200, 2),
    ];
    let tree = built(TreeForm::Row, nodes, cells);
    let expected = ["enter Syscall 5", "enter/read Call 8", "enter/read/write TailCall 2"];
    assert_eq!(format_nodes(&tree), expected);
    assert_eq!((tree.total, tree.clock, tree.window, tree.unattributed), (15, 19, 2, 0));
    let read = tree.functions.iter().find(|function| function.name == "read").unwrap();
    assert_eq!(read.address.as_deref(), Some("0x8000000000000100"));
    assert_eq!((read.counts.instructions, read.counts.user_instructions), (8, 0));
}

#[test]
fn a_function_begins_in_the_line_of_its_lowest_entry_whose_ever_it_is() {
    let nodes = vec![node(None, ROOT, 0, 0), node(Some(0), SYSCALL, 0x1010, KERNEL)];
    // Blocks within the functions, and a part of `read` that was moved away.
    let cells = vec![cell(1, KERNEL + 0x410, 1), cell(1, KERNEL + 0x120, 1), cell(1, 0x2040, 1)];
    let tree = built(TreeForm::Row, nodes, cells);
    let line = |name: &str| {
        let named = tree.functions.iter().find(|function| function.name == name).unwrap();
        named.source.as_ref().map(|source| (&*source.file, source.line))
    };
    assert_eq!(line("read"), Some(("kernel.c", 0x100)));
    assert_eq!(line("leaf"), Some(("prog.c", 0x2000)));
}

#[test]
fn what_a_thunk_jumps_to_stands_beside_it() {
    let thunk = call(1, KERNEL + 8, KERNEL + 0x300);
    let nodes = vec![
        node(None, ROOT, 0, 0),
        node(Some(0), SYSCALL, 0, KERNEL),
        thunk,
        call(2, KERNEL + 0x120, KERNEL + 0x200),
    ];
    let cells =
        vec![cell(2, KERNEL + 0x300, 2), cell(2, KERNEL + 0x100, 3), cell(3, KERNEL + 0x210, 4)];
    let tree = built(TreeForm::Row, nodes, cells);
    let expected = [
        "enter Syscall 0",
        "enter/__x86_indirect_thunk_rax Call 2",
        "enter/read Call 3",
        "enter/read/write Call 4",
    ];
    let mut found = format_nodes(&tree);
    found.sort();
    let mut sorted = expected.to_vec();
    sorted.sort_unstable();
    assert_eq!(found, sorted);
}

#[test]
fn a_call_for_its_return_address_stays_in_its_function() {
    let nodes = vec![
        node(None, ROOT, 0, 0),
        node(Some(0), SYSCALL, 0, KERNEL),
        call(1, KERNEL + 8, KERNEL + 0x10),
        call(1, KERNEL + 8, KERNEL),
    ];
    let cells = vec![cell(2, KERNEL + 0x10, 3), cell(3, KERNEL, 4)];
    // The second one is a recursion: it leads to the function's beginning.
    let tree = built(TreeForm::Row, nodes, cells);
    assert_eq!(format_nodes(&tree), ["enter Syscall 3", "enter/enter Call 4"]);
}

#[test]
fn callers_are_those_of_each_process() {
    let main = call(0, 0x2000, 0x1000);
    let nodes = vec![
        node(None, AccountNodeKind::Root(1), 0, 0),
        main,
        call(1, 0x1010, 0x3010),
        node(Some(2), SYSCALL, 0x2040, KERNEL),
        node(None, AccountNodeKind::Root(2), 0, 0),
        node(None, AccountNodeKind::Rest, 0, 0),
        // Code without a symbol: called, and jumped to.
        call(4, 0, 0x9000),
    ];
    let cells = vec![
        cell(3, KERNEL + 4, 1),
        cell(2, 0x2040, 2),
        cell(4, 0x1000, 3),
        cell(5, KERNEL + 0x100, 4),
        cell(5, 0x9000, 5),
        cell(6, 0x9100, 6),
    ];
    let tree = built(TreeForm::Callers, nodes, cells);
    let expected = [
        "[process 1] Task 0",
        "[process 1]/leaf Call 0",
        "[process 1]/leaf/main Call 0",
        "[process 1]/leaf/main/[plt] Call 0",
        "[process 1]/leaf/main/leaf Call 2",
        "[process 1]/leaf/main/leaf/enter Syscall 1",
        "[process 2] Task 0",
        "[process 2]/main Call 3",
        "[process 2]/0x9000 Call 6",
        "[calls without room] Unattributed 5",
        "[calls without room]/read Call 4",
    ];
    let mut found = format_nodes(&tree);
    found.sort();
    let mut sorted = expected.to_vec();
    sorted.sort_unstable();
    assert_eq!(found, sorted);
    assert_eq!((tree.total, tree.unattributed), (21, 9));
    let user: u64 = tree.nodes.iter().map(|node| node.counts.user_instructions).sum();
    assert_eq!(user, 16);
}

#[test]
fn only_cells_that_are_wanted_make_nodes() {
    let nodes = vec![
        node(None, ROOT, 0, 0),
        node(Some(0), SYSCALL, 0, KERNEL),
        call(1, KERNEL, KERNEL + 0x100),
    ];
    let other = TreeCell { kind: RowKind::PageFault, ..cell(2, KERNEL + 0x100, 9) };
    let tree = built(TreeForm::Row, nodes, vec![cell(1, KERNEL, 1), other]);
    assert_eq!(format_nodes(&tree), ["enter Syscall 1"]);
    assert_eq!(built(TreeForm::Row, vec![], vec![]).total, 0);
}

/// A block of the kernel or of a program, mostly with a symbol.
fn any_block() -> impl Strategy<Value = u64> {
    let near = (0_u64..0x600, 0_u64..0x5000).prop_map(|(kernel, user)| [KERNEL + kernel, user]);
    (near, any::<u64>(), 0..8).prop_map(|(near, far, which)| match which {
        0 => far,
        which => near[usize::from(which % 2 == 0)],
    })
}

proptest! {
    #[test]
    fn whatever_the_calls_are_no_instruction_is_lost(
        made in prop::collection::vec((any::<u32>(), 0..5_u8, any_block(), any_block()), 1..60),
        counted in prop::collection::vec((any::<u32>(), any_block(), 0..1_000_000_u64), 0..60),
        callers in any::<bool>(),
    ) {
        let nodes: Vec<AccountNode> = (0..).zip(made).map(|(at, (parent, kind, site, target))| {
            match (at, kind) {
                (0, _) | (_, 0) => node(None, AccountNodeKind::Root(target), site, target),
                (_, 1) => node(None, AccountNodeKind::Rest, site, target),
                (at, 2) => node(Some(parent % at), SYSCALL, site, target),
                (at, _) => call(parent % at, site, target),
            }
        }).collect();
        let count = u32::try_from(nodes.len()).unwrap();
        let cells = counted.into_iter().map(|(at, block, own)| cell(at % count, block, own));
        let cells: Vec<TreeCell> = cells.collect();
        let sum: u64 = cells.iter().map(|cell| cell.instructions).sum();
        let form = if callers { TreeForm::Callers } else { TreeForm::Row };
        let tree = built(form, nodes, cells);
        let own: u64 = tree.nodes.iter().map(|node| node.counts.instructions).sum();
        prop_assert_eq!((own, tree.total), (sum, sum));
        let functions: u64 = tree.functions.iter().map(|it| it.counts.instructions).sum();
        prop_assert_eq!(functions, sum);
        let window = crate::SubjectWindow {
            path: "read".to_owned(),
            name: "k".to_owned(),
            image_sha256: String::new(),
            measured_with: None,
            windows: crate::RecordedWindows { recorded: 1, interrupted: 0, unstamped: 0, alike: 1 },
            idle: 0,
            program: None,
            window: tree,
        };
        prop_assert_eq!(crate::Explain::new(window, None).check(), Ok(()));
    }
}
