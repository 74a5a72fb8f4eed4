//! Values of a control group's files, as the kernel takes and holds them; the agent has the same
//! rules (`agent/src/cgroup.rs`).

/// Whether a file that reads so has the value.
pub(crate) fn has(held: &str, value: &str) -> bool {
    if value.contains('=') {
        // Of a device the file has all numbers by their names (`io.max`), in a line.
        let all = |line: &str| {
            value.split_whitespace().all(|asked| line.split_whitespace().any(|it| it == asked))
        };
        return held.lines().any(all);
    }
    // Of two numbers the second has a default.
    let (asked, held): (Vec<_>, Vec<_>) =
        (value.split_whitespace().collect(), held.split_whitespace().collect());
    let both = asked.iter().zip(&held).all(|(asked, held)| amount(asked) == amount(held));
    held.len() >= asked.len() && both
}

/// A value, as a number where it is one: the kernel takes `64M`, and holds `67108864`.
fn amount(word: &str) -> Result<u64, &str> {
    let end = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
    let (digits, unit) = word.split_at(end);
    let shift = match unit {
        "" => 0,
        "K" | "k" => 10,
        "M" | "m" => 20,
        "G" | "g" => 30,
        _ => return Err(word),
    };
    let number = digits.parse::<u64>().ok();
    number.and_then(|number| number.checked_mul(1 << shift)).ok_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_a_value_by_its_place_or_by_its_names() {
        assert!(has("67108864\n", "64M") && has("50000 100000\n", "50000") && has("max\n", "max"));
        assert!(!has("max 100000\n", "50000") && !has("\n", "1") && !has("", "max"));
        let held = "8:0 rbps=max wbps=9\n1:0 rbps=max wbps=1048576 riops=max wiops=max\n";
        assert!(has(held, "1:0 wbps=1048576") && !has(held, "8:0 wbps=1048576"));
    }

    #[test]
    fn an_amount_is_what_the_kernel_makes_of_it() {
        assert_eq!((amount("64M"), amount("65536K")), (Ok(67_108_864), Ok(67_108_864)));
        assert_eq!((amount("max"), amount("")), (Err("max"), Err("")));
        assert_eq!(amount("99999999999G"), Err("99999999999G"));
    }
}
