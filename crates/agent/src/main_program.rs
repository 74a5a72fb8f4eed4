//! The agent that runs a program of the user's, as a program of its own: see the library.
#![no_std]
#![no_main]

mod runtime;

use pathmeter_agent::enter_program as enter;
