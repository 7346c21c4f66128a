//! The cost layer of the path searches: where water is dangerous, crowded or attractive for the agents of one species. The searches
//! on meshes and on grids read the same layer.
//!
//! In: functions of the place, such as the distance to a shadow. Out: the cost of a way, in meters of calm water. Must not: know
//! what causes a cost. **Source**: Lischka 2014, §7.5; Dahlberg & Viktorsson 2002, chapter 6 ("tactical layer").

use glam::{UVec2, Vec2};
use serde::{Deserialize, Serialize};

/// Smallest side length of a cell: about a hand's breadth, far below the distance that agents keep from a shadow.
const CELL_M: f32 = 0.1;
/// Largest number of cells along a side. The cells of a larger pool are larger.
const SIDE_CELLS: f32 = 64.0;
/// Range of the cost of a meter. With 0.5, an agent takes a way that is twice as long.
const PRICES: (f32, f32) = (0.5, 15.0);
/// Additional cost of a meter at a place where the agent came no further. With the usual radius, a way through it is about as dear as
/// a detour of 5 m.
const BLOCKED_COST: f32 = 12.0;
/// Radius of such a place, in body radii of the agent: the agent, what is in its way, and room on both sides.
const BLOCKED_RADII: f32 = 3.0;
/// Time for which an agent remembers such a place.
const BLOCKED_SECS: f32 = 20.0;

/// Additional costs of the water for one species, in cells of the floor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostLayer {
    low_m: Vec2,
    cell_m: f32,
    size: UVec2,
    /// Additional cost of a meter in each cell, row by row. Empty: none anywhere.
    extra: Vec<f32>,
}

/// A place where an agent came no further, because something that no map contains was in its way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Blockage {
    at_m: Vec2,
    radius_m: f32,
    left_secs: f32,
}

/// What makes the costs of one agent differ from those of others of its species.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outlook {
    /// Factor on additional costs. Above 1 for a shy agent, below 1 for a bold one.
    pub caution: f32,
    /// Where the agent came no further.
    pub blockage: Option<Blockage>,
}

/// The costs of the water for one agent.
#[derive(Clone, Copy, Debug)]
pub struct Prices<'a> {
    /// The layer of its species.
    pub layer: &'a CostLayer,
    /// What differs for this agent.
    pub outlook: Outlook,
}

/// A layer without costs.
static FREE: CostLayer = CostLayer {
    low_m: Vec2::ZERO,
    cell_m: CELL_M,
    size: UVec2::ZERO,
    extra: Vec::new(),
};

impl Default for &CostLayer {
    fn default() -> Self {
        &FREE
    }
}

impl Default for Outlook {
    fn default() -> Self {
        Self {
            caution: 1.0,
            blockage: None,
        }
    }
}

impl CostLayer {
    /// Copies another layer. Keeps the allocated memory.
    pub fn copy_from(&mut self, other: &Self) {
        (self.low_m, self.cell_m, self.size) = (other.low_m, other.cell_m, other.size);
        self.extra.clone_from(&other.extra);
    }

    /// Removes all costs and covers a rectangle. Keeps the allocated memory.
    pub fn reset(&mut self, low_m: Vec2, high_m: Vec2) {
        let sides_m = (high_m - low_m).max(Vec2::splat(CELL_M));
        self.low_m = low_m;
        self.cell_m = (sides_m.max_element() / SIDE_CELLS).max(CELL_M);
        self.size = (sides_m / self.cell_m).ceil().as_uvec2();
        self.extra.clear();
        self.extra.resize((self.size.x * self.size.y) as usize, 0.0);
    }

    /// Adds `cost_at` of its center to every cell whose center is within `reach_m` of a line.
    pub fn add(
        &mut self,
        (from, to): (Vec2, Vec2),
        reach_m: f32,
        mut cost_at: impl FnMut(Vec2) -> f32,
    ) {
        let cell_of = |at: Vec2| (at - self.low_m) / self.cell_m;
        let low = cell_of(from.min(to) - reach_m).floor().max(Vec2::ZERO);
        let high = cell_of(from.max(to) + reach_m).ceil();
        let high = high.clamp(Vec2::ZERO, self.size.as_vec2());
        for y in low.y as u32..high.y as u32 {
            for x in low.x as u32..high.x as u32 {
                let at = self.low_m + (Vec2::new(x as f32, y as f32) + 0.5) * self.cell_m;
                self.extra[(y * self.size.x + x) as usize] += cost_at(at);
            }
        }
    }

    /// Whether the numbers are consistent. They may come from a damaged file.
    pub fn is_sound(&self) -> bool {
        let side = SIDE_CELLS as u32 + 1;
        self.low_m.is_finite()
            && self.cell_m.is_finite()
            && self.size.max_element() <= side
            && self.extra.len() == (self.size.x * self.size.y) as usize
            && self.extra.iter().all(|cost| cost.is_finite())
    }

    /// Whether the layer has a cost anywhere.
    pub fn has_costs(&self) -> bool {
        self.extra.iter().any(|&extra| extra != 0.0)
    }

