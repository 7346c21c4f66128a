//! The table `[remote]` of the site file.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::events::EVENT_NAMES;
use super::mqtt::MqttParams;
use super::tracker::OscVisitors;
use super::web::WebAddress;

/// Other machines that control the pool or follow it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RemoteParams {
    /// Show control by OSC (Open Sound Control 1.0 over UDP).
    pub osc: OscParams,
    /// Show control by sACN (DMX over the network), for lighting desks.
    pub sacn: SacnParams,
    /// Projectors that are switched by PJLink over the network, with the opening hours.
    #[schemars(length(max = 16))]
    pub projectors: Vec<RemoteProjector>,
    /// State and events for home automation by MQTT, and commands from it.
    pub mqtt: MqttParams,
    /// Positions of the visitors for other programs by TUIO 1.1.
    pub tuio: PositionParams,
    /// Positions of the visitors for lighting, sound and media servers by PosiStageNet 2.
    pub psn: PositionParams,
    /// Positions of the visitors for other programs by Augmenta 3 over OSC.
    pub augmenta: PositionParams,
    /// How the messages of a tracker are read that is the source `osc:` of a camera.
    pub osc_visitors: OscVisitors,
    /// Web addresses that get what happens.
    #[schemars(length(max = 4))]
    pub webhooks: Vec<RemoteWebhook>,
}

/// A web address that gets what happens, as a POST with a JSON object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RemoteWebhook {
    /// The address, for example `http://192.168.1.30:8123/api/webhook/NAME`.
    #[schemars(extend("x-secret" = true))]
    pub url: String,
    /// Token that is sent as `Authorization: Bearer TOKEN`. If it is absent: none.
    #[schemars(extend("x-secret" = true))]
    pub token: Option<String>,
    /// Names of the events, for example `prey_caught`. If the list is empty: all.
    #[schemars(length(max = 16))]
    pub events: Vec<String>,
}

impl RemoteWebhook {
    pub(super) fn address(&self) -> WebAddress {
        WebAddress {
            url: self.url.clone(),
            token: self.token.clone(),
        }
    }

    /// Returns the problems of the table, each with the path of its value.
    fn problems(&self) -> Vec<(String, String)> {
        let address = self.address();
        let problems = address.problems().into_iter();
        let mut problems: Vec<_> = problems
            .map(|(key, message)| (key.to_owned(), message))
            .collect();
        if self.url.is_empty() {
            let message = "a webhook needs a web address, such as http://192.168.1.30:8123/api";
            problems.push(("url".to_owned(), message.to_owned()));
        }
        for (index, name) in self.events.iter().enumerate() {
            if !EVENT_NAMES.contains(&name.as_str()) {
                let shown: String = name.chars().filter(|c| !c.is_control()).take(60).collect();
                let known = EVENT_NAMES.join(", ");
                let message = format!("\"{shown}\" is no event; choose from {known}");
                problems.push((format!("events[{index}]"), message));
            }
        }
        problems
    }
}

/// A projector that is switched by PJLink over the network. When it is on, says `[schedule]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RemoteProjector {
    /// Name in the status and in messages, for example `left`.
    pub name: String,
    /// IP address, for example `192.168.1.40`. A port is necessary only if it is not 4352.
    pub address: String,
    /// Password of PJLink in the menu of the projector. If it is absent: none.
    #[schemars(extend("x-secret" = true))]
    pub password: Option<String>,
    /// Input that is chosen while the projector is on, as PJLink names it: `31` is the first digital one (HDMI). If it is absent, the
    /// input is left alone.
    pub input: Option<String>,
    /// Hardware address (MAC), for example `00:11:22:aa:bb:cc`, of a projector that has to be woken before it answers.
    pub wake: Option<String>,
}

/// Port of PJLink.
const PJLINK_PORT: u16 = 4352;

impl RemoteProjector {
    /// Returns the address with its port; `None` if it is not valid.
    pub(super) fn socket(&self) -> Option<SocketAddr> {
        let text = self.address.as_str();
        let ip = text.parse::<IpAddr>();
        let with_port = ip.map(|ip| SocketAddr::new(ip, PJLINK_PORT));
        with_port.ok().or_else(|| text.parse().ok())
    }

