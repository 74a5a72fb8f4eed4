//! Least squares whose coefficients are prices: none is below 0.

/// Passes over all coefficients, at most.
const PASSES: usize = 10_000;
/// Coefficients that change by a smaller part stand still.
const STILL: f64 = 1e-10;

/// The coefficients, each 0 or more, whose products with each row's features come closest to the
/// targets, by the sum of squares. By coordinate descent, which finds the least sum of this convex
/// problem (Franc, Hlaváč & Navara, "Sequential coordinate-wise algorithm for the non-negative
/// least squares problem", CAIP 2005). A pass takes time by the square of the number of features.
pub fn nonnegative_fit(rows: &[Vec<f64>], targets: &[f64]) -> Vec<f64> {
    let features = rows.first().map_or(0, Vec::len);
    let product = |one: usize, other: usize| rows.iter().map(|row| row[one] * row[other]).sum();
    let products: Vec<Vec<f64>> =
        (0..features).map(|one| (0..features).map(|other| product(one, other)).collect()).collect();
    let with_targets = |at: usize| rows.iter().zip(targets).map(|(row, to)| row[at] * to).sum();
    let goals: Vec<f64> = (0..features).map(with_targets).collect();
    let mut fit = vec![0.0; features];
    for _ in 0..PASSES {
        let mut moved = 0.0_f64;
        for at in 0..features {
            let square = products[at][at];
            if square == 0.0 {
                continue;
            }
            let reached: f64 = products[at].iter().zip(&fit).map(|(one, price)| one * price).sum();
            let next = (fit[at] + (goals[at] - reached) / square).max(0.0);
            moved = moved.max((next - fit[at]).abs() / next.max(f64::MIN_POSITIVE));
            fit[at] = next;
        }
        if moved < STILL {
            break;
        }
    }
    fit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_that_made_the_targets_are_found() {
        let rows: Vec<Vec<f64>> = (1..20_u32)
            .map(|at| vec![f64::from(at * at % 17), f64::from(at * 7 % 11), f64::from(at % 3)])
            .collect();
        let targets: Vec<f64> =
            rows.iter().map(|row| 0.25 * row[0] + 30.0 * row[1] + 4.0 * row[2]).collect();
        let fit = nonnegative_fit(&rows, &targets);
        for (found, true_price) in fit.iter().zip([0.25, 30.0, 4.0]) {
            assert!((found - true_price).abs() < 1e-6, "{fit:?}");
        }
    }

    #[test]
    fn a_price_is_never_below_nothing() {
        let rows = [vec![1.0, 1.0], vec![1.0, 2.0], vec![1.0, 3.0]];
        let fit = nonnegative_fit(&rows, &[3.0, 2.0, 1.0]);
        assert!(fit[1].abs() < 1e-9 && (fit[0] - 2.0).abs() < 1e-9, "{fit:?}");
    }

    #[test]
    fn of_nothing_there_is_no_fit() {
        assert_eq!(nonnegative_fit(&[], &[]), Vec::<f64>::new());
    }
}
