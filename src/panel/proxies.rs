//! Proxies in front of the panel that are trusted to name their clients.

use std::net::{IpAddr, SocketAddr};

use axum::http::HeaderMap;

/// The addresses of the trusted proxies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Proxies(Vec<IpAddr>);

impl Proxies {
    /// Returns the proxies of the site. A text that is no address is left out; the check of the site reports it.
    pub(crate) fn new(addresses: &[String]) -> Self {
        let addresses = addresses.iter().filter_map(|text| text.parse().ok());
        Self(
            addresses
                .map(|address: IpAddr| address.to_canonical())
                .collect(),
        )
    }

    /// Whether this is the address of a trusted proxy.
    pub(crate) fn has(&self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }

    /// Returns the address of the client of a request, and whether a proxy says that its connection is encrypted. `peer` is the
    /// other end of the connection. Only what a trusted proxy says counts: of the addresses that it names the last one that is no
    /// trusted proxy itself, because a client can send the ones before it.
    pub(crate) fn client_of(&self, peer: IpAddr, headers: &HeaderMap) -> (IpAddr, bool) {
        if !self.has(peer) {
            return (peer, false);
        }
        let values = |name: &str| -> Vec<&str> {
            let lines = headers.get_all(name).iter();
            let texts = lines.filter_map(|value| value.to_str().ok());
            texts
                .flat_map(|line| line.split(','))
                .map(str::trim)
                .collect()
        };
        let named = values("x-forwarded-for").into_iter().rev();
        let address = named
            .map(address_of)
            .find(|address| address.is_none_or(|address| !self.has(address)));
        let proto = values("x-forwarded-proto");
        let is_encrypted = proto
            .last()
            .is_some_and(|proto| proto.eq_ignore_ascii_case("https"));
        (address.flatten().unwrap_or(peer), is_encrypted)
    }
}

/// Returns the address that a proxy names. Some proxies add the port.
fn address_of(text: &str) -> Option<IpAddr> {
    let with_port = || text.parse::<SocketAddr>().map(|address| address.ip());
    text.parse().or_else(|_| with_port()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_trusted_proxy_names_its_client() {
        let proxies = Proxies::new(&["127.0.0.1".into(), "10.0.0.9".into(), "no address".into()]);
        let headers = |forwarded: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert("x-forwarded-for", forwarded.parse().unwrap());
            headers.insert("x-forwarded-proto", "https".parse().unwrap());
            headers
        };
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        for (peer, forwarded, client, is_encrypted) in [
            ("10.0.0.66", "192.168.1.1", "10.0.0.66", false),
            ("127.0.0.1", "192.168.1.1", "192.168.1.1", true),
            ("::ffff:127.0.0.1", "192.168.1.1", "192.168.1.1", true),
            // The client has sent an address itself.
            (
                "127.0.0.1",
                "1.2.3.4, 192.168.1.1, 10.0.0.9",
                "192.168.1.1",
                true,
            ),
            ("127.0.0.1", "1.2.3.4, nonsense", "127.0.0.1", true),
            ("127.0.0.1", "192.168.1.1:5678", "192.168.1.1", true),
            ("127.0.0.1", "[fd00::9]:5678, 10.0.0.9:80", "fd00::9", true),
            ("127.0.0.1", "10.0.0.9", "127.0.0.1", true),
        ] {
            let found = proxies.client_of(ip(peer), &headers(forwarded));
            assert_eq!(found, (ip(client), is_encrypted), "{peer} {forwarded}");
        }
        let none = Proxies::default().client_of(ip("127.0.0.1"), &headers("1.2.3.4"));
        assert_eq!(none, (ip("127.0.0.1"), false));
    }
}
