//! Who leads: the node whose simulation the others follow. Every node sends a beat ten times a second.
//!
//! Rules: a node that may lead and hears no leader for [`SILENCE_SECS`] leads with the next epoch, if it is the first among the
//! living nodes that may lead: those that know the state come first, then the order of `[[cluster.nodes]]`. Of two leaders the
//! one with the higher epoch stays, with equal epochs the earlier node. The other one steps down and takes the state.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Time from one beat to the next, in seconds.
pub const BEAT_SECS: f64 = 0.1;
/// Time without a beat after which a node counts as gone, in seconds. Ten beats: a network that loses half of them is no reason.
pub const SILENCE_SECS: f64 = 1.0;

/// What a node says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beat {
    /// Place of the node in `[[cluster.nodes]]`.
    pub node: usize,
    /// The newest epoch that the node knows.
    pub epoch: u64,
    /// Whether the node leads in this epoch.
    pub leads: bool,
    /// Whether the node has the role `simulate`.
    pub can_lead: bool,
    /// Whether the node leads or follows a leader, so that it knows the state.
    pub has_state: bool,
}

/// What this node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stand {
    /// It leads in this epoch.
    Leads {
        /// The epoch.
        epoch: u64,
    },
    /// It follows another node.
    Follows {
        /// Place of the leader.
        leader: usize,
        /// The epoch of the leader.
        epoch: u64,
    },
    /// No node leads, as far as this one knows.
    Alone,
}

/// The election as one node sees it. Times are seconds on the local clock.
#[derive(Clone, Debug)]
pub struct Election {
    node: usize,
    can_lead: bool,
    has_state: bool,
    epoch: u64,
    stand: Stand,
    /// Last beat of each other node, and its time.
    heard: BTreeMap<usize, (Beat, f64)>,
    /// When the silence began: the start, or the last beat of a leader.
    quiet_since: f64,
}

impl Election {
    /// Joins the election at the time `now`.
    pub fn new(node: usize, can_lead: bool, now: f64) -> Self {
        Self {
            node,
            can_lead,
            has_state: false,
            epoch: 0,
            stand: Stand::Alone,
            heard: BTreeMap::new(),
            quiet_since: now,
        }
    }

    /// Sets whether this node knows the state of the pool.
    pub fn set_has_state(&mut self, has_state: bool) {
        self.has_state = has_state;
    }

    /// Returns what this node does.
    pub fn stand(&self) -> Stand {
        self.stand
    }

    /// Returns the beat of this node.
    pub fn beat(&self) -> Beat {
        let leads = matches!(self.stand, Stand::Leads { .. });
        Beat {
            node: self.node,
            epoch: self.epoch,
            leads,
            can_lead: self.can_lead,
            has_state: leads || self.has_state,
        }
    }

    /// Leads with the next epoch, because the pool began again: the followers take the new state.
    pub fn renew(&mut self) {
        if matches!(self.stand, Stand::Leads { .. }) {
            self.epoch += 1;
            self.stand = Stand::Leads { epoch: self.epoch };
        }
    }

    /// Returns the nodes that were heard within [`SILENCE_SECS`].
    pub fn living(&self, now: f64) -> impl Iterator<Item = &Beat> {
        let living = move |(_, at): &&(Beat, f64)| now - at < SILENCE_SECS;
        self.heard.values().filter(living).map(|(beat, _)| beat)
    }

    /// Hears a beat of another node.
    pub fn hear(&mut self, beat: Beat, now: f64) {
        if beat.node == self.node {
            return;
        }
        self.heard.insert(beat.node, (beat, now));
        if !beat.leads {
            self.epoch = self.epoch.max(beat.epoch);
            return;
        }
        let rank = |epoch: u64, node: usize| (epoch, std::cmp::Reverse(node));
        let theirs = rank(beat.epoch, beat.node);
        let is_accepted = match self.stand {
            Stand::Leads { epoch } => theirs > rank(epoch, self.node),
            Stand::Follows { leader, epoch } => theirs >= rank(epoch, leader),
            Stand::Alone => true,
        };
        self.epoch = self.epoch.max(beat.epoch);
        if is_accepted {
            self.stand = Stand::Follows {
                leader: beat.node,
                epoch: beat.epoch,
            };
            self.quiet_since = now;
        }
    }

