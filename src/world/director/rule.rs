//! The director's rules, each with a condition and an effect.
//!
//! In: the world before the tick. Out: which rules begin and which end. Must not: change an agent; `simulation`
//! applies the effects.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::{RandomStream, World};
use super::effect::Effect;
use crate::geometry::Visitor;

/// Most rules of one scene. All of them are checked in every tick.
const MAX_RULES: usize = 64;

/// One rule of a scene: when its condition has held for `for_secs`, its effect begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleParams {
    /// Name of the rule. A command that starts the rule by hand refers to this name.
    pub name: String,
    /// Condition under which the rule begins.
    pub when: Condition,
    /// Time for which the condition must hold before the rule begins. Higher: ignores short moments. Lower: begins soon; 0: at
    /// once.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 86400.0))]
    pub for_secs: f32,
    /// Name of another rule. This rule begins only while the other one acts, that is for the other one's `hold_secs`, and ends with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub during: Option<String>,
    /// Effect of the rule.
    pub then: Effect,
    /// Duration of the effect. Effects without a duration, such as `calm`, act once at the beginning. Higher: a long scene. Lower:
    /// a short one.
    #[serde(default = "default_hold_secs")]
    #[schemars(range(min = 0.0, max = 86400.0))]
    pub hold_secs: f32,
    /// Importance of the rule's gathering point, light and season. If several active rules give a species a gathering point, the rule with the
    /// highest priority applies, and of these the one that began last. When it ends, the one before applies again. Higher: prevails
    /// over other rules. Lower: gives way to them.
    #[serde(default)]
    #[schemars(range(min = -100, max = 100))]
    pub priority: i32,
    /// Time after the end of the effect before the rule can begin again. Higher: the rule stays a rare event. Lower: it repeats
    /// soon; 0: as long as the condition holds. A command or the clock also starts a rule that pauses.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 86400.0))]
    pub pause_secs: f32,
    /// Whether the other rules wait while this one acts. When it begins, they end. Those that follow this rule (`after`), or act `during`
    /// it, do not wait, and a command or the clock still starts every rule.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub alone: bool,
}

impl RuleParams {
    /// Returns the pause of the rule after a command has ended it: long enough that it does not follow the same beginning twice.
    pub fn pause_after_stop_secs(&self, pace: f32) -> f32 {
        self.pause_secs.max(MOMENT_SECS * pace)
    }
}

fn default_hold_secs() -> f32 {
    1.0
}

/// Condition under which a rule begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "condition", rename_all = "snake_case")]
pub enum Condition {
    /// The number of visitors on the surface is within limits.
    Visitors(VisitorsCondition),
    /// A visitor has stood still for a minimum time.
    StillVisitor(StillCondition),
    /// A visitor moves on the spot, for example stamps or waves.
    RestlessVisitor(RestlessCondition),
    /// A visitor comes onto the surface. It holds for a moment, for each visitor once.
    VisitorArrives(NoParams),
    /// A visitor leaves the surface. It holds for a moment.
    VisitorLeaves(NoParams),
    /// A visitor is in one of the areas of `pool.areas`.
    VisitorAt(PlaceCondition),
    /// Visitors stand or walk close together.
    VisitorsTogether(TogetherCondition),
    /// Another rule has begun some time before. It holds for a moment, so that the rules of a show follow each other.
    After(AfterCondition),
    /// At least a share of the agents is fleeing.
    Scare(ScareCondition),
    /// The rule begins at random times.
    Chance(ChanceCondition),
    /// The condition always holds. With a pause, the rule repeats regularly.
    Always(NoParams),
    /// The condition never holds. Only a command starts the rule.
    ByHand(NoParams),
}

/// Limits of the number of visitors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VisitorsCondition {
    /// Lowest number of shadows on the surface. Higher: waits for a group of visitors. Lower: one visitor is enough; 0: also in an
    /// empty room.
    #[schemars(range(min = 0, max = 1000))]
    pub at_least: u32,
    /// Highest number of shadows on the surface. Higher: holds also in a crowd. Lower: only with few visitors; 0: only while there
    /// is no shadow.
    #[schemars(range(min = 0, max = 1000))]
    pub at_most: u32,
}

impl Default for VisitorsCondition {
    fn default() -> Self {
        Self {
            at_least: 0,
            at_most: 1000,
        }
    }
}

/// Minimum time for which a visitor stands still.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StillCondition {
    /// Time for which at least one visitor must have stood still. Higher: rewards only patient visitors. Lower: begins when a
    /// visitor hardly stops.
    #[schemars(range(min = 0.0, max = 3600.0))]
    pub still_secs: f32,
}

impl Default for StillCondition {
    fn default() -> Self {
        Self { still_secs: 6.0 }
    }
}

/// Minimum agitation of a visitor on the spot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RestlessCondition {
    /// Mean speed of the outline of at least one visitor who stays on the spot. One who stands has less than 0.02, one who stamps
    /// 0.03 to 0.15. Higher: only a strong stamp counts. Lower: also small movements do; below 0.02, a visitor who only stands.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub agitation_mps: f32,
}

