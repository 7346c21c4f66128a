//! Estimates the foot point of a visitor from the shape of a blob.
//!
//! A visitor at floor point `p` covers two stripes of floor in the image. The shadow stripe extends from `p` away from
//! the lamp. The body stripe (the floor that the body hides from the camera) extends from `p` away from the camera.
//! However the legs move, the shadow of trunk and head lies on the ray that starts at the floor point below the lamp
//! and goes through `p`. For the body stripe, the ray starts below the camera. The foot point is therefore where the
//! axes of both stripes cross, even if the image border cuts a stripe off. If the axes are nearly parallel, their
//! crossing is uncertain in the direction of the axes. In that direction, the near ends and the centroids of the
//! stripes give the position. All measurements are combined as information (inverse covariance), so that uncertain
//! directions remain uncertain.
//!
//! **Source**: after Jockel 2005, §4.2.3; the estimator itself is new.

use glam::{Mat2, Vec2, Vec3};
use pulp::{Arch, Simd, WithSimd};

use super::TrackingParams;
use super::blobs::Sample;
use super::kalman::Measurement;

/// Half width of a visitor in meters, used to decide which points belong to a stripe.
const HALF_WIDTH_M: f32 = 0.17;
/// Factor x of the likelihood exp(−x · d²) that a point at distance d from the axis belongs to a stripe, in 1/m².
const FALLOFF_PER_M2: f32 = 0.5 / (HALF_WIDTH_M * HALF_WIDTH_M);
/// Distance from the axis of a stripe, in half widths, at which a point belongs to this visitor or to another one with
/// equal likelihood.
const OUTLIER_WIDTHS: f32 = 3.0;
/// Points with a likelihood below this do not contribute to a stripe.
const MIN_LIKELIHOOD: f32 = 0.002;
/// Radius around the foot point, in meters, within which swinging legs make the axis unreliable.
const LEGS_M: f32 = 0.25;
/// Area of a stripe along its axis, in m², from which the axis gets its full weight.
const AXIS_AREA_M2: f32 = 0.05;
/// Standard deviation of an axis position, as a multiple of `foot_spread_m`.
const AXIS_SPREAD: f32 = 0.7;
/// Standard deviation of the near end of a stripe, as a multiple of `foot_spread_m`.
const END_SPREAD: f32 = 2.0;
/// Smallest likelihood share with which a point must belong to this visitor to count as the near end of a stripe.
const NEAR_END_SHARE: f32 = 0.2;
/// Typical height of a visitor, as a share of `tallest_m`.
pub(super) const TYPICAL_HEIGHT_SHARE: f32 = 0.75;
/// Standard deviation of a foot distance derived from a stripe's centroid, as a share of that distance. It reflects the
/// unknown height.
const CENTROID_DOUBT: f32 = 0.15;
/// Additional standard deviation if both stripes overlap, as a share of the overlapping length.
const OVERLAP_DOUBT: f32 = 0.3;
/// Distance in meters from the point below lamp or camera. Within this distance the shadow of the trunk covers the
/// legs, so that a stripe has no near end of its own.
const NEAR_ORIGIN_M: f32 = 0.7;
/// Area in m² at which the covariance of the foot point is doubled, because only a part of so small a shadow is
/// visible.
const SMALL_AREA_M2: f32 = 0.05;
/// The iteration ends when the foot point moves less than this, in meters.
const CONVERGED_M: f32 = 0.002;
/// Upper limit for the number of iterations.
const MAX_ITERATIONS: usize = 5;
/// Smallest height of lamp and camera above the tallest visitor, in meters. A lower lamp or camera would give shadows
/// of infinite length.
const MIN_CLEARANCE_M: f32 = 0.3;

/// Point above the floor from which stripes extend: the lamp or the camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Origin {
    /// Floor point vertically below the origin.
    pub(super) below_m: Vec2,
    /// Height of the origin above the floor, in meters.
    pub(super) height_m: f32,
    /// Upper limit for the length of a stripe, as a multiple of the distance between foot point and `below_m`.
    reach_factor: f32,
    /// Distance of the centroid of a typical visitor's stripe from `below_m`, as a multiple of the distance between the
    /// foot point and `below_m`.
    centroid_factor: f32,
}

