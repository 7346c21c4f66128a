//! The stage that makes this program a node of a hall: it knows who leads, publishes the ticks of the own simulation while this node
//! leads, and otherwise passes the ticks of the leader to desk and simulation.
//!
//! In: messages of other nodes, what the own simulation and the own desk did, the clock. Out: messages, and the ticks that the
//! own simulation follows. Must not: run a tick, decide about a command. No stage waits for this one.

mod board;
mod ends;
mod hand_over;
mod messages;
mod status;
mod tick_end;

pub(crate) use board::{HallBoard, hall_status};
pub(crate) use ends::{HallDesk, hall_ends};
pub(crate) use hand_over::{DeskTask, FollowedTick, PoolRestore};
pub(crate) use tick_end::{HallTicks, OwnTick, is_hash_tick};

use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use crate::cluster::{
    BEAT_SECS, ClusterParams, Election, LeaderClock, Link, Ping, Received, Role, Stand,
    TickMessage, TickStream,
};
use crate::control::{DeskClient, Journal, StageReport};
use crate::operation::ShowControl;
use crate::records::SessionEntry;
use crate::runtime::{Fault, Heartbeat, SETTLE_TIME};
use crate::simulation::SimulationParams;
use crate::world::Observation;

use ends::HallEnds;
use hand_over::HallEvent;
use messages::{AskMessage, BeatMessage, PingMessage, PongMessage, StateMessage};

/// Longest wait for an event.
const STEP: Duration = Duration::from_millis(10);
/// Time from one ping to the next, in seconds.
const PING_SECS: f64 = 0.25;
/// Time from one request for the state to the next, in seconds: longer than the state needs.
const ASK_SECS: f64 = 1.0;
/// Number of events that are handled before the clock is read again.
const EVENTS_MAX: usize = 64;

/// What a node of a hall is made of.
pub(crate) struct HallLinks {
    /// The table `[cluster]`.
    pub(crate) params: ClusterParams,
    /// Place of this node in it.
    pub(crate) node: usize,
    /// What this node does.
    pub(crate) roles: Vec<Role>,
    /// The network.
    pub(crate) link: Arc<dyn Link>,
    /// Parameters of the tick of the own simulation.
    pub(crate) simulation: SimulationParams,
    /// Whether the pool stands still.
    pub(crate) show: ShowControl,
    /// Wakes the desk.
    pub(crate) desk: DeskClient,
    /// Faults.
    pub(crate) journal: Journal,
}

/// The stage.
pub(crate) struct HallStage {
    links: HallLinks,
    ends: HallEnds,
    begun: Instant,
    election: Election,
    stand: Stand,
    clock: LeaderClock,
    stream: TickStream<SessionEntry>,
    /// The other nodes, as they last described themselves.
    others: Vec<Option<BeatMessage>>,
    beat_due: f64,
    ping_due: f64,
    ask_due: f64,
    /// The last tick of this node.
    led_tick: u64,
    /// Entries since the last tick of this node.
    entries: Vec<SessionEntry>,
    /// Commands of the leader that the desk got and no tick has applied.
    passed: Vec<u64>,
    /// Nodes that wait for the state.
    asked: Vec<usize>,
    /// Commands since the first of them asked.
    commands: Vec<SessionEntry>,
    /// The request for a state that the newest ticks belong to.
    generation: u64,
    loads: u64,
    sent_bytes: u64,
    fault: Fault,
}

impl HallStage {
    pub(crate) fn new(links: HallLinks, ends: HallEnds) -> Self {
        let can_lead = links.roles.contains(&Role::Simulate);
        let fault = links.journal.fault("hall").settling(SETTLE_TIME);
        Self {
            election: Election::new(links.node, can_lead, 0.0),
            others: vec![None; links.params.nodes.len()],
            begun: Instant::now(),
            stand: Stand::Alone,
            clock: LeaderClock::default(),
            stream: TickStream::default(),
            beat_due: 0.0,
            ping_due: 0.0,
            ask_due: 0.0,
            led_tick: 0,
            entries: Vec::new(),
            passed: Vec::new(),
            asked: Vec::new(),
            commands: Vec::new(),
            generation: 0,
            loads: 0,
            sent_bytes: 0,
            links,
            ends,
            fault,
        }
    }

