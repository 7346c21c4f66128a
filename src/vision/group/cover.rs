//! What somebody covers of the floor, and how well that explains what is dark.

#[cfg(target_arch = "x86_64")]
mod wide;

use glam::Vec2;
#[cfg(target_arch = "x86_64")]
use pulp::x86::V3;

use crate::vision::foot::{Origin, within};

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
const ONLY: f32 = 0.75;
const TELLING_M2: f32 = 0.03;
/// No pixel is believed more than this.
const MOST_COVER: f32 = 0.95;

/// Pixels that are looked at, every value of theirs in a list of its own so that many are compared by one instruction.
/// Lists are filled up to whole blocks with pixels without area.
#[derive(Default)]
pub(super) struct Pixels {
    pub(super) x_m: Vec<f32>,
    pub(super) z_m: Vec<f32>,
    pub(super) area_m2: Vec<f32>,
    /// The same while legs are looked past; else empty.
    whole_m2: Vec<f32>,
    pub(super) dark: Vec<f32>,
    /// Brightness beside the floor's, as a logarithm, and whether it tells anything (1 or 0).
    tone: Vec<f32>,
    told: Vec<f32>,
    /// How likely it is as bright as it is where there is nothing but shadow: 1 or less.
    shadowy: Vec<f32>,
    /// Probability that nobody covers it, by all members but the one that is moved.
    pub(super) free: Vec<f32>,
    /// The same by nobody of the group, but by those who stand by.
    free_at_first: Vec<f32>,
}

const BLOCK: usize = 8;
/// A stripe's area is told from so many rows of a block each.
const ALONG: usize = 8;

impl Pixels {
    pub(super) fn clear(&mut self) {
        for list in [
            &mut self.x_m,
            &mut self.z_m,
            &mut self.area_m2,
            &mut self.whole_m2,
            &mut self.dark,
            &mut self.tone,
            &mut self.told,
            &mut self.shadowy,
        ] {
            list.clear();
        }
    }

    /// One more pixel; `tone` is `None` where its brightness tells nothing, `shadow_tone` that of all shadows.
    pub(super) fn push(
        &mut self,
        at_m: Vec2,
        area_m2: f32,
        dark: bool,
        tone: Option<f32>,
        shadow_tone: Option<f32>,
    ) {
        self.x_m.push(at_m.x);
        self.z_m.push(at_m.y);
        self.area_m2.push(area_m2);
        self.dark.push(f32::from(u8::from(dark)));
        self.tone.push(tone.unwrap_or_default());
        self.told.push(f32::from(u8::from(tone.is_some())));
        let brighter = match (tone, shadow_tone) {
            // A shadow explains whatever is darker.
            (Some(tone), Some(shadow)) => (tone - shadow).max(0.0) / TONE_SPREAD,
            _ => 0.0,
        };
        self.shadowy.push(1.0 / (1.0 + brighter * brighter));
    }

    pub(super) fn fill_up(&mut self) {
        while !self.area_m2.len().is_multiple_of(BLOCK) {
            self.push(Vec2::ZERO, 0.0, false, None, None);
        }
        self.free.clear();
        self.free.resize(self.area_m2.len(), 1.0);
        self.keep_covered();
    }

    /// From now on no pixel's brightness tells anything.
    pub(super) fn forget_tones(&mut self) {
        self.told.fill(0.0);
        self.shadowy.fill(1.0);
    }

    /// From now on nothing counts that somebody's legs may darken as they walk.
    pub(super) fn look_past_legs(&mut self, shape: &Shape) {
        self.whole_m2.clone_from(&self.area_m2);
        let places = self.x_m.iter().zip(&self.z_m);
        for (area_m2, (&x_m, &z_m)) in self.area_m2.iter_mut().zip(places) {
            if shape.may_stride_over(Vec2::new(x_m, z_m)) {
                *area_m2 = 0.0;
            }
        }
    }

    /// Everything counts again.
    pub(super) fn look_at_legs(&mut self) {
        if !self.whole_m2.is_empty() {
            std::mem::swap(&mut self.area_m2, &mut self.whole_m2);
            self.whole_m2.clear();
        }
    }

    /// What is covered now stays so.
    pub(super) fn keep_covered(&mut self) {
        self.free_at_first.clone_from(&self.free);
    }

    /// Takes all members away.
    pub(super) fn uncover(&mut self) {
        self.free.clone_from(&self.free_at_first);
    }