impl Origin {
    fn new(position_m: Vec3, tallest_m: f32) -> Self {
        let clearance = (position_m.y - tallest_m).max(MIN_CLEARANCE_M);
        let typical_m = TYPICAL_HEIGHT_SHARE * tallest_m;
        let end = 1.0 + typical_m / (position_m.y - typical_m).max(MIN_CLEARANCE_M);
        Self {
            below_m: Vec2::new(position_m.x, position_m.z),
            height_m: position_m.y,
            reach_factor: tallest_m / clearance,
            // This is the centroid of a stripe that becomes wider with distance. It extends from 1 to `end` times the
            // distance of the foot point.
            centroid_factor: 2.0 / 3.0 * (end * end * end - 1.0) / (end * end - 1.0),
        }
    }

    /// Returns the direction and the largest length of the stripe that starts at a foot point.
    fn stripe(&self, foot_m: Vec2) -> (Vec2, f32) {
        let away = foot_m - self.below_m;
        (away.normalize_or_zero(), away.length() * self.reach_factor)
    }

    /// Returns the squared distance of a point from the stripe that starts at `foot_m`.
    fn square_distance(&self, foot_m: Vec2, point_m: Vec2) -> f32 {
        let (along, length) = self.stripe(foot_m);
        let offset = point_m - foot_m;
        let t = clamp_to_length(offset.dot(along), length);
        (offset - along * t).length_squared()
    }
}

/// Estimates foot points for given positions of lamp and camera.
#[derive(Clone, Debug)]
pub(super) struct FootFinder {
    lamp: Option<Origin>,
    camera: Option<Origin>,
    spread_m: f32,
    inset_m: f32,
}

impl FootFinder {
    pub(super) fn new(
        lamp_m: Option<Vec3>,
        camera_m: Option<Vec3>,
        params: &TrackingParams,
    ) -> Self {
        let origin = |position: Vec3| Origin::new(position, params.tallest_m);
        Self {
            lamp: lamp_m.map(origin),
            // The body stripe alone is not enough to determine the foot point.
            camera: camera_m.filter(|_| lamp_m.is_some()).map(origin),
            spread_m: params.foot_spread_m,
            inset_m: params.foot_inset_m,
        }
    }

    /// Returns whether foot points can be estimated. Without a lamp position, the centroid is used instead.
    pub(super) fn can_locate_feet(&self) -> bool {
        self.lamp.is_some()
    }

    /// Returns whether a point belongs to the shadow or body of a visitor at `foot_m`.
    pub(super) fn explains(&self, foot_m: Vec2, point_m: Vec2) -> bool {
        let near = (2.0 * HALF_WIDTH_M) * (2.0 * HALF_WIDTH_M);
        self.origins()
            .any(|o| o.square_distance(foot_m, point_m) < near)
    }

    /// Returns an initial guess of the foot point: the sample of a blob that is farthest towards lamp and camera.
    pub(super) fn guess(&self, samples: &[Sample], centroid_m: Vec2) -> Vec2 {
        let towards: Vec2 = self
            .origins()
            .map(|o| (o.below_m - centroid_m).normalize_or_zero())
            .sum();
        if !self.can_locate_feet() || towards == Vec2::ZERO {
            return centroid_m;
        }
        samples
            .iter()
            .filter(|s| s.area_m2 > 0.0)
            .map(|s| s.position_m)
            .max_by(|a, b| a.dot(towards).total_cmp(&b.dot(towards)))
            .unwrap_or(centroid_m)
    }

