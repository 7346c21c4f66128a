//! The director: rules of a scene, and commands, that change the behavior of agents while the pool runs. Here are the rules with
//! their conditions and effects, and the gathering points that the director currently requests of the fish. They are set before
//! the agents decide; actions read them. **Source**: Jockel 2005, §1.2.2.

use std::collections::BTreeMap;

use glam::Vec3;
use serde::{Deserialize, Serialize};

mod effect;
mod light;
mod members;
mod presence;
mod rule;

pub use effect::{
    CalmEffect, CrossEdgeEffect, Effect, GatherAtShadowEffect, GatherEffect, HuntingEffect,
    MindEffect, PictureSide, RelationEffect, SendAcrossEffect, SetNeedEffect, SoundEffect,
    SpeedEffect, WaterSound,
};
pub use light::{
    Light, LightEffect, LightShares, PictureLight, PictureSeason, Season, SeasonEffect,
    SeasonShares,
};
pub use members::RuleSet;
pub use presence::Presence;
pub use rule::{Condition, EarlierRule, RuleParams, RuleState, RuleTransition, rule_problems};

/// A point where fish are requested to gather.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gathering {
    /// The point in world space. For a gathering at a visitor, a point under the visitor.
    pub point_m: Vec3,
    /// Minimum weight of the action that swims to the point. Replaces the action's own weight if that weight is smaller.
    pub weight: f32,
    /// The visitor around whom the fish gather; `None` if they gather at the point.
    pub visitor: Option<GatheringVisitor>,
}

/// The visitor around whom fish are requested to gather.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GatheringVisitor {
    /// Id of the visitor's shadow.
    pub id: u32,
    /// Largest share of a species that attends visitors or other agents at a time.
    pub share: f32,
}

/// Request of one active rule to one species.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GatheringRequest {
    /// Index of the rule in the plan.
    pub rule: usize,
    /// Index of the species.
    pub species: usize,
    /// Priority of the rule.
    pub priority: i32,
    /// Tick in which the rule began.
    pub begin_tick: u64,
    /// The requested gathering; `None` while there is no point, for example because there is no visitor.
    pub gathering: Option<Gathering>,
}

/// An agent that a rule lets come from a side of the picture. It swims out of the picture first, if it is in sight.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entrance {
    /// Index of the rule in the plan.
    pub rule: usize,
    /// Id of the agent.
    pub agent: u32,
    /// Where the agent swims out of the picture.
    pub exit: Gathering,
}

/// The gathering points that the director currently requests of the fish.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Director {
    /// Factor on the frequency at which rules begin; 1 is the pace of the scene.
    pub pace: f32,
    /// Gathering point of all fish, set by a command; `None` if there is none. Takes precedence over gathering points of
    /// rules.
    pub by_hand: Option<Gathering>,
    /// Requests of all active rules, in ascending order of priority, then of begin. So a request that was superseded
    /// applies again when the other rule ends.
    pub requests: Vec<GatheringRequest>,
    /// Gathering point of each species, set by rules; `None` if there is none. Indexed like the list of species.
    pub by_rules: Vec<Option<Gathering>>,
    /// The rule of each of these gathering points. Indexed like the list of species.
    #[serde(default)]
    pub winners: Vec<Option<usize>>,
    /// Agents that have not entered yet.
    #[serde(default)]
    pub entrances: Vec<Entrance>,
    /// The light of the picture.
    #[serde(default, skip_serializing_if = "PictureLight::is_of_scene")]
    pub light: PictureLight,
    /// The season of the picture.
    #[serde(default, skip_serializing_if = "PictureSeason::is_of_scene")]
    pub season: PictureSeason,
}

/// What commands have set and a command can undo.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CommandedDirection {
    /// The gathering point of all species.
    pub gathering: Option<Gathering>,
    /// Whether hunting is on, by species; the key `None` means all species.
    pub hunting: BTreeMap<Option<String>, bool>,
}

impl Default for Director {
    fn default() -> Self {
        Self {
            pace: 1.0,
            by_hand: None,
            requests: Vec::new(),
            by_rules: Vec::new(),
            winners: Vec::new(),
            entrances: Vec::new(),
            light: PictureLight::default(),
            season: PictureSeason::default(),
        }
    }
}

