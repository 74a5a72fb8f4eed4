//! The command as its users meet it: arguments in, text, files and exit codes out.
//!
//! Nothing here needs a kernel or QEMU: results are made by the model, guests are played by the
//! scripts in `qemu/`, each named by its state. `INSTA_UPDATE=always cargo test -p pathmeter`
//! writes the snapshots anew.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on shall end")]

mod bisect;
mod budget;
mod check;
mod compare;
mod cpu;
mod documents;
mod examples;
mod folders;
mod guests;
mod history;
mod host;
mod input;
mod limits;
mod look;
mod manners;
mod matrix;
mod named;
mod new_probe;
mod output;
mod plan;
mod program_slope;
mod report;
mod results;
mod rows;
mod scene;
mod seals;
mod showcase;
mod texts;
