//! Finds agents that stay in one place, also if they circle there.

use glam::{DVec3, Vec3};

/// An agent is still if its positions in a window differ from their mean by less than this (root mean square).
pub(super) const STILL_M: f64 = 0.1;
/// Duration of a window.
pub(super) const STILL_SECS: f64 = 30.0;
/// Number of blocks of a window. After each block, the window moves on by one block.
const BLOCKS: usize = 3;

/// Sums over the positions of one block.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    secs: f64,
    count: f64,
    sum_m: DVec3,
    squares_m2: f64,
}

/// The last positions of one agent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Dwell {
    /// The newest block first.
    blocks: [Block; BLOCKS],
    /// Time for which the agent has been still; 0 if it is not still.
    pub(super) still_secs: f64,
}

impl Dwell {
    /// Adds a position. Returns the time by which `still_secs` grew.
    pub(super) fn add(&mut self, at_m: Vec3, secs: f64) -> f64 {
        let at_m = at_m.as_dvec3();
        let block = &mut self.blocks[0];
        block.secs += secs;
        block.count += 1.0;
        block.sum_m += at_m;
        block.squares_m2 += at_m.length_squared();
        if block.secs < STILL_SECS / BLOCKS as f64 {
            return 0.0;
        }
        let before_secs = self.still_secs;
        let block_secs = self.blocks[0].secs;
        self.still_secs = if !self.is_still() {
            0.0
        } else if before_secs > 0.0 {
            before_secs + block_secs
        } else {
            self.blocks.iter().map(|block| block.secs).sum()
        };
        self.blocks.rotate_right(1);
        self.blocks[0] = Block::default();
        (self.still_secs - before_secs).max(0.0)
    }

    fn is_still(&self) -> bool {
        let mut all = Block::default();
        for block in &self.blocks {
            all.count += block.count;
            all.sum_m += block.sum_m;
            all.squares_m2 += block.squares_m2;
        }
        let mean_m = all.sum_m / all.count.max(1.0);
        let variance_m2 = all.squares_m2 / all.count.max(1.0) - mean_m.length_squared();
        let is_full = self.blocks.iter().all(|block| block.count > 0.0);
        is_full && variance_m2 <= STILL_M * STILL_M
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the time for which an agent on a circle of this radius is still, in 60 s.
    fn still_secs(radius_m: f32, speed_mps: f32) -> f64 {
        let mut dwell = Dwell::default();
        for step in 0..120 {
            let angle = speed_mps * 0.5 * step as f32 / radius_m;
            dwell.add(
                Vec3::new(3.0 + angle.cos() * radius_m, -0.7, angle.sin() * radius_m),
                0.5,
            );
        }
        dwell.still_secs
    }

    #[test]
    fn an_agent_that_circles_in_a_corner_is_still_and_one_that_swims_slowly_is_not() {
        assert_eq!(still_secs(0.09, 0.12), 60.0);
        assert_eq!(still_secs(0.3, 0.12), 0.0);
        // 2 cm/s: in 30 s it swims 60 cm.
        assert_eq!(still_secs(1000.0, 0.02), 0.0);
    }
}
