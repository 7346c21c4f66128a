//! The actions, one file each. The registry below generates the parameters, the schema and the dispatch of all
//! actions.
//!
//! To add an action, write its file, declare the file as a module, and add a line to the registry.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::action::{Action, Capabilities, FleeingAction, ParamFinding};
use super::context::ActionContext;
use super::proposal::Proposal;
use crate::geometry::Visitor;
use crate::navigation::{PathMemory, Repulsion};
use crate::world::FlockPartChange;

mod accompany;
mod avoid_agents;
mod avoid_barriers;
mod avoid_obstacles;
mod combined;
mod eat;
mod evade;
mod evade_shadow;
mod flee_enemy;
mod flock;
mod flock_simple;
mod flock_with_relation;
mod follow_flow_field;
mod follow_leader;
mod follow_path;
mod follow_wall;
mod hide_from_enemy;
mod hunt_prey;
mod interpose;
mod investigate;
mod keep_habits;
mod keep_with_child;
mod leap;
mod make_room;
mod navigate;
mod pursue;
mod queue;
mod rest;
mod seek;
mod separate;
mod separate_non_shadow;
mod shadow_follow;
mod shelter_under;
mod startle;
mod stay_inside;
mod stay_on_path;
mod stay_with_mother;
mod wander;

/// Defines [`ActionParams`] and [`Memory`] with one variant for each `module::Action` of the registry.
macro_rules! register_actions {
    ($($module:ident :: $action:ident,)*) => {
        $(pub use $module::*;)*

        /// Parameters of one action of a mind: a table `[actions.NAME]`. Its key `action` says which kind of action it is.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "action", rename_all = "snake_case")]
        pub enum ActionParams {
            $(#[allow(missing_docs)] $action($module::$action),)*
        }

        impl ActionParams {
            /// Names of all kinds of actions.
            pub const KINDS: &[&str] = &[$(stringify!($module),)*];

            /// Name of this kind of action, as in its `action` key.
            pub fn kind(&self) -> &'static str {
                match self { $(Self::$action(_) => stringify!($module),)* }
            }

            /// Factor on the steering force. An action with weight 0 is not executed.
            pub fn weight(&self) -> f32 {
                match self { $(Self::$action(params) => params.weight,)* }
            }

            /// See [`Action::capabilities`].
            pub fn capabilities(&self) -> Capabilities {
                match self { $(Self::$action(params) => Action::capabilities(params),)* }
            }

            /// See [`Action::flock_changes`].
            pub(super) fn flock_changes(&self) -> Option<[&FlockPartChange; 3]> {
                match self { $(Self::$action(params) => params.flock_changes(),)* }
            }

            /// See [`Action::flocks_with`].
            pub(super) fn flocks_with(&self, species_bit: u64, related: u64) -> u64 {
                match self { $(Self::$action(params) => params.flocks_with(species_bit, related),)* }
            }

            /// See [`Action::relations`].
            pub fn relations(&self) -> &[String] {
                match self { $(Self::$action(params) => params.relations(),)* }
            }

            /// See [`Action::other_relations`].
            pub fn other_relations(&self) -> &[String] {
                match self { $(Self::$action(params) => params.other_relations(),)* }
            }

            /// See [`Action::needs_related`].
            pub fn needs_related(&self) -> bool {
                match self { $(Self::$action(params) => params.needs_related(),)* }
            }

            /// See [`Action::path`].
            pub fn path(&self) -> Option<&str> {
                match self { $(Self::$action(params) => Action::path(params),)* }
            }

            /// See [`Action::built_in_relation`].
            pub fn built_in_relation(&self) -> Option<&'static str> {
                match self { $(Self::$action(params) => params.built_in_relation(),)* }
            }

            /// See [`Action::is_always_executable`].
            pub fn is_always_executable(&self) -> bool {
                match self { $(Self::$action(params) => params.is_always_executable(),)* }
            }

            /// See [`Action::min_weight`].
            pub fn min_weight(&self, context: &ActionContext<'_>) -> f32 {
                match self { $(Self::$action(params) => params.min_weight(context),)* }
            }

            /// See [`Action::follows_director`].
            pub fn follows_director(&self) -> bool {
                match self { $(Self::$action(params) => params.follows_director(),)* }
            }

            /// See [`Action::field_around`].
            pub(super) fn field_around(&self, touch_m: f32) -> Option<(Repulsion, f32)> {
                match self { $(Self::$action(params) => params.field_around(touch_m),)* }
            }

            /// See [`Action::keeps_from_m`].
            pub(super) fn keeps_from_m(&self, visitor: &Visitor) -> Option<f32> {
                match self { $(Self::$action(params) => params.keeps_from_m(visitor),)* }
            }

            /// See [`Action::parts`].
            pub fn parts(&self) -> &[String] {
                match self { $(Self::$action(params) => params.parts(),)* }
            }

            /// See [`Action::combine`].
            pub(super) fn combine(
                &self,
                parts: impl Iterator<Item = Option<(Proposal, f32)>>,
            ) -> Option<Proposal> {
                match self { $(Self::$action(params) => params.combine(parts),)* }
            }

            /// See [`Action::flee_distance_m`].
            pub(super) fn flee_distance_m(&self, sight_radius_m: f32) -> Option<f32> {
                match self { $(Self::$action(params) => Action::flee_distance_m(params, sight_radius_m),)* }
            }

            /// See [`Action::warnings`].
            pub(super) fn warnings(&self, name: &str) -> Option<ParamFinding> {
                match self { $(Self::$action(params) => params.warnings(name),)* }
            }

            /// See [`Action::warnings_after`].
            pub(super) fn warnings_after(
                &self,
                name: &str,
                earlier: &FleeingAction<'_>,
            ) -> Option<ParamFinding> {
                match self { $(Self::$action(params) => params.warnings_after(name, earlier),)* }
            }

            /// Returns the initial memory of this action.
            pub fn memory(&self) -> Memory {
                match self { $(Self::$action(_) => Memory::$action(Default::default()),)* }
            }

            /// See [`Action::propose`]. If the memory belongs to another kind of action, the initial memory of this
            /// action replaces it.
            #[inline]
            pub fn propose(&self, context: &ActionContext<'_>, memory: &mut Memory) -> Option<Proposal> {
                match self {
                    $(Self::$action(params) => {
                        if !matches!(memory, Memory::$action(_)) {
                            *memory = self.memory();
                        }
                        match memory {
                            Memory::$action(memory) => params.propose(context, memory),
                            _ => None,
                        }
                    })*
                }
            }
        }

        /// State of one action that one agent keeps from tick to tick. All states take the space of the largest, so an action with a
        /// large state boxes it.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum Memory {
            $(#[allow(missing_docs)] $action(<$module::$action as Action>::Memory),)*
        }

        impl Memory {
            /// See [`Action::path_memory_mut`].
            pub(super) fn path_memory_mut(&mut self) -> Option<&mut PathMemory> {
                match self { $(Self::$action(memory) => <$module::$action as Action>::path_memory_mut(memory),)* }
            }
        }
    };
}