    fn extra_at(&self, at: Vec2) -> f32 {
        let cell = (at - self.low_m) / self.cell_m;
        if cell.cmplt(Vec2::ZERO).any() || cell.cmpge(self.size.as_vec2()).any() {
            return 0.0;
        }
        self.extra[(cell.y as u32 * self.size.x + cell.x as u32) as usize]
    }
}

impl Blockage {
    /// A blockage before an agent that comes no further on its way to a corner.
    pub fn ahead(at_m: Vec2, corner_m: Vec2, agent_radius_m: f32) -> Self {
        let radius_m = BLOCKED_RADII * agent_radius_m;
        Self {
            at_m: at_m + (corner_m - at_m).clamp_length_max(radius_m),
            radius_m,
            left_secs: BLOCKED_SECS,
        }
    }

    /// Returns the blockage after some time; `None` when it is forgotten.
    pub fn after(mut self, secs: f32) -> Option<Self> {
        self.left_secs -= secs;
        (self.left_secs > 0.0).then_some(self)
    }

    /// Whether the numbers are valid. They may come from a damaged file.
    pub fn is_sound(&self) -> bool {
        self.at_m.is_finite() && self.radius_m.is_finite() && self.left_secs.is_finite()
    }
}

impl Prices<'_> {
    /// Whether a meter costs the same everywhere.
    pub fn are_uniform(&self) -> bool {
        self.outlook.blockage.is_none() && !self.layer.has_costs()
    }

    /// Returns the cost of a meter at a place. It is 1 in calm water.
    pub fn at(&self, at: Vec2) -> f32 {
        let extra = self.layer.extra_at(at);
        let caution = if extra > 0.0 {
            self.outlook.caution
        } else {
            1.0
        };
        let is_blocked = |one: Blockage| one.at_m.distance(at) < one.radius_m;
        let blocked = if self.outlook.blockage.is_some_and(is_blocked) {
            BLOCKED_COST
        } else {
            0.0
        };
        (1.0 + extra * caution + blocked).clamp(PRICES.0, PRICES.1)
    }

    /// Returns the cost of the straight line between two places.
    pub fn of_line(&self, from: Vec2, to: Vec2) -> f32 {
        let length_m = from.distance(to);
        if self.layer.extra.is_empty() && self.outlook.blockage.is_none() {
            return length_m;
        }
        let count = (length_m / self.layer.cell_m.max(CELL_M)).ceil().max(1.0);
        let prices = (0..count as u32).map(|n| self.at(from.lerp(to, (n as f32 + 0.5) / count)));
        length_m * prices.sum::<f32>() / count
    }

    /// Returns a lower limit of the cost of a meter anywhere.
    pub fn least(&self) -> f32 {
        let least = self.layer.extra.iter().copied().fold(0.0, f32::min);
        (1.0 + least).max(PRICES.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(at: Vec2, cost: f32) -> CostLayer {
        let mut layer = CostLayer::default();
        layer.reset(Vec2::splat(-2.0), Vec2::splat(2.0));
        layer.add((at, at), 0.5, |cell| {
            if cell.distance(at) < 0.5 { cost } else { 0.0 }
        });
        layer
    }

    #[test]
    fn a_way_costs_its_length_and_more_where_it_is_dangerous() {
        let layer = layer(Vec2::ZERO, 4.0);
        let prices = Prices {
            layer: &layer,
            outlook: Outlook::default(),
        };
        let (from, to) = (Vec2::new(-1.5, 0.0), Vec2::new(1.5, 0.0));
        assert!((prices.of_line(from, to) - 7.0).abs() < 0.4);
        let beside = Vec2::new(0.0, 1.0);
        assert!((prices.of_line(from + beside, to + beside) - 3.0).abs() < 1e-4);
        assert_eq!(
            Prices {
                layer: <&CostLayer>::default(),
                ..prices
            }
            .of_line(from, to),
            3.0
        );
    }

    #[test]
    fn a_bold_agent_dares_what_a_shy_one_avoids_and_both_like_the_same_places() {
        let (danger, calm) = (layer(Vec2::ZERO, 4.0), layer(Vec2::ZERO, -0.4));
        let at = |layer, caution| {
            let outlook = Outlook {
                caution,
                blockage: None,
            };
            Prices { layer, outlook }.at(Vec2::ZERO)
        };
        assert_eq!([0.5, 1.0, 2.0].map(|c| at(&danger, c)), [3.0, 5.0, 9.0]);
        assert_eq!([0.5, 1.0, 2.0].map(|c| at(&calm, c)), [0.6; 3]);
    }

    #[test]
    fn a_blocked_place_is_forgotten_in_time() {
        let blockage = Blockage::ahead(Vec2::new(-0.3, 0.0), Vec2::new(2.0, 0.0), 0.1);
        let prices = |blockage| Prices {
            layer: <&CostLayer>::default(),
            outlook: Outlook {
                caution: 1.0,
                blockage,
            },
        };
        assert!(prices(Some(blockage)).at(Vec2::new(0.2, 0.0)) > 10.0);
        assert_eq!(prices(Some(blockage)).at(Vec2::new(0.4, 0.0)), 1.0);
        assert!(blockage.after(BLOCKED_SECS - 1.0).is_some());
        assert!(blockage.after(BLOCKED_SECS + 1.0).is_none());
    }
}
