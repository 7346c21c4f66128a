//! Soft shadows on the ground: strips of triangles that follow the spine of a body, and discs for static bodies.
//!
//! In: posed spines, static shapes, the sun. Out: vertices of strips. Each strip has [`SPINE_STATIONS`] pairs of vertices.

use bytemuck::{Pod, Zeroable};
use glam::{Affine3A, Vec2, Vec3};

use super::noise::smoothstep;
use super::scenery::Scenery;
use super::shadow_mask::{self, LEVELS, SPINE_STATIONS, STEPS};
use super::static_shape::StaticShape;

/// Smallest length of a piece of a strip, in pixels of the picture. A short strip still has at least two pieces.
const LEAST_PIECE_PX: f32 = 33.0;

/// A vertex of a ground shadow; same layout as `GroundShadowVertex` in `shaders/ground_shadow.wgsl`, which documents the
/// fields.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(super) struct GroundShadowVertex {
    pub(super) position_m: Vec2,
    pub(super) uv: [f32; 2],
    pub(super) mask_layer: f32,
    pub(super) mask_level: f32,
    pub(super) strength: f32,
}

/// Appends the shadows that stones and trunks cast in sunlight. Their shade in skylight is painted into the ground texture, see
/// [`super::ground_contact`].
pub(super) fn shape_shadows(
    shapes: &[StaticShape],
    scenery: &Scenery,
    out: &mut Vec<GroundShadowVertex>,
) {
    let [second, _] = scenery.ground_axes();
    for shape in shapes {
        let along = scenery.sun_shift.normalize_or(Vec2::X);
        let stretch = (1.0 + scenery.sun_shift.length_squared()).sqrt();
        let (height_m, thrown) = scenery.shadow_of(shape.center_m);
        let half =
            |on_ground: Vec2| shape.half_towards_m(Vec3::X * on_ground.x + second * on_ground.y);
        let (aside, ahead) = (half(along.perp()), along * half(along));
        // A higher body has a softer shadow.
        let blur = 1.4 + 1.6 * smoothstep(0.1, 0.8, height_m);
        disc(
            thrown,
            ahead * stretch,
            aside,
            ShadowStyle::new(0, blur, 0.82),
            out,
        );
    }
}

/// Appends the shadows of plants and corals. Each shadow is a faint patch that extends away from the sun.
pub(super) fn plant_shadows(
    plants: &[Affine3A],
    scenery: &Scenery,
    out: &mut Vec<GroundShadowVertex>,
) {
    for plant in plants {
        let height_m = plant.matrix3.y_axis.length();
        let (_, root) = scenery.over_ground(plant.translation.into());
        let along = scenery.sun_shift.normalize_or(Vec2::X) * (0.35 * height_m);
        disc(
            root + along * 0.6,
            along,
            0.25 * height_m,
            ShadowStyle::new(0, 3.0, 0.45),
            out,
        );
    }
}

/// Values that all vertices of one ground shadow share.
#[derive(Clone, Copy, Debug)]
struct ShadowStyle {
    mask_layer: f32,
    mask_level: f32,
    strength: f32,
}

impl ShadowStyle {
    /// Creates the style of a shadow. `mask` is 0 for the disc, or the species number plus 1. `blur` is the level of blur and
    /// may be fractional.
    fn new(mask: usize, blur: f32, strength: f32) -> Self {
        let step = (blur.max(0.0) * STEPS as f32).round() as usize;
        let step = step.min((LEVELS - 1) * STEPS);
        let layer = mask * STEPS + step % STEPS;
        Self {
            mask_layer: layer as f32,
            mask_level: (step / STEPS) as f32,
            strength,
        }
    }

    fn vertex(self, position_m: Vec2, uv: [f32; 2]) -> GroundShadowVertex {
        GroundShadowVertex {
            position_m,
            uv,
            mask_layer: self.mask_layer,
            mask_level: self.mask_level,
            strength: self.strength,
        }
    }
}

/// Appends a round shadow as a strip. The disc fills the middle half of its mask.
fn disc(
    center: Vec2,
    along: Vec2,
    width_m: f32,
    style: ShadowStyle,
    out: &mut Vec<GroundShadowVertex>,
) {
    let aside = along.normalize_or(Vec2::X).perp() * width_m * 2.0;
    for i in 0..SPINE_STATIONS {
        // A straight strip needs one piece; all other pieces have no extent.
        let t = (i / (SPINE_STATIONS - 1)) as f32;
        let middle = center + along * 2.0 * (2.0 * t - 1.0);
        for (side, v) in [(aside, 0.0), (-aside, 1.0)] {
            out.push(style.vertex(middle + side, [t, v]));
        }
    }
}

