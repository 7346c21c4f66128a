//! What the status says of other machines: show control, trackers, projectors that are switched over the network, and messages.
//!
//! Plain data that can be written as JSON. Must not: know how these machines are reached.

use std::fmt::Display;

use serde::{Deserialize, Serialize};

use crate::runtime::is_hidden;

/// Commands of one protocol from other machines. Numbers count from the start of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ShowControlStatus {
    /// Address on which commands are received; empty if none are.
    pub listen: String,
    /// Datagrams that were received.
    pub received: u64,
    /// Commands that were passed to the desk.
    pub commands: u64,
    /// Datagrams and messages that were refused.
    pub refused: u64,
    /// Datagrams that were sent.
    pub sent: u64,
    /// The machine that sent the last command.
    pub last_peer: String,
    /// Why something was refused or could not be sent the last time; empty if nothing was.
    pub last_problem: String,
}

impl ShowControlStatus {
    /// Counts a datagram or a command that was refused.
    pub fn refuse(&mut self, who: impl Display, problem: &str) {
        self.refused += 1;
        let text = format!("{who}: {problem}");
        self.last_problem = text.chars().filter(|c| !is_hidden(*c)).take(200).collect();
    }
}

/// A tracker outside of Shoal that reports visitors. Numbers count from the opening of the source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrackerStatus {
    /// Datagrams that were received.
    pub received: u64,
    /// Datagrams that were refused.
    pub refused: u64,
    /// Datagrams that came after a newer one. That is usual in a network, and no visitor is lost.
    pub late: u64,
    /// Accepted datagrams per second, measured over the last second.
    pub rate_hz: f64,
    /// The machine that sent the last visitors.
    pub last_peer: String,
    /// Why a datagram was refused the last time; empty if none was.
    pub last_problem: String,
}

/// A way of messages to people, or of events to another machine. Numbers count from the start of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeliveryStatus {
    /// Path in the site file, for example `alerts.mail`.
    pub way: String,
    /// Where the messages go, without anything secret: the name of a machine or of a program.
    pub target: String,
    /// Messages that were taken.
    pub delivered: u64,
    /// Attempts that failed.
    pub failed: u64,
    /// Messages that wait.
    pub waiting: usize,
    /// Messages that were given up.
    pub dropped: u64,
    /// Seconds since a message was taken the last time; `None` if none was.
    pub delivered_secs_ago: Option<u64>,
    /// Why the last attempt failed; empty if it did not.
    pub last_problem: String,
}

/// Power of a projector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProjectorPower {
    /// It has not said it.
    #[default]
    Unknown,
    /// In standby.
    Off,
    /// On.
    On,
    /// On its way to standby.
    Cooling,
    /// On its way to a picture.
    Warming,
}

/// A projector that is switched over the network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProjectorStatus {
    /// Name in the site.
    pub name: String,
    /// Address with port.
    pub address: String,
    /// Maker and model; empty until it has said them.
    pub model: String,
    /// Whether it is to be on.
    pub is_wanted_on: bool,
    /// Its power.
    pub power: ProjectorPower,
    /// Hours of its oldest lamp; `None` if it has none or has not said it.
    pub lamp_hours: Option<u32>,
    /// Its parts that report an error: `fan`, `lamp`, `temperature`, `cover`, `filter`, `other`.
    pub errors: Vec<String>,
    /// Its parts that report a warning.
    pub warnings: Vec<String>,
    /// Seconds since it answered the last time; `None` if it never did.
    pub answered_secs_ago: Option<u64>,
    /// Why the last call did not succeed; empty if it did.
    pub problem: String,
}
