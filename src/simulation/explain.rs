//! Why a fish does what it does: its active need, its actions, and each steering force with its name. Costs something only
//! while somebody wants to know.
//!
//! In: a pool after a tick. Out: names, forces, annotations. Must not: change what anybody does.

use glam::Vec3;

use super::tick::Simulation;
use crate::world::{OverlayItem, OverlayLayer, OverlayLayers, OverlayShape};

/// Arrows of the fields along the longer side of the picture.
const FIELD_ARROWS: u16 = 32;

/// Length of the arrow of a force of one newton.
const METERS_PER_NEWTON: f32 = 0.1;

impl Simulation {
    /// Whether forces are noted down from the next tick on.
    pub fn record_forces(&mut self, wanted: bool) {
        self.world.records_forces = wanted;
        if !wanted {
            for state in &mut self.states {
                state.clear_forces();
            }
        }
    }

    /// The forces of the agent at this index in the last tick, by the name of their action, after their weights and before
    /// standard and active need were put together. Empty unless [`Self::record_forces`] is on.
    pub fn forces(&self, index: usize) -> impl Iterator<Item = (&str, Vec3)> {
        let mind = &self.minds[usize::from(self.mind_of[index])];
        mind.forces(&self.states[index])
    }

    /// Fills in the marks of these layers for all agents, after what is in the list already. Forces need
    /// [`Self::record_forces`].
    pub fn fill_overlay(&self, layers: OverlayLayers, marks: &mut Vec<OverlayItem>) {
        if layers == OverlayLayers::NONE {
            return;
        }
        if layers.has(OverlayLayer::Path) {
            self.mark_ways(marks);
        }
        if layers.has(OverlayLayer::Mesh) {
            self.mark_mesh(marks);
        }
        if layers.has(OverlayLayer::Field) {
            self.annotate_fields(marks);
        }
        for index in 0..self.world.agents.len() {
            let at = self.world.agents.bodies[index].position_m;
            if layers.has(OverlayLayer::Mind) {
                let actions: Vec<&str> = self.active_actions(index).collect();
                marks.push(OverlayItem {
                    layer: OverlayLayer::Mind,
                    shape: OverlayShape::Point(at),
                    text: format!("{}: {}", self.active_need(index), actions.join(" + ")),
                });
            }
            if layers.has(OverlayLayer::Force) {
                marks.extend(self.forces(index).map(|(name, force)| OverlayItem {
                    layer: OverlayLayer::Force,
                    shape: OverlayShape::Arrow {
                        from_m: at,
                        to_m: at + force * METERS_PER_NEWTON,
                    },
                    text: name.to_owned(),
                }));
            }
        }
    }

    /// The sum of the scene's fields, on a grid of places in the middle of the water. An arrow is as long as its force says,
    /// up to the next one's tail; where there is no force there is none.
    fn annotate_fields(&self, marks: &mut Vec<OverlayItem>) {
        if self.fields.is_empty() {
            return;
        }
        let water = &self.world.water;
        let (low, high) = water.y_range_m(0.0);
        let y = (low + high) / 2.0;
        let half = water.visible_half_m(y);
        let step_m = (half.max_element() * 2.0 / f32::from(FIELD_ARROWS)).max(1e-3);
        let count = (half / step_m).floor().as_ivec2();
        for row in -count.y..=count.y {
            for column in -count.x..=count.x {
                let from_m = Vec3::new(column as f32 * step_m, y, row as f32 * step_m);
                let force = self.fields.force_at(from_m, u64::MAX);
                let arrow = (force * METERS_PER_NEWTON).clamp_length_max(step_m);
                if arrow.length() > step_m * 0.02 {
                    marks.push(OverlayItem {
                        layer: OverlayLayer::Field,
                        shape: OverlayShape::Arrow {
                            from_m,
                            to_m: from_m + arrow,
                        },
                        text: String::new(),
                    });
                }
            }
        }
    }
}
