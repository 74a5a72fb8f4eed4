//! Flame graphs: one SVG file each, which a browser zooms and searches.
//!
//! Contract: the same windows give the same bytes. Names are escaped by the writer.
//!
//! In a differential flame graph each function is as wide as what it executed in the more expensive
//! of the two kernels, so that what vanished is seen as well as what appeared. Its colour is the
//! difference of what it executed itself (red: more expensive in new, blue: cheaper), but of no
//! more than the function differs over all its places: what only moved to another caller is white.
//! The number after its name is the difference with all that it called.
//!
//! Sources: Brendan Gregg, "The Flame Graph" (ACM Queue 14(2), 2016) and "Differential Flame
//! Graphs" (2014).

use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;

use inferno::flamegraph::color::{BackgroundColor, Color, StrokeColor};
use inferno::flamegraph::{Options, TextTruncateDirection, from_lines};
use pathmeter_trace::{Explain, WindowTree};
use thiserror::Error;

use super::folded::{Stack, line, lines_of, paired};
use super::title;
use crate::number::{grouped, signed};

/// Narrower boxes are left out, in percent of the width: half a pixel of a usual window.
const LEAST_WIDTH_PERCENT: f64 = 0.05;

const OUTLINE: Color = Color { r: 0xb0, g: 0xb0, b: 0xb0 };

/// Why a flame graph could not be drawn.
#[derive(Debug, Error)]
pub enum FlameError {
    /// The window holds no instruction.
    #[error("there is no instruction to draw; record the path again")]
    Empty,
    /// The writer of the picture failed.
    #[error("the flame graph could not be drawn: {0}; take the folded stacks or the JSON instead")]
    Draw(#[from] io::Error),
}

/// The flame graph of one subject's window, or of the difference between two.
///
/// # Errors
/// [`FlameError`]: there is nothing to draw, or drawing failed.
pub fn flame_graph(explain: &Explain) -> Result<String, FlameError> {
    let base = &explain.base.window;
    match &explain.new {
        None => of_window(base, &title(explain)),
        Some(new) => of_difference(base, &new.window, &title(explain)),
    }
}

fn of_window(tree: &WindowTree, title: &str) -> Result<String, FlameError> {
    let mut options = options(title);
    options.subtitle = Some(format!("{} instructions", grouped(tree.total)));
    "instructions".clone_into(&mut options.count_name);
    draw(&mut options, &lines_of(tree))
}

fn of_difference(base: &WindowTree, new: &WindowTree, title: &str) -> Result<String, FlameError> {
    let mut options = options(title);
    options.subtitle = Some(format!(
        "{} instructions → {} ({}). Red executes more itself, blue less, white only moved",
        grouped(base.total),
        grouped(new.total),
        signed_difference([base.total, new.total]),
    ));
    "instructions, the larger of both".clone_into(&mut options.count_name);
    // What doesn't differ is white, and would be without shape.
    options.stroke_color = StrokeColor::Color(OUTLINE);
    draw(&mut options, &difference_lines(&paired(base, new)))
}

fn options(title: &str) -> Options<'static> {
    let mut options = Options::default();
    title.clone_into(&mut options.title);
    // As wide as the window that shows it.
    options.image_width = None;
    options.min_width = LEAST_WIDTH_PERCENT;
    options.bgcolors = Some(BackgroundColor::Grey);
    options.text_truncate_direction = TextTruncateDirection::Right;
    // Colours by name: else they are drawn by lot.
    options.deterministic = true;
    options
}

fn draw(options: &mut Options<'_>, lines: &str) -> Result<String, FlameError> {
    if lines.is_empty() {
        return Err(FlameError::Empty);
    }
    let mut svg = Vec::new();
    from_lines(options, lines.lines(), &mut svg)?;
    String::from_utf8(svg).map_err(|error| io::Error::other(error).into())
}

/// Folded lines whose second count is the larger one, since that gives the width, and whose first
/// is less by the difference that the colour shows.
fn difference_lines(pairs: &BTreeMap<Stack, [u64; 2]>) -> String {
    let (sums, changes) = (inclusive(pairs), changes(pairs));
    let lines = pairs.iter().map(|(stack, counts)| {
        let names = (0..stack.len()).map(|at| labelled(&stack[at], sums[&stack[..=at]]));
        let width = counts[0].max(counts[1]);
        let change = stack.last().map_or(0, |name| changes[name]);
        let coloured = difference(*counts).clamp(change.min(0), change.max(0));
        let less = width.saturating_add_signed(-coloured);
        line(&names.collect::<Vec<_>>().join(";"), &[less, width])
    });
    lines.collect()
}

/// What each function executes itself more or less, over all its places.
fn changes(pairs: &BTreeMap<Stack, [u64; 2]>) -> BTreeMap<&Rc<str>, i64> {
    let mut changes = BTreeMap::new();
    for (stack, counts) in pairs {
        if let Some(name) = stack.last() {
            *changes.entry(name).or_default() += difference(*counts);
        }
    }
    changes
}

/// Instructions in base and new by chain, with all below.
fn inclusive(pairs: &BTreeMap<Stack, [u64; 2]>) -> BTreeMap<&[Rc<str>], [u64; 2]> {
    let mut sums: BTreeMap<&[Rc<str>], [u64; 2]> = BTreeMap::new();
    for (stack, counts) in pairs {
        for length in 1..=stack.len() {
            let sum = sums.entry(&stack[..length]).or_default();
            sum[0] += counts[0];
            sum[1] += counts[1];
        }
    }
    sums
}

fn labelled(name: &str, counts: [u64; 2]) -> String {
    if counts[0] == counts[1] {
        return name.to_owned();
    }
    format!("{name} {}", signed_difference(counts))
}

fn signed_difference(counts: [u64; 2]) -> String {
    signed(difference(counts))
}

/// `new` − `base`. Counts of a window are far below 2^63.
fn difference([base, new]: [u64; 2]) -> i64 {
    new.wrapping_sub(base).cast_signed()
}
