//! What the documents and the code both state: each table, list and link in the Markdown files
//! against the place that decides it. No test here needs a kernel or QEMU.
//!
//! `PATHMETER_BLESS=1 cargo test -p pathmeter --test documents` writes the generated block of
//! `lab/README.md` anew. The other tables hold prose beside the names, so they are edited by hand.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on shall end")]

mod architecture;
mod book;
mod circles;
mod heads;
mod lab;
mod layers;
mod links;
mod machine;
mod markdown;
mod names;
mod tables;
