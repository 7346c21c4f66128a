//! Starts the threads of the running pool and supervises them. A thread that panics is restarted. After three panics within
//! five minutes, or if a thread hangs, the program ends, and the service manager restarts it.
//!
//! In: stages as closures that run until the stop flag is set. Out: an orderly end within two seconds, or the reason why the
//! program has to end. An operator can restart a thread, which counts as no panic. Must not: depend on the work of a stage.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::Context;
use parking_lot::Mutex;

use super::timing::FailureLimit;
use crate::camera::AwakeClock;
use crate::control::StageStatus;

/// Number of panics within [`PANIC_WINDOW`] that ends the program.
const MAX_PANICS: usize = 3;
/// Period over which panics are counted.
const PANIC_WINDOW: Duration = Duration::from_secs(300);
/// Pause before a thread that panicked is restarted.
const RESTART_PAUSE: Duration = Duration::from_millis(100);
/// Time without a heartbeat after which a thread counts as hanging. Time in which the supervisor itself did not run does not
/// count: then the program was stopped, or its machine was paused. Compiling shaders on a slow machine takes several seconds.
const HANG_TIMEOUT: Duration = Duration::from_secs(60);
/// Time that the threads get to finish at the end of the program. A thread that still runs after that is abandoned.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(1500);
/// Time without a check by the supervisor from which it is logged.
const LOGGED_PAUSE: Duration = Duration::from_secs(10);
/// Time without a heartbeat after which the status reports a thread as silent.
const SILENT_AFTER: Duration = Duration::from_secs(5);
/// Time after a restart for which the status reports a thread as not well.
const RECOVERING: Duration = Duration::from_secs(60);
/// Longest single sleep of [`Heartbeat::sleep`]. Limits the time until a thread sees the stop flag.
const SLEEP_STEP: Duration = Duration::from_millis(50);