    /// Subscribes to the messages of the hall.
    ///
    /// # Errors
    /// If the network is closed.
    pub(crate) fn subscribe(&self) -> anyhow::Result<()> {
        for key in messages::KEYS {
            let sender = self.ends.messages.clone();
            self.links.link.subscribe(
                key,
                Box::new(move |_, payload| sender.message(key, payload)),
            )?;
        }
        Ok(())
    }

    fn secs(&self, at: Instant) -> f64 {
        at.saturating_duration_since(self.begun).as_secs_f64()
    }

    /// Runs until the program ends.
    pub(crate) fn run(&mut self, heartbeat: &Heartbeat) {
        while heartbeat.keep_running() {
            match self.ends.events.recv_timeout(STEP) {
                Ok(event) => {
                    self.handle(event);
                    for _ in 0..EVENTS_MAX {
                        let Ok(event) = self.ends.events.try_recv() else {
                            break;
                        };
                        self.handle(event);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let now = self.secs(Instant::now());
            self.elect(now);
            match self.stand {
                Stand::Follows { leader, .. } => self.follow(leader, now),
                Stand::Leads { .. } => self.copy_documents(),
                Stand::Alone => {}
            }
            self.publish_status(now);
        }
    }

    fn handle(&mut self, event: HallEvent) {
        let leads = matches!(self.stand, Stand::Leads { .. });
        match event {
            HallEvent::Message { key, payload } => {
                if let Err(error) = self.receive(key, &payload) {
                    tracing::debug!("hall: a message \"{key}\" cannot be read: {error}");
                }
            }
            HallEvent::Entry(entry) => {
                if leads {
                    if !self.asked.is_empty() && matches!(entry, SessionEntry::Command { .. }) {
                        self.commands.push(entry.clone());
                    }
                    self.entries.push(entry);
                }
            }
            HallEvent::Tick { tick, due, hash } => {
                if leads && tick <= self.led_tick {
                    // The pool began again after a panic.
                    self.election.renew();
                    self.stand = self.election.stand();
                }
                self.led_tick = tick;
                if let Stand::Leads { epoch } = self.stand {
                    let message = TickMessage {
                        epoch,
                        tick,
                        due_secs: self.secs(due),
                        hash,
                        entries: std::mem::take(&mut self.entries),
                    };
                    self.send(messages::TICK, &message);
                }
            }
            HallEvent::State {
                tick,
                revision,
                state,
                observation,
            } => self.send_state((tick, revision), state, observation),
        }
    }

    /// Publishes a message. One that is lost is asked for again.
    fn send(&mut self, key: &str, message: &impl serde::Serialize) {
        let sent = serde_json::to_vec(message)
            .map_err(|error| error.to_string())
            .and_then(|payload| {
                self.sent_bytes += payload.len() as u64;
                let sent = self.links.link.publish(key, &payload);
                sent.map_err(|error| error.to_string())
            });
        if let Err(error) = sent {
            tracing::debug!("hall: {error}");
        }
    }

    fn receive(&mut self, key: &str, payload: &[u8]) -> serde_json::Result<()> {
        let now = self.secs(Instant::now());
        match key {
            messages::BEAT => self.hear(serde_json::from_slice(payload)?, now),
            messages::TICK => {
                let message: TickMessage<SessionEntry> = serde_json::from_slice(payload)?;
                if self.stream.receive(message) == Received::NeedsState {
                    tracing::debug!("hall: ticks are missing");
                }
            }
            messages::PING => {
                let ping: PingMessage = serde_json::from_slice(payload)?;
                if ping.to == self.links.node {
                    let pong = PongMessage {
                        to: ping.from,
                        from: ping.to,
                        sent_secs: ping.sent_secs,
                        leader_secs: now,
                    };
                    self.send(messages::PONG, &pong);
                }
            }
            messages::PONG => {
                let pong: PongMessage = serde_json::from_slice(payload)?;
                let is_leader =
                    matches!(self.stand, Stand::Follows { leader, .. } if leader == pong.from);
                if pong.to == self.links.node && is_leader {
                    self.clock.add(&Ping {
                        sent_secs: pong.sent_secs,
                        leader_secs: pong.leader_secs,
                        received_secs: now,
                    });
                }
            }
            messages::ASK => {
                let ask: AskMessage = serde_json::from_slice(payload)?;
                let leads = matches!(self.stand, Stand::Leads { .. });
                if ask.to == self.links.node && leads {
                    if self.asked.is_empty() {
                        self.commands.clear();
                        self.ends.board.documents.want();
                        self.wake_desk();
                    }
                    if !self.asked.contains(&ask.from) {
                        self.asked.push(ask.from);
                    }
                }
            }
            messages::STATE => {
                let state: StateMessage = serde_json::from_slice(payload)?;
                self.take_state(state);
            }
            _ => {}
        }
        Ok(())
    }

    /// Hears a beat. A node with another version of the program cannot run the same ticks.
    fn hear(&mut self, message: BeatMessage, now: f64) {
        let version = env!("CARGO_PKG_VERSION");
        let node = message.beat.node;
        if message.version != version {
            let reason = format!(
                "the node \"{}\" runs Shoal {}, this one {version}; install the same version on both",
                message.name, message.version
            );
            self.fault.raise(&reason);
            return;
        }
        let is_known = (self.links.params.nodes.get(node)).is_some_and(|n| n.name == message.name);
        if !is_known {
            self.fault.raise(&format!(
                "the node \"{}\" has another list cluster.nodes; use the same list on all nodes",
                message.name
            ));
            return;
        }
        self.election.hear(message.beat, now);
        if let Some(known) = self.others.get_mut(node) {
            *known = Some(message);
        }
    }

    fn elect(&mut self, now: f64) {
        let stand = self.election.step(now);
        if stand != self.stand {
            self.change_stand(stand, now);
        }
        if now >= self.beat_due {
            self.beat_due = now + BEAT_SECS;
            let show = &self.links.show;
            let is_still = show.is_resting(Instant::now()) || show.paused_since().is_some();
            let message = BeatMessage {
                beat: self.election.beat(),
                name: self.links.params.nodes[self.links.node].name.clone(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                roles: self.links.roles.clone(),
                is_still,
                tick: self.ends.board.seen().tick,
            };
            self.send(messages::BEAT, &message);
        }
    }

    fn change_stand(&mut self, stand: Stand, now: f64) {
        let name = |node: usize| self.links.params.nodes[node].name.as_str();
        match stand {
            Stand::Leads { epoch } => {
                tracing::info!(epoch, "hall: this node leads");
                self.entries.clear();
                self.asked.clear();
                self.ends.board.set_follows(false);
                self.fault.clear();
            }
            Stand::Follows { leader, epoch } => {
                tracing::info!(epoch, "hall: this node follows {}", name(leader));
                let is_same = matches!(self.stand, Stand::Follows { leader: l, .. } if l == leader);
                if !is_same {
                    self.clock.restart();
                }
                self.stream.follow(epoch);
                (self.ping_due, self.ask_due) = (now, now);
                self.ends.board.set_follows(true);
                self.fault.clear();
            }
            Stand::Alone => {
                tracing::warn!("hall: no node leads");
                self.fault.raise(
                    &"no leading simulation is heard, so the fish swim on without visitors; check the network and the machine that leads",
                );
            }
        }
        self.stand = stand;
    }

    /// Keeps the clock of the leader, asks for its state if ticks are missing, and passes its ticks on.
    fn follow(&mut self, leader: usize, now: f64) {
        let from = self.links.node;
        if now >= self.ping_due {
            self.ping_due = now + PING_SECS;
            let ping = PingMessage {
                from,
                to: leader,
                sent_secs: now,
            };
            self.send(messages::PING, &ping);
        }
        let leader_beat = self.others[leader].as_ref();
        let is_still = leader_beat.is_some_and(|message| message.is_still);
        self.ends.board.set_leader_is_still(is_still);
        if self.ends.board.take_lost()
            && let Stand::Follows { epoch, .. } = self.stand
        {
            self.stream.follow(epoch);
            self.ask_due = now;
        }
        if self.stream.needs_state() && now >= self.ask_due {
            self.ask_due = now + ASK_SECS;
            self.send(messages::ASK, &AskMessage { from, to: leader });
        }
        self.deliver();
    }

    /// Passes the ticks that have arrived to desk and simulation.
    fn deliver(&mut self) {
        let delay_secs = f64::from(self.links.params.delay_ms) / 1e3;
        while !self.stream.needs_state() {
            // Without the clock of the leader it is unknown when the tick is due.
            let now = self.secs(Instant::now());
            if self.clock.offset_at(now).is_none() {
                return;
            }
            let Some(message) = self.stream.take() else {
                return;
            };
            let local = self.clock.local_from_leader(message.due_secs);
            let local = local.unwrap_or(now) + delay_secs;
            let due = self.begun + Duration::from_secs_f64(local.clamp(0.0, now + 5.0));
            let mut is_passed = true;
            let mut entries = Vec::with_capacity(message.entries.len());
            for entry in message.entries {
                match entry {
                    SessionEntry::Command { revision, .. } => {
                        self.passed.push(revision);
                        is_passed &= self.ends.desk.try_send(DeskTask::Command(entry)).is_ok();
                        self.wake_desk();
                    }
                    SessionEntry::Applied { tick, revision } => {
                        let revision = self.newest_passed(revision);
                        entries.push(SessionEntry::Applied { tick, revision });
                    }
                    entry => entries.push(entry),
                }
            }
            let tick = FollowedTick {
                generation: self.generation,
                tick: message.tick,
                due,
                hash: message.hash,
                entries,
            };
            is_passed &= self.ends.ticks.try_send(tick).is_ok();
            if !is_passed {
                tracing::warn!("hall: this machine is too slow to follow the leader");
                self.ends.board.set_lost();
                return;
            }
        }
    }

    /// Returns the newest command up to `revision` that the desk of this node gets: not all commands change documents.
    fn newest_passed(&mut self, revision: u64) -> u64 {
        let newest = self.passed.iter().copied().filter(|r| *r <= revision).max();
        self.passed.retain(|r| *r > revision);
        newest.unwrap_or(0)
    }

    fn wake_desk(&self) {
        // The desk looks at least four times a second if this report does not reach it.
        let _busy = self.links.desk.report(StageReport::PoolChanged);
    }

    /// If nodes wait for the state and the documents are copied, lets the simulation save the pool.
    fn copy_documents(&mut self) {
        if !self.asked.is_empty() && self.ends.board.documents.has_copy() {
            self.ends.board.want_state();
        }
    }

    /// Sends documents, commands and pool to the nodes that asked.
    fn send_state(&mut self, at: (u64, u64), state: String, observation: Observation) {
        let (tick, revision) = at;
        let Stand::Leads { epoch } = self.stand else {
            return;
        };
        if self.asked.is_empty() {
            return;
        }
        let Some((copied, documents)) = self.ends.board.documents.take() else {
            return;
        };
        if revision < copied {
            // The pool has not applied all commands that the documents contain. The next tick has.
            self.ends.board.documents.put_back(copied, documents);
            return;
        }
        let is_between = |entry: &&SessionEntry| matches!(entry, SessionEntry::Command { revision: r, .. } if *r > copied && *r <= revision);
        let message = StateMessage {
            epoch,
            to: std::mem::take(&mut self.asked),
            tick,
            revision,
            documents_revision: copied,
            documents,
            commands: self.commands.iter().filter(is_between).cloned().collect(),
            simulation: self.links.simulation.clone(),
            state,
            observation,
        };
        self.commands.clear();
        self.send(messages::STATE, &message);
    }

    fn take_state(&mut self, message: StateMessage) {
        let is_current =
            matches!(self.stand, Stand::Follows { epoch, .. } if epoch == message.epoch);
        let is_wanted = message.to.contains(&self.links.node) && self.stream.needs_state();
        if !is_current || !is_wanted {
            return;
        }
        self.generation += 1;
        let tick = message.tick;
        let restore = PoolRestore {
            generation: self.generation,
            message,
        };
        if self
            .ends
            .desk
            .try_send(DeskTask::Restore(Box::new(restore)))
            .is_err()
        {
            return;
        }
        self.wake_desk();
        self.stream.load(tick);
        self.passed.clear();
        self.election.set_has_state(true);
        self.loads += 1;
        tracing::info!(tick, "hall: the state of the leader has arrived");
    }
}