    /// Returns the hardware address; `None` if there is none.
    pub(super) fn hardware_address(&self) -> Option<[u8; 6]> {
        hardware_of(self.wake.as_deref()?)
    }

    /// Returns the problems of the table, each with the key of its value.
    fn problems(&self) -> Vec<(&'static str, String)> {
        let mut problems = Vec::new();
        if self.name.is_empty() || self.name.len() > 64 || self.name.chars().any(char::is_control) {
            let message = "a projector needs a name of 1 to 64 bytes, such as \"left\"";
            problems.push(("name", message.to_owned()));
        }
        if self.socket().is_none() {
            let message = no_address(&self.address, "such as 192.168.1.40");
            problems.push(("address", message));
        }
        let is_password = |text: &String| {
            (1..=32).contains(&text.len()) && text.chars().all(|c| c.is_ascii_graphic())
        };
        if !self.password.as_ref().is_none_or(is_password) {
            let message =
                "a password of PJLink has 1 to 32 letters, digits and signs, without spaces";
            problems.push(("password", message.to_owned()));
        }
        let is_input = |text: &String| {
            let [kind, number] = text.as_bytes() else {
                return false;
            };
            matches!(kind, b'1'..=b'6') && matches!(number, b'1'..=b'9' | b'A'..=b'Z')
        };
        if !self.input.as_ref().is_none_or(is_input) {
            let message = "an input has a digit from 1 to 6 for its kind and its number, for example \"31\" for the first HDMI";
            problems.push(("input", message.to_owned()));
        }
        if self.wake.is_some() && self.hardware_address().is_none() {
            let message = "a hardware address has six pairs of hexadecimal digits, for example \"00:11:22:aa:bb:cc\"";
            problems.push(("wake", message.to_owned()));
        }
        problems
    }
}

fn hardware_of(text: &str) -> Option<[u8; 6]> {
    let parts: Vec<_> = text.split([':', '-']).collect();
    let bytes: Option<Vec<u8>> = (parts.iter())
        .map(|part| (part.len() == 2).then(|| u8::from_str_radix(part, 16).ok())?)
        .collect();
    bytes?.try_into().ok()
}

/// Show control by OSC.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OscParams {
    /// Address and port on which commands are received, for example `0.0.0.0:8000` for all networks of this machine. If it is absent,
    /// none are received.
    pub listen: Option<String>,
    /// IP addresses of the machines whose commands are taken. If the list is empty: only those of this machine. OSC has no passwords.
    #[schemars(length(max = 64))]
    pub from: Vec<String>,
    /// Addresses with ports to which messages are sent: what is shown, what happens, and faults.
    #[schemars(length(max = 16))]
    pub send_to: Vec<String>,
}

/// Show control by sACN: three DMX channels, one behind the other, for the state, the scene and an event. The values 0 to 9 mean nothing, 10
/// to 19 the first entry, 20 to 29 the second one, and so on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SacnParams {
    /// Address and port on which data are received, for example `0.0.0.0:5568`, or the address of this machine in the network of the desk.
    /// If it is absent, none are received.
    pub listen: Option<String>,
    /// IP addresses of the desks whose data are taken. If the list is empty: only those of this machine. sACN has no passwords.
    #[schemars(length(max = 64))]
    pub from: Vec<String>,
    /// Universe of the fixture.
    #[schemars(range(min = 1, max = 63999))]
    pub universe: u16,
    /// First channel of the fixture.
    #[schemars(range(min = 1, max = 510))]
    pub channel: u16,
    /// Scenes of the second channel.
    #[schemars(length(max = 24))]
    pub scenes: Vec<String>,
    /// Events of the third channel.
    #[schemars(length(max = 24))]
    pub events: Vec<String>,
}

