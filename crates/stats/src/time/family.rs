//! Many paths are compared at once: p-values adjusted for their number.

/// Holm's adjusted p-values, in the order of `p`: rejecting those that are at most alpha leaves the
/// probability of any false rejection among `family` tests at most alpha, however the tests depend
/// on each other. A family of fewer than there are p-values is one of as many. Tests of the family
/// that are not among them count as ones that reject nothing; so does a p-value that is NaN.
///
/// Source: Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Stat. 6,
/// 1979.
#[allow(clippy::cast_precision_loss, reason = "a number of paths")]
pub fn holm(p: &[f64], family: usize) -> Vec<f64> {
    let family = family.max(p.len());
    let mut order: Vec<usize> = (0..p.len()).collect();
    let usable = |at: usize| if p[at].is_nan() { 1.0 } else { p[at] };
    order.sort_by(|&one, &other| usable(one).total_cmp(&usable(other)));
    let mut adjusted = vec![1.0; p.len()];
    let mut before: f64 = 0.0;
    for (rejected, at) in order.into_iter().enumerate() {
        before = before.max(usable(at) * (family - rejected) as f64).min(1.0);
        adjusted[at] = before;
    }
    adjusted
}
