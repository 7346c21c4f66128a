//! A visitor on the floor, as all rooms pass it on.

use glam::Vec2;
use serde::{Deserialize, Serialize};

/// A tracked visitor and its shadow at one time, in floor space.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Visitor {
    /// Id of the track. It stays with the visitor and is never used again.
    pub id: u32,
    /// Centroid of the shadow, weighted by shadow depth.
    pub centroid_m: Vec2,
    /// Foot point: where the visitor stands. Equals the centroid if it is unknown.
    pub foot_m: Vec2,
    /// Radius of a circle with the area of the shadow.
    pub radius_m: f32,
    /// Velocity of the foot point over the floor.
    pub velocity_mps: Vec2,
    /// Area of shadow and body.
    pub area_m2: f32,
    /// Time since the visitor was first detected.
    pub age_secs: f64,
    /// Time since the visitor last moved: since the foot point left its place, or the outline moved on the spot.
    pub still_secs: f64,
    /// Agitation: mean speed at which the points of the outline move. A visitor who sways has less than 0.02, one who stamps on
    /// the spot 0.03 to 0.15, and one who walks about 0.6 times the walking speed. 0 if it is unknown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub agitation_mps: f32,
    /// Corners of the outline in order, at most 64; the first corner is not repeated at the end. If empty, the outline is
    /// unknown and the circle with `radius_m` is used instead.
    pub outline_m: Vec<Vec2>,
    /// Whether the foot point is on the projected surface. Fish ignore a visitor beside it.
    #[serde(default = "on_surface", skip_serializing_if = "is_on_surface")]
    pub on_surface: bool,
}

fn on_surface() -> bool {
    true
}

fn is_on_surface(on_surface: &bool) -> bool {
    *on_surface
}

fn is_zero(value: &f32) -> bool {
    *value == 0.0
}

/// Speed at which a visitor walks and is no longer on the spot.
const WALKING_MPS: f32 = 0.4;

impl Default for Visitor {
    fn default() -> Self {
        Self {
            id: 0,
            centroid_m: Vec2::ZERO,
            foot_m: Vec2::ZERO,
            radius_m: 0.0,
            velocity_mps: Vec2::ZERO,
            area_m2: 0.0,
            age_secs: 0.0,
            still_secs: 0.0,
            agitation_mps: 0.0,
            outline_m: Vec::new(),
            on_surface: true,
        }
    }
}

impl Clone for Visitor {
    fn clone(&self) -> Self {
        Self {
            outline_m: self.outline_m.clone(),
            ..*self
        }
    }

    /// Copies another visitor and reuses the memory of the outline.
    fn clone_from(&mut self, other: &Self) {
        let mut outline_m = std::mem::take(&mut self.outline_m);
        outline_m.clone_from(&other.outline_m);
        *self = Self {
            outline_m,
            ..*other
        };
    }
}

impl Visitor {
    /// Replaces the visitors of a list by copies of `from`, and reuses the memory of their outlines.
    pub fn copy_all<'a>(to: &mut Vec<Self>, from: impl IntoIterator<Item = &'a Self>) {
        let mut count = 0;
        for visitor in from {
            match to.get_mut(count) {
                Some(kept) => kept.clone_from(visitor),
                None => to.push(visitor.clone()),
            }
            count += 1;
        }
        to.truncate(count);
    }

    /// Agitation of a visitor who stays on the spot, such as one who stamps or waves. For a visitor who begins to walk it falls to
    /// 0, because walking moves the outline too.
    pub fn restlessness_mps(&self) -> f32 {
        let walks = self.velocity_mps.length() / WALKING_MPS;
        self.agitation_mps * (1.0 - walks).max(0.0)
    }

    /// Whether all numbers are finite, so that they can be written to a file and read back.
    pub fn is_finite(&self) -> bool {
        let points = [self.centroid_m, self.foot_m, self.velocity_mps];
        self.radius_m.is_finite()
            && self.area_m2.is_finite()
            && self.age_secs.is_finite()
            && self.still_secs.is_finite()
            && self.agitation_mps.is_finite()
            && (points.iter().chain(&self.outline_m)).all(|point| point.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copied_visitors_contain_nothing_old() {
        let visitor = |id, corners| Visitor {
            id,
            outline_m: vec![Vec2::ONE; corners],
            on_surface: id != 2,
            ..Visitor::default()
        };
        let mut again = vec![visitor(9, 9); 3];
        for visitors in [
            vec![visitor(1, 3), visitor(2, 0)],
            vec![],
            vec![visitor(3, 1)],
        ] {
            Visitor::copy_all(&mut again, &visitors);
            assert_eq!(again, visitors);
        }
    }
}
