//! Counts and times of the same two sides: what both mean together, path by path.

use pathmeter_model::{Joined, JoinedRow, Meaning};

use super::data::Data;
use super::html::Html;
use super::sheet::{Cell, Heading, Row, Sheet};
use super::times::{chips, facts_of, notes};
use crate::joined::{events, facts, nanoseconds, predicted, range};
use crate::number::signed;

const HEADINGS: [Heading; 9] = [
    ("path", "text"),
    ("instructions", "number"),
    ("other events", "text"),
    ("ns", "number"),
    ("95 % interval", "text"),
    ("predicted ns", "text"),
    ("count", "text"),
    ("time", "text"),
    ("together", "text"),
];

pub(super) fn section(joined: &Joined, data: &mut Data) -> Html {
    let mut html = notes(&joined.notes);
    let all = Meaning::ALL.map(|it| (joined.count(it), class(it), it.words()));
    let rows = joined.paths.iter().map(row).collect();
    let caption = "Counts and times together";
    let sheet = Sheet { caption, sorts: true, headings: HEADINGS.to_vec(), rows };
    html.add(&chips(all)).add(&sheet.html(data)).add(&facts_of(&facts(joined)));
    html
}

fn class(meaning: Meaning) -> &'static str {
    match meaning {
        Meaning::Contradiction => "contradiction",
        Meaning::Placement => "placement",
        Meaning::Confirmed => "confirmed",
        Meaning::Hidden => "hidden-by-width",
        Meaning::Same => "same",
        Meaning::Open => "open-verdict",
    }
}

fn row(row: &JoinedRow) -> Row {
    let unpredicted = || row.unpredicted.clone();
    let predicted = row.predicted.as_ref().map(predicted).or_else(unpredicted);
    let instructions = row.instructions.map(signed).unwrap_or_default();
    let difference = row.nanoseconds.unwrap_or_default();
    Row {
        name: row.path.clone(),
        anchor: format!("joined.{}", row.path),
        unit: None,
        verdict: class(row.meaning),
        cells: vec![
            Cell::number("", &row.instructions.unwrap_or_default(), instructions),
            Cell::text("events", events(&row.events)),
            Cell::number("", &difference, row.nanoseconds.map(nanoseconds).unwrap_or_default()),
            Cell::text("n", row.interval.map(range).unwrap_or_default()),
            Cell::text("", predicted.unwrap_or_default()),
            Cell::text("", row.exact.to_string()),
            Cell::text("", row.time.word()),
            Cell::text("", row.meaning.words()),
        ],
        details: None,
    }
}
