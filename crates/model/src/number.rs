//! Numbers as they are read by people.

/// `111632` as `111,632`.
pub fn group_digits(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_from_the_right() {
        let texts = [0, 999, 1000, 111_632, u64::MAX].map(group_digits);
        assert_eq!(texts, ["0", "999", "1,000", "111,632", "18,446,744,073,709,551,615"]);
    }
}
