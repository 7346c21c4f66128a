//! Names of this machine in addresses.

use std::net::IpAddr;

/// The names under which this machine may be addressed. A web page of another name that leads to this machine (DNS rebinding)
/// gets nothing. Addresses in numbers cannot be names of others, so all of them are accepted.
#[derive(Clone, Debug)]
pub(crate) struct HostNames(Vec<String>);

impl HostNames {
    /// Returns the names of this machine and those of the site.
    pub(crate) fn new(machine: Option<&str>, names: &[String]) -> Self {
        let mut all = vec!["localhost".to_owned()];
        if let Some(machine) = machine {
            all.push(machine.to_ascii_lowercase());
            all.push(format!("{}.local", machine.to_ascii_lowercase()));
        }
        all.extend(names.iter().map(|name| name.to_ascii_lowercase()));
        Self(all)
    }

    /// Whether a host, with or without a port, is this machine.
    pub(crate) fn is_own(&self, host: &str) -> bool {
        let (name, port) = match host.strip_prefix('[') {
            Some(rest) => match rest.split_once(']') {
                Some((address, port)) => (address, port),
                None => return false,
            },
            None => host.split_at(host.find(':').unwrap_or(host.len())),
        };
        let is_port = |port: &str| port.bytes().all(|b| b.is_ascii_digit()) && port.len() <= 5;
        if !port.is_empty() && !port.strip_prefix(':').is_some_and(is_port) {
            return false;
        }
        let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
        name.parse::<IpAddr>().is_ok() || self.0.contains(&name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_names_and_addresses_in_numbers_are_hosts() {
        let hosts = HostNames::new(Some("Pool"), &["pool.museum.org".to_owned()]);
        for own in [
            "localhost",
            "localhost:8017",
            "127.0.0.1:8017",
            "192.168.1.9",
            "[::1]:8017",
            "[fe80::1]",
            "pool:8017",
            "POOL.local",
            "pool.museum.org.",
        ] {
            assert!(hosts.is_own(own), "{own}");
        }
        for other in [
            "",
            ":8017",
            "evil.example",
            "evil.example:8017",
            "localhost.evil.example",
            "pool.museum.org.evil.example",
            "localhost:80:90",
            "localhost:x",
            "[::1",
            "[::1]8017",
            "127.0.0.1.evil.example",
            "user@localhost",
        ] {
            assert!(!hosts.is_own(other), "{other}");
        }
    }
}
