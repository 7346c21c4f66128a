//! Waterfalls between terraces, at each place where the edge of a higher water is next to a lower water.
//!
//! In: the pool's terraces. Out: the falling water, which is drawn over everything that swims, the stones of the sills, and the drops
//! that disturb the lower water. A sill is bowed and uneven: most of the water falls over one place of it, and stones stand where little
//! water flows.

use glam::{Affine3A, Mat3, Vec2, Vec3};

use super::noise::{smoothstep, unit_hash};
use super::static_shape::{StaticForm, StaticShape};
use crate::geometry::{Surface, Visitor, polygon_contains, signed_area};
use crate::world::TerraceParams;

/// Largest width of the ground between two waters over which a waterfall falls.
const SILL_M: f32 = 0.3;
/// Growth of a waterfall's horizontal extent with its height, in meters per meter. Tuned by eye.
const REACH_PER_M: f32 = 0.35;
/// Constant part of a waterfall's horizontal extent. [`REACH_PER_M`] is the part that grows with the height. Tuned by eye.
const REACH_M: f32 = 0.12;
/// Drops per second and meter of a waterfall's width, where all the water falls. Tuned by eye.
const DROPS_PER_M: f32 = 5.0;
/// Mean radius of the area that a drop presses on. Tuned by eye.
const DROP_M: f32 = 0.06;
/// Time for which a drop presses on the water. Tuned by eye.
const DROP_SECS: f64 = 0.15;
/// Largest width of one place at which water falls, as the sound hears it.
const PLACE_M: f32 = 1.0;
/// Largest width of one piece of falling water. Pieces share their ends, so that they follow a bowed sill.
const PIECE_M: f32 = 0.1;
/// Step in which an edge is searched for lower water.
const STEP_M: f32 = 0.1;
/// Half the width of the place where most of the water falls.
const MAIN_M: f32 = 0.48;
/// Distance by which the sill is bowed downstream where most of the water falls. Fish of the lower water keep a distance of a body's
/// radius from the sill, so that a larger bow would hide them.
const BOW_M: f32 = 0.15;
/// Mean distance of two stones on a sill.
const STONE_M: f32 = 0.10;
/// Purposes of random numbers of a sill.
const SEED: u32 = 130;

/// A straight part of the edge of a higher water over which water falls into a lower one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sill {
    from: Vec2,
    to: Vec2,
    /// Unit vector downstream.
    out: Vec2,
    /// Distance from the edge of the higher water to the lower water.
    gap_m: f32,
    /// Depths of both waters below the picture.
    high_m: f32,
    low_m: f32,
    /// Number of the sill, for its random numbers.
    id: u32,
}

/// A place on a sill.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FallEnd {
    /// Point at which the water begins to fall.
    pub(super) lip_m: Vec3,
    /// Way from there to where the water strikes the lower water.
    pub(super) drop_m: Vec3,
    /// Distance along the sill.
    pub(super) along_m: f32,
    /// Amount of water, 0..1.
    pub(super) flow: f32,
}

impl FallEnd {
    /// Returns the matrix that places a section of the falling water: z downstream, y up, both 1 at the lower end.
    pub(super) fn frame(&self, aside: Vec3) -> Affine3A {
        let axes = Mat3::from_cols(aside, Vec3::NEG_Y * self.drop_m.y, self.drop_m.with_y(0.0));
        Affine3A::from_mat3_translation(axes, self.lip_m)
    }
}

/// A narrow piece of falling water between two places of a sill.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FallPiece {
    pub(super) ends: [FallEnd; 2],
}

/// The waterfalls of a scene.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Waterfalls {
    /// The falling water.
    pub(super) pieces: Vec<FallPiece>,
    /// The stones of the sills, and those on which the water falls.
    pub(super) stones: Vec<StaticShape>,
}

impl Waterfalls {
    /// Returns the waterfalls from every terrace into lower terraces.
    pub(super) fn new(terraces: &[TerraceParams]) -> Self {
        let mut all = Self::default();
        for sill in sills(terraces) {
            let count = (sill.length_m() / PIECE_M).ceil().clamp(1.0, 400.0) as u32;
            let end = |i: u32| sill.end(sill.length_m() * i as f32 / count as f32);
            let piece = |i| FallPiece {
                ends: [end(i), end(i + 1)],
            };
            let has_water = |piece: &FallPiece| piece.ends.iter().any(|end| end.flow > 0.0);
            all.pieces.extend((0..count).map(piece).filter(has_water));
            all.stones.extend(sill.stones());
        }
        all
    }
}

