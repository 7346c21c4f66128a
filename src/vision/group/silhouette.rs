//! What somebody covers of the floor, and how well that explains what is dark.

#[cfg(target_arch = "x86_64")]
mod simd;

use glam::Vec2;
#[cfg(target_arch = "x86_64")]
use pulp::x86::V3;

use crate::vision::foot::{Origin, clamp_to_length};

/// Half widths of somebody's legs, and of trunk and arms seen from any side; where the trunk begins, and where the middle of
/// its round upper end is, which stands for shoulders and head: as shares of the height.
///
/// **Source**: Drillis, Contini 1966, "Body segment parameters": hips 0.096 and shoulders 0.129 to either side, at 0.53 and
/// 0.82 of the height, the chin at 0.87; from the side a trunk is two thirds as wide.
const LEGS_HALF_SHARE: f32 = 0.09;
const TRUNK_HALF_SHARE: f32 = 0.115;
const TRUNK_SHARE: f32 = 0.5;
const END_SHARE: f32 = 0.87;
/// From one foot to the other as somebody walks, as a share of the height.
///
/// **Source**: Perry 1992, "Gait analysis": two steps of adults are 1.41 m; they are 1.7 m tall.
const STEP_SHARE: f32 = 0.415;
/// The trunk's lower end is round as well, and reaches so many half widths farther down.
const ROUND_SHARE: f32 = 0.7;
/// From legs to trunk a stripe becomes wider over so much of its length: a step would take a branch for every pixel.
const HIP_M: f32 = 0.02;
/// Half width of the soft edge around.
const SOFT_EDGE_M: f32 = 0.08;
/// Spread of how bright a shadow, and one and the same body, is beside the floor: by so much of a factor e.
const TONE_SPREAD: f32 = 0.5;
/// More than this is on a stripe alone; and so much of it tells how bright it is.
const ON_STRIPE: f32 = 0.75;
const MIN_TONE_AREA_M2: f32 = 0.03;
/// No pixel is believed more than this.
const MAX_COVER: f32 = 0.95;

/// Pixels that are looked at, every value of theirs in a list of its own so that many are compared by one instruction.
/// Lists are filled up to whole blocks with pixels without area.
#[derive(Default)]
pub(super) struct Pixels {
    pub(super) x_m: Vec<f32>,
    pub(super) z_m: Vec<f32>,
    pub(super) area_m2: Vec<f32>,
    /// The same while legs are looked past; else empty.
    saved_area_m2: Vec<f32>,
    pub(super) foreground: Vec<f32>,
    /// Brightness beside the floor's, as a logarithm, and whether it tells anything (1 or 0).
    tone: Vec<f32>,
    is_tone_known: Vec<f32>,
    /// How likely it is as bright as it is where there is nothing but shadow: 1 or less.
    shadow_likeness: Vec<f32>,
    /// Probability that nobody covers it, by all members but the one that is moved.
    pub(super) uncovered: Vec<f32>,
    /// The same by nobody of the group, but by those who stand by.
    uncovered_initially: Vec<f32>,
}

