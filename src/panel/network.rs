//! The name and the address of this machine, and the service that the network may know.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// Longest name of a service in DNS-SD, in bytes.
const SERVICE_NAME_BYTES_MAX: usize = 63;

/// The panel as a service that is announced in the local network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnnouncedService {
    /// Name, for people.
    pub name: String,
    /// Type of the service.
    pub kind: &'static str,
    /// Port.
    pub port: u16,
}

impl AnnouncedService {
    pub(super) fn new(machine: Option<&str>, is_tls: bool, port: u16) -> Self {
        let machine = machine.and_then(|name| name.split('.').next());
        let name = machine.map_or_else(|| "Shoal".into(), |machine| format!("Shoal on {machine}"));
        Self {
            // The name of a machine is ASCII.
            name: name.chars().take(SERVICE_NAME_BYTES_MAX).collect(),
            kind: if is_tls { "_https._tcp" } else { "_http._tcp" },
            port,
        }
    }
}

/// Returns the name of this machine; `None` if it has none that could be part of an address.
pub(super) fn machine_name() -> Option<String> {
    let text = std::fs::read_to_string("/proc/sys/kernel/hostname")
        .or_else(|_| std::fs::read_to_string("/etc/hostname"))
        .ok()?;
    let name = text.trim();
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
    let is_name = !name.is_empty() && name.len() <= 63 && name.chars().all(is_allowed);
    is_name.then(|| name.to_owned())
}

/// Returns the addresses under which the other devices of the local network reach this machine, the best one first: of each
/// version of IP one. Empty without a network.
pub(super) fn network_addresses() -> Vec<IpAddr> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    // Addresses of the blocks for documentation, which exist nowhere.
    let version_4 = route_address(
        Ipv4Addr::UNSPECIFIED.into(),
        Ipv4Addr::new(192, 0, 2, 1).into(),
    )
    .or_else(|| local_address(&read("/proc/net/fib_trie")?));
    let outside = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
    let version_6 = route_address(Ipv6Addr::UNSPECIFIED.into(), outside.into())
        .or_else(|| local_address_6(&read("/proc/net/if_inet6")?));
    version_4.into_iter().chain(version_6).collect()
}

/// Returns the address that this machine would use towards an address outside. Nothing is sent.
fn route_address(own: IpAddr, outside: IpAddr) -> Option<IpAddr> {
    let socket = UdpSocket::bind((own, 0)).ok()?;
    let outside: SocketAddr = (outside, 9).into();
    socket.connect(outside).ok()?;
    let address = socket.local_addr().ok()?.ip();
    (!address.is_unspecified() && !address.is_loopback()).then_some(address)
}

/// Returns the first own IPv6 address in Linux' list of interfaces that other devices can use: neither the loopback nor one that
/// needs the name of an interface.
fn local_address_6(table: &str) -> Option<IpAddr> {
    let address = |line: &str| {
        let digits = line.split_whitespace().next()?;
        let address = Ipv6Addr::from(u128::from_str_radix(digits, 16).ok()?);
        let is_usable = !address.is_loopback() && !address.is_unicast_link_local();
        is_usable.then_some(address.into())
    };
    table.lines().find_map(address)
}

/// Returns the first own address in Linux' routing table that is not the loopback. For networks without a way to the internet.
fn local_address(table: &str) -> Option<IpAddr> {
    let mut last: Option<Ipv4Addr> = None;
    for line in table.lines() {
        let line = line.trim_start();
        if let Some(address) = line.strip_prefix("|-- ") {
            last = address.trim().parse().ok();
        } else if line.starts_with("/32 host LOCAL")
            && let Some(address) = last.filter(|address| !address.is_loopback())
        {
            return Some(address.into());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_service_has_the_name_of_the_machine_and_fits() {
        let service = AnnouncedService::new(Some("hall.museum.example"), true, 8017);
        assert_eq!(service.name, "Shoal on hall");
        assert_eq!((service.kind, service.port), ("_https._tcp", 8017));
        let service = AnnouncedService::new(None, false, 80);
        assert_eq!(
            (service.name.as_str(), service.kind),
            ("Shoal", "_http._tcp")
        );
        let long = AnnouncedService::new(Some(&"x".repeat(63)), true, 1);
        assert_eq!(long.name.len(), SERVICE_NAME_BYTES_MAX);
    }

    #[test]
    fn the_own_address_is_found_in_the_routing_table() {
        let table = "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 127.0.0.1\n        /32 host LOCAL\n     |-- 192.168.7.0\n        \
                     /24 link UNICAST\n        |-- 192.168.7.20\n           /32 host LOCAL\n";
        assert_eq!(local_address(table), Some(IpAddr::from([192, 168, 7, 20])));
        assert_eq!(local_address(""), None);
        let interfaces = "00000000000000000000000000000001 01 80 10 80       lo\n\
                          fe800000000000000000000000000001 02 40 20 80     eth0\n\
                          fd000000000000000000000000000009 02 40 00 80     eth0\n";
        assert_eq!(local_address_6(interfaces), "fd00::9".parse().ok());
        assert_eq!(local_address_6("x\n\n"), None);
    }
}