/// Where water falls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FallPlace {
    /// Middle of the lower end in world space.
    pub foot_m: Vec3,
    /// Width of the fall.
    pub width_m: f32,
    /// Height of the fall.
    pub height_m: f32,
}

/// Returns where water falls between terraces.
pub fn fall_places(terraces: &[TerraceParams]) -> impl Iterator<Item = FallPlace> {
    sills(terraces).into_iter().flat_map(|sill| {
        let count = (sill.length_m() / PLACE_M).ceil().clamp(1.0, 32.0);
        let width_m = sill.length_m() / count;
        (0..count as u32).map(move |i| {
            let end = sill.end((i as f32 + 0.5) * width_m);
            FallPlace {
                foot_m: end.lip_m + end.drop_m,
                width_m,
                height_m: -end.drop_m.y,
            }
        })
    })
}

/// Returns the drops that hit the lower water at `time_secs`, as round shadows. Times and positions of drops are not stored:
/// they are computed from the time.
pub(super) fn drops(
    falls: &[FallPiece],
    time_secs: f64,
    surface: &Surface,
) -> impl Iterator<Item = Visitor> {
    let moment = (time_secs / DROP_SECS).floor() as i64 as u32;
    falls.iter().enumerate().filter_map(move |(number, fall)| {
        let [left, right] = fall.ends;
        let id = moment.wrapping_mul(31).wrapping_add(7 * number as u32);
        let width_m = left.lip_m.distance(right.lip_m);
        let flow = (left.flow + right.flow) / 2.0;
        let wanted = width_m * flow * DROPS_PER_M * DROP_SECS as f32;
        let at = (left.lip_m + left.drop_m).lerp(right.lip_m + right.drop_m, unit_hash(id, 96));
        let beyond = (left.drop_m + right.drop_m).with_y(0.0) * (0.2 * unit_hash(id, 97) - 0.05);
        (unit_hash(id, 95) <= wanted).then(|| Visitor {
            centroid_m: surface.floor_from_world(at + beyond),
            radius_m: DROP_M * (0.6 + 0.8 * unit_hash(id, 98)),
            ..Visitor::default()
        })
    })
}

/// Returns all sills. Parts of an edge beside the same lower water are one sill.
fn sills(terraces: &[TerraceParams]) -> Vec<Sill> {
    let mut found: Vec<Sill> = Vec::new();
    for high in terraces {
        let turn = signed_area(&high.corners()).signum();
        for (a, b) in high.edges() {
            // Seen downstream, an edge begins at the same side for both directions of the outline.
            let (from, to) = if turn > 0.0 { (a, b) } else { (b, a) };
            let out = -(to - from).normalize_or_zero().perp();
            let count = ((to - from).length() / STEP_M).ceil().clamp(1.0, 1000.0) as u32;
            let mut last: Option<Sill> = None;
            for step in 0..count {
                let [from, to] = [step, step + 1].map(|at| from.lerp(to, at as f32 / count as f32));
                let lower = lower_water(high, (from + to) / 2.0, out, terraces);
                let sill = lower.map(|(low, gap_m)| Sill {
                    from,
                    to,
                    out,
                    gap_m,
                    high_m: high.surface_depth_m,
                    low_m: low.surface_depth_m,
                    id: SEED + found.len() as u32,
                });
                last = match (last, sill) {
                    (Some(old), Some(new)) if (old.low_m, old.gap_m) == (new.low_m, new.gap_m) => {
                        Some(Sill { to: new.to, ..old })
                    }
                    (old, new) => {
                        found.extend(old);
                        new
                    }
                };
            }
            found.extend(last);
        }
    }
    found
}

/// Returns the nearest lower water on the outer side of an edge, and the distance to this water; `None` if there is none.
fn lower_water<'a>(
    high: &TerraceParams,
    rim: Vec2,
    out: Vec2,
    terraces: &'a [TerraceParams],
) -> Option<(&'a TerraceParams, f32)> {
    (0..=6).find_map(|step| {
        let gap_m = 0.01 + SILL_M * step as f32 / 6.0;
        let at = rim + out * gap_m;
        let is_lower = |t: &&TerraceParams| {
            t.surface_depth_m > high.surface_depth_m && polygon_contains(&t.corners(), at)
        };
        terraces.iter().find(is_lower).map(|low| (low, gap_m))
    })
}

impl Sill {
    fn length_m(&self) -> f32 {
        self.from.distance(self.to)
    }

    fn draw(&self, purpose: u32) -> f32 {
        unit_hash(self.id, purpose)
    }

    /// Place along the sill where most of the water falls.
    fn main_m(&self) -> f32 {
        self.length_m() * (0.34 + 0.32 * self.draw(131))
    }

