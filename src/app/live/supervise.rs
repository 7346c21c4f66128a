//! The crew: named threads that are watched. One that panics is told and started again; three panics within five
//! minutes, or one that hangs, end the program, so that the service manager starts it afresh.
//!
//! In: stages as closures that run until the stop flag is set. Out: a clean end within two seconds, or the reason why the
//! program has to end. Must not: know what a stage does.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::Context;

use super::clock::Budget;

/// So many panics ...
const MOST_PANICS: usize = 3;
/// ... within this time end the program.
const PANICS_WITHIN: Duration = Duration::from_secs(300);
/// Pause before a stage that panicked is started again.
const RESTART_AFTER: Duration = Duration::from_millis(100);
/// A stage that gave no sign of life for this long hangs. Making shaders on a slow machine takes seconds.
const PATIENCE: Duration = Duration::from_secs(60);
/// At the end, threads are waited for this long; one that still hangs dies with the process.
const LAST_WAIT: Duration = Duration::from_millis(1500);

/// A fault that comes and goes is over after this long without it.
const CALM_AFTER: Duration = Duration::from_secs(60);

/// Set once: everybody ends.
pub type Stop = Arc<AtomicBool>;

/// A stage's sign of life.
#[derive(Debug)]
pub struct Pulse {
    started: Instant,
    /// Milliseconds since `started`.
    last_ms: AtomicU64,
    stop: Stop,
}

impl Pulse {
    /// Whether the stage shall go on. Asking is the sign of life.
    pub fn goes_on(&self) -> bool {
        let ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_ms.store(ms, Ordering::Relaxed);
        !self.stop.load(Ordering::Relaxed)
    }

    /// The flag that ends everybody.
    pub fn stop(&self) -> &AtomicBool {
        &self.stop
    }

    /// Sleeps in small steps, giving signs of life; false when the stage shall end.
    pub fn sleep(&self, pause: Duration) -> bool {
        let until = Instant::now() + pause;
        while self.goes_on() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            std::thread::sleep(left.min(Duration::from_millis(50)));
        }
        false
    }

    fn silent(&self) -> Duration {
        let last = Duration::from_millis(self.last_ms.load(Ordering::Relaxed));
        self.started.elapsed().saturating_sub(last)
    }
}

/// Whether a stage may be silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// It gives signs of life all the time.
    Pulse,
    /// It waits for others, a file or a program, however long that takes.
    MayWait,
}

/// Threads that run until they are told to stop.
pub struct Crew {
    stop: Stop,
    failure: Arc<Mutex<Option<String>>>,
    panics: Arc<Mutex<Budget>>,
    members: Vec<Member>,
}

struct Member {
    name: &'static str,
    watch: Watch,
    pulse: Arc<Pulse>,
    thread: JoinHandle<()>,
}

impl Crew {
    /// A crew without members; `stop` ends it.
    pub fn new(stop: Stop) -> Self {
        Self {
            stop,
            failure: Arc::default(),
            panics: Arc::new(Mutex::new(Budget::new(MOST_PANICS, PANICS_WITHIN))),
            members: Vec::new(),
        }
    }

    /// The flag that ends everybody.
    pub fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Starts a stage on a thread of its own. It is called again after a panic, and keeps in its captures what shall
    /// outlive one. It returns when the pulse says so, or when it has nothing left to do.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(
        &mut self,
        name: &'static str,
        watch: Watch,
        mut stage: impl FnMut(&Pulse) -> anyhow::Result<()> + Send + 'static,
    ) -> anyhow::Result<()> {
        let pulse = Arc::new(Pulse {
            started: Instant::now(),
            last_ms: AtomicU64::new(0),
            stop: Arc::clone(&self.stop),
        });
        let (own, failure, panics) = (
            Arc::clone(&pulse),
            Arc::clone(&self.failure),
            Arc::clone(&self.panics),
        );
        let body = move || {
            loop {
                // What a stage leaves behind after a panic is its own state, which it makes anew when called again.
                match catch_unwind(AssertUnwindSafe(|| stage(&own))) {
                    Ok(Ok(())) => return,
                    Ok(Err(error)) => {
                        return fail(&failure, &own.stop, format!("{name}: {error:#}"));
                    }
                    Err(_) => {
                        tracing::error!(thread = name, "a thread panicked and is started again");
                        let mut panics = panics.lock().unwrap_or_else(PoisonError::into_inner);
                        if panics.spend(Instant::now()) {
                            let reason = format!(
                                "{MOST_PANICS} panics within {} s, the last one in thread '{name}'",
                                PANICS_WITHIN.as_secs()
                            );
                            return fail(&failure, &own.stop, reason);
                        }
                    }
                }
                if !own.sleep(RESTART_AFTER) {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(body)
            .with_context(|| format!("the thread '{name}' cannot be started"))?;
        self.members.push(Member {
            name,
            watch,
            pulse,
            thread,
        });
        Ok(())
    }

    /// Looks for threads that hang; to be called now and then. False when everybody shall end.
    pub fn watch(&self) -> bool {
        for member in &self.members {
            if member.watch == Watch::Pulse
                && !member.thread.is_finished()
                && member.pulse.silent() > PATIENCE
            {
                let reason = format!(
                    "the thread '{}' gave no sign of life for {} s",
                    member.name,
                    PATIENCE.as_secs()
                );
                fail(&self.failure, &self.stop, reason);
            }
        }
        !self.stop.load(Ordering::Relaxed)
    }

    /// Whether any thread still runs.
    pub fn any_alive(&self) -> bool {
        self.members.iter().any(|m| !m.thread.is_finished())
    }

    /// Ends everybody and waits for them, but not for long.
    ///
    /// # Errors
    /// Why the program had to end, if it was not asked to.
    pub fn end(self) -> anyhow::Result<()> {
        self.stop.store(true, Ordering::Relaxed);
        let deadline = Instant::now() + LAST_WAIT;
        for member in self.members {
            while !member.thread.is_finished() && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(2));
            }
            if member.thread.is_finished() {
                // Its panics were caught and told where they happened.
                let _ended = member.thread.join();
            } else {
                tracing::warn!(thread = member.name, "left behind at the end");
            }
        }
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        match failure.as_ref() {
            Some(reason) => Err(anyhow::anyhow!("{reason}")),
            None => Ok(()),
        }
    }
}

