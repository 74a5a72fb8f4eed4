//! Code that moved: how sure that is, and by what.

use pathmeter_model::CodeMove;

use super::share;
use super::wording::moved;
use crate::number::plural;

/// `a renamed b: 98 % of the difference comes back, callees 100 % alike, in 12 rows; the other
/// kernel lacks the name`.
pub(crate) fn evidence(it: &CodeMove) -> String {
    let callees = it
        .callees
        .map_or("no callees".to_owned(), |alike| format!("callees {} alike", share(alike)));
    let absent = match it.absent {
        Some(true) => "; the other kernel lacks the name",
        Some(false) => "; the other kernel has the name too",
        None => "",
    };
    let seen = if it.in_debug_info { "; its debug information shows the code there" } else { "" };
    format!(
        "{}: {} of the difference comes back, {callees}, in {}{absent}{seen}",
        moved(it),
        share(it.balance),
        plural(it.rows, "row")
    )
}

#[cfg(test)]
mod tests {
    use pathmeter_model::MoveKind;

    use super::*;

    #[test]
    fn a_move_is_told_with_how_sure_it_is() {
        let one = CodeMove {
            kind: MoveKind::Renamed,
            from: "a".to_owned(),
            to: "b".to_owned(),
            balance: 0.98,
            callees: Some(1.0),
            rows: 12,
            absent: Some(true),
            in_debug_info: false,
        };
        let told = "a renamed b: 98 % of the difference comes back, callees 100 % alike, in 12 \
                    rows; the other kernel lacks the name";
        assert_eq!(evidence(&one), told);
        let seen = CodeMove { in_debug_info: true, ..one.clone() };
        assert!(evidence(&seen).ends_with("the name; its debug information shows the code there"));
        let unknown = CodeMove { callees: None, rows: 1, absent: None, ..one };
        assert!(evidence(&unknown).ends_with("comes back, no callees, in 1 row"));
    }
}
