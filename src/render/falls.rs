//! White water between terraces: where a higher water's rim lies beside a lower one.
//!
//! In: the pool's terraces. Out: shapes of form [`Form::Fall`] and [`Form::Foam`], drawn over everything that swims, and
//! where drops stir the water.

use glam::{Mat3, Vec2, Vec3};

use super::pose::chance;
use super::rock::{Form, RockShape};
use crate::geometry::{Surface, polygon};
use crate::world::{Shadow, TerraceParams};

/// Farthest that water flows over a sill before it falls.
const SILL_M: f32 = 0.3;
/// How far white water reaches on from where it falls, for each meter of its height and at least. Tuned by eye,
/// 2026-11-22.
const REACH_PER_M: f32 = 0.35;
const REACH_M: f32 = 0.16;
/// How far foam drifts from there before it is gone. Tuned by eye, 2026-11-22.
const DRIFT_M: f32 = 0.75;
/// Drops that are felt on each meter of a fall in a second, how wide each is, and how long it pushes. Tuned by eye,
/// 2026-11-22.
const DROPS_PER_M: f32 = 2.6;
const DROP_M: f32 = 0.11;
const DROP_SECS: f64 = 0.15;
/// Length of one fall along a rim; a longer rim has several side by side.
const PART_M: f32 = 1.0;

/// The falls from every terrace into those below it.
pub fn falls(terraces: &[TerraceParams]) -> Vec<RockShape> {
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

/// The foam that drifts away from where a fall meets the lower water.
fn foam(fall: &RockShape) -> RockShape {
    let Mat3 {
        x_axis,
        y_axis,
        z_axis,
    } = fall.half_axes_m;
    let out = z_axis.normalize_or(Vec3::Z);
    let half = out * (DRIFT_M / 2.0);
    // It begins under the fall's white foot.
    let middle = fall.center_m - y_axis + z_axis * 0.4 + half;
    RockShape {
        form: Form::Foam,
        center_m: middle,
        // Wider than its fall: it fades into its neighbors.
        half_axes_m: Mat3::from_cols(x_axis * 1.2, Vec3::Y * 0.002, half),
    }
}

/// Drops that strike the lower water at a time, as round shadows on the floor. Their places depend on nothing but time.
pub(super) fn drops(
    falls: &[RockShape],
    time_secs: f64,
    surface: &Surface,
) -> impl Iterator<Item = Shadow> {
    let moment = (time_secs / DROP_SECS).floor();
    let falls = falls.iter().filter(|shape| shape.form == Form::Fall);
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
            let is_now = chance(id, 95) * most as f32 <= wanted;
            let along = x_axis * (2.0 * chance(id, 96) - 1.0);
            let at = center - y_axis + along + z_axis * (0.45 + 0.35 * chance(id, 97));
            is_now.then(|| Shadow {
                centroid_m: surface.floor_from_world(at),
                radius_m: DROP_M * (0.6 + 0.8 * chance(id, 98)),
                ..Shadow::default()
            })
        })
    })
}

/// The fall over a piece of a rim, where there is lower water beside it.
fn fall(
    high: &TerraceParams,
    middle: Vec2,
    [from, to]: [Vec2; 2],
    terraces: &[TerraceParams],
) -> Option<RockShape> {
    let rim = (from + to) / 2.0;
    let along = (to - from).normalize_or_zero();
    let aside = along.perp();
    let out = if aside.dot(rim - middle) < 0.0 {
        -aside
    } else {
        aside
    };
    // The nearest water beyond the sill.
    let (low, gap_m) = (0..=6).find_map(|step| {
        let gap_m = 0.01 + SILL_M * step as f32 / 6.0;
        let at = rim + out * gap_m;
        let is_lower = |t: &&TerraceParams| {
            t.surface_depth_m > high.surface_depth_m && polygon::contains(&t.corners(), at)
        };
        terraces.iter().find(is_lower).map(|low| (low, gap_m))
    })?;
    let drop_m = low.surface_depth_m - high.surface_depth_m;
    let reach_m = gap_m + REACH_M + REACH_PER_M * drop_m;
    let middle = rim + out * (reach_m / 2.0);
    let half = out * (reach_m / 2.0);
    // Right-handed: along the lip, up, down the stream.
    let lip = Vec2::new(half.y, -half.x).normalize_or_zero() * ((to - from).length() / 2.0);
    Some(RockShape {
        form: Form::Fall,
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
    fn water_falls_over_a_sill_into_the_lower_water_and_nowhere_else() {
        let found = falls(&[terrace([-2.0, -0.1], 0.8), terrace([0.1, 2.0], 0.4)]);
        let is_fall = |shape: &RockShape| shape.form == Form::Fall;
        let (falls, foams): (Vec<RockShape>, Vec<RockShape>) =
            found.iter().copied().partition(is_fall);
        assert_eq!(falls.len(), 2, "two meters of rim: {found:?}");
        assert_eq!(foams.len(), 2);
        for (fall, foam) in falls.into_iter().zip(foams) {
            let begins = foam.center_m - foam.half_axes_m.z_axis;
            assert!(
                begins.x < -0.1 && (begins.y + 0.8).abs() < 1e-6,
                "on the lower water"
            );
            assert!(fall.half_axes_m.determinant() > 0.0);
            assert!(fall.half_axes_m.z_axis.x < 0.0, "it flows to the left");
            assert!((fall.center_m.y + 0.6).abs() < 1e-6);
            let lip = fall.center_m - fall.half_axes_m.z_axis;
            assert!(
                (lip.x - 0.1).abs() < 1e-6,
                "it begins at the higher water's rim"
            );
        }
    }

    #[test]
    fn drops_strike_the_lower_water_at_a_fall_s_foot() {
        let surface = Surface::default();
        let falls = falls(&[terrace([-2.0, -0.1], 0.8), terrace([0.1, 2.0], 0.4)]);
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
        // Two meters of fall for a minute.
        assert!((250..380).contains(&count), "{count}");
        assert_eq!(of(1.06), of(1.19), "a drop pushes for a moment");
    }

    #[test]
    fn still_water_and_broken_outlines_fall_nowhere() {
        assert!(falls(&[terrace([-2.0, 0.0], 0.4), terrace([0.0, 2.0], 0.4)]).is_empty());
        let broken = TerraceParams {
            outline_m: Vec::new(),
            ..TerraceParams::default()
        };
        assert!(falls(&[broken, terrace([-1.0, 1.0], 0.5)]).is_empty());
    }
}
