//! Silhouette of a visitor on the floor, and the residual between silhouettes and foreground.

#[cfg(target_arch = "x86_64")]
mod simd;

use glam::Vec2;
#[cfg(target_arch = "x86_64")]
use pulp::x86::V3;

use crate::vision::foot::{Origin, clamp_to_length};

/// Half width of the legs, as a share of the height of the visitor.
///
/// **Source**: Drillis and Contini 1966: hips 0.096 and shoulders 0.129 to each side, at 0.53 and 0.82 of the height;
/// chin at 0.87. From the side, a trunk is two thirds as wide.
const LEGS_HALF_SHARE: f32 = 0.09;
/// Half width of trunk and arms, averaged over all directions, as a share of the height.
const TRUNK_HALF_SHARE: f32 = 0.115;
/// Height above the floor at which the trunk begins, as a share of the visitor's height.
const TRUNK_SHARE: f32 = 0.5;
/// Height of the center of the rounded upper end, which represents shoulders and head, as a share of the visitor's
/// height.
const END_SHARE: f32 = 0.87;
/// Step length while walking, as a share of the height.
///
/// **Source**: Perry 1992: the stride (two steps) of adults is 1.41 m at a height of 1.7 m.
const STEP_SHARE: f32 = 0.415;
/// Length of the rounded lower end of the trunk, as a multiple of the trunk's half width.
const ROUND_SHARE: f32 = 0.7;
/// Length over which a stripe widens from legs to trunk, in meters. A sudden change of the width would need a branch
/// per pixel.
const HIP_M: f32 = 0.02;
/// Half width of the soft border of a silhouette, in meters.
const SOFT_EDGE_M: f32 = 0.08;
/// Standard deviation of the tone of a shadow or of one body. A tone is a natural logarithm of brightness.
const TONE_SPREAD: f32 = 0.5;
/// A pixel whose cover by a stripe is above this value counts as part of that stripe.
const ON_STRIPE: f32 = 0.75;
/// Smallest area from which a tone is measured, in m².
const MIN_TONE_AREA_M2: f32 = 0.03;
/// Upper limit of the cover probability of a pixel.
const MAX_COVER: f32 = 0.95;

/// Sampled pixels. Each field has its own list, so that SIMD instructions process several pixels. The lists are padded
/// to whole blocks with pixels that have no area.
#[derive(Default)]
pub(super) struct Pixels {
    pub(super) x_m: Vec<f32>,
    pub(super) z_m: Vec<f32>,
    /// Floor area that each sampled pixel represents.
    pub(super) area_m2: Vec<f32>,
    /// Copy of the original `area_m2` while the area that a stride may cover is ignored; otherwise empty.
    saved_area_m2: Vec<f32>,
    /// 1 for foreground, 0 for background.
    pub(super) foreground: Vec<f32>,
    /// Tone: natural logarithm of the brightness relative to the floor.
    tone: Vec<f32>,
    /// 1 if the tone is valid, otherwise 0.
    is_tone_known: Vec<f32>,
    /// Likelihood of the tone under the assumption that only a shadow covers the pixel, from 0 to 1.
    shadow_likeness: Vec<f32>,
    /// Probability that no member covers the pixel. The member that is being fitted is not included.
    pub(super) uncovered: Vec<f32>,
    /// Probability that no bystander covers the pixel.
    uncovered_initially: Vec<f32>,
}

/// Number of pixels in a block.
const BLOCK: usize = 8;
/// Number of points along a stripe at which its area is integrated. At each of them, one block of points lies across the
/// stripe.
const AREA_ROWS: usize = 8;

impl Pixels {
    pub(super) fn clear(&mut self) {
        for list in [
            &mut self.x_m,
            &mut self.z_m,
            &mut self.area_m2,
            &mut self.saved_area_m2,
            &mut self.foreground,
            &mut self.tone,
            &mut self.is_tone_known,
            &mut self.shadow_likeness,
        ] {
            list.clear();
        }
    }

