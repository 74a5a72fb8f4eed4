//! The program plugin's stream: whatever it says, the numbers of its rows fit each other, and what
//! is kept of it is bounded.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pathmeter_trace::{
    AccountTree, BlockFunction, BlockNames, CodePlace, MAX_NODES, MAX_WINDOWS, Owner, ThreadOwner,
    accounts, program_tree,
};

/// Names that depend on nothing but the block.
struct Names;

impl BlockNames for Names {
    fn function(&self, block: u64) -> Option<BlockFunction> {
        let offset = block % 64;
        let module = CodePlace::of(block).map(|place| place.page.to_string());
        let name = format!("f{}", block / 64);
        (!block.is_multiple_of(3)).then_some(BlockFunction { name, module, offset, address: block })
    }

    fn nameless(&self, block: u64) -> (String, Option<String>) {
        (block.to_string(), None)
    }

    fn process(&self, number: u64) -> String {
        number.to_string()
    }
}

/// What a tree is made of can be walked, and no instruction of it is lost.
fn check_tree(tree: &AccountTree) {
    assert!(tree.nodes.len() <= MAX_NODES);
    for (place, node) in tree.nodes.iter().enumerate() {
        assert!(node.parent.is_none_or(|parent| (parent as usize) < place));
    }
    let add = |sum: u64, more: u64| sum.saturating_add(more);
    let cells = tree.cells.iter().map(|cell| cell.instructions).fold(0, add);
    let window = program_tree(tree, 0, |_| true, &Names);
    let nodes = window.nodes.iter().map(|node| node.counts.instructions).fold(0, add);
    assert_eq!((nodes, window.total), (cells, cells));
}

fuzz_target!(|bytes: &[u8]| {
    let accounts = accounts(bytes);
    for account in accounts.runs.iter().flatten() {
        assert!(account.rows.iter().all(|row| row.instructions <= row.steps));
        let (processes, parts) = (&account.processes.processes, &account.processes.parts);
        for (place, process) in processes.iter().enumerate() {
            assert!(process.parent.is_none_or(|parent| parent < place));
            assert_eq!(process.parent.is_none(), place == 0);
        }
        for (owner, row) in parts {
            assert!(row.kind.is_own_work() && row.instructions <= row.steps);
            assert!(!matches!(owner, Owner::Process(place) if *place >= processes.len()));
        }
        let (threads, parts) = (&account.threads.threads, &account.threads.parts);
        assert!(threads.len() <= 256);
        assert!(threads.iter().all(|thread| thread.process < processes.len()));
        for (owner, row) in parts {
            assert!(row.kind.is_own_work() && row.instructions <= row.steps);
            match owner {
                ThreadOwner::Thread(place) => assert!(*place < threads.len()),
                ThreadOwner::Beyond(process) => assert!(*process < processes.len()),
            }
        }
        if let Some(tree) = &account.tree {
            check_tree(tree);
        }
        for region in &account.regions {
            assert!(region.windows.len() <= MAX_WINDOWS);
            assert!(region.windows.len() as u64 <= region.count);
            assert!(region.unproved <= region.count);
            assert!(accounts.names.contains(&region.name));
        }
    }
});
