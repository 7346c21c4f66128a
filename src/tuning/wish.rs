//! A wish, and by how much reports of simulated lives miss it.

use crate::life::{Figure, LifeReport, VisitorProgram};

/// The wanted range of a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Wish {
    /// The figure.
    pub figure: Figure,
    /// The species that is measured.
    pub species: String,
    /// The programs over which the figure is averaged.
    pub programs: Vec<VisitorProgram>,
    /// Smallest wanted value.
    pub at_least: Option<f64>,
    /// Largest wanted value.
    pub at_most: Option<f64>,
    /// Importance.
    pub importance: f64,
}

impl Wish {
    /// Returns the mean of the figure over the reports that count for this wish; `None` if there was nothing to measure.
    pub fn value(&self, reports: &[LifeReport]) -> Option<f64> {
        let counts =
            |report: &&LifeReport| report.program.is_some_and(|p| self.programs.contains(&p));
        let values = reports.iter().filter(counts);
        let values = values.filter_map(|report| self.figure.value(report, &self.species));
        let (count, sum) =
            values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
        (count > 0.0).then(|| sum / count)
    }

    /// Distance of a value from the wanted range; 0 inside.
    pub fn distance(&self, value: f64) -> f64 {
        let below = self.at_least.map_or(0.0, |least| least - value);
        let above = self.at_most.map_or(0.0, |most| value - most);
        below.max(above).max(0.0)
    }

    /// By how much a value misses the wish: 0 inside the wanted range, a half if the distance is as large as the end of the range,
    /// and 1 if it is much larger or there is no value.
    pub fn miss(&self, value: Option<f64>) -> f64 {
        let Some(value) = value else { return 1.0 };
        let distance = self.distance(value);
        if distance == 0.0 {
            return 0.0;
        }
        let end = if self.at_most.is_some_and(|most| value > most) {
            self.at_most
        } else {
            self.at_least
        };
        let end = end.unwrap_or(0.0).abs();
        let scale = if end > 0.0 { end } else { 1.0 };
        distance / (distance + scale)
    }

    /// The wanted range as text.
    pub fn wanted(&self) -> String {
        match (self.at_least, self.at_most) {
            (Some(least), Some(most)) => format!("{least} to {most}"),
            (Some(least), None) => format!("at least {least}"),
            (None, Some(most)) => format!("at most {most}"),
            (None, None) => String::new(),
        }
    }

    /// The programs as text.
    pub fn visitors(&self) -> String {
        let names: Vec<&str> = self.programs.iter().map(|program| program.name()).collect();
        names.join("+")
    }
}

/// By how much reports miss all wishes: the root of the mean square, so that one wish that is missed by much counts more than several
/// that are missed by a little. 0 if all are fulfilled, at most 1.
pub(super) fn total_miss(wishes: &[Wish], reports: &[LifeReport]) -> f64 {
    let importance: f64 = wishes.iter().map(|wish| wish.importance).sum();
    let squares = wishes.iter().map(|wish| {
        let miss = wish.miss(wish.value(reports));
        wish.importance * miss * miss
    });
    (squares.sum::<f64>() / importance.max(f64::MIN_POSITIVE)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(at_least: Option<f64>, at_most: Option<f64>) -> Wish {
        Wish {
            figure: Figure::TouchesPerMin,
            species: "koi".to_owned(),
            programs: vec![VisitorProgram::None],
            at_least,
            at_most,
            importance: 1.0,
        }
    }

    #[test]
    fn a_wish_is_missed_by_the_distance_from_its_range() {
        let most = wish(None, Some(3.0));
        assert_eq!([0.0, 3.0, 6.0].map(|v| most.miss(Some(v))), [0.0, 0.0, 0.5]);
        assert!(most.miss(Some(300.0)) > 0.98);
        assert_eq!(most.miss(None), 1.0);
        let range = wish(Some(0.8), Some(0.9));
        assert_eq!(range.miss(Some(0.85)), 0.0);
        assert!((range.distance(0.6) - 0.2).abs() < 1e-12);
        assert!((range.miss(Some(0.6)) - 0.2).abs() < 1e-12);
        // A wanted zero has no size to compare with.
        assert_eq!(wish(None, Some(0.0)).miss(Some(1.0)), 0.5);
        assert_eq!(range.wanted(), "0.8 to 0.9");
    }
}
