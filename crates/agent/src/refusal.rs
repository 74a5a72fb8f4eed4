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

/// The kernel knows the setting, and does not take it for this reason.
#[inline(never)]
pub(crate) fn kernel_refusal(what: core::fmt::Arguments<'_>) -> Refusal {
    (UnmetCause::Refused, Text::format(what))
}

/// The kernel refuses the value with this error.
#[inline(never)]
pub(crate) fn not_taken(error: i32) -> Refusal {
    kernel_refusal(format_args!("the kernel does not take this value (error {error})"))
}
