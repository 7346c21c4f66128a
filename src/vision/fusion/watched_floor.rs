//! The floor that a camera watches, and how far a point is from its border.

use glam::{DVec2, Vec2};

use super::BORDER_M;
use crate::vision::areas;
use crate::vision::{FloorView, VisionParams};

/// Width of a cell, in meters. Foot points are not more exact.
const CELL_M: f32 = 0.1;
/// Distance from the surface up to which cells are stored, in meters. Visitors farther away are of no interest.
const AROUND_M: f32 = 3.0;

/// The floor that a camera watches, as the distance of each cell of the floor from the border.
#[derive(Clone, Debug, Default)]
pub struct WatchedFloor {
    corner_m: Vec2,
    columns: usize,
    /// Distance to the next cell that is not watched, at most about [`BORDER_M`] and a cell, row by row; 0 if the cell is not watched.
    margins_m: Vec<f32>,
}

impl WatchedFloor {
    /// Finds the floor that a camera watches: what its picture of this size shows, without ignored areas.
    pub fn new(view: &FloorView, params: &VisionParams, (width_px, height_px): (u32, u32)) -> Self {
        let half_m = view.surface.half_extent_m() + AROUND_M;
        let size = (half_m * 2.0 / CELL_M).ceil();
        let (columns, rows) = (size.x as usize, size.y as usize);
        let lens = view.map.lens();
        let trusted_px = lens.trusted_radius() * lens.half_diagonal_px();
        let last_px = DVec2::new(f64::from(width_px), f64::from(height_px)) - 1.0;
        let mut corners = Vec::new();
        let mut is_watched = |column: usize, row: usize| {
            let floor_m = Vec2::new(column as f32 + 0.5, row as f32 + 0.5) * CELL_M - half_m;
            let pixel = view.map.camera_from_floor(floor_m.as_dvec2());
            // A comparison with NaN is false, so points behind the camera are outside.
            let is_inside = pixel.cmpge(DVec2::ZERO).all() && pixel.cmple(last_px).all();
            let areas = [params.ignore.as_slice(), &params.include];
            is_inside
                && pixel.distance(lens.center_px()) < trusted_px
                && areas::is_watched(areas, pixel.as_vec2(), floor_m, &mut corners)
        };
        let watched: Vec<bool> = (0..columns * rows)
            .map(|cell| is_watched(cell % columns, cell / columns))
            .collect();
        let reach = (BORDER_M / CELL_M).ceil() as isize + 1;
        let margin_m = |cell: usize| {
            let (column, row) = ((cell % columns) as isize, (cell / columns) as isize);
            let cells = (-reach..=reach).flat_map(|y| (-reach..=reach).map(move |x| (x, y)));
            let unwatched = cells.filter(|&(x, y)| {
                let (x, y) = (column + x, row + y);
                let is_stored =
                    (0..columns as isize).contains(&x) && (0..rows as isize).contains(&y);
                is_stored && !watched[y as usize * columns + x as usize]
            });
            let distances = unwatched.map(|(x, y)| Vec2::new(x as f32, y as f32).length());
            distances.fold(reach as f32, f32::min) * CELL_M
        };
        Self {
            corner_m: -half_m,
            columns,
            margins_m: (0..columns * rows).map(margin_m).collect(),
        }
    }

    /// Returns the distance from a point to the border of the watched floor, limited to about [`BORDER_M`] plus one cell; 0 if the point is
    /// not watched, and infinity if no view is set, because the whole floor is watched then.
    pub(super) fn margin_m(&self, floor_m: Vec2) -> f32 {
        if self.margins_m.is_empty() {
            return f32::INFINITY;
        }
        let cell = ((floor_m - self.corner_m) / CELL_M).floor();
        if !cell.cmpge(Vec2::ZERO).all() || cell.x >= self.columns as f32 {
            return 0.0;
        }
        let index = cell.y as usize * self.columns + cell.x as usize;
        self.margins_m.get(index).copied().unwrap_or_default()
    }
}
