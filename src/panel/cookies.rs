//! The two cookies: the session, and the device.

use axum::http::{HeaderMap, HeaderValue, header};

use super::access::AGE_MAX;

/// Cookie of the session.
pub(crate) const SESSION_COOKIE: &str = "shoal_session";
/// Cookie of a device on which a user has logged in with a password.
pub(crate) const DEVICE_COOKIE: &str = "shoal_device";
/// Time for which a browser keeps the cookie of a device, in seconds: a year.
const DEVICE_SECS: u64 = 365 * 24 * 3600;

/// Prefix that browsers accept only from encrypted connections of exactly this host.
const HOST_PREFIX: &str = "__Host-";

/// How the cookies of a connection are called and set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cookies {
    /// Whether the connection of the browser is encrypted, here or by a proxy.
    pub(crate) is_encrypted: bool,
}

impl Cookies {
    fn prefix(self) -> &'static str {
        if self.is_encrypted { HOST_PREFIX } else { "" }
    }

    /// Returns the value of a cookie. If a cookie was sent twice (for example by a page of another path), the request has none.
    pub(crate) fn read<'h>(self, headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
        let lines = headers.get_all(header::COOKIE).iter();
        let pairs = lines.filter_map(|line| line.to_str().ok());
        let mut found = pairs
            .flat_map(|line| line.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .filter(|(key, _)| key.strip_prefix(self.prefix()) == Some(name))
            .map(|(_, value)| value);
        let value = found.next()?;
        found.next().is_none().then_some(value)
    }

    /// Returns the header that sets the cookie of the session; an empty secret removes it.
    pub(crate) fn session(self, secret: &str) -> Option<HeaderValue> {
        self.set(SESSION_COOKIE, secret, AGE_MAX.as_secs())
    }

    /// Returns the header that sets the cookie of the device.
    pub(crate) fn device(self, secret: &str) -> Option<HeaderValue> {
        self.set(DEVICE_COOKIE, secret, DEVICE_SECS)
    }

    fn set(self, name: &str, secret: &str, secs: u64) -> Option<HeaderValue> {
        let secs = if secret.is_empty() { 0 } else { secs };
        let (prefix, secure) = (
            self.prefix(),
            if self.is_encrypted { "; Secure" } else { "" },
        );
        let text = format!(
            "{prefix}{name}={secret}; Path=/; Max-Age={secs}; HttpOnly; SameSite=Strict{secure}"
        );
        let mut value = HeaderValue::from_str(&text).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Cookies = Cookies {
        is_encrypted: false,
    };
    const ENCRYPTED: Cookies = Cookies { is_encrypted: true };

    #[test]
    fn cookies_are_found_among_others_and_a_double_one_is_none() {
        let mut headers = HeaderMap::new();
        headers.append(
            header::COOKIE,
            HeaderValue::from_static("a=1; shoal_session=x;b=2"),
        );
        headers.append(header::COOKIE, HeaderValue::from_static("shoal_device=y"));
        assert_eq!(PLAIN.read(&headers, SESSION_COOKIE), Some("x"));
        assert_eq!(PLAIN.read(&headers, DEVICE_COOKIE), Some("y"));
        assert_eq!(PLAIN.read(&headers, "c"), None);
        headers.append(header::COOKIE, HeaderValue::from_static("shoal_session=z"));
        assert_eq!(PLAIN.read(&headers, SESSION_COOKIE), None);
    }

    #[test]
    fn cookies_cannot_be_read_by_scripts_or_sent_by_other_sites() {
        let text = ENCRYPTED.session("x").unwrap();
        let text = text.to_str().unwrap();
        for part in [
            "HttpOnly",
            "SameSite=Strict",
            "Secure",
            "Path=/",
            "Max-Age=604800",
        ] {
            assert!(text.contains(part), "{part}");
        }
        assert!(text.starts_with("__Host-shoal_session=x;"), "{text}");
        let mut headers = HeaderMap::new();
        headers.append(
            header::COOKIE,
            HeaderValue::from_static("__Host-shoal_session=x; shoal_session=planted"),
        );
        assert_eq!(ENCRYPTED.read(&headers, SESSION_COOKIE), Some("x"));
        let removed = PLAIN.session("").unwrap();
        assert!(removed.to_str().unwrap().contains("Max-Age=0"));
    }
}
