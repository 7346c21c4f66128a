//! Faults: named degraded conditions with a start and an end.
//!
//! Every thread reports its faults through a handle, a [`Fault`]. The [`FaultLedger`] lists those that are active. A fault is logged
//! when it starts and when it ends; occurrences in between are counted. A fault that may come and go with every frame settles: if it
//! returns soon after its end, it is one fault with more occurrences until it stays away.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::date::now_iso;

/// Longest time for which a fault stays away and is still the same fault when it returns, in multiples of its settle time. With a
/// settle time of 5 s this is two minutes: a fault that returns less often writes less than 1 MB a day into the log.
const LONGEST_GAP: u32 = 24;

/// Settle time of a fault that can change with every frame or picture.
pub const SETTLE_TIME: Duration = Duration::from_secs(5);

/// An active fault.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FaultStatus {
    /// Name of the fault, for example `camera.unplugged`.
    pub name: String,
    /// Description: the problem, its place, and the remedy.
    pub detail: String,
    /// Date and time at which it began, in UTC, ISO 8601.
    pub since: String,
    /// Time since it began.
    pub for_secs: f64,
    /// Number of occurrences since it began.
    pub count: u64,
    /// If it comes and goes and is not present now: time since it was, and time for which it must stay away to be over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub away_secs: Option<[f64; 2]>,
}

/// The start or the end of a fault.
#[derive(Clone, Debug, PartialEq)]
pub enum FaultChange {
    /// A fault begins.
    Began {
        /// Name of the fault.
        fault: String,
        /// Description: the problem, its place, and the remedy.
        detail: String,
    },
    /// A fault ends.
    Ended {
        /// Name of the fault.
        fault: String,
        /// Duration of the fault.
        lasted_secs: f64,
        /// Number of occurrences since it began.
        count: u64,
    },
}

/// The active faults of all threads. Copies share their content.
#[derive(Clone)]
pub struct FaultLedger {
    shared: Arc<Shared>,
    /// What the faults of this copy are about, before each description; empty if their names say it.
    subject: Arc<str>,
}

struct Shared {
    active: Mutex<Active>,
    on_change: Box<dyn Fn(FaultChange) + Send + Sync>,
}

#[derive(Default)]
struct Active {
    faults: Vec<ActiveFault>,
    /// Number of the next fault.
    next: u64,
}

struct ActiveFault {
    number: u64,
    name: String,
    detail: String,
    since: String,
    began: Instant,
    count: u64,
    /// Time since which the fault has stayed away, and the time for which it must stay away before it ends; `None` while it is
    /// present.
    away: Option<(Instant, Duration)>,
}

impl Default for FaultLedger {
    fn default() -> Self {
        Self::new(|_| {})
    }
}

impl fmt::Debug for FaultLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.active(Instant::now())).finish()
    }
}

impl ActiveFault {
    fn status(&self, now: Instant) -> FaultStatus {
        let away_secs = self.away.map(|(since, quiet)| {
            [now.saturating_duration_since(since), quiet].map(|time| time.as_secs_f64())
        });
        FaultStatus {
            name: self.name.clone(),
            detail: self.detail.clone(),
            away_secs,
            since: self.since.clone(),
            for_secs: now.saturating_duration_since(self.began).as_secs_f64(),
            count: self.count,
        }
    }
}

impl FaultLedger {
    /// Creates a ledger that passes the start and the end of every fault to `on_change`, on the thread that reports it.
    pub fn new(on_change: impl Fn(FaultChange) + Send + Sync + 'static) -> Self {
        Self {
            shared: Arc::new(Shared {
                active: Mutex::default(),
                on_change: Box::new(on_change),
            }),
            subject: Arc::default(),
        }
    }

    /// Returns a copy for one of several things of a kind. The description of each of its faults begins with `subject`.
    #[must_use]
    pub fn about(&self, subject: &str) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            subject: Arc::from(subject),
        }
    }

    /// Returns the active faults, the newest last. Ends the faults that have stayed away long enough.
    pub fn active(&self, now: Instant) -> Vec<FaultStatus> {
        let is_over = |fault: &ActiveFault| {
            (fault.away).is_some_and(|(since, quiet)| now.saturating_duration_since(since) >= quiet)
        };
        self.end(now, is_over);
        let active = self.shared.active.lock();
        active
            .faults
            .iter()
            .map(|fault| fault.status(now))
            .collect()
    }

    /// Begins a fault and returns its number.
    fn begin(&self, name: &str, detail: String, now: Instant) -> u64 {
        tracing::warn!(fault = name, "{detail}");
        let mut active = self.shared.active.lock();
        let number = active.next;
        active.next += 1;
        active.faults.push(ActiveFault {
            number,
            name: name.to_owned(),
            detail: detail.clone(),
            since: now_iso(),
            began: now,
            count: 1,
            away: None,
        });
        drop(active);
        (self.shared.on_change)(FaultChange::Began {
            fault: name.to_owned(),
            detail,
        });
        number
    }

    /// Changes an active fault. Returns false if it has ended.
    fn change(&self, number: u64, change: impl FnOnce(&mut ActiveFault)) -> bool {
        let mut active = self.shared.active.lock();
        let fault = active
            .faults
            .iter_mut()
            .find(|fault| fault.number == number);
        fault.map(change).is_some()
    }

    /// Ends the faults for which `is_over` is true.
    fn end(&self, now: Instant, is_over: impl Fn(&ActiveFault) -> bool) {
        let ended: Vec<ActiveFault> = {
            let mut active = self.shared.active.lock();
            active
                .faults
                .extract_if(.., |fault| is_over(fault))
                .collect()
        };
        for fault in ended {
            let lasted_secs = now.saturating_duration_since(fault.began).as_secs_f64();
            let (name, count) = (fault.name, fault.count);
            tracing::info!(fault = name, count, lasted_secs, "the fault is over");
            (self.shared.on_change)(FaultChange::Ended {
                fault: name,
                lasted_secs,
                count,
            });
        }
    }
}

