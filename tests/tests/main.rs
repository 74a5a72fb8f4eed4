//! The command as its users meet it, on real kernels in real QEMU; a file a subject. What it needs
//! is told in the crate's documentation.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on shall end")]

mod against;
mod agreement;
mod bisect;
mod cache;
mod causes;
mod chaos;
mod conditions;
mod counter;
mod cpu;
mod disk;
mod events;
mod exactness;
mod examples;
mod explain;
mod features;
mod file_systems;
mod host;
mod hostile;
mod inputs;
mod interrupt;
mod kubernetes;
mod lab;
mod layout;
mod names;
mod plan_results;
mod plans;
mod points;
mod programs;
mod prose;
mod qemu;
mod results;
mod rows;
mod settings;
mod slurm;
mod softirq;
mod times;
mod unexplained;
mod users;
mod witness;
