//! Medians and other quantiles of many positive values in little memory.

/// Smallest value that has a bin of its own; smaller values share the first bin.
const LEAST: f64 = 1e-4;
/// Bins per factor e. One bin is 1 % wide, so a quantile is exact to 0.5 %.
const BINS_PER_E: f64 = 100.0;
/// Number of bins: up to 1e6.
const BINS: usize = 2303;

/// Counts of values in bins of equal relative width.
#[derive(Clone, Debug, Default)]
pub(super) struct Histogram {
    /// Empty before the first value.
    bins: Vec<u64>,
    count: u64,
}

impl Histogram {
    /// Adds a value. A value that is not finite does not count.
    pub(super) fn add(&mut self, value: f64) {
        if !value.is_finite() {
            return;
        }
        if self.bins.is_empty() {
            self.bins.resize(BINS, 0);
        }
        let bin = ((value / LEAST).max(1.0).ln() * BINS_PER_E) as usize;
        self.bins[bin.min(BINS - 1)] += 1;
        self.count += 1;
    }

    /// Returns the value below which this share of the values lies; `None` without values.
    pub(super) fn quantile(&self, share: f64) -> Option<f64> {
        let wanted = share * self.count as f64;
        let mut below = 0;
        let bin = self.bins.iter().position(|n| {
            below += n;
            below > 0 && below as f64 >= wanted
        })?;
        Some(LEAST * ((bin as f64 + 0.5) / BINS_PER_E).exp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_exact_to_half_a_percent() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(0.5), None);
        for n in 1..=1000 {
            histogram.add(f64::from(n) * 0.37);
        }
        histogram.add(f64::NAN);
        for share in [0.1, 0.5, 0.9, 0.995] {
            let found = histogram.quantile(share).unwrap() / (share * 370.0);
            assert!((found - 1.0).abs() < 0.006, "{share}: {found}");
        }
    }
}
