//! State and events by MQTT 5, for home automation and Node-RED, and commands from it. **Source**: OASIS 2019, "MQTT Version 5.0"; the
//! announcement is that of Home Assistant ("MQTT Discovery").

mod endpoint;
mod messages;
mod params;
#[cfg(test)]
mod tests;

pub use endpoint::MqttEndpoint;
pub use params::MqttParams;
