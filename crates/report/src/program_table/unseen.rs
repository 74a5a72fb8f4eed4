//! What the numbers of a program leave out by their nature, said where they stand.

use pathmeter_model::RowKind;

/// One CPU, so nobody waits for a lock that another CPU holds.
const CONTENTION: &str =
    "the guest has one CPU, on which tasks take turns: contention of CPUs is not in these numbers";
/// Documentation/userspace-api/spec_ctrl.rst: loads wait for the addresses of earlier stores.
const STORE_BYPASS: &str = "what a disabled bypass of stores costs user code is time, and not in \
                            these numbers";

/// Rows of programs whose threads or processes may wait for each other.
const OF_SEVERAL_TASKS: [&str; 2] = ["futex", RowKind::NewTask.plural()];
/// The parameter by which Linux disables the bypass of stores for some programs or for all.
const OF_STORE_BYPASS: &str = "spec_store_bypass_disable=";

/// What is left out of a program that has these rows, on sides with these conditions.
pub(super) fn unseen<'a>(
    mut rows: impl Iterator<Item = &'a str>,
    conditions: &[&str],
) -> Vec<&'static str> {
    let waits = rows.any(|name| OF_SEVERAL_TASKS.contains(&name));
    let bypass = conditions.iter().any(|condition| condition.contains(OF_STORE_BYPASS));
    let lines = [waits.then_some(CONTENTION), bypass.then_some(STORE_BYPASS)];
    lines.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_for_others_is_told_of_contention_and_who_disables_the_bypass_of_time() {
        let of = |rows: &[&str], condition| unseen(rows.iter().copied(), &[condition]);
        assert_eq!(of(&["read", "softirq: futex"], ""), [""; 0]);
        assert_eq!(of(&["futex"], "boot:nopti"), [CONTENTION]);
        assert_eq!(of(&["new tasks"], ""), [CONTENTION]);
        assert_eq!(of(&[], "boot:spec_store_bypass_disable=seccomp"), [STORE_BYPASS]);
    }
}
