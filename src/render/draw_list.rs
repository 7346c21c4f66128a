//! The draw list: everything that moves in one picture, as plain data on the CPU.
//!
//! In: two snapshots and a time between them. Out: body instances and joint matrices by species, and the shadows of the bodies
//! on the ground. Buffers are reused: a picture with the same bodies as the last one allocates no memory.

use bytemuck::{Pod, Zeroable};
use glam::Affine3A;

use super::color::Tint;
use super::ground_shadow::{GroundShadowVertex, strip};
use super::look::Markings;
use super::model::LEVELS;
use super::pose::{AffineRows, Animator, Body, Individual, visible_share};
use super::scenery::Scenery;
use crate::world::{AgentPose, Snapshot};

/// Lengths in the picture below which a body is drawn with each of its coarser meshes, the finest first. The outline of each mesh is
/// within half a pixel of that of the next finer one at its length, and a fish of 30 pixels still has a head, eyes and a forked tail.
const COARSER_BELOW_PX: [f32; LEVELS - 1] = [200.0, 96.0, 30.0];

/// One drawn body; same layout as `BodyInstance` in `shaders/bodies.wgsl`, which documents the fields.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub(super) struct BodyInstance {
    pub(super) first_joint: u32,
    pub(super) skin_layer: i32,
    pub(super) size_m: f32,
    pub(super) hue_cos: f32,
    pub(super) hue_sin: f32,
    pub(super) brightness: f32,
    pub(super) shine: f32,
    pub(super) glow: f32,
    pub(super) tone: f32,
    pub(super) substance: u32,
    pub(super) mark_color: u32,
    pub(super) mark_shape: u32,
    pub(super) mottling: f32,
}

/// Consecutive instances that are drawn with one mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Batch {
    /// Index of the first instance.
    pub(super) first: u32,
    /// Number of instances.
    pub(super) count: u32,
}

/// The moving bodies of one picture and their shadows.
#[derive(Debug, Default)]
pub struct DrawList {
    /// Bodies, grouped by batch. Inside a batch they are sorted by height, lowest first.
    pub(super) instances: Vec<BodyInstance>,
    /// Joint matrices in world space; each instance contains the index of its first matrix.
    pub(super) joints: Vec<AffineRows>,
    /// [`LEVELS`] batches per species, the finest meshes first.
    pub(super) batches: Vec<Batch>,
    /// Shadows on the ground: one strip per body, with [`super::shadow_mask::SPINE_STATIONS`] pairs of vertices.
    pub(super) ground_shadows: Vec<GroundShadowVertex>,
    /// The finest level of detail at which bodies are drawn. A body without such a mesh is drawn with its next finer mesh.
    pub(super) finest_level: usize,
    agents: Vec<AgentPose>,
    /// Batch, height (world y, in meters) and index in `agents` of every agent, in drawing order.
    order: Vec<(u32, f32, u32)>,
    matrices: Vec<Affine3A>,
    animator: Animator,
    time_secs: Option<f64>,
}

impl DrawList {
    /// Computes the draw data at `alpha` (0..1) between two snapshots. Returns the time of the picture and the time since the
    /// last picture, both in seconds.
    pub fn update(
        &mut self,
        previous: &Snapshot,
        next: &Snapshot,
        alpha: f32,
        bodies: &[Body],
        scenery: &Scenery,
    ) -> (f64, f32) {
        interpolate(previous, next, alpha, &mut self.agents);
        let time_secs =
            previous.time_secs + (next.time_secs - previous.time_secs) * f64::from(alpha);
        let since = self
            .time_secs
            .map_or(0.0, |before| (time_secs - before).clamp(0.0, 0.25));
        self.time_secs = Some(time_secs);
        self.animator.advance(since as f32, &self.agents, bodies);
        self.instances.clear();
        self.joints.clear();
        self.batches.clear();
        self.ground_shadows.clear();
        // The lowest bodies are drawn first, so that they are visible through the translucent fins of bodies above them. Bodies
        // of equal height keep the order of the agents.
        self.order.clear();
        for (index, agent) in self.agents.iter().enumerate() {
            let Some(body) = bodies.get(usize::from(agent.species)) else {
                continue;
            };
            if agent.swallowed >= 1.0 {
                continue;
            }
            let length_m = Individual::new(agent.id, &body.look).length_m;
            let seen_px = length_m * scenery.pixels_per_m;
            let is_coarser = |&&limit_px: &&f32| seen_px < limit_px;
            let wanted = COARSER_BELOW_PX.iter().filter(is_coarser).count();
            let level = body.model.drawn_level(wanted.max(self.finest_level));
            let batch = LEVELS * usize::from(agent.species) + level;
            self.order
                .push((batch as u32, agent.position_m.y, index as u32));
        }
        self.order
            .sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
        self.batches.resize(LEVELS * bodies.len(), Batch::default());
        for at in 0..self.order.len() {
            let Some(&(batch, _, index)) = self.order.get(at) else {
                break;
            };
            self.add_body(batch, index, bodies, scenery);
        }
        (time_secs, since as f32)
    }

