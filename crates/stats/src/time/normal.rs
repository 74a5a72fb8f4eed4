//! The tail of the standard normal distribution, to which sums of many ranks come close.

/// From here on the fraction is used; below, the series, which loses digits far out.
const FAR: f64 = 3.0;

/// Enough for both to be right to 13 digits or more.
const TERMS: u32 = 100;

/// The probability of more than `z`.
///
/// Sources: Abramowitz & Stegun, "Handbook of Mathematical Functions", 1964: the series 26.2.11
/// and the continued fraction 26.2.14.
pub(super) fn upper_tail(z: f64) -> f64 {
    if z < 0.0 {
        1.0 - upper_tail(-z)
    } else if z < FAR {
        0.5 - density(z) * series(z)
    } else {
        density(z) / fraction(z)
    }
}

fn density(z: f64) -> f64 {
    (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt()
}

/// z + z³/3 + z⁵/(3·5) + …
fn series(z: f64) -> f64 {
    let mut term = z;
    let mut sum = z;
    for count in 1..TERMS {
        term *= z * z / f64::from(2 * count + 1);
        sum += term;
    }
    sum
}

/// z + 1/(z + 2/(z + 3/(z + …)))
fn fraction(z: f64) -> f64 {
    (1..TERMS).rev().fold(z, |below, count| z + f64::from(count) / below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_that_of_r() {
        // R 4.2.2: pnorm(z, lower.tail = FALSE)
        for (z, tail) in [
            (0.0, 0.5),
            (0.5, 3.085_375_387_26e-1),
            (1.0, 1.586_552_539_31e-1),
            (2.0, 2.275_013_194_82e-2),
            (2.9, 1.865_813_300_38e-3),
            (3.0, 1.349_898_031_63e-3),
            (3.1, 9.676_032_132_18e-4),
            (5.0, 2.866_515_718_79e-7),
            (8.0, 6.220_960_574_27e-16),
        ] {
            assert!((upper_tail(z) / tail - 1.0).abs() < 1e-11, "{z}: {}", upper_tail(z));
            assert!((upper_tail(-z) - (1.0 - tail)).abs() < 1e-11, "-{z}");
        }
    }
}
