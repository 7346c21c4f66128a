//! The heartbeats of threads, and the health that follows from them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

/// Time without a heartbeat after which the status reports a thread as silent.
const SILENT_AFTER: Duration = Duration::from_secs(5);
/// Time after a restart for which the status reports a thread as not well.
const RECOVERING: Duration = Duration::from_secs(60);
/// Longest single sleep of [`Heartbeat::sleep`]. Limits the time until a thread sees the stop flag.
const SLEEP_STEP: Duration = Duration::from_millis(50);

/// A flag that ends the program when it is set. All threads share one flag.
pub type StopFlag = Arc<AtomicBool>;

/// Health of a stage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StageStatus {
    /// Name of the stage.
    pub name: String,
    /// Its health in words: `running`, `finished`, or what is wrong.
    pub state: String,
    /// Whether the stage works.
    pub is_well: bool,
    /// Time for which it has been in this state.
    pub for_secs: f64,
    /// Number of times that it was restarted after a panic.
    pub restarts: u64,
}

impl StageStatus {
    /// Adds another thread of this stage.
    fn include(&mut self, other: Self) {
        let restarts = self.restarts + other.restarts;
        if self.is_well && !other.is_well {
            *self = other;
        }
        self.restarts = restarts;
    }
}

/// The reaction of the supervisor to a thread without a heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HangPolicy {
    /// The program ends after 60 s without a heartbeat. For threads that never wait long.
    EndProgram,
    /// No reaction, because the thread may wait for a file or another program. At the end of the program it gets time to finish
    /// its work.
    WaitAtEnd,
    /// No reaction, and no wait at the end of the program. The thread may block in a read that never returns, and it has no
    /// work to finish.
    Abandon,
}

/// The heartbeat of a thread, which shows that it does not hang. Also gives the thread access to the stop flag.
#[derive(Debug)]
pub struct Heartbeat {
    /// Time on the supervisor's clock, in milliseconds.
    awake_ms: Arc<AtomicU64>,
    /// Time of the last heartbeat on that clock, in milliseconds.
    last_ms: AtomicU64,
    /// Number of restarts after a panic.
    restarts: AtomicU64,
    /// Whether the last restart was after a panic.
    is_after_panic: AtomicBool,
    /// Whether the thread has to start its stage again.
    must_restart: AtomicBool,
    /// Time of the last restart, or of the end if `is_finished`, in milliseconds on that clock; 0 before that.
    changed_ms: AtomicU64,
    is_finished: AtomicBool,
    stop: StopFlag,
}

impl Heartbeat {
    pub(super) fn new(stop: StopFlag, awake_ms: Arc<AtomicU64>) -> Self {
        Self {
            last_ms: AtomicU64::new(awake_ms.load(Ordering::Relaxed)),
            awake_ms,
            restarts: AtomicU64::new(0),
            is_after_panic: AtomicBool::new(false),
            must_restart: AtomicBool::new(false),
            changed_ms: AtomicU64::new(0),
            is_finished: AtomicBool::new(false),
            stop,
        }
    }

    fn now_ms(&self) -> u64 {
        self.awake_ms.load(Ordering::Relaxed)
    }

    pub(super) fn record_restart(&self, is_after_panic: bool) {
        self.changed_ms.store(self.now_ms(), Ordering::Relaxed);
        self.is_after_panic.store(is_after_panic, Ordering::Relaxed);
        if is_after_panic {
            self.restarts.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether the stage starts again now, because an operator asked for it. Ends the request.
    pub(super) fn take_restart(&self) -> bool {
        self.must_restart.swap(false, Ordering::Relaxed) && !self.is_stopping()
    }

    /// Whether the program ends.
    pub fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(super) fn record_end(&self) {
        self.changed_ms.store(self.now_ms(), Ordering::Relaxed);
        self.is_finished.store(true, Ordering::Relaxed);
    }

    /// Returns the health of the thread, in words.
    fn status(&self, name: &str, hang_policy: HangPolicy) -> StageStatus {
        let changed_ms = self.changed_ms.load(Ordering::Relaxed);
        let in_state = Duration::from_millis(self.now_ms().saturating_sub(changed_ms));
        let restarts = self.restarts.load(Ordering::Relaxed);
        let silence = self.silence();
        let (state, is_well, time) = if self.is_finished.load(Ordering::Relaxed) {
            ("finished", true, in_state)
        } else if hang_policy == HangPolicy::EndProgram && silence > SILENT_AFTER {
            ("does not answer", false, silence)
        } else if self.is_after_panic.load(Ordering::Relaxed) && in_state < RECOVERING {
            ("running again after a panic", false, in_state)
        } else {
            ("running", true, in_state)
        };
        StageStatus {
            name: name.to_owned(),
            state: state.to_owned(),
            is_well,
            for_secs: time.as_secs_f64(),
            restarts,
        }
    }

    /// Records a heartbeat. Returns false if the stage has to end, because the program ends or the stage is restarted.
    pub fn keep_running(&self) -> bool {
        self.last_ms.store(self.now_ms(), Ordering::Relaxed);
        !self.is_stopping() && !self.must_restart.load(Ordering::Relaxed)
    }

    /// Returns the flag that ends the program.
    pub fn stop_flag(&self) -> &AtomicBool {
        &self.stop
    }

    /// Sleeps in short steps and records a heartbeat in each. Returns false if the stage has to end.
    pub fn sleep(&self, pause: Duration) -> bool {
        let until = Instant::now() + pause;
        while self.keep_running() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            std::thread::sleep(left.min(SLEEP_STEP));
        }
        false
    }

    /// Returns the time since the last heartbeat.
    pub fn silence(&self) -> Duration {
        let last_ms = self.last_ms.load(Ordering::Relaxed);
        Duration::from_millis(self.now_ms().saturating_sub(last_ms))
    }
}

/// The health of all threads of a supervisor. Copies share their content.
#[derive(Clone, Debug, Default)]
pub struct StageBoard(Arc<Mutex<Vec<ThreadHealth>>>);

/// Name, policy and heartbeat of a thread.
type ThreadHealth = (&'static str, HangPolicy, Arc<Heartbeat>);

impl StageBoard {
    /// Adds a thread.
    pub(super) fn add(&self, name: &'static str, policy: HangPolicy, heartbeat: Arc<Heartbeat>) {
        self.0.lock().push((name, policy, heartbeat));
    }

    /// Returns the health of every stage, in the order in which they were started. Threads with the same name are one stage, which is as
    /// well as the worst of them.
    pub fn statuses(&self) -> Vec<StageStatus> {
        let mut stages: Vec<StageStatus> = Vec::new();
        for (name, policy, heartbeat) in &*self.0.lock() {
            let status = heartbeat.status(name, *policy);
            match stages.iter_mut().find(|stage| stage.name == status.name) {
                Some(stage) => stage.include(status),
                None => stages.push(status),
            }
        }
        stages
    }

    /// Lets the threads with this name start their stage again. Returns false if no such thread runs.
    pub fn restart(&self, name: &str) -> bool {
        let threads = self.0.lock();
        let running = threads.iter().filter(|(other, _, heartbeat)| {
            *other == name && !heartbeat.is_finished.load(Ordering::Relaxed)
        });
        let mut is_running = false;
        for (_, _, heartbeat) in running {
            heartbeat.must_restart.store(true, Ordering::Relaxed);
            is_running = true;
        }
        is_running
    }
}
