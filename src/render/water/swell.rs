//! The swell: wind waves of all lengths that run mainly downwind.

use glam::Vec2;

use crate::render::noise::unit_hash;

/// Number of waves in the swell; same number as in `shaders/water.wgsl`.
pub(in crate::render) const SWELL_WAVES: usize = 40;
/// Ratio of a swell wave's speed to its natural speed. The natural speed makes restless light. Tuned by eye.
const SWELL_SPEED: f32 = 0.5;
/// Length of the longest wave of the swell. Tuned by eye.
const LONGEST_M: f32 = 1.6;
/// Length of the shortest wave of the swell. Tuned by eye.
const SHORTEST_M: f32 = 0.07;
/// Slope of each wave of a swell of strength 1. Tuned by eye.
const SWELL_SLOPE: f32 = 0.0150;
/// Standard deviation of the directions of the swell around the direction of the wind, in radians. Tuned by eye: it makes the
/// cells of light about twice as long as wide.
const SPREAD_RAD: f32 = 0.55;
/// Direction of the wind on the water. Tuned by eye: the cells of light are oblique in the picture.
const WIND_RAD: f32 = 1.15;

/// Waves of the swell: constant except for their phases.
#[derive(Clone, Copy, Debug)]
struct SwellWave {
    number: Vec2,
    rate_rps: f64,
    phase_rad: f64,
    height_m: f32,
}

/// The swell: wind waves of all lengths that run mainly downwind.
#[derive(Clone, Debug)]
pub(in crate::render) struct Swell {
    waves: [SwellWave; SWELL_WAVES],
}

impl Swell {
    /// Creates a swell of a strength; 1 is normal.
    pub(in crate::render) fn new(strength: f32) -> Self {
        let wave = |i: usize| {
            let n = i as u32;
            let share = (i as f32 + 0.5) / SWELL_WAVES as f32;
            // Lengths are spread evenly over the octaves, with some irregularity, so that the light does not repeat.
            let length_m = LONGEST_M
                * (SHORTEST_M / LONGEST_M)
                    .powf(share + 0.6 * (unit_hash(n, 202) - 0.5) / SWELL_WAVES as f32);
            // The sum of three random numbers is nearly normal, with a standard deviation of 0.5.
            let normal = unit_hash(n, 203) + unit_hash(n, 204) + unit_hash(n, 205) - 1.5;
            // Short waves run in all directions.
            let heading = WIND_RAD + 2.0 * normal * SPREAD_RAD * (0.7 + 0.9 * share);
            let k = std::f32::consts::TAU / length_m;
            let natural = (9.81 * k + 7.3e-5 * k * k * k).sqrt();
            // Long waves bend the view, short ones sharpen the light; the slope of medium waves is the largest.
            let slope = strength * SWELL_SLOPE * slope_of(length_m);
            SwellWave {
                number: Vec2::from_angle(heading) * k,
                rate_rps: f64::from(SWELL_SPEED * natural),
                phase_rad: f64::from(unit_hash(n, 206)) * std::f64::consts::TAU,
                height_m: slope / k,
            }
        };
        Self {
            waves: std::array::from_fn(wave),
        }
    }

    /// Writes the waves at a time. Phases are computed with 64 bits and wrapped, so they stay exact over months.
    pub(in crate::render) fn write(&self, time_secs: f64, out: &mut [[f32; 4]; SWELL_WAVES]) {
        for (wave, out) in self.waves.iter().zip(out) {
            let phase =
                (wave.phase_rad - wave.rate_rps * time_secs).rem_euclid(std::f64::consts::TAU);
            *out = [wave.number.x, wave.number.y, phase as f32, wave.height_m];
        }
    }
}

/// Returns the relative slope of the swell's waves of a length.
fn slope_of(length_m: f32) -> f32 {
    let octaves = (length_m / 0.42).log2();
    (-0.5 * (octaves / 1.3).powi(2)).exp() + 0.18
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The phases are wrapped with 64 bits, so the swell moves the same way after months.
    #[test]
    fn the_swell_is_smooth_after_months() {
        let swell = Swell::new(1.0);
        let moved = |from_secs: f64| {
            let mut waves = [[[0.0; 4]; SWELL_WAVES]; 2];
            swell.write(from_secs, &mut waves[0]);
            swell.write(from_secs + 1.0 / 60.0, &mut waves[1]);
            let turn =
                |i: usize| (waves[0][i][2] - waves[1][i][2]).rem_euclid(std::f32::consts::TAU);
            std::array::from_fn::<f32, SWELL_WAVES, _>(turn)
        };
        let (new, old) = (moved(10.0), moved(180.0 * 86_400.0));
        for (new, old) in new.iter().zip(&old) {
            assert!((new - old).abs() < 1e-4, "{new} and {old} rad");
        }
    }
}