/// One named fault. Dropping it ends the fault.
#[derive(Debug)]
pub struct Fault {
    name: String,
    ledger: FaultLedger,
    /// Number of the fault in the ledger; `None` if the fault is inactive. The ledger may have ended it meanwhile.
    active: Option<u64>,
    /// Time since which the fault has stayed away; `None` while it is present, and before its first occurrence.
    away_since: Option<Instant>,
    /// Time for which the fault must stay away before it ends.
    quiet: Duration,
    settle_time: Duration,
    shortest_quiet: Duration,
}

impl Fault {
    /// Creates an inactive fault, which ends as soon as it is cleared. `name` is its name in log, ledger and status.
    pub fn new(name: impl Into<String>, ledger: &FaultLedger) -> Self {
        Self {
            name: name.into(),
            ledger: ledger.clone(),
            active: None,
            away_since: None,
            quiet: Duration::ZERO,
            settle_time: Duration::ZERO,
            shortest_quiet: Duration::ZERO,
        }
    }

    /// Lets a fault that comes and goes be one fault. If it returns within 24 settle times after it was cleared, it ends only when
    /// it has stayed away for twice the longest pause between its occurrences, at least for the settle time.
    #[must_use]
    pub fn settling(mut self, settle_time: Duration) -> Self {
        self.settle_time = settle_time;
        self
    }

    /// Lets the fault end only when it has stayed away for `shortest`, also if it occurs once.
    #[must_use]
    pub fn lasting(mut self, shortest: Duration) -> Self {
        self.shortest_quiet = shortest;
        self
    }

    /// Reports an occurrence. Returns true if the fault begins.
    pub fn raise(&mut self, detail: &dyn fmt::Display) -> bool {
        self.raise_at(detail, Instant::now())
    }

    /// Does the same as [`Self::raise`], at the time `now`.
    pub fn raise_at(&mut self, detail: &dyn fmt::Display, now: Instant) -> bool {
        let gap = self
            .away_since
            .take()
            .map(|away| now.saturating_duration_since(away));
        let is_soon = |gap: &Duration| *gap <= self.settle_time * LONGEST_GAP;
        let quiet = match gap.filter(is_soon) {
            Some(gap) => (gap * 2).max(self.settle_time),
            None => self.shortest_quiet,
        };
        let detail = match &*self.ledger.subject {
            "" => detail.to_string(),
            subject => format!("{subject}: {detail}"),
        };
        if let Some(number) = self.active {
            let is_active = self.ledger.change(number, |fault| {
                fault.count += 1;
                fault.away = None;
                fault.detail.clone_from(&detail);
            });
            if is_active {
                tracing::debug!(fault = self.name, "{detail}");
                self.quiet = self.quiet.max(quiet);
                return false;
            }
        }
        self.quiet = quiet;
        self.active = Some(self.ledger.begin(&self.name, detail, now));
        true
    }

    /// Reports that the fault is not present. It ends when it has stayed away long enough.
    pub fn clear(&mut self) {
        if self.active.is_some() {
            self.clear_at(Instant::now());
        }
    }

    /// Does the same as [`Self::clear`], at the time `now`.
    pub fn clear_at(&mut self, now: Instant) {
        let Some(number) = self.active else {
            return;
        };
        let (away, quiet) = (*self.away_since.get_or_insert(now), self.quiet);
        if now.saturating_duration_since(away) >= quiet {
            self.end(now);
        } else {
            self.ledger
                .change(number, |fault| fault.away = Some((away, quiet)));
        }
    }

    /// Whether the fault is present. A fault that comes and goes can be active while it is not present.
    pub fn is_present(&self) -> bool {
        self.active.is_some() && self.away_since.is_none()
    }

    /// Returns the number of occurrences since the fault began; 0 if it is not active.
    pub fn count(&self) -> u64 {
        let active = self.ledger.shared.active.lock();
        let mut faults = active.faults.iter();
        let fault = faults.find(|fault| Some(fault.number) == self.active);
        fault.map_or(0, |fault| fault.count)
    }

