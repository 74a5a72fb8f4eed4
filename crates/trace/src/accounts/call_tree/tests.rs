use super::*;
use crate::accounts::Account;
use crate::accounts::tests::Stream;
use crate::c_header::{constants, header};

/// A tree at the row: a call of the block 0x20 from 0x10, in the root.
fn tree() -> Stream {
    Stream::new().record(19, &[1, 2, 3]).record(20, &[0, 0, 0, 0]).record(20, &[1, 2, 16, 32])
}

#[test]
fn a_tree_and_the_pages_of_code_are_read_back() {
    let stream = Stream::new().record(18, &[u64::MAX, 0, 0]).record(18, &[0, 4096, 7]);
    let stream = stream.record(19, &[2, 0, 0]).record(20, &[0, 0, 7, 9]).record(20, &[0, 1, 0, 0]);
    // An entry for a page fault in the root, and 10 steps of which 4 were surplus.
    let stream = stream.record(20, &[1, 3 + 3, 16, 1 << 63]);
    let read = stream.record(21, &[3, 4, 1 << 63, 1, 10, 4, 3]).rows(0, &[]).rows(0, &[]).read();
    assert_eq!(
        (read.fault, &read.pages[..]),
        (None, &[CodePage::Packed(u64::MAX), CodePage::Made { address: 4096, process: 7 }][..])
    );
    let [first, second]: [Account; 2] =
        read.runs.into_iter().map(Result::unwrap).collect::<Vec<_>>().try_into().unwrap();
    let tree = first.tree.unwrap();
    assert_eq!((tree.form, tree.deeper, tree.beyond), (TreeForm::Callers, 0, 0));
    let kinds: Vec<AccountNodeKind> = tree.nodes.iter().map(|node| node.kind).collect();
    let fault = AccountNodeKind::Entry(RowKind::PageFault);
    assert_eq!(kinds, [AccountNodeKind::Root(9), AccountNodeKind::Rest, fault]);
    let entry = AccountNode { parent: Some(0), kind: fault, site: 16, target: 1 << 63 };
    assert_eq!(tree.nodes[2], entry);
    let (kind, block) = (RowKind::PageFault, 1 << 63);
    let cell = TreeCell { kind, id: 4, node: 2, block, steps: 10, instructions: 6 };
    assert_eq!(tree.cells, [cell]);
    assert_eq!(second.tree, None);
}

#[test]
fn a_tree_that_can_be_none_is_refused() {
    let fault = |stream: Stream| stream.fault(0);
    assert_eq!(fault(Stream::new().record(19, &[0, 0, 0])), "a tree has an unknown form");
    assert_eq!(fault(Stream::new().record(19, &[3, 0, 0])), "a tree has an unknown form");
    assert_eq!(fault(tree().record(19, &[1, 0, 0])), "a run has two trees");
    assert_eq!(fault(Stream::new().record(20, &[0, 0, 0, 0])), "it has a node of no tree");
    assert_eq!(fault(Stream::new().record(21, &[1, 0, 1, 1, 1, 0, 1])), "it has a node of no tree");
    let before = "a node comes before its parent";
    assert_eq!(fault(tree().record(20, &[3, 2, 0, 0])), before);
    assert_eq!(fault(tree().record(20, &[u64::MAX, 2, 0, 0])), before);
    let wrong = "a node has no parent, or one that it can't have";
    assert_eq!(fault(tree().record(20, &[0, 2, 0, 0])), wrong);
    assert_eq!(fault(tree().record(20, &[1, 0, 0, 0])), wrong);
    assert_eq!(fault(tree().record(20, &[1, 1, 0, 0])), wrong);
    for kind in [3 + KINDS.len() as u64, u64::MAX] {
        assert_eq!(fault(tree().record(20, &[1, kind, 0, 0])), "a node has an unknown kind");
    }
    for node in [0, 3, u64::MAX] {
        let cell = [1, 0, 32, 1, 1, 0, node];
        assert_eq!(fault(tree().record(21, &cell)), "a cell is in no node");
    }
    let less = "a cell has less than no instruction";
    assert_eq!(fault(tree().record(21, &[1, 0, 32, 1, 1, 2, 1])), less);
    assert_eq!(fault(tree().record(21, &[1, 0, 32, 1, u64::MAX, u64::MAX, 1])), less);
}

#[test]
fn what_the_plugin_has_room_for_is_read_and_no_more() {
    let plugin = constants("program/call_tree.h");
    assert_eq!(plugin["MOST_NODES"], MAX_NODES as u64);
    assert_eq!(plugin["DEEPEST_CALL"], u64::from(DEEPEST_CALL));
    assert_eq!(constants("program/cells.h")["MOST_CELLS"], MAX_TREE_CELLS as u64);
    let pages = constants("program/code_pages.h");
    assert_eq!((pages["MOST_PAGES"], 1 << pages["PAGE_BITS"]), (MAX_PAGES as u64, 4096));
    let kinds = ["ROOT_NODE", "REST_NODE", "CALL_NODE", "ENTRY_NODE"].map(|name| plugin[name]);
    assert_eq!(kinds, [0, 1, 2, 3]);
    let forms = ["NO_TREE", "TREE_OF_ROW", "TREE_OF_CALLERS"].map(|name| plugin[name]);
    assert_eq!(forms, [0, 1, 2]);
    let regions = constants("program/regions.h");
    let tags = ["CODE_PAGE", "TREE", "NODE", "TREE_CELL"].map(|name| regions[name]);
    assert_eq!(tags, [18, 19, 20, 21]);
    let places = header("program/places.h");
    for letter in ["TREE_ROW = 'g'", "TREE_REGION = 'h'", "TREE_CALLERS = 'q'"] {
        assert!(places.contains(letter), "{letter}");
    }
    let many = |tag, record: &[u64], count: usize| {
        (0..count)
            .fold(Stream::new().record(19, &[1, 0, 0]), |stream, _| stream.record(tag, record))
    };
    assert_eq!(
        many(20, &[0, 0, 0, 0], MAX_NODES).rows(0, &[]).run().tree.unwrap().nodes.len(),
        MAX_NODES
    );
    assert_eq!(many(20, &[0, 0, 0, 0], MAX_NODES + 1).fault(0), "a run has too many nodes");
    assert_eq!(many(18, &[1, 0, 0], MAX_PAGES + 1).fault(0), "it has too many pages of code");
}

#[test]
fn a_place_in_a_page_is_no_address_of_the_kernel() {
    assert_eq!(CodePlace::of(0x1004), Some(CodePlace { page: 0, offset: 4 }));
    for block in [0, 1, 4095, (MAX_PAGES as u64 + 1) << 12, 1 << 63, u64::MAX] {
        assert_eq!(CodePlace::of(block), None, "{block:#x}");
    }
}

#[test]
fn a_short_page_ends_in_zeros() {
    assert_eq!(code_hash(b"code"), code_hash(&[&b"code"[..], &[0; 4092]].concat()));
    assert_ne!(code_hash(b"code"), code_hash(b"core"));
    // By the rule, by hand.
    let zero =
        |hash: u64| (hash.wrapping_mul(0x100_0000_01b3)) ^ hash.wrapping_mul(0x100_0000_01b3) >> 32;
    let zeros = (0..512).fold(0xcbf2_9ce4_8422_2325, |hash, _| zero(hash));
    assert_eq!(code_hash(&[]), zeros);
}
