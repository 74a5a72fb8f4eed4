//! The price of what a setting turns off.
//!
//! A setting is measured against the kernel as it is, so a setting that turns something off lowers
//! the count. Whoever asks what that thing costs wants the same difference from the other side: the
//! kernel as it is less the kernel under the setting, in percent of the latter, which is the kernel
//! without the thing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SettingChange, SettingCost, SettingRow};
use crate::percent_of;

/// What it costs to have something.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SettingPrice {
    /// Instructions of the kernel that has it, less those of the kernel that does not.
    pub difference: i64,
    /// This difference in percent of the kernel that does not have it.
    pub percent: f64,
}

impl SettingPrice {
    /// The price of what is turned off by a setting that makes this difference to `base`.
    pub fn of(base: u64, difference: i64) -> Self {
        let without = base.saturating_add_signed(difference);
        let percent = percent_of((without, base)).unwrap_or(0.0);
        Self { difference: difference.saturating_neg(), percent }
    }
}

impl SettingRow {
    /// The row of a setting that turns this off, with its prices; the largest price is first.
    #[must_use]
    pub fn with_price_of(mut self, turns_off: Option<String>) -> Self {
        self.turns_off = turns_off;
        self.median_price_percent = None;
        if self.turns_off.is_some() {
            self.median_price_percent = self.median_percent.and_then(price_percent);
            for change in &mut self.changed {
                let base = change.base.unwrap_or(0);
                change.price = Some(SettingPrice::of(base, change.difference));
            }
            self.changed.sort_by(|one, other| {
                other.cost().percent.abs().total_cmp(&one.cost().percent.abs())
            });
        }
        self
    }

    /// What the row is the price of: what the setting turns off, or else the setting.
    pub fn name_priced(&self) -> &str {
        self.turns_off.as_ref().unwrap_or(&self.setting)
    }

    /// The median, over all compared paths, of what it costs to have it, in percent.
    pub fn median_cost(&self) -> Option<f64> {
        if self.turns_off.is_some() { self.median_price_percent } else { self.median_percent }
    }

    /// 1, or -1 for a setting that turns something off: by it a difference of the setting becomes
    /// one of what the row is the price of.
    pub fn sign(&self) -> i64 {
        if self.turns_off.is_some() { -1 } else { 1 }
    }

    /// Whether its prices are those that its differences come to.
    pub(crate) fn has_its_prices(&self) -> bool {
        let fits = |price: Option<SettingPrice>, base: u64, difference: i64| match price {
            Some(price) => self.turns_off.is_some() && price == SettingPrice::of(base, difference),
            None => self.turns_off.is_none(),
        };
        let mut changed = self.changed.iter();
        changed.all(|it| fits(it.price, it.base.unwrap_or(0), it.difference))
            && self.program.iter().all(|it| fits(it.price, it.base, it.difference))
    }
}

impl SettingChange {
    /// What it costs to have what the row is the price of.
    pub fn cost(&self) -> SettingPrice {
        let own = SettingPrice { difference: self.difference, percent: self.percent };
        self.price.unwrap_or(own)
    }
}

impl SettingCost {
    /// What it costs the program to have what the row is the price of.
    pub fn cost(&self) -> SettingPrice {
        let own = SettingPrice { difference: self.difference, percent: self.percent };
        self.price.unwrap_or(own)
    }
}

/// A difference in percent of the default as a price in percent of the kernel under the setting.
fn price_percent(percent: f64) -> Option<f64> {
    let without = 100.0 + percent;
    // 0 stays 0, without a sign.
    (without > 0.0).then(|| if percent == 0.0 { 0.0 } else { -100.0 * percent / without })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_in_percent_of_the_kernel_without_the_thing() {
        let price = SettingPrice::of(415, -65);
        assert_eq!(price.difference, 65);
        assert!((price.percent - 18.571).abs() < 0.001, "{price:?}");
        let of_median = price_percent(-6500.0 / 415.0).unwrap();
        assert!((of_median - price.percent).abs() < 1e-9, "one rule for a row and its median");
        assert_eq!(price_percent(0.0).map(f64::is_sign_negative), Some(false));
        assert_eq!(price_percent(-100.0), None);
    }
}
