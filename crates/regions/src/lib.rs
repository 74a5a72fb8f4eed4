//! Marks regions of a program that `pathmeter run` measures, and states what it expects of itself.
//!
//! ```
//! use pathmeter_regions::{expect, region, Region};
//!
//! for _ in 0..100 {
//!     let length = region(c"read-file", || std::fs::read("Cargo.toml").unwrap().len());
//!     expect!(length > 0);
//! }
//!
//! // Or to the end of the scope:
//! let _region = Region::begin(c"exists");
//! assert!(std::path::Path::new("Cargo.toml").exists());
//! ```
//!
//! ```sh
//! pathmeter run KERNEL -- ./program
//! ```
//!
//! The result has a row `user.read-file`: what was executed from begin to end, in instructions,
//! each time. If an expectation does not hold, the row is `failed`, and states it. Outside
//! pathmeter's guest each of these calls is a nop and two loads, so the program may keep them.
//!
//! Names have 1 to 63 bytes of `[A-Za-z0-9._+-]`. Begin and end come in pairs of one name in one
//! thread. Put an expectation after the end of its region: inside, it is counted. The compiler
//! moves no access to memory into a region or out of it; computations in registers it may move.
//!
//! For x86-64 and x86; on other architectures nothing is marked. `include/pathmeter.h` is the same
//! for C and C++, and `docs/guide/own-programs.md` has the rest.

#![no_std]
#![warn(missing_docs)]
#![allow(clippy::inline_always, reason = "a region must hold no call that is not the program's")]

use core::ffi::CStr;

/// Executes a marker: a `nopl 0x504d..00(%rax,%rax,1)`, in which the second byte is its kind, and
/// two instructions that read the first byte of a string and the NUL that ends it: the string may
/// lie in two pages. All have the same bytes on x86.
macro_rules! mark {
    ($kind:literal, $string:expr) => {{
        let string: &CStr = $string;
        // SAFETY: a nop, and loads from a string that is alive. Nothing is written but flags, and
        // no stack is used. Neither `nomem` nor `readonly`, so that no access moves across it.
        #[cfg(any(all(target_arch = "x86_64", target_pointer_width = "64"), target_arch = "x86"))]
        unsafe {
            core::arch::asm!(
                concat!(".byte 0x0f, 0x1f, 0x84, 0x00, 0x00, ", $kind, ", 0x4d, 0x50"),
                "test byte ptr [{first}], 0",
                "test byte ptr [{last}], 0",
                first = in(reg) string.as_ptr(),
                last = in(reg) string.as_ptr().wrapping_add(string.to_bytes().len()),
                options(nostack),
            );
        }
        let _ = string;
    }};
}

/// The region `name` begins after this.
#[inline(always)]
pub fn begin(name: &'static CStr) {
    mark!("0x06", name);
}

/// The region `name` ends before this.
#[inline(always)]
pub fn end(name: &'static CStr) {
    mark!("0x07", name);
}

/// Calls `work` as the region `name`, and returns what it returns.
#[inline(always)]
pub fn region<R>(name: &'static CStr, work: impl FnOnce() -> R) -> R {
    begin(name);
    let result = work();
    end(name);
    result
}

/// A region that ends when it is dropped.
#[derive(Debug)]
#[must_use = "the region ends when this is dropped"]
pub struct Region {
    name: &'static CStr,
}

impl Region {
    /// The region `name` begins after this.
    #[inline(always)]
    pub fn begin(name: &'static CStr) -> Self {
        begin(name);
        Self { name }
    }
}

impl Drop for Region {
    #[inline(always)]
    fn drop(&mut self) {
        end(self.name);
    }
}

/// States whether what `text` says holds; returns that. Programs use [`expect!`].
#[inline(always)]
pub fn state(holds: bool, text: &'static CStr) -> bool {
    if holds {
        mark!("0x08", text);
    } else {
        mark!("0x09", text);
    }
    holds
}

/// Expects that a condition holds of the region that is open, or else of the one that ended last in
/// this thread; its value is the condition's. It is evaluated once, in any program.
#[macro_export]
macro_rules! expect {
    ($condition:expr $(,)?) => {{
        const TEXT: &::core::ffi::CStr = $crate::text(concat!(stringify!($condition), "\0"));
        $crate::state($condition, TEXT)
    }};
}

/// The text of an expectation, which ends with its only NUL; evaluated at compile time.
#[doc(hidden)]
pub const fn text(terminated: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(terminated.as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("the condition's text has a NUL in it"),
    }
}
