//! What all protocols say of a visitor.

use glam::Vec2;

use crate::geometry::{Surface, Visitor};

/// Largest datagram, in bytes: what fits into an Ethernet frame.
pub(super) const BYTES_MAX: usize = 1472;
/// Largest number of visitors that are sent. TUIO names the ids of all of them in each bundle.
pub(super) const VISITORS_MAX: usize = 128;

/// A visitor in the picture, in meters from its middle: to the right, and downwards.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Place {
    pub(super) id: i32,
    pub(super) foot_m: Vec2,
    pub(super) velocity_mps: Vec2,
    /// Middle, width and height of the shadow.
    pub(super) middle_m: Vec2,
    pub(super) size_m: Vec2,
    /// Area that the shadow covers.
    pub(super) area_m2: f32,
    /// Velocity in the frame before, and the time since then; `None` if the visitor was not there.
    pub(super) before: Option<(Vec2, f32)>,
}

impl Place {
    /// Returns the place of a visitor; `None` if the foot point is not in the picture, or a number is not finite.
    pub(super) fn of(visitor: &Visitor, surface: &Surface) -> Option<Self> {
        let half_m = picture_m(surface) / 2.0;
        let is_inside = visitor.foot_m.abs().cmple(half_m).all();
        if !is_inside || !visitor.is_finite() {
            return None;
        }
        let corners = visitor.outline_m.iter().copied();
        let (low, high) = match visitor.outline_m.is_empty() {
            true => (
                visitor.centroid_m - visitor.radius_m,
                visitor.centroid_m + visitor.radius_m,
            ),
            false => corners.fold((Vec2::MAX, Vec2::MIN), |(low, high), corner| {
                (low.min(corner), high.max(corner))
            }),
        };
        Some(Self {
            // Ids of OSC have a sign.
            id: (visitor.id & 0x7fff_ffff) as i32,
            foot_m: visitor.foot_m,
            velocity_mps: visitor.velocity_mps,
            middle_m: (low + high) / 2.0,
            size_m: high - low,
            area_m2: visitor.area_m2,
            before: None,
        })
    }
}

pub(super) fn picture_m(surface: &Surface) -> Vec2 {
    Vec2::new(surface.width_m, surface.height_m)
}
