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

use super::backoff::FailureLimit;
use super::clock::AwakeClock;
use super::heartbeat::{HangPolicy, Heartbeat, StageBoard, StopFlag};

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

/// What a stage returns when it ends: nothing, or the error that ends the program.
pub trait StageEnd {
    /// Returns it as a result.
    ///
    /// # Errors
    /// The error of the stage.
    fn into_result(self) -> anyhow::Result<()>;
}

impl StageEnd for () {
    fn into_result(self) -> anyhow::Result<()> {
        Ok(())
    }
}

impl StageEnd for anyhow::Result<()> {
    fn into_result(self) -> anyhow::Result<()> {
        self
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
    pub fn heartbeat_of(&self, name: &str) -> Option<Arc<Heartbeat>> {
        let mut threads = self.threads.iter();
        let thread = threads.find(|thread| thread.name == name)?;
        Some(Arc::clone(&thread.heartbeat))
    }

    /// Returns the time on the supervisor's clock, in milliseconds. It moves with every check.
    pub fn awake_ms(&self) -> Arc<AtomicU64> {
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
    pub fn start<E: StageEnd>(
        &mut self,
        name: &'static str,
        hang_policy: HangPolicy,
        mut stage: impl FnMut(&Heartbeat) -> E + Send + 'static,
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
                match catch_unwind(AssertUnwindSafe(|| stage(&own).into_result())) {
                    Ok(Ok(())) if own.take_restart() => {
                        tracing::info!(thread = name, "the thread is restarted by an operator");
                        own.record_restart(false);
                        continue;
                    }
                    Ok(Ok(())) => return,
                    Ok(Err(error)) => {
                        return fail(&failure, own.stop_flag(), format!("{name}: {error:#}"));
                    }
                    Err(_) => {
                        tracing::error!(thread = name, "the thread panicked and is restarted");
                        if panics.lock().record(Instant::now()) {
                            let reason = format!(
                                "{MAX_PANICS} panics within {} s, the last one in thread '{name}'",
                                PANIC_WINDOW.as_secs()
                            );
                            return fail(&failure, own.stop_flag(), reason);
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
        self.board.add(name, hang_policy, shared);
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

    /// Does the same as [`Self::check`], at the time `now`.
    pub fn check_at(&self, now: Instant) -> bool {
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
    use std::sync::atomic::AtomicU64;

    /// Time between two checks of the main thread.
    const STEP: Duration = Duration::from_millis(50);

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
            .start("broken", HangPolicy::EndProgram, |heartbeat| {
                assert!(heartbeat.is_stopping(), "the panic of this test");
            })
            .unwrap();
        supervisor
            .start("sound", HangPolicy::EndProgram, |heartbeat| {
                while heartbeat.sleep(Duration::from_millis(5)) {}
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
            assert!(supervisor.check_at(begun + n * STEP), "after {n} checks");
        }
        assert!(!supervisor.check_at(begun + 1201 * STEP));
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
                now += STEP;
            }
            now += Duration::from_secs(3600);
        }
        assert!(supervisor.check_at(now));
        // After the last pause, a thread that really hangs is found as usual.
        let checks = (1..).find(|n| !supervisor.check_at(now + *n * STEP));
        let found = checks.unwrap() * STEP;
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
                now += STEP;
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