register_actions! {
    avoid_obstacles::AvoidObstacles,
    seek::Seek,
    separate::Separate,
    separate_non_shadow::SeparateNonShadow,
    wander::Wander,
    flock::Flock,
    flock_with_relation::FlockWithRelation,
    evade_shadow::EvadeShadow,
    flee_enemy::FleeEnemy,
    hunt_prey::HuntPrey,
    hide_from_enemy::HideFromEnemy,
    shadow_follow::ShadowFollow,
    follow_flow_field::FollowFlowField,
    flock_simple::FlockSimple,
    shelter_under::ShelterUnder,
    startle::Startle,
    investigate::Investigate,
    stay_with_mother::StayWithMother,
    keep_with_child::KeepWithChild,
    eat::Eat,
    follow_leader::FollowLeader,
    keep_habits::KeepHabits,
    combined::Combined,
    navigate::Navigate,
    leap::Leap,
    make_room::MakeRoom,
    accompany::Accompany,
    avoid_agents::AvoidAgents,
    avoid_barriers::AvoidBarriers,
    evade::Evade,
    follow_path::FollowPath,
    follow_wall::FollowWall,
    interpose::Interpose,
    pursue::Pursue,
    queue::Queue,
    rest::Rest,
    stay_inside::StayInside,
    stay_on_path::StayOnPath,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_reads_defaults_and_rejects_unknown_keys() {
        for kind in ActionParams::KINDS {
            let read: ActionParams = toml::from_str(&format!("action = '{kind}'")).unwrap();
            assert_eq!(read.kind(), *kind);
            assert_eq!(read.weight(), 1.0, "{kind}");
            let error = toml::from_str::<ActionParams>(&format!("action = '{kind}'\nwieght = 2.0"));
            assert!(error.unwrap_err().to_string().contains("wieght"), "{kind}");
        }
    }
}
