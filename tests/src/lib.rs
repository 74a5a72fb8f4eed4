//! Helpers of the end-to-end tests, which run the built `pathmeter` as its users do.
//!
//! | variable                   | holds                                                          |
//! |----------------------------|----------------------------------------------------------------|
//! | `PATHMETER`                | the command; if not set, it is built, optimised, once          |
//! | `PATHMETER_KERNELS`        | folder of `cloud.deb` and `rt.deb`, Debian's kernel packages   |
//! | `PATHMETER_TEST_KERNELS`   | folder of `VARIANT.bzImage`, as `tests/kernels/build.sh` makes |
//! | `PATHMETER_FAKES`          | folder of `NAME.elf`, as `tests/kernels/fake` makes            |
//! | `PATHMETER_MORE_KERNELS`   | if set, a folder of kernels whose call trees are looked at     |
//! | `PATHMETER_JOB_CONTROLLER` | if it exists, the folder that `make job-controller` makes      |
//! | `PATHMETER_SOAK`           | if set to 1, the long forms of the tests run as well           |
//!
//! `make test` sets the folders and fills them; a test whose folder is not named fails, lest tests
//! be left out unseen. The command is built optimised because hashing and unpacking kernels takes
//! an unoptimised one longer than the build.
//!
//! Contract: a test has a [`Scene`] of its own, and depends neither on how long another takes nor
//! on the order; what it waits for has a deadline far beyond what it takes.

#![allow(clippy::missing_panics_doc, reason = "a test that cannot go on shall end")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on shall end")]
#![allow(clippy::print_stdout, reason = "it prints what a test leaves out")]

mod binary;
mod document;
mod fixture;
mod port;
mod run;
mod scene;

pub use binary::pathmeter;
pub use document::{NOT_ON_BUILT, NOT_ON_LINUX, assert_identical, path, paths, rows, with_status};
pub use fixture::{built, built_vmlinux, debian, fake, job_controller, root, slurm, soak};
pub use port::free_ports;
pub use run::{Run, Running};
pub use scene::Scene;
