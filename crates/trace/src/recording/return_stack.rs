//! The return stack of a processor: which returns it would not predict.
//!
//! The same model as the counter's (`plugin/common/return_stack.h`), which says where it is from.

/// How many addresses are kept.
const DEPTH: usize = 32;

/// The addresses after the calls that have not returned, the last ones.
#[derive(Default)]
pub(crate) struct ReturnStack {
    ring: [u64; DEPTH],
    /// Where the next one goes, modulo [`DEPTH`].
    top: usize,
    depth: usize,
    /// Whether an address was overwritten.
    forgot: bool,
}

impl ReturnStack {
    pub(crate) fn clear(&mut self) {
        (self.depth, self.forgot) = (0, false);
    }

    /// A call; the instruction after it is at `next`.
    pub(crate) fn push(&mut self, next: u64) {
        self.ring[self.top % DEPTH] = next;
        self.top = self.top.wrapping_add(1);
        self.forgot |= self.depth == DEPTH;
        self.depth = (self.depth + 1).min(DEPTH);
    }

    /// A return to `address`; whether it is mispredicted.
    pub(crate) fn pop(&mut self, address: u64) -> bool {
        let Some(depth) = self.depth.checked_sub(1) else { return self.forgot };
        self.depth = depth;
        self.top = self.top.wrapping_sub(1);
        self.ring[self.top % DEPTH] != address
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_return_to_after_the_last_call_is_predicted_and_another_is_not() {
        let mut stack = ReturnStack::default();
        stack.push(1);
        stack.push(2);
        assert_eq!([2, 7].map(|address| stack.pop(address)), [false, true]);
        // Whose call was before is not known.
        assert!(!stack.pop(8));
    }

    #[test]
    fn calls_beyond_the_depth_push_the_oldest_out() {
        let mut stack = ReturnStack::default();
        (0..33).for_each(|address| stack.push(address));
        assert!((1..33).rev().all(|address| !stack.pop(address)));
        assert!(stack.pop(0));
        stack.clear();
        assert!(!stack.pop(0));
    }
}
