//! Marks over the pool that show why a fish does what it does: a layer, a shape, a text. Filled only for layers that
//! somebody looks at; whoever draws them knows shapes, not minds.

use glam::Vec3;

/// What a mark tells of. Each can be shown by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum OverlayLayer {
    /// The active need and the executed actions, as a text at the fish.
    Mind = 1,
    /// Each steering force with the name of its action, as an arrow from the fish.
    Force = 2,
    /// The scene's flow fields, as a grid of arrows.
    Field = 4,
    /// Ways that are searched and followed: the path, the grid, what the search has still to look at.
    Path = 8,
    /// The mesh of the terraces, its portals and its links.
    Mesh = 16,
}

/// A set of layers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OverlayLayers(u8);

impl OverlayLayers {
    /// No layer.
    pub const NONE: Self = Self(0);

    /// This set and one more.
    #[must_use]
    pub fn with(self, layer: OverlayLayer) -> Self {
        Self(self.0 | layer as u8)
    }

    /// Whether a layer is in it.
    pub fn has(self, layer: OverlayLayer) -> bool {
        self.0 & layer as u8 != 0
    }
}

/// Where a mark is, in world space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OverlayShape {
    /// A place.
    Point(Vec3),
    /// An arrow.
    Arrow {
        /// Its tail.
        from_m: Vec3,
        /// Its tip.
        to_m: Vec3,
    },
}

/// One mark.
#[derive(Clone, Debug, PartialEq)]
pub struct OverlayItem {
    /// What it tells of.
    pub layer: OverlayLayer,
    /// Where it is.
    pub shape: OverlayShape,
    /// What it says.
    pub text: String,
}
