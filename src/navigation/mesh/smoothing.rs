//! Rounding of path corners: after a corner, the direction changes gradually from the old direction to the direction of
//! the next point.
//!
//! In: a path and a radius. Out: points of the rounded path, all on the mesh. **Source**: Lischka 2014, §7.5.

use glam::Vec2;

use super::surface::NavMesh;

/// Number of steps into which a rounded corner is divided.
const STEPS: usize = 8;

/// Largest number of points that the rounded path has for each corner of the original path.
pub(super) const POINTS_PER_CORNER: usize = STEPS + 1;

/// Writes to `course` the rounded path from a start along corners. The radius at a corner is at most the distance to
/// the next corner. If the rounded path would leave the mesh, the radius is reduced; if a reduced radius does not help,
/// the corner stays sharp.
pub(super) fn round_corners(
    mesh: &NavMesh,
    terrace: u16,
    (start, corners): (Vec2, &[Vec2]),
    radius_m: f32,
    course: &mut Vec<Vec2>,
) {
    course.clear();
    let mut before = start;
    for (index, &corner) in corners.iter().enumerate() {
        course.push(corner);
        let Some(&next) = corners.get(index + 1) else {
            break;
        };
        let mut radius_m = radius_m.min(corner.distance(next));
        let first = course.len();
        // Tries the full radius, then a half, then a quarter of it.
        for _ in 0..3 {
            course.truncate(first);
            if radius_m > 1e-3 && bend(mesh, terrace, (before, corner, next), radius_m, course) {
                break;
            }
            course.truncate(first);
            radius_m /= 2.0;
        }
        before = course.last().copied().unwrap_or(corner);
    }
}

/// Adds points after a corner. From point to point, the direction turns from the old direction to the direction of the
/// next corner. Returns false if a step would leave the mesh.
fn bend(
    mesh: &NavMesh,
    terrace: u16,
    (before, corner, next): (Vec2, Vec2, Vec2),
    radius_m: f32,
    course: &mut Vec<Vec2>,
) -> bool {
    let old = (corner - before).normalize_or_zero();
    let step_m = radius_m / STEPS as f32;
    let mut at = corner;
    for step in 1..=STEPS {
        // The weight of the old direction decreases slowly at first, then faster.
        let share = step as f32 / STEPS as f32;
        let fading = 1.0 - share * share;
        let pull = (next - at).normalize_or_zero();
        let to = at + (old * fading + pull * (1.0 - fading)).normalize_or(pull) * step_m;
        if !mesh.has_line_of_sight(terrace, at, to) {
            return false;
        }
        course.push(to);
        at = to;
    }
    mesh.has_line_of_sight(terrace, at, next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::navigation::Footprints;
    use crate::navigation::mesh::{
        Abilities, MeshLinks, MeshOutcome, MeshPath, MeshPoint, MeshQuery, MeshSearch,
        TerraceInput, build_mesh,
    };
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_rounded_path_stays_on_the_mesh(
            boxes in prop::collection::vec((-3.0f32..3.0, -2.0f32..2.0, 0.1f32..0.9, 0.0f32..6.3), 1..7),
            ay in -2.9f32..2.9, by in -2.9f32..2.9, radius in 0.0f32..0.8,
        ) {
            let pool = [Vec2::new(-4.0, -3.0), Vec2::new(4.0, -3.0), Vec2::new(4.0, 3.0), Vec2::new(-4.0, 3.0)];
            let mut obstacles = Footprints::default();
            for (x, y, half, turn) in boxes {
                obstacles.push_box(Vec2::new(x, y), Vec2::new(half, 0.15), Vec2::from_angle(turn));
            }
            let mesh = build_mesh(&[TerraceInput { outline_m: &pool, obstacles: &obstacles, grow_m: 0.1, piece_m: f32::INFINITY }]).unwrap();
            let links = MeshLinks::new(&mesh, Vec::new(), &[]);
            let (a, b) = (Vec2::new(-3.9, ay), Vec2::new(3.9, by));
            let point = |at_m| MeshPoint { terrace: 0, at_m };
            let query = MeshQuery {
                start: point(a), goal: point(b), abilities: Abilities::default(),
                speed_mps: 1.0, ..MeshQuery::default()
            };
            let mut path = MeshPath::default();
            if MeshSearch::default().find_path(&mesh, &links, &query, &mut path) == MeshOutcome::Found {
                let mut course = Vec::new();
                round_corners(&mesh, 0, (a, &path.points_m), radius, &mut course);
                prop_assert_eq!(course.last(), path.points_m.last());
                let mut from = a;
                for &to in &course {
                    prop_assert!(obstacles.is_clear(from, to, 0.0), "{from} {to}");
                    prop_assert!(to.abs().cmple(Vec2::new(4.001, 3.001)).all());
                    from = to;
                }
            }
        }
    }
}
