//! Compares the present and the found numbers on seeds that the search has not seen.

use std::fmt;

use super::task::Task;
use super::wish::Wish;
use crate::life::LifeReport;

/// A change beyond this multiple of its standard error is no chance: about one in twenty such changes would be.
const SURE: f64 = 2.0;

/// A mean and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Estimate {
    mean: f64,
    error: f64,
}

impl Estimate {
    /// Returns the mean of values; `None` without values. The error of a single value is infinite.
    fn of(values: &[f64]) -> Option<Self> {
        let count = values.len() as f64;
        if values.is_empty() {
            return None;
        }
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let error = if count > 1.0 {
            (squares / (count - 1.0) / count).sqrt()
        } else {
            f64::INFINITY
        };
        Some(Self { mean, error })
    }

    /// Whether the mean differs from 0 by more than its error explains.
    fn is_sure(self) -> bool {
        self.mean.abs() > SURE * self.error
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.mean.abs().max(self.error);
        let digits = match size {
            size if size >= 100.0 => 0,
            size if size >= 10.0 => 1,
            size if size >= 1.0 => 2,
            size if size >= 0.05 => 3,
            _ => 4,
        };
        write!(f, "{:.digits$} ± {:.digits$}", self.mean, self.error)
    }
}

/// What the comparison says about a wish, or about all together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nearer to what is wished, beyond the error.
    Better,
    /// Farther from what is wished, beyond the error.
    Worse,
    /// No difference beyond the error.
    Same,
}

impl Verdict {
    fn of(change: Option<Estimate>) -> Self {
        match change.filter(|change| change.is_sure()) {
            Some(change) if change.mean < 0.0 => Self::Better,
            Some(_) => Self::Worse,
            None => Self::Same,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Same => "no sure change",
        }
    }
}

struct Line {
    name: String,
    wanted: String,
    visitors: String,
    before: Option<Estimate>,
    after: Option<Estimate>,
    change: Option<Estimate>,
    verdict: Verdict,
    state: &'static str,
}

/// The comparison: each wish before and after, with standard errors over the seeds.
pub struct Comparison {
    lines: Vec<Line>,
    before: Option<Estimate>,
    after: Option<Estimate>,
    change: Option<Estimate>,
    seeds: usize,
}

impl Comparison {
    /// Compares reports with the present and with the found numbers. Each item has the reports of one seed; both lists have the same
    /// seeds in the same order.
    pub fn new(task: &Task, before: &[Vec<LifeReport>], after: &[Vec<LifeReport>]) -> Self {
        let miss = |reports: &[Vec<LifeReport>]| -> Vec<f64> {
            reports.iter().map(|own| task.miss(own)).collect()
        };
        let (misses_before, misses_after) = (miss(before), miss(after));
        Self {
            lines: task
                .wishes
                .iter()
                .map(|wish| line(wish, before, after))
                .collect(),
            change: Estimate::of(&differences(&misses_after, &misses_before)),
            before: Estimate::of(&misses_before),
            after: Estimate::of(&misses_after),
            seeds: before.len().min(after.len()),
        }
    }

    /// Whether the found numbers are better on all wishes together.
    pub fn verdict(&self) -> Verdict {
        Verdict::of(self.change)
    }
}

/// Differences of values of the same seeds.
fn differences(after: &[f64], before: &[f64]) -> Vec<f64> {
    after.iter().zip(before).map(|(a, b)| a - b).collect()
}

/// Says whether the found numbers fulfill a wish.
fn state(wish: &Wish, after: Option<Estimate>) -> &'static str {
    match after {
        Some(after) if wish.distance(after.mean) == 0.0 => "fulfilled",
        Some(after) if wish.distance(after.mean) <= after.error => "missed by less than the error",
        Some(_) => "missed",
        None => "without a value",
    }
}

fn line(wish: &Wish, before: &[Vec<LifeReport>], after: &[Vec<LifeReport>]) -> Line {
    let values = |reports: &[Vec<LifeReport>]| -> Vec<Option<f64>> {
        reports.iter().map(|own| wish.value(own)).collect()
    };
    let (values_before, values_after) = (values(before), values(after));
    let known = |values: &[Option<f64>]| -> Vec<f64> { values.iter().copied().flatten().collect() };
    let pairs: Vec<(f64, f64)> = values_before
        .iter()
        .zip(&values_after)
        .filter_map(|(b, a)| Some(((*b)?, (*a)?)))
        .collect();
    let change: Vec<f64> = pairs.iter().map(|(b, a)| a - b).collect();
    let nearer: Vec<f64> = pairs
        .iter()
        .map(|(b, a)| wish.distance(*a) - wish.distance(*b))
        .collect();
    let mean = Estimate::of(&known(&values_after));
    Line {
        name: format!("{} of {}", wish.figure.name(), wish.species),
        wanted: wish.wanted(),
        visitors: wish.visitors(),
        before: Estimate::of(&known(&values_before)),
        after: mean,
        change: Estimate::of(&change),
        verdict: Verdict::of(Estimate::of(&nearer)),
        state: state(wish, mean),
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text =
            |value: Option<Estimate>| value.map_or("-".to_owned(), |value| value.to_string());
        writeln!(
            f,
            "{:<34} {:<10} {:<16} {:<18} {:<18} {:<18} result on {} unseen seeds",
            "figure", "visitors", "wanted", "before", "after", "change", self.seeds
        )?;
        for line in &self.lines {
            writeln!(
                f,
                "{:<34} {:<10} {:<16} {:<18} {:<18} {:<18} {}, {}",
                line.name,
                line.visitors,
                line.wanted,
                text(line.before),
                text(line.after),
                text(line.change),
                line.state,
                line.verdict.word()
            )?;
        }
        writeln!(
            f,
            "{:<34} {:<10} {:<16} {:<18} {:<18} {:<18} {}",
            "all wishes: miss",
            "",
            "0",
            text(self.before),
            text(self.after),
            text(self.change),
            self.verdict().word()
        )?;
        write!(
            f,
            "± is the standard error over the seeds. A miss is 0 inside the wanted range and 0.5 if a value is off by the size of its \
             limit; for all wishes it is the root of the mean square."
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_has_the_standard_error_of_the_mean() {
        let own = Estimate::of(&[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!(own.mean, 2.5);
        assert!((own.error - (5.0_f64 / 3.0 / 4.0).sqrt()).abs() < 1e-12);
        assert_eq!(own.to_string(), "2.50 ± 0.65");
        assert_eq!(Estimate::of(&[]), None);
    }

    #[test]
    fn a_change_counts_only_beyond_its_error() {
        let verdict = |values: &[f64]| Verdict::of(Estimate::of(values));
        assert_eq!(verdict(&[-0.1, -0.12, -0.09]), Verdict::Better);
        assert_eq!(verdict(&[0.1, 0.12, 0.09]), Verdict::Worse);
        assert_eq!(verdict(&[-0.1, 0.12, -0.09]), Verdict::Same);
        assert_eq!(verdict(&[-0.1]), Verdict::Same, "one seed has no error");
        assert_eq!(verdict(&[0.0, 0.0]), Verdict::Same);
    }
}
