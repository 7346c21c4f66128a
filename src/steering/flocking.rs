//! Separation, alignment and cohesion with many neighbors at once. The code processes eight neighbors in parallel, so
//! that the compiler can use vector instructions.
//!
//! **Source**: Reynolds 1987; neighborhoods and forces as in the Boids plug-in of OpenSteer.

use std::sync::LazyLock;

use glam::Vec3;
use pulp::{Arch, Simd, WithSimd};

/// The widest vector instructions that this processor supports. The results do not depend on them.
static ARCH: LazyLock<Arch> = LazyLock::new(Arch::new);

/// Number of neighbors processed in parallel.
const LANES: usize = 8;

/// The region in which neighbors count for one flocking force, and the weight of this force. The region has a radius
/// and an angle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighborhood {
    /// Square of the radius.
    pub radius_sq_m2: f32,
    /// Cosine of the largest angle between the forward direction and the direction to a neighbor.
    pub cos_limit: f32,
    /// Largest length of the resulting force.
    pub weight: f32,
    /// Length of the summed vector from which the force has its full length. A shorter vector gives a proportionally
    /// smaller force. With 0, every vector gives the full force, as in Reynolds and OpenSteer; a well ordered school
    /// then oscillates.
    pub full_force_length: f32,
}

impl Neighborhood {
    /// Creates a neighborhood from a radius, the largest angle to each side, and a weight.
    pub fn new(radius_m: f32, angle_deg: f32, weight: f32) -> Self {
        Self {
            radius_sq_m2: radius_m * radius_m,
            // −2 is below every cosine, so rounding cannot exclude a neighbor exactly behind.
            cos_limit: if angle_deg >= 180.0 {
                -2.0
            } else {
                angle_deg.to_radians().cos()
            },
            weight,
            full_force_length: 0.0,
        }
    }

    /// Whether a neighbor is in the region. `along_m` is its distance along the forward direction.
    #[inline(always)]
    fn includes(&self, square_m2: f32, along_m: f32, distance_m: f32) -> bool {
        (square_m2 <= self.radius_sq_m2) & (along_m >= self.cos_limit * distance_m)
    }

    /// Returns the same neighborhood, extended to all directions.
    pub fn all_round(self) -> Self {
        Self {
            cos_limit: -2.0,
            ..self
        }
    }
}

/// The three neighborhoods of a flock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlockRules {
    /// Square of the distance within which a neighbor counts at any angle.
    pub always_sq_m2: f32,
    /// Force away from neighbors.
    pub separation: Neighborhood,
    /// Force towards the mean direction of neighbors.
    pub alignment: Neighborhood,
    /// Force towards the center of neighbors.
    pub cohesion: Neighborhood,
}

impl FlockRules {
    /// Returns whether a neighbor at this offset counts for separation, alignment and cohesion.
    pub fn counts(&self, offset_m: Vec3, forward: Vec3) -> [bool; 3] {
        let square = offset_m.length_squared();
        let (along, distance) = (forward.dot(offset_m), square.sqrt());
        let is_near = square < self.always_sq_m2;
        [self.separation, self.alignment, self.cohesion]
            .map(|part| square > 0.0 && (is_near || part.includes(square, along, distance)))
    }
}

/// Positions and unit directions of neighbors, as arrays of equal length.
#[derive(Clone, Copy, Debug)]
pub struct NeighborArrays<'a> {
    /// Positions, x.
    pub x_m: &'a [f32],
    /// Positions, y.
    pub y_m: &'a [f32],
    /// Positions, z.
    pub z_m: &'a [f32],
    /// Directions, x.
    pub forward_x: &'a [f32],
    /// Directions, y.
    pub forward_y: &'a [f32],
    /// Directions, z.
    pub forward_z: &'a [f32],
}

type Lane = [f32; LANES];

/// Sums over the neighbors in each of the three neighborhoods.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlockSums {
    separation: [Lane; 4],
    alignment: [Lane; 4],
    cohesion: [Lane; 4],
}

