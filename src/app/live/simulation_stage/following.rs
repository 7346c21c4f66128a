//! The simulation of a node that follows: it runs the ticks of the leader at the leader's time plus a delay. If they do not arrive, the
//! fish swim on without visitors, until the state of the leader is loaded.

use std::time::{Duration, Instant};

use super::{RunningPool, SUMMARY_TICKS, SimulationStage};
use crate::app::listener::Listener;
use crate::app::live::hall::{FollowedTick, HallTicks, is_hash_tick};
use crate::app::live::pool_queue::PoolLoad;
use crate::records::{SessionEntry, pool_hash};
use crate::runtime::Heartbeat;
use crate::simulation::Simulation;
use crate::world::Observation;

/// Longest wait for a tick.
const STEP: Duration = Duration::from_millis(5);
/// Time without a tick of the leader after which the fish swim on. Shorter: a late message lets the pool drift. Longer: the picture
/// stands still for longer.
const DRIFT_AFTER: Duration = Duration::from_millis(300);
/// Longest wait until the desk has applied the commands of a tick.
const COMMANDS_WAIT: Duration = Duration::from_secs(1);

impl SimulationStage {
    /// Runs the ticks of the leader until this node leads.
    pub(super) fn follow(&self, pool: &mut RunningPool, hall: &HallTicks, heartbeat: &Heartbeat) {
        let mut next: Option<FollowedTick> = None;
        // The last tick of the leader, or the time of the next own tick.
        let mut heard = Instant::now();
        let mut drift: Option<Instant> = None;
        while heartbeat.keep_running() && hall.board.follows() {
            if let Some(load) = self.queue.take_load() {
                self.load(pool, hall, *load);
                heard = Instant::now();
            }
            if next.is_none() {
                next = hall.next(STEP);
            }
            let now = Instant::now();
            if hall.board.leader_is_still() {
                heard = now;
            }
            let generation = next.as_ref().map(|tick| tick.generation);
            if generation.is_some() && generation < pool.generation {
                next = None;
                continue;
            }
            if generation.is_some() && generation == pool.generation {
                (heard, drift) = (now, None);
                if let Some(tick) = next.take_if(|tick| tick.due <= now) {
                    self.run_followed(pool, hall, tick);
                } else if let Some(tick) = &next {
                    std::thread::sleep(tick.due.saturating_duration_since(now).min(STEP));
                }
                continue;
            }
            let wait = now.saturating_duration_since(heard);
            if wait < DRIFT_AFTER {
                if next.is_some() {
                    std::thread::sleep(STEP);
                }
                continue;
            }
            let due = *drift.get_or_insert(now);
            if due > now {
                std::thread::sleep(due.saturating_duration_since(now).min(STEP));
                continue;
            }
            // The pool drops ticks rather than running many at once.
            let late = now.saturating_duration_since(due) > DRIFT_AFTER;
            drift = Some(if late { now } else { due } + pool.tick);
            self.run_adrift(pool, hall, due);
        }
    }

    /// Continues with the pool of the leader.
    fn load(&self, pool: &mut RunningPool, hall: &HallTicks, load: PoolLoad) {
        let start = load.start;
        match Simulation::load(&start.scene, &load.params, &load.state) {
            Ok(simulation) => {
                pool.tick = Duration::from_secs_f64(simulation.dt_secs());
                pool.simulation = simulation;
                pool.started = Instant::now();
                (pool.revision, pool.setup_version) = (start.revision, start.setup_version);
                pool.records_forces = false;
                pool.overlay = None;
                pool.latest.observation = load.observation;
                pool.latest.frame_at = None;
                pool.listener = Listener::new(&start.scene.surface);
                pool.generation = Some(load.generation);
                hall.board.see(|seen| seen.is_adrift = false);
            }
            Err(error) => {
                tracing::warn!("hall: the pool of the leader cannot be loaded: {error}");
                hall.board.set_lost();
            }
        }
    }

    /// Runs a tick of the leader.
    fn run_followed(&self, pool: &mut RunningPool, hall: &HallTicks, tick: FollowedTick) {
        let begun = Instant::now();
        let mut sent = None;
        for entry in tick.entries {
            match entry {
                SessionEntry::Applied { revision, .. } => {
                    // What the loaded pool contains already is in no change.
                    while !self.queue.take_up_to(revision, &mut pool.changes) {
                        if begun.elapsed() > COMMANDS_WAIT {
                            tracing::warn!("hall: the desk has not applied command {revision}");
                            return Self::lose(pool, hall);
                        }
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    let known = pool.revision;
                    pool.changes.retain(|change| change.revision > known);
                    sent = sent.or(Self::apply_taken(pool));
                }
                SessionEntry::Observed { observation, .. } => {
                    pool.latest.observation = observation;
                }
                _ => {}
            }
        }
        if pool.simulation.tick() + 1 != tick.tick {
            return Self::lose(pool, hall);
        }
        self.run_tick(pool, tick.due, begun);
        let number = pool.simulation.tick();
        let own = is_hash_tick(&pool.simulation).then(|| pool_hash(&pool.pair.after));
        let is_equal = tick.hash.zip(own).is_none_or(|(leader, own)| leader == own);
        hall.board.see(|seen| {
            seen.tick = number;
            if let Some(own) = own {
                (seen.hash_tick, seen.hash, seen.is_equal) = (number, own, is_equal);
            }
        });
        if !is_equal {
            tracing::warn!("hall: tick {number} differs from the leader; its state is loaded");
            Self::lose(pool, hall);
        }
        let is_due = number.is_multiple_of(SUMMARY_TICKS);
        self.report(pool, is_due, sent.is_some());
        self.meters.tick.record(begun.elapsed());
    }

    /// Runs a tick of this node, without visitors.
    fn run_adrift(&self, pool: &mut RunningPool, hall: &HallTicks, due: Instant) {
        if pool.generation.is_some() {
            Self::lose(pool, hall);
        }
        let begun = Instant::now();
        pool.latest.observation = Observation::default();
        pool.latest.frame_at = None;
        self.run_tick(pool, due, begun);
        let number = pool.simulation.tick();
        hall.board
            .see(|seen| (seen.tick, seen.is_adrift) = (number, true));
        self.report(pool, number.is_multiple_of(SUMMARY_TICKS), false);
        self.meters.tick.record(begun.elapsed());
    }

    /// The pool is not that of the leader: its ticks are not run until its state is loaded.
    fn lose(pool: &mut RunningPool, hall: &HallTicks) {
        pool.generation = None;
        hall.board.set_lost();
    }
}