    #[inline(always)]
    fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        let (x_m, _) = self.x_m.as_chunks();
        let (z_m, _) = self.z_m.as_chunks();
        let (tone, _) = self.tone.as_chunks();
        let (told, _) = self.told.as_chunks();
        let (shadowy, _) = self.shadowy.as_chunks();
        let tones = tone.iter().zip(told).zip(shadowy);
        let places = x_m.iter().zip(z_m).zip(tones);
        places.map(
            #[inline(always)]
            |((x_m, z_m), ((tone, told), shadowy))| Block {
                x_m,
                z_m,
                tone,
                told,
                shadowy,
            },
        )
    }

    /// Covers the pixels by one more member.
    pub(super) fn cover(&mut self, shape: &Shape) {
        let mut free = std::mem::take(&mut self.free);
        self.cover_free(shape, &mut free);
        self.free = free;
    }

    fn cover_free(&self, shape: &Shape, free: &mut [f32]) {
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = V3::try_new() {
            return wide::cover(simd, self, shape, free);
        }
        self.portable_cover(shape, free);
    }

    fn portable_cover(&self, shape: &Shape, free: &mut [f32]) {
        let (free, _) = free.as_chunks_mut::<BLOCK>();
        for (free, at) in free.iter_mut().zip(self.blocks()) {
            let cover = shape.cover(&at);
            for i in 0..BLOCK {
                free[i] *= 1.0 - cover[i];
            }
        }
    }

    /// How bright what lies on only one of somebody's stripes is, the shadow's and the body's; `None` where hardly anything
    /// does that nobody else covers.
    pub(super) fn tones(&self, shape: &Shape) -> [Option<f32>; 2] {
        let (area_m2, _) = self.area_m2.as_chunks::<BLOCK>();
        let (free, _) = self.free.as_chunks::<BLOCK>();
        let mut sums = [(0.0, 0.0); 2];
        for ((area_m2, free), pixels) in area_m2.iter().zip(free).zip(self.blocks()) {
            let on = [0, 1].map(|n| shape.on_stripe(&shape.stripes[n], &pixels));
            for i in 0..BLOCK {
                if pixels.told[i] == 0.0 || free[i] < ONLY {
                    continue;
                }
                for (stripe, sum) in sums.iter_mut().enumerate() {
                    if on[stripe][i] > ONLY && on[1 - stripe][i] < 1.0 - ONLY {
                        sum.0 += area_m2[i];
                        sum.1 += area_m2[i] * pixels.tone[i];
                    }
                }
            }
        }
        sums.map(|(area_m2, sum)| (area_m2 > TELLING_M2).then(|| sum / area_m2))
    }

    /// Area, weighted by the square of how badly it is explained by all members and one more.
    pub(super) fn wrong_m2(&self, shape: Option<&Shape>) -> f32 {
        #[cfg(target_arch = "x86_64")]
        if let (Some(simd), Some(shape)) = (V3::try_new(), shape) {
            return wide::wrong_m2(simd, self, shape);
        }
        self.portable_wrong_m2(shape)
    }

    fn portable_wrong_m2(&self, shape: Option<&Shape>) -> f32 {
        let (area_m2, _) = self.area_m2.as_chunks::<BLOCK>();
        let (dark, _) = self.dark.as_chunks::<BLOCK>();
        let (free, _) = self.free.as_chunks::<BLOCK>();
        let mut sums = [0.0; BLOCK];
        for (((area_m2, dark), free), at) in area_m2.iter().zip(dark).zip(free).zip(self.blocks()) {
            let mut cover = [0.0; BLOCK];
            if let Some(shape) = shape {
                cover = shape.cover(&at);
            }
            for i in 0..BLOCK {
                let wrong = dark[i] - 1.0 + free[i] * (1.0 - cover[i]);
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
    told: &'a [f32; BLOCK],
    shadowy: &'a [f32; BLOCK],
}

/// The stripes of somebody.
pub(super) struct Shape {
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
    along: Vec2,
    length_m: f32,
    /// Where the legs end.
    hips_m: f32,
    /// Where the trunk begins, the half width up to there, and how much wider the trunk is.
    trunk_m: f32,
    legs_half_m: f32,
    wider_m: f32,
    /// By what share the stripe becomes wider with each meter.
    widening: f32,
    tone: Tone,
}

impl Shape {
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
                    along: away.normalize_or_zero(),
                    length_m: reach_m(END_SHARE * height_m),
                    legs_half_m: LEGS_HALF_SHARE * height_m,
                    wider_m: trunk_half_m - LEGS_HALF_SHARE * height_m,
                    hips_m,
                    trunk_m: hips_m - ROUND_SHARE * trunk_half_m,
                    widening: 1.0 / far_m.max(0.1),
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
    pub(super) fn covers(&self, at_m: Vec2) -> bool {
        let block = Block {
            x_m: &[at_m.x; BLOCK],
            z_m: &[at_m.y; BLOCK],
            tone: &[0.0; BLOCK],
            told: &[0.0; BLOCK],
            shadowy: &[1.0; BLOCK],
        };
        self.cover(&block)[0] > 0.5
    }

    /// Whether a leg may darken a point as they walk.
    fn may_stride_over(&self, at_m: Vec2) -> bool {
        let from_foot_m = at_m - self.foot_m;
        self.stripes.iter().any(|stripe| {
            let t = within(from_foot_m.dot(stripe.along), stripe.hips_m);
            let off_m = from_foot_m.distance(t * stripe.along);
            off_m < self.step_m + stripe.legs_half_m * (1.0 + t * stripe.widening)
        })
    }

    /// Area of the covered floor of which `tells` says that it counts.
    pub(super) fn area_m2(&self, tells: impl Fn(Vec2) -> bool) -> f32 {
        let mut sum_m2 = 0.0;
        for (number, stripe) in self.stripes.iter().enumerate() {
            let widest_m = stripe.legs_half_m + stripe.wider_m;
            let half_m = widest_m * (1.0 + stripe.length_m * stripe.widening) + SOFT_EDGE_M;
            let along_m = (stripe.length_m + 2.0 * half_m) / ALONG as f32;
            let across_m = 2.0 * half_m / BLOCK as f32;
            let mut covered = 0.0;
            for step in 0..ALONG {
                let ahead_m = (step as f32 + 0.5) * along_m - half_m;
                let aside_m = |i: usize| (i as f32 + 0.5) * across_m - half_m;
                let points = std::array::from_fn(|i| {
                    self.foot_m + ahead_m * stripe.along + aside_m(i) * stripe.along.perp()
                });
                let pixels = Block {
                    x_m: &points.map(|p| p.x),
                    z_m: &points.map(|p| p.y),
                    tone: &[0.0; BLOCK],
                    told: &[0.0; BLOCK],
                    shadowy: &[1.0; BLOCK],
                };
                let on = self.on_stripe(stripe, &pixels);
                // What both stripes cover is counted with the first.
                let before = match number {
                    0 => [0.0; BLOCK],
                    _ => self.on_stripe(&self.stripes[0], &pixels),
                };
                for i in 0..BLOCK {
                    let more = on[i].clamp(0.0, MOST_COVER) - before[i].clamp(0.0, MOST_COVER);
                    if more > 0.0 && tells(points[i]) {
                        covered += more;
                    }
                }
            }
            sum_m2 += covered * along_m * across_m;
        }
        sum_m2
    }

    /// How surely points are covered, 0 to almost 1: those that lie on a stripe, and are about as bright.
    fn cover(&self, pixels: &Block<'_>) -> [f32; BLOCK] {
        let mut cover = [0.0_f32; BLOCK];
        for stripe in &self.stripes {
            let on = self.on_stripe(stripe, pixels);
            let mut like = [1.0; BLOCK];
            match stripe.tone {
                Tone::Shadow => like = *pixels.shadowy,
                Tone::Body(None) => {}
                Tone::Body(Some(tone)) => {
                    for (i, like) in like.iter_mut().enumerate() {
                        let off = pixels.told[i] * (pixels.tone[i] - tone) / TONE_SPREAD;
                        *like = 1.0 / (1.0 + off * off);
                    }
                }
            }
            for i in 0..BLOCK {
                let likely = on[i] * like[i];
                let more = if likely > cover[i] { likely } else { cover[i] };
                cover[i] = if more < MOST_COVER { more } else { MOST_COVER };
            }
        }
        cover
    }

    /// How surely points lie on one of the stripes: 1 and more, or 0 and less.
    fn on_stripe(&self, stripe: &Stripe, pixels: &Block<'_>) -> [f32; BLOCK] {
        let mut on = [0.0_f32; BLOCK];
        for (i, on) in on.iter_mut().enumerate() {
            let (x, z) = (pixels.x_m[i] - self.foot_m.x, pixels.z_m[i] - self.foot_m.y);
            let t = within(x * stripe.along.x + z * stripe.along.y, stripe.length_m);
            let (dx, dz) = (x - stripe.along.x * t, z - stripe.along.y * t);
            let trunk = ((t - stripe.trunk_m) * (1.0 / HIP_M)).clamp(0.0, 1.0);
            let half = (stripe.legs_half_m + trunk * stripe.wider_m) * (1.0 + t * stripe.widening);
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
            let at_m = Vec2::new(0.11 * (i % 20) as f32, 0.13 * (i / 20) as f32);
            let tone = (i % 3 > 0).then(|| -0.05 * (i % 50) as f32);
            pixels.push(at_m, 0.01 + 1e-5 * i as f32, i % 7 < 3, tone, Some(-1.8));
        }
        pixels.fill_up();
        for origins in [[lamp, camera], [lamp, None], [None, camera]] {
            for body_tone in [None, Some(-1.1)] {
                let shape = Shape::new(Vec2::new(0.9, 1.2), 1.7, body_tone, &origins);
                let wrong_m2 = pixels.wrong_m2(Some(&shape));
                assert_eq!(wrong_m2, pixels.portable_wrong_m2(Some(&shape)));
                assert_ne!(wrong_m2, pixels.wrong_m2(None));
                let mut free = pixels.free.clone();
                pixels.portable_cover(&shape, &mut free);
                pixels.cover(&shape);
                assert_eq!(pixels.free, free);
                assert!(free.iter().any(|free| *free < 0.1));
                pixels.uncover();
            }
        }
    }
}
