//! The call tree of a run: in which calls its rows, or one of its regions, executed what.

use std::io::Read;

use super::{KINDS, Reader, RowKind};

/// Most nodes of a run; `plugin/program/call_tree.h` has as many.
pub const MAX_NODES: usize = 1 << 18;
/// Most cells of a run; `plugin/program/cells.h` has half as many.
pub(super) const MAX_TREE_CELLS: usize = 1 << 21;
/// Most pages of code of a stream; `plugin/program/code_pages.h` has as many.
pub(super) const MAX_PAGES: usize = 1 << 14;
/// Bytes of a page of code.
pub const CODE_PAGE_BYTES: usize = 4096;
/// Calls of a task on top of so many are in no node of their own; `plugin/program/call_tree.h` has
/// the same.
pub const DEEPEST_CALL: u32 = 512;

/// What the plugin knows of the calls of the rows that were asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccountTree {
    /// What its outermost nodes are.
    pub form: TreeForm,
    /// Calls on top of [`DEEPEST_CALL`] others: what they executed is in the last of these.
    pub deeper: u64,
    /// How often there was no node left for a call.
    pub beyond: u64,
    /// The nodes; each comes after its parent.
    pub nodes: Vec<AccountNode>,
    /// What was executed in them.
    pub cells: Vec<TreeCell>,
}

/// Where the nodes of a tree begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TreeForm {
    /// They begin at the row itself.
    #[default]
    Row,
    /// At the outermost calls of each process.
    Callers,
}

/// A call, or an entry into the kernel, in the calls above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccountNode {
    /// Index of the node that it was made in. It is less than the node's own.
    pub parent: Option<u32>,
    pub kind: AccountNodeKind,
    /// The block that the call was made in: an address of the kernel's code, or a [`CodePlace`].
    pub site: u64,
    /// The block that it led to.
    pub target: u64,
}

/// How control came to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountNodeKind {
    /// It is the outermost one of this process; 0 stands for none in particular.
    Root(u64),
    /// It stands for all calls that there was no room for.
    Rest,
    /// Control came by a call.
    Call,
    /// The kernel was entered for this.
    Entry(RowKind),
}

/// What a row executed in a block of code, in one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeCell {
    pub kind: RowKind,
    /// Which of that kind, as in [`super::AccountCell`].
    pub id: u32,
    /// The node's index in the tree's nodes.
    pub node: u32,
    /// The block, as in [`AccountNode`].
    pub block: u64,
    /// Steps of the guest's clock.
    pub steps: u64,
    /// The number of instructions retired.
    pub instructions: u64,
}

/// A page of a program's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodePage {
    /// One that a packed file has: [`code_hash`] of what is in it.
    Packed(u64),
    /// One that no packed file has.
    Made {
        /// Where it is in the memory of the process.
        address: u64,
        /// The number of the process, as that has it itself; 0 if it is not known.
        process: u64,
    },
}

/// Where code of a program is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CodePlace {
    /// The page's index among those of the stream.
    pub page: usize,
    /// The place in it, in bytes.
    pub offset: u64,
}

impl CodePlace {
    /// The place that a node's or a cell's block stands for; `None` if it is the kernel's or not
    /// known.
    pub fn of(block: u64) -> Option<Self> {
        let bytes = CODE_PAGE_BYTES as u64;
        let page = usize::try_from(block / bytes).ok()?.checked_sub(1)?;
        (page < MAX_PAGES).then_some(Self { page, offset: block % bytes })
    }
}

/// What a page is told by: FNV-1a of words of 8 bytes, folded (`plugin/program/code_pages.c` has
/// the same). A page that is shorter, as the last one of a file, ends in zeros.
pub fn code_hash(page: &[u8]) -> u64 {
    let word = |bytes: &[u8]| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(word)
    };
    let words = page.chunks(8).map(word).chain(std::iter::repeat(0)).take(CODE_PAGE_BYTES / 8);
    words.fold(0xcbf2_9ce4_8422_2325, |hash: u64, word| {
        let hash = (hash ^ word).wrapping_mul(0x100_0000_01b3);
        hash ^ hash >> 32
    })
}

impl<R: Read> Reader<R> {
    pub(super) fn code_page(&mut self) -> Result<(), &'static str> {
        let page = match (self.number()?, self.number()?, self.number()?) {
            (0, address, process) => CodePage::Made { address, process },
            (hash, ..) => CodePage::Packed(hash),
        };
        if self.pages.len() == MAX_PAGES {
            return Err("it has too many pages of code");
        }
        self.pages.push(page);
        Ok(())
    }

    pub(super) fn read_tree(&mut self) -> Result<(), &'static str> {
        let form = match self.number()? {
            1 => TreeForm::Row,
            2 => TreeForm::Callers,
            _ => return Err("a tree has an unknown form"),
        };
        let (deeper, beyond) = (self.number()?, self.number()?);
        if self.account.tree.is_some() {
            return Err("a run has two trees");
        }
        self.account.tree = Some(AccountTree { form, deeper, beyond, ..AccountTree::default() });
        Ok(())
    }

    fn known_tree(&mut self) -> Result<&mut AccountTree, &'static str> {
        self.account.tree.as_mut().ok_or("it has a node of no tree")
    }

    pub(super) fn node(&mut self) -> Result<(), &'static str> {
        let (parent, kind) = (self.number()?, self.number()?);
        let (site, target) = (self.number()?, self.number()?);
        let kind = node_kind(kind, target).ok_or("a node has an unknown kind")?;
        let nodes = &mut self.known_tree()?.nodes;
        let parent = match parent {
            0 => None,
            number if number <= nodes.len() as u64 => u32::try_from(number - 1).ok(),
            _ => return Err("a node comes before its parent"),
        };
        let is_top = matches!(kind, AccountNodeKind::Root(_) | AccountNodeKind::Rest);
        if is_top != parent.is_none() {
            return Err("a node has no parent, or one that it can't have");
        }
        if nodes.len() == MAX_NODES {
            return Err("a run has too many nodes");
        }
        nodes.push(AccountNode { parent, kind, site, target });
        Ok(())
    }

    pub(super) fn tree_cell(&mut self) -> Result<(), &'static str> {
        let (kind, id) = self.row_key()?;
        let (block, _times) = (self.number()?, self.number()?);
        let (steps, surplus) = (self.number()?, self.number()?);
        let node = self.number()?;
        // As of cells without a node: the surplus may be below 0.
        let instructions = steps.wrapping_sub(surplus);
        if i64::try_from(instructions).is_err() || i64::try_from(steps).is_err() {
            return Err("a cell has less than no instruction");
        }
        let tree = self.known_tree()?;
        let known = node.checked_sub(1).filter(|node| *node < tree.nodes.len() as u64);
        let node = known.and_then(|node| u32::try_from(node).ok());
        let node = node.ok_or("a cell is in no node")?;
        if tree.cells.len() == MAX_TREE_CELLS {
            return Err("a run has too many cells");
        }
        tree.cells.push(TreeCell { kind, id, node, block, steps, instructions });
        Ok(())
    }
}

/// By the numbers of `plugin/program/call_tree.h`.
fn node_kind(kind: u64, target: u64) -> Option<AccountNodeKind> {
    match kind {
        0 => Some(AccountNodeKind::Root(target)),
        1 => Some(AccountNodeKind::Rest),
        2 => Some(AccountNodeKind::Call),
        kind => {
            let row = usize::try_from(kind - 3).ok()?;
            KINDS.get(row).copied().map(AccountNodeKind::Entry)
        }
    }
}

#[cfg(test)]
mod tests;
