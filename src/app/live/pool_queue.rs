//! The way of changes from the desk stage to the simulation stage. The desk never waits: it asks for room before it applies a
//! command. The simulation takes all changes between two ticks; the lock is held for a swap only.

use std::time::Instant;

use parking_lot::Mutex;

use crate::simulation::{Change, SceneDescription, SimulationParams};
use crate::world::Observation;

/// Largest number of changes that may wait for the next tick. At 60 ticks a second this is far more than clients send.
const WAITING_MAX: usize = 64;

/// A change of the running pool.
#[derive(Debug)]
pub(crate) struct PoolChange {
    /// Number of the command, counted by the desk.
    pub(crate) revision: u64,
    /// Version of the render setup that can draw the changed pool (see [`crate::screen::SetupHandoff`]).
    pub(crate) setup_version: u64,
    /// Time at which the client sent the command.
    pub(crate) sent: Instant,
    /// Changes that the simulation applies before its next tick.
    pub(crate) changes: Vec<Change>,
}

/// The data from which the simulation stage builds the pool when it starts.
#[derive(Clone, Debug)]
pub(crate) struct PoolStart {
    /// Number of the newest command that the scene contains.
    pub(crate) revision: u64,
    /// Version of the render setup that can draw the pool.
    pub(crate) setup_version: u64,
    /// Description of the pool.
    pub(crate) scene: SceneDescription,
    /// Factor on the frequency at which rules of the director begin.
    pub(crate) pace: f32,
}

/// The pool of the leader of a hall, with which a follower continues.
#[derive(Clone, Debug)]
pub(crate) struct PoolLoad {
    /// Number of this state. Ticks of the leader with the same number continue it.
    pub(crate) generation: u64,
    /// Start of the pool that is loaded.
    pub(crate) start: PoolStart,
    /// Parameters of the tick.
    pub(crate) params: SimulationParams,
    /// The saved pool.
    pub(crate) state: String,
    /// What the pool sees.
    pub(crate) observation: Observation,
}

/// The changes that wait for the simulation, and the start of the pool after all of them.
#[derive(Debug)]
pub(crate) struct PoolQueue {
    state: Mutex<QueueState>,
}

#[derive(Debug)]
struct QueueState {
    start: PoolStart,
    waiting: Vec<PoolChange>,
    load: Option<Box<PoolLoad>>,
}

impl PoolQueue {
    /// Creates an empty queue for a pool that starts with this scene.
    pub(crate) fn new(scene: SceneDescription) -> Self {
        let start = PoolStart {
            revision: 0,
            setup_version: 0,
            scene,
            pace: 1.0,
        };
        Self {
            state: Mutex::new(QueueState {
                start,
                waiting: Vec::with_capacity(WAITING_MAX),
                load: None,
            }),
        }
    }

    /// Whether another change can be added. Only the desk adds changes, so the answer stays true until it does.
    pub(crate) fn has_room(&self) -> bool {
        self.state.lock().waiting.len() < WAITING_MAX
    }

    /// Whether a change waits for the next tick.
    pub(crate) fn has_changes(&self) -> bool {
        !self.state.lock().waiting.is_empty()
    }

    /// Returns the number of the newest command that the pool contains or will contain.
    pub(crate) fn revision(&self) -> u64 {
        self.state.lock().start.revision
    }

    /// Returns the start of the pool after all changes.
    pub(crate) fn start(&self) -> PoolStart {
        self.state.lock().start.clone()
    }

    /// Returns the version of the newest render setup.
    pub(crate) fn setup_version(&self) -> u64 {
        self.state.lock().start.setup_version
    }

    /// Adds a change. If it changes the scene, `scene` replaces the start of the pool.
    pub(crate) fn push(&self, change: PoolChange, scene: Option<SceneDescription>) {
        let mut state = self.state.lock();
        state.start.revision = change.revision;
        state.start.setup_version = change.setup_version;
        if let Some(scene) = scene {
            state.start.scene = scene;
        }
        for change in &change.changes {
            if let Change::Pace(factor) = change {
                state.start.pace = *factor;
            }
        }
        state.waiting.push(change);
    }

