//! Why a setting of the condition can't be had.

use pathmeter_probes::text::Text;
use pathmeter_wire::message::UnmetCause;

/// Why a setting can't be had.
pub(crate) type Refusal = (UnmetCause, Text<200>);

/// The kernel does not know it.
#[inline(never)]
pub(crate) fn unknown(what: &str) -> Refusal {
    (UnmetCause::Unknown, Text::format(format_args!("{what}")))
}

/// The kernel knows it, and does not take it.
#[inline(never)]
pub(crate) fn refused(what: core::fmt::Arguments<'_>) -> Refusal {
    (UnmetCause::Refused, Text::format(what))
}

/// The kernel refuses the value with this error.
#[inline(never)]
pub(crate) fn not_taken(error: i32) -> Refusal {
    refused(format_args!("the kernel does not take this value (error {error})"))
}
