//! Personal differences between individuals: how patient, brave and curious each one is. They follow from seed and id, so an
//! individual keeps them for its whole life and they are not saved.

use super::random::{Random, RandomStream};

/// The temperament of one individual. Every trait is uniformly distributed from 0 to 1 within a population.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Temperament {
    /// How long it stays with one thing.
    pub patience: f32,
    /// How soon it trusts something large.
    pub courage: f32,
    /// How often it is attracted by something new.
    pub curiosity: f32,
}

impl Temperament {
    /// Returns the temperament of the individual with this id.
    pub fn of(seed: u64, id: u32) -> Self {
        let random = Random { seed, tick: 0 };
        let draw = |number| random.unit(id, RandomStream::Temperament, number);
        Self {
            patience: draw(0),
            courage: draw(1),
            curiosity: draw(2),
        }
    }

    /// Returns the same temperament with the courage that a named individual has of its own, if it has one.
    #[must_use]
    pub fn with_courage(self, courage: Option<f32>) -> Self {
        Self {
            courage: courage.unwrap_or(self.courage),
            ..self
        }
    }

    /// Returns the factor of a trait's value: from 1/2 (value 0) to 2 (value 1) for a spread of 1. With a spread of 0, the factor
    /// is 1.
    pub fn factor(value: f32, spread: f32) -> f32 {
        ((2.0 * value - 1.0) * spread).exp2()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn individuals_differ_and_keep_their_temperament() {
        let all: Vec<Temperament> = (0..1000).map(|id| Temperament::of(7, id)).collect();
        let of_all: [fn(&Temperament) -> f32; 3] = [|t| t.patience, |t| t.courage, |t| t.curiosity];
        for of in of_all {
            let mean = all.iter().map(of).sum::<f32>() / 1000.0;
            assert!((mean - 0.5).abs() < 0.03, "mean {mean}");
            assert!(all.iter().any(|t| of(t) < 0.05) && all.iter().any(|t| of(t) > 0.95));
        }
        assert_eq!(Temperament::of(7, 3), all[3]);
        assert_ne!(Temperament::of(8, 3), all[3]);
        assert_eq!(
            [0.0, 0.5, 1.0].map(|of| Temperament::factor(of, 1.0)),
            [0.5, 1.0, 2.0]
        );
        assert_eq!(Temperament::factor(0.9, 0.0), 1.0);
    }
}
