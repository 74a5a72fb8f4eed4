//! The points of one kernel that windows begin and end at, and what to say of those that it lacks.

use std::fmt::Display;

use pathmeter_debuginfo::DebugInfo;
use pathmeter_model::Check;
use pathmeter_model::suggestion::find_close;
use pathmeter_trace::{PointFinder, PointTable, PointWindow, PointsError};

use crate::error::MeasureError;
use crate::subject::image::Image;

/// A table with this window alone, for the paths with these indices of the kernel in `image`, whose
/// `/proc/kallsyms` has this text.
///
/// # Errors
/// A point of it is not in the kernel.
pub fn table_of(
    image: &Image,
    kallsyms: &[u8],
    window: &PointWindow,
    paths: impl Iterator<Item = usize>,
) -> Result<PointTable, MeasureError> {
    let finder = finder(image, kallsyms)?;
    let mut table = finder.table();
    match finder.add(&mut table, window, paths) {
        Ok(()) => Ok(table),
        Err(error) => Err(window_failure(image, window, &error, &finder)),
    }
}

/// Which points a window has in this kernel, where the user named several.
pub fn alternatives(window: &PointWindow, finder: &PointFinder<'_>) -> Vec<Check> {
    let Ok(chosen) = finder.choose_points(window) else { return Vec::new() };
    let ends = [("begins at", &window.from, chosen.from), ("ends at", &window.to, chosen.to)];
    let several = ends.into_iter().filter(|(_, asked, _)| asked.len() > 1);
    several
        .flat_map(|(name, _, chosen)| chosen.into_iter().map(|it| Check::new(name, &it)))
        .collect()
}

/// What finds the points of the kernel in `image`, whose `/proc/kallsyms` has this text.
///
/// # Errors
/// The text names no functions.
pub fn finder<'a>(image: &Image, kallsyms: &'a [u8]) -> Result<PointFinder<'a>, MeasureError> {
    PointFinder::new(kallsyms).map_err(|error| MeasureError::Request {
        message: format!("{}: {error}", image.name().display()),
        help: WHERE.to_owned(),
    })
}

/// The failure of a window that can't be looked for in the kernel in `image`, with a proposal.
pub fn window_failure(
    image: &Image,
    window: &dyn Display,
    error: &PointsError,
    finder: &PointFinder<'_>,
) -> MeasureError {
    MeasureError::Request {
        message: format!("{}: --window {window}: {error}", image.name().display()),
        help: propose(error, finder),
    }
}

/// Where a kernel's functions are listed.
const WHERE: &str =
    "`pathmeter list functions KERNEL` lists its functions, but for those of modules";

/// What to try instead of the point that the kernel does not have.
fn propose(error: &PointsError, finder: &PointFinder<'_>) -> String {
    let PointsError::Missing { functions: missing } = error else { return WHERE.to_owned() };
    let missing: Vec<&str> = missing.iter().map(String::as_str).collect();
    close_functions(&missing, finder, false)
}

/// The functions most like those that the kernel does not have; and what may have become of them,
/// unless that was `looked_up` in debug information.
pub fn close_functions(missing: &[&str], finder: &PointFinder<'_>, looked_up: bool) -> String {
    let functions: Vec<&str> = finder.functions().collect();
    let close: Vec<&str> = missing.iter().flat_map(|name| find_close(name, &functions)).collect();
    let meant = match &close[..] {
        [] => String::new(),
        close => format!("did you mean {}? ", close.join(", ")),
    };
    let inlined = match (missing.first(), looked_up) {
        (Some(name), false) => format!(
            "if the compiler inlined it, `pathmeter list functions KERNEL {name} --vmlinux FILE` \
             names the functions that hold it; "
        ),
        _ => String::new(),
    };
    format!(
        "{meant}{inlined}`pathmeter list functions KERNEL` lists all; those of modules are not \
         among them"
    )
}

/// Which functions hold the one with this name, if it was inlined and `debug` knows.
pub fn holders(name: &str, debug: Option<&DebugInfo>) -> Option<String> {
    let holders = debug?.holders([name]).remove(name).unwrap_or_default();
    let shown = holders.iter().take(MOST_HOLDERS).map(String::as_str).collect::<Vec<_>>();
    let more = holders.len() - shown.len();
    match more {
        _ if holders.is_empty() => None,
        0 => Some(format!("the compiler inlined it into {}", shown.join(", "))),
        more => Some(format!("the compiler inlined it into {} and {more} more", shown.join(", "))),
    }
}

/// Functions that hold an inlined one, as many as an error names.
const MOST_HOLDERS: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &[u8] = b"ffffffff81000000 T ksys_read\nffffffff81000100 T ksys_write\n";

    #[test]
    fn a_function_that_a_kernel_lacks_is_answered_with_close_ones() {
        let finder = PointFinder::new(KERNEL).unwrap();
        let missing = |name: &str| PointsError::Missing { functions: vec![name.to_owned()] };
        let help = propose(&missing("ksys_raed"), &finder);
        assert!(help.starts_with("did you mean ksys_read, ksys_write? if the"), "{help}");
        assert!(
            help.contains("`pathmeter list functions KERNEL ksys_raed --vmlinux FILE`"),
            "{help}"
        );
        assert!(propose(&missing("zzz"), &finder).starts_with("if the compiler inlined it"));
        assert_eq!(propose(&PointsError::NotKernel(0x12), &finder), WHERE);
    }
}
