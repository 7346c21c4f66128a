//! `combined`: several actions that act as one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::{Action, Capabilities};
use crate::behavior::context::ActionContext;
use crate::behavior::proposal::Proposal;

/// Several other actions of the same species that act as one action. Depending on `mode`, it can be executed if at
/// least one part or if every part can be executed. A part can be `combined` itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Combined {
    /// Factor on the result; 0 switches the action off. Higher: the parts win against other actions that act at the same time.
    /// Lower: the parts give way to other actions.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Condition under which the action can be executed, and the parts that act then.
    pub mode: CombinedMode,
    /// Names of its parts, most important first. Each part counts with its own weight.
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

/// Condition under which a combined action can be executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CombinedMode {
    /// If at least one part can be executed. Only the first such part is executed.
    #[default]
    Any,
    /// If all parts can be executed: they act together.
    All,
    /// If at least one part can be executed: all parts that can be executed act together.
    Each,
}

impl Action for Combined {
    type Memory = ();

    const CAPABILITIES: Capabilities = Capabilities {
        is_combined: true,
        ..Capabilities::NONE
    };

    fn parts(&self) -> &[String] {
        &self.actions
    }

    fn combine(
        &self,
        mut parts: impl Iterator<Item = Option<(Proposal, f32)>>,
    ) -> Option<Proposal> {
        let weighted =
            |(proposal, weight): (Proposal, f32)| proposal.with_force(proposal.force * weight);
        match self.mode {
            CombinedMode::Any => parts.flatten().next().map(weighted),
            CombinedMode::Each => parts
                .flatten()
                .map(weighted)
                .reduce(|sum, part| sum.with(&part)),
            CombinedMode::All => {
                let mut sum = weighted(parts.next()??);
                for part in parts {
                    sum = sum.with(&weighted(part?));
                }
                Some(sum)
            }
        }
    }

    /// Returns `None`. The mind evaluates the parts and calls `combine`, because an action does not know other
    /// actions.
    fn propose(&self, _: &ActionContext<'_>, _: &mut ()) -> Option<Proposal> {
        None
    }
}
