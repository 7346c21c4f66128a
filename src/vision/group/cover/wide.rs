//! What is hottest of [`super`] by instructions for eight pixels at once. They do the same to the last bit; what a compiler
//! makes of the plain loops takes half as long again.

use pulp::{f32x8, x86::V3};

use super::{
    BLOCK, Block, HIP_M, MOST_COVER, Pixels, SOFT_EDGE_M, Shape, Stripe, TONE_SPREAD, Tone,
};

/// See [`Pixels::cover`].
pub(super) fn cover(simd: V3, pixels: &Pixels, shape: &Shape, free: &mut [f32]) {
    simd.vectorize(
        #[inline(always)]
        || {
            let shape = WideShape::new(simd, shape);
            let one = simd.splat_f32x8(1.0);
            let (free, _) = free.as_chunks_mut::<BLOCK>();
            for (free, at) in free.iter_mut().zip(pixels.blocks()) {
                let uncovered = simd.sub_f32x8(one, shape.cover(simd, &at));
                *free = pulp::cast(simd.mul_f32x8(pulp::cast(*free), uncovered));
            }
        },
    );
}

/// See [`Pixels::wrong_m2`].
pub(super) fn wrong_m2(simd: V3, pixels: &Pixels, shape: &Shape) -> f32 {
    simd.vectorize(
        #[inline(always)]
        || {
            let shape = WideShape::new(simd, shape);
            let one = simd.splat_f32x8(1.0);
            let (area_m2, _) = pixels.area_m2.as_chunks::<BLOCK>();
            let (dark, _) = pixels.dark.as_chunks::<BLOCK>();
            let (free, _) = pixels.free.as_chunks::<BLOCK>();
            let values = area_m2.iter().zip(dark).zip(free);
            let mut sums = simd.splat_f32x8(0.0);
            for (((area_m2, dark), free), at) in values.zip(pixels.blocks()) {
                let uncovered = simd.sub_f32x8(one, shape.cover(simd, &at));
                let lit = simd.mul_f32x8(pulp::cast(*free), uncovered);
                let wrong = simd.add_f32x8(simd.sub_f32x8(pulp::cast(*dark), one), lit);
                let weighted = simd.mul_f32x8(pulp::cast(*area_m2), wrong);
                sums = simd.add_f32x8(sums, simd.mul_f32x8(weighted, wrong));
            }
            let sums: [f32; BLOCK] = pulp::cast(sums);
            sums.iter().sum()
        },
    )
}

/// A [`Shape`], every number of it eight times.
struct WideShape {
    x_m: f32x8,
    z_m: f32x8,
    stripes: [WideStripe; 2],
}

struct WideStripe {
    along_x: f32x8,
    along_z: f32x8,
    length_m: f32x8,
    trunk_m: f32x8,
    legs_half_m: f32x8,
    wider_m: f32x8,
    widening: f32x8,
    tone: Tone,
}

impl WideShape {
    #[inline(always)]
    fn new(simd: V3, shape: &Shape) -> Self {
        let [first, second] = &shape.stripes;
        Self {
            x_m: simd.splat_f32x8(shape.foot_m.x),
            z_m: simd.splat_f32x8(shape.foot_m.y),
            stripes: [WideStripe::new(simd, first), WideStripe::new(simd, second)],
        }
    }

    /// See [`Shape::cover`].
    #[inline(always)]
    fn cover(&self, simd: V3, at: &Block<'_>) -> f32x8 {
        let x_m = simd.sub_f32x8(pulp::cast(*at.x_m), self.x_m);
        let z_m = simd.sub_f32x8(pulp::cast(*at.z_m), self.z_m);
        let [first, second] = &self.stripes;
        let likely = simd.max_f32x8(
            first.likely(simd, [x_m, z_m], at),
            second.likely(simd, [x_m, z_m], at),
        );
        let covered = simd.max_f32x8(simd.splat_f32x8(0.0), likely);
        simd.min_f32x8(simd.splat_f32x8(MOST_COVER), covered)
    }
}

impl WideStripe {
    #[inline(always)]
    fn new(simd: V3, stripe: &Stripe) -> Self {
        Self {
            along_x: simd.splat_f32x8(stripe.along.x),
            along_z: simd.splat_f32x8(stripe.along.y),
            length_m: simd.splat_f32x8(stripe.length_m),
            trunk_m: simd.splat_f32x8(stripe.trunk_m),
            legs_half_m: simd.splat_f32x8(stripe.legs_half_m),
            wider_m: simd.splat_f32x8(stripe.wider_m),
            widening: simd.splat_f32x8(stripe.widening),
            tone: stripe.tone,
        }
    }

    /// How surely points, given from the foot, lie on it and are about as bright.
    #[inline(always)]
    fn likely(&self, simd: V3, from_foot_m: [f32x8; 2], at: &Block<'_>) -> f32x8 {
        let on = self.on_stripe(simd, from_foot_m);
        match self.tone {
            Tone::Shadow => simd.mul_f32x8(on, pulp::cast(*at.shadowy)),
            Tone::Body(None) => on,
            Tone::Body(Some(tone)) => {
                let one = simd.splat_f32x8(1.0);
                let off = simd.sub_f32x8(pulp::cast(*at.tone), simd.splat_f32x8(tone));
                let off = simd.mul_f32x8(pulp::cast(*at.told), off);
                let off = simd.div_f32x8(off, simd.splat_f32x8(TONE_SPREAD));
                let unlike = simd.add_f32x8(one, simd.mul_f32x8(off, off));
                simd.mul_f32x8(on, simd.div_f32x8(one, unlike))
            }
        }
    }

    /// See [`Shape::on_stripe`].
    #[inline(always)]
    fn on_stripe(&self, simd: V3, [x_m, z_m]: [f32x8; 2]) -> f32x8 {
        let (none, one) = (simd.splat_f32x8(0.0), simd.splat_f32x8(1.0));
        let ahead_x = simd.mul_f32x8(x_m, self.along_x);
        let ahead = simd.add_f32x8(ahead_x, simd.mul_f32x8(z_m, self.along_z));
        let t = simd.min_f32x8(self.length_m, simd.max_f32x8(none, ahead));
        let off_x = simd.sub_f32x8(x_m, simd.mul_f32x8(self.along_x, t));
        let off_z = simd.sub_f32x8(z_m, simd.mul_f32x8(self.along_z, t));
        let above_hips = simd.sub_f32x8(t, self.trunk_m);
        let trunk = simd.mul_f32x8(above_hips, simd.splat_f32x8(1.0 / HIP_M));
        let trunk = simd.min_f32x8(one, simd.max_f32x8(none, trunk));
        let half = simd.add_f32x8(self.legs_half_m, simd.mul_f32x8(trunk, self.wider_m));
        let wider = simd.add_f32x8(one, simd.mul_f32x8(t, self.widening));
        let half = simd.mul_f32x8(half, wider);
        let square = simd.add_f32x8(simd.mul_f32x8(off_x, off_x), simd.mul_f32x8(off_z, off_z));
        let reach = simd.add_f32x8(half, simd.splat_f32x8(SOFT_EDGE_M));
        let inside = simd.sub_f32x8(reach, simd.sqrt_f32x8(square));
        simd.mul_f32x8(inside, simd.splat_f32x8(0.5 / SOFT_EDGE_M))
    }
}
