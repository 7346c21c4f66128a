//! The extent of the pool in world space: its range of heights, the visible rectangle at a height, and its edge.

use glam::{Vec2, Vec3};

use super::pool::{EdgeMode, PoolParams};
use super::random::{Random, RandomStream};
use crate::geometry::{Solid, Surface, SurfaceKind, edges_contain};

/// Distance of the center of a body from the edge of the picture at which no part of it is visible, in body lengths.
pub const HIDDEN_LENGTHS: f32 = 0.6;

/// The extent of the pool.
#[derive(Clone, Debug, PartialEq)]
pub struct Water {
    /// The projected surface.
    pub surface: Surface,
    /// Parameters of the pool.
    pub params: PoolParams,
}

impl Water {
    /// Returns the ratio of the visible width at height `y` to the width of the picture on the surface.
    pub fn scale(&self, y: f32) -> f32 {
        self.surface.scale_at_depth(-y)
    }

    /// Returns half of the visible extent at height `y`, as (x, z) in m.
    pub fn visible_half_m(&self, y: f32) -> Vec2 {
        self.surface.half_extent_m() * self.scale(y)
    }

    /// Returns half of the extent of the pool for a species at height `y`, as (x, z) in m: half of the visible extent plus the margin
    /// of the species. In a picture on a wall, z is up and down: there, water surface and ground end the pool for all species.
    pub fn edge_half_m(&self, y: f32, species_margin_m: f32) -> Vec2 {
        let margin_m = match self.surface.kind {
            SurfaceKind::Wall => Vec2::new(species_margin_m, self.params.margin_m),
            SurfaceKind::Floor | SurfaceKind::Ceiling => Vec2::splat(species_margin_m),
        };
        (self.visible_half_m(y) + margin_m).max(Vec2::splat(0.05))
    }

    /// Returns the margin of the species with this name.
    pub fn margin_of_m(&self, species: &str) -> f32 {
        let own_m = self.params.margins_m.get(species);
        own_m.copied().unwrap_or(self.params.margin_m)
    }

    /// Returns the lowest and the highest y for the center of a body of this radius. If the pool is shallower than the body,
    /// both are the middle height of the pool.
    pub fn y_range_m(&self, radius_m: f32) -> (f32, f32) {
        let low = -self.params.ground_depth_m + radius_m;
        let high = -self.params.surface_depth_m - radius_m;
        if low <= high {
            return (low, high);
        }
        let middle = -(self.params.ground_depth_m + self.params.surface_depth_m) / 2.0;
        (middle, middle)
    }

    /// Returns the height of a body above the lowest place where it can be: the ground, that of its terrace, or in a picture on a wall
    /// the lower edge for a species with this margin.
    pub fn above_ground_m(&self, at: Vec3, radius_m: f32, species_margin_m: f32) -> f32 {
        let (low, high) = match self.terrace_at(at).map(usize::from) {
            Some(terrace) => self.params.terraces[terrace].y_range_m(radius_m),
            None => self.y_range_m(radius_m),
        };
        match self.surface.kind {
            SurfaceKind::Floor => at.y - low,
            SurfaceKind::Ceiling => high - at.y,
            SurfaceKind::Wall => self.edge_half_m(at.y, species_margin_m).y - radius_m - at.z,
        }
    }

    /// Returns the place on the ground below a position; the position itself if that place is in a solid.
    pub fn grounded(&self, solids: &[Solid], at: Vec3, radius_m: f32, margin_m: f32) -> Vec3 {
        let down = self.world_from_level(Vec3::NEG_Y);
        let below = at + down * self.above_ground_m(at, radius_m, margin_m).max(0.0);
        let mut solids = solids.iter();
        if solids.all(|solid| solid.signed_distance_m(below) > radius_m) {
            below
        } else {
            at
        }
    }

    /// Returns the index of the terrace whose water contains a position; `None` if no terrace does. A position above or below
    /// the water of all terraces is in the first terrace that contains it horizontally.
    pub fn terrace_at(&self, at: Vec3) -> Option<u16> {
        let terraces = self.params.terraces.iter().enumerate();
        let flat = Vec2::new(at.x, at.z);
        let mut around = terraces.filter(|(_, terrace)| edges_contain(terrace.edges(), flat));
        let first = around.clone().next();
        let within = around.find(|(_, terrace)| {
            (-terrace.ground_depth_m..=-terrace.surface_depth_m).contains(&at.y)
        });
        within.or(first).map(|(index, _)| index as u16)
    }

