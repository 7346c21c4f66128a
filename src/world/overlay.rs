//! The overlay: drawing on the projection that shows the reasons for the behavior of a fish. An item has a layer, a shape
//! and a text. Only requested layers of requested agents get items. The renderer draws shapes and texts and does not depend on minds.

use glam::Vec3;

/// The kind of information that an overlay item shows. Each layer can be switched on separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum OverlayLayer {
    /// The active need and the executed actions, as text at the fish.
    Mind = 1,
    /// Each steering force as an arrow from the fish, labelled with its action.
    Force = 2,
    /// The sum of the scene's flow fields, as a grid of arrows, and the field around each agent, as a ring of arrows.
    Field = 4,
    /// Path finding: the path that a fish follows, the blocked cells of its grid, and the open list of a running search.
    Path = 8,
    /// The terraces' navigation mesh with its portals and links.
    Mesh = 16,
    /// The region from which neighbors push a fish away, and these neighbors.
    Separation = 32,
    /// The region in which a fish takes the heading of its neighbors, and these neighbors.
    Alignment = 64,
    /// The region in which a fish comes closer to its neighbors, and these neighbors.
    Cohesion = 128,
    /// The region that a fish sees, and the enemy, prey and food that it sees or remembers.
    Sight = 256,
    /// The place to which a fish swims, and the obstacles near it that can hide it.
    Shelter = 512,
    /// The body of a fish as a circle, and its position in half a second at constant velocity.
    Motion = 1024,
    /// Outlines, foot points and numbers of the visitors' shadows.
    Shadow = 2048,
}

/// A set of layers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OverlayLayers(u16);

impl OverlayLayers {
    /// No layer.
    pub const NONE: Self = Self(0);
    /// The three neighborhoods of a flock.
    pub const FLOCK: Self = Self::NONE
        .with(OverlayLayer::Separation)
        .with(OverlayLayer::Alignment)
        .with(OverlayLayer::Cohesion);

    /// Returns this set with one layer added.
    #[must_use]
    pub const fn with(self, layer: OverlayLayer) -> Self {
        Self(self.0 | layer as u16)
    }

    /// Returns the layers of both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the set contains a layer.
    pub fn has(self, layer: OverlayLayer) -> bool {
        self.0 & layer as u16 != 0
    }

    /// Whether the set contains a layer of another set.
    pub fn has_any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// The agents that the overlay explains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OverlayAgents {
    /// All agents.
    #[default]
    All,
    /// The agent with this id.
    Id(u32),
    /// The agents of a species, a group, or the individual with this name.
    Named(String),
}

/// What the overlay shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverlayRequest {
    /// The layers.
    pub layers: OverlayLayers,
    /// The agents; layers of the pool show all of it.
    pub agents: OverlayAgents,
}

impl OverlayRequest {
    /// Returns a request for these layers of all agents.
    pub fn all(layers: OverlayLayers) -> Self {
        Self {
            layers,
            agents: OverlayAgents::All,
        }
    }
}

/// The shape of an overlay item, in world space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OverlayShape {
    /// A point.
    Point(Vec3),
    /// An arrow.
    Arrow {
        /// Start of the arrow.
        from_m: Vec3,
        /// Tip of the arrow.
        to_m: Vec3,
    },
    /// A line.
    Line {
        /// Start of the line.
        from_m: Vec3,
        /// End of the line.
        to_m: Vec3,
    },
    /// A part of a disc that is parallel to the surface. A half angle of π or more is the whole disc.
    Sector {
        /// Center of the disc.
        center_m: Vec3,
        /// Middle direction; its height is ignored.
        forward: Vec3,
        /// Radius of the disc.
        radius_m: f32,
        /// Angle from the middle direction to each side.
        half_angle_rad: f32,
    },
}

/// One drawing of the overlay.
#[derive(Clone, Debug, PartialEq)]
pub struct OverlayItem {
    /// Layer that the item belongs to.
    pub layer: OverlayLayer,
    /// Shape and position.
    pub shape: OverlayShape,
    /// Label; empty for none.
    pub text: String,
}
