//! `combined`: several actions as one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::{Action, Proposal};
use crate::behavior::context::ActionContext;

/// Several other actions of the same species as one: possible when any or all of them are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Combined {
    /// Factor on the result; 0 switches the action off.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// When it is possible, and what it does then.
    pub mode: CombinedMode,
    /// Names of its parts, most important first; each counts with its own weight. None of them is `combined` itself.
    pub actions: Vec<String>,
}

impl Default for Combined {
    fn default() -> Self {
        Self {
            weight: 1.0,
            mode: CombinedMode::Any,
            actions: Vec::new(),
        }
    }
}

/// When a combined action is possible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CombinedMode {
    /// When one of its parts is: the first of those acts.
    #[default]
    Any,
    /// When all of them are: they act together.
    All,
}

impl Combined {
    /// The result of what the parts propose, each with its weight, in their order.
    pub fn join(
        &self,
        mut parts: impl Iterator<Item = Option<(Proposal, f32)>>,
    ) -> Option<Proposal> {
        let weighted = |(proposal, weight): (Proposal, f32)| Proposal {
            force: proposal.force * weight,
            ..proposal
        };
        match self.mode {
            CombinedMode::Any => parts.flatten().next().map(weighted),
            CombinedMode::All => {
                let mut sum = weighted(parts.next()??);
                for part in parts {
                    sum = sum.with(&weighted(part?));
                }
                Some(sum)
            }
        }
    }
}

impl Action for Combined {
    type Memory = ();

    /// The mind asks the parts and joins them, because no action knows the others.
    fn propose(&self, _: &ActionContext<'_>, _: &mut ()) -> Option<Proposal> {
        None
    }
}