impl Director {
    /// Returns the current gathering point of an agent of the species with this index; `None` if there is none.
    pub fn gathering(&self, species_index: u16, agent: u32) -> Option<Gathering> {
        let species = usize::from(species_index);
        let by_rule = || self.by_rules.get(species).copied().flatten();
        self.by_hand
            .or_else(|| self.exit(species, agent))
            .or_else(by_rule)
    }

    /// Returns where an agent swims out of the picture before it enters.
    fn exit(&self, species: usize, agent: u32) -> Option<Gathering> {
        if self.entrances.is_empty() {
            return None;
        }
        let rule = self.winners.get(species).copied().flatten()?;
        let mut own = self.entrances.iter();
        let is_own = |entrance: &&Entrance| entrance.agent == agent && entrance.rule == rule;
        own.find(is_own).map(|entrance| entrance.exit)
    }

    /// Removes all requests, and reserves memory for one request of each rule to each species.
    pub fn reset(&mut self, rules: usize, species: usize) {
        self.requests.clear();
        self.entrances.clear();
        self.reserve(rules, species);
        self.by_rules.clear();
        self.by_rules.resize(species, None);
        self.winners.clear();
        self.winners.resize(species, None);
    }

    /// Reserves memory for one request of each rule to each species.
    pub fn reserve(&mut self, rules: usize, species: usize) {
        let missing = (rules * species).saturating_sub(self.requests.len());
        self.requests.reserve(missing);
    }

    /// Reserves memory for the entrance of all agents.
    pub fn reserve_entrances(&mut self, agents: usize) {
        let missing = agents.saturating_sub(self.entrances.len());
        self.entrances.reserve(missing);
    }

    /// Adds a request.
    pub fn add(&mut self, request: GatheringRequest) {
        let key = |r: &GatheringRequest| (r.priority, r.begin_tick, r.rule);
        let index = self.requests.partition_point(|r| key(r) <= key(&request));
        self.requests.insert(index, request);
    }

    /// Removes the requests of a rule.
    pub fn remove(&mut self, rule: usize) {
        self.requests.retain(|request| request.rule != rule);
        self.entrances.retain(|entrance| entrance.rule != rule);
    }

    /// Chooses the gathering point of each species: among the requests with a point, the one with the highest priority, and
    /// of these the latest.
    pub fn arbitrate(&mut self) {
        self.by_rules.fill(None);
        self.winners.resize(self.by_rules.len(), None);
        self.winners.fill(None);
        for request in &self.requests {
            let current = self.by_rules.get_mut(request.species);
            let winner = self.winners.get_mut(request.species);
            if let (Some(current), Some(winner)) = (current, winner)
                && request.gathering.is_some()
            {
                *current = request.gathering;
                *winner = Some(request.rule);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(rule: usize, priority: i32, begin_tick: u64) -> GatheringRequest {
        GatheringRequest {
            rule,
            species: 0,
            priority,
            begin_tick,
            gathering: Some(Gathering {
                point_m: Vec3::X * rule as f32,
                weight: 1.0,
                visitor: None,
            }),
        }
    }

    #[test]
    fn the_highest_priority_applies_then_the_latest_and_an_end_restores_the_one_before() {
        let mut director = Director::default();
        director.reset(4, 1);
        let winner = |director: &mut Director| {
            director.arbitrate();
            director.gathering(0, 0).map(|g| g.point_m.x as usize)
        };
        assert_eq!(winner(&mut director), None);
        director.add(request(1, 0, 10));
        director.add(request(2, 0, 20));
        assert_eq!(winner(&mut director), Some(2), "the latest applies");
        director.add(request(3, 1, 5));
        director.add(request(0, 0, 30));
        assert_eq!(winner(&mut director), Some(3), "priority comes first");
        director.remove(3);
        assert_eq!(winner(&mut director), Some(0));
        director.remove(0);
        assert_eq!(winner(&mut director), Some(2));
        director.requests[1].gathering = None;
        assert_eq!(winner(&mut director), Some(1), "a request without a point");
        director.remove(1);
        director.remove(2);
        assert_eq!(winner(&mut director), None);
    }
}
