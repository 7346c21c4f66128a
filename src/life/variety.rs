//! Measures the variety of paths: whether a species crosses the same place in different directions.

use glam::Vec2;

/// Columns of the map. A cell of the default surface is half a meter wide, so that a cell has many samples.
const COLUMNS: usize = 8;
/// Rows of the map.
const ROWS: usize = 6;
/// Sectors of directions.
const SECTORS: usize = 8;

/// Number of samples in each cell of the picture and each sector of directions.
#[derive(Clone, Debug)]
pub(super) struct Headings {
    cells: Vec<[u32; SECTORS]>,
}

impl Default for Headings {
    fn default() -> Self {
        Self {
            cells: vec![[0; SECTORS]; COLUMNS * ROWS],
        }
    }
}

impl Headings {
    /// Adds a sample. `share` is −1 to 1 from edge to edge in both directions; a point outside is left out.
    pub(super) fn add(&mut self, share: Vec2, velocity_mps: Vec2) {
        if !share.abs().cmple(Vec2::ONE).all() || velocity_mps == Vec2::ZERO {
            return;
        }
        let place = |part: f32, count: usize| ((part * count as f32) as usize).min(count - 1);
        let cell =
            place((share.y + 1.0) / 2.0, ROWS) * COLUMNS + place((share.x + 1.0) / 2.0, COLUMNS);
        let turn = velocity_mps.to_angle() / std::f32::consts::TAU + 0.5;
        self.cells[cell][place(turn, SECTORS)] += 1;
    }

    /// Returns the entropy of the directions at a place, averaged over all samples, as a share of the largest possible entropy: 0 if
    /// each place is always crossed in the same direction, as in a carousel; 1 if in all directions equally often. `None` without
    /// samples.
    ///
    /// **Source**: conditional entropy (Shannon 1948), with the correction of Miller 1955 for few samples.
    pub(super) fn variety(&self) -> Option<f64> {
        let (mut sum, mut samples) = (0.0, 0.0);
        for cell in &self.cells {
            let total: f64 = cell.iter().map(|&n| f64::from(n)).sum();
            if total == 0.0 {
                continue;
            }
            let used = cell.iter().filter(|&&n| n > 0);
            let shares = used.clone().map(|&n| f64::from(n) / total);
            let entropy: f64 = shares.map(|share| -share * share.ln()).sum();
            let correction = (used.count() as f64 - 1.0) / (2.0 * total);
            sum += total * (entropy + correction).min((SECTORS as f64).ln());
            samples += total;
        }
        (samples > 0.0).then(|| sum / samples / (SECTORS as f64).ln())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_carousel_has_no_variety_and_a_crossing_has_all() {
        let turn = |angle: f32| Vec2::from_angle(angle);
        let (mut carousel, mut crossing) = (Headings::default(), Headings::default());
        assert_eq!(carousel.variety(), None);
        for step in 0..4000 {
            let angle = step as f32 * 0.1;
            // Always the same direction at the same place.
            let cell = (step % 48) as f32;
            let share = Vec2::new(
                (cell % 8.0 + 0.5) / 4.0 - 1.0,
                (cell / 8.0).floor() / 3.0 - 0.9,
            );
            carousel.add(share, turn(cell));
            crossing.add(share, turn(angle));
        }
        crossing.add(Vec2::new(1.2, 0.0), Vec2::X);
        assert!(carousel.variety().unwrap() < 1e-6);
        assert!(
            crossing.variety().unwrap() > 0.97,
            "{:?}",
            crossing.variety()
        );
    }
}
