//! Other machines: show control, home automation, lighting and sound desks, trackers, projectors.
//!
//! In: datagrams and answers of configured machines, the status and the events of the pool. Out: everyday commands to the desk
//! ([`crate::control::Command::from_words`]), and messages; orders to projectors. Every input is hostile: its size, rate and nesting are limited before it is
//! decoded. Must not: make a stage wait, let a machine do more than an operator may.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::control::{DeliveryStatus, ProjectorStatus, ShowControlStatus};

mod commands;
mod datagram;
mod events;
mod mail;
mod mqtt;
#[cfg(test)]
mod mutations;
mod osc;
mod params;
mod pjlink;
mod positions;
mod sacn;
mod tracker;
mod web;
mod webhook;

pub use mail::{MailParams, MailSecurity};
pub use mqtt::{MqttEndpoint, MqttParams};
pub use osc::OscEndpoint;
pub use params::{
    OscParams, PositionParams, RemoteParams, RemoteProjector, RemoteWebhook, SacnParams,
};
pub use pjlink::ProjectorEndpoint;
pub use positions::PositionSender;
pub use sacn::SacnEndpoint;
pub use tracker::{OscUnit, OscVisitors, TrackReceiver, TrackerProtocol};
pub use web::WebAddress;
pub use webhook::WebhookEndpoint;

/// What is known of other machines. Copies share it.
#[derive(Clone, Debug, Default)]
pub struct RemoteStatus {
    /// Show control by OSC.
    pub osc: Arc<Mutex<ShowControlStatus>>,
    /// Show control by sACN.
    pub sacn: Arc<Mutex<ShowControlStatus>>,
    /// The projectors, in the order of the site.
    pub projectors: Arc<Mutex<Vec<ProjectorStatus>>>,
    /// What is sent by MQTT; `None` if there is no broker.
    pub mqtt: Arc<Mutex<Option<DeliveryStatus>>>,
    /// The positions of the visitors, one for each protocol that is used.
    pub positions: Arc<Mutex<Vec<DeliveryStatus>>>,
    /// The web addresses that get what happens, in the order of the site.
    pub webhooks: Arc<Mutex<Vec<DeliveryStatus>>>,
}
