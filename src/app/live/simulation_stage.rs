//! The simulation stage: runs fixed ticks on the monotonic clock. In: the newest observation and changes of the pool.
//! Out: the snapshots before and after the newest tick.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::app::listener::Listener;
use crate::panel::LiveViews;
use crate::simulation::{Change, Simulation, SimulationParams};
use crate::world::OverlayRequest;

use super::hall::{HallTicks, OwnTick};
use super::happenings::Happenings;
use super::panel_views::{show_agents, show_minds};
use super::pool_queue::{PoolChange, PoolQueue, PoolStart};
use super::pool_report::{Living, PoolSummary};
use super::rig::TimedObservation;
use super::sound_stage::SoundSender;
use super::status_builder::Meters;
use crate::app::overlay::overlay_request;
use crate::control::{DeskClient, Journal, OverlayChoice, StageReport};
use crate::operation::ShowControl;
use crate::records::{SessionEntry, TickLog, pool_hash};
use crate::runtime::{Heartbeat, Latest, TickClock, TickDue};
use crate::screen::SnapshotPair;

mod following;

/// Time without another lateness after which the fault ends.
const LATE_FAULT_TIME: Duration = Duration::from_secs(60);
/// Number of ticks between two summaries for the status: a quarter of a second at 60 ticks per second.
const SUMMARY_TICKS: u64 = 15;
/// Longest delay of a change, and of the end of a pause, while the pool stands still.
const HOLD_STEP: Duration = Duration::from_millis(20);
/// Time between two summaries while the pool stands still.
const HOLD_REPORT_INTERVAL: Duration = Duration::from_millis(250);

/// Inputs and outputs of the simulation stage. After a panic the pool starts again from `start`.
pub(crate) struct SimulationStage {
    /// The start of the pool, and its changes, from the desk.
    pub(crate) queue: Arc<PoolQueue>,
    /// Parameters of the tick.
    pub(crate) params: SimulationParams,
    /// Observations from the vision stage.
    pub(crate) observations: Arc<Latest<TimedObservation>>,
    /// Snapshots for the render stage.
    pub(crate) snapshots: Arc<Latest<SnapshotPair>>,
    /// The desk, which waits for the effect of commands.
    pub(crate) desk: DeskClient,
    /// The individuals after every tick, for the desk.
    pub(crate) living: Arc<Latest<Living>>,
    /// Summaries for the status.
    pub(crate) summaries: Arc<Latest<PoolSummary>>,
    /// Measured durations.
    pub(crate) meters: Meters,
    /// The log of the session; `None` if it is not logged.
    pub(crate) session: Option<TickLog>,
    /// Whether the pool rests.
    pub(crate) show: ShowControl,
    /// Faults of this stage.
    pub(crate) journal: Journal,
    /// The agents, for the operator's panel.
    pub(crate) views: LiveViews,
    /// What the pool sounds like, for the sound stage.
    pub(crate) sound: SoundSender,
    /// The other nodes of the hall; `None` on a single machine.
    pub(crate) hall: Option<HallTicks>,
}

/// The pool while the stage runs.
struct RunningPool {
    simulation: Simulation,
    /// Number of the newest command that the pool contains.
    revision: u64,
    /// Version of the render setup that can draw the pool.
    setup_version: u64,
    /// Start of the pool.
    started: Instant,
    /// Duration of a tick.
    tick: Duration,
    records_forces: bool,
    /// What is drawn over the pool.
    overlay: Option<(Arc<OverlayChoice>, OverlayRequest)>,
    /// The newest observation.
    latest: TimedObservation,
    /// Number of the state of a leader that the pool continues; `None` for a pool of its own.
    generation: Option<u64>,
    // Reused memory.
    changes: Vec<PoolChange>,
    pair: SnapshotPair,
    living: Living,
    summary: PoolSummary,
    happenings: Happenings,
    listener: Listener,
}

impl RunningPool {
    /// Records the forces of the next tick, or not.
    fn record_forces(&mut self, is_wanted: bool) {
        if std::mem::replace(&mut self.records_forces, is_wanted) != is_wanted {
            self.simulation.record_forces(is_wanted);
        }
    }