    /// Returns the fault as the ledger lists it; `None` if it is not active.
    pub fn status(&self, now: Instant) -> Option<FaultStatus> {
        let active = self.ledger.shared.active.lock();
        let mut faults = active.faults.iter();
        let fault = faults.find(|fault| Some(fault.number) == self.active)?;
        Some(fault.status(now))
    }

    fn end(&mut self, now: Instant) {
        if let Some(number) = self.active.take() {
            self.ledger.end(now, |fault| fault.number == number);
        }
    }
}

impl Drop for Fault {
    fn drop(&mut self) {
        self.end(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ledger, and the changes that it has passed on.
    fn ledger() -> (FaultLedger, Arc<Mutex<Vec<FaultChange>>>) {
        let changes: Arc<Mutex<Vec<FaultChange>>> = Arc::default();
        let seen = Arc::clone(&changes);
        (
            FaultLedger::new(move |change| seen.lock().push(change)),
            changes,
        )
    }

    #[test]
    fn the_ledger_lists_active_faults_and_passes_on_their_start_and_end() {
        let (ledger, changes) = ledger();
        let mut one = Fault::new("monitor", &ledger);
        let mut two = Fault::new("monitor", &ledger);
        assert!(one.raise(&"outputs[0]"));
        assert!(two.raise(&"outputs[1]") && !two.raise(&"outputs[1]: another"));
        let active = ledger.active(Instant::now());
        assert_eq!(active.iter().map(|f| f.count).collect::<Vec<_>>(), [1, 2]);
        one.clear();
        assert_eq!(
            ledger.active(Instant::now())[0].detail,
            "outputs[1]: another"
        );
        drop(two);
        assert_eq!(ledger.active(Instant::now()), []);
        let changes = changes.lock();
        assert_eq!(changes.len(), 4);
        assert!(matches!(&changes[3], FaultChange::Ended { count: 2, .. }));
    }

    #[test]
    fn a_fault_of_one_of_several_things_names_it() {
        let (ledger, _) = ledger();
        let mut fault = Fault::new("unplugged", &ledger.about("camera \"left\""));
        fault.raise(&"plug it in");
        let active = ledger.active(Instant::now());
        assert_eq!(active[0].detail, "camera \"left\": plug it in");
    }

    #[test]
    fn a_fault_without_a_settle_time_ends_whenever_it_is_cleared() {
        let (ledger, changes) = ledger();
        let mut fault = Fault::new("site_files", &ledger);
        for _ in 0..3 {
            assert!(fault.raise(&"a"));
            fault.clear();
        }
        assert_eq!(changes.lock().len(), 6);
    }

    /// A day at 60 Hz, with two lines of up to 300 bytes for each start.
    #[test]
    fn a_fault_that_comes_and_goes_with_every_frame_for_a_day_logs_less_than_a_megabyte() {
        let (ledger, changes) = ledger();
        let mut fault = Fault::new("camera_size", &ledger).settling(Duration::from_secs(5));
        let begun = Instant::now();
        for frame in 0..60 * 24 * 3600_u64 {
            let now = begun + Duration::from_secs_f64(frame as f64 / 60.0);
            if frame % 2 == 0 {
                fault.raise_at(&"a", now);
            } else {
                fault.clear_at(now);
            }
        }
        assert!(changes.lock().len() * 300 < 1_000_000);
        assert!(fault.count() > 1_000_000);
    }

    #[test]
    fn a_fault_that_returns_soon_is_one_fault_until_it_stays_away() {
        let (ledger, changes) = ledger();
        let begun = Instant::now();
        let at = |secs| begun + Duration::from_secs(secs);
        let mut fault = Fault::new("camera.black", &ledger).settling(Duration::from_secs(5));
        fault.raise_at(&"dark", at(0));
        fault.clear_at(at(10));
        assert_eq!(ledger.active(at(10)), [], "once is over at once");
        fault.raise_at(&"dark", at(30));
        fault.clear_at(at(31));
        assert!(!fault.is_present());
        assert_eq!(ledger.active(at(70))[0].away_secs, Some([39.0, 40.0]));
        // The ledger ends it without another call.
        assert_eq!(ledger.active(at(71)), []);
        assert!(fault.raise_at(&"dark", at(500)), "it did not return soon");
        fault.clear_at(at(501));
        assert_eq!(changes.lock().len(), 6);
    }

    #[test]
    fn a_fault_of_moments_lasts_until_it_stays_away() {
        let (ledger, _) = ledger();
        let begun = Instant::now();
        let at = |secs| begun + Duration::from_secs(secs);
        let mut fault = Fault::new("simulation_late", &ledger).lasting(Duration::from_secs(60));
        fault.raise_at(&"late", at(0));
        fault.clear_at(at(1));
        fault.raise_at(&"late", at(50));
        for secs in 51..111 {
            fault.clear_at(at(secs));
            assert_eq!(fault.count(), 2, "{secs}");
        }
        fault.clear_at(at(111));
        assert_eq!(ledger.active(at(111)), []);
    }
}
