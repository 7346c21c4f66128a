//! Areas of the floor that are watched or not, as polygons on the floor or in the camera picture.

use glam::Vec2;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::geometry::polygon_contains;

/// A polygon on the floor or in the camera picture. Exactly one of both is given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Area {
    /// Corners of the polygon in order, as points (x, z) of the floor in meters. The origin is in the middle of the surface.
    #[schemars(length(max = 64))]
    pub floor_m: Vec<[f32; 2]>,
    /// Corners of the polygon in order, as points (x, y) of the camera picture in pixels, from the upper left corner.
    #[schemars(length(max = 64))]
    pub camera_px: Vec<[f32; 2]>,
}

impl Area {
    /// Returns whether the area contains a pixel, given also as its point on the floor.
    fn contains(&self, pixel: Vec2, floor_m: Vec2, corners: &mut Vec<Vec2>) -> bool {
        let (points, at) = if self.camera_px.is_empty() {
            (&self.floor_m, floor_m)
        } else {
            (&self.camera_px, pixel)
        };
        corners.clear();
        corners.extend(points.iter().copied().map(Vec2::from_array));
        polygon_contains(corners, at)
    }

    /// Returns what is wrong with the area.
    fn problem(&self) -> Option<String> {
        let points = match (self.floor_m.as_slice(), self.camera_px.as_slice()) {
            ([], []) => return Some("has no corners; give floor_m or camera_px".to_owned()),
            (points, []) | ([], points) => points,
            _ => return Some("has floor_m and camera_px; keep one of them".to_owned()),
        };
        if points.len() < 3 {
            return Some(format!(
                "has {} corners; a polygon has 3 or more",
                points.len()
            ));
        }
        let are_finite = points.iter().flatten().all(|value| value.is_finite());
        (!are_finite).then(|| "has a corner that is no number".to_owned())
    }
}

/// Returns whether a pixel, given also as its point on the floor, is watched: it is in no ignored area and, if there are included
/// ones, in one of them.
pub(super) fn is_watched(
    [ignore, include]: [&[Area]; 2],
    pixel: Vec2,
    floor_m: Vec2,
    corners: &mut Vec<Vec2>,
) -> bool {
    let mut is_in = |area: &Area| area.contains(pixel, floor_m, corners);
    !ignore.iter().any(&mut is_in) && (include.is_empty() || include.iter().any(is_in))
}

/// Adds what is wrong with the areas of a key.
pub(super) fn add_problems(name: &str, areas: &[Area], problems: &mut Vec<(String, String)>) {
    for (index, area) in areas.iter().enumerate() {
        let problem = area.problem();
        problems.extend(problem.map(|text| (format!("{name}[{index}]"), text)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(reach: f32) -> Vec<[f32; 2]> {
        vec![
            [-reach, -reach],
            [reach, -reach],
            [reach, reach],
            [-reach, reach],
        ]
    }

    #[test]
    fn a_pixel_is_watched_inside_an_included_and_outside_every_ignored_area() {
        let floor = |reach| Area {
            floor_m: square(reach),
            ..Area::default()
        };
        let include = vec![floor(2.0)];
        let ignore = vec![
            floor(0.5),
            Area {
                camera_px: vec![[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]],
                ..Area::default()
            },
        ];
        let is_watched = |pixel: [f32; 2], floor_m: [f32; 2]| {
            let areas = [ignore.as_slice(), &include];
            is_watched(areas, pixel.into(), floor_m.into(), &mut Vec::new())
        };
        assert!(is_watched([20.0, 20.0], [1.0, 1.0]));
        assert!(
            !is_watched([20.0, 20.0], [0.2, 0.2]),
            "ignored on the floor"
        );
        assert!(
            !is_watched([5.0, 5.0], [1.0, 1.0]),
            "ignored in the picture"
        );
        assert!(!is_watched([20.0, 20.0], [2.5, 1.0]), "not included");
    }

    #[test]
    fn an_area_without_a_polygon_or_with_two_is_a_problem() {
        let ignore = [
            Area::default(),
            Area {
                floor_m: square(1.0),
                camera_px: square(1.0),
            },
            Area {
                floor_m: vec![[0.0, 0.0], [1.0, 0.0]],
                ..Area::default()
            },
        ];
        let mut problems = Vec::new();
        add_problems("ignore", &ignore, &mut problems);
        let paths: Vec<String> = problems.into_iter().map(|(path, _)| path).collect();
        assert_eq!(paths, ["ignore[0]", "ignore[1]", "ignore[2]"]);
    }
}
