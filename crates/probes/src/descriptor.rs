//! Descriptors as the kernel hands them out in pairs, of four bytes each.

use crate::{
    failure::{Failure, unsupported},
    sys::{self, Ret, nr},
};

/// A pipe: its read end, its write end.
pub fn pipe() -> Result<[usize; 2], Failure> {
    let mut ends = [0; 2];
    match sys::pipe(&mut ends) {
        Ok(_) => Ok(ends.map(descriptor)),
        Err(error) => unsupported!("no pipe (error {error})"),
    }
}

/// socketpair(2): two connected sockets, or the error number.
pub fn socketpair(family: usize, kind: usize) -> Result<[usize; 2], i32> {
    let mut ends = [0_i32; 2];
    let place = ends.as_mut_ptr() as usize;
    // SAFETY: the kernel writes two ints to `ends`.
    let made: Ret = unsafe { sys::checked(nr::SOCKETPAIR, [family, kind, 0, place, 0, 0]) };
    made.map(|_| ends.map(descriptor))
}

fn descriptor(fd: i32) -> usize {
    fd.cast_unsigned() as usize
}