/// A flag that ends the program when it is set. All threads share one flag.
pub type StopFlag = Arc<AtomicBool>;

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
    fn new(stop: StopFlag, awake_ms: Arc<AtomicU64>) -> Self {
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

    fn record_restart(&self, is_after_panic: bool) {
        self.changed_ms.store(self.now_ms(), Ordering::Relaxed);
        self.is_after_panic.store(is_after_panic, Ordering::Relaxed);
        if is_after_panic {
            self.restarts.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether the stage starts again now, because an operator asked for it. Ends the request.
    fn take_restart(&self) -> bool {
        self.must_restart.swap(false, Ordering::Relaxed) && !self.is_stopping()
    }

    /// Whether the program ends.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn record_end(&self) {
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
    pub(crate) fn silence(&self) -> Duration {
        let last_ms = self.last_ms.load(Ordering::Relaxed);
        Duration::from_millis(self.now_ms().saturating_sub(last_ms))
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

/// The health of all threads of a supervisor. Copies share their content.
#[derive(Clone, Debug, Default)]
pub struct StageBoard(Arc<Mutex<Vec<ThreadHealth>>>);

/// Name, policy and heartbeat of a thread.
type ThreadHealth = (&'static str, HangPolicy, Arc<Heartbeat>);

impl StageBoard {
    /// Returns the health of every thread, in the order in which they were started.
    pub fn statuses(&self) -> Vec<StageStatus> {
        let threads = self.0.lock();
        let status = |(name, policy, heartbeat): &ThreadHealth| heartbeat.status(name, *policy);
        threads.iter().map(status).collect()
    }

    /// Lets the thread with this name start its stage again. Returns false if no such thread runs.
    pub(crate) fn restart(&self, name: &str) -> bool {
        let threads = self.0.lock();
        let mut running = threads
            .iter()
            .filter(|(_, _, heartbeat)| !heartbeat.is_finished.load(Ordering::Relaxed));
        let Some((_, _, heartbeat)) = running.find(|(other, ..)| *other == name) else {
            return false;
        };
        heartbeat.must_restart.store(true, Ordering::Relaxed);
        true
    }
}

/// The threads of the running pool.
pub struct Supervisor {
    stop: StopFlag,
    failure: Arc<Mutex<Option<String>>>,
    panics: Arc<Mutex<FailureLimit>>,
    threads: Vec<SupervisedThread>,
    board: StageBoard,
    /// Clock that each check reads; `None` before the first check.
    clock: Mutex<Option<AwakeClock>>,
    /// Time on that clock, in milliseconds.
    awake_ms: Arc<AtomicU64>,
}

struct SupervisedThread {
    name: &'static str,
    hang_policy: HangPolicy,
    heartbeat: Arc<Heartbeat>,
    thread: JoinHandle<()>,
}

impl Supervisor {
    /// Creates a supervisor without threads. The threads that it starts end when `stop` is set.
    pub fn new(stop: StopFlag) -> Self {
        Self {
            stop,
            failure: Arc::default(),
            panics: Arc::new(Mutex::new(FailureLimit::new(MAX_PANICS, PANIC_WINDOW))),
            threads: Vec::new(),
            board: StageBoard::default(),
            clock: Mutex::default(),
            awake_ms: Arc::default(),
        }
    }

    /// Returns the health of all threads, also of those that are started later.
    pub fn board(&self) -> StageBoard {
        self.board.clone()
    }

    /// Returns the heartbeat of the thread with this name; `None` if there is none.
    pub(crate) fn heartbeat_of(&self, name: &str) -> Option<Arc<Heartbeat>> {
        let mut threads = self.threads.iter();
        let thread = threads.find(|thread| thread.name == name)?;
        Some(Arc::clone(&thread.heartbeat))
    }

    /// Returns the time on the supervisor's clock, in milliseconds. It moves with every check.
    pub(crate) fn awake_ms(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.awake_ms)
    }

    /// Returns the flag that ends the program.
    pub fn stop_flag(&self) -> &StopFlag {
        &self.stop
    }

    /// Starts a stage on a thread of its own. After a panic the closure is called again, so the closure must capture all data
    /// that has to survive a panic. The stage must return when [`Heartbeat::keep_running`] is false, or when its work is done.
    /// If it returns an error, the program ends. If an operator restarts the thread, the closure is called again.
    ///
    /// # Errors
    /// When the operating system cannot start the thread.
    pub fn start(
        &mut self,
        name: &'static str,
        hang_policy: HangPolicy,
        mut stage: impl FnMut(&Heartbeat) -> anyhow::Result<()> + Send + 'static,
    ) -> anyhow::Result<()> {
        let heartbeat = Arc::new(Heartbeat::new(
            Arc::clone(&self.stop),
            Arc::clone(&self.awake_ms),
        ));
        let own = Arc::clone(&heartbeat);
        let failure = Arc::clone(&self.failure);
        let panics = Arc::clone(&self.panics);
        let mut run = move || {
            loop {
                // A stage builds its working state again in every call, so no half-changed state survives a panic.
                match catch_unwind(AssertUnwindSafe(|| stage(&own))) {
                    Ok(Ok(())) if own.take_restart() => {
                        tracing::info!(thread = name, "the thread is restarted by an operator");
                        own.record_restart(false);
                        continue;
                    }
                    Ok(Ok(())) => return,
                    Ok(Err(error)) => {
                        return fail(&failure, &own.stop, format!("{name}: {error:#}"));
                    }
                    Err(_) => {
                        tracing::error!(thread = name, "the thread panicked and is restarted");
                        if panics.lock().record(Instant::now()) {
                            let reason = format!(
                                "{MAX_PANICS} panics within {} s, the last one in thread '{name}'",
                                PANIC_WINDOW.as_secs()
                            );
                            return fail(&failure, &own.stop, reason);
                        }
                        own.record_restart(true);
                    }
                }
                own.sleep(RESTART_PAUSE);
                // The restart after the panic is also the one that an operator asked for meanwhile.
                own.take_restart();
                if own.is_stopping() {
                    return;
                }
            }
        };
        let ended = Arc::clone(&heartbeat);
        let body = move || {
            run();
            ended.record_end();
        };
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(body)
            .with_context(|| format!("the thread '{name}' cannot be started"))?;
        let shared = Arc::clone(&heartbeat);
        self.board.0.lock().push((name, hang_policy, shared));
        self.threads.push(SupervisedThread {
            name,
            hang_policy,
            heartbeat,
            thread,
        });
        Ok(())
    }

    /// Checks for threads that hang. The main thread calls this function regularly. Returns false if the program has to end.
    pub fn check(&self) -> bool {
        self.check_at(Instant::now())
    }

    pub(crate) fn check_at(&self, now: Instant) -> bool {
        let mut clock = self.clock.lock();
        let clock = clock.get_or_insert_with(|| AwakeClock::start_at(now));
        let absent = clock.advance(now);
        if absent > LOGGED_PAUSE {
            tracing::warn!(
                "the program or its machine was stopped, or the display did not answer, for {:.0} s; the time limits of the threads \
                 do not include this time",
                absent.as_secs_f64()
            );
        }
        let awake_ms = u64::try_from(clock.awake().as_millis()).unwrap_or(u64::MAX);
        self.awake_ms.store(awake_ms, Ordering::Relaxed);
        for thread in &self.threads {
            if thread.hang_policy == HangPolicy::EndProgram
                && !thread.thread.is_finished()
                && thread.heartbeat.silence() > HANG_TIMEOUT
            {
                let reason = format!(
                    "the thread '{}' has hung for {} s",
                    thread.name,
                    HANG_TIMEOUT.as_secs()
                );
                fail(&self.failure, &self.stop, reason);
            }
        }
        !self.stop.load(Ordering::Relaxed)
    }

    /// Whether any thread is still running.
    pub fn is_any_running(&self) -> bool {
        self.threads.iter().any(|t| !t.thread.is_finished())
    }

    /// Sets the stop flag, and waits for the threads for at most 1.5 s. Threads that still run after that are abandoned.
    ///
    /// # Errors
    /// The reason, if a failure of a thread ended the program.
    pub fn shut_down(self) -> anyhow::Result<()> {
        self.stop.store(true, Ordering::Relaxed);
        let mut waited = AwakeClock::start();
        for thread in self.threads {
            if thread.hang_policy == HangPolicy::Abandon {
                continue;
            }
            while !thread.thread.is_finished() && waited.elapsed() < SHUTDOWN_TIMEOUT {
                std::thread::sleep(Duration::from_millis(2));
            }
            if thread.thread.is_finished() {
                // Panics were caught and logged inside the thread.
                let _ended = thread.thread.join();
            } else {
                tracing::warn!(
                    thread = thread.name,
                    "the thread does not end and is abandoned"
                );
            }
        }
        match self.failure.lock().as_ref() {
            Some(reason) => Err(anyhow::anyhow!("{reason}")),
            None => Ok(()),
        }
    }
}

/// Ends the program and stores the reason. If there is already a reason, the first one is kept.
fn fail(failure: &Mutex<Option<String>>, stop: &AtomicBool, reason: String) {
    tracing::error!(reason, "the program ends");
    failure.lock().get_or_insert(reason);
    stop.store(true, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait_until(condition: impl Fn() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !condition() {
            assert!(Instant::now() < deadline, "the condition never became true");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_stage_that_panics_is_restarted_and_keeps_its_captures() {
        let mut supervisor = Supervisor::new(StopFlag::default());
        let rounds = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&rounds);
        supervisor
            .start("shaky", HangPolicy::EndProgram, move |heartbeat| {
                let round = counted.fetch_add(1, Ordering::Relaxed);
                assert!(round >= 2, "one of the two panics of this test");
                while heartbeat.sleep(Duration::from_millis(5)) {}
                Ok(())
            })
            .unwrap();
        wait_until(|| rounds.load(Ordering::Relaxed) == 3);
        assert!(supervisor.check());
        let status = &supervisor.board().statuses()[0];
        assert_eq!((status.name.as_str(), status.restarts), ("shaky", 2));
        assert_eq!(status.state, "running again after a panic");
        supervisor.shut_down().unwrap();
    }

    #[test]
    fn an_operator_restarts_a_thread_any_number_of_times() {
        let mut supervisor = Supervisor::new(StopFlag::default());
        let rounds = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&rounds);
        supervisor
            .start("sound", HangPolicy::EndProgram, move |heartbeat| {
                let round = counted.fetch_add(1, Ordering::Relaxed);
                assert!(round != 1, "the panic of this test");
                while heartbeat.sleep(Duration::from_millis(5)) {}
                Ok(())
            })
            .unwrap();
        let board = supervisor.board();
        assert!(!board.restart("render"), "no such thread");
        // The first restart panics, which starts the stage a third time.
        let mut begun = 1;
        for _ in 0..2 * MAX_PANICS {
            wait_until(|| rounds.load(Ordering::Relaxed) >= begun);
            begun = rounds.load(Ordering::Relaxed) + 1;
            assert!(board.restart("sound"));
        }
        wait_until(|| rounds.load(Ordering::Relaxed) >= begun);
        assert!(supervisor.check());
        wait_until(|| board.statuses()[0].state == "running");
        assert_eq!(board.statuses()[0].restarts, 1, "only the panic counts");
        supervisor.shut_down().unwrap();
        assert!(!board.restart("sound"), "it has ended");
    }

    #[test]
    fn three_panics_end_all_threads_with_the_reason() {
        let mut supervisor = Supervisor::new(StopFlag::default());
        supervisor
            .start("broken", HangPolicy::EndProgram, |_| {
                panic!("part of the test")
            })
            .unwrap();
        supervisor
            .start("sound", HangPolicy::EndProgram, |heartbeat| {
                while heartbeat.sleep(Duration::from_millis(5)) {}
                Ok(())
            })
            .unwrap();
        wait_until(|| !supervisor.check());
        let reason = supervisor.shut_down().unwrap_err().to_string();
        assert!(reason.contains("3 panics"), "{reason}");
        assert!(reason.contains("'broken'"), "{reason}");
    }

    /// Returns a supervisor with one thread that gives no heartbeat, and the sender that ends this thread.
    fn supervisor_of_a_hanging_thread() -> (Supervisor, std::sync::mpsc::Sender<()>) {
        let (end, ended) = std::sync::mpsc::channel();
        let mut supervisor = Supervisor::new(StopFlag::default());
        supervisor
            .start("stuck", HangPolicy::EndProgram, move |_| {
                let _ended = ended.recv();
                Ok(())
            })
            .unwrap();
        (supervisor, end)
    }

    #[test]
    fn a_thread_that_hangs_ends_the_program() {
        let (supervisor, end) = supervisor_of_a_hanging_thread();
        let begun = Instant::now();
        for n in 0..=1200 {
            assert!(
                supervisor.check_at(begun + n * SLEEP_STEP),
                "after {n} checks"
            );
        }
        assert!(!supervisor.check_at(begun + 1201 * SLEEP_STEP));
        end.send(()).unwrap();
        let reason = supervisor.shut_down().unwrap_err().to_string();
        assert!(reason.contains("'stuck' has hung for 60 s"), "{reason}");
    }

    /// The watchdog ended a healthy program that was stopped for 66 s.
    #[test]
    fn a_program_that_was_stopped_does_not_hang() {
        let (supervisor, end) = supervisor_of_a_hanging_thread();
        let mut now = Instant::now();
        // The machine is paused ten times for an hour, and runs for 4 s in between.
        for _ in 0..10 {
            for _ in 0..80 {
                assert!(supervisor.check_at(now));
                now += SLEEP_STEP;
            }
            now += Duration::from_secs(3600);
        }
        assert!(supervisor.check_at(now));
        // After the last pause, a thread that really hangs is found as usual.
        let checks = (1..).find(|n| !supervisor.check_at(now + *n * SLEEP_STEP));
        let found = checks.unwrap() * SLEEP_STEP;
        assert!(found < HANG_TIMEOUT, "{found:?}");
        end.send(()).unwrap();
        assert!(supervisor.shut_down().is_err());
    }

    #[test]
    fn a_heartbeat_starts_the_time_limit_again() {
        let (sender, beats) = std::sync::mpsc::channel();
        let (done, is_done) = std::sync::mpsc::channel();
        let mut supervisor = Supervisor::new(StopFlag::default());
        supervisor
            .start("slow", HangPolicy::EndProgram, move |heartbeat| {
                while beats.recv().is_ok() && heartbeat.keep_running() {
                    done.send(()).unwrap();
                }
                Ok(())
            })
            .unwrap();
        let mut now = Instant::now();
        for _ in 0..3 {
            for _ in 0..1100 {
                assert!(supervisor.check_at(now));
                now += SLEEP_STEP;
            }
            sender.send(()).unwrap();
            is_done.recv().unwrap();
        }
        drop(sender);
        supervisor.shut_down().unwrap();
    }

    #[test]
    fn a_thread_that_hangs_does_not_keep_the_program_from_ending() {
        for policy in [HangPolicy::WaitAtEnd, HangPolicy::Abandon] {
            let mut supervisor = Supervisor::new(StopFlag::default());
            supervisor
                .start("stuck", policy, |_| {
                    std::thread::sleep(Duration::from_secs(600));
                    Ok(())
                })
                .unwrap();
            let begun = Instant::now();
            supervisor.shut_down().unwrap();
            if policy == HangPolicy::Abandon {
                assert!(begun.elapsed() < SHUTDOWN_TIMEOUT, "it was waited for");
            }
        }
    }
}
