//! The events of a running pool: numbered, typed, kept in a bounded ring.
//!
//! In: what happened, from every stage. Out: the events after a number. Must not: make a stage wait; a reader copies events
//! while it holds the lock, and at most [`EventLog::PAGE`] of them.

use std::collections::VecDeque;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use serde::{Deserialize, Serialize};

use super::request::{Reason, Source};
use super::schedule::ShowState;

/// One event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Number of the event, counted from 1 since the start of the program, without gaps.
    pub number: u64,
    /// Date and time in UTC, ISO 8601.
    pub time: String,
    /// Time since the start of the program, on a clock that never jumps.
    pub uptime_secs: f64,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// A place on the surface, from its middle, in meters with three decimals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FloorPlace {
    /// To the right of the picture.
    pub x_m: f64,
    /// Downwards in the picture.
    pub z_m: f64,
}

impl FloorPlace {
    /// Returns the place of a point.
    pub fn new(x_m: f32, z_m: f32) -> Self {
        let rounded = |value: f32| (f64::from(value) * 1000.0).round() / 1000.0;
        Self {
            x_m: rounded(x_m),
            z_m: rounded(z_m),
        }
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum EventKind {
    /// A fault begins.
    FaultBegan {
        /// Name of the fault.
        fault: String,
        /// Description: the problem, its place, and the remedy.
        detail: String,
    },
    /// A fault ends.
    FaultEnded {
        /// Name of the fault.
        fault: String,
        /// Duration of the fault.
        lasted_secs: f64,
        /// Number of occurrences since it began.
        count: u64,
    },
    /// A command was applied.
    CommandApplied {
        /// Number of applied commands since the start, with this one.
        revision: u64,
        /// The client that sent it.
        source: Source,
        /// Name of the command.
        command: String,
        /// What the command changed, in a line.
        summary: String,
    },
    /// A command was rejected.
    CommandRejected {
        /// The client that sent it.
        source: Source,
        /// Name of the command.
        command: String,
        /// What the command was about to change, in a line.
        summary: String,
        /// All reasons.
        problems: Vec<Reason>,
    },
    /// A step of the camera calibration.
    CalibrationStep {
        /// Whether a procedure is running.
        is_running: bool,
        /// Number of measured targets, or of finished patterns.
        taken: usize,
        /// Total number of targets, or of patterns.
        targets: usize,
        /// Message for the technician.
        sentence: String,
    },
    /// A visitor has been on the surface for a second, so the visit counts.
    VisitorArrived {
        /// Id of the visitor.
        id: u32,
    },
    /// A visitor who counts has been gone for ten seconds.
    VisitorLeft {
        /// Id of the visitor.
        id: u32,
        /// Time on the surface.
        stayed_secs: f64,
    },
    /// A visitor who counts begins to stand still.
    VisitorStands {
        /// Id of the visitor.
        id: u32,
        /// Place of the visitor.
        #[serde(flatten)]
        at: FloorPlace,
    },
    /// A visitor who counts begins to stamp on the spot, or to wave.
    VisitorStamps {
        /// Id of the visitor.
        id: u32,
        /// Place of the visitor.
        #[serde(flatten)]
        at: FloorPlace,
    },
    /// A fish begins to hunt.
    HuntBegan {
        /// Id of the fish.
        id: u32,
        /// Species of the fish.
        species: String,
        /// Place of the fish.
        #[serde(flatten)]
        at: FloorPlace,
    },
    /// A fish catches another one.
    PreyCaught {
        /// Id of the hunter.
        id: u32,
        /// Species of the hunter.
        species: String,
        /// Id of the prey.
        prey: u32,
        /// Species of the prey.
        prey_species: String,
        /// Place of the hunter.
        #[serde(flatten)]
        at: FloorPlace,
    },
    /// A fish leaps from one terrace to another, not downwards.
    FishLeapt {
        /// Id of the fish.
        id: u32,
        /// Species of the fish.
        species: String,
        /// Place of the fish.
        #[serde(flatten)]
        at: FloorPlace,
    },
    /// A rule of the director begins.
    RuleBegan {
        /// Name of the rule.
        rule: String,
    },
    /// A rule of the director ends. One that begins again at once does not end.
    RuleEnded {
        /// Name of the rule.
        rule: String,
        /// Time from its begin to its end.
        lasted_secs: f64,
    },
    /// A test of the ways to other machines.
    Test,
    /// Another scene is shown.
    SceneChanged {
        /// Name of the scene.
        scene: String,
    },
    /// The installation shows another state.
    ScheduleChanged {
        /// The state.
        state: ShowState,
        /// Scene that the plan shows; `None` if it names none.
        scene: Option<String>,
        /// Reason for the state.
        reason: String,
    },
    /// The minutes before a fault are written, for `shoal simulate --session`.
    IncidentKept {
        /// The folder.
        folder: String,
        /// Name of the fault, or `kept` for an operator's wish.
        cause: String,
    },
    /// A stage panicked and is restarted.
    StageRestarted {
        /// Name of the stage.
        stage: String,
    },
}

impl EventKind {
    /// Number of bytes of the texts that can be long.
    fn text_bytes(&self) -> usize {
        match self {
            Self::FaultBegan { detail, .. } => detail.len(),
            Self::CommandRejected { problems, .. } => {
                let texts = problems.iter().flat_map(|p| [&p.file, &p.path, &p.message]);
                texts.map(String::len).sum()
            }
            _ => 0,
        }
    }
}

/// Events after a number.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EventPage {
    /// The events, oldest first.
    pub events: Vec<Event>,
    /// Number of events after the requested number that are no longer kept.
    pub lost: u64,
    /// Number of the newest event. It can be beyond this page, so a client continues after the last event of `events`.
    pub newest: u64,
}

/// The newest events.
#[derive(Debug, Default)]
pub struct EventLog {
    kept: Mutex<Kept>,
    has_new: Condvar,
}

#[derive(Debug, Default)]
struct Kept {
    events: VecDeque<Event>,
    /// Number of the newest event; 0 before the first.
    newest: u64,
}

impl EventLog {
    /// Number of events that are kept. Fifty commands a second fill this in 80 s.
    pub const KEPT: usize = 4096;
    /// Largest number of events in one page. Limits the time for which a reader holds the lock.
    pub const PAGE: usize = 256;
    /// Largest number of bytes of long texts in one page, beside its first event. Limits what a reader keeps in memory.
    const PAGE_BYTES: usize = 256 << 10;

