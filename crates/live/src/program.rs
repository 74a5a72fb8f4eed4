//! The program as a program of its own: see the library.
#![no_std]
#![no_main]

#[path = "../../agent/src/runtime.rs"]
mod runtime;

use pathmeter_live::enter;