    /// Returns the start of the pool, which contains the waiting changes, and removes these changes.
    pub(crate) fn begin(&self) -> PoolStart {
        let mut state = self.state.lock();
        state.waiting.clear();
        state.start.clone()
    }

    /// Replaces the pool by that of the leader. Changes that wait belong to the pool before.
    pub(crate) fn load(&self, load: PoolLoad) {
        let mut state = self.state.lock();
        state.start = load.start.clone();
        state.waiting.clear();
        state.load = Some(Box::new(load));
    }

    /// Takes the pool of the leader if there is a new one.
    pub(crate) fn take_load(&self) -> Option<Box<PoolLoad>> {
        self.state.lock().load.take()
    }

    /// Adds the waiting changes up to a command to `taken`. Returns false if the desk has not applied that command yet.
    pub(crate) fn take_up_to(&self, revision: u64, taken: &mut Vec<PoolChange>) -> bool {
        let mut state = self.state.lock();
        let count = state
            .waiting
            .partition_point(|change| change.revision <= revision);
        let is_known = state.start.revision >= revision;
        if is_known {
            taken.extend(state.waiting.drain(..count));
        }
        is_known
    }

    /// Swaps the waiting changes with `taken`, which must be empty.
    pub(crate) fn take(&self, taken: &mut Vec<PoolChange>) {
        let mut state = self.state.lock();
        if !state.waiting.is_empty() {
            std::mem::swap(&mut state.waiting, taken);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(revision: u64) -> PoolChange {
        PoolChange {
            revision,
            setup_version: revision / 10,
            sent: Instant::now(),
            changes: Vec::new(),
        }
    }

    #[test]
    fn a_simulation_that_does_not_tick_makes_the_queue_full_and_blocks_nobody() {
        let queue = PoolQueue::new(SceneDescription::default());
        let mut revision = 0;
        while queue.has_room() {
            revision += 1;
            queue.push(change(revision), None);
        }
        assert_eq!(revision, WAITING_MAX as u64);
        let mut taken = Vec::new();
        queue.take(&mut taken);
        assert_eq!(taken.len(), WAITING_MAX);
        assert!(queue.has_room());
    }

    #[test]
    fn a_follower_takes_the_changes_of_one_tick_only() {
        let queue = PoolQueue::new(SceneDescription::default());
        let mut taken = Vec::new();
        assert!(!queue.take_up_to(1, &mut taken), "the desk is not as far");
        (1..=4).for_each(|revision| queue.push(change(revision), None));
        assert!(queue.take_up_to(2, &mut taken));
        let revisions: Vec<u64> = taken.iter().map(|change| change.revision).collect();
        assert_eq!(revisions, [1, 2]);
        assert!(queue.has_changes());
        queue.load(PoolLoad {
            generation: 1,
            start: queue.begin(),
            params: SimulationParams::default(),
            state: String::new(),
            observation: Observation::default(),
        });
        assert!(!queue.has_changes());
        assert!(queue.take_load().is_some() && queue.take_load().is_none());
    }

    #[test]
    fn a_restarted_simulation_contains_the_waiting_changes() {
        let queue = PoolQueue::new(SceneDescription::default());
        queue.push(change(21), None);
        let start = queue.begin();
        assert_eq!((start.revision, start.setup_version), (21, 2));
        let mut taken = Vec::new();
        queue.take(&mut taken);
        assert!(taken.is_empty());
    }

    /// A fixed bug: the pool of an installation that attracts visitors had the usual pace after a panic.
    #[test]
    fn a_restarted_simulation_keeps_the_pace() {
        let queue = PoolQueue::new(SceneDescription::default());
        let changes = vec![Change::Pace(4.0)];
        queue.push(
            PoolChange {
                changes,
                ..change(1)
            },
            None,
        );
        let mut taken = Vec::new();
        queue.take(&mut taken);
        queue.push(change(2), Some(SceneDescription::default()));
        assert!((queue.begin().pace - 4.0).abs() < f32::EPSILON);
    }
}