    /// Adds a pixel. `tone` is `None` if it cannot be measured; `shadow_tone` is the tone of shadows in this room.
    pub(super) fn push(
        &mut self,
        position_m: Vec2,
        area_m2: f32,
        foreground: bool,
        tone: Option<f32>,
        shadow_tone: Option<f32>,
    ) {
        self.x_m.push(position_m.x);
        self.z_m.push(position_m.y);
        self.area_m2.push(area_m2);
        self.foreground.push(f32::from(u8::from(foreground)));
        self.tone.push(tone.unwrap_or_default());
        self.is_tone_known.push(f32::from(u8::from(tone.is_some())));
        let brighter = match (tone, shadow_tone) {
            // A shadow explains any tone that is darker than the tone of shadows.
            (Some(tone), Some(shadow)) => (tone - shadow).max(0.0) / TONE_SPREAD,
            _ => 0.0,
        };
        self.shadow_likeness.push(1.0 / (1.0 + brighter * brighter));
    }

    /// Pads the lists to whole blocks and marks all pixels as uncovered.
    pub(super) fn pad(&mut self) {
        while !self.area_m2.len().is_multiple_of(BLOCK) {
            self.push(Vec2::ZERO, 0.0, false, None, None);
        }
        self.uncovered.clear();
        self.uncovered.resize(self.area_m2.len(), 1.0);
        self.save_cover();
    }

    /// Ignores the tones of all pixels from now on.
    pub(super) fn ignore_tones(&mut self) {
        self.is_tone_known.fill(0.0);
        self.shadow_likeness.fill(1.0);
    }

    /// Ignores all pixels that the legs of a walking visitor may cover, until `restore_stride_area`.
    pub(super) fn ignore_stride_area(&mut self, silhouette: &Silhouette) {
        self.saved_area_m2.clone_from(&self.area_m2);
        let positions = self.x_m.iter().zip(&self.z_m);
        for (area_m2, (&x_m, &z_m)) in self.area_m2.iter_mut().zip(positions) {
            if silhouette.stride_may_cover(Vec2::new(x_m, z_m)) {
                *area_m2 = 0.0;
            }
        }
    }

    /// Undoes `ignore_stride_area`.
    pub(super) fn restore_stride_area(&mut self) {
        if !self.saved_area_m2.is_empty() {
            std::mem::swap(&mut self.area_m2, &mut self.saved_area_m2);
            self.saved_area_m2.clear();
        }
    }

    /// Saves the current cover as the initial cover.
    pub(super) fn save_cover(&mut self) {
        self.uncovered_initially.clone_from(&self.uncovered);
    }

    /// Restores the initial cover, which contains no member.
    pub(super) fn reset_cover(&mut self) {
        self.uncovered.clone_from(&self.uncovered_initially);
    }