impl Default for RestlessCondition {
    fn default() -> Self {
        Self {
            agitation_mps: 0.04,
        }
    }
}

/// The area where a visitor is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlaceCondition {
    /// Name of the area in `pool.areas`. Where a visitor stands counts, not the shadow.
    pub place: String,
}

/// Number and distance of visitors who are together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TogetherCondition {
    /// Lowest number of visitors who are together. Higher: only a large group counts. Lower: a pair is enough.
    #[schemars(range(min = 2, max = 1000))]
    pub at_least: u32,
    /// Largest distance from one of them to the others. Higher: visitors in the same part of the pool are together. Lower: only
    /// those who touch each other.
    #[schemars(range(min = 0.1, max = 50.0))]
    pub within_m: f32,
}

impl Default for TogetherCondition {
    fn default() -> Self {
        Self {
            at_least: 2,
            within_m: 1.0,
        }
    }
}

/// The rule that began before, and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AfterCondition {
    /// Name of the other rule.
    pub rule: String,
    /// Time since the other rule began. Higher: a late part of the show. Lower: an early one; 0: both begin together.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 86400.0))]
    pub secs: f32,
}

/// Minimum share of agents that are fleeing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ScareCondition {
    /// Minimum share of agents that fled from a visitor or an enemy and are still clearly faster than their cruise speed. Agents
    /// that cannot boost, such as plankton, do not count. Higher: only a scare of the whole pool counts. Lower: a few fleeing fish
    /// are enough.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f32,
    /// Largest number of visitors on the surface at which the condition can hold. Higher: holds also in a crowd. Lower: only with
    /// few visitors; 0: only after all visitors have left.
    #[schemars(range(min = 0, max = 1000))]
    pub visitors_at_most: u32,
}

impl Default for ScareCondition {
    fn default() -> Self {
        Self {
            share: 0.3,
            visitors_at_most: 1000,
        }
    }
}

/// Random frequency at which the rule begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChanceCondition {
    /// Average number of beginnings per second: 0.01 is once in 100 s on average. Higher: the rule begins often. Lower: it is rare;
    /// 0: never.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub rate_per_sec: f32,
}

impl Default for ChanceCondition {
    fn default() -> Self {
        Self { rate_per_sec: 0.01 }
    }
}

/// A condition without parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NoParams {}

/// Returns errors in the rules that depend on several values, as (path inside the scene file, message).
pub fn rule_problems(rules: &[RuleParams]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    if rules.len() > MAX_RULES {
        found.push((
            "director".into(),
            format!(
                "{} rules are too many; a scene can have at most {MAX_RULES}, remove some",
                rules.len()
            ),
        ));
    }
    for (index, rule) in rules.iter().enumerate() {
        let path = format!("director[{index}].name");
        if rule.name.is_empty() {
            found.push((path, "the rule has no name; add one".into()));
        } else if rules[..index].iter().any(|other| other.name == rule.name) {
            found.push((
                path,
                format!(
                    "another rule is already named '{}'; choose a different name",
                    rule.name
                ),
            ));
        }
        if rule.during.as_ref() == Some(&rule.name) {
            found.push((
                format!("director[{index}].during"),
                "the rule would wait for itself; name another rule".into(),
            ));
        }
        let problem = condition_problem(rule);
        found.extend(problem.map(|(key, message)| (format!("director[{index}].{key}"), message)));
    }
    found
}

/// Returns what is wrong with the condition of a rule, as (key inside the rule, message).
fn condition_problem(rule: &RuleParams) -> Option<(&'static str, String)> {
    if rule.when.is_momentary() && rule.for_secs > 0.0 {
        let message = "the condition holds for a moment only, so it never holds for this time; remove for_secs";
        return Some(("for_secs", message.into()));
    }
    match &rule.when {
        Condition::Visitors(visitors) if visitors.at_least > visitors.at_most => Some((
            "when.at_least",
            format!(
                "at_least = {} is greater than at_most = {}, so the condition never holds; lower it",
                visitors.at_least, visitors.at_most
            ),
        )),
        Condition::After(after) if after.rule == rule.name => Some((
            "when.rule",
            "the rule would follow itself; name another rule, or use \"always\" with pause_secs"
                .into(),
        )),
        _ => None,
    }
}

/// The other rule of a condition [`Condition::After`], and the time since it began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EarlierRule {
    /// Tick in which it began last.
    pub begin_tick: u64,
    /// Time since then.
    pub since_secs: f32,
}

/// State of one rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RuleState {
    /// Time for which the condition of the rule has held.
    pub held_secs: f32,
    /// Time left until the effect of the rule ends.
    pub left_secs: f32,
    /// Time left until the pause of the rule ends.
    pub pause_secs: f32,
    /// Tick in which the effect of the rule began last.
    pub begin_tick: u64,
    /// Whether the effect of the rule is active.
    pub is_on: bool,
    /// Whether a command has started the rule since the last tick.
    pub is_started: bool,
    /// Whether the rule has begun at least once.
    #[serde(default)]
    pub has_begun: bool,
}

/// Change of a rule in one tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleTransition {
    /// The rule does not change.
    Unchanged,
    /// The effect of the rule begins.
    Begins,
    /// The effect of the rule ends.
    Ends,
}

