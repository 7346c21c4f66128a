//! The overlay: debug drawing on the projection that shows the reasons for the behavior of a fish. An item has a layer, a shape
//! and a text. Only requested layers get items. The renderer draws shapes and texts and does not depend on minds.

use glam::Vec3;

/// The kind of information that an overlay item shows. Each layer can be switched on separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
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
}

/// A set of layers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OverlayLayers(u8);

impl OverlayLayers {
    /// No layer.
    pub const NONE: Self = Self(0);

    /// Returns this set with one layer added.
    #[must_use]
    pub fn with(self, layer: OverlayLayer) -> Self {
        Self(self.0 | layer as u8)
    }

    /// Whether the set contains a layer.
    pub fn has(self, layer: OverlayLayer) -> bool {
        self.0 & layer as u8 != 0
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
