//! `switch.ring-*` with data: rings of tasks, each of which sums memory of its own before it hands
//! the token on, so that a switch costs as much more as caches lose (lmbench's `lat_ctx -s`).

use pathmeter_probes::{Probe, ring};

/// Bytes that each task sums, in paths with `+16k`.
const SMALL: usize = 16 << 10;
/// Bytes that each task sums, in paths with `+64k`.
const LARGE: usize = 64 << 10;

pub(crate) const PROBES: &[(&str, Probe)] = &[
    ("switch.ring-2+16k", |report| ring::<2>(report, SMALL)),
    ("switch.ring-2+64k", |report| ring::<2>(report, LARGE)),
    ("switch.ring-8+16k", |report| ring::<8>(report, SMALL)),
    ("switch.ring-8+64k", |report| ring::<8>(report, LARGE)),
    ("switch.ring-16+16k", |report| ring::<16>(report, SMALL)),
    ("switch.ring-16+64k", |report| ring::<16>(report, LARGE)),
];
