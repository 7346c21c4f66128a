//! A number of a species that may change, on a scale from 0 to 1.

use serde_json::Value;

use super::file::GeneParams;
use crate::site::SpeciesNumber;

/// Factor between the present value and the ends of a range that the file does not name.
const DEFAULT_FACTOR: f64 = 4.0;
/// A range of positive values is searched in ratios if its ends differ by more than this factor.
const RATIO_MIN: f64 = 4.0;
/// Digits of a found value. More would say that the search is more exact than it is.
const DIGITS: i32 = 3;

/// A gene.
#[derive(Clone, Debug, PartialEq)]
pub struct Gene {
    /// Path of the key.
    pub path: String,
    /// The present value.
    pub present: f64,
    from: f64,
    to: f64,
    is_whole: bool,
}

/// What is wrong with a gene: the key of the gene in the file, and the message.
pub(super) type GeneFault = (&'static str, String);

impl Gene {
    /// Creates the gene of a number.
    pub(super) fn new(params: &GeneParams, number: &SpeciesNumber) -> Result<Self, GeneFault> {
        let present = number.value;
        let unit = number.unit.map_or(String::new(), |unit| format!(" {unit}"));
        let default = |factor: f64| {
            (present != 0.0).then(|| (present * factor).clamp(number.least, number.most))
        };
        // A negative present value swaps the ends.
        let factor = if present < 0.0 {
            1.0 / DEFAULT_FACTOR
        } else {
            DEFAULT_FACTOR
        };
        let from = params.from.or_else(|| default(1.0 / factor));
        let to = params.to.or_else(|| default(factor));
        let (Some(from), Some(to)) = (from, to) else {
            let message = format!(
                "the present value is 0, so the range must be given; write from and to (allowed: {} to {}{unit})",
                number.least, number.most
            );
            return Err(("key", message));
        };
        for (key, given) in [("from", params.from), ("to", params.to)] {
            if let Some(end) = given.filter(|end| !(number.least..=number.most).contains(end)) {
                let message = format!(
                    "{end} is out of the range of {}; allowed: {} to {}{unit}",
                    number.path, number.least, number.most
                );
                return Err((key, message));
            }
        }
        if from >= to {
            let message =
                format!("the range from {from} to {to} is empty; `from` must be smaller than `to`");
            return Err((if params.from.is_some() { "from" } else { "to" }, message));
        }
        if !(from..=to).contains(&present) {
            let key = if present < from { "from" } else { "to" };
            let message = format!(
                "the range from {from} to {to} does not contain the present value {present}{unit}; the search begins there, so widen the range"
            );
            return Err((key, message));
        }
        Ok(Self {
            path: number.path.clone(),
            present,
            from,
            to,
            is_whole: number.is_whole,
        })
    }

    /// The gene as text: its key, its present value and its range.
    pub fn described(&self) -> String {
        let scale = if self.is_ratio() { ", in ratios" } else { "" };
        format!(
            "{} = {}, searched from {} to {}{scale}",
            self.path, self.present, self.from, self.to
        )
    }

    fn is_ratio(&self) -> bool {
        self.from > 0.0 && self.to / self.from >= RATIO_MIN
    }

    /// Returns the place of the present value on the scale.
    pub fn start(&self) -> f64 {
        if self.is_ratio() {
            (self.present / self.from).ln() / (self.to / self.from).ln()
        } else {
            (self.present - self.from) / (self.to - self.from)
        }
    }

    /// Returns the value at a place on the scale, with three digits. Places outside of the scale have the value of its end.
    pub fn value(&self, place: f64) -> f64 {
        let place = place.clamp(0.0, 1.0);
        let exact = if self.is_ratio() {
            self.from * (self.to / self.from).powf(place)
        } else {
            self.from + (self.to - self.from) * place
        };
        let rounded = if self.is_whole {
            exact.round()
        } else {
            round(exact)
        };
        rounded.clamp(self.from, self.to)
    }

    /// Returns a value as it is written into the file.
    pub fn written(&self, value: f64) -> Value {
        if self.is_whole {
            Value::from(value as i64)
        } else {
            Value::from(value)
        }
    }
}

fn round(value: f64) -> f64 {
    let text = format!("{value:.*e}", (DIGITS - 1) as usize);
    text.parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: f64) -> SpeciesNumber {
        SpeciesNumber {
            path: "flock.weight".to_owned(),
            value,
            least: 0.0,
            most: 10.0,
            is_whole: false,
            unit: None,
        }
    }

    fn gene(present: f64, from: Option<f64>, to: Option<f64>) -> Result<Gene, GeneFault> {
        let params = GeneParams {
            key: "flock.weight".to_owned(),
            from,
            to,
        };
        Gene::new(&params, &number(present))
    }

    #[test]
    fn a_range_that_is_not_given_is_around_the_present_value() {
        let own = gene(0.8, None, None).unwrap();
        assert_eq!((own.from, own.to), (0.2, 3.2));
        assert!((own.start() - 0.5).abs() < 1e-9);
        assert_eq!(
            [0.0, 0.5, 1.0, 7.0].map(|at| own.value(at)),
            [0.2, 0.8, 3.2, 3.2]
        );
        assert_eq!(gene(8.0, None, None).unwrap().to, 10.0);
        assert!(
            gene(0.0, None, None)
                .unwrap_err()
                .1
                .contains("write from and to")
        );
        assert!(gene(0.0, Some(0.0), Some(1.0)).is_ok());
    }

    #[test]
    fn a_range_must_contain_the_present_value_and_be_allowed() {
        let fault = |from, to| gene(0.8, Some(from), Some(to)).unwrap_err();
        assert_eq!(fault(0.9, 2.0).0, "from");
        assert!(
            fault(0.9, 2.0)
                .1
                .contains("does not contain the present value 0.8")
        );
        assert_eq!(fault(0.1, 0.2).0, "to");
        assert!(fault(-1.0, 2.0).1.contains("allowed: 0 to 10"));
        assert!(fault(2.0, 0.1).1.contains("is empty"));
    }

    #[test]
    fn values_have_three_digits_and_whole_numbers_stay_whole() {
        let own = gene(0.8, Some(0.0), Some(1.0)).unwrap();
        assert_eq!(own.value(0.123_456), 0.123);
        let whole = Gene {
            is_whole: true,
            to: 9.0,
            ..own
        };
        assert_eq!(whole.value(0.5), 5.0);
        assert_eq!(whole.written(5.0), serde_json::json!(5));
    }
}
