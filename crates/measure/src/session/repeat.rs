//! Measurements of which one alone is not proof: of guests with two CPUs.
//!
//! Which of QEMU's threads runs a timer that is due depends on the host, and with two CPUs the
//! order in which they execute depends on it (docs/explanation/exactness.md). That is seldom and
//! mostly by chance, so a document that comes twice is most likely the guest's own. Which documents
//! are alike decides, never what they say.

/// How many measurements are made at most.
const MOST: usize = 5;

/// What `measure` gives twice; or, as an inner error, how often it was called if it gave something
/// else each time.
///
/// # Errors
/// The first of `measure`'s.
pub(crate) fn twice<T: PartialEq, E>(
    mut measure: impl FnMut() -> Result<T, E>,
) -> Result<Result<T, usize>, E> {
    let mut seen = Vec::new();
    for _ in 0..MOST {
        let one = measure()?;
        if seen.contains(&one) {
            return Ok(Ok(one));
        }
        seen.push(one);
    }
    Ok(Err(MOST))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[u8]) -> (Result<u8, usize>, usize) {
        let mut values = values.iter();
        let got = twice(|| values.next().copied().ok_or("too many")).unwrap();
        (got, values.len())
    }

    #[test]
    fn the_first_that_comes_twice_is_taken_and_nothing_more_measured() {
        assert_eq!(of(&[7, 7, 8]), (Ok(7), 1));
        assert_eq!(of(&[7, 8, 8, 7]), (Ok(8), 1));
        assert_eq!(of(&[1, 2, 3, 4, 1, 9]), (Ok(1), 1));
    }

    #[test]
    fn none_is_taken_if_all_differ() {
        assert_eq!(of(&[1, 2, 3, 4, 5, 5]), (Err(5), 1));
    }

    #[test]
    fn an_error_ends_it() {
        assert_eq!(twice::<u8, _>(|| Err("gone")), Err("gone"));
    }
}
