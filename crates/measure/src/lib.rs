//! Measurements of kernels and programs, as a command or a program that embeds pathmeter asks for
//! them: subjects, sessions, results through the cache, rows, recordings.
//!
//! Contract: nothing here prints, exits or knows a command line. What is asked for is given
//! resolved ([`session::Guests`]); what comes back is a document, or a [`failure::Failure`] that
//! names the subject and the next step.

pub mod benchmarks;
pub mod beside;
pub mod bounded_file;
pub mod builds;
pub mod cell;
mod debug;
mod debug_file;
pub mod elapsed;
pub mod executions;
pub mod failure;
pub mod framework;
mod guest_files;
pub mod image;
pub mod interrupt;
mod jit_code;
pub mod kernel_names;
pub mod lab;
mod landlock;
mod makers;
pub mod memory;
pub mod modules;
pub mod named_kernel;
pub mod packed_program;
mod packed_tool;
mod path_point_windows;
pub mod path_result;
pub mod path_rows;
pub mod plan_results;
pub mod points;
pub mod process_choice;
mod program_code;
pub mod program_failure;
mod program_functions;
mod program_lines;
pub mod program_point_windows;
mod program_processes;
pub mod program_result;
pub mod program_runs;
mod program_sleeps;
pub mod program_slope;
mod program_threads;
pub mod program_tree;
pub mod recording;
pub mod recordings;
mod repeat;
pub mod results;
pub mod seccomp;
pub mod selection;
pub mod selftest;
pub mod session;
pub mod slope;
pub mod sources;
pub mod subject;
mod symbol;
mod sysctls;
pub mod threads;
pub mod under;
mod waits;