/// Returns the number of stations that one piece of a strip spans. No piece is shorter than [`LEAST_PIECE_PX`], for two
/// reasons: a bend in a shorter piece of a blurred shadow is not visible, and without a graphics card every triangle costs
/// whole blocks of pixels. The stations inside a piece have no extent. The result depends only on the individual, so it is
/// constant while the fish swims.
fn stations_of_a_piece(length_m: f32, scenery: &Scenery) -> usize {
    let piece_px =
        shadow_mask::ALONG * length_m * scenery.pixels_per_m / (SPINE_STATIONS - 1) as f32;
    match piece_px {
        px if px >= LEAST_PIECE_PX => 1,
        px if 2.0 * px >= LEAST_PIECE_PX => 2,
        _ => 4,
    }
}

/// Appends the shadow of a leaf that floats at `at`; `half_length_m` points from its middle to its tip.
pub(super) fn leaf_shadow(
    at: Vec3,
    half_length_m: Vec2,
    scenery: &Scenery,
    out: &mut Vec<GroundShadowVertex>,
) {
    let (height_m, thrown) = scenery.shadow_of(at);
    let half_m = half_length_m.length();
    // The mask of a disc is four half lengths long, which are `ALONG` lengths of a body.
    let length_m = 4.0 * half_m / shadow_mask::ALONG;
    let level = blur_level(height_m, length_m);
    let style = ShadowStyle::new(0, level, 0.8);
    disc(thrown, half_length_m, 0.7 * half_m, style, out);
}

/// Returns the level of blur of the shadow of a body at a height. Waves blur a shadow, and the blur grows with the height of the body
/// above the ground. The edge of a measured shadow was 1 % of the length of the fish (a carp close to the ground).
fn blur_level(height_m: f32, length_m: f32) -> f32 {
    let blur_m = 0.004 + 0.011 * height_m;
    (blur_m / length_m / shadow_mask::BLUR_OF_LEVEL_0)
        .max(1.0)
        .log2()
}

/// Appends the shadow of a bent body: the body's mask, bent along the shadow of the spine. The mask is as wide as two of `half_width_m`.
/// `mask` is the species number plus 1.
pub(super) fn strip(
    line: &[Vec3; SPINE_STATIONS],
    (length_m, half_width_m): (f32, f32),
    mask: usize,
    scenery: &Scenery,
    out: &mut Vec<GroundShadowVertex>,
) {
    let mut ground = [Vec2::ZERO; SPINE_STATIONS];
    let mut mean_height_m = 0.0;
    for (place, point) in ground.iter_mut().zip(line) {
        let (height_m, thrown) = scenery.shadow_of(*point);
        mean_height_m += height_m / SPINE_STATIONS as f32;
        *place = thrown;
    }
    let level = blur_level(mean_height_m, length_m);
    // Waves make a shadow paler, the more the higher the body is above the ground.
    let strength = 0.95 - 0.10 * smoothstep(0.05, 0.9, mean_height_m);
    let style = ShadowStyle::new(mask, level, strength);
    let piece = stations_of_a_piece(length_m, scenery);
    for i in (0..SPINE_STATIONS).map(|i| i - i % piece) {
        let before = ground[i.saturating_sub(piece)];
        let after = ground[(i + piece).min(SPINE_STATIONS - 1)];
        let aside = (after - before).normalize_or(Vec2::X).perp() * half_width_m;
        let u = i as f32 / (SPINE_STATIONS - 1) as f32;
        for (side, v) in [(aside, 0.0), (-aside, 1.0)] {
            out.push(style.vertex(ground[i] + side, [u, v]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Surface;
    use crate::render::SceneLook;

    /// Shadows of small bodies have few pieces, and shadows of large bodies have many. All shadows span the whole body.
    #[test]
    fn the_number_of_pieces_grows_with_the_size() {
        let surface = Surface::default();
        let scenery = Scenery::new(&SceneLook::default(), &surface, [1280, 960], 1.0);
        for (length_m, pieces) in [(0.16, 2), (0.5, 4), (1.1, 8)] {
            let point = |i: usize| Vec3::new(length_m * i as f32 / 8.0, -0.5, 0.0);
            let line: [Vec3; SPINE_STATIONS] = std::array::from_fn(point);
            let mut corners = Vec::new();
            strip(
                &line,
                (length_m, 0.42 * length_m),
                1,
                &scenery,
                &mut corners,
            );
            assert_eq!(corners.len(), 2 * SPINE_STATIONS);
            let left: Vec<_> = corners.iter().step_by(2).collect();
            assert_eq!((left[0].uv[0], left[SPINE_STATIONS - 1].uv[0]), (0.0, 1.0));
            let drawn = left.windows(2).filter(|pair| pair[0] != pair[1]).count();
            assert_eq!(drawn, pieces, "pieces for a length of {length_m} m");
        }
    }
}
