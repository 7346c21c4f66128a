//! Overlay items of the minds: what each requested agent wants, which forces pull it, which neighbors count for it, what it sees,
//! and where it hides.
//!
//! In: a pool after a tick. Out: overlay items. Must not: change what an agent does.

use glam::Vec3;

use super::Simulation;
use crate::behavior::{Decision, Mind, SeenAgent};
use crate::world::{
    OverlayAgents, OverlayItem, OverlayLayer, OverlayLayers, OverlayRequest, OverlayShape, Species,
};

/// Largest number of agents whose neighborhoods and sight are all drawn. Of more agents, only the first one of each species is
/// drawn as an example: the rings of a whole school cover each other.
const RINGED_MAX: usize = 6;
/// Length of the arrow of the strongest force on an agent, as a multiple of its body length. Forces of a cruising fish are a
/// hundredth of its largest one, so a fixed scale would hide them; the number beside the name says how strong they are.
const FORCE_ARROW_LENGTHS: f32 = 1.5;
/// Shortest and longest arrow of the strongest force, in meters: visible on a floor of 4 m, and not longer than the reach of an arm.
const FORCE_ARROW_M: (f32, f32) = (0.3, 0.7);
/// Share of the largest force of a species below which a force is not drawn.
const FORCE_SHARE_MIN: f32 = 0.005;
/// Time into the future of the arrow of motion, in seconds.
const MOTION_SECS: f32 = 0.5;
/// Time after which an enemy, prey or food that was seen is no longer drawn, in seconds.
const SEEN_SECS: f32 = 10.0;

const RINGS: OverlayLayers = OverlayLayers::FLOCK
    .with(OverlayLayer::Sight)
    .with(OverlayLayer::Shelter);

/// One agent that is explained.
struct Explained<'a> {
    index: usize,
    at: Vec3,
    forward: Vec3,
    species: &'a Species,
    mind: &'a Mind,
    decision: &'a Decision,
}

impl Simulation {
    /// Adds the layers of minds for all requested agents.
    pub(super) fn add_minds(&self, request: &OverlayRequest, items: &mut Vec<OverlayItem>) {
        let layers = request.layers;
        let of_minds = RINGS
            .with(OverlayLayer::Mind)
            .with(OverlayLayer::Force)
            .with(OverlayLayer::Motion);
        if !layers.has_any(of_minds) {
            return;
        }
        let indices = self.requested(&request.agents);
        let is_named = request.agents != OverlayAgents::All;
        let mut ringed_species = Vec::new();
        for &index in &indices {
            let Some(agent) = self.explained(index) else {
                continue;
            };
            // The first labels have room for sure.
            if layers.has(OverlayLayer::Mind) {
                let shape = OverlayShape::Point(agent.at);
                let text = self.mind_text(&agent, is_named);
                items.push(item(OverlayLayer::Mind, shape, text));
            }
            if layers.has_any(RINGS) {
                let species = self.state.world.agents.species[index];
                if indices.len() <= RINGED_MAX || !ringed_species.contains(&species) {
                    ringed_species.push(species);
                    self.add_flock(&agent, layers, items);
                    self.add_sight(&agent, layers, items);
                    self.add_shelter(&agent, layers, items);
                }
            }
            if layers.has(OverlayLayer::Motion) {
                self.add_motion(&agent, items);
            }
            if layers.has(OverlayLayer::Force) {
                self.add_forces(&agent, items);
            }
        }
    }

    /// Returns the indices of the requested agents.
    fn requested(&self, agents: &OverlayAgents) -> Vec<usize> {
        let all = &self.state.world.agents;
        match agents {
            OverlayAgents::All => (0..all.len()).collect(),
            OverlayAgents::Id(id) => all.index_of(*id).into_iter().collect(),
            OverlayAgents::Named(name) => {
                let bit = self.plan.name_bit(name).unwrap_or(0);
                let is_named = |index: &usize| all.name_bits[*index] & bit != 0;
                (0..all.len()).filter(is_named).collect()
            }
        }
    }

