//! Waterfalls between terraces, at each place where the edge of a higher water is next to a lower water.
//!
//! In: the pool's terraces. Out: shapes of the forms [`StaticForm::Waterfall`] and [`StaticForm::Foam`], which are drawn
//! over everything that swims, and the drops that disturb the lower water.

use glam::{Mat3, Vec2, Vec3};

use super::noise::unit_hash;
use super::static_shape::{StaticForm, StaticShape};
use crate::geometry::{Surface, Visitor, polygon_contains};
use crate::world::TerraceParams;

/// Largest width of the ground between two waters over which a waterfall falls.
const SILL_M: f32 = 0.3;
/// Growth of a waterfall's horizontal extent with its height, in meters per meter. Tuned by eye.
const REACH_PER_M: f32 = 0.35;
/// Constant part of a waterfall's horizontal extent. [`REACH_PER_M`] is the part that grows with the height. Tuned by eye.
const REACH_M: f32 = 0.16;
/// Length of the foam downstream of a waterfall. Tuned by eye.
const DRIFT_M: f32 = 0.75;
/// Drops per second and meter of a waterfall's width. Tuned by eye.
const DROPS_PER_M: f32 = 2.6;
/// Mean radius of the area that a drop presses on. Tuned by eye.
const DROP_M: f32 = 0.06;
/// Time for which a drop presses on the water. Tuned by eye.
const DROP_SECS: f64 = 0.15;
/// Largest width of one waterfall. A longer edge has several waterfalls side by side.
const PART_M: f32 = 1.0;

/// Returns the waterfalls from every terrace into lower terraces, each with its foam.
pub(super) fn waterfalls(terraces: &[TerraceParams]) -> Vec<StaticShape> {
    let mut found = Vec::new();
    for high in terraces {
        let corners = high.corners();
        let middle = high.middle_m();
        for (i, &from) in corners.iter().enumerate() {
            let to = corners
                .get(i + 1)
                .copied()
                .unwrap_or(corners.first().copied().unwrap_or(from));
            let parts = ((to - from).length() / PART_M).ceil().clamp(1.0, 32.0) as u32;
            for part in 0..parts {
                let ends = [part, part + 1].map(|p| from.lerp(to, p as f32 / parts as f32));
                let fall = fall(high, middle, ends, terraces);
                found.extend(fall);
                found.extend(fall.as_ref().map(foam));
            }
        }
    }
    found
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
    let shapes = waterfalls(terraces).into_iter();
    let falls = shapes.filter(|shape| shape.form == StaticForm::Waterfall);
    falls.map(|shape| {
        let Mat3 {
            x_axis,
            y_axis,
            z_axis,
        } = shape.half_axes_m;
        FallPlace {
            foot_m: shape.center_m - y_axis + z_axis,
            width_m: 2.0 * x_axis.length(),
            height_m: 2.0 * y_axis.length(),
        }
    })
}

/// Returns the foam downstream of a waterfall.
fn foam(fall: &StaticShape) -> StaticShape {
    let Mat3 {
        x_axis,
        y_axis,
        z_axis,
    } = fall.half_axes_m;
    let out = z_axis.normalize_or(Vec3::Z);
    let half = out * (DRIFT_M / 2.0);
    // The foam begins below the lower end of the waterfall.
    let middle = fall.center_m - y_axis + z_axis * 0.4 + half;
    StaticShape {
        form: StaticForm::Foam,
        center_m: middle,
        half_axes_m: Mat3::from_cols(x_axis, Vec3::Y * 0.002, half),
    }
}

/// Returns the drops that hit the lower water at `time_secs`, as round shadows. Times and positions of drops are not stored:
/// they are computed from the time.
pub(super) fn drops(
    falls: &[StaticShape],
    time_secs: f64,
    surface: &Surface,
) -> impl Iterator<Item = Visitor> {
    let moment = (time_secs / DROP_SECS).floor();
    let falls = falls
        .iter()
        .filter(|shape| shape.form == StaticForm::Waterfall);
    falls.enumerate().flat_map(move |(number, fall)| {
        let Mat3 {
            x_axis,
            y_axis,
            z_axis,
        } = fall.half_axes_m;
        let wanted = 2.0 * x_axis.length() * DROPS_PER_M * DROP_SECS as f32;
        let most = wanted.ceil() as u32;
        let center = fall.center_m;
        (0..most).filter_map(move |drop| {
            let id = (moment as i64 as u32)
                .wrapping_mul(31)
                .wrapping_add(7 * number as u32 + drop);
            let is_now = unit_hash(id, 95) * most as f32 <= wanted;
            let along = x_axis * (2.0 * unit_hash(id, 96) - 1.0);
            let at = center - y_axis + along + z_axis * (0.45 + 0.35 * unit_hash(id, 97));
            is_now.then(|| Visitor {
                centroid_m: surface.floor_from_world(at),
                radius_m: DROP_M * (0.6 + 0.8 * unit_hash(id, 98)),
                ..Visitor::default()
            })
        })
    })
}