    /// Follows what is to be drawn over the pool. Returns whether that changed.
    fn follow_overlay(&mut self, show: &ShowControl, now: Instant) -> bool {
        let wanted = show.overlay(now);
        let known = self.overlay.as_ref().map(|(choice, _)| choice);
        let is_same = match (&wanted, known) {
            (Some(wanted), Some(known)) => Arc::ptr_eq(wanted, known),
            (None, None) => true,
            _ => false,
        };
        if !is_same {
            self.overlay = wanted.map(|choice| {
                let request = overlay_request(&choice);
                (choice, request)
            });
        }
        !is_same
    }

    /// Writes what is drawn over the pool into the newest snapshot.
    fn fill_overlay(&mut self) {
        let none = OverlayRequest::default();
        let request = self.overlay.as_ref().map_or(&none, |(_, request)| request);
        self.simulation.fill_overlay(request, &mut self.pair.after);
    }
}

impl SimulationStage {
    /// Runs until the program ends or the stage is restarted.
    ///
    /// # Errors
    /// When the scene cannot be simulated.
    pub(crate) fn run(&mut self, heartbeat: &Heartbeat) -> anyhow::Result<()> {
        let mut pool = self.start()?;
        let mut clock = TickClock::new(Instant::now(), pool.tick);
        let mut late = self
            .journal
            .fault("simulation_late")
            .lasting(LATE_FAULT_TIME);
        // Duration of the last tick, with what belongs to it.
        let mut ticked = Duration::ZERO;
        while heartbeat.keep_running() {
            if let Some(hall) = self.hall.as_ref().filter(|hall| hall.board.follows()) {
                self.follow(&mut pool, hall, heartbeat);
                clock.restart(Instant::now());
                continue;
            }
            if self.show.is_resting(Instant::now()) {
                self.show.rest(heartbeat, || self.queue.has_changes());
                clock.restart(Instant::now());
            } else if self.show.paused_since().is_some() {
                self.hold(&mut pool, heartbeat);
                clock.restart(Instant::now());
                continue;
            }
            let dropped = clock.dropped;
            let due = match clock.take_due(Instant::now()) {
                TickDue::Now(due) => due,
                TickDue::After(wait) => {
                    std::thread::sleep(wait);
                    continue;
                }
            };
            let gap = clock.dropped - dropped;
            if is_stop(gap, ticked) {
                let secs = gap.as_secs_f64();
                tracing::warn!(
                    "the simulation did not run for {secs:.0} s: the program or its machine was stopped"
                );
            } else if !gap.is_zero() {
                let secs = gap.as_secs_f64();
                late.raise(&format!("the simulation was late and dropped {secs:.2} s"));
            } else {
                late.clear();
            }
            let begun = Instant::now();
            let oldest_sent = self.apply_changes(&mut pool);
            let is_new = self.observations.take(&mut pool.latest, Duration::ZERO);
            if is_new {
                self.log_observation(&pool);
            }
            self.run_tick(&mut pool, due, begun);
            self.publish_tick(&pool, due);
            if let Some(sent) = oldest_sent {
                self.meters.command_to_snapshot.record(sent.elapsed());
            }
            let is_due = pool.simulation.tick().is_multiple_of(SUMMARY_TICKS);
            self.report(&mut pool, is_due, oldest_sent.is_some());
            ticked = begun.elapsed();
            self.meters.tick.record(ticked);
        }
        if heartbeat.is_stopping() {
            self.log(SessionEntry::End {
                tick: pool.simulation.tick(),
                reason: "the program ended".to_owned(),
            });
        }
        Ok(())
    }

    /// Starts the pool as the desk knows it.
    fn start(&self) -> anyhow::Result<RunningPool> {
        let PoolStart {
            revision,
            setup_version,
            scene,
            pace,
        } = self.queue.begin();
        let mut simulation = Simulation::new(&scene, &self.params)?;
        simulation.apply(Change::Pace(pace));
        self.log(SessionEntry::Start { revision, pace });
        Ok(RunningPool {
            revision,
            setup_version,
            started: Instant::now(),
            tick: Duration::from_secs_f64(simulation.dt_secs()),
            simulation,
            records_forces: false,
            overlay: None,
            latest: TimedObservation::default(),
            generation: None,
            changes: Vec::new(),
            pair: SnapshotPair::default(),
            living: Living::default(),
            summary: PoolSummary::default(),
            happenings: Happenings::default(),
            listener: Listener::new(&scene.surface),
        })
    }

