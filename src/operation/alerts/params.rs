//! The table `[alerts]` of the site file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::operation::minutes_of_day;
use crate::remote::{MailParams, WebAddress};

/// Messages about faults, and about their ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AlertParams {
    /// Program that delivers a message in another way than `webhook` and `mail`. It gets the message as one JSON object on standard
    /// input. Empty: none.
    pub command: String,
    /// Web address that gets each message as a POST with one JSON object.
    pub webhook: WebAddress,
    /// Mail server that gets each message as a mail.
    pub mail: MailParams,
    /// Time of the day at which a report is sent, for example `18:30`: whether all is well, the visitors of the day, and the faults since
    /// the last report. Empty: none.
    pub report_at: String,
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
            webhook: WebAddress::default(),
            mail: MailParams::default(),
            report_at: String::new(),
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
    /// End, for example `07:00`. An end before the start is on the next day.
    pub to: String,
}

impl AlertParams {
    /// Returns all problems, as pairs of path and message.
    pub fn problems(&self) -> Vec<(String, String)> {
        let QuietHours { from, to } = &self.quiet;
        let has_quiet = !(from.is_empty() && to.is_empty());
        let times = [
            ("quiet.from", from, has_quiet),
            ("quiet.to", to, has_quiet),
            ("report_at", &self.report_at, !self.report_at.is_empty()),
        ];
        let wrong = times.iter().filter_map(|(path, text, is_used)| {
            let message = minutes_of_day(text).err().filter(|_| *is_used)?;
            Some(((*path).to_owned(), message))
        });
        let within = |table: &'static str| {
            move |(key, message): (&'static str, String)| (format!("{table}.{key}"), message)
        };
        let webhook = self.webhook.problems().into_iter().map(within("webhook"));
        let mail = self.mail.problems().into_iter().map(within("mail"));
        wrong.chain(webhook).chain(mail).collect()
    }

    /// Whether there is a way for messages.
    pub(super) fn has_way(&self) -> bool {
        let ways = [&self.command, &self.webhook.url, &self.mail.server];
        ways.iter().any(|way| !way.is_empty())
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
