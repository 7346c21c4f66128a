//! The simulation stage: fixed ticks on the monotonic clock, the newest observation in, the states before and after the
//! newest tick out.

use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::simulation::{Simulation, SimulationParams};
use crate::world::{OverlayLayer, OverlayLayers, Snapshot};

use super::clock::TickClock;
use super::editing::{Beginning, Edited, lock};
use super::slot::Slot;
use super::supervise::{Pulse, Trouble};
use super::watch::Sighting;

/// The newest tick, as the picture needs it.
#[derive(Clone, Debug)]
pub struct Moment {
    /// The state before the tick.
    pub before: Snapshot,
    /// The state after it.
    pub after: Snapshot,
    /// When the tick was due: `after` is the state of this moment.
    pub due: Instant,
    /// The fixed time step.
    pub step: Duration,
    /// Arrival of the frame that the pool knew of in this tick.
    pub arrived: Option<Instant>,
    /// The picture that can show it (see [`super::editing::Pictures`]).
    pub version: u64,
}

impl Default for Moment {
    fn default() -> Self {
        Self {
            before: Snapshot::default(),
            after: Snapshot::default(),
            due: Instant::now(),
            step: Duration::ZERO,
            arrived: None,
            version: 0,
        }
    }
}

impl Moment {
    /// How far between the two states the picture at `now` stands: it shows one tick ago, so that both are known.
    pub fn alpha(&self, now: Instant) -> f32 {
        let since = now.saturating_duration_since(self.due).as_secs_f32();
        let step = self.step.as_secs_f32();
        if step > 0.0 {
            (since / step).min(1.0)
        } else {
            1.0
        }
    }
}

/// What the simulation stage is made of; after a panic the pool begins anew.
pub struct Living {
    /// The pool, as it was last configured.
    pub beginning: Arc<Mutex<Beginning>>,
    /// Where changes come from.
    pub edited: Receiver<Edited>,
    /// The tick.
    pub params: SimulationParams,
    /// Marks that somebody wants to see over the pool.
    pub layers: OverlayLayers,
    /// Where observations come from.
    pub sightings: Arc<Slot<Sighting>>,
    /// Where moments go.
    pub moments: Arc<Slot<Moment>>,
}

impl Living {
    /// Lives until the program ends.
    ///
    /// # Errors
    /// When the pool cannot be made.
    pub fn run(&mut self, pulse: &Pulse) -> anyhow::Result<()> {
        // What was meant for a pool that is gone is in the beginning already.
        while self.edited.try_recv().is_ok() {}
        let Beginning { mut version, scene } = lock(&self.beginning).clone();
        let mut simulation = Simulation::new(&scene, &self.params)?;
        simulation.record_forces(self.layers.has(OverlayLayer::Force));
        let step = Duration::from_secs_f64(simulation.dt_secs());
        let mut clock = TickClock::new(Instant::now(), step);
        let mut stalled = Trouble::new("simulation_late");
        let mut sighting = Sighting::default();
        let mut moment = Moment::default();
        while pulse.goes_on() {
            let lost = clock.lost;
            match clock.due(Instant::now()) {
                Err(wait) => std::thread::sleep(wait),
                Ok(due) => {
                    if clock.lost > lost {
                        let secs = (clock.lost - lost).as_secs_f64();
                        stalled.happened(&format!("{secs:.2} s of the pool's time were left out"));
                    } else {
                        stalled.calm();
                    }
                    while let Ok(edited) = self.edited.try_recv() {
                        version = edited.version;
                        for change in edited.changes {
                            simulation.apply(change);
                        }
                    }
                    self.sightings.take(&mut sighting, Duration::ZERO);
                    simulation.snapshot(&mut moment.before);
                    simulation.run_tick(&sighting.observation);
                    simulation.snapshot(&mut moment.after);
                    moment.after.overlay.clear();
                    simulation.fill_overlay(self.layers, &mut moment.after.overlay);
                    moment.after.target = sighting.target;
                    moment.after.stripes = sighting.stripes;
                    (moment.due, moment.step, moment.arrived) = (due, step, sighting.arrived);
                    moment.version = version;
                    self.moments.put(&mut moment);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_stands_one_tick_back() {
        let due = Instant::now();
        let moment = Moment {
            due,
            step: Duration::from_millis(20),
            ..Moment::default()
        };
        for (ms, alpha) in [(0, 0.0), (5, 0.25), (20, 1.0), (500, 1.0)] {
            let now = due + Duration::from_millis(ms);
            assert!((moment.alpha(now) - alpha).abs() < 1e-5, "{ms}");
        }
        assert!((moment.alpha(due - Duration::from_millis(5))).abs() < 1e-5);
        assert!((Moment::default().alpha(due) - 1.0).abs() < 1e-5);
    }
}
