//! The table `[cluster]` of the site file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest number of characters of a name.
const NAME_LEN_MAX: usize = 40;

/// One pool on several machines ("nodes"): which they are, and how far behind the leader they run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ClusterParams {
    /// Name of the hall: letters, digits and hyphens. Nodes with another name do not hear each other. Empty: no hall, everything
    /// runs on this machine.
    pub hall: String,
    /// Time in milliseconds by which nodes that follow run behind the clock of the leading simulation. Higher: the picture stays
    /// smooth in a network with delays. Lower: fish answer visitors sooner.
    #[schemars(range(min = 20, max = 1000))]
    pub delay_ms: u32,
    /// Whether nodes look for each other by multicast, apart from the addresses below. Off: only the addresses are used.
    pub discovery: bool,
    /// The nodes. The first living one with the role `simulate` leads; the others stand by in this order.
    #[schemars(length(max = 32))]
    pub nodes: Vec<NodeParams>,
}

impl Default for ClusterParams {
    fn default() -> Self {
        Self {
            hall: String::new(),
            delay_ms: 120,
            discovery: false,
            nodes: Vec::new(),
        }
    }
}

/// A machine of the hall.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NodeParams {
    /// Name of the node: letters, digits and hyphens. The key of a machine (`shoal cluster join`) says which node it is.
    pub name: String,
    /// What the node does. Empty: everything.
    pub roles: Vec<Role>,
    /// Address and port at which other nodes reach this one, for example `10.0.0.11:7447`.
    pub address: String,
}

impl NodeParams {
    /// Whether the node does what `role` says.
    #[must_use]
    pub fn has(&self, role: Role) -> bool {
        self.roles.is_empty() || self.roles.contains(&role)
    }
}

impl Role {
    /// Returns the word for the role in the site file.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Track => "track",
            Self::Simulate => "simulate",
            Self::Render => "render",
        }
    }
}

/// What a node of a hall does.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Follows the visitors with its cameras.
    Track,
    /// Runs the pool and leads, or stands by.
    Simulate,
    /// Draws the outputs that name it.
    Render,
}

impl ClusterParams {
    /// Whether this site is a hall of several machines.
    #[must_use]
    pub fn is_hall(&self) -> bool {
        !self.hall.is_empty()
    }

    /// Returns the problems of the table, each with the path of its value.
    #[must_use]
    pub fn problems(&self) -> Vec<(String, String)> {
        let mut problems = Vec::new();
        if self.is_hall() && !is_name(&self.hall) {
            let message = format!(
                "\"{}\" is no name of a hall; use letters, digits and hyphens",
                self.hall
            );
            problems.push(("hall".to_owned(), message));
        }
        if self.is_hall() && !self.nodes.iter().any(|node| node.has(Role::Simulate)) {
            let message = "no node has the role simulate, so none could lead; add it to one";
            problems.push(("nodes".to_owned(), message.to_owned()));
        }
        for (i, node) in self.nodes.iter().enumerate() {
            let before = &self.nodes[..i];
            let is_used = before.iter().any(|other| other.name == node.name);
            if !is_name(&node.name) || is_used {
                let message = format!(
                    "\"{}\" is no name of a node or already used; use letters, digits and hyphens, another name for each",
                    node.name
                );
                problems.push((format!("nodes[{i}].name"), message));
            }
            let port = node.address.rsplit_once(':').map(|(_, port)| port);
            let has_port = port.is_some_and(|port| port.parse::<u16>().is_ok_and(|p| p > 0));
            if !has_port || before.iter().any(|other| other.address == node.address) {
                let message = format!(
                    "\"{}\" is no address of its own; write address and port, for example 10.0.0.11:7447",
                    node.address
                );
                problems.push((format!("nodes[{i}].address"), message));
            }
        }
        problems
    }
}

/// Whether a text can be a part of a key.
fn is_name(text: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '-';
    (1..=NAME_LEN_MAX).contains(&text.len()) && text.chars().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_addresses_and_roles_are_checked() {
        let node = |name: &str, address: &str, roles: &[Role]| NodeParams {
            name: name.to_owned(),
            roles: roles.to_vec(),
            address: address.to_owned(),
        };
        let hall = |nodes: Vec<NodeParams>| ClusterParams {
            hall: "hall".to_owned(),
            nodes,
            ..ClusterParams::default()
        };
        let problems = |params: &ClusterParams| -> Vec<String> {
            params
                .problems()
                .into_iter()
                .map(|(path, _)| path)
                .collect()
        };
        assert!(problems(&ClusterParams::default()).is_empty());
        let good = hall(vec![node("a", "10.0.0.1:7447", &[])]);
        assert!(problems(&good).is_empty());
        let bad = hall(vec![
            node("a", "10.0.0.1:7447", &[Role::Render]),
            node("a", "10.0.0.1:7447", &[Role::Track]),
            node("b/*", "10.0.0.1", &[]),
        ]);
        let expected = [
            "nodes[1].name",
            "nodes[1].address",
            "nodes[2].name",
            "nodes[2].address",
        ];
        assert_eq!(problems(&bad), expected);
        let none = hall(vec![node("a", "10.0.0.1:7447", &[Role::Render])]);
        assert_eq!(problems(&none), ["nodes"]);
    }
}