impl RuleState {
    /// Advances the rule by one tick. `earlier` is the rule that it follows, if it follows one that has begun.
    pub fn advance(
        &mut self,
        rule: &RuleParams,
        index: usize,
        world: &World<'_>,
        earlier: Option<EarlierRule>,
    ) -> RuleTransition {
        let dt = world.dt_secs;
        let holds = match &rule.when {
            Condition::After(after) => earlier.is_some_and(|earlier| self.follows(after, earlier)),
            when => when.holds(index, world),
        };
        self.held_secs = if holds { self.held_secs + dt } else { 0.0 };
        if self.is_on && !self.is_started {
            self.left_secs -= dt;
            if self.left_secs > 0.0 {
                return RuleTransition::Unchanged;
            }
            self.is_on = false;
            self.pause_secs = rule.pause_secs;
            return RuleTransition::Ends;
        }
        self.pause_secs = (self.pause_secs - dt * world.director.pace).max(0.0);
        let is_due = holds && self.held_secs >= rule.for_secs && self.pause_secs <= 0.0;
        if !(is_due || self.is_started) {
            return RuleTransition::Unchanged;
        }
        *self = Self {
            held_secs: self.held_secs,
            left_secs: rule.hold_secs,
            begin_tick: world.random.tick,
            is_on: true,
            has_begun: true,
            ..Self::default()
        };
        RuleTransition::Begins
    }

    /// Whether the time after an earlier rule has come, and this rule has not followed that beginning yet.
    fn follows(&self, after: &AfterCondition, earlier: EarlierRule) -> bool {
        let due = after.secs..after.secs + MOMENT_SECS;
        let has_followed = self.has_begun && self.begin_tick >= earlier.begin_tick;
        due.contains(&earlier.since_secs) && !has_followed
    }
}

/// Duration for which a rule that is busy can still follow an earlier one.
const MOMENT_SECS: f32 = 1.0;

impl Condition {
    /// Whether only a command starts the rule.
    pub fn is_by_hand(&self) -> bool {
        matches!(self, Self::ByHand(_))
    }

    /// Whether the condition holds for a moment, and not for a time.
    fn is_momentary(&self) -> bool {
        matches!(
            self,
            Self::VisitorArrives(_) | Self::VisitorLeaves(_) | Self::After(_)
        )
    }

    /// Whether the condition of the rule with this index holds now. [`Self::After`] is left to the state of the rule.
    fn holds(&self, index: usize, world: &World<'_>) -> bool {
        let shadows = &world.visitors.shadows;
        match self {
            Self::Visitors(want) => {
                (want.at_least as usize..=want.at_most as usize).contains(&shadows.len())
            }
            Self::StillVisitor(want) => {
                let is_still = |secs: f64| secs as f32 >= want.still_secs;
                shadows.iter().any(|s| is_still(s.still_secs))
            }
            Self::RestlessVisitor(want) => {
                let restless = |s: &Visitor| s.restlessness_mps() >= want.agitation_mps;
                shadows.iter().any(restless)
            }
            Self::VisitorArrives(_) => world.presence.has_arrived(),
            Self::VisitorLeaves(_) => world.presence.has_left(),
            Self::VisitorAt(at) => {
                let mut places = world.water.params.areas.iter();
                places.any(|place| {
                    place.name == at.place && shadows.iter().any(|s| place.contains(s.foot_m))
                })
            }
            Self::VisitorsTogether(want) => {
                let near = |of: &Visitor| {
                    let within = |s: &&Visitor| s.foot_m.distance(of.foot_m) <= want.within_m;
                    shadows.iter().filter(within).count() >= want.at_least as usize
                };
                shadows.iter().any(near)
            }
            Self::Scare(want) => {
                shadows.len() <= want.visitors_at_most as usize && scared_share(world) >= want.share
            }
            Self::Chance(want) => {
                let draw = world.random.unit(index as u32, RandomStream::Director, 0);
                let rate_per_sec = want.rate_per_sec * world.director.pace;
                draw < 1.0 - (-rate_per_sec * world.dt_secs).exp()
            }
            Self::Always(_) => true,
            Self::ByHand(_) | Self::After(_) => false,
        }
    }
}

/// An agent that has fled counts as scared while its allowed speed is above this share of the range from cruise to boost speed.
const SCARED_SHARE: f32 = 0.1;

/// Returns the share of the agents that can boost that fled from a visitor or an enemy and are not calm yet, from 0 to 1.
fn scared_share(world: &World<'_>) -> f32 {
    let agents = &world.agents;
    let (mut scared, mut able) = (0.0, 0.0);
    for (body, kind) in agents.bodies.iter().zip(&agents.species) {
        let motion = &world.species[usize::from(*kind)].motion;
        let range = motion.boost_mps - motion.cruise_mps;
        if range > 0.0 {
            able += 1.0;
            let is_fast = body.boost.allowed_mps > motion.cruise_mps + range * SCARED_SHARE;
            scared += f32::from(u8::from(is_fast && body.boost.flees));
        }
    }
    if able > 0.0 { scared / able } else { 0.0 }
}
