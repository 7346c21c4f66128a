//! Topics and payloads. Pure functions of what the pool is and of what happens in it.

use serde_json::{Value, json};

use super::super::events::EVENT_NAMES;
use super::params::MqttParams;
use crate::control::{Event, HealthLevel, Status};

/// Payloads of the topic `availability`.
pub(super) const ONLINE: &str = "online";
pub(super) const OFFLINE: &str = "offline";
/// Longest command, in bytes.
pub(super) const COMMAND_MAX: usize = 256;

/// A message: topic, payload, and whether the broker keeps it for those who come later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) topic: String,
    pub(super) payload: String,
    pub(super) is_kept: bool,
}

/// Returns a topic of the pool.
pub(super) fn topic(params: &MqttParams, name: &str) -> String {
    format!("{}/{name}", params.topic)
}

/// Whether the pool is there.
pub(super) fn availability(params: &MqttParams, payload: &str) -> Message {
    Message {
        topic: topic(params, "availability"),
        payload: payload.to_owned(),
        is_kept: true,
    }
}

/// Returns the state of the pool.
pub(super) fn state(params: &MqttParams, status: &Status) -> Message {
    let level = match status.health.level {
        HealthLevel::Well => "well",
        HealthLevel::Attention => "attention",
        HealthLevel::Fault => "fault",
    };
    let payload = json!({
        "state": status.schedule.state.name(),
        "scene": status.scene,
        "paused": status.paused_secs.is_some(),
        "visitors": status.visitors.now,
        "visitors_today": status.visitors.today,
        "level": level,
        "sentence": status.sentence,
    });
    Message {
        topic: topic(params, "state"),
        payload: payload.to_string(),
        is_kept: true,
    }
}

/// Returns the message about an event; `None` if it is none for other machines.
pub(super) fn event(params: &MqttParams, event: &Event) -> Option<Message> {
    let value = serde_json::to_value(event).ok()?;
    let name = value.get("event").and_then(Value::as_str)?;
    let is_shared = EVENT_NAMES.contains(&name) || name == "test";
    is_shared.then(|| Message {
        topic: topic(params, &format!("event/{name}")),
        payload: value.to_string(),
        is_kept: false,
    })
}

/// Returns the answer to a command.
pub(super) fn reply(params: &MqttParams, command: &str, result: &str) -> Message {
    Message {
        topic: topic(params, "reply"),
        payload: json!({ "command": command, "result": result }).to_string(),
        is_kept: false,
    }
}

/// Returns the words of a command.
///
/// # Errors
/// When the payload is no text, or too long.
pub(super) fn words_of(payload: &[u8]) -> Result<Vec<String>, String> {
    if payload.len() > COMMAND_MAX {
        return Err(format!("a command of over {COMMAND_MAX} bytes"));
    }
    let text = std::str::from_utf8(payload).map_err(|_| "a command that is no text".to_owned())?;
    // Names can contain spaces: those of scenes and events are the rest of the text.
    let text = text.trim();
    Ok(match text.split_once(char::is_whitespace) {
        Some((verb @ ("scene" | "event" | "stop"), name)) => {
            vec![verb.to_owned(), name.trim().to_owned()]
        }
        _ => text.split_whitespace().map(str::to_owned).collect(),
    })
}

/// Returns what Home Assistant needs to show the pool as a device; nothing if it is not to.
pub(super) fn announcement(params: &MqttParams, scenes: &[String], version: &str) -> Vec<Message> {
    let Some(discovery) = &params.discovery else {
        return Vec::new();
    };
    let id = params.topic.replace('/', "_");
    let state = topic(params, "state");
    let entity = |component: &str, name: &str, title: &str, more: Value| {
        let mut config = json!({
            "name": title,
            "unique_id": format!("{id}_{name}"),
            "state_topic": state,
            "availability_topic": topic(params, "availability"),
            "device": {
                "identifiers": [format!("shoal_{id}")],
                "name": format!("Shoal {}", params.topic),
                "manufacturer": "Shoal",
                "model": "Pool",
                "sw_version": version,
            },
        });
        if let (Some(config), Value::Object(more)) = (config.as_object_mut(), more) {
            config.extend(more);
        }
        Message {
            topic: format!("{discovery}/{component}/{id}/{name}/config"),
            payload: config.to_string(),
            is_kept: true,
        }
    };
    let value = |name: &str| format!("{{{{ value_json.{name} }}}}");
    let mut messages = vec![
        entity(
            "sensor",
            "visitors",
            "Visitors",
            json!({
                "value_template": value("visitors"), "state_class": "measurement", "icon": "mdi:account-group",
            }),
        ),
        entity(
            "sensor",
            "visitors_today",
            "Visitors today",
            json!({
                "value_template": value("visitors_today"), "state_class": "total_increasing", "icon": "mdi:counter",
            }),
        ),
        entity(
            "sensor",
            "sentence",
            "State",
            json!({
                "value_template": "{{ value_json.sentence[:250] }}", "icon": "mdi:fish",
            }),
        ),
        entity(
            "binary_sensor",
            "fault",
            "Fault",
            json!({
                "value_template": "{{ 'ON' if value_json.level == 'fault' else 'OFF' }}", "device_class": "problem",
            }),
        ),
    ];
    if params.commands {
        let command = topic(params, "command");
        messages.push(entity("select", "scene", "Scene", json!({
            "value_template": value("scene"), "command_topic": command, "command_template": "scene {{ value }}",
            "options": scenes, "icon": "mdi:waves",
        })));
        messages.push(entity("switch", "dark", "Dark", json!({
            "value_template": "{{ 'ON' if value_json.state == 'dark' else 'OFF' }}", "command_topic": command,
            "payload_on": "dark", "payload_off": "plan", "state_on": "ON", "state_off": "OFF", "icon": "mdi:projector-off",
        })));
    }
    messages
}
