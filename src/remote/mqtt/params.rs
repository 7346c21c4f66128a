//! The table `[remote.mqtt]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ureq::http::Uri;

/// Longest topic, in bytes.
const TOPIC_MAX: usize = 64;
/// Longest user name or password, in bytes.
const SECRET_MAX: usize = 1024;

/// A broker of MQTT that gets state and events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MqttParams {
    /// The broker, for example `mqtt://192.168.1.30` or, with TLS, `mqtts://broker.museum.example`. A port is necessary only if it is
    /// not 1883 or 8883. Empty: none.
    pub broker: String,
    /// User at the broker. If it is absent: none.
    pub user: Option<String>,
    /// Password at the broker. If it is absent: none.
    #[schemars(extend("x-secret" = true))]
    pub password: Option<String>,
    /// Start of all topics. Each pool needs one of its own.
    pub topic: String,
    /// Take commands of the broker. Whoever may write there can then do what an operator may.
    pub commands: bool,
    /// Topic under which Home Assistant looks for devices; usually `homeassistant`. If it is absent: the pool does not announce itself.
    pub discovery: Option<String>,
}

impl Default for MqttParams {
    fn default() -> Self {
        Self {
            broker: String::new(),
            user: None,
            password: None,
            topic: "shoal".to_owned(),
            commands: false,
            discovery: None,
        }
    }
}

/// Where the broker is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BrokerAddress {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) is_secret: bool,
}

impl MqttParams {
    /// Returns where the broker is; `None` if there is none, or the text is no address.
    pub(super) fn address(&self) -> Option<BrokerAddress> {
        let uri: Uri = self.broker.parse().ok()?;
        let is_secret = match uri.scheme_str()? {
            "mqtt" => false,
            "mqtts" => true,
            _ => return None,
        };
        let host = uri.host().filter(|host| !host.is_empty())?;
        let is_plain = uri.path().trim_matches('/').is_empty() && uri.query().is_none();
        let has_login = uri.authority()?.as_str().contains('@');
        (is_plain && !has_login).then(|| BrokerAddress {
            host: host.trim_matches(['[', ']']).to_owned(),
            port: uri
                .port_u16()
                .unwrap_or(if is_secret { 8883 } else { 1883 }),
            is_secret,
        })
    }

    /// Returns the problems of the table, each with the key of its value.
    pub(in super::super) fn problems(&self) -> Vec<(&'static str, String)> {
        let mut problems = Vec::new();
        if !self.broker.is_empty() && self.address().is_none() {
            let message = "a broker is mqtt:// or mqtts:// and the name of a machine, such as mqtt://192.168.1.30; user and password have keys of their own";
            problems.push(("broker", message.to_owned()));
        }
        let is_secret = |text: &Option<String>| {
            let text = text.as_deref().unwrap_or("x");
            (1..=SECRET_MAX).contains(&text.len()) && !text.chars().any(char::is_control)
        };
        for (key, text) in [("user", &self.user), ("password", &self.password)] {
            if !is_secret(text) {
                let message = format!("it has 1 to {SECRET_MAX} bytes, without control characters");
                problems.push((key, message));
            }
        }
        if self.password.is_some() && self.user.is_none() {
            problems.push(("password", "a password needs a user".to_owned()));
        }
        let discovery = self.discovery.iter().map(|topic| ("discovery", topic));
        for (key, topic) in std::iter::once(("topic", &self.topic)).chain(discovery) {
            if !is_topic(topic) {
                let message = format!(
                    "a topic has 1 to {TOPIC_MAX} letters, digits, `_` and `-`, with `/` between its parts, such as museum/pool"
                );
                problems.push((key, message));
            }
        }
        problems
    }
}

fn is_topic(text: &str) -> bool {
    let is_part = |part: &str| {
        let is_sign = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
        !part.is_empty() && part.chars().all(is_sign)
    };
    text.len() <= TOPIC_MAX && text.split('/').all(is_part)
}