    /// Appends the instance, the joints and the shadow of one agent.
    fn add_body(&mut self, batch: u32, index: u32, bodies: &[Body], scenery: &Scenery) {
        let species = batch as usize / LEVELS;
        let agent = self.agents.get(index as usize).copied();
        let (Some(agent), Some(body)) = (agent, bodies.get(species)) else {
            return;
        };
        if let Some(batch) = self.batches.get_mut(batch as usize) {
            if batch.count == 0 {
                batch.first = self.instances.len() as u32;
            }
            batch.count += 1;
        }
        self.matrices.clear();
        self.animator
            .pose(index as usize, &agent, body, &mut self.matrices);
        let instance = instance(&agent, body, species, self.joints.len());
        let length_m = instance.size_m;
        self.instances.push(instance);
        self.joints
            .extend(self.matrices.iter().map(AffineRows::new));
        let line = body.stations.bent(&self.matrices);
        let size_m = (length_m, length_m * body.stations.half_width);
        strip(
            &line,
            size_m,
            species + 1,
            scenery,
            &mut self.ground_shadows,
        );
    }

    /// Agents, interpolated at the time of this picture.
    pub fn agents(&self) -> &[AgentPose] {
        &self.agents
    }
}

fn instance(agent: &AgentPose, body: &Body, species: usize, first_joint: usize) -> BodyInstance {
    let individual = Individual::new(agent.id, &body.look);
    let glows = body.look.glow > 0.0;
    let (hue_sin, hue_cos) = individual.hue_rad.sin_cos();
    let [mark_color, mark_shape] = packed_marks(&body.look.markings, individual.marks);
    BodyInstance {
        first_joint: first_joint as u32,
        skin_layer: if body.model.skin.is_some() {
            species as i32
        } else {
            -1
        },
        size_m: individual.length_m * visible_share(agent),
        hue_cos: hue_cos * individual.saturation,
        hue_sin: hue_sin * individual.saturation,
        brightness: individual.brightness,
        shine: if glows { 0.0 } else { body.look.shine },
        glow: if glows { body.look.glow } else { 0.0 },
        tone: individual.pattern_seed,
        substance: individual.variety.map_or(0, |variety| variety as u32),
        mark_color,
        mark_shape,
        mottling: body.look.markings.mottling,
    }
}

/// Returns color and amount, and shape of an individual's marks, each as four bytes that the shader unpacks. `factors` are those on
/// the amount and the size.
fn packed_marks(markings: &Markings, factors: [f32; 2]) -> [u32; 2] {
    let pack = |shares: [f32; 4]| {
        u32::from_le_bytes(shares.map(|share| (share.clamp(0.0, 1.0) * 255.0).round() as u8))
    };
    let Tint { red, green, blue } = &markings.color;
    let color = [red, green, blue].map(|share| share.max(0.0).sqrt());
    let [red, green, blue] = color;
    [
        pack([red, green, blue, markings.amount * factors[0]]),
        pack([
            markings.per_length / 64.0,
            (markings.size * factors[1]).min(0.5) / 0.5,
            markings.stretch / 8.0,
            markings.reach,
        ]),
    ]
}