/// Returns the waterfall over one piece of a terrace's edge; `None` if no lower water is next to the edge.
fn fall(
    high: &TerraceParams,
    middle: Vec2,
    [from, to]: [Vec2; 2],
    terraces: &[TerraceParams],
) -> Option<StaticShape> {
    let rim = (from + to) / 2.0;
    let along = (to - from).normalize_or_zero();
    let aside = along.perp();
    let out = if aside.dot(rim - middle) < 0.0 {
        -aside
    } else {
        aside
    };
    // The nearest lower water on the outer side of the edge, and the distance to this water.
    let (low, gap_m) = (0..=6).find_map(|step| {
        let gap_m = 0.01 + SILL_M * step as f32 / 6.0;
        let at = rim + out * gap_m;
        let is_lower = |t: &&TerraceParams| {
            t.surface_depth_m > high.surface_depth_m && polygon_contains(&t.corners(), at)
        };
        terraces.iter().find(is_lower).map(|low| (low, gap_m))
    })?;
    let drop_m = low.surface_depth_m - high.surface_depth_m;
    let reach_m = gap_m + REACH_M + REACH_PER_M * drop_m;
    let middle = rim + out * (reach_m / 2.0);
    let half = out * (reach_m / 2.0);
    // Right-handed axes: along the edge, up, downstream.
    let lip = Vec2::new(half.y, -half.x).normalize_or_zero() * ((to - from).length() / 2.0);
    Some(StaticShape {
        form: StaticForm::Waterfall,
        center_m: Vec3::new(
            middle.x,
            -(high.surface_depth_m + low.surface_depth_m) / 2.0,
            middle.y,
        ),
        half_axes_m: Mat3::from_cols(
            Vec3::new(lip.x, 0.0, lip.y),
            Vec3::Y * (drop_m / 2.0),
            Vec3::new(half.x, 0.0, half.y),
        ),
    })
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

    #[test]
    fn waterfalls_lead_into_the_lower_water_and_nowhere_else() {
        let found = waterfalls(&[terrace([-2.0, -0.1], 0.8), terrace([0.1, 2.0], 0.4)]);
        let is_fall = |shape: &StaticShape| shape.form == StaticForm::Waterfall;
        let (falls, foams): (Vec<StaticShape>, Vec<StaticShape>) =
            found.iter().copied().partition(is_fall);
        assert_eq!(
            falls.len(),
            2,
            "one waterfall per meter of an edge of 2 m: {found:?}"
        );
        assert_eq!(foams.len(), 2);
        for (fall, foam) in falls.into_iter().zip(foams) {
            let begins = foam.center_m - foam.half_axes_m.z_axis;
            // The foam begins on the lower water.
            assert!(begins.x < -0.1 && (begins.y + 0.8).abs() < 1e-6);
            assert!(fall.half_axes_m.determinant() > 0.0);
            // The waterfall flows to the left.
            assert!(fall.half_axes_m.z_axis.x < 0.0);
            assert!((fall.center_m.y + 0.6).abs() < 1e-6);
            let lip = fall.center_m - fall.half_axes_m.z_axis;
            // The waterfall begins at the edge of the higher water.
            assert!((lip.x - 0.1).abs() < 1e-6);
        }
    }

    #[test]
    fn drops_hit_the_lower_water_at_the_end_of_a_waterfall() {
        let surface = Surface::default();
        let falls = waterfalls(&[terrace([-2.0, -0.1], 0.8), terrace([0.1, 2.0], 0.4)]);
        let of = |time_secs| drops(&falls, time_secs, &surface).collect::<Vec<_>>();
        let mut count = 0;
        for tick in 0..400 {
            let drops = of(f64::from(tick) * DROP_SECS + 0.05);
            count += drops.len();
            for drop in drops {
                let at = drop.centroid_m;
                assert!((-0.35..-0.02).contains(&at.x) && at.y.abs() < 1.0, "{at}");
            }
        }
        // A waterfall of 2 m for 60 s gives 312 drops on average.
        assert!((250..380).contains(&count), "{count}");
        assert_eq!(of(1.06), of(1.19), "drops are constant within DROP_SECS");
    }

    #[test]
    fn waters_of_equal_height_and_empty_outlines_have_no_waterfalls() {
        assert!(waterfalls(&[terrace([-2.0, 0.0], 0.4), terrace([0.0, 2.0], 0.4)]).is_empty());
        let broken = TerraceParams {
            outline_m: Vec::new(),
            ..TerraceParams::default()
        };
        assert!(waterfalls(&[broken, terrace([-1.0, 1.0], 0.5)]).is_empty());
    }
}