    /// Whether a body at this position is at least partly inside the picture.
    pub fn is_visible(&self, position: Vec3, length_m: f32) -> bool {
        let visible = self.visible_half_m(position.y) + length_m / 2.0;
        position.x.abs() < visible.x && position.z.abs() < visible.y
    }

    /// Returns the distance outside the picture at which a body of this length is completely hidden.
    pub fn hidden_margin_m(&self, length_m: f32) -> f32 {
        self.params.margin_m.max(length_m * HIDDEN_LENGTHS)
    }

    /// Rotates a world vector so that the fish's up direction becomes +y. In world space, up for a fish is −z in a picture on a
    /// wall and −y in a picture on a ceiling.
    pub fn level_from_world(&self, world: Vec3) -> Vec3 {
        match self.surface.kind {
            SurfaceKind::Floor => world,
            SurfaceKind::Wall => Vec3::new(world.x, -world.z, world.y),
            SurfaceKind::Ceiling => Vec3::new(world.x, -world.y, -world.z),
        }
    }

    /// Rotates a vector back, as the inverse of [`Self::level_from_world`].
    pub fn world_from_level(&self, level: Vec3) -> Vec3 {
        match self.surface.kind {
            SurfaceKind::Floor => level,
            SurfaceKind::Wall => Vec3::new(level.x, level.z, -level.y),
            SurfaceKind::Ceiling => Vec3::new(level.x, -level.y, -level.z),
        }
    }

    /// Returns a random position outside the picture and a heading towards the picture, for a body of the given
    /// (radius, length) in m.
    pub fn random_hidden_pose(
        &self,
        solids: &[Solid],
        body: (f32, f32),
        random: Random,
        agent: u32,
    ) -> (Vec3, Vec3) {
        let (radius_m, length_m) = body;
        let beyond = self.hidden_margin_m(length_m);
        self.free_pose(solids, radius_m, |attempt| {
            let draw = |n| random.signed(agent, RandomStream::Place, attempt * 8 + n);
            let y = self.height(radius_m, draw(0));
            let half = self.visible_half_m(y) + beyond;
            // Distance along the outline of the rectangle to a uniformly distributed point on it.
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

    /// Returns a random position inside the picture and a random horizontal heading.
    pub fn random_visible_pose(
        &self,
        solids: &[Solid],
        radius_m: f32,
        random: Random,
        agent: u32,
    ) -> (Vec3, Vec3) {
        self.free_pose(solids, radius_m, |attempt| {
            let draw = |n| random.signed(agent, RandomStream::Place, attempt * 8 + n);
            let y = self.height(radius_m, draw(0));
            let at = self.visible_half_m(y) * 0.9 * Vec2::new(draw(1), draw(2));
            let y = self.height_in_water(Vec3::new(at.x, y, at.y), radius_m);
            let (sin, cos) = (draw(3) * std::f32::consts::PI).sin_cos();
            (Vec3::new(at.x, y, at.y), Vec3::new(cos, 0.0, sin))
        })
    }

    /// Whether an invisible wall at the edge makes fish turn back.
    pub fn has_guides(&self) -> bool {
        self.params.edge == EdgeMode::Guide
    }

    /// Returns the height nearest to that of a position at which a body is in the water there: that of the terrace, if there is one.
    pub fn height_in_water(&self, at: Vec3, radius_m: f32) -> f32 {
        let terrace = self.terrace_at(at).map(usize::from);
        let (low, high) = match terrace.and_then(|index| self.params.terraces.get(index)) {
            Some(terrace) => terrace.y_range_m(radius_m),
            None => self.y_range_m(radius_m),
        };
        at.y.clamp(low, high)
    }

    /// Maps a value from −1 to 1 linearly to the range of y for a body of this radius.
    fn height(&self, radius_m: f32, signed: f32) -> f32 {
        let (low, high) = self.y_range_m(radius_m);
        low + (high - low) * (signed + 1.0) / 2.0
    }

    /// Returns the first of up to 64 candidate poses that is outside all solids; the last candidate if none is outside.
    fn free_pose(
        &self,
        solids: &[Solid],
        radius_m: f32,
        candidate: impl Fn(u32) -> (Vec3, Vec3),
    ) -> (Vec3, Vec3) {
        let is_free = |at: Vec3| {
            solids
                .iter()
                .all(|solid| solid.signed_distance_m(at) > radius_m)
        };
        let mut last = candidate(0);
        for attempt in 1..64 {
            if is_free(last.0) {
                break;
            }
            last = candidate(attempt);
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_poses_are_visible_or_hidden_as_requested() {
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
                "the heading does not point into the picture"
            );
            let (low, high) = water.y_range_m(0.05);
            assert!((low..=high).contains(&outside.y));
        }
    }
}
