//! Finds parameters of a mind that can have no effect: actions that an earlier action always replaces, needs below a need that
//! never ends, drives that no need reads.

use super::actions::ActionParams;
use super::params::{Combine, LimitOf, MindParams, NeedKind, NeedParams};

/// One finding: path inside the species file, and a message.
type Finding = (String, String);

impl MindParams {
    /// Returns warnings about parameters without effect.
    pub(super) fn without_effect(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        self.find_replaced_actions(&mut found);
        self.find_blocked_needs(&mut found);
        self.find_unread_drives(&mut found);
        let needs = self.needs.iter().enumerate();
        for (index, need) in needs {
            find_unused_keys(&format!("needs[{index}]"), need, &mut found);
        }
        found
    }

    /// Returns an action if its weight is not 0, or the director can raise it.
    fn active(&self, name: &str) -> Option<&ActionParams> {
        let action = self.actions.get(name)?;
        (action.weight() > 0.0 || action.follows_director()).then_some(action)
    }

    /// Whether an action is executed whenever it is tried.
    fn always_acts(&self, name: &str) -> bool {
        let action = self.actions.get(name);
        action.is_some_and(|action| action.weight() > 0.0 && action.is_always_executable())
    }

    /// Finds actions behind an action that can always be executed, in needs that execute only one action.
    fn find_replaced_actions(&self, found: &mut Vec<Finding>) {
        let standard = (
            "standard".to_owned(),
            "the standard need".to_owned(),
            &self.standard,
        );
        let needs = self.needs.iter().enumerate().map(|(index, need)| {
            (
                format!("needs[{index}]"),
                format!("the need '{}'", need.name),
                need,
            )
        });
        for (path, shown, need) in needs.chain([standard]) {
            let is_ordered = if need.additive {
                need.combine == Combine::First
            } else {
                !need.stochastic
            };
            let winner = need.actions.iter().position(|name| self.always_acts(name));
            if let Some(winner) = winner.filter(|_| is_ordered) {
                for (index, name) in need.actions.iter().enumerate().skip(winner + 1) {
                    found.push((
                        format!("{path}.actions[{index}]"),
                        format!(
                            "'{name}' is never executed in {shown}: '{}' before it can always be executed; put '{name}' \
                             before it, or make the need additive or stochastic",
                            need.actions[winner]
                        ),
                    ));
                }
            }
        }
    }

    /// Finds the first need below a need that is never satisfied, and needs that only block.
    fn find_blocked_needs(&self, found: &mut Vec<Finding>) {
        for (index, need) in self.needs.iter().enumerate() {
            let acts = need.actions.iter().any(|name| self.active(name).is_some());
            if !acts && need.kind != NeedKind::ActionBased && !need.actions.is_empty() {
                found.push((
                    format!("needs[{index}].actions"),
                    format!(
                        "all actions of the need '{}' have weight 0, so it does nothing and blocks the needs below it while it is \
                         not satisfied; raise a weight or remove the need",
                        need.name
                    ),
                ));
            }
            let never_ends = match need.kind {
                NeedKind::Default => true,
                NeedKind::ActionBased => need.actions.iter().any(|name| self.always_acts(name)),
                NeedKind::LimitBased => false,
            };
            if let Some(below) = self.needs.get(index + 1).filter(|_| never_ends) {
                found.push((
                    format!("needs[{}].name", index + 1),
                    format!(
                        "the need '{}' never acts: the need '{}' above it is never satisfied; put it above '{}'",
                        below.name, need.name, need.name
                    ),
                ));
                return;
            }
        }
    }

    fn find_unread_drives(&self, found: &mut Vec<Finding>) {
        let drives = &self.drives;
        // Hunger lowers libido, so a need that reads libido reads hunger too.
        for (key, value, name, readers) in [
            (
                "hungry_after_secs",
                drives.hungry_after_secs,
                "hunger",
                &[LimitOf::Hunger, LimitOf::Libido][..],
            ),
            (
                "fear_distance_m",
                drives.fear_distance_m,
                "fear",
                &[LimitOf::Fear],
            ),
            (
                "courts_after_secs",
                drives.courts_after_secs,
                "libido",
                &[LimitOf::Libido],
            ),
        ] {
            let reads = |need: &NeedParams| {
                need.limit
                    .as_ref()
                    .is_some_and(|limit| readers.contains(&limit.of))
            };
            if value > 0.0 && !self.needs.iter().any(reads) {
                found.push((
                    format!("drives.{key}"),
                    format!(
                        "no need reads {name}, so it has no effect; add a limit_based need with limit.of = \"{name}\", or remove \
                         this key"
                    ),
                ));
            }
        }
    }
}

/// Finds keys of a need that its other keys switch off.
fn find_unused_keys(path: &str, need: &NeedParams, found: &mut Vec<Finding>) {
    if need.additive && need.stochastic {
        found.push((
            format!("{path}.stochastic"),
            format!(
                "stochastic has no effect, because the need '{}' is additive; set additive = false",
                need.name
            ),
        ));
    }
    if !need.additive && need.combine != Combine::Sum {
        found.push((
            format!("{path}.combine"),
            format!(
                "combine has no effect, because the need '{}' is not additive; set additive = true",
                need.name
            ),
        ));
    }
}