    /// Adds an event. `time` is the current date and time, `uptime_secs` the time since the start of the program.
    pub fn push(&self, kind: EventKind, time: String, uptime_secs: f64) {
        let mut kept = self.kept.lock();
        kept.newest += 1;
        let number = kept.newest;
        if kept.events.len() >= Self::KEPT {
            kept.events.pop_front();
        }
        kept.events.push_back(Event {
            number,
            time,
            uptime_secs,
            kind,
        });
        drop(kept);
        self.has_new.notify_all();
    }

    /// Returns the events after a number, oldest first, at most [`Self::PAGE`]. If there is none, waits at most `wait` for one.
    pub fn after(&self, number: u64, wait: Duration) -> EventPage {
        let mut kept = self.kept.lock();
        if kept.newest <= number && !wait.is_zero() {
            self.has_new
                .wait_while_for(&mut kept, |kept| kept.newest <= number, wait);
        }
        let oldest = kept.newest + 1 - kept.events.len() as u64;
        let first = (number.saturating_add(1)).max(oldest);
        let events = kept.events.iter().skip((first - oldest) as usize);
        let mut bytes = 0;
        let fits = |event: &&Event| {
            bytes += event.kind.text_bytes();
            event.number == first || bytes <= Self::PAGE_BYTES
        };
        EventPage {
            events: events.take(Self::PAGE).take_while(fits).cloned().collect(),
            lost: oldest.saturating_sub(number.saturating_add(1)),
            newest: kept.newest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(page: &EventPage) -> Vec<u64> {
        page.events.iter().map(|event| event.number).collect()
    }

    #[test]
    fn events_are_numbered_and_the_oldest_are_dropped() {
        let log = EventLog::default();
        assert_eq!(log.after(0, Duration::ZERO), EventPage::default());
        for id in 0..EventLog::KEPT as u32 + 10 {
            log.push(EventKind::VisitorArrived { id }, String::new(), 0.0);
        }
        let newest = EventLog::KEPT as u64 + 10;
        let page = log.after(newest - 2, Duration::ZERO);
        assert_eq!(numbers(&page), [newest - 1, newest]);
        assert_eq!(page.lost, 0);
        let page = log.after(3, Duration::ZERO);
        assert_eq!((page.events.len(), page.lost), (EventLog::PAGE, 7));
        assert_eq!(page.events[0].number, 11);
        for number in [newest, newest + 5, u64::MAX] {
            let page = log.after(number, Duration::ZERO);
            assert_eq!((page.events.len(), page.newest), (0, newest));
        }
    }

    /// A fixed bug: a client that sent wrong commands with long texts made pages of many megabytes.
    #[test]
    fn a_page_with_long_texts_is_bounded_and_every_event_comes() {
        let log = EventLog::default();
        for length in [10, 2 * EventLog::PAGE_BYTES, 100].repeat(20) {
            let kind = EventKind::FaultBegan {
                fault: String::new(),
                detail: "x".repeat(length),
            };
            log.push(kind, String::new(), 0.0);
        }
        let (mut last, mut pages) = (0, 0);
        while last < 60 {
            let page = log.after(last, Duration::ZERO);
            let bytes: usize = page.events.iter().map(|e| e.kind.text_bytes()).sum();
            assert!(bytes <= 3 * EventLog::PAGE_BYTES, "{bytes}");
            assert_eq!(page.events[0].number, last + 1);
            last = page.events.last().unwrap().number;
            pages += 1;
        }
        assert!((20..=60).contains(&pages), "{pages}");
    }

    #[test]
    fn events_are_written_as_flat_json() {
        let log = EventLog::default();
        let kind = EventKind::VisitorLeft {
            id: 4,
            stayed_secs: 2.5,
        };
        log.push(kind, "2026-01-01T00:00:00Z".into(), 1.0);
        let event = &log.after(0, Duration::ZERO).events[0];
        let text = serde_json::to_value(event).unwrap();
        assert_eq!(
            text,
            serde_json::json!({"number": 1, "time": "2026-01-01T00:00:00Z", "uptime_secs": 1.0,
                "event": "visitor_left", "id": 4, "stayed_secs": 2.5})
        );
        assert_eq!(&serde_json::from_value::<Event>(text).unwrap(), event);
    }
}