    /// Estimates the foot point near `guess_m` of the visitor who covers the samples.
    pub(super) fn measure(
        &self,
        samples: impl Iterator<Item = Sample> + Clone,
        centroid_m: Vec2,
        guess_m: Vec2,
    ) -> Measurement {
        let isotropic = Mat2::from_diagonal(Vec2::splat(self.spread_m * self.spread_m));
        if !self.can_locate_feet() {
            return Measurement {
                position_m: centroid_m,
                covariance_m2: isotropic,
            };
        }
        let mut position_m = guess_m;
        let mut information = Mat2::IDENTITY;
        for _ in 0..MAX_ITERATIONS {
            let stripes = self.collect_stripes(samples.clone(), position_m);
            let (sum, weighted) = stripes.solve(guess_m);
            if sum.determinant().abs() < 1e-9 {
                break;
            }
            let before_m = position_m;
            position_m = sum.inverse() * weighted;
            information = sum;
            if position_m.distance(before_m) < CONVERGED_M {
                break;
            }
        }
        let area_m2: f32 = samples.map(|s| s.area_m2).sum();
        let doubt = 1.0 + SMALL_AREA_M2 / area_m2.max(1e-4);
        Measurement {
            position_m,
            covariance_m2: (information.inverse() + isotropic * 0.25) * doubt,
        }
    }

    /// Returns the origins of the shadow stripe (lamp) and of the body stripe (camera).
    pub(super) fn lamp_and_camera(&self) -> [Option<Origin>; 2] {
        [self.lamp, self.camera]
    }

    fn origins(&self) -> impl Iterator<Item = Origin> + Clone {
        self.lamp.into_iter().chain(self.camera)
    }

    /// Computes the sums of both stripes over all samples, for an assumed foot point.
    fn collect_stripes(
        &self,
        samples: impl Iterator<Item = Sample>,
        position_m: Vec2,
    ) -> StripePair {
        let mut stripes = [self.lamp, self.camera].map(|origin| {
            origin.map(|origin| {
                let (along, length) = origin.stripe(position_m);
                StripeSums {
                    origin,
                    position_m,
                    along,
                    length: length + 2.0 * HALF_WIDTH_M,
                    axis_information: Mat2::ZERO,
                    axis_vector: Vec2::ZERO,
                    axis_weight: 0.0,
                    area_m2_sum: 0.0,
                    distance_moment: 0.0,
                    exclusive_area: 0.0,
                    near_end: f32::INFINITY,
                }
            })
        });
        Arch::new().dispatch(AddSamples {
            stripes: &mut stripes,
            samples,
        });
        StripePair {
            stripes,
            axis_spread_m: AXIS_SPREAD * self.spread_m,
            end_spread_m: END_SPREAD * self.spread_m,
            inset_m: self.inset_m,
        }
    }
}

/// Returns an approximation of exp(−`x`) for `x` ≥ 0 that is much faster than the exact function.
#[inline(always)]
fn falloff(x: f32) -> f32 {
    let mut power = 1.0 - x / 32.0;
    // The comparison is false for NaN, so NaN becomes 0.
    power = if power > 0.0 { power } else { 0.0 };
    for _ in 0..5 {
        power *= power;
    }
    power
}

/// Limits `t` to 0 … `length`. Unlike `clamp`, it does not panic for NaN.
#[inline(always)]
pub(super) fn clamp_to_length(t: f32, length: f32) -> f32 {
    let t = if t < length { t } else { length };
    if t > 0.0 { t } else { 0.0 }
}

/// Number of samples in a `Block`.
const LANES: usize = 8;

/// A block of samples with separate coordinates, so that SIMD instructions process several samples.
struct Block {
    x_m: [f32; LANES],
    z_m: [f32; LANES],
    area_m2: [f32; LANES],
}

impl Block {
    /// Returns the next block, padded with samples without area, or `None` if no samples are left.
    #[inline(always)]
    fn next(samples: &mut impl Iterator<Item = Sample>) -> Option<Self> {
        let mut block = Self {
            x_m: [0.0; LANES],
            z_m: [0.0; LANES],
            area_m2: [0.0; LANES],
        };
        let mut count = 0;
        for sample in samples.by_ref().take(LANES) {
            block.x_m[count] = sample.position_m.x;
            block.z_m[count] = sample.position_m.y;
            block.area_m2[count] = sample.area_m2;
            count += 1;
        }
        // The padding is far from every stripe.
        block.x_m[count..].fill(1e9);
        (count > 0).then_some(block)
    }
}