/// The three flocking forces, each normalized and weighted; `None` for an empty neighborhood.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlockForces {
    /// Force away from neighbors.
    pub separation: Option<Vec3>,
    /// Force towards the mean direction of neighbors.
    pub alignment: Option<Vec3>,
    /// Force towards the center of neighbors.
    pub cohesion: Option<Vec3>,
}

impl FlockForces {
    /// Returns the sum of the three forces, or `None` if all neighborhoods are empty.
    pub fn sum(&self) -> Option<Vec3> {
        if self.separation.is_none() && self.alignment.is_none() && self.cohesion.is_none() {
            return None;
        }
        Some(
            self.separation.unwrap_or_default()
                + self.alignment.unwrap_or_default()
                + self.cohesion.unwrap_or_default(),
        )
    }
}

impl FlockSums {
    /// Adds all vehicles in the arrays. A vehicle exactly at `position_m` counts as the steering vehicle itself and is
    /// ignored.
    pub fn add_all(
        &mut self,
        rules: &FlockRules,
        position_m: Vec3,
        forward: Vec3,
        others: NeighborArrays<'_>,
    ) {
        ARCH.dispatch(Adding {
            sums: self,
            rules,
            position_m,
            forward,
            others,
        });
    }

    /// Adds neighbors one by one, as (offset, unit direction).
    #[inline]
    pub fn add_each(
        &mut self,
        rules: &FlockRules,
        forward: Vec3,
        others: impl Iterator<Item = (Vec3, Vec3)>,
    ) {
        let mut lanes = [[0.0; LANES]; 6];
        let mut count = 0;
        for (offset, ahead) in others {
            let numbers = [offset.x, offset.y, offset.z, ahead.x, ahead.y, ahead.z];
            for (lane, number) in lanes.iter_mut().zip(numbers) {
                lane[count] = number;
            }
            count += 1;
            if count == LANES {
                self.add_lanes(rules, Vec3::ZERO, forward, &lanes.each_ref(), count);
                count = 0;
            }
        }
        if count > 0 {
            self.add_lanes(rules, Vec3::ZERO, forward, &lanes.each_ref(), count);
        }
    }

    #[inline(always)]
    fn add_lanes(
        &mut self,
        rules: &FlockRules,
        position_m: Vec3,
        forward: Vec3,
        lanes: &[&Lane; 6],
        count: usize,
    ) {
        let [x, y, z, fx, fy, fz] = *lanes;
        for lane in 0..LANES {
            let (dx, dy, dz) = (
                x[lane] - position_m.x,
                y[lane] - position_m.y,
                z[lane] - position_m.z,
            );
            let square = dx * dx + dy * dy + dz * dz;
            let along = forward.x * dx + forward.y * dy + forward.z * dz;
            let distance = square.sqrt();
            let counts = (lane < count) & (square > 0.0);
            let is_near = square < rules.always_sq_m2;
            let within = |part: &Neighborhood| {
                let inside = part.includes(square, along, distance);
                if counts & (is_near | inside) {
                    1.0f32
                } else {
                    0.0
                }
            };
            let in_separation = within(&rules.separation);
            let scale = -in_separation / square.max(f32::MIN_POSITIVE);
            self.separation[0][lane] += dx * scale;
            self.separation[1][lane] += dy * scale;
            self.separation[2][lane] += dz * scale;
            self.separation[3][lane] += in_separation;
            let in_alignment = within(&rules.alignment);
            self.alignment[0][lane] += fx[lane] * in_alignment;
            self.alignment[1][lane] += fy[lane] * in_alignment;
            self.alignment[2][lane] += fz[lane] * in_alignment;
            self.alignment[3][lane] += in_alignment;
            let in_cohesion = within(&rules.cohesion);
            self.cohesion[0][lane] += dx * in_cohesion;
            self.cohesion[1][lane] += dy * in_cohesion;
            self.cohesion[2][lane] += dz * in_cohesion;
            self.cohesion[3][lane] += in_cohesion;
        }
    }

