//! What is set by hand, over a restart: a state of the show, a pause, a rehearsal.
//!
//! In: the file's text at the start, what is set by hand now. Out: the new text, a fault while the disk refuses it. Must not: ask a clock.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::keeper::ByHand;
use crate::control::{HandEnd, Journal, ShowState};
use crate::operation::hold::Hold;
use crate::runtime::Fault;

/// Time after which a file that the disk refused is written again.
const KEEP_AGAIN: Duration = Duration::from_secs(5);

/// The file with what was set by hand.
pub struct ShowFile {
    /// Its text when the program started; `None` if there was none.
    pub text: Option<String>,
    /// Replaces its text, or says why that is impossible.
    pub write: WriteText,
}

/// Replaces the text of a file.
type WriteText = Box<dyn Fn(&str) -> Result<(), String> + Send>;

/// What was set by hand, as it is kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct KeptShow {
    state: Option<(ShowState, KeptHold)>,
    /// States that apply again after `state`, the next one last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    before: Vec<(ShowState, KeptHold)>,
    pause: Option<KeptHold>,
    rehearsal: Option<(PathBuf, KeptHold)>,
}

/// What is set by hand.
#[derive(Default)]
pub(super) struct HandSettings {
    /// The states, the one that applies last.
    pub(super) states: Vec<ByHand>,
    pub(super) pause: Option<Hold>,
    pub(super) rehearsal: Option<(PathBuf, Hold)>,
}

/// An end, as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct KeptHold {
    ends: HandEnd,
    until: Option<Timestamp>,
    #[serde(default)]
    begun: Option<Timestamp>,
}

impl KeptHold {
    fn of(hold: &Hold) -> Self {
        Self {
            ends: hold.ends(),
            until: hold.until(),
            begun: hold.begin(),
        }
    }

    fn hold(&self) -> Hold {
        Hold::continued(self.ends, self.begun, self.until)
    }
}

/// Writes what is set by hand whenever it has changed.
pub(super) struct HandFile {
    file: Option<ShowFile>,
    /// What is on the disk.
    kept: KeptShow,
    unkept: Fault,
    /// Time from which the disk is tried again.
    again: Option<Instant>,
}

impl HandFile {
    /// Reads what an earlier run of the program set.
    pub(super) fn new(file: Option<ShowFile>, journal: &Journal) -> Self {
        let text = file.as_ref().and_then(|file| file.text.as_deref());
        let kept = text.map_or_else(KeptShow::default, |text| {
            serde_json::from_str(text).unwrap_or_else(|error| {
                tracing::warn!("what was set by hand before the restart is not known: {error}");
                KeptShow::default()
            })
        });
        Self {
            file,
            kept,
            unkept: journal.fault("site_unsaved"),
            again: None,
        }
    }

    /// Returns what the file says.
    pub(super) fn settings(&self) -> HandSettings {
        let KeptShow {
            state,
            before,
            pause,
            rehearsal,
        } = &self.kept;
        let by_hand = |(state, hold): &(ShowState, KeptHold)| ByHand {
            state: *state,
            hold: hold.hold(),
        };
        let rehearsal = rehearsal.as_ref().filter(|(path, _)| path.is_file());
        HandSettings {
            states: before.iter().chain(state).map(by_hand).collect(),
            pause: pause.as_ref().map(KeptHold::hold),
            rehearsal: rehearsal.map(|(path, hold)| (path.clone(), hold.hold())),
        }
    }

    /// Writes what is set by hand to the disk if it has changed. While the disk refuses, it is a fault, and is tried again.
    /// Returns whether a restart keeps it.
    pub(super) fn keep(&mut self, settings: HandSettings, now: Instant) -> bool {
        let HandSettings {
            states,
            pause,
            rehearsal,
        } = settings;
        let mut before: Vec<_> = (states.iter())
            .map(|by_hand| (by_hand.state, KeptHold::of(&by_hand.hold)))
            .collect();
        let wanted = KeptShow {
            state: before.pop(),
            before,
            pause: pause.as_ref().map(KeptHold::of),
            rehearsal: rehearsal.map(|(path, hold)| (path, KeptHold::of(&hold))),
        };
        let Some(file) = &self.file else {
            return wanted == KeptShow::default();
        };
        if self.kept == wanted || self.again.is_some_and(|again| now < again) {
            return self.kept == wanted;
        }
        let written = serde_json::to_string(&wanted).map_err(|error| error.to_string());
        match written.and_then(|text| (file.write)(&text)) {
            Ok(()) => {
                self.kept = wanted;
                self.again = None;
                self.unkept.clear();
                true
            }
            Err(reason) => {
                self.again = Some(now + KEEP_AGAIN);
                self.unkept
                    .raise(&format!("what was set by hand is not saved: {reason}"));
                false
            }
        }
    }
}