/// Sums over the samples of one stripe.
#[derive(Clone, Copy, Debug)]
struct StripeSums {
    origin: Origin,
    position_m: Vec2,
    along: Vec2,
    length: f32,
    /// Information matrix of the axis. It constrains the foot point only perpendicular to the axis.
    axis_information: Mat2,
    /// Information vector of the axis: information matrix times position.
    axis_vector: Vec2,
    /// Sum of the weights of the samples along the axis.
    axis_weight: f32,
    /// Area of the stripe, in m².
    area_m2_sum: f32,
    /// Sum of area times distance from the origin along the axis.
    distance_moment: f32,
    /// Area of the stripe, reduced at points that could also belong to the other stripe, in m².
    exclusive_area: f32,
    /// Distance along the axis, in meters, from the floor point below the origin to the nearest point of the stripe.
    near_end: f32,
}

impl StripeSums {
    /// Returns the likelihood that each sample of a block belongs to the stripe.
    #[inline(always)]
    fn likelihood(&self, block: &Block) -> [f32; LANES] {
        let mut likelihood = [0.0; LANES];
        for (i, likelihood) in likelihood.iter_mut().enumerate() {
            let (x, z) = (
                block.x_m[i] - self.position_m.x,
                block.z_m[i] - self.position_m.y,
            );
            let t = clamp_to_length(x * self.along.x + z * self.along.y, self.length);
            let (x, z) = (x - self.along.x * t, z - self.along.y * t);
            *likelihood = falloff(FALLOFF_PER_M2 * (x * x + z * z));
        }
        likelihood
    }

    /// Adds a block of samples. `likelihood` and `other` are the likelihoods for this stripe and for the other stripe;
    /// `total` is the sum over both stripes and outliers.
    #[inline(always)]
    fn add_block(
        &mut self,
        block: &Block,
        likelihood: &[f32; LANES],
        other: &[f32; LANES],
        total: &[f32; LANES],
    ) {
        let (below, along) = (self.origin.below_m, self.along);
        // Terms of the sums for every sample, in the order of the additions below.
        let mut terms = [[0.0; LANES]; 9];
        let mut ends = [f32::INFINITY; LANES];
        for i in 0..LANES {
            let is_taken = likelihood[i] > MIN_LIKELIHOOD;
            let share = likelihood[i] / total[i];
            let (x, z) = (block.x_m[i] - below.x, block.z_m[i] - below.y);
            let distance = x * along.x + z * along.y;
            // The point belongs to this stripe at least as likely as to the other one. Around the foot point, both are
            // equally likely.
            let is_nearest = likelihood[i] >= other[i];
            if is_taken & is_nearest & (share > NEAR_END_SHARE) {
                ends[i] = distance;
            }
            let area = share * block.area_m2[i];
            let exclusive_area = share * share * block.area_m2[i];
            let (off_x, off_z) = (
                block.x_m[i] - self.position_m.x,
                block.z_m[i] - self.position_m.y,
            );
            let beyond_legs = off_x * along.x + off_z * along.y - LEGS_M;
            // Each point states that the foot point is on the line between that point and `below_m`. Distant points
            // state this more precisely.
            let part = beyond_legs / LEGS_M;
            let weight = exclusive_area * if part < 1.0 { part } else { 1.0 };
            let per_m = 1.0 / (x * x + z * z).sqrt();
            let per_m = if per_m > 0.0 && per_m < f32::INFINITY {
                per_m
            } else {
                0.0
            };
            let line = Vec2::new(-(z * per_m), x * per_m);
            let off = weight * (line.x * below.x + line.y * below.y);
            let is_axis = is_taken & (beyond_legs > 0.0);
            let values = [
                (is_taken, area),
                (is_taken, area * distance),
                (is_taken, exclusive_area),
                (is_axis, line.x * line.x * weight),
                (is_axis, line.y * line.x * weight),
                (is_axis, line.y * line.y * weight),
                (is_axis, line.x * off),
                (is_axis, line.y * off),
                (is_axis, weight),
            ];
            for (terms, (is_counted, value)) in terms.iter_mut().zip(values) {
                terms[i] = if is_counted { value } else { 0.0 };
            }
        }
        // Scalar addition, so that the sums do not depend on the width of the SIMD registers.
        for i in 0..LANES {
            self.near_end = self.near_end.min(ends[i]);
            self.area_m2_sum += terms[0][i];
            self.distance_moment += terms[1][i];
            self.exclusive_area += terms[2][i];
            self.axis_information +=
                Mat2::from_cols_array(&[terms[3][i], terms[4][i], terms[4][i], terms[5][i]]);
            self.axis_vector += Vec2::new(terms[6][i], terms[7][i]);
            self.axis_weight += terms[8][i];
        }
    }
}