    #[inline(always)]
    fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        let (x_m, _) = self.x_m.as_chunks();
        let (z_m, _) = self.z_m.as_chunks();
        let (tone, _) = self.tone.as_chunks();
        let (is_tone_known, _) = self.is_tone_known.as_chunks();
        let (shadow_likeness, _) = self.shadow_likeness.as_chunks();
        let tones = tone.iter().zip(is_tone_known).zip(shadow_likeness);
        let positions = x_m.iter().zip(z_m).zip(tones);
        positions.map(
            #[inline(always)]
            |((x_m, z_m), ((tone, is_tone_known), shadow_likeness))| Block {
                x_m,
                z_m,
                tone,
                is_tone_known,
                shadow_likeness,
            },
        )
    }

    /// Adds the cover of one more member to the pixels.
    pub(super) fn add_cover(&mut self, silhouette: &Silhouette) {
        let mut uncovered = std::mem::take(&mut self.uncovered);
        self.multiply_cover(silhouette, &mut uncovered);
        self.uncovered = uncovered;
    }

    fn multiply_cover(&self, silhouette: &Silhouette, uncovered: &mut [f32]) {
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = V3::try_new() {
            return simd::cover(simd, self, silhouette, uncovered);
        }
        self.portable_cover(silhouette, uncovered);
    }

    fn portable_cover(&self, silhouette: &Silhouette, uncovered: &mut [f32]) {
        let (uncovered, _) = uncovered.as_chunks_mut::<BLOCK>();
        for (uncovered, at) in uncovered.iter_mut().zip(self.blocks()) {
            let cover = silhouette.cover_probability(&at);
            for i in 0..BLOCK {
                uncovered[i] *= 1.0 - cover[i];
            }
        }
    }

    /// Returns the tones of the shadow and of the body, measured from pixels that only this stripe and no other member
    /// covers. A tone is `None` if the area of these pixels is too small.
    pub(super) fn tones(&self, silhouette: &Silhouette) -> [Option<f32>; 2] {
        let (area_m2, _) = self.area_m2.as_chunks::<BLOCK>();
        let (uncovered, _) = self.uncovered.as_chunks::<BLOCK>();
        let mut sums = [(0.0, 0.0); 2];
        for ((area_m2, uncovered), pixels) in area_m2.iter().zip(uncovered).zip(self.blocks()) {
            let on = [0, 1].map(|n| silhouette.stripe_cover(&silhouette.stripes[n], &pixels));
            for i in 0..BLOCK {
                if pixels.is_tone_known[i] == 0.0 || uncovered[i] < ON_STRIPE {
                    continue;
                }
                for (stripe, sum) in sums.iter_mut().enumerate() {
                    if on[stripe][i] > ON_STRIPE && on[1 - stripe][i] < 1.0 - ON_STRIPE {
                        sum.0 += area_m2[i];
                        sum.1 += area_m2[i] * pixels.tone[i];
                    }
                }
            }
        }
        sums.map(|(area_m2, sum)| (area_m2 > MIN_TONE_AREA_M2).then(|| sum / area_m2))
    }

    /// Returns the residual area in m²: each pixel's area times the squared difference between its foreground value and
    /// its cover by all members plus `silhouette`.
    pub(super) fn residual_m2(&self, silhouette: Option<&Silhouette>) -> f32 {
        #[cfg(target_arch = "x86_64")]
        if let (Some(simd), Some(silhouette)) = (V3::try_new(), silhouette) {
            return simd::residual_m2(simd, self, silhouette);
        }
        self.portable_residual_m2(silhouette)
    }

    fn portable_residual_m2(&self, silhouette: Option<&Silhouette>) -> f32 {
        let (area_m2, _) = self.area_m2.as_chunks::<BLOCK>();
        let (foreground, _) = self.foreground.as_chunks::<BLOCK>();
        let (uncovered, _) = self.uncovered.as_chunks::<BLOCK>();
        let mut sums = [0.0; BLOCK];
        for (((area_m2, foreground), uncovered), at) in area_m2
            .iter()
            .zip(foreground)
            .zip(uncovered)
            .zip(self.blocks())
        {
            let mut cover = [0.0; BLOCK];
            if let Some(silhouette) = silhouette {
                cover = silhouette.cover_probability(&at);
            }
            for i in 0..BLOCK {
                let residual = foreground[i] - 1.0 + uncovered[i] * (1.0 - cover[i]);
                sums[i] += area_m2[i] * residual * residual;
            }
        }
        sums.iter().sum()
    }
}

/// A block of pixels for SIMD instructions.
struct Block<'a> {
    x_m: &'a [f32; BLOCK],
    z_m: &'a [f32; BLOCK],
    tone: &'a [f32; BLOCK],
    is_tone_known: &'a [f32; BLOCK],
    shadow_likeness: &'a [f32; BLOCK],
}

/// Silhouette of one visitor: the two stripes of floor that this visitor covers.
pub(super) struct Silhouette {
    foot_m: Vec2,
    /// Shadow stripe (from the lamp) and body stripe (from the camera). Both are equal if only the lamp or only the
    /// camera is known.
    stripes: [Stripe; 2],
    /// Largest distance of a foot from the midpoint between both feet while walking, in meters.
    step_m: f32,
}

/// Kind of a stripe, which determines its expected tone.
#[derive(Clone, Copy, Default)]
enum Tone {
    #[default]
    Shadow,
    /// Floor hidden by the body, with the tone of the body, or `None` if unknown.
    Body(Option<f32>),
}

#[derive(Clone, Copy, Default)]
struct Stripe {
    direction: Vec2,
    length_m: f32,
    /// Distance between the foot point and the end of the legs along the stripe, in meters.
    hips_m: f32,
    /// Distance between the foot point and the start of the trunk along the stripe, in meters.
    trunk_start_m: f32,
    /// Half width of the legs.
    legs_half_width_m: f32,
    /// Difference between the half widths of trunk and legs.
    trunk_extra_m: f32,
    /// Relative widening of the stripe per meter.
    widening_per_m: f32,
    tone: Tone,
}

