//! `pathmeter.times/1`: what calls took on one machine; and `pathmeter.boots/1`: that of several
//! boots.

pub(crate) mod boots;
pub(crate) mod configuration;
pub(crate) mod cycle;
pub(crate) mod document;
pub(crate) mod level;
pub(crate) mod parse;
