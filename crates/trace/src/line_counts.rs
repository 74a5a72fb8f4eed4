//! What each line of the source executed in each function, while a window is decoded.
//!
//! An account is one line in one function. An instruction keeps the number of its account from one
//! execution to the next, so that counting is an addition. Like the arena's nodes, an account has
//! two tallies: what is tentative until the next stamp, and what has settled.

use std::{collections::HashMap, hash::BuildHasherDefault};

use crate::{footprint::LineHasher, places::NOWHERE};

/// Most accounts of one window; what is beyond them is in no line.
const MAX_ACCOUNTS: usize = 1 << 16;
/// The account of what is in no line: never counted, so without known lines nothing is.
pub(crate) const NO_ACCOUNT: u32 = 0;

/// What a line executed.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LineTally {
    pub(crate) instructions: u64,
    pub(crate) loads: u64,
    pub(crate) stores: u64,
}

/// One line in one function.
pub(crate) struct Account {
    pub(crate) function: u32,
    /// A number of [`crate::places::Places`].
    pub(crate) place: u32,
    pub(crate) settled: LineTally,
    tentative: LineTally,
    touched: bool,
}

/// All accounts of the window.
#[derive(Default)]
pub(crate) struct Ledger {
    /// The first has number 1.
    accounts: Vec<Account>,
    numbers: HashMap<(u32, u32), u32, BuildHasherDefault<LineHasher>>,
    touched: Vec<u32>,
}

impl Ledger {
    pub(crate) fn clear(&mut self) {
        self.accounts.clear();
        self.numbers.clear();
        self.touched.clear();
    }

    /// The account of `place` in `function`.
    pub(crate) fn account(&mut self, function: u32, place: u32) -> u32 {
        if place == NOWHERE {
            return NO_ACCOUNT;
        }
        if let Some(number) = self.numbers.get(&(function, place)) {
            return *number;
        }
        if self.accounts.len() == MAX_ACCOUNTS {
            return NO_ACCOUNT;
        }
        let (settled, tentative) = (LineTally::default(), LineTally::default());
        self.accounts.push(Account { function, place, settled, tentative, touched: false });
        let number = u32::try_from(self.accounts.len()).unwrap_or(NO_ACCOUNT);
        self.numbers.insert((function, place), number);
        number
    }

    /// Counts for `account` by `add`, until the next stamp tentatively.
    #[inline]
    pub(crate) fn count(&mut self, account: u32, add: impl FnOnce(&mut LineTally)) {
        let Some(index) = account.checked_sub(1) else { return };
        let account = &mut self.accounts[index as usize];
        if !account.touched {
            account.touched = true;
            self.touched.push(index);
        }
        add(&mut account.tentative);
    }

    /// The instruction that `account` counted did not complete.
    pub(crate) fn take_back(&mut self, account: u32, tentative: bool) {
        let Some(index) = account.checked_sub(1) else { return };
        let account = &mut self.accounts[index as usize];
        let tally = if tentative { &mut account.tentative } else { &mut account.settled };
        tally.instructions -= 1;
    }

    /// A stamp: all so far counts.
    pub(crate) fn settle(&mut self) {
        for index in self.touched.drain(..) {
            let account = &mut self.accounts[index as usize];
            let more = std::mem::take(&mut account.tentative);
            account.touched = false;
            account.settled.instructions += more.instructions;
            account.settled.loads += more.loads;
            account.settled.stores += more.stores;
        }
    }

    /// The accounts in which anything settled.
    pub(crate) fn settled(&self) -> impl Iterator<Item = &Account> {
        self.accounts.iter().filter(|account| account.settled != LineTally::default())
    }
}
