//! Programs of the user's: how one is packed for a guest, and what its run on a kernel costs, by
//! the kinds of its work, its regions, processes, threads, sleeps and functions.

mod code;
mod debug_file;
mod executions;
pub mod failure;
mod functions;
mod jit_code;
pub mod kernel_names;
mod lines;
pub mod packed;
pub mod point_windows;
pub mod process_choice;
mod processes;
pub mod result;
mod runs;
mod sleeps;
pub mod slope;
mod symbol;
mod threads;
pub mod tree;
