//! The table `[alerts]` of the site file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::operation::minutes_of_day;

/// Messages about faults, and about their ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AlertParams {
    /// Program that delivers a message, for example by mail or to a web address. It gets the message as one JSON object on standard
    /// input. Empty: no messages.
    pub command: String,
    /// Duration from which a fault is reported. A shorter one is only in the log.
    #[schemars(range(min = 0, max = 86400))]
    pub after_secs: u32,
    /// Duration without the fault from which its end is reported, so that a fault that comes and goes is one message.
    #[schemars(range(min = 0, max = 86400))]
    pub recovered_after_secs: u32,
    /// Names of faults that are not reported, for example `unreliable_area`. A name also stands for all faults that begin with it and
    /// a point: `camera` for `camera.black`.
    pub ignore: Vec<String>,
    /// Time of the day in which messages wait.
    pub quiet: QuietHours,
}

impl Default for AlertParams {
    fn default() -> Self {
        Self {
            command: String::new(),
            after_secs: 60,
            recovered_after_secs: 60,
            ignore: Vec::new(),
            quiet: QuietHours::default(),
        }
    }
}

/// Time of the day in which messages wait. What still lasts at its end is reported then.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct QuietHours {
    /// Begin, for example `20:00`. Empty: messages never wait.
    pub from: String,
    /// End, for example `07:00`. An end before the begin is on the next day.
    pub to: String,
}

impl AlertParams {
    /// Returns all problems, as pairs of path and message.
    pub fn problems(&self) -> Vec<(String, String)> {
        let QuietHours { from, to } = &self.quiet;
        if from.is_empty() && to.is_empty() {
            return Vec::new();
        }
        let times = [("quiet.from", from), ("quiet.to", to)];
        let wrong = times.iter().filter_map(|(path, text)| {
            let message = minutes_of_day(text).err()?;
            Some(((*path).to_owned(), message))
        });
        wrong.collect()
    }
}

impl QuietHours {
    /// Whether messages wait at this time of the day, in minutes since midnight.
    pub fn contains(&self, minutes: u16) -> bool {
        let (Ok(from), Ok(to)) = (minutes_of_day(&self.from), minutes_of_day(&self.to)) else {
            return false;
        };
        match from <= to {
            true => (from..to).contains(&minutes),
            false => minutes >= from || minutes < to,
        }
    }
}