impl Default for SacnParams {
    fn default() -> Self {
        Self {
            listen: None,
            from: Vec::new(),
            universe: 1,
            channel: 1,
            scenes: Vec::new(),
            events: Vec::new(),
        }
    }
}

/// Machines that get the positions of the visitors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PositionParams {
    /// Addresses with ports to which the visitors are sent, for example `192.168.1.20:3333`, or `236.10.10.10:56565` for all receivers
    /// of PosiStageNet in the network.
    #[schemars(length(max = 16))]
    pub send_to: Vec<String>,
}

impl RemoteParams {
    /// Returns the problems of the table, each with the path of its value.
    pub fn problems(&self) -> Vec<(String, String)> {
        let mut problems = Vec::new();
        let osc = &self.osc;
        let with_port = "with a port, such as 192.168.1.20:8000";
        let listen = osc
            .listen
            .iter()
            .map(|text| ("osc.listen".to_owned(), text));
        let send_to = osc.send_to.iter().enumerate();
        let send_to = send_to.map(|(index, text)| (format!("osc.send_to[{index}]"), text));
        let sacn = self.sacn.listen.iter();
        let sacn = sacn.map(|text| ("sacn.listen".to_owned(), text));
        let positions = [
            ("tuio", &self.tuio),
            ("psn", &self.psn),
            ("augmenta", &self.augmenta),
        ];
        let positions = positions.into_iter().flat_map(|(way, params)| {
            let send_to = params.send_to.iter().enumerate();
            send_to.map(move |(index, text)| (format!("{way}.send_to[{index}]"), text))
        });
        for (path, text) in listen.chain(send_to).chain(sacn).chain(positions) {
            if text.parse::<SocketAddr>().is_err() {
                problems.push((path, no_address(text, with_port)));
            }
        }
        let own = osc
            .listen
            .as_deref()
            .and_then(|text| text.parse::<SocketAddr>().ok());
        let is_own = |to: &SocketAddr| {
            own.is_some_and(|own| {
                let is_here = to.ip().to_canonical().is_loopback() || to.ip().is_unspecified();
                let is_same = own.ip() == to.ip() || own.ip().is_unspecified() && is_here;
                is_same && own.port() == to.port()
            })
        };
        for (index, text) in osc.send_to.iter().enumerate() {
            if text.parse().is_ok_and(|to| is_own(&to)) {
                let message = format!(
                    "\"{text}\" is where Shoal itself receives commands; give the address of another program"
                );
                problems.push((format!("osc.send_to[{index}]"), message));
            }
        }
        for (way, from) in [("osc", &osc.from), ("sacn", &self.sacn.from)] {
            for (index, text) in from.iter().enumerate() {
                if text.parse::<IpAddr>().is_err() {
                    let message = no_address(text, "without a port, such as 192.168.1.20");
                    problems.push((format!("{way}.from[{index}]"), message));
                }
            }
        }
        let wrong = self.osc_visitors.problems().into_iter();
        problems.extend(wrong.map(|(key, message)| (format!("osc_visitors.{key}"), message)));
        let wrong = self.mqtt.problems().into_iter();
        problems.extend(wrong.map(|(key, message)| (format!("mqtt.{key}"), message)));
        let mut names = BTreeSet::new();
        for (index, projector) in self.projectors.iter().enumerate() {
            let at = |key: &str| format!("projectors[{index}].{key}");
            let wrong = projector.problems().into_iter();
            problems.extend(wrong.map(|(key, message)| (at(key), message)));
            if !names.insert(projector.name.as_str()) {
                problems.push((at("name"), "another projector has this name".to_owned()));
            }
        }
        for (index, webhook) in self.webhooks.iter().enumerate() {
            let wrong = webhook.problems().into_iter();
            problems
                .extend(wrong.map(|(key, message)| (format!("webhooks[{index}].{key}"), message)));
        }
        problems
    }

    /// Whether another machine gets what happens.
    pub fn has_outputs(&self) -> bool {
        !(self.osc.send_to.is_empty() && self.webhooks.is_empty() && self.mqtt.broker.is_empty())
    }
}

