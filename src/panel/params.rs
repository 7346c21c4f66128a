//! The table `[panel]` of the site file.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Port of the panel if the site does not name one.
pub const DEFAULT_PORT: u16 = 8017;

/// The operator's panel: a web page that this machine serves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PanelParams {
    /// Where the panel can be opened: `local` (only on this machine, http), `lan` (from every device in the local network,
    /// https), an address with a port such as `192.168.1.20:8017`, or `off`.
    pub listen: String,
    /// Whether the panel may be served without encryption to other machines, for example behind a proxy that encrypts. Everybody
    /// in the network can then read the passwords.
    pub allow_insecure: bool,
    /// PEM file with the certificate, relative to the site file. If it is absent, Shoal makes a certificate itself, and browsers
    /// show a warning.
    pub certificate: Option<String>,
    /// PEM file with the private key of the certificate, relative to the site file.
    pub key: Option<String>,
    /// Further names under which browsers reach this machine, for example `pool.museum.org`. IP addresses, the name of the
    /// machine and `localhost` are always accepted.
    pub names: Vec<String>,
    /// IP addresses of proxies in front of the panel, for example `["127.0.0.1"]`. Their headers `X-Forwarded-For` and
    /// `X-Forwarded-Proto` are believed, so that wrong passwords count for the client and not for the proxy.
    pub trusted_proxies: Vec<String>,
    /// Whether an administrator may set in the panel which programs Shoal runs (`camera.source = "command:…"`, `alerts.command`,
    /// `schedule.projectors.command`). If it is absent: only if no other machine can reach the panel, also not through a proxy. The site file and
    /// `shoal ctl` may always set them.
    pub may_name_programs: Option<bool>,
    /// Whether the panel is announced in the local network (DNS-SD), so that devices list it and reach it as `NAME.local`. Avahi
    /// does this (`avahi-daemon`, `avahi-utils`). A panel that only this machine can reach is never announced.
    pub announce: bool,
}

impl Default for PanelParams {
    fn default() -> Self {
        Self {
            listen: "local".to_owned(),
            allow_insecure: false,
            certificate: None,
            key: None,
            names: Vec::new(),
            trusted_proxies: Vec::new(),
            may_name_programs: None,
            announce: true,
        }
    }
}

/// Where the panel listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listen {
    /// Nowhere.
    Off,
    /// On this machine only.
    Local,
    /// On all networks of this machine.
    Lan,
    /// On one address.
    Address(SocketAddr),
}

impl Listen {
    /// Parses the value of `panel.listen`.
    ///
    /// # Errors
    /// When the text has none of the four forms.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text {
            "off" => Ok(Self::Off),
            "local" => Ok(Self::Local),
            "lan" => Ok(Self::Lan),
            _ => text.parse().map(Self::Address).map_err(|_| {
                let shown: String = text.chars().take(60).collect();
                format!(
                    "\"{shown}\" is no place to listen; allowed: local, lan, off, or an IP address with a port such as \
                     192.168.1.20:{DEFAULT_PORT}"
                )
            }),
        }
    }

    /// Returns the socket address; `None` if the panel is off.
    pub fn address(self) -> Option<SocketAddr> {
        match self {
            Self::Off => None,
            Self::Local => Some((Ipv4Addr::LOCALHOST, DEFAULT_PORT).into()),
            Self::Lan => Some((Ipv6Addr::UNSPECIFIED, DEFAULT_PORT).into()),
            Self::Address(address) => Some(address),
        }
    }

    /// Whether other machines can reach the panel.
    pub fn is_remote(self) -> bool {
        self.address().is_some_and(|a| !is_loopback(a.ip()))
    }
}

impl PanelParams {
    /// Whether an administrator may name programs in the panel.
    pub fn may_name_programs(&self) -> bool {
        let is_only_here = || {
            let listen = Listen::parse(&self.listen);
            let is_local = listen.is_ok_and(|at| at.address().is_some() && !at.is_remote());
            is_local && self.trusted_proxies.is_empty()
        };
        self.may_name_programs.unwrap_or_else(is_only_here)
    }

    /// Returns the problems of the table, each with the path of its value.
    pub fn problems(&self) -> Vec<(String, String)> {
        let mut problems = Vec::new();
        if let Err(message) = Listen::parse(&self.listen) {
            problems.push(("listen".to_owned(), message));
        }
        match (&self.certificate, &self.key) {
            (Some(_), None) => problems.push((
                "certificate".to_owned(),
                "the certificate has no private key; name its file in `key`".to_owned(),
            )),
            (None, Some(_)) => problems.push((
                "key".to_owned(),
                "the private key has no certificate; name its file in `certificate`".to_owned(),
            )),
            _ => {}
        }
        for (index, name) in self.names.iter().enumerate() {
            let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
            if name.is_empty() || name.len() > 253 || !name.chars().all(is_allowed) {
                let shown: String = name.chars().filter(|c| !c.is_control()).take(60).collect();
                let message = format!(
                    "\"{shown}\" is no host name; give it without http:// and without a port"
                );
                problems.push((format!("names[{index}]"), message));
            }
        }
        for (index, address) in self.trusted_proxies.iter().enumerate() {
            if address.parse::<IpAddr>().is_err() {
                let shown: String = address
                    .chars()
                    .filter(|c| !c.is_control())
                    .take(60)
                    .collect();
                let message = format!("\"{shown}\" is no IP address, such as 127.0.0.1 or fd00::9");
                problems.push((format!("trusted_proxies[{index}]"), message));
            }
        }
        problems
    }
}

/// Whether only this machine can reach the address.
pub(super) fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_four_forms_of_listen_are_read() {
        assert_eq!(Listen::parse("off"), Ok(Listen::Off));
        assert!(!Listen::parse("local").unwrap().is_remote());
        assert!(Listen::parse("lan").unwrap().is_remote());
        assert!(Listen::parse("0.0.0.0:80").unwrap().is_remote());
        assert!(!Listen::parse("127.0.0.1:80").unwrap().is_remote());
        assert!(!Listen::parse("[::1]:80").unwrap().is_remote());
        for text in [
            "",
            "LAN",
            "8017",
            "localhost:8017",
            "1.2.3.4",
            "1.2.3.4:99999",
        ] {
            let message = Listen::parse(text).unwrap_err();
            assert!(message.contains("local, lan, off"), "{message}");
        }
    }

    #[test]
    fn a_certificate_needs_its_key_and_names_are_host_names() {
        let params = PanelParams {
            certificate: Some("a.pem".into()),
            names: vec!["pool.museum.org".into(), "http://pool".into()],
            trusted_proxies: vec!["127.0.0.1".into(), "proxy".into()],
            ..PanelParams::default()
        };
        let problems = params.problems();
        let keys: Vec<&str> = problems.iter().map(|p| p.0.as_str()).collect();
        assert_eq!(keys, ["certificate", "names[1]", "trusted_proxies[1]"]);
        assert!(PanelParams::default().problems().is_empty());
    }
}
