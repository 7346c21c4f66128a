//! The status of the hall.

use super::HallStage;
use super::messages::BeatMessage;
use crate::cluster::{Beat, Role, Stand};
use crate::control::{HallNodeStatus, HallStatus};

impl HallStage {
    /// Publishes how this node sees the hall at the time `now`.
    pub(super) fn publish_status(&self, now: f64) {
        let params = &self.links.params;
        let name = |node: usize| params.nodes[node].name.clone();
        let own = self.links.node;
        let (stand, leader, epoch) = match self.stand {
            Stand::Leads { epoch } => ("leads", Some(own), epoch),
            Stand::Follows { leader, epoch } => ("follows", Some(leader), epoch),
            Stand::Alone => ("alone", None, self.election.beat().epoch),
        };
        let living: Vec<Beat> = self.election.living(now).copied().collect();
        let seen = self.ends.board.seen();
        let words = |roles: &[Role]| roles.iter().map(|role| role.word().to_owned()).collect();
        let node_status = |(node, heard): (usize, &Option<BeatMessage>)| {
            let (roles, version, tick) = match heard {
                _ if node == own => (
                    words(&self.links.roles),
                    env!("CARGO_PKG_VERSION").to_owned(),
                    seen.tick,
                ),
                Some(heard) => (words(&heard.roles), heard.version.clone(), heard.tick),
                None => (Vec::new(), String::new(), 0),
            };
            HallNodeStatus {
                name: name(node),
                roles,
                version,
                is_living: node == own || living.iter().any(|beat| beat.node == node),
                leads: leader == Some(node),
                tick,
            }
        };
        let offset = self.clock.offset_at(now);
        let offset = offset.filter(|_| matches!(self.stand, Stand::Follows { .. }));
        self.ends.board.set_status(HallStatus {
            hall: params.hall.clone(),
            node: name(own),
            stand: stand.to_owned(),
            leader: leader.map(name).unwrap_or_default(),
            epoch,
            is_adrift: seen.is_adrift,
            hash_tick: seen.hash_tick,
            hash: format!("{:016x}", seen.hash),
            is_equal: seen.is_equal,
            loads: self.loads,
            delay_ms: params.delay_ms,
            offset_ms: offset.map(|offset| offset.offset_secs * 1e3),
            error_ms: offset.map(|offset| offset.error_secs * 1e3),
            rate_ppm: offset.map(|offset| offset.rate_ppm),
            sent_bytes: self.sent_bytes,
            nodes: self.others.iter().enumerate().map(node_status).collect(),
        });
    }
}
