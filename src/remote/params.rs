//! The table `[remote]` of the site file.

use std::net::{IpAddr, SocketAddr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Other machines that control the pool or follow it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RemoteParams {
    /// Show control by OSC (Open Sound Control 1.0 over UDP).
    pub osc: OscParams,
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
        for (path, text) in listen.chain(send_to) {
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
        for (index, text) in osc.from.iter().enumerate() {
            if text.parse::<IpAddr>().is_err() {
                let message = no_address(text, "without a port, such as 192.168.1.20");
                problems.push((format!("osc.from[{index}]"), message));
            }
        }
        problems
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
        let problems = RemoteParams { osc }.problems();
        let paths: Vec<_> = problems.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["osc.listen", "osc.send_to[1]", "osc.from[1]"]);
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
            let problems = RemoteParams { osc }.problems();
            assert_eq!(!problems.is_empty(), is_own, "{listen} {send_to}");
        }
    }
}