    /// Returns the forces that result from the sums, for a vehicle with this forward vector.
    pub fn forces(&self, rules: &FlockRules, forward: Vec3) -> FlockForces {
        let [separation, alignment, cohesion] =
            [&self.separation, &self.alignment, &self.cohesion].map(total);
        FlockForces {
            separation: separation.map(|(sum, _)| weighted(sum, &rules.separation)),
            alignment: alignment
                .map(|(sum, count)| weighted(sum / count - forward, &rules.alignment)),
            cohesion: cohesion.map(|(sum, count)| weighted(sum / count, &rules.cohesion)),
        }
    }
}

/// Arguments of [`FlockSums::add_all`]. The loop of this function is compiled separately for each kind of vector
/// instructions.
struct Adding<'a> {
    sums: &'a mut FlockSums,
    rules: &'a FlockRules,
    position_m: Vec3,
    forward: Vec3,
    others: NeighborArrays<'a>,
}

impl WithSimd for Adding<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let NeighborArrays {
            x_m,
            y_m,
            z_m,
            forward_x,
            forward_y,
            forward_z,
        } = self.others;
        let columns = [x_m, y_m, z_m, forward_x, forward_y, forward_z];
        let count = columns.map(<[f32]>::len).into_iter().min().unwrap_or(0);
        // A local copy of the sums can stay in processor registers.
        let mut sums = *self.sums;
        for start in (0..count).step_by(LANES) {
            let mut rest = [[0.0; LANES]; 6];
            let whole = columns.map(|column| column.get(start..).and_then(<[f32]>::first_chunk));
            if let [Some(x), Some(y), Some(z), Some(fx), Some(fy), Some(fz)] = whole {
                let lanes = [x, y, z, fx, fy, fz];
                sums.add_lanes(self.rules, self.position_m, self.forward, &lanes, LANES);
                continue;
            }
            for (lane, column) in rest.iter_mut().zip(columns) {
                lane[..count - start].copy_from_slice(&column[start..count]);
            }
            let lanes = rest.each_ref();
            sums.add_lanes(
                self.rules,
                self.position_m,
                self.forward,
                &lanes,
                count - start,
            );
        }
        *self.sums = sums;
    }
}

/// Returns the vector sum and the number of neighbors of a neighborhood, or `None` if the neighborhood is empty.
fn total(lanes: &[Lane; 4]) -> Option<(Vec3, f32)> {
    // Adds the lanes pairwise, so that the additions do not depend on each other in one long chain.
    let [x, y, z, count] = lanes.map(|lane| {
        let half: [f32; LANES / 2] = std::array::from_fn(|i| lane[i] + lane[i + LANES / 2]);
        (half[0] + half[2]) + (half[1] + half[3])
    });
    (count > 0.0).then(|| (Vec3::new(x, y, z), count))
}

