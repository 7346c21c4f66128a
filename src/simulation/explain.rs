//! Explains decisions: the active need, the actions and the steering forces of each agent, as values and as overlay items.
//! Takes computing time only while a caller requests it.
//!
//! In: a pool after a tick. Out: names, forces, overlay items. Must not: change what an agent does.

use glam::{Vec2, Vec3};

use super::Simulation;
use crate::behavior::{ActionInsight, DrivesParams, MindState, NeedInsight, Neighbor};
use crate::world::{
    OverlayItem, OverlayLayer, OverlayLayers, OverlayRequest, OverlayShape, Snapshot,
};

/// Number of field arrows along the longer side of the picture.
const FIELD_ARROWS: u16 = 32;

/// Number of arrows around an agent.
const RING_ARROWS: u16 = 8;

/// Length in m of the arrow for a force of 1 N of a field. The arrow of the default maximum force of 4 N is 0.4 m long.
const METERS_PER_NEWTON: f32 = 0.1;

/// Minimum length of a field arrow, as a share of the distance between two arrows. Shorter arrows are not drawn.
const MIN_ARROW_SHARE: f32 = 0.02;

impl Simulation {
    /// Sets whether the forces of actions are recorded from the next tick on.
    pub fn record_forces(&mut self, records: bool) {
        self.workspace.input.records_forces = records;
        if !records {
            for state in &mut self.state.minds {
                state.clear_forces();
            }
        }
    }

    /// Returns the weighted forces of the agent at this index in the last tick, each with the name of its action, before the
    /// forces of the standard need and the active need were combined. Empty unless [`Self::record_forces`] is on.
    pub fn forces(&self, index: usize) -> impl Iterator<Item = (&str, Vec3)> {
        let mind = self.workspace.minds(&self.plan).get(index);
        mind.forces(&self.state.minds[index])
    }

    /// Returns the needs of the agent at this index after the last tick, the most important first. What their actions answered is
    /// known only while [`Self::record_forces`] is on.
    pub fn need_insights(&self, index: usize) -> Vec<NeedInsight<'_>> {
        let mind = self.workspace.minds(&self.plan).get(index);
        mind.need_insights(&self.state.minds[index], &self.workspace.decisions[index])
    }

    /// Returns the actions of the standard need of the agent at this index after the last tick.
    pub fn standard_insights(&self, index: usize) -> Vec<ActionInsight<'_>> {
        let mind = self.workspace.minds(&self.plan).get(index);
        mind.standard_insights(&self.state.minds[index], &self.workspace.decisions[index])
    }

    /// Returns the agents that the agent at this index perceives, the nearest first, and whether each counts for separation,
    /// alignment and cohesion.
    pub fn perceived(&self, index: usize) -> Vec<(Neighbor, [bool; 3])> {
        let world = self.world();
        let mind = self.workspace.minds(&self.plan).get(index);
        let species = &world.species[usize::from(world.agents.species[index])];
        let decision = &self.workspace.decisions[index];
        let flock = mind.flock_insight(species.species_bit, decision);
        let forward = world.agents.bodies[index].forward;
        let counts = |other: &Neighbor| match &flock {
            Some((rules, mates)) if other.name_bits & mates != 0 => {
                rules.counts(other.offset_m, forward)
            }
            _ => [false; 3],
        };
        let perceived = mind.perceived(&world, index).into_iter();
        perceived.map(|other| (other, counts(&other))).collect()
    }

    /// Returns the state of the mind of the agent at this index.
    pub fn mind_state(&self, index: usize) -> &MindState {
        &self.state.minds[index]
    }

    /// Returns which of hunger, fear and libido the agent at this index has.
    pub fn drives_params(&self, index: usize) -> &DrivesParams {
        self.workspace.minds(&self.plan).get(index).drives()
    }

    /// Returns the time for which the agent at this index still has another mind; `None` if it has its own.
    pub fn other_mind_secs(&self, index: usize) -> Option<f64> {
        let id = self.state.world.agents.ids[index];
        let other = self.state.overrides.iter().find(|other| other.id == id)?;
        let ticks = other.end_tick.saturating_sub(self.tick());
        Some(ticks as f64 * self.dt_secs())
    }

    /// Replaces the overlay of a snapshot by the requested one. The force layer is empty unless [`Self::record_forces`] is on.
    pub fn fill_overlay(&self, request: &OverlayRequest, snapshot: &mut Snapshot) {
        let (layers, items) = (request.layers, &mut snapshot.overlay);
        items.clear();
        snapshot.marks_shadows = layers.has(OverlayLayer::Shadow);
        if layers == OverlayLayers::NONE {
            return;
        }
        if layers.has(OverlayLayer::Path) {
            self.add_paths(items);
        }
        if layers.has(OverlayLayer::Mesh) {
            self.add_mesh(items);
        }
        if layers.has(OverlayLayer::Field) {
            self.add_fields(items);
            self.add_rings(items);
        }
        self.add_minds(request, items);
    }

    /// Adds the field around each agent as a ring of arrows: the force on the center of an agent of the same species at rest, halfway
    /// from the touch of both hulls to the end of the field.
    fn add_rings(&self, items: &mut Vec<OverlayItem>) {
        let agents = &self.state.world.agents;
        for (index, body) in agents.bodies.iter().enumerate() {
            let mind = self.workspace.minds(&self.plan).get(index);
            let touch_m = 2.0 * agents.radii_m[index];
            let Some((around, force_n)) = mind.field_around(touch_m) else {
                continue;
            };
            for number in 0..RING_ARROWS {
                let turn = f32::from(number) / f32::from(RING_ARROWS);
                let away = Vec2::from_angle(turn * std::f32::consts::TAU);
                let offset_m = Vec3::new(away.x, 0.0, away.y) * ((touch_m + around.range_m) / 2.0);
                let from_m = body.position_m + offset_m;
                let force = around.force_at(offset_m) * force_n;
                items.push(OverlayItem {
                    layer: OverlayLayer::Field,
                    shape: OverlayShape::Arrow {
                        from_m,
                        to_m: from_m + (force * METERS_PER_NEWTON).clamp_length_max(touch_m),
                    },
                    text: String::new(),
                });
            }
        }
    }

    /// Adds the sum of the scene's flow fields as a grid of arrows at the middle height of the pool. The length of an arrow is
    /// proportional to the force, but at most the distance to the next arrow.
    fn add_fields(&self, items: &mut Vec<OverlayItem>) {
        if self.plan.fields.is_empty() {
            return;
        }
        let water = &self.plan.world.water;
        let (low, high) = water.y_range_m(0.0);
        let y = (low + high) / 2.0;
        let half = water.visible_half_m(y);
        let step_m = (half.max_element() * 2.0 / f32::from(FIELD_ARROWS)).max(1e-3);
        let count = (half / step_m).floor().as_ivec2();
        for row in -count.y..=count.y {
            for column in -count.x..=count.x {
                let from_m = Vec3::new(column as f32 * step_m, y, row as f32 * step_m);
                let force = self.plan.fields.force_at(from_m, u64::MAX);
                let arrow = (force * METERS_PER_NEWTON).clamp_length_max(step_m);
                if arrow.length() > step_m * MIN_ARROW_SHARE {
                    items.push(OverlayItem {
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
