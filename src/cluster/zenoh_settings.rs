//! Settings of a zenoh session of a hall.
//!
//! TLS on both sides with certificates of the hall's authority. zenoh also trusts the public web authorities and does not check the
//! authority of a certificate further, so the access control closes the door: only the common names of the list of members may write,
//! read, ask and answer, in both directions. An open session keeps its list; for another list it is opened again.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::link::{LinkError, LinkPlace, LinkSecurity};

/// First pause before a node is connected to again, in milliseconds.
const RETRY_FIRST_MS: u32 = 100;
/// Longest pause between two attempts to connect, in milliseconds.
const RETRY_LONGEST_MS: u32 = 1000;
/// Everything that the access control distinguishes.
const MESSAGES: [&str; 9] = [
    "put",
    "delete",
    "declare_subscriber",
    "query",
    "declare_queryable",
    "reply",
    "liveliness_token",
    "liveliness_query",
    "declare_liveliness_subscriber",
];

/// Returns the settings of a session.
///
/// # Errors
/// If zenoh does not accept them.
pub(super) fn zenoh_settings(
    place: &LinkPlace,
    security: &LinkSecurity,
) -> Result<zenoh::Config, LinkError> {
    let settings = settings(place, security).to_string();
    zenoh::Config::from_json5(&settings).map_err(|error| LinkError::Open(error.to_string()))
}

/// The same settings as JSON.
pub(super) fn settings(place: &LinkPlace, security: &LinkSecurity) -> Value {
    let base64 = |text: &str| STANDARD.encode(text);
    let (certificate, key) = (base64(&security.certificate), base64(&security.key));
    let locator = |address: &String| format!("tls/{address}");
    // zenoh wants at least one name. No certificate of the hall has a name without a slash.
    let allowed = match security.allowed.as_slice() {
        [] => &["nobody".to_owned()],
        allowed => allowed,
    };
    let connect: Vec<String> = place.connect.iter().map(locator).collect();
    json!({
        "mode": "peer",
        "scouting": {
            "multicast": { "enabled": place.discovery },
            "gossip": { "enabled": place.discovery },
        },
        "listen": { "endpoints": [locator(&place.listen)] },
        "connect": {
            "endpoints": connect,
            "timeout_ms": -1,
            "exit_on_failure": false,
            "retry": {
                "period_init_ms": RETRY_FIRST_MS,
                "period_max_ms": RETRY_LONGEST_MS,
                "period_increase_factor": 2.0,
            },
        },
        "transport": { "link": {
            "protocols": ["tls"],
            "tls": {
                "root_ca_certificate_base64": base64(&security.authority),
                "listen_certificate_base64": certificate,
                "listen_private_key_base64": key,
                "connect_certificate_base64": certificate,
                "connect_private_key_base64": key,
                "enable_mtls": true,
                // Certificates name a node, not an address: addresses may change.
                "verify_name_on_connect": false,
                "close_link_on_expiration": false,
            },
        } },
        "access_control": {
            "enabled": true,
            "default_permission": "deny",
            "rules": [{
                "id": "hall",
                "permission": "allow",
                "messages": MESSAGES,
                "flows": ["egress", "ingress"],
                "key_exprs": [format!("shoal/{}/**", place.hall)],
            }],
            "subjects": [{ "id": "members", "cert_common_names": allowed }],
            "policies": [{ "rules": ["hall"], "subjects": ["members"] }],
        },
    })
}
