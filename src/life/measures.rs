//! Sums over the phases of a run, and values of the whole run and of its halves.

use serde::Serialize;

/// Time at the beginning of a run that does not count for its first half: the agents start at random positions.
const WARM_UP_SECS: f64 = 60.0;
/// Largest share of a run that is warm-up.
const WARM_UP_SHARE: f64 = 0.1;
/// Number of phases: warm-up, first half, second half.
const PHASES: usize = 3;

/// Returns the phase of a run of `run_secs` at a time: 0 warm-up, 1 first half, 2 second half.
pub(super) fn phase(time_secs: f64, run_secs: f64) -> usize {
    let warm_up = WARM_UP_SECS.min(run_secs * WARM_UP_SHARE);
    if time_secs <= warm_up {
        0
    } else if time_secs <= (warm_up + run_secs) / 2.0 {
        1
    } else {
        2
    }
}

/// A sum per phase.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PhaseSum(pub(super) [f64; PHASES]);

impl PhaseSum {
    pub(super) fn add(&mut self, phase: usize, value: f64) {
        self.0[phase] += value;
    }

    pub(super) fn total(&self) -> f64 {
        self.0.iter().sum()
    }

    /// Adds another sum, phase by phase.
    pub(super) fn add_all(&mut self, other: &Self) {
        for (sum, more) in self.0.iter_mut().zip(other.0) {
            *sum += more;
        }
    }

    /// Divides by another sum, phase by phase. A quotient with the divisor 0 is 0.
    pub(super) fn per(&self, other: &Self) -> Halves {
        let divide = |a: f64, b: f64| if b > 0.0 { a / b } else { 0.0 };
        Halves {
            whole: divide(self.total(), other.total()),
            first: divide(self.0[1], other.0[1]),
            second: divide(self.0[2], other.0[2]),
        }
    }
}

/// A value of the whole run, of its first half (without the warm-up of up to one minute), and of its second half.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Halves {
    /// Value of the whole run.
    pub whole: f64,
    /// Value of the first half.
    pub first: f64,
    /// Value of the second half.
    pub second: f64,
}

/// Columns of an occupancy map. The cells of the default surface are 25 cm wide.
const COLUMNS: usize = 16;
/// Rows of an occupancy map.
const ROWS: usize = 12;

/// Number of samples in each cell of the picture.
#[derive(Clone, Debug)]
pub(super) struct OccupancyMap {
    cells: Vec<u32>,
    pub(super) outside: u64,
}

impl Default for OccupancyMap {
    fn default() -> Self {
        Self {
            cells: vec![0; COLUMNS * ROWS],
            outside: 0,
        }
    }
}

impl OccupancyMap {
    /// Adds a sample at a point of the picture. `share` is −1 to 1 from edge to edge in both directions.
    pub(super) fn add(&mut self, share: glam::Vec2) {
        if !share.abs().cmple(glam::Vec2::ONE).all() {
            self.outside += 1;
            return;
        }
        let cell = |value: f32, count: usize| {
            (((value + 1.0) / 2.0 * count as f32) as usize).min(count - 1)
        };
        self.cells[cell(share.y, ROWS) * COLUMNS + cell(share.x, COLUMNS)] += 1;
    }

    pub(super) fn add_all(&mut self, other: &Self) {
        for (cell, more) in self.cells.iter_mut().zip(&other.cells) {
            *cell += more;
        }
        self.outside += other.outside;
    }

    /// Returns the entropy of the map as a share of the largest possible entropy: 1 if all cells are used equally, 0 if
    /// only one cell is used, or without samples.
    pub(super) fn entropy(&self) -> f64 {
        let total: f64 = self.cells.iter().map(|&n| f64::from(n)).sum();
        let used = self.cells.iter().filter(|&&n| n > 0);
        let entropy: f64 = used
            .map(|&n| f64::from(n) / total)
            .map(|share| -share * share.ln())
            .sum();
        entropy / (self.cells.len() as f64).ln()
    }

    /// Returns the share of the samples outside the picture.
    pub(super) fn outside_share(&self) -> f64 {
        let inside: u64 = self.cells.iter().map(|&n| u64::from(n)).sum();
        self.outside as f64 / (inside + self.outside).max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec2;

    #[test]
    fn the_entropy_of_a_map_is_zero_in_one_cell_and_one_everywhere() {
        let mut map = OccupancyMap::default();
        assert_eq!(map.entropy(), 0.0);
        for _ in 0..100 {
            map.add(Vec2::new(0.01, 0.01));
        }
        assert_eq!(map.entropy(), 0.0);
        let mut even = OccupancyMap::default();
        for column in 0..COLUMNS {
            for row in 0..ROWS {
                let share = |i: usize, n: usize| (i as f32 + 0.5) / n as f32 * 2.0 - 1.0;
                even.add(Vec2::new(share(column, COLUMNS), share(row, ROWS)));
            }
        }
        even.add(Vec2::new(1.5, 0.0));
        assert!((even.entropy() - 1.0).abs() < 1e-9);
        assert!((even.outside_share() - 1.0 / 193.0).abs() < 1e-9);
    }

    #[test]
    fn phases_leave_out_the_warm_up_and_have_equal_halves() {
        assert_eq!(
            [0.0, 60.0, 61.0, 630.0, 631.0, 1200.0].map(|t| phase(t, 1200.0)),
            [0, 0, 1, 1, 2, 2]
        );
        assert_eq!([1.0, 2.0, 10.0, 12.0].map(|t| phase(t, 20.0)), [0, 0, 1, 2]);
    }
}
