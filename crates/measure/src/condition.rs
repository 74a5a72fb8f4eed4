//! The condition that a kernel is measured under: what the user names, and what is made of the
//! files and programs of this machine for it.

mod file_systems;
mod landlock;
mod seccomp;
pub mod slope;
mod sources;
pub(crate) mod sysctls;
mod tool;
pub mod under;
