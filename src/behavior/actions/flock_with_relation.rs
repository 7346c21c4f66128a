//! `flock_with_relation`: the agent schools with its own species and with agents in chosen relations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::Action;
use crate::behavior::context::ActionContext;
use crate::behavior::proposal::Proposal;
use crate::behavior::schooling::{School, school};
use crate::world::FlockPartChange;

/// Schools with all agents in sight that have the same species or are in one of the relations. The species' `[flock]`
/// table contains the distances and weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FlockWithRelation {
    /// Factor on the steering force; 0 switches the action off. Higher: wins against other actions that act at the same time, and
    /// turns the agent faster, up to its largest force. Lower: gives way to other actions, and the agent follows slowly.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Relations whose agents are flock mates, in addition to agents of the same species. The relation `known`
    /// contains the agents that this agent has investigated.
    pub relations: Vec<String>,
    /// Factor on the force that brings the agent to its cruise speed along its heading. This force keeps the school moving. Higher:
    /// all swim steadily at cruise speed. Lower: speeds differ and the school stretches; 0: nothing keeps it moving.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub pace_weight: f32,
    /// Whether an agent that has fallen behind its school uses boost to catch up.
    pub use_boost: bool,
    /// Separation of this action, where it differs from the species' `[flock.separation]`.
    pub separation: FlockPartChange,
    /// Alignment of this action, where it differs from the species' `[flock.alignment]`.
    pub alignment: FlockPartChange,
    /// Cohesion of this action, where it differs from the species' `[flock.cohesion]`.
    pub cohesion: FlockPartChange,
}

impl Default for FlockWithRelation {
    fn default() -> Self {
        Self {
            weight: 1.0,
            relations: vec!["friend".into()],
            pace_weight: 1.0,
            use_boost: true,
            separation: FlockPartChange::default(),
            alignment: FlockPartChange::default(),
            cohesion: FlockPartChange::default(),
        }
    }
}

impl Action for FlockWithRelation {
    type Memory = ();

    fn flock_changes(&self) -> Option<[&FlockPartChange; 3]> {
        Some([&self.separation, &self.alignment, &self.cohesion])
    }

    fn flocks_with(&self, species_bit: u64, related: u64) -> u64 {
        species_bit | related
    }

    fn relations(&self) -> &[String] {
        &self.relations
    }

    fn propose(&self, context: &ActionContext<'_>, _: &mut ()) -> Option<Proposal> {
        let with = School {
            names: self.flocks_with(context.species.species_bit, context.related),
            pace_weight: self.pace_weight,
            use_boost: self.use_boost,
        };
        school(context, with)
    }
}
