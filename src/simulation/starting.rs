//! Rules of the director that start, stop and wait together: a rule with all that belong to it, and those that leave the others alone.
//!
//! In: the rules and what acts. Out: which rules begin, wait or end. Must not: fail.

use super::Simulation;
use crate::behavior::MindParams;
use crate::world::{Effect, RuleParams, RuleSet, RuleState};

impl Simulation {
    /// Starts the rule with this name in the next tick, even if its condition is not met. If it or a rule that belongs to it acts, that
    /// ends first, so that all of them begin again in their order. Returns `false` if there is no such rule.
    pub fn start_rule(&mut self, name: &str) -> bool {
        let Some(number) = self.rule_number(name) else {
            return false;
        };
        let held_secs = self.state.rules[number].held_secs;
        self.reset_members(number);
        self.state.rules[number] = RuleState {
            held_secs,
            is_started: true,
            ..RuleState::default()
        };
        true
    }

    /// Ends the rule with this name and all rules that belong to it. Those that have not begun yet do not begin. Returns `false` if
    /// there is no such rule.
    pub fn stop_rule(&mut self, name: &str) -> bool {
        let Some(number) = self.rule_number(name) else {
            return false;
        };
        self.reset_members(number);
        let pace = self.state.world.director.pace;
        self.state.rules[number].pause_secs = self.plan.rules[number].pause_after_stop_secs(pace);
        true
    }

    /// Returns the rules whose condition may let them begin: while a rule acts `alone`, only it and those that belong to it.
    pub(super) fn allowed_rules(&self) -> RuleSet {
        let rules = &self.plan.rules;
        let states = self.state.rules.iter().enumerate();
        let alone = states.filter(|&(number, state)| state.is_on && rules[number].alone);
        alone.fold(RuleSet::ALL, |allowed, (number, _)| {
            allowed.and(RuleSet::members(rules, number))
        })
    }

    /// Whether a rule waits: it is not allowed now, or it acts only during a rule that does not act. Then it also ends.
    pub(super) fn waits(&mut self, number: usize, allowed: RuleSet) -> bool {
        let during = self.plan.rules[number].during.as_deref();
        let is_during = during.is_none_or(|name| {
            self.rule_number(name)
                .is_some_and(|other| self.state.rules[other].is_on)
        });
        if !is_during {
            self.reset_rule(number);
            return true;
        }
        let state = &mut self.state.rules[number];
        let waits = !allowed.has(number) && !state.is_on && !state.is_started;
        if waits {
            state.held_secs = 0.0;
        }
        waits
    }

    /// Ends all rules that do not belong to a rule that acts alone. Those that a command starts in this tick still start.
    pub(super) fn quiet_others(&mut self, number: usize) {
        if !self.plan.rules[number].alone {
            return;
        }
        let members = RuleSet::members(&self.plan.rules, number);
        for other in 0..self.plan.rules.len() {
            let is_above = || RuleSet::members(&self.plan.rules, other).has(number);
            if members.has(other) || is_above() {
                continue;
            }
            let RuleState {
                is_started,
                pause_secs,
                ..
            } = self.state.rules[other];
            let was_on = self.state.rules[other].is_on;
            self.reset_rule(other);
            self.state.rules[other] = RuleState {
                is_started,
                pause_secs: if was_on {
                    self.plan.rules[other].pause_secs
                } else {
                    pause_secs
                },
                ..RuleState::default()
            };
        }
    }

    fn rule_number(&self, name: &str) -> Option<usize> {
        self.plan.rules.iter().position(|rule| rule.name == name)
    }

    /// Ends a rule and all that belong to it, and forgets that they have begun.
    fn reset_members(&mut self, number: usize) {
        let members = RuleSet::members(&self.plan.rules, number);
        for member in (0..self.plan.rules.len()).filter(|&member| members.has(member)) {
            self.reset_rule(member);
        }
    }

    /// Ends a rule if it acts, and forgets that it has begun.
    fn reset_rule(&mut self, number: usize) {
        let state = std::mem::take(&mut self.state.rules[number]);
        if state.is_on {
            self.return_minds(number, state.begin_tick);
            self.end_rule(number);
        }
    }

    /// Gives the agents to which a rule lent a mind their own back.
    fn return_minds(&mut self, number: usize, begin_tick: u64) {
        let rule: &RuleParams = &self.plan.rules[number];
        let Effect::Mind(effect) = &rule.then else {
            return;
        };
        let Some(mind) = self.plan.mind_of(&effect.like).cloned() else {
            return;
        };
        let hold_secs = rule.hold_secs;
        while let Some(id) = self.lent(&mind, begin_tick, hold_secs) {
            self.end_override_of(id);
        }
    }

    /// Returns an agent to which this mind was lent in this tick.
    fn lent(&self, mind: &MindParams, begin_tick: u64, hold_secs: f32) -> Option<u32> {
        let end_tick = begin_tick + self.ticks_of(hold_secs);
        let mut overrides = self.state.overrides.iter();
        let found = overrides.find(|one| one.end_tick == end_tick && one.params == *mind);
        found.map(|one| one.id)
    }
}