/// Adds samples to the sums of both stripes with the widest SIMD instructions of this machine. Every function called
/// from `with_simd` must be inlined.
struct AddSamples<'a, I> {
    stripes: &'a mut [Option<StripeSums>; 2],
    samples: I,
}

impl<I: Iterator<Item = Sample>> WithSimd for AddSamples<'_, I> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) {
        let outlier = falloff(FALLOFF_PER_M2 * (OUTLIER_WIDTHS * HALF_WIDTH_M).powi(2));
        while let Some(block) = Block::next(&mut self.samples) {
            let mut total = [outlier; LANES];
            let mut likelihood = [[0.0; LANES]; 2];
            for (likelihood, stripe) in likelihood.iter_mut().zip(self.stripes.iter()) {
                if let Some(stripe) = stripe {
                    *likelihood = stripe.likelihood(&block);
                    for i in 0..LANES {
                        total[i] += likelihood[i];
                    }
                }
            }
            for (number, stripe) in self.stripes.iter_mut().enumerate() {
                if let Some(stripe) = stripe {
                    stripe.add_block(&block, &likelihood[number], &likelihood[1 - number], &total);
                }
            }
        }
    }
}

/// Sums of both stripes, and the assumed precision of each kind of measurement.
struct StripePair {
    stripes: [Option<StripeSums>; 2],
    axis_spread_m: f32,
    end_spread_m: f32,
    inset_m: f32,
}

impl StripePair {
    /// Returns the information matrix and the information vector of the foot point. A weak term at `guess_m` keeps the
    /// matrix invertible.
    fn solve(&self, guess_m: Vec2) -> (Mat2, Vec2) {
        let faint = 0.05 / (self.end_spread_m * self.end_spread_m);
        let mut sum = Mat2::from_diagonal(Vec2::splat(faint));
        let mut weighted = guess_m * faint;
        let [shadow, body] = &self.stripes;
        let aligned = match (shadow, body) {
            (Some(shadow), Some(body)) => shadow.along.dot(body.along).max(0.0),
            _ => 0.0,
        };
        for stripe in self.stripes.iter().flatten() {
            if stripe.axis_weight > 0.0 {
                let trust = (stripe.axis_weight / AXIS_AREA_M2).min(1.0);
                let scale = trust / (stripe.axis_weight * self.axis_spread_m * self.axis_spread_m);
                sum += stripe.axis_information * scale;
                weighted += stripe.axis_vector * scale;
            }
            let along = stripe.along;
            let outer = Mat2::from_cols(along * along.x, along * along.y);
            let start = stripe.origin.below_m.dot(along);
            let far_m = stripe.position_m.distance(stripe.origin.below_m).max(0.05);
            if stripe.near_end.is_finite() {
                let covered = 1.0 + (NEAR_ORIGIN_M / far_m).powi(4);
                let information = 1.0 / (self.end_spread_m * self.end_spread_m * covered);
                sum += outer * information;
                weighted += along * (information * (start + stripe.near_end + self.inset_m));
            }
            if stripe.area_m2_sum > 0.0 {
                // The centroid of a short stripe gives the foot point. For a long stripe, the unknown height of the
                // visitor adds uncertainty. Points that could belong to the other stripe add more.
                let shared_m =
                    aligned * (1.0 - stripe.exclusive_area / stripe.area_m2_sum) * stripe.length;
                let doubt = (self.axis_spread_m)
                    .hypot(CENTROID_DOUBT * far_m)
                    .hypot(OVERLAP_DOUBT * shared_m);
                let information = 1.0 / (doubt * doubt);
                let centroid_m =
                    stripe.distance_moment / stripe.area_m2_sum / stripe.origin.centroid_factor;
                sum += outer * information;
                weighted += along * (information * (start + centroid_m));
            }
        }
        (sum, weighted)
    }
}

#[cfg(test)]
mod tests;
