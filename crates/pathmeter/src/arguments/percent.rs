//! Percentages that are not negative.

/// # Errors
/// The text is none.
pub(crate) fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').parse::<f64>() {
        Ok(percent) if percent.is_finite() && percent >= 0.0 => Ok(percent),
        _ => Err("a percentage is a number such as 0.5, not below 0".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_not_negative() {
        assert_eq!((percent("0.5"), percent("2%")), (Ok(0.5), Ok(2.0)));
        assert!(["-1", "inf", "NaN", "", "%", "x"].iter().all(|text| percent(text).is_err()));
    }
}