fn weighted(sum: Vec3, part: &Neighborhood) -> Vec3 {
    let length = sum.length();
    if length > part.full_force_length.max(f32::MIN_POSITIVE) {
        sum * (part.weight / length)
    } else if part.full_force_length > 0.0 {
        sum * (part.weight / part.full_force_length)
    } else {
        Vec3::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shoal_testing::assert_near;

    const RULES: FlockRules = FlockRules {
        always_sq_m2: 0.01,
        separation: Neighborhood {
            radius_sq_m2: 1.0,
            cos_limit: -0.7,
            weight: 3.0,
            full_force_length: 0.0,
        },
        alignment: Neighborhood {
            radius_sq_m2: 4.0,
            cos_limit: 0.7,
            weight: 2.0,
            full_force_length: 0.0,
        },
        cohesion: Neighborhood {
            radius_sq_m2: 9.0,
            cos_limit: -0.15,
            weight: 5.0,
            full_force_length: 0.0,
        },
    };

    fn forces(rules: &FlockRules, others: &[(Vec3, Vec3)]) -> FlockForces {
        let column = |pick: fn(&(Vec3, Vec3)) -> f32| others.iter().map(pick).collect::<Vec<f32>>();
        let (x, y, z) = (column(|o| o.0.x), column(|o| o.0.y), column(|o| o.0.z));
        let (fx, fy, fz) = (column(|o| o.1.x), column(|o| o.1.y), column(|o| o.1.z));
        let arrays = NeighborArrays {
            x_m: &x,
            y_m: &y,
            z_m: &z,
            forward_x: &fx,
            forward_y: &fy,
            forward_z: &fz,
        };
        let mut sums = FlockSums::default();
        sums.add_all(rules, Vec3::ZERO, Vec3::X, arrays);
        sums.forces(rules, Vec3::X)
    }

    #[test]
    fn each_force_has_its_own_neighborhood_and_weight() {
        let half = 0.5f32.sqrt();
        let close = forces(&RULES, &[(Vec3::new(0.0, 0.0, 0.5), Vec3::Z)]);
        assert_eq!(close.separation, Some(Vec3::new(0.0, 0.0, -3.0)));
        // 90 degrees is outside the angle of 45.
        assert_eq!(close.alignment, None);
        assert_eq!(close.cohesion, Some(Vec3::new(0.0, 0.0, 5.0)));
        let ahead = forces(&RULES, &[(Vec3::new(1.5, 0.0, 0.0), Vec3::Z)]);
        assert_eq!(ahead.separation, None);
        let turn = ahead.alignment.unwrap();
        assert_near(turn, Vec3::new(-half, 0.0, half) * 2.0, 1e-6);
        let far = forces(&RULES, &[(Vec3::new(3.5, 0.0, 0.0), Vec3::Z)]);
        assert_eq!(far.sum(), None);
        let behind = forces(&RULES, &[(Vec3::new(-0.09, 0.0, 0.0), Vec3::X)]);
        // Near enough at any angle.
        assert_eq!(behind.separation, Some(Vec3::new(3.0, 0.0, 0.0)));
    }

    #[test]
    fn separation_weighs_by_the_inverse_distance() {
        // The neighbor at 0.25 m on the right pushes with 4, the neighbor at 0.5 m on the left with 2. The sum is 2.
        let rules = FlockRules {
            separation: Neighborhood {
                full_force_length: 4.0,
                ..RULES.separation
            },
            ..RULES
        };
        let both = forces(
            &rules,
            &[
                (Vec3::new(0.0, 0.0, 0.25), Vec3::X),
                (Vec3::new(0.0, 0.0, -0.5), Vec3::X),
            ],
        );
        assert_eq!(both.separation, Some(Vec3::new(0.0, 0.0, -1.5)));
    }

    #[test]
    fn twenty_neighbors_in_lanes_add_up_like_one_by_one() {
        let others: Vec<(Vec3, Vec3)> = (1..=20)
            .map(|i| {
                let t = i as f32;
                let at = Vec3::new(
                    (t * 1.7).sin() * 2.0,
                    (t * 0.9).cos(),
                    (t * 2.3).sin() * 1.5,
                );
                (at, Vec3::new(t.cos(), 0.0, t.sin()))
            })
            .collect();
        let (mut in_separation, mut middle, mut count) = (Vec3::ZERO, Vec3::ZERO, 0.0);
        for (at, _) in &others {
            let (distance, cos) = (at.length(), at.x / at.length());
            if distance < 0.1 || (distance <= 1.0 && cos >= -0.7) {
                in_separation -= *at / at.length_squared();
            }
            if distance < 0.1 || (distance <= 3.0 && cos >= -0.15) {
                middle += *at;
                count += 1.0;
            }
        }
        let found = forces(&RULES, &others);
        assert_near(
            found.cohesion.unwrap(),
            (middle / count).normalize() * 5.0,
            1e-5,
        );
        assert_near(
            found.separation.unwrap_or_default(),
            in_separation.normalize_or_zero() * 3.0,
            1e-5,
        );
    }

    #[test]
    fn neighbors_at_the_same_position_never_give_nan() {
        let both = forces(
            &RULES,
            &[(Vec3::ZERO, Vec3::X), (Vec3::splat(1e-30), Vec3::X)],
        );
        assert!(both.sum().is_none_or(Vec3::is_finite));
    }
}