    fn explained(&self, index: usize) -> Option<Explained<'_>> {
        let agents = &self.state.world.agents;
        let body = agents.bodies.get(index)?;
        Some(Explained {
            index,
            at: body.position_m,
            forward: body.forward,
            species: &self.plan.world.species[usize::from(agents.species[index])],
            mind: self.workspace.minds(&self.plan).get(index),
            decision: self.workspace.decisions.get(index)?,
        })
    }

    /// Returns the active need and its actions in words, or what the agent does always. A named agent also gets its name.
    fn mind_text(&self, agent: &Explained<'_>, is_named: bool) -> String {
        let need = agent.decision.need.map(usize::from);
        let mut needs = self.need_insights(agent.index).into_iter();
        let actions = match need.and_then(|need| needs.nth(need)) {
            Some(need) => need.actions,
            None => self.standard_insights(agent.index),
        };
        let acting = actions.iter().filter(|action| action.acts);
        let acting: Vec<_> = acting.map(|action| action.name).collect();
        let need = self.active_need(agent.index);
        let by_hand = self.has_override(agent.index).then_some("by hand, ");
        let need = if need.is_empty() { "always" } else { need };
        let wants = format!(
            "{}{need}: {}",
            by_hand.unwrap_or_default(),
            acting.join(" + ")
        );
        if !is_named {
            return wants;
        }
        let species = agent.species;
        let name = species.individual.as_ref().unwrap_or(&species.name);
        let id = self.state.world.agents.ids[agent.index];
        format!("{name} {id} - {wants}")
    }

    /// Adds the forces of the actions as arrows, and their sum if there are several.
    fn add_forces(&self, agent: &Explained<'_>, items: &mut Vec<OverlayItem>) {
        let max_n = agent.species.motion.max_force_n.max(1e-6);
        let (low, high) = FORCE_ARROW_M;
        let length_m = (FORCE_ARROW_LENGTHS * agent.species.body.length_m).clamp(low, high);
        let mut forces: Vec<(&str, Vec3)> = Vec::new();
        for (name, force) in self.forces(agent.index) {
            match forces.iter_mut().find(|(own, _)| *own == name) {
                Some((_, sum)) => *sum += force,
                None => forces.push((name, force)),
            }
        }
        forces.retain(|(_, force)| force.length() > FORCE_SHARE_MIN * max_n);
        forces.sort_by(|a, b| b.1.length().total_cmp(&a.1.length()));
        let strongest_n = forces.first().map_or(max_n, |(_, force)| force.length());
        let arrow = |force: Vec3| OverlayShape::Arrow {
            from_m: agent.at,
            to_m: agent.at + force * (length_m / strongest_n),
        };
        if forces.len() > 1 {
            let sum = forces.iter().map(|(_, force)| *force).sum::<Vec3>();
            let shape = arrow(sum.clamp_length_max(strongest_n));
            items.push(item(OverlayLayer::Force, shape, "sum".to_owned()));
        }
        for (name, force) in forces {
            let text = format!("{name} {:.2} N", force.length());
            let shape = arrow(force);
            items.push(item(OverlayLayer::Force, shape, text));
        }
    }

    /// Adds the regions of separation, alignment and cohesion, and a line to each neighbor that counts, in the layer of the first of
    /// the regions that it is in.
    fn add_flock(
        &self,
        agent: &Explained<'_>,
        layers: OverlayLayers,
        items: &mut Vec<OverlayItem>,
    ) {
        if !layers.has_any(OverlayLayers::FLOCK) {
            return;
        }
        let (mind, species) = (agent.mind, agent.species);
        let Some((rules, _)) = mind.flock_insight(species.species_bit, agent.decision) else {
            return;
        };
        let parts = [
            (OverlayLayer::Separation, &rules.separation, "separation"),
            (OverlayLayer::Alignment, &rules.alignment, "alignment"),
            (OverlayLayer::Cohesion, &rules.cohesion, "cohesion"),
        ];
        for (layer, part, name) in parts {
            if layers.has(layer) && part.weight > 0.0 && part.radius_sq_m2 > 0.0 {
                let shape = OverlayShape::Sector {
                    center_m: agent.at,
                    forward: agent.forward,
                    radius_m: part.radius_sq_m2.sqrt(),
                    half_angle_rad: part.cos_limit.max(-1.0).acos(),
                };
                items.push(item(layer, shape, name.to_owned()));
            }
        }
        for (mate, counts) in self.perceived(agent.index) {
            let mut counting = parts.iter().zip(counts).filter(|(_, counts)| *counts);
            if let Some(((layer, ..), _)) = counting.find(|((layer, ..), _)| layers.has(*layer)) {
                let shape = OverlayShape::Line {
                    from_m: agent.at,
                    to_m: agent.at + mate.offset_m,
                };
                items.push(item(*layer, shape, String::new()));
            }
        }
    }

    /// Adds the region that an agent sees, and an arrow to the enemy, prey and food that it sees or remembers.
    fn add_sight(
        &self,
        agent: &Explained<'_>,
        layers: OverlayLayers,
        items: &mut Vec<OverlayItem>,
    ) {
        if !layers.has(OverlayLayer::Sight) {
            return;
        }
        let perception = &agent.species.perception;
        let mut radii = vec![(perception.sight_radius_m, "sight")];
        if agent.species.relations.prey != 0
            && perception.prey_sight_radius_m > perception.sight_radius_m
        {
            radii.push((perception.prey_sight_radius_m, "sight of prey"));
        }
        for (radius_m, text) in radii {
            let shape = OverlayShape::Sector {
                center_m: agent.at,
                forward: agent.forward,
                radius_m,
                half_angle_rad: (perception.field_of_view_deg / 2.0).to_radians(),
            };
            items.push(item(OverlayLayer::Sight, shape, text.to_owned()));
        }
        let remembered = self.state.minds[agent.index].remembered();
        let mut add_seen = |seen: &SeenAgent, kind: &str| {
            if seen.age_secs <= SEEN_SECS {
                let shape = OverlayShape::Arrow {
                    from_m: agent.at,
                    to_m: seen.position_m,
                };
                let text = match seen.visible() {
                    Some(_) => kind.to_owned(),
                    None => format!("{kind} {:.0} s ago", seen.age_secs),
                };
                items.push(item(OverlayLayer::Sight, shape, text));
            }
        };
        add_seen(&remembered.enemy, "enemy");
        add_seen(&remembered.prey, "prey");
        add_seen(&remembered.food, "food");
    }

    /// Adds the place to which an agent swims and, if it can rest behind or under obstacles, those that it sees.
    fn add_shelter(
        &self,
        agent: &Explained<'_>,
        layers: OverlayLayers,
        items: &mut Vec<OverlayItem>,
    ) {
        if !layers.has(OverlayLayer::Shelter) {
            return;
        }
        if let Some(goal_m) = agent.decision.proposal.goal_m {
            let shape = OverlayShape::Arrow {
                from_m: agent.at,
                to_m: goal_m,
            };
            items.push(item(OverlayLayer::Shelter, shape, "goal".to_owned()));
        }
        let can_rest = |action: crate::behavior::MindActionInfo<'_>| {
            action.is_on && action.is_listed && action.capabilities.rests
        };
        if !agent.mind.actions().any(can_rest) {
            return;
        }
        let sight_m = agent.species.perception.sight_radius_m;
        for solid in &self.plan.world.solids {
            let (center_m, radius_m) = (solid.center_m(), solid.bounding_radius_m());
            if center_m.distance(agent.at) < sight_m + radius_m {
                let shape = OverlayShape::Sector {
                    center_m,
                    forward: Vec3::X,
                    radius_m,
                    half_angle_rad: std::f32::consts::PI,
                };
                items.push(item(OverlayLayer::Shelter, shape, "shelter".to_owned()));
            }
        }
    }

    /// Adds the body of an agent and its way in the next half second at constant velocity.
    fn add_motion(&self, agent: &Explained<'_>, items: &mut Vec<OverlayItem>) {
        let agents = &self.state.world.agents;
        let body = OverlayShape::Sector {
            center_m: agent.at,
            forward: agent.forward,
            radius_m: agents.radii_m[agent.index],
            half_angle_rad: std::f32::consts::PI,
        };
        items.push(item(OverlayLayer::Motion, body, String::new()));
        let way = OverlayShape::Arrow {
            from_m: agent.at,
            to_m: agent.at + agents.bodies[agent.index].velocity_mps * MOTION_SECS,
        };
        items.push(item(OverlayLayer::Motion, way, String::new()));
    }
}

fn item(layer: OverlayLayer, shape: OverlayShape, text: String) -> OverlayItem {
    OverlayItem { layer, shape, text }
}