const BLOCK: usize = 8;
/// A stripe's area is told from so many rows of a block each.
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

    /// One more pixel; `tone` is `None` where its brightness tells nothing, `shadow_tone` that of all shadows.
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
            // A shadow explains whatever is darker.
            (Some(tone), Some(shadow)) => (tone - shadow).max(0.0) / TONE_SPREAD,
            _ => 0.0,
        };
        self.shadow_likeness.push(1.0 / (1.0 + brighter * brighter));
    }

    pub(super) fn pad(&mut self) {
        while !self.area_m2.len().is_multiple_of(BLOCK) {
            self.push(Vec2::ZERO, 0.0, false, None, None);
        }
        self.uncovered.clear();
        self.uncovered.resize(self.area_m2.len(), 1.0);
        self.save_cover();
    }

    /// From now on no pixel's brightness tells anything.
    pub(super) fn ignore_tones(&mut self) {
        self.is_tone_known.fill(0.0);
        self.shadow_likeness.fill(1.0);
    }

    /// From now on nothing counts that somebody's legs may darken as they walk.
    pub(super) fn ignore_stride_area(&mut self, silhouette: &Silhouette) {
        self.saved_area_m2.clone_from(&self.area_m2);
        let places = self.x_m.iter().zip(&self.z_m);
        for (area_m2, (&x_m, &z_m)) in self.area_m2.iter_mut().zip(places) {
            if silhouette.stride_may_cover(Vec2::new(x_m, z_m)) {
                *area_m2 = 0.0;
            }
        }
    }

    /// Everything counts again.
    pub(super) fn restore_stride_area(&mut self) {
        if !self.saved_area_m2.is_empty() {
            std::mem::swap(&mut self.area_m2, &mut self.saved_area_m2);
            self.saved_area_m2.clear();
        }
    }

    /// What is covered now stays so.
    pub(super) fn save_cover(&mut self) {
        self.uncovered_initially.clone_from(&self.uncovered);
    }

    /// Takes all members away.
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
        let places = x_m.iter().zip(z_m).zip(tones);
        places.map(
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

    /// Covers the pixels by one more member.
    pub(super) fn add_cover(&mut self, silhouette: &Silhouette) {
        let mut uncovered = std::mem::take(&mut self.uncovered);
        self.multiply_cover(silhouette, &mut uncovered);
        self.uncovered = uncovered;
    }

    fn multiply_cover(&self, silhouette: &Silhouette, uncovered: &mut [f32]) {
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = V3::try_new() {
            return wide::cover(simd, self, silhouette, uncovered);
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

    /// How bright what lies on only one of somebody's stripes is, the shadow's and the body's; `None` where hardly anything
    /// does that nobody else covers.
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

    /// Area, weighted by the square of how badly it is explained by all members and one more.
    pub(super) fn residual_m2(&self, silhouette: Option<&Silhouette>) -> f32 {
        #[cfg(target_arch = "x86_64")]
        if let (Some(simd), Some(silhouette)) = (V3::try_new(), silhouette) {
            return wide::residual_m2(simd, self, silhouette);
        }
        self.portable_wrong_m2(silhouette)
    }

    fn portable_wrong_m2(&self, silhouette: Option<&Silhouette>) -> f32 {
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
                let wrong = foreground[i] - 1.0 + uncovered[i] * (1.0 - cover[i]);
                sums[i] += area_m2[i] * wrong * wrong;
            }
        }
        sums.iter().sum()
    }
}

/// Some of the pixels.
struct Block<'a> {
    x_m: &'a [f32; BLOCK],
    z_m: &'a [f32; BLOCK],
    tone: &'a [f32; BLOCK],
    is_tone_known: &'a [f32; BLOCK],
    shadow_likeness: &'a [f32; BLOCK],
}

/// The stripes of somebody.
pub(super) struct Silhouette {
    foot_m: Vec2,
    /// From lamp and camera; twice the same where only one is known.
    stripes: [Stripe; 2],
    /// So far from the middle a foot is put as they walk.
    step_m: f32,
}

/// What is seen on a stripe.
#[derive(Clone, Copy, Default)]
enum Tone {
    #[default]
    Shadow,
    /// A body, and how bright it is where that is known.
    Body(Option<f32>),
}

#[derive(Clone, Copy, Default)]
struct Stripe {
    direction: Vec2,
    length_m: f32,
    /// Where the legs end.
    hips_m: f32,
    /// Where the trunk begins, the half width up to there, and how much wider the trunk is.
    trunk_start_m: f32,
    legs_half_width_m: f32,
    trunk_extra_m: f32,
    /// By what share the stripe becomes wider with each meter.
    widening_per_m: f32,
    tone: Tone,
}

impl Silhouette {
    /// The stripes of somebody so tall, whose body is as bright as `body_tone` where that is known.
    pub(super) fn new(
        foot_m: Vec2,
        height_m: f32,
        body_tone: Option<f32>,
        origins: &[Option<Origin>; 2],
    ) -> Self {
        let [lamp, camera] = *origins;
        let seen = [(lamp, Tone::Shadow), (camera, Tone::Body(body_tone))];
        let stripes = seen.map(|(origin, tone)| {
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

    /// Whether a point is covered rather than not.
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

    /// Whether a leg may darken a point as they walk.
    fn stride_may_cover(&self, position_m: Vec2) -> bool {
        let from_foot_m = position_m - self.foot_m;
        self.stripes.iter().any(|stripe| {
            let t = clamp_to_length(from_foot_m.dot(stripe.direction), stripe.hips_m);
            let off_m = from_foot_m.distance(t * stripe.direction);
            off_m < self.step_m + stripe.legs_half_width_m * (1.0 + t * stripe.widening_per_m)
        })
    }

    /// Area of the covered floor of which `is_observable` says that it counts.
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
                // What both stripes cover is counted with the first.
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

    /// How surely points are covered, 0 to almost 1: those that lie on a stripe, and are about as bright.
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

    /// How surely points lie on one of the stripes: 1 and more, or 0 and less.
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
    fn pixels_are_covered_and_explained_the_same_by_whatever_instructions() {
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
                assert_eq!(residual_m2, pixels.portable_wrong_m2(Some(&silhouette)));
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