    /// Applies the changes that wait. Returns when the oldest of them was sent; `None` if there are none.
    fn apply_changes(&self, pool: &mut RunningPool) -> Option<Instant> {
        self.queue.take(&mut pool.changes);
        let newest = pool.changes.last()?;
        let (tick, revision) = (pool.simulation.tick() + 1, newest.revision);
        self.log(SessionEntry::Applied { tick, revision });
        if let Some(hall) = &self.hall {
            hall.applied(tick, revision);
        }
        Self::apply_taken(pool)
    }

    /// Applies the changes that were taken.
    fn apply_taken(pool: &mut RunningPool) -> Option<Instant> {
        let mut oldest_sent = None;
        for change in pool.changes.drain(..) {
            (pool.revision, pool.setup_version) = (change.revision, change.setup_version);
            oldest_sent = oldest_sent.or(Some(change.sent));
            for change in change.changes {
                pool.simulation.apply(change);
            }
        }
        oldest_sent
    }

    /// Runs the tick that is due at `due`, and publishes its snapshots.
    fn run_tick(&self, pool: &mut RunningPool, due: Instant, begun: Instant) {
        // Forces are recorded only while somebody looks at them.
        pool.follow_overlay(&self.show, begun);
        let has_viewers = self.views.agents.is_wanted(begun) || self.views.has_minds(begun);
        pool.record_forces(pool.overlay.is_some() || has_viewers);
        pool.simulation.snapshot(&mut pool.pair.before);
        pool.simulation.run_tick(&pool.latest.observation);
        pool.simulation.snapshot(&mut pool.pair.after);
        pool.happenings.report(&pool.simulation, &self.journal);
        (pool.listener).listen(&pool.pair.after, &mut |event| self.sound.send(event));
        self.log_tick(pool);
        self.show_fish(pool, begun);
        pool.pair.frame_at = pool.latest.frame_at;
        self.publish(pool, due);
    }

    /// Shows the agents, and the minds that are watched, to the clients of the panel.
    fn show_fish(&self, pool: &mut RunningPool, now: Instant) {
        if self.views.agents.is_due(now) {
            show_agents(&self.views, &pool.simulation, &pool.pair.after, now);
        }
        show_minds(&self.views, &pool.simulation, now);
    }

    /// Passes the snapshots to the render stage.
    fn publish(&self, pool: &mut RunningPool, due: Instant) {
        pool.fill_overlay();
        let pair = &mut pool.pair;
        (pair.due, pair.tick, pair.setup_version) = (due, pool.tick, pool.setup_version);
        self.snapshots.put(pair);
    }

    /// Reports to the desk: the individuals, and a summary if it is due or the pool was changed.
    fn report(&self, pool: &mut RunningPool, is_summary_due: bool, is_changed: bool) {
        if is_summary_due || is_changed {
            pool.summary.update(&pool.simulation);
            self.summaries.put(&mut pool.summary);
        }
        (pool.living).update(&pool.simulation, pool.started, pool.revision);
        self.living.put(&mut pool.living);
        if is_changed {
            // The regular status contains the change a moment later if this report does not reach the desk.
            let _busy = self.desk.report(StageReport::PoolChanged);
        }
    }

