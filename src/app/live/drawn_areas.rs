//! The areas of a camera, in its picture: those that vision uses, and those that an operator draws there.
//!
//! In: the map of the vision stage. Out: corners in pixels for the status, and an edit of the site file for what is drawn. Must not: change
//! the site.

use glam::{DVec2, Vec2};
use serde_json::{Value, json};

use crate::control::{AreaList, AreaStatus, DocumentName, DrawnArea, Edit, EditChange, PoolEdit};
use crate::geometry::FloorFromCamera;
use crate::vision::{Area, FloorView, VisionParams};

/// What a camera sees: size of its picture, map to the floor, and areas.
#[derive(Clone, Debug)]
pub(crate) struct SeenAreas {
    pub(crate) size_px: [u32; 2],
    map: FloorFromCamera,
    pub(crate) areas: Vec<AreaStatus>,
}

impl SeenAreas {
    pub(crate) fn new(
        view: &FloorView,
        params: &VisionParams,
        (width, height): (u32, u32),
    ) -> Self {
        let map = view.map;
        let lists = [
            (AreaList::Ignore, &params.ignore),
            (AreaList::Include, &params.include),
        ];
        let areas = lists.into_iter().flat_map(|(list, areas)| {
            let status = move |(index, area): (usize, &Area)| AreaStatus {
                list,
                index,
                is_on_floor: area.camera_px.is_empty(),
                corners_px: corners_px(area, &map),
            };
            areas.iter().enumerate().map(status)
        });
        Self {
            size_px: [width, height],
            map,
            areas: areas.collect(),
        }
    }

    /// Returns the edit of the site file that adds or replaces a drawn area. `lists` is the path of the table with the lists of areas.
    ///
    /// # Errors
    /// When a corner is not on the floor.
    pub(crate) fn edit(&self, drawn: &DrawnArea, lists: &str) -> Result<PoolEdit, String> {
        let corners: Vec<[f64; 2]> = if drawn.is_on_floor {
            let floor_m = |[x, y]: &[f32; 2]| {
                let at_m = self
                    .map
                    .floor_from_camera(DVec2::new(f64::from(*x), f64::from(*y)));
                at_m.is_finite().then(|| rounded(at_m, 1e3)).ok_or_else(|| {
                    "a corner is above the horizon, where there is no floor; draw it lower, or draw the area in the picture".to_owned()
                })
            };
            drawn
                .corners_px
                .iter()
                .map(floor_m)
                .collect::<Result<_, _>>()?
        } else {
            let pixel = |[x, y]: &[f32; 2]| rounded(DVec2::new(f64::from(*x), f64::from(*y)), 10.0);
            drawn.corners_px.iter().map(pixel).collect()
        };
        let key = if drawn.is_on_floor {
            "floor_m"
        } else {
            "camera_px"
        };
        let value: Value = json!({ key: corners });
        let name = drawn.list.name();
        let (path, change) = match drawn.index {
            Some(index) => (
                format!("{lists}.{name}[{index}]"),
                EditChange::Set { value },
            ),
            None => (
                format!("{lists}.{name}"),
                EditChange::Insert { index: None, value },
            ),
        };
        let edit = Edit {
            document: DocumentName::Site,
            path,
            change,
        };
        Ok(PoolEdit::Edit {
            edits: vec![edit],
            joins_last: false,
        })
    }
}

fn rounded(at: DVec2, per_unit: f64) -> [f64; 2] {
    ((at * per_unit).round() / per_unit).to_array()
}

/// Returns the corners of an area in the picture; empty if a corner is behind the camera.
fn corners_px(area: &Area, map: &FloorFromCamera) -> Vec<[f32; 2]> {
    if !area.camera_px.is_empty() {
        return area.camera_px.clone();
    }
    let pixel = |corner: &[f32; 2]| {
        let at = (map.camera_from_floor(Vec2::from(*corner).as_dvec2()) * 10.0).round() / 10.0;
        at.is_finite().then(|| at.as_vec2().to_array())
    };
    let corners: Option<Vec<_>> = area.floor_m.iter().map(pixel).collect();
    corners.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Surface;

    fn seen(params: &VisionParams) -> SeenAreas {
        let surface = Surface::default();
        let view = FloorView {
            map: FloorFromCamera::whole_frame(320, 240, &surface),
            lamp_m: None,
            camera_m: None,
            surface,
        };
        SeenAreas::new(&view, params, (320, 240))
    }

    #[test]
    fn an_area_that_is_drawn_on_the_floor_lies_where_it_was_drawn() {
        let corners_px = vec![[40.0, 40.0], [120.0, 40.0], [120.0, 90.0]];
        for is_on_floor in [true, false] {
            let drawn = DrawnArea {
                list: AreaList::Ignore,
                index: None,
                is_on_floor,
                corners_px: corners_px.clone(),
            };
            let edit = seen(&VisionParams::default())
                .edit(&drawn, "vision")
                .unwrap();
            let PoolEdit::Edit { edits, .. } = edit else {
                panic!("{edit:?}")
            };
            assert_eq!(edits[0].path, "vision.ignore");
            let EditChange::Insert { value, .. } = &edits[0].change else {
                panic!("{edits:?}")
            };
            let area: Area = serde_json::from_value(value.clone()).unwrap();
            assert_eq!(area.camera_px.is_empty(), is_on_floor);
            let params = VisionParams {
                ignore: vec![area],
                ..VisionParams::default()
            };
            let shown = &seen(&params).areas[0];
            let pairs = shown.corners_px.iter().zip(&corners_px);
            let far = pairs.map(|(a, b)| Vec2::from(*a).distance(Vec2::from(*b)));
            assert!(far.fold(0.0, f32::max) < 0.15, "{shown:?}");
        }
    }

    #[test]
    fn an_area_is_replaced_at_its_index() {
        let drawn = DrawnArea {
            list: AreaList::Include,
            index: Some(3),
            is_on_floor: false,
            corners_px: vec![[0.0, 0.0], [9.0, 0.0], [9.0, 9.0]],
        };
        let edit = seen(&VisionParams::default()).edit(&drawn, "cameras[1]");
        let Ok(PoolEdit::Edit { edits, .. }) = edit else {
            panic!("{edit:?}")
        };
        assert_eq!(edits[0].path, "cameras[1].include[3]");
        assert!(matches!(edits[0].change, EditChange::Set { .. }));
    }
}
