//! Overlay items of path finding: paths with their grids and open lists, and the mesh of the terraces with its links.
//!
//! In: a pool after a tick. Out: overlay items. Must not: change what an agent does.

use glam::{UVec2, Vec2, Vec3};

use super::Simulation;
use crate::navigation::{LocalGrid, MeshLink, NavMesh};
use crate::world::{OverlayItem, OverlayLayer, OverlayShape};

impl Simulation {
    /// Adds the paths of all agents: the rest of each path, the blocked cells of its grid, and the open list of a running
    /// search.
    pub(super) fn add_paths(&self, items: &mut Vec<OverlayItem>) {
        let agents = &self.state.world.agents;
        let planner = &self.state.planner;
        for (id, body) in agents.ids.iter().zip(&agents.bodies) {
            let at = body.position_m;
            let mut add_path = |corners: &[Vec2]| {
                let mut from = at;
                for &corner in corners {
                    let to = Vec3::new(corner.x, at.y, corner.y);
                    items.push(arrow(OverlayLayer::Path, (from, to), ""));
                    from = to;
                }
            };
            add_path(self.terrace_path(*id));
            let trips = u64::from(*id) << 8..u64::from(id + 1) << 8;
            for trip in planner.ids().filter(|id| trips.contains(id)) {
                add_path(planner.remaining_path(trip));
            }
        }
        for trip in planner.ids() {
            let Some(grid) = planner.grid(trip) else {
                continue;
            };
            let index = agents.index_of((trip >> 8) as u32);
            let y = index.map_or(-0.5, |index| agents.bodies[index].position_m.y);
            add_grid(grid, y, items);
            planner.for_each_open(trip, |at| items.push(point(at, y, "o")));
        }
    }

    /// Adds the mesh of the terraces: its border, its portals and its links, labelled with their kind.
    pub(super) fn add_mesh(&self, items: &mut Vec<OverlayItem>) {
        // The mesh of the largest bodies lies inside all others.
        let Some((mesh, links)) = self.meshes().last() else {
            return;
        };
        let terraces = &self.plan.world.water.params.terraces;
        let height = |polygon: u32| {
            let terrace = usize::from(mesh.polygon(polygon).terrace);
            terraces.get(terrace).map_or(0.0, |t| -t.surface_depth_m)
        };
        for polygon in 0..mesh.len() as u32 {
            add_edges(mesh, polygon, height(polygon), items);
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
            items.push(arrow(OverlayLayer::Mesh, ends, text));
        }
    }
}

/// Adds the border edges and portals of a polygon. Leaves out portals to polygons with a smaller number, because they were
/// added with those polygons.
fn add_edges(mesh: &NavMesh, polygon: u32, y: f32, items: &mut Vec<OverlayItem>) {
    for (a, b, across) in mesh.edges(polygon) {
        if across > polygon {
            let ends = (Vec3::new(a.x, y, a.y), Vec3::new(b.x, y, b.y));
            items.push(arrow(OverlayLayer::Mesh, ends, ""));
        }
    }
}

/// Adds the blocked cells of a grid that touch a free cell, and two opposite corners of the grid.
fn add_grid(grid: &LocalGrid, y: f32, items: &mut Vec<OverlayItem>) {
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
                items.push(point(grid.cell_center_m(cell), y, "."));
            }
        }
    }
    for corner in [area.low_m, area.high_m] {
        items.push(point(corner, y, "+"));
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
