//! Which rules belong to another one: those that follow it, and those that act only while it does.

use super::rule::{Condition, RuleParams};

/// A set of rules of a scene, by their indices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RuleSet(u64);

impl RuleSet {
    /// All rules.
    pub const ALL: Self = Self(u64::MAX);

    /// Returns a rule with all that belong to it, directly or through others.
    pub fn members(rules: &[RuleParams], first: usize) -> Self {
        let mut found = Self(Self::bit(first));
        loop {
            let before = found;
            for (index, rule) in rules.iter().enumerate() {
                let mut parents = rule.parents();
                let is_member = |name: &str| {
                    (rules.iter().position(|r| r.name == name)).is_some_and(|at| found.has(at))
                };
                if !found.has(index) && parents.any(is_member) {
                    found.0 |= Self::bit(index);
                }
            }
            if found == before {
                return found;
            }
        }
    }

    /// Returns the rules that are in both sets.
    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether the rule with this index is in the set.
    pub fn has(self, index: usize) -> bool {
        self.0 & Self::bit(index) != 0
    }

    fn bit(index: usize) -> u64 {
        u32::try_from(index)
            .ok()
            .and_then(|index| 1u64.checked_shl(index))
            .unwrap_or(0)
    }
}

impl RuleParams {
    /// Returns the names of the rules to which this one belongs.
    pub fn parents(&self) -> impl Iterator<Item = &str> {
        let earlier = match &self.when {
            Condition::After(after) => Some(after.rule.as_str()),
            _ => None,
        };
        earlier.into_iter().chain(self.during.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_belong_to_the_one_that_they_follow_also_through_others_and_in_a_circle() {
        let rule = |text: &str| -> RuleParams {
            let text = format!("{text}\nthen = {{ effect = 'calm' }}");
            toml::from_str(&text).unwrap()
        };
        let rules = [
            rule("name = 'c'\nwhen = { condition = 'after', rule = 'b' }"),
            rule("name = 'other'\nwhen = { condition = 'always' }"),
            rule("name = 'b'\nwhen = { condition = 'after', rule = 'a' }"),
            rule("name = 'a'\nwhen = { condition = 'by_hand' }"),
            rule("name = 'x'\nwhen = { condition = 'after', rule = 'y' }"),
            rule("name = 'y'\nwhen = { condition = 'after', rule = 'x' }"),
        ];
        let members = |first| {
            let set = RuleSet::members(&rules, first);
            (0..rules.len())
                .filter(|&index| set.has(index))
                .collect::<Vec<_>>()
        };
        assert_eq!(members(3), [0, 2, 3]);
        assert_eq!(members(2), [0, 2]);
        assert_eq!(members(1), [1]);
        assert_eq!(members(4), [4, 5]);
    }
}
