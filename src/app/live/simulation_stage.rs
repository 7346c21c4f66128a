//! The simulation stage: runs fixed ticks on the monotonic clock. In: the newest observation and changes of the pool.
//! Out: the snapshots before and after the newest tick.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::analytics::TrackPoint;
use crate::panel::LiveViews;
use crate::simulation::{Change, Simulation, SimulationParams};
use crate::world::{Observation, Snapshot};
use crate::world::{OverlayLayer, OverlayLayers};

use super::super::session::{SessionEntry, TickLog, pool_hash};
use super::fault_reporter::FaultReporter;
use super::journal::Journal;
use super::latest_slot::LatestSlot;
use super::panel_views::show_agents;
use super::pool_queue::{PoolQueue, PoolStart};
use super::pool_report::{Living, PoolSummary};
use super::show_control::ShowControl;
use super::status_builder::Meters;
use super::supervisor::Heartbeat;
use super::timing::{TickClock, TickDue};
use super::vision_stage::TimedObservation;

/// Number of ticks between two summaries for the status: a quarter of a second at 60 ticks per second.
const SUMMARY_TICKS: u64 = 15;

/// The snapshots before and after the newest tick, with the timing of the tick. This is the input of the render stage.
#[derive(Clone, Debug)]
pub(crate) struct SnapshotPair {
    /// Snapshot before the tick.
    pub(crate) before: Snapshot,
    /// Snapshot after the tick.
    pub(crate) after: Snapshot,
    /// Scheduled time of the tick; `after` is the state at this time.
    pub(crate) due: Instant,
    /// Duration of one tick.
    pub(crate) tick: Duration,
    /// Time of arrival of the camera frame whose observation this tick used; `None` if there was none.
    pub(crate) frame_at: Option<Instant>,
    /// Version of the render setup that can draw these snapshots (see [`super::setup_handoff::SetupHandoff`]).
    pub(crate) setup_version: u64,
}

impl Default for SnapshotPair {
    fn default() -> Self {
        Self {
            before: Snapshot::default(),
            after: Snapshot::default(),
            due: Instant::now(),
            tick: Duration::ZERO,
            frame_at: None,
            setup_version: 0,
        }
    }
}

impl SnapshotPair {
    /// Returns the position of the picture at `now` between the two snapshots, from 0 (before) to 1 (after). The picture is one
    /// tick late, so that both snapshots are known.
    pub(crate) fn alpha(&self, now: Instant) -> f32 {
        let since_secs = now.saturating_duration_since(self.due).as_secs_f32();
        let tick_secs = self.tick.as_secs_f32();
        if tick_secs > 0.0 {
            (since_secs / tick_secs).min(1.0)
        } else {
            1.0
        }
    }
}

/// Inputs and outputs of the simulation stage. After a panic the pool starts again from `start`.
pub(crate) struct SimulationStage {
    /// The start of the pool, and its changes, from the desk.
    pub(crate) queue: Arc<PoolQueue>,
    /// Parameters of the tick.
    pub(crate) params: SimulationParams,
    /// Overlay layers that the snapshots contain.
    pub(crate) layers: OverlayLayers,
    /// Observations from the vision stage.
    pub(crate) observations: Arc<LatestSlot<TimedObservation>>,
    /// Snapshots for the render stage.
    pub(crate) snapshots: Arc<LatestSlot<SnapshotPair>>,
    /// The individuals after every tick, for the desk.
    pub(crate) living: Arc<LatestSlot<Living>>,
    /// Summaries for the status.
    pub(crate) summaries: Arc<LatestSlot<PoolSummary>>,
    /// Measured durations.
    pub(crate) meters: Meters,
    /// The log of the session; `None` if it is not logged.
    pub(crate) session: Option<TickLog>,
    /// Whether the pool rests.
    pub(crate) show: ShowControl,
    /// Tracks for the count of visitors.
    pub(crate) counted: Arc<LatestSlot<Vec<TrackPoint>>>,
    /// Faults of this stage.
    pub(crate) journal: Journal,
    /// The agents, for the operator's panel.
    pub(crate) views: LiveViews,
}

