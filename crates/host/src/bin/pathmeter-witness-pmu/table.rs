//! The table, as plain text: a row a path, in the catalogue's order.

use std::fmt::Write;

use pathmeter_model::Estimate;

use crate::document::{Counted, Exact, Row, Subtracted, Witness};
use crate::program::Counter;

/// The headings of the table's columns.
const HEAD: [&str; 9] =
    ["path", "user", "exact", "diff", "kernel", "exact", "diff", "share", "remark"];

/// What was counted beside what is exact, with all that a reader needs to judge it.
pub(crate) fn table(witness: &Witness) -> String {
    let mut text = head(witness);
    let mut rows = vec![HEAD.map(str::to_owned)];
    rows.extend(witness.paths.iter().map(cells));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..HEAD.len()).map(|column| width(column).unwrap_or(0)).collect();
    for row in &rows {
        let mut line = format!("{:1$}", row[0], widths[0]);
        for column in 1..HEAD.len() - 1 {
            let _ = write!(line, "  {:>1$}", row[column], widths[column]);
        }
        let _ = write!(line, "  {}", row[HEAD.len() - 1]);
        text += line.trim_end();
        text.push('\n');
    }
    text += &summary(witness);
    text
}

fn head(witness: &Witness) -> String {
    let Witness { machine, exact, .. } = witness;
    let mut text = String::new();
    if witness.counter == Counter::Clock {
        text += "A TEST OF THE PROGRAM: it read the time-stamp counter, so these are ticks.\n\n";
    }
    let hypervisor = if machine.hypervisor.is_some() { ", virtual" } else { "" };
    // A profile's name; what follows is QEMU's text for it, which the document has.
    let cpu = exact.cpu.split(':').next().unwrap_or_default();
    let release = exact.release.as_deref().unwrap_or("unknown release");
    let cgroup = if witness.root_cgroup { "in the root cgroup" } else { "not in the root cgroup" };
    let lines = [
        format!("processor  {}{hypervisor}; microcode {}", machine.processor, machine.microcode),
        format!("kernel     {}", machine.kernel),
        format!("exact      {} ({release}), --cpu {cpu}", exact.subject),
        format!(
            "executed   on CPU {}, {} runs of each pass, {cgroup}, rdpmc {}",
            machine.cpu, witness.runs, machine.rdpmc
        ),
    ];
    text += &lines.join("\n");
    if exact.release.as_ref() != Some(&machine.release) {
        text += "\nThe exact result was measured on another kernel, not the one that runs here.";
    }
    text += "\n\n";
    text
}

fn cells(row: &Row) -> [String; 9] {
    let mut cells = [const { String::new() }; 9];
    row.path.clone_into(&mut cells[0]);
    if let Ok(exact) = &row.exact {
        (cells[2], cells[5]) = (exact.user.to_string(), exact.kernel.to_string());
    }
    if let Counted::Ok(modes) = &row.counted {
        let [user, kernel, _] = modes.as_ref();
        (cells[1], cells[4]) = (user.value.to_string(), kernel.value.to_string());
        if let Ok(exact) = &row.exact {
            cells[3] = difference(user.value, exact.user);
            cells[6] = difference(kernel.value, exact.kernel);
        }
        cells[7] = format!("{} %", share(user).min(share(kernel)));
    }
    cells[8] = remark(row);
    cells
}

fn difference(counted: u64, exact: u64) -> String {
    let difference = i128::from(counted) - i128::from(exact);
    if difference == 0 { "0".into() } else { format!("{difference:+}") }
}

/// How many percent of the samples had the value that is shown, rounded down.
fn share(estimate: &Estimate) -> u64 {
    let all: u64 = estimate.values.iter().map(|value| value.count).sum();
    let typical = estimate.values.iter().find(|value| value.value == estimate.value);
    typical.map_or(0, |value| value.count.saturating_mul(100) / all.max(1))
}

/// What the numbers alone would not say.
fn remark(row: &Row) -> String {
    let mut remarks = Vec::new();
    match (&row.counted, &row.exact) {
        (Counted::Ok(modes), exact) => {
            remarks.extend(of_sum(modes, exact.as_ref().ok()));
            remarks.extend(exact.as_ref().err().map(|reason| format!("exact: {reason}")));
        }
        (Counted::LeftOut(reason), _) => remarks.push(format!("left out: {reason}")),
        (Counted::Unsupported(reason), _) => remarks.push(format!("unsupported: {reason}")),
        (Counted::Failed(reason), _) => remarks.push(format!("failed: {reason}")),
    }
    if let Ok(Exact { pairs: 2.., .. }) = row.exact {
        remarks.push("several exact values".into());
    }
    if row.path == PADDED {
        remarks.push("its loop may be padded by a nop, in one of the two programs".into());
    }
    if let Some((passes, reason)) = &row.failed {
        remarks.push(format!("failed in {passes} passes: {reason}"));
    }
    remarks.join("; ")
}

/// The path in whose window the compiler aligns a loop; whether that takes a nop depends on where
/// it lies.
const PADDED: &str = "switch.futex";

/// Whether what was counted at once agrees with what was counted apart, and with what is exact.
fn of_sum(modes: &[Estimate; 3], exact: Option<&Exact>) -> Option<String> {
    let [user, kernel, both] = modes.each_ref().map(|mode| mode.value);
    let sum = user.saturating_add(kernel);
    if modes.iter().any(|mode| mode.typical.len() > 1) {
        return Some("several values".into());
    }
    if sum != both {
        return Some(format!("counted at once: {both}"));
    }
    let exact = exact.filter(|exact| exact.user != user)?;
    (exact.user.saturating_add(exact.kernel) == sum).then(|| "the sum agrees".into())
}

fn summary(witness: &Witness) -> String {
    let compared = witness.paths.iter().filter_map(|row| match (&row.counted, &row.exact) {
        (Counted::Ok(modes), Ok(exact)) => {
            Some([modes[0].value == exact.user, modes[1].value == exact.kernel])
        }
        _ => None,
    });
    let compared: Vec<[bool; 2]> = compared.collect();
    let agree = |mode: usize| compared.iter().filter(|agrees| agrees[mode]).count();
    let mut text = format!(
        "\n{} paths compared: the same in user mode {}, in the kernel {}, in both {}.\n",
        compared.len(),
        agree(0),
        agree(1),
        compared.iter().filter(|agrees| **agrees == [true; 2]).count()
    );
    if witness.counter == Counter::Processor {
        let Subtracted { stamps, user, kernel, both } = witness.subtracted;
        let _ = writeln!(
            text,
            "Subtracted from each sample: {stamps} instructions of the stamps in user mode; and \
             what the\ncounter says too much of a window of known length: user {user}, kernel \
             {kernel}, at once {both}."
        );
    }
    text
}
