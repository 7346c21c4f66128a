//! The pool's extent in world space: the depth band, the picture's edge at a depth, and where out of sight begins.

use glam::{Vec2, Vec3};

use super::pool::{EdgeMode, PoolParams};
use super::random::{Random, RandomStream};
use crate::geometry::{Solid, Surface, SurfaceKind};

/// The pool, ready to be asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Water {
    /// The surface that the picture lies on.
    pub surface: Surface,
    /// Numbers of the pool.
    pub params: PoolParams,
}

impl Water {
    /// How much wider the picture is at a height `y` than on the surface.
    pub fn scale(&self, y: f32) -> f32 {
        self.surface.scale_at_depth(-y)
    }

    /// Half of the picture's width and height at a height `y`, in (x, z).
    pub fn visible_half_m(&self, y: f32) -> Vec2 {
        self.surface.half_extent_m() * self.scale(y)
    }

    /// Half of the extent that fish belong in at a height `y`: the picture and the margin around it.
    pub fn edge_half_m(&self, y: f32) -> Vec2 {
        (self.visible_half_m(y) + self.params.margin_m).max(Vec2::splat(0.05))
    }

    /// Lowest and highest y of the center of a body of this radius. Where the pool is shallower than the body, both are
    /// its middle.
    pub fn y_range_m(&self, radius_m: f32) -> (f32, f32) {
        let low = -self.params.ground_depth_m + radius_m;
        let high = -self.params.surface_depth_m - radius_m;
        if low <= high {
            return (low, high);
        }
        let middle = -(self.params.ground_depth_m + self.params.surface_depth_m) / 2.0;
        (middle, middle)
    }

    /// Whether a body at this place can be seen in the picture.
    pub fn is_visible(&self, position: Vec3, length_m: f32) -> bool {
        let visible = self.visible_half_m(position.y) + length_m / 2.0;
        position.x.abs() < visible.x && position.z.abs() < visible.y
    }

    /// How far beyond the picture a body of this length is surely out of sight, and still in the pool.
    pub fn hidden_margin_m(&self, length_m: f32) -> f32 {
        self.params.margin_m.max(length_m * 0.6)
    }

    /// Turns a world vector so that what is up for a fish becomes +y: up in a wall's picture is −z, on a ceiling −y.
    pub fn level_from_world(&self, world: Vec3) -> Vec3 {
        match self.surface.kind {
            SurfaceKind::Floor => world,
            SurfaceKind::Wall => Vec3::new(world.x, -world.z, world.y),
            SurfaceKind::Ceiling => Vec3::new(world.x, -world.y, -world.z),
        }
    }

    /// The way back from [`Self::level_from_world`].
    pub fn world_from_level(&self, level: Vec3) -> Vec3 {
        match self.surface.kind {
            SurfaceKind::Floor => level,
            SurfaceKind::Wall => Vec3::new(level.x, level.z, -level.y),
            SurfaceKind::Ceiling => Vec3::new(level.x, -level.y, -level.z),
        }
    }

    /// A place and a heading out of sight, pointing into the picture, for a body of this size.
    pub fn random_hidden_pose(
        &self,
        solids: &[Solid],
        body: (f32, f32),
        random: Random,
        agent: u32,
    ) -> (Vec3, Vec3) {
        let (radius_m, length_m) = body;
        let beyond = self.hidden_margin_m(length_m);
        self.free_place(solids, radius_m, |attempt| {
            let draw = |n| random.signed(agent, RandomStream::Place, attempt * 8 + n);
            let y = self.height(radius_m, draw(0));
            let half = self.visible_half_m(y) + beyond;
            // A point of the rectangle's outline, evenly along its length.
            let along = (draw(1) + 1.0) * 2.0 * (half.x + half.y);
            let at = if along < 2.0 * half.x {
                Vec2::new(along - half.x, half.y)
            } else if along < 4.0 * half.x {
                Vec2::new(along - 3.0 * half.x, -half.y)
            } else if along < 4.0 * half.x + 2.0 * half.y {
                Vec2::new(half.x, along - 4.0 * half.x - half.y)
            } else {
                Vec2::new(-half.x, along - 4.0 * half.x - 3.0 * half.y)
            };
            let aim = self.visible_half_m(y) * 0.6 * Vec2::new(draw(2), draw(3));
            let heading = (aim - at).normalize_or(Vec2::X);
            (
                Vec3::new(at.x, y, at.y),
                Vec3::new(heading.x, 0.0, heading.y),
            )
        })
    }

    /// A place in the picture and a level heading.
    pub fn random_visible_pose(
        &self,
        solids: &[Solid],
        radius_m: f32,
        random: Random,
        agent: u32,
    ) -> (Vec3, Vec3) {
        self.free_place(solids, radius_m, |attempt| {
            let draw = |n| random.signed(agent, RandomStream::Place, attempt * 8 + n);
            let y = self.height(radius_m, draw(0));
            let at = self.visible_half_m(y) * 0.9 * Vec2::new(draw(1), draw(2));
            let (sin, cos) = (draw(3) * std::f32::consts::PI).sin_cos();
            (Vec3::new(at.x, y, at.y), Vec3::new(cos, 0.0, sin))
        })
    }

    /// Whether fish that leave are led back by guides.
    pub fn has_guides(&self) -> bool {
        self.params.edge == EdgeMode::Guide
    }

    fn height(&self, radius_m: f32, signed: f32) -> f32 {
        let (low, high) = self.y_range_m(radius_m);
        low + (high - low) * (signed + 1.0) / 2.0
    }

    /// The first of some places that lies in no solid; the last tried where all do.
    fn free_place(
        &self,
        solids: &[Solid],
        radius_m: f32,
        place: impl Fn(u32) -> (Vec3, Vec3),
    ) -> (Vec3, Vec3) {
        let is_free = |at: Vec3| {
            solids
                .iter()
                .all(|solid| solid.signed_distance_m(at) > radius_m)
        };
        let mut last = place(0);
        for attempt in 1..64 {
            if is_free(last.0) {
                break;
            }
            last = place(attempt);
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_where_they_are_said_to_be() {
        let water = Water {
            surface: Surface::default(),
            params: PoolParams::default(),
        };
        let rock = [Solid::Sphere {
            center_m: Vec3::new(0.0, -0.7, 0.0),
            radius_m: 0.8,
        }];
        for agent in 0..200 {
            let random = Random { seed: 2, tick: 0 };
            let (inside, heading) = water.random_visible_pose(&rock, 0.05, random, agent);
            assert!(water.is_visible(inside, 0.1));
            assert!(rock[0].signed_distance_m(inside) > 0.05);
            assert!((heading.length() - 1.0).abs() < 1e-5);
            let (outside, heading) = water.random_hidden_pose(&rock, (0.05, 0.2), random, agent);
            assert!(!water.is_visible(outside, 0.2), "{outside}");
            assert!(
                heading.dot(-outside.with_y(0.0)) > 0.0,
                "points into the picture"
            );
            let (low, high) = water.y_range_m(0.05);
            assert!((low..=high).contains(&outside.y));
        }
    }
}