fn no_address(text: &str, form: &str) -> String {
    let shown: String = text.chars().filter(|c| !c.is_control()).take(60).collect();
    format!("\"{shown}\" is no IP address {form}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_that_is_no_address_is_a_problem() {
        let osc = OscParams {
            listen: Some("8000".into()),
            from: vec!["127.0.0.1".into(), "qlab.local".into()],
            send_to: vec!["[::1]:9000".into(), "192.168.1.20".into()],
        };
        let tuio = PositionParams {
            send_to: vec!["127.0.0.1:3333".into(), "127.0.0.1".into()],
        };
        let psn = PositionParams {
            send_to: vec!["236.10.10.10:56565".into(), "236.10.10.10".into()],
        };
        let problems = RemoteParams {
            osc,
            tuio,
            psn,
            ..RemoteParams::default()
        }
        .problems();
        let paths: Vec<_> = problems.iter().map(|(path, _)| path.as_str()).collect();
        let wrong = [
            "osc.listen",
            "osc.send_to[1]",
            "tuio.send_to[1]",
            "psn.send_to[1]",
            "osc.from[1]",
        ];
        assert_eq!(paths, wrong);
        assert!(RemoteParams::default().problems().is_empty());
    }

    /// A fixed bug: Shoal that sent to itself took its own messages for commands.
    #[test]
    fn shoal_does_not_send_to_itself() {
        for (listen, send_to, is_own) in [
            ("0.0.0.0:8000", "127.0.0.1:8000", true),
            ("[::]:8000", "[::1]:8000", true),
            ("192.168.1.5:8000", "192.168.1.5:8000", true),
            ("192.168.1.5:8000", "127.0.0.1:8000", false),
            ("0.0.0.0:8000", "127.0.0.1:8001", false),
            ("0.0.0.0:8000", "192.168.1.20:8000", false),
        ] {
            let osc = OscParams {
                listen: Some(listen.into()),
                from: vec![],
                send_to: vec![send_to.into()],
            };
            let problems = RemoteParams {
                osc,
                ..RemoteParams::default()
            }
            .problems();
            assert_eq!(!problems.is_empty(), is_own, "{listen} {send_to}");
        }
    }

    #[test]
    fn a_webhook_has_a_web_address_and_events_that_exist() {
        let webhook = |url: &str, events: &[&str]| RemoteParams {
            webhooks: vec![RemoteWebhook {
                url: url.into(),
                events: events.iter().map(|name| (*name).to_owned()).collect(),
                ..RemoteWebhook::default()
            }],
            ..RemoteParams::default()
        };
        let good = webhook("http://10.0.0.1/a", &["prey_caught", "fault_began"]);
        assert_eq!(good.problems(), []);
        assert!(good.has_outputs() && !RemoteParams::default().has_outputs());
        let bad = webhook("", &["prey_caught", "lunch"]).problems();
        let paths: Vec<_> = bad.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["webhooks[0].url", "webhooks[0].events[1]"]);
    }

    #[test]
    fn a_projector_has_a_name_an_address_and_what_pjlink_allows() {
        let good = RemoteProjector {
            name: "left".into(),
            address: "192.168.1.40".into(),
            password: Some("JBMIAProjectorLink".into()),
            input: Some("31".into()),
            wake: Some("00-11-22-aa-BB-cc".into()),
        };
        assert_eq!(good.problems(), []);
        assert_eq!(good.socket().unwrap().port(), 4352);
        assert_eq!(good.hardware_address().unwrap()[4], 0xbb);
        let bad = RemoteProjector {
            name: String::new(),
            address: "projector.local".into(),
            password: Some("two words".into()),
            input: Some("HDMI".into()),
            wake: Some("00:11:22:aa:bb".into()),
        };
        let keys: Vec<_> = bad.problems().into_iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["name", "address", "password", "input", "wake"]);
        let twice = RemoteParams {
            projectors: vec![good.clone(), good],
            ..RemoteParams::default()
        };
        assert_eq!(twice.problems()[0].0, "projectors[1].name");
    }
}