/// Writes the agents at `alpha` (0..1) between two snapshots to `out`. Agents that were teleported, or that are only in `next`,
/// have their state of `next`. Agents that are only in `previous`, or that have non-finite values, are left out.
pub(super) fn interpolate(
    previous: &Snapshot,
    next: &Snapshot,
    alpha: f32,
    out: &mut Vec<AgentPose>,
) {
    out.clear();
    let mut before = previous.agents.iter().peekable();
    for now in &next.agents {
        while before.next_if(|agent| agent.id < now.id).is_some() {}
        let from = before
            .next_if(|agent| agent.id == now.id)
            .filter(|_| !now.teleported);
        let Some(from) = from else {
            out.push(*now);
            continue;
        };
        let mix = |a: f32, b: f32| a + (b - a) * alpha;
        let forward = from
            .forward
            .lerp(now.forward, alpha)
            .normalize_or(now.forward);
        let up = from.up.lerp(now.up, alpha);
        out.push(AgentPose {
            position_m: from.position_m.lerp(now.position_m, alpha),
            forward,
            up: (up - forward * up.dot(forward)).normalize_or(now.up),
            velocity_mps: from.velocity_mps.lerp(now.velocity_mps, alpha),
            turn_rate_rps: mix(from.turn_rate_rps, now.turn_rate_rps),
            acceleration_mps2: mix(from.acceleration_mps2, now.acceleration_mps2),
            swallowed: mix(from.swallowed, now.swallowed),
            boost: mix(from.boost, now.boost),
            // A new start begins anew.
            start_phase: mix(from.start_phase.min(now.start_phase), now.start_phase),
            ..*now
        });
    }
    out.retain(|agent| {
        agent.position_m.is_finite() && agent.forward.is_finite() && agent.up.is_finite()
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::look::SpeciesLook;
    use crate::world::FastStart;
    use glam::Vec3;

    fn agent(id: u32, x: f32) -> AgentPose {
        AgentPose {
            id,
            species: 0,
            position_m: Vec3::new(x, -0.5, 0.0),
            forward: Vec3::X,
            up: Vec3::Y,
            velocity_mps: Vec3::X,
            turn_rate_rps: 0.0,
            acceleration_mps2: 0.0,
            boost: 0.0,
            start_phase: FastStart::OVER,
            start_bend_rad: 0.0,
            radius_m: 0.1,
            teleported: false,
            swallowed: 0.0,
        }
    }

    fn snapshot(agents: Vec<AgentPose>) -> Snapshot {
        Snapshot {
            agents,
            ..Snapshot::default()
        }
    }

    #[test]
    fn agents_are_interpolated_unless_they_were_teleported() {
        let before = snapshot(vec![agent(1, 0.0), agent(2, 0.0), agent(4, 0.0)]);
        let teleported = AgentPose {
            teleported: true,
            ..agent(2, 3.0)
        };
        let after = snapshot(vec![agent(1, 1.0), teleported, agent(3, 9.0)]);
        let mut out = Vec::new();
        interpolate(&before, &after, 0.25, &mut out);
        let seen: Vec<_> = out.iter().map(|a| (a.id, a.position_m.x)).collect();
        assert_eq!(seen, [(1, 0.25), (2, 3.0), (3, 9.0)]);
    }

    #[test]
    fn interpolated_axes_stay_orthonormal() {
        let before = snapshot(vec![agent(1, 0.0)]);
        let after = snapshot(vec![AgentPose {
            forward: Vec3::Z,
            up: Vec3::new(1.0, 1.0, 0.0).normalize(),
            ..agent(1, 1.0)
        }]);
        let mut out = Vec::new();
        interpolate(&before, &after, 0.5, &mut out);
        let pose = out[0];
        assert!(pose.forward.is_normalized() && pose.up.is_normalized());
        assert!(pose.forward.dot(pose.up).abs() < 1e-5);
    }

    /// All fish of a species had the same spots.
    #[test]
    fn every_individual_has_marks_of_its_own() {
        let look = SpeciesLook {
            markings: Markings {
                amount: 0.6,
                ..Markings::default()
            },
            ..SpeciesLook::default()
        };
        let seen: Vec<_> = (0..20)
            .map(|id| {
                let individual = Individual::new(id, &look);
                let [color, shape] = packed_marks(&look.markings, individual.marks);
                (individual.pattern_seed.to_bits(), color, shape)
            })
            .collect();
        for (i, a) in seen.iter().enumerate() {
            assert!(seen[..i].iter().all(|b| a.0 != b.0), "{a:?} is drawn twice");
        }
        let distinct = |of: fn(&(u32, u32, u32)) -> u32| {
            seen.iter()
                .map(of)
                .collect::<std::collections::BTreeSet<_>>()
                .len()
        };
        assert!(distinct(|s| s.1) > 10, "all have the same number of marks");
        assert!(distinct(|s| s.2) > 10, "all marks have the same size");
    }

    #[test]
    fn a_species_without_markings_has_none() {
        let [color, _] = packed_marks(&Markings::default(), [1.33, 1.0]);
        assert_eq!(color >> 24, 0);
    }

    #[test]
    fn non_finite_agents_are_left_out() {
        let mut out = Vec::new();
        let broken = snapshot(vec![agent(1, f32::NAN), agent(2, 1.0)]);
        interpolate(&broken, &broken, 0.5, &mut out);
        assert_eq!(out.len(), 1);
    }
}
