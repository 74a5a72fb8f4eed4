//! `/init` as a program of its own: see the library.
#![no_std]
#![no_main]

mod runtime;

use pathmeter_agent::enter_init as enter;