    /// Decides what this node does at the time `now`.
    pub fn step(&mut self, now: f64) -> Stand {
        if matches!(self.stand, Stand::Leads { .. }) || now - self.quiet_since < SILENCE_SECS {
            return self.stand;
        }
        self.stand = Stand::Alone;
        let place = |has_state: bool, node: usize| (!has_state, node);
        let own = place(self.has_state, self.node);
        let is_first = (self.living(now).filter(|beat| beat.can_lead))
            .all(|beat| place(beat.has_state, beat.node) > own);
        if self.can_lead && is_first {
            self.epoch += 1;
            self.stand = Stand::Leads { epoch: self.epoch };
        }
        self.stand
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes, and which of them hear each other.
    struct Network {
        nodes: Vec<Option<Election>>,
        groups: Vec<u64>,
        now: f64,
        dice: u64,
        loss: u64,
    }

    impl Network {
        fn new(count: usize, loss: u64) -> Self {
            Self {
                nodes: (0..count)
                    .map(|i| Some(Election::new(i, true, 0.0)))
                    .collect(),
                groups: vec![0; count],
                now: 0.0,
                dice: 1,
                loss,
            }
        }

        fn roll(&mut self, sides: u64) -> u64 {
            self.dice = (self.dice)
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.dice >> 33) % sides
        }

        fn run(&mut self, secs: f64) {
            let end = self.now + secs;
            while self.now < end {
                self.now += BEAT_SECS;
                let beats: Vec<Beat> = self.nodes.iter().flatten().map(Election::beat).collect();
                for beat in beats {
                    for to in 0..self.nodes.len() {
                        let is_lost = self.roll(100) < self.loss;
                        let is_reached = self.groups[to] == self.groups[beat.node] && !is_lost;
                        let now = self.now;
                        if let (Some(node), true) = (&mut self.nodes[to], is_reached) {
                            node.hear(beat, now);
                        }
                    }
                }
                let now = self.now;
                for node in self.nodes.iter_mut().flatten() {
                    let stand = node.step(now);
                    node.set_has_state(stand != Stand::Alone);
                }
            }
        }

        fn leaders(&self) -> Vec<usize> {
            let leads = |node: &&Election| matches!(node.stand(), Stand::Leads { .. });
            let living = self.nodes.iter().flatten();
            living.filter(leads).map(|node| node.node).collect()
        }
    }

    #[test]
    fn the_first_node_leads_and_a_node_that_comes_later_follows() {
        let mut hall = Network::new(3, 0);
        hall.nodes[0] = None;
        hall.run(1.5);
        assert_eq!(hall.leaders(), [1]);
        hall.nodes[0] = Some(Election::new(0, true, hall.now));
        hall.run(3.0);
        assert_eq!(hall.leaders(), [1], "a running pool is not interrupted");
    }

    #[test]
    fn a_standby_leads_in_less_than_two_seconds_after_the_death_of_the_leader() {
        for loss in [0, 30] {
            let mut hall = Network::new(3, loss);
            hall.run(3.0);
            assert_eq!(hall.leaders(), [0]);
            hall.nodes[0] = None;
            hall.run(1.5);
            assert_eq!(hall.leaders(), [1], "loss of {loss} %");
        }
    }

    #[test]
    fn a_node_without_the_state_waits_for_one_that_knows_it() {
        let mut hall = Network::new(3, 0);
        hall.run(3.0);
        hall.nodes[0] = None;
        hall.nodes[1] = Some(Election::new(1, true, hall.now));
        let now = hall.now;
        let [one, two] = [1, 2].map(|i| hall.nodes[i].clone().unwrap());
        let (mut one, mut two) = (one, two);
        let later = now + SILENCE_SECS + 0.1;
        one.hear(two.beat(), later);
        two.hear(one.beat(), later);
        assert_eq!(one.step(later), Stand::Alone);
        assert!(matches!(two.step(later), Stand::Leads { .. }));
    }

    #[test]
    fn a_tracker_never_leads() {
        let mut tracker = Election::new(0, false, 0.0);
        assert_eq!(tracker.step(10.0), Stand::Alone);
    }

    #[test]
    fn after_every_partition_exactly_one_node_leads() {
        let mut hall = Network::new(5, 10);
        hall.run(3.0);
        for round in 0..60 {
            let parts = 1 + hall.roll(3);
            hall.groups = (0..5).map(|_| hall.roll(parts)).collect();
            let secs = 0.5 + hall.roll(40) as f64 * 0.1;
            hall.run(secs);
            if hall.roll(4) == 0 {
                let i = hall.roll(5) as usize;
                let now = hall.now;
                hall.nodes[i] = Some(Election::new(i, true, now));
            }
            hall.groups = vec![0; 5];
            hall.run(2.0);
            assert_eq!(hall.leaders().len(), 1, "round {round}");
            let leader = hall.leaders()[0];
            for node in hall.nodes.iter().flatten().filter(|n| n.node != leader) {
                assert!(
                    matches!(node.stand(), Stand::Follows { leader: l, .. } if l == leader),
                    "round {round}: {node:?}"
                );
            }
        }
    }
}