    /// Returns an uneven height along the sill, about −1..1. `per_m` is the number of radians per meter.
    fn uneven(&self, along_m: f32, per_m: f32, purpose: u32) -> f32 {
        let phase = |n: u32| std::f32::consts::TAU * self.draw(purpose + n);
        let wave = |rate: f32, n: u32| (rate * per_m * along_m + phase(n)).sin();
        0.55 * wave(1.0, 0) + 0.30 * wave(1.73, 1) + 0.15 * wave(3.1, 2)
    }

    /// Returns the distance by which the sill is moved downstream at a place.
    fn bow_m(&self, along_m: f32) -> f32 {
        let room_m = along_m.min(self.length_m() - along_m);
        let from_main = (along_m - self.main_m()) / 0.55;
        let bow = BOW_M * (-from_main * from_main).exp() + 0.05 * self.uneven(along_m, 4.3, 140);
        bow.max(-0.02) * smoothstep(0.0, 0.3, room_m)
    }

    /// Returns the amount of water at a place, 0..1.
    fn flow(&self, along_m: f32) -> f32 {
        let from_main = (along_m - self.main_m()).abs() + 0.05 * self.uneven(along_m, 19.0, 144);
        let main = smoothstep(MAIN_M + 0.10, MAIN_M - 0.14, from_main);
        let side = 0.65 * smoothstep(0.05, 0.75, self.uneven(along_m, 9.0, 148));
        main.max(side)
    }

    /// Returns the place at a distance along the sill.
    fn end(&self, along_m: f32) -> FallEnd {
        let share = along_m / self.length_m().max(1e-3);
        let lip = |along_m: f32| {
            let straight = self.from.lerp(self.to, along_m / self.length_m().max(1e-3));
            straight + self.out * self.bow_m(along_m)
        };
        let at = self.from.lerp(self.to, share) + self.out * self.bow_m(along_m);
        // Downstream is across the bowed lip.
        let tangent = lip(along_m + 0.06) - lip(along_m - 0.06);
        let across = tangent.perp().normalize_or(self.out);
        let across = across * across.dot(self.out).signum();
        let flow = self.flow(along_m);
        let height_m = self.low_m - self.high_m;
        let reach_m = self.gap_m + (REACH_M + REACH_PER_M * height_m) * (0.6 + 0.4 * flow);
        FallEnd {
            lip_m: Vec3::new(at.x, -self.high_m, at.y),
            drop_m: Vec3::new(across.x * reach_m, -height_m, across.y * reach_m),
            along_m,
            flow,
        }
    }

    /// Returns the stones of the sill: those that stand out of the water, those of the wall below, and those at its foot.
    fn stones(&self) -> Vec<StaticShape> {
        let count = (self.length_m() / STONE_M).ceil().clamp(1.0, 400.0) as u32;
        let height_m = self.low_m - self.high_m;
        let mut stones = Vec::new();
        for i in 0..count {
            let number = self.id.wrapping_mul(977).wrapping_add(i);
            let draw = |purpose| unit_hash(number, purpose);
            let along_m = (i as f32 + 0.5 + 0.7 * (draw(151) - 0.5)) * STONE_M;
            let end = self.end(along_m);
            let dry = smoothstep(0.42, 0.05, end.flow);
            let radius_m = 0.05 + (0.03 + 0.11 * dry) * draw(152) * draw(150);
            let out_m = end.drop_m.with_y(0.0).normalize_or_zero();
            // A stone in the water ends just below its surface.
            let over_m =
                0.06 * dry * draw(153) - 0.04 * (1.0 - dry) - (0.75 - 0.35 * dry) * radius_m;
            let crown = end.lip_m + out_m * (0.12 * (draw(154) - 0.5)) + Vec3::Y * over_m;
            stones.push(stone(crown, radius_m, draw));
            let wall = end.lip_m + out_m * 0.03 - Vec3::Y * (height_m * (0.35 + 0.3 * draw(155)));
            stones.push(stone(wall, 0.09 + 0.05 * draw(156), |n| draw(n + 20)));
            if draw(157) < 0.22 + 0.2 * dry {
                let radius_m = 0.035 + 0.07 * draw(158);
                let foot = end.lip_m + end.drop_m + out_m * (0.16 * draw(159) - 0.08);
                stones.push(stone(foot - Vec3::Y * (0.5 * radius_m), radius_m, |n| {
                    draw(n + 40)
                }));
            }
        }
        stones
    }
}