impl Silhouette {
    /// Creates the silhouette of a visitor at `foot_m`. `body_tone` is `None` if it is unknown.
    pub(super) fn new(
        foot_m: Vec2,
        height_m: f32,
        body_tone: Option<f32>,
        origins: &[Option<Origin>; 2],
    ) -> Self {
        let [lamp, camera] = *origins;
        let origins = [(lamp, Tone::Shadow), (camera, Tone::Body(body_tone))];
        let stripes = origins.map(|(origin, tone)| {
            origin.map(|origin| {
                let away = foot_m - origin.below_m;
                let far_m = away.length();
                let reach_m = |up_m: f32| far_m * up_m / (origin.height_m - up_m).max(0.3);
                let trunk_half_m = TRUNK_HALF_SHARE * height_m;
                let hips_m = reach_m(TRUNK_SHARE * height_m);
                Stripe {
                    direction: away.normalize_or_zero(),
                    length_m: reach_m(END_SHARE * height_m),
                    legs_half_width_m: LEGS_HALF_SHARE * height_m,
                    trunk_extra_m: trunk_half_m - LEGS_HALF_SHARE * height_m,
                    hips_m,
                    trunk_start_m: hips_m - ROUND_SHARE * trunk_half_m,
                    widening_per_m: 1.0 / far_m.max(0.1),
                    tone,
                }
            })
        });
        let known = stripes[0].or(stripes[1]).unwrap_or_default();
        Self {
            foot_m,
            stripes: stripes.map(|stripe| stripe.unwrap_or(known)),
            step_m: 0.5 * STEP_SHARE * height_m,
        }
    }

    /// Returns whether the silhouette covers a point with a probability above 0.5.
    pub(super) fn covers(&self, position_m: Vec2) -> bool {
        let block = Block {
            x_m: &[position_m.x; BLOCK],
            z_m: &[position_m.y; BLOCK],
            tone: &[0.0; BLOCK],
            is_tone_known: &[0.0; BLOCK],
            shadow_likeness: &[1.0; BLOCK],
        };
        self.cover_probability(&block)[0] > 0.5
    }

    /// Returns whether a leg of the walking visitor may cover a point.
    fn stride_may_cover(&self, position_m: Vec2) -> bool {
        let from_foot_m = position_m - self.foot_m;
        self.stripes.iter().any(|stripe| {
            let t = clamp_to_length(from_foot_m.dot(stripe.direction), stripe.hips_m);
            let off_m = from_foot_m.distance(t * stripe.direction);
            off_m < self.step_m + stripe.legs_half_width_m * (1.0 + t * stripe.widening_per_m)
        })
    }

    /// Returns the area of the covered floor points for which `is_observable` returns true, in m².
    pub(super) fn area_m2(&self, is_observable: impl Fn(Vec2) -> bool) -> f32 {
        let mut sum_m2 = 0.0;
        for (number, stripe) in self.stripes.iter().enumerate() {
            let widest_m = stripe.legs_half_width_m + stripe.trunk_extra_m;
            let half_m = widest_m * (1.0 + stripe.length_m * stripe.widening_per_m) + SOFT_EDGE_M;
            let along_m = (stripe.length_m + 2.0 * half_m) / AREA_ROWS as f32;
            let across_m = 2.0 * half_m / BLOCK as f32;
            let mut covered = 0.0;
            for step in 0..AREA_ROWS {
                let ahead_m = (step as f32 + 0.5) * along_m - half_m;
                let aside_m = |i: usize| (i as f32 + 0.5) * across_m - half_m;
                let points = std::array::from_fn(|i| {
                    self.foot_m + ahead_m * stripe.direction + aside_m(i) * stripe.direction.perp()
                });
                let pixels = Block {
                    x_m: &points.map(|p| p.x),
                    z_m: &points.map(|p| p.y),
                    tone: &[0.0; BLOCK],
                    is_tone_known: &[0.0; BLOCK],
                    shadow_likeness: &[1.0; BLOCK],
                };
                let on = self.stripe_cover(stripe, &pixels);
                // The overlap of both stripes is counted only for the first stripe.
                let before = match number {
                    0 => [0.0; BLOCK],
                    _ => self.stripe_cover(&self.stripes[0], &pixels),
                };
                for i in 0..BLOCK {
                    let more = on[i].clamp(0.0, MAX_COVER) - before[i].clamp(0.0, MAX_COVER);
                    if more > 0.0 && is_observable(points[i]) {
                        covered += more;
                    }
                }
            }
            sum_m2 += covered * along_m * across_m;
        }
        sum_m2
    }