impl SimulationStage {
    /// Runs until the program ends.
    ///
    /// # Errors
    /// When the scene cannot be simulated.
    pub(crate) fn run(&mut self, heartbeat: &Heartbeat) -> anyhow::Result<()> {
        let PoolStart {
            mut revision,
            mut setup_version,
            scene,
            pace,
        } = self.queue.begin();
        let mut simulation = Simulation::new(&scene, &self.params)?;
        simulation.apply(Change::Pace(pace));
        let draws_forces = self.layers.has(OverlayLayer::Force);
        let mut records_forces = draws_forces;
        simulation.record_forces(records_forces);
        self.log(SessionEntry::Start { revision, pace });
        let tick = Duration::from_secs_f64(simulation.dt_secs());
        let mut clock = TickClock::new(Instant::now(), tick);
        let mut late = FaultReporter::new("simulation_late", &self.journal);
        let started = Instant::now();
        let mut changes = Vec::new();
        let (mut living, mut summary) = (Living::default(), PoolSummary::default());
        let mut tracks = Vec::new();
        let mut latest = TimedObservation::default();
        let mut pair = SnapshotPair::default();
        while heartbeat.keep_running() {
            if self.show.is_resting(Instant::now()) {
                self.show.rest(heartbeat, || self.queue.has_changes());
                clock.restart(Instant::now());
            }
            let dropped = clock.dropped;
            let due = match clock.take_due(Instant::now()) {
                TickDue::Now(due) => due,
                TickDue::After(wait) => {
                    std::thread::sleep(wait);
                    continue;
                }
            };
            if clock.dropped > dropped {
                let secs = (clock.dropped - dropped).as_secs_f64();
                late.raise(&format!("the simulation was late and dropped {secs:.2} s"));
            } else {
                late.clear_if_quiet();
            }
            let begun = Instant::now();
            let mut oldest_sent = None;
            self.queue.take(&mut changes);
            if let Some(newest) = changes.last() {
                self.log(SessionEntry::Applied {
                    tick: simulation.tick() + 1,
                    revision: newest.revision,
                });
            }
            for change in changes.drain(..) {
                (revision, setup_version) = (change.revision, change.setup_version);
                oldest_sent = oldest_sent.or(Some(change.sent));
                for change in change.changes {
                    simulation.apply(change);
                }
            }
            let is_new = self.observations.take(&mut latest, Duration::ZERO);
            if let Some(session) = self.session.as_ref().filter(|_| is_new) {
                session.add_observation(simulation.tick() + 1, &latest.observation);
            }
            // Forces are recorded only in the ticks whose agents a client of the panel gets.
            let shows_agents = self.views.agents.is_due(begun);
            let wants_forces = draws_forces || shows_agents;
            if std::mem::replace(&mut records_forces, wants_forces) != wants_forces {
                simulation.record_forces(wants_forces);
            }
            simulation.snapshot(&mut pair.before);
            simulation.run_tick(&latest.observation);
            simulation.snapshot(&mut pair.after);
            self.log_tick(&simulation, &pair.after, (revision, &latest.observation));
            pair.after.overlay.clear();
            simulation.fill_overlay(self.layers, &mut pair.after.overlay);
            (pair.due, pair.tick, pair.frame_at) = (due, tick, latest.frame_at);
            pair.setup_version = setup_version;
            if shows_agents {
                show_agents(&self.views, &simulation, &pair.after, begun);
            }
            self.snapshots.put(&mut pair);
            if let Some(sent) = oldest_sent {
                self.meters.command_to_snapshot.record(sent.elapsed());
            }
            living.update(&simulation, started, revision);
            self.living.put(&mut living);
            if simulation.tick().is_multiple_of(SUMMARY_TICKS) {
                summary.update(&simulation, &latest.observation);
                self.summaries.put(&mut summary);
                tracks.clear();
                tracks.extend(latest.observation.shadows.iter().map(|shadow| TrackPoint {
                    id: shadow.id,
                    foot_m: shadow.foot_m.to_array(),
                }));
                self.counted.put(&mut tracks);
            }
            self.meters.tick.record(begun.elapsed());
        }
        self.log(SessionEntry::End {
            tick: simulation.tick(),
            reason: "the program ended".to_owned(),
        });
        Ok(())
    }

    /// Logs a hash of the pool once per second, and its state where a replay can begin.
    fn log_tick(
        &self,
        simulation: &Simulation,
        after: &Snapshot,
        (revision, observation): (u64, &Observation),
    ) {
        let Some(session) = &self.session else { return };
        let (tick, dt_secs) = (simulation.tick(), simulation.dt_secs());
        let ticks_per_hash = (1.0 / dt_secs).round().max(1.0) as u64;
        if tick.is_multiple_of(ticks_per_hash) {
            let hash = pool_hash(after);
            session.add(SessionEntry::Hash { tick, hash });
        }
        if session.wants_state(tick, dt_secs)
            && let Ok(state) = simulation.save()
        {
            session.add(SessionEntry::State {
                tick,
                revision,
                state,
            });
            // A replay begins without visitors, so the newest observation follows.
            session.add_observation(tick + 1, observation);
        }
    }

    fn log(&self, entry: SessionEntry) {
        if let Some(session) = &self.session {
            session.add(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
