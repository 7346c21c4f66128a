//! Messages to a web address: a POST with a JSON object. Certificates are checked against those of the system.

use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::ring;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ureq::Agent;
use ureq::http::Uri;
use ureq::tls::{RootCerts, TlsConfig};

use crate::runtime::is_hidden;

/// Longest time for a message.
const SEND_TIME: Duration = Duration::from_secs(30);
/// Largest part of an answer that is read.
const ANSWER_BYTES: u64 = 1024;
/// Largest part of an answer that is shown.
const ANSWER_CHARS: usize = 120;

/// A web address that gets messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WebAddress {
    /// The address, for example `https://ntfy.sh/museum` or `http://192.168.1.30:8123/api/webhook/NAME`. Empty: none.
    #[schemars(extend("x-secret" = true))]
    pub url: String,
    /// Token that is sent as `Authorization: Bearer TOKEN`. If it is absent: none.
    #[schemars(extend("x-secret" = true))]
    pub token: Option<String>,
}

impl WebAddress {
    /// Returns the problems of the table, each with the key of its value.
    pub fn problems(&self) -> Vec<(&'static str, String)> {
        let mut problems = Vec::new();
        if !self.url.is_empty() && self.uri().is_none() {
            let message = "a web address begins with https:// or http:// and names a machine, such as https://ntfy.sh/museum";
            problems.push(("url", message.to_owned()));
        }
        let is_token = |text: &String| {
            (1..=1024).contains(&text.len()) && text.chars().all(|c| c.is_ascii_graphic())
        };
        if !self.token.as_ref().is_none_or(is_token) {
            let message = "a token has 1 to 1024 letters, digits and signs, without spaces";
            problems.push(("token", message.to_owned()));
        }
        problems
    }

    /// Returns the name of the machine; empty if there is no valid address. The rest of an address often is a secret.
    pub fn machine(&self) -> String {
        let uri = self.uri();
        uri.and_then(|uri| uri.host().map(str::to_owned))
            .unwrap_or_default()
    }

    fn uri(&self) -> Option<Uri> {
        let uri: Uri = self.url.parse().ok()?;
        let is_web = matches!(uri.scheme_str(), Some("http" | "https"));
        let has_host = uri.host().is_some_and(|host| !host.is_empty());
        (is_web && has_host).then_some(uri)
    }

    /// Sends a JSON object. Returns when the machine has answered that it took it.
    ///
    /// # Errors
    /// When the machine cannot be reached, is not the one that its name says, or refuses.
    pub fn post(&self, json: &str) -> Result<(), String> {
        let machine = self.machine();
        let mut request = agent()
            .post(&self.url)
            .header("Content-Type", "application/json");
        if let Some(token) = &self.token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        let mut answer = (request.send(json)).map_err(|error| format!("{machine}: {error}"))?;
        let status = answer.status();
        if status.is_success() {
            return Ok(());
        }
        let body = answer.body_mut().with_config().limit(ANSWER_BYTES);
        let text = body.lossy_utf8(true).read_to_string().unwrap_or_default();
        let shown: String = (text.chars().filter(|c| !is_hidden(*c)))
            .take(ANSWER_CHARS)
            .collect();
        Err(format!("{machine} answers {} {shown}", status.as_u16())
            .trim_end()
            .to_owned())
    }
}

/// Returns the client. It follows no redirections: they would carry a message to a machine that the site does not name.
fn agent() -> Agent {
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::PlatformVerifier)
        .unversioned_rustls_crypto_provider(Arc::new(ring::default_provider()))
        .build();
    Agent::config_builder()
        .tls_config(tls)
        .timeout_global(Some(SEND_TIME))
        .max_redirects(0)
        .http_status_as_error(false)
        .user_agent(concat!("shoal/", env!("CARGO_PKG_VERSION")))
        .build()
        .new_agent()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;

    /// Answers one request, and returns the address and what was received.
    fn server(answer: &'static str) -> (String, thread::JoinHandle<String>) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut received = Vec::new();
            let mut buffer = [0; 4096];
            while !received.ends_with(b"}") {
                let count = stream.read(&mut buffer).unwrap();
                assert!(count > 0, "it ended early");
                received.extend_from_slice(&buffer[..count]);
            }
            stream.write_all(answer.as_bytes()).unwrap();
            String::from_utf8(received).unwrap()
        });
        (format!("http://{address}/hook/geheim"), server)
    }

    #[test]
    fn a_message_is_sent_with_its_token_and_the_answer_decides() {
        let (url, taken) =
            server("HTTP/1.1 204 No Content\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        let address = WebAddress {
            url,
            token: Some("abc".into()),
        };
        assert_eq!(address.post("{\"kind\":\"test\"}"), Ok(()));
        let request = taken.join().unwrap();
        assert!(
            request.starts_with("POST /hook/geheim HTTP/1.1\r\n"),
            "{request}"
        );
        let lower = request.to_lowercase();
        assert!(lower.contains("authorization: bearer abc\r\n"), "{request}");
        assert!(
            lower.contains("content-type: application/json"),
            "{request}"
        );
        assert!(request.ends_with("{\"kind\":\"test\"}"), "{request}");

        for (answer, told) in [
            (
                "HTTP/1.1 403 Forbidden\r\nContent-Length: 9\r\nConnection: close\r\n\r\nno\u{1b}[31m x",
                "127.0.0.1 answers 403 no",
            ),
            (
                "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                "127.0.0.1 answers 302",
            ),
            ("garbage\r\n\r\n", "127.0.0.1: "),
        ] {
            let (url, taken) = server(answer);
            let address = WebAddress { url, token: None };
            let problem = address.post("{}").unwrap_err();
            assert!(problem.starts_with(told), "{problem}");
            assert!(
                !problem.contains("geheim") && !problem.contains('\u{1b}'),
                "{problem}"
            );
            taken.join().unwrap();
        }
    }

    #[test]
    fn a_machine_without_a_certificate_of_the_system_is_refused() {
        let key = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let chain = vec![key.cert.der().clone()];
        let secret = key.signing_key.serialize_der().try_into().unwrap();
        let provider = Arc::new(ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, secret)
            .unwrap();
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut connection = rustls::ServerConnection::new(Arc::new(config)).unwrap();
            connection.complete_io(&mut stream).is_err()
        });
        let address = WebAddress {
            url: format!("https://localhost:{port}/"),
            token: None,
        };
        let problem = address.post("{}").unwrap_err();
        assert!(problem.contains("certificate"), "{problem}");
        assert!(server.join().unwrap(), "the connection was accepted");
    }

    #[test]
    fn only_web_addresses_are_taken() {
        let problems = |url: &str, token: Option<&str>| {
            let address = WebAddress {
                url: url.into(),
                token: token.map(str::to_owned),
            };
            let problems = address.problems();
            problems.into_iter().map(|(key, _)| key).collect::<Vec<_>>()
        };
        for good in ["", "http://10.0.0.1:8123/api", "https://ntfy.sh/museum?x=1"] {
            assert_eq!(problems(good, Some("a-b_c.d")), [""; 0], "{good}");
        }
        for bad in [
            "ntfy.sh",
            "ftp://a/b",
            "file:///etc/passwd",
            "https://",
            "https:// a",
        ] {
            assert_eq!(problems(bad, None), ["url"], "{bad}");
        }
        assert_eq!(problems("", Some("a b")), ["token"]);
    }
}