    /// Lets the pool stand still until the pause ends. Changes apply, but no tick runs.
    fn hold(&self, pool: &mut RunningPool, heartbeat: &Heartbeat) {
        let mut report_due = None;
        while heartbeat.keep_running() && self.show.paused_since().is_some() {
            let now = Instant::now();
            let oldest_sent = self.apply_changes(pool);
            let is_redrawn = pool.follow_overlay(&self.show, now);
            if report_due.is_none() || oldest_sent.is_some() || is_redrawn {
                pool.simulation.snapshot(&mut pool.pair.before);
                pool.simulation.snapshot(&mut pool.pair.after);
                pool.pair.frame_at = None;
                self.publish(pool, now);
            }
            if let Some(sent) = oldest_sent {
                self.meters.command_to_snapshot.record(sent.elapsed());
            }
            self.observations.take(&mut pool.latest, Duration::ZERO);
            if report_due.is_none_or(|due| now >= due) || oldest_sent.is_some() {
                report_due = Some(now + HOLD_REPORT_INTERVAL);
                self.report(pool, true, oldest_sent.is_some());
            }
            if self.views.agents.is_due(now) {
                pool.simulation.snapshot(&mut pool.pair.after);
            }
            self.show_fish(pool, now);
            std::thread::sleep(HOLD_STEP);
        }
        // The next tick may use an observation that arrived during the pause.
        self.log_observation(pool);
    }

    fn log_observation(&self, pool: &RunningPool) {
        if let Some(session) = &self.session {
            let next = pool.simulation.tick() + 1;
            session.add_observation(next, &pool.latest.observation);
        }
        if let Some(hall) = &self.hall {
            hall.observed(pool.simulation.tick() + 1, &pool.latest.observation);
        }
    }

    /// Publishes the last tick to the other nodes of the hall.
    fn publish_tick(&self, pool: &RunningPool, due: Instant) {
        if let Some(hall) = &self.hall {
            hall.ticked(&OwnTick {
                simulation: &pool.simulation,
                snapshot: &pool.pair.after,
                due,
                revision: pool.revision,
                observation: &pool.latest.observation,
            });
        }
    }

    /// Logs a hash of the pool once per second, and its state where a replay can begin.
    fn log_tick(&self, pool: &RunningPool) {
        let Some(session) = &self.session else { return };
        let simulation = &pool.simulation;
        let (tick, dt_secs) = (simulation.tick(), simulation.dt_secs());
        let ticks_per_hash = (1.0 / dt_secs).round().max(1.0) as u64;
        if tick.is_multiple_of(ticks_per_hash) {
            let hash = pool_hash(&pool.pair.after);
            session.add(SessionEntry::Hash { tick, hash });
        }
        if session.wants_state(tick, dt_secs)
            && let Ok(state) = simulation.save()
        {
            session.add(SessionEntry::State {
                tick,
                revision: pool.revision,
                state,
            });
            // A replay begins without visitors, so the newest observation follows.
            self.log_observation(pool);
        }
    }

    fn log(&self, entry: SessionEntry) {
        if let Some(session) = &self.session {
            session.add(entry);
        }
    }
}

/// Gap between two ticks from which the program was stopped, unless the tick took the time.
const STOP_MIN: Duration = Duration::from_secs(3);

/// Whether the ticks were dropped because the program did not run, and not because it was slow.
fn is_stop(gap: Duration, ticked: Duration) -> bool {
    gap >= STOP_MIN && ticked < gap / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fixed bug: a program that was stopped for a minute was said to run on a slow computer.
    #[test]
    fn a_stopped_program_is_not_a_late_one() {
        let [short, long] = [1, 75].map(Duration::from_secs);
        assert!(is_stop(long, Duration::from_millis(5)));
        assert!(!is_stop(short, Duration::from_millis(5)));
        assert!(!is_stop(long, long), "a tick that takes that long is late");
    }

    #[test]
    fn the_picture_is_one_tick_late() {
        let due = Instant::now();
        let pair = SnapshotPair {
            due,
            tick: Duration::from_millis(20),
            ..SnapshotPair::default()
        };
        for (ms, alpha) in [(0, 0.0), (5, 0.25), (20, 1.0), (500, 1.0)] {
            let now = due + Duration::from_millis(ms);
            assert!((pair.alpha(now) - alpha).abs() < 1e-5, "{ms}");
        }
        assert!((pair.alpha(due - Duration::from_millis(5))).abs() < 1e-5);
        assert!((SnapshotPair::default().alpha(due) - 1.0).abs() < 1e-5);
    }
}
