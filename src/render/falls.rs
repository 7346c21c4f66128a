//! White water between terraces: where a higher water's rim lies beside a lower one.
//!
//! In: the pool's terraces. Out: shapes of form [`Form::Fall`], drawn over everything that swims.

use glam::{Mat3, Vec2, Vec3};

use super::still::{Form, RockShape};
use crate::geometry::polygon;
use crate::world::TerraceParams;

/// Farthest that water flows over a sill before it falls.
const SILL_M: f32 = 0.3;
/// How far white water reaches on from where it falls, for each meter of its height and at least. Tuned by eye,
/// 2026-11-22.
const REACH_PER_M: f32 = 0.35;
const REACH_M: f32 = 0.16;
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
                found.extend(fall(high, middle, ends, terraces));
            }
        }
    }
    found
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
        assert_eq!(found.len(), 2, "two meters of rim: {found:?}");
        for fall in &found {
            assert_eq!(fall.form, Form::Fall);
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
    fn still_water_and_broken_outlines_fall_nowhere() {
        assert!(falls(&[terrace([-2.0, 0.0], 0.4), terrace([0.0, 2.0], 0.4)]).is_empty());
        let broken = TerraceParams {
            outline_m: Vec::new(),
            ..TerraceParams::default()
        };
        assert!(falls(&[broken, terrace([-1.0, 1.0], 0.5)]).is_empty());
    }
}
