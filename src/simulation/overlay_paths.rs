//! Marks of ways: paths with their grids and open lists, and the mesh of the terraces with its links.
//!
//! In: a pool after a tick. Out: annotations. Must not: change what anybody does.

use glam::{UVec2, Vec2, Vec3};

use super::tick::Simulation;
use crate::navigation::{LocalGrid, MeshLink, NavMesh};
use crate::world::{OverlayItem, OverlayLayer, OverlayShape};

impl Simulation {
    /// Fills in the ways of all agents: what is still to go, the blocked cells of the grid, and the cells that a running
    /// search has still to look at.
    pub(super) fn mark_ways(&self, marks: &mut Vec<OverlayItem>) {
        for index in 0..self.world.agents.len() {
            let at = self.world.agents.bodies[index].position_m;
            let id = self.world.agents.ids[index];
            let mut way = |corners: &[Vec2]| {
                let mut from = at;
                for &corner in corners {
                    let to = Vec3::new(corner.x, at.y, corner.y);
                    marks.push(arrow(OverlayLayer::Path, (from, to), ""));
                    from = to;
                }
            };
            way(self.terrace_path(id));
            let trips = u64::from(id) << 8..u64::from(id + 1) << 8;
            for trip in self.planner.ids().filter(|id| trips.contains(id)) {
                way(self.planner.remaining_path(trip));
            }
        }
        for id in self.planner.ids() {
            let Some(grid) = self.planner.grid(id) else {
                continue;
            };
            let index = self.world.agents.ids.binary_search(&((id >> 8) as u32));
            let y = index.map_or(-0.5, |index| self.world.agents.bodies[index].position_m.y);
            mark_grid(grid, y, marks);
            self.planner
                .for_each_open(id, |at| marks.push(point(at, y, "o")));
        }
    }

    /// Fills in the mesh: its border, its portals, and its links by what they are.
    pub(super) fn mark_mesh(&self, marks: &mut Vec<OverlayItem>) {
        let (mesh, links) = self.mesh();
        let terraces = &self.world.water.params.terraces;
        let height = |polygon: u32| {
            let terrace = usize::from(mesh.polygon(polygon).terrace);
            terraces.get(terrace).map_or(0.0, |t| -t.surface_depth_m)
        };
        for place in 0..mesh.len() as u32 {
            mark_polygon(mesh, place, height(place), marks);
        }
        for link in links.iter() {
            let middle = |(a, b): (Vec2, Vec2), y: f32| {
                let at = (a + b) / 2.0;
                Vec3::new(at.x, y, at.y)
            };
            let ends = (
                middle(link.start, height(link.from)),
                middle(link.landing, height(link.to)),
            );
            let text = if MeshLink::is_leap(link) {
                "leap"
            } else {
                "drop"
            };
            marks.push(arrow(OverlayLayer::Mesh, ends, text));
        }
    }
}

fn mark_polygon(mesh: &NavMesh, place: u32, y: f32, marks: &mut Vec<OverlayItem>) {
    for (a, b, across) in mesh.edges(place) {
        // A portal belongs to two polygons; it is marked once.
        if across > place {
            let ends = (Vec3::new(a.x, y, a.y), Vec3::new(b.x, y, b.y));
            marks.push(arrow(OverlayLayer::Mesh, ends, ""));
        }
    }
}

/// The blocked cells that touch a free one, and the grid's corners.
fn mark_grid(grid: &LocalGrid, y: f32, marks: &mut Vec<OverlayItem>) {
    let (map, area) = (grid.map(), grid.area());
    let size = map.size();
    for row in 0..size.y {
        for column in 0..size.x {
            let cell = UVec2::new(column, row);
            let beside = [(1, 0), (-1, 0), (0, 1), (0, -1)];
            let touches_free = beside.iter().any(|&(dx, dy)| {
                map.is_free(UVec2::new(
                    column.wrapping_add_signed(dx),
                    row.wrapping_add_signed(dy),
                ))
            });
            if touches_free && !map.is_free(cell) {
                marks.push(point(grid.cell_center_m(cell), y, "."));
            }
        }
    }
    for corner in [area.low_m, area.high_m] {
        marks.push(point(corner, y, "+"));
    }
}

fn point(at: Vec2, y: f32, text: &str) -> OverlayItem {
    OverlayItem {
        layer: OverlayLayer::Path,
        shape: OverlayShape::Point(Vec3::new(at.x, y, at.y)),
        text: text.to_owned(),
    }
}

fn arrow(layer: OverlayLayer, (from_m, to_m): (Vec3, Vec3), text: &str) -> OverlayItem {
    OverlayItem {
        layer,
        shape: OverlayShape::Arrow { from_m, to_m },
        text: text.to_owned(),
    }
}
