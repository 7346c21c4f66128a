//! The actions: one file each, one line each in the registry below; parameters, schema and dispatch follow from it.
//!
//! `cargo fmt` does not follow modules that a macro declares: format them with `rustfmt --edition 2024 src/behavior/actions/*.rs`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::action::Action;
use super::context::ActionContext;
use super::proposal::Proposal;

mod avoid_obstacles;
mod combined;
mod eat;
mod evade_shadow;
mod flee_enemy;
mod flock;
mod flock_simple;
mod flock_with_relation;
mod follow_flow_field;
mod follow_leader;
mod hide_from_enemy;
mod hunt_prey;
mod investigate;
mod keep_habits;
mod keep_with_child;
mod leap;
mod navigate;
mod seek;
mod separate;
mod separate_non_shadow;
mod shadow_follow;
mod shelter_under;
mod stay_with_mother;
mod wander;

macro_rules! register_actions {
    ($($module:ident :: $action:ident,)*) => {
        $(pub use $module::*;)*

        /// One action of a mind with its parameters: an `[actions.NAME]` table, told apart by its `action` key.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "action", rename_all = "snake_case")]
        pub enum ActionParams {
            $(#[allow(missing_docs)] $action($module::$action),)*
        }

        impl ActionParams {
            /// The names of all kinds of actions.
            pub const KINDS: &[&str] = &[$(stringify!($module),)*];

            /// The name of this kind of action, as its `action` key says it.
            pub fn kind(&self) -> &'static str {
                match self { $(Self::$action(_) => stringify!($module),)* }
            }

            /// Factor on the steering force; an action that weighs nothing is never executed.
            pub fn weight(&self) -> f32 {
                match self { $(Self::$action(params) => params.weight,)* }
            }

            /// The relation types that this action names.
            pub fn relations(&self) -> &[String] {
                match self { $(Self::$action(params) => params.relations(),)* }
            }

            /// The least weight that the action has now, whatever its parameter says.
            pub fn min_weight(&self, context: &ActionContext<'_>) -> f32 {
                match self { $(Self::$action(params) => params.min_weight(context),)* }
            }

            /// A fresh memory for this action.
            pub fn memory(&self) -> Memory {
                match self { $(Self::$action(_) => Memory::$action(Default::default()),)* }
            }

            /// What the action wants now, before its weight; `None` when its precondition does not hold.
            ///
            /// A memory of another kind of action, as after an edit, is replaced by a fresh one.
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

        /// What one individual's action remembers from step to step: plain numbers.
        #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
        pub enum Memory {
            $(#[allow(missing_docs)] $action(<$module::$action as Action>::Memory),)*
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
    investigate::Investigate,
    stay_with_mother::StayWithMother,
    keep_with_child::KeepWithChild,
    eat::Eat,
    follow_leader::FollowLeader,
    keep_habits::KeepHabits,
    combined::Combined,
    navigate::Navigate,
    leap::Leap,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_reads_its_defaults_and_refuses_unknown_keys() {
        for kind in ActionParams::KINDS {
            let read: ActionParams = toml::from_str(&format!("action = '{kind}'")).unwrap();
            assert_eq!(read.kind(), *kind);
            assert_eq!(read.weight(), 1.0, "{kind}");
            let error = toml::from_str::<ActionParams>(&format!("action = '{kind}'\nwieght = 2.0"));
            assert!(error.unwrap_err().to_string().contains("wieght"), "{kind}");
        }
    }
}
