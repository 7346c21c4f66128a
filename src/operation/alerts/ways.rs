//! The ways of the messages: a program, a web address, a mail server. Each has its own queue and its own pauses, so one that fails does
//! not hold up another.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::keeper::{Alert, AlertKind};
use super::params::AlertParams;
use crate::control::{DeliveryStatus, Journal};
use crate::operation::retries::Retries;
use crate::operation::site_program::run;
use crate::runtime::now_iso;

/// Number of attempts to deliver a message. With the pauses between them they take two hours and a half.
const ATTEMPTS_MAX: u32 = 10;
/// Longest pause after a failure.
const PAUSE_MAX: Duration = Duration::from_secs(1800);
/// Largest number of messages that wait. Older ones are dropped.
const WAITING_MAX: usize = 64;

/// Kind of a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WayKind {
    Program,
    Web,
    Mail,
}

impl WayKind {
    /// Returns the path in the site file.
    fn key(self) -> &'static str {
        match self {
            Self::Program => "alerts.command",
            Self::Web => "alerts.webhook",
            Self::Mail => "alerts.mail",
        }
    }
}

/// A way of the messages.
pub(super) struct Way {
    kind: WayKind,
    retries: Retries,
    /// Messages that are not delivered yet, each with the number of failed attempts.
    waiting: VecDeque<(Alert, u32)>,
    status: DeliveryStatus,
    delivered: Option<Instant>,
}

/// A message with the installation that it is from.
#[derive(Serialize)]
struct Message<'a> {
    #[serde(flatten)]
    alert: &'a Alert,
    site: &'a str,
    time: String,
}

impl Way {
    /// Returns all ways.
    pub(super) fn all(journal: &Journal) -> Vec<Self> {
        let kinds = [WayKind::Program, WayKind::Web, WayKind::Mail];
        let way = |kind: WayKind| Self {
            kind,
            retries: Retries::new(kind.key(), journal.fault("alerts"), PAUSE_MAX),
            waiting: VecDeque::new(),
            status: DeliveryStatus {
                way: kind.key().to_owned(),
                ..DeliveryStatus::default()
            },
            delivered: None,
        };
        kinds.map(way).into()
    }

    /// Returns where the messages go, without anything secret; empty if the site does not use this way.
    fn target(&self, params: &AlertParams) -> String {
        match self.kind {
            WayKind::Program => {
                let words = params.command.split_whitespace();
                words.take(1).collect()
            }
            WayKind::Web => params.webhook.machine(),
            WayKind::Mail => params.mail.server.clone(),
        }
    }

    /// Takes the table of the site. A way that the site does not use forgets everything.
    pub(super) fn follow(&mut self, params: &AlertParams) {
        self.status.target = self.target(params);
        if !self.is_used() {
            self.waiting.clear();
            self.retries.forget();
        }
    }

    /// Whether the site uses this way.
    pub(super) fn is_used(&self) -> bool {
        !self.status.target.is_empty()
    }

    /// Adds messages to the queue.
    pub(super) fn add(&mut self, alerts: &[Alert]) {
        let new = alerts.iter().map(|alert| (alert.clone(), 0));
        self.waiting.extend(new);
        while self.waiting.len() > WAITING_MAX {
            self.waiting.pop_front();
            self.status.dropped += 1;
        }
    }

    /// Delivers the waiting messages until one fails.
    pub(super) fn deliver(&mut self, params: &AlertParams, site: &str, now: Instant) {
        if !self.retries.is_due(now) {
            return;
        }
        while let Some((alert, attempts)) = self.waiting.pop_front() {
            if self.send(params, &alert, site, now).is_ok() {
                let key = self.kind.key();
                tracing::info!("{key} took a message: {} {:?}", alert.fault, alert.kind);
                continue;
            }
            if attempts + 1 < ATTEMPTS_MAX {
                self.waiting.push_front((alert, attempts + 1));
            } else {
                let (fault, key) = (&alert.fault, self.kind.key());
                self.status.dropped += 1;
                tracing::error!(
                    "{key}: a message is dropped after {ATTEMPTS_MAX} attempts: {fault}"
                );
            }
            return;
        }
    }

    /// Sends one message.
    ///
    /// # Errors
    /// When it was not taken, the reason.
    pub(super) fn send(
        &mut self,
        params: &AlertParams,
        alert: &Alert,
        site: &str,
        now: Instant,
    ) -> Result<(), String> {
        let message = Message {
            alert,
            site,
            time: now_iso(),
        };
        let json = serde_json::to_string(&message).unwrap_or_default();
        let sent = match self.kind {
            WayKind::Program => run(&params.command, None, &json),
            WayKind::Web => params.webhook.post(&json),
            WayKind::Mail => {
                let (subject, text) = mail_of(&message);
                params.mail.send(&subject, &text)
            }
        };
        let sent = self.retries.take(sent, now);
        match &sent {
            Ok(()) => {
                self.status.delivered += 1;
                self.status.last_problem.clear();
                self.delivered = Some(now);
            }
            Err(reason) => {
                self.status.failed += 1;
                self.status.last_problem.clone_from(reason);
            }
        }
        sent
    }

    /// Returns the status; `None` if the site does not use this way.
    pub(super) fn status(&self, now: Instant) -> Option<DeliveryStatus> {
        let delivered = self.delivered;
        let ago = delivered.map(|delivered| now.saturating_duration_since(delivered).as_secs());
        (!self.status.target.is_empty()).then(|| DeliveryStatus {
            waiting: self.waiting.len(),
            delivered_secs_ago: ago,
            ..self.status.clone()
        })
    }

    /// Returns the number of messages that wait.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }
}

/// Returns the subject and the text of the mail with a message.
fn mail_of(message: &Message<'_>) -> (String, String) {
    let Message { alert, site, time } = message;
    let what = match alert.kind {
        AlertKind::Fault => format!("fault {}", alert.fault),
        AlertKind::Recovered => format!("over: {}", alert.fault),
        AlertKind::Test => "test".to_owned(),
        AlertKind::Report => "report of the day".to_owned(),
    };
    let mut text = format!("{}\n\n", alert.detail);
    if !alert.since.is_empty() {
        text += &format!("Since {}, for {} s.\n", alert.since, alert.lasted_secs);
    }
    text += &format!("Sent at {time} by Shoal, {site}.\n");
    (format!("Shoal: {what}"), text)
}