/// Returns a stone of a radius. `draw` returns the random number for a purpose.
fn stone(center_m: Vec3, radius_m: f32, draw: impl Fn(u32) -> f32) -> StaticShape {
    let half = Vec3::new(1.0, 0.62 + 0.25 * draw(161), 0.66 + 0.3 * draw(162)) * radius_m;
    let turn = Mat3::from_rotation_y(std::f32::consts::TAU * draw(163));
    StaticShape {
        form: StaticForm::Stone,
        center_m,
        half_axes_m: turn * Mat3::from_diagonal(half),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terrace(x: [f32; 2], surface_depth_m: f32) -> TerraceParams {
        TerraceParams {
            outline_m: vec![[x[0], -1.0], [x[1], -1.0], [x[1], 1.0], [x[0], 1.0]],
            surface_depth_m,
            ground_depth_m: 2.0,
        }
    }

    fn two_waters() -> [TerraceParams; 2] {
        [terrace([-2.0, -0.1], 0.8), terrace([0.1, 2.0], 0.4)]
    }

    #[test]
    fn water_falls_into_the_lower_water_over_a_bowed_sill_with_one_main_fall() {
        let falls = Waterfalls::new(&two_waters());
        let ends = || falls.pieces.iter().flat_map(|piece| piece.ends);
        assert!(ends().count() > 10);
        for end in ends() {
            let foot = end.lip_m + end.drop_m;
            assert!((end.lip_m.y + 0.4).abs() < 1e-6 && (foot.y + 0.8).abs() < 1e-6);
            // It falls to the left, from about the edge of the higher water into the lower water.
            assert!((-0.15..0.13).contains(&end.lip_m.x), "{end:?}");
            assert!((-0.60..-0.05).contains(&foot.x), "{end:?}");
        }
        let lips = || ends().map(|end| end.lip_m.x);
        let span = lips().fold(f32::MIN, f32::max) - lips().fold(f32::MAX, f32::min);
        assert!(span > 0.08, "the sill is straight: {span}");
        // The places with all the water are next to each other.
        let full: Vec<f32> = ends().filter(|e| e.flow > 0.9).map(|e| e.along_m).collect();
        let width = full.last().unwrap() - full.first().unwrap();
        assert!((0.3..1.0).contains(&width), "{width}");
        let least = ends().map(|end| end.flow).fold(1.0, f32::min);
        assert!(least < 0.2, "{least}");
    }

    #[test]
    fn stones_stand_on_the_sill_and_at_its_foot() {
        let stones = Waterfalls::new(&two_waters()).stones;
        assert!(stones.len() > 40);
        for stone in &stones {
            assert!(stone.form == StaticForm::Stone && stone.half_axes_m.determinant() > 0.0);
            assert!((-0.65..0.3).contains(&stone.center_m.x), "{stone:?}");
        }
        let top = |stone: &StaticShape| stone.center_m.y + stone.half_axes_m.y_axis.length();
        let dry = stones.iter().filter(|stone| top(stone) > -0.4).count();
        assert!(dry > 3, "no stone stands out of the water");
    }

    #[test]
    fn places_are_at_most_a_meter_wide() {
        let places: Vec<FallPlace> = fall_places(&two_waters()).collect();
        assert_eq!(places.len(), 2, "an edge of 2 m: {places:?}");
        for place in places {
            assert!((place.width_m - 1.0).abs() < 1e-3 && (place.height_m - 0.4).abs() < 1e-6);
            assert!((place.foot_m.y + 0.8).abs() < 1e-6);
        }
    }

    #[test]
    fn drops_hit_the_lower_water_at_the_end_of_a_waterfall() {
        let surface = Surface::default();
        let falls = Waterfalls::new(&two_waters()).pieces;
        let of = |time_secs| drops(&falls, time_secs, &surface).collect::<Vec<_>>();
        let mut count = 0;
        for tick in 0..400 {
            let drops = of(f64::from(tick) * DROP_SECS + 0.05);
            count += drops.len();
            for drop in drops {
                let at = drop.centroid_m;
                assert!((-0.65..-0.02).contains(&at.x) && at.y.abs() < 1.0, "{at}");
            }
        }
        assert!((150..600).contains(&count), "{count} in 60 s");
        assert_eq!(of(1.06), of(1.19), "drops are constant within DROP_SECS");
    }

    #[test]
    fn waters_of_equal_height_and_empty_outlines_have_no_waterfalls() {
        let level = [terrace([-2.0, 0.0], 0.4), terrace([0.0, 2.0], 0.4)];
        assert_eq!(Waterfalls::new(&level), Waterfalls::default());
        let broken = TerraceParams {
            outline_m: Vec::new(),
            ..TerraceParams::default()
        };
        let broken = [broken, terrace([-1.0, 1.0], 0.5)];
        assert_eq!(Waterfalls::new(&broken), Waterfalls::default());
    }
}
