//! The rules of the director that other machines answer with light, sound and film: a rule begins, a rule ends.
//!
//! In: the rules after every tick. Out: events. Must not: change the pool. A tick in which nothing begins allocates nothing.

use crate::control::EventKind;
use crate::simulation::Simulation;

/// Time within which a rule that begins again continues. A rule without a pause begins again in the next tick while its condition holds.
const RULE_GAP_SECS: f64 = 0.25;

/// A rule that has begun, or ended a moment ago.
#[derive(Debug)]
struct SeenRule {
    name: String,
    begin_tick: u64,
    /// Time at which it was seen first, and last.
    seen_secs: (f64, f64),
    was_on: bool,
}

/// Notices rules that begin and end.
#[derive(Debug, Default)]
pub(super) struct RuleWatch {
    active: Vec<SeenRule>,
}

impl RuleWatch {
    /// Adds what changed in the last tick.
    pub(super) fn look(&mut self, simulation: &Simulation, add: &mut dyn FnMut(EventKind)) {
        let now = simulation.time_secs();
        for seen in &mut self.active {
            seen.was_on = false;
        }
        for (rule, state) in simulation.rules().filter(|(_, state)| state.is_on) {
            let known = self.active.iter_mut().find(|seen| seen.name == rule.name);
            let begin_tick = state.begin_tick;
            match known {
                Some(seen) => {
                    let was_on_before = now - seen.seen_secs.1 < 1.5 * simulation.dt_secs();
                    // A person started it again while it was active.
                    let is_again = seen.begin_tick != begin_tick && was_on_before;
                    if is_again {
                        add(EventKind::RuleBegan {
                            rule: rule.name.clone(),
                        });
                    }
                    *seen = SeenRule {
                        name: std::mem::take(&mut seen.name),
                        begin_tick,
                        seen_secs: (if is_again { now } else { seen.seen_secs.0 }, now),
                        was_on: true,
                    };
                }
                None => {
                    self.active.push(SeenRule {
                        name: rule.name.clone(),
                        begin_tick,
                        seen_secs: (now, now),
                        was_on: true,
                    });
                    add(EventKind::RuleBegan {
                        rule: rule.name.clone(),
                    });
                }
            }
        }
        self.active.retain_mut(|seen| {
            // Also after a pool that began again.
            let is_recent = (0.0..RULE_GAP_SECS).contains(&(now - seen.seen_secs.1));
            if !(seen.was_on || is_recent) {
                let lasted_secs = seen.seen_secs.1 - seen.seen_secs.0 + simulation.dt_secs();
                add(EventKind::RuleEnded {
                    rule: std::mem::take(&mut seen.name),
                    lasted_secs: (lasted_secs * 10.0).round() / 10.0,
                });
            }
            seen.was_on || is_recent
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::{SceneDescription, SimulationParams};
    use crate::world::Observation;

    /// Runs a pool with rules and returns the events, each with its time in tenths of a second.
    fn events(rules: &[&str], secs: f64, by_hand: (&str, &[f64])) -> Vec<(u32, EventKind)> {
        let scene = SceneDescription {
            director: rules
                .iter()
                .map(|text| toml::from_str(text).unwrap())
                .collect(),
            ..SceneDescription::default()
        };
        let mut pool = Simulation::new(&scene, &SimulationParams::default()).unwrap();
        let (mut watch, mut found) = (RuleWatch::default(), Vec::new());
        for tick in 0..(secs / pool.dt_secs()) as u32 {
            let now = f64::from(tick) * pool.dt_secs();
            let is_due = |at: &f64| (now..now + pool.dt_secs()).contains(at);
            if by_hand.1.iter().any(is_due) {
                pool.start_rule(by_hand.0);
            }
            pool.run_tick(&Observation::default());
            watch.look(&pool, &mut |event| {
                found.push(((now * 10.0).round() as u32, event));
            });
        }
        found
    }

    fn began(rule: &str) -> EventKind {
        EventKind::RuleBegan { rule: rule.into() }
    }

    fn ended(rule: &str, lasted_secs: f64) -> EventKind {
        EventKind::RuleEnded {
            rule: rule.into(),
            lasted_secs,
        }
    }

    #[test]
    fn a_rule_is_reported_when_it_begins_and_when_it_ends_also_by_hand() {
        let found = events(
            &[
                "name = 'show'\nwhen = { condition = 'by_hand' }\nthen = { effect = 'calm' }\nhold_secs = 3.0",
                "name = 'part'\nwhen = { condition = 'after', rule = 'show', secs = 1.0 }\nthen = { effect = 'calm' }\nhold_secs = 0.0",
            ],
            8.0,
            ("show", &[2.0]),
        );
        // An end is reported a quarter of a second later, because a rule can begin again at once.
        assert_eq!(
            found,
            [
                (20, began("show")),
                (30, began("part")),
                (32, ended("part", 0.0)),
                (52, ended("show", 3.0))
            ]
        );
    }

    #[test]
    fn a_rule_that_begins_again_at_once_goes_on_and_one_that_is_started_again_begins() {
        let always = "name = 'rest'\nwhen = { condition = 'always' }\nthen = { effect = 'calm' }\nhold_secs = 1.0";
        let found = events(&[always], 10.0, ("", &[]));
        assert_eq!(found, [(0, began("rest"))]);
        let by_hand = "name = 'go'\nwhen = { condition = 'by_hand' }\nthen = { effect = 'calm' }\nhold_secs = 20.0";
        // Its duration is counted from its last begin.
        let found = events(&[&by_hand.replace("20.0", "3.0")], 8.0, ("go", &[1.0, 2.0]));
        assert_eq!(
            found,
            [(10, began("go")), (20, began("go")), (52, ended("go", 3.0))]
        );
        let found = events(&[by_hand], 4.0, ("go", &[1.0]));
        assert_eq!(found, [(10, began("go"))]);
    }
}