fn fail(failure: &Mutex<Option<String>>, stop: &AtomicBool, reason: String) {
    tracing::error!(reason, "the program ends");
    failure
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .get_or_insert(reason);
    stop.store(true, Ordering::Relaxed);
}

/// Something that is wrong for a while: told once when it begins and when it is over, counted in between.
#[derive(Debug)]
pub struct Trouble {
    what: &'static str,
    present: bool,
    last: Option<Instant>,
    count: u64,
}

impl Trouble {
    /// Nothing is wrong yet. `what` is its name in logs.
    pub fn new(what: &'static str) -> Self {
        Self {
            what,
            present: false,
            last: None,
            count: 0,
        }
    }

    /// It happened, perhaps again; true the first time since it was well.
    pub fn happened(&mut self, detail: &dyn std::fmt::Display) -> bool {
        self.count += 1;
        self.last = Some(Instant::now());
        let begins = !std::mem::replace(&mut self.present, true);
        if begins {
            tracing::warn!(fault = self.what, count = self.count, "{detail}");
        } else {
            tracing::debug!(fault = self.what, count = self.count, "{detail}");
        }
        begins
    }

    /// It is well.
    pub fn over(&mut self) {
        if std::mem::take(&mut self.present) {
            tracing::info!(fault = self.what, count = self.count, "over");
        }
    }

    /// It is well at the moment; what comes and goes is over when it has not come for a minute.
    pub fn calm(&mut self) {
        if (self.last).is_some_and(|last| last.elapsed() > CALM_AFTER) {
            self.over();
        }
    }

    /// Whether it is wrong now.
    pub fn is_present(&self) -> bool {
        self.present
    }

    /// How often it happened.
    pub fn count(&self) -> u64 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn until(condition: impl Fn() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !condition() {
            assert!(Instant::now() < deadline, "never came about");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_stage_that_panics_is_started_again_and_keeps_what_it_captured() {
        let mut crew = Crew::new(Stop::default());
        let rounds = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&rounds);
        crew.start("shaky", Watch::Pulse, move |pulse| {
            let round = counted.fetch_add(1, Ordering::Relaxed);
            assert!(round >= 2, "one of two panics that are part of the test");
            while pulse.sleep(Duration::from_millis(5)) {}
            Ok(())
        })
        .unwrap();
        until(|| rounds.load(Ordering::Relaxed) == 3);
        assert!(crew.watch());
        crew.end().unwrap();
    }

    #[test]
    fn three_panics_end_everybody_with_the_reason() {
        let mut crew = Crew::new(Stop::default());
        crew.start("broken", Watch::Pulse, |_| panic!("part of the test"))
            .unwrap();
        crew.start("sound", Watch::Pulse, |pulse| {
            while pulse.sleep(Duration::from_millis(5)) {}
            Ok(())
        })
        .unwrap();
        until(|| !crew.watch());
        let reason = crew.end().unwrap_err().to_string();
        assert!(reason.contains("3 panics"), "{reason}");
        assert!(reason.contains("'broken'"), "{reason}");
    }

    #[test]
    fn a_thread_that_hangs_does_not_keep_the_others_from_ending() {
        let mut crew = Crew::new(Stop::default());
        crew.start("stuck", Watch::MayWait, |_| {
            std::thread::sleep(Duration::from_secs(600));
            Ok(())
        })
        .unwrap();
        crew.end().unwrap();
    }

    #[test]
    fn trouble_is_told_once_until_it_is_over() {
        let mut trouble = Trouble::new("test");
        assert!(trouble.happened(&"a"));
        assert!(!trouble.happened(&"a"));
        assert!(trouble.is_present());
        trouble.over();
        assert!(!trouble.is_present());
        assert!(trouble.happened(&"a"));
        assert_eq!(trouble.count(), 3);
    }
}