    /// Returns the probability that the silhouette covers each pixel, from 0 to [`MAX_COVER`]. It is high if the pixel
    /// is on a stripe and has the tone of that stripe.
    fn cover_probability(&self, pixels: &Block<'_>) -> [f32; BLOCK] {
        let mut cover = [0.0_f32; BLOCK];
        for stripe in &self.stripes {
            let on = self.stripe_cover(stripe, pixels);
            let mut like = [1.0; BLOCK];
            match stripe.tone {
                Tone::Shadow => like = *pixels.shadow_likeness,
                Tone::Body(None) => {}
                Tone::Body(Some(tone)) => {
                    for (i, like) in like.iter_mut().enumerate() {
                        let off = pixels.is_tone_known[i] * (pixels.tone[i] - tone) / TONE_SPREAD;
                        *like = 1.0 / (1.0 + off * off);
                    }
                }
            }
            for i in 0..BLOCK {
                let likely = on[i] * like[i];
                let more = if likely > cover[i] { likely } else { cover[i] };
                cover[i] = if more < MAX_COVER { more } else { MAX_COVER };
            }
        }
        cover
    }

    /// Returns how much a stripe covers each pixel, not clamped to 0..1: at least 1 inside, at most 0 outside, linear across the soft
    /// border.
    fn stripe_cover(&self, stripe: &Stripe, pixels: &Block<'_>) -> [f32; BLOCK] {
        let mut on = [0.0_f32; BLOCK];
        for (i, on) in on.iter_mut().enumerate() {
            let (x, z) = (pixels.x_m[i] - self.foot_m.x, pixels.z_m[i] - self.foot_m.y);
            let t = clamp_to_length(
                x * stripe.direction.x + z * stripe.direction.y,
                stripe.length_m,
            );
            let (dx, dz) = (x - stripe.direction.x * t, z - stripe.direction.y * t);
            let trunk = ((t - stripe.trunk_start_m) * (1.0 / HIP_M)).clamp(0.0, 1.0);
            let half = (stripe.legs_half_width_m + trunk * stripe.trunk_extra_m)
                * (1.0 + t * stripe.widening_per_m);
            let inside = half + SOFT_EDGE_M - (dx * dx + dz * dz).sqrt();
            *on = inside * (0.5 / SOFT_EDGE_M);
        }
        on
    }
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;
    use crate::vision::TrackingParams;
    use crate::vision::foot::FootFinder;

    #[test]
    fn simd_and_portable_code_give_identical_results() {
        let (lamp, camera) = (Vec3::new(-0.5, 4.5, -1.0), Vec3::new(1.0, 5.0, 0.3));
        let both = FootFinder::new(Some(lamp), Some(camera), &TrackingParams::default());
        let [lamp, camera] = both.lamp_and_camera();
        let mut pixels = Pixels::default();
        for i in 0..400_usize {
            let position_m = Vec2::new(0.11 * (i % 20) as f32, 0.13 * (i / 20) as f32);
            let tone = (i % 3 > 0).then(|| -0.05 * (i % 50) as f32);
            pixels.push(
                position_m,
                0.01 + 1e-5 * i as f32,
                i % 7 < 3,
                tone,
                Some(-1.8),
            );
        }
        pixels.pad();
        for origins in [[lamp, camera], [lamp, None], [None, camera]] {
            for body_tone in [None, Some(-1.1)] {
                let silhouette = Silhouette::new(Vec2::new(0.9, 1.2), 1.7, body_tone, &origins);
                let residual_m2 = pixels.residual_m2(Some(&silhouette));
                assert_eq!(residual_m2, pixels.portable_residual_m2(Some(&silhouette)));
                assert_ne!(residual_m2, pixels.residual_m2(None));
                let mut uncovered = pixels.uncovered.clone();
                pixels.portable_cover(&silhouette, &mut uncovered);
                pixels.add_cover(&silhouette);
                assert_eq!(pixels.uncovered, uncovered);
                assert!(uncovered.iter().any(|uncovered| *uncovered < 0.1));
                pixels.reset_cover();
            }
        }
    }
}
