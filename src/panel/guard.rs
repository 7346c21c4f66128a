//! What every request passes before its handler: the host and origin that it names, and the role and the secret that its route
//! needs.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::access::{Role, is_equal};
use super::answer;
use super::audit::AuditEvent;
use super::caller::{Caller, Need};
use super::cookies::{Cookies, DEVICE_COOKIE, SESSION_COOKIE};
use super::error::{ApiError, Refused};
use super::host_names::HostNames;
use super::state::Panel;
use super::user_requests::UserRequest;

/// Header in which every change repeats the secret of its session.
pub(crate) const CSRF_HEADER: &str = "x-csrf-token";

/// What a browser may load for the page: only files of this server.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; \
     connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Headers of every answer.
const SECURITY_HEADERS: [(&str, &str); 7] = [
    ("content-security-policy", CONTENT_SECURITY_POLICY),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    (
        "permissions-policy",
        "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    ),
];

/// The check of every request, also of those for paths that do not exist.
pub(crate) async fn check_origin(
    State(panel): State<Arc<Panel>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match wrong_origin(&panel.hosts, &request) {
        Some(error) => error.into_response(),
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    for (name, value) in SECURITY_HEADERS {
        headers.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
    if panel.is_strict_tls {
        let year = HeaderValue::from_static("max-age=31536000");
        headers.insert(header::STRICT_TRANSPORT_SECURITY, year);
    }
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Returns the error of a request that names another host, or comes from the page of another host.
fn wrong_origin(hosts: &HostNames, request: &Request) -> Option<ApiError> {
    let bad_host = |message: &str| {
        Some(ApiError::new(
            StatusCode::MISDIRECTED_REQUEST,
            "bad_host",
            message,
        ))
    };
    let mut named = request.headers().get_all(header::HOST).iter();
    let host = match (named.next(), named.next()) {
        (Some(host), None) => host.to_str().unwrap_or_default(),
        (None, _) => request.uri().authority().map_or("", |host| host.as_str()),
        (Some(_), Some(_)) => return bad_host("the request names two hosts"),
    };
    if !hosts.is_own(host) {
        return bad_host(
            "this machine is not known by this name; use its IP address, or add the name to panel.names in the site file",
        );
    }
    let mut origins = request.headers().get_all(header::ORIGIN).iter();
    let origin = origins.next()?;
    let authority = origin.to_str().ok().and_then(|origin| {
        let (scheme, authority) = origin.split_once("://")?;
        matches!(scheme, "http" | "https").then_some(authority)
    });
    if origins.next().is_none() && authority.is_some_and(|own| own.eq_ignore_ascii_case(host)) {
        return None;
    }
    Some(ApiError::new(
        StatusCode::FORBIDDEN,
        "bad_origin",
        "requests of pages of other servers are refused",
    ))
}

/// The check of a route: finds the sender, and refuses it if its role is too low or a change has no secret.
pub(crate) async fn check_role(
    State((panel, need)): State<(Arc<Panel>, Need)>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    mut request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    let (address, is_encrypted) = panel.proxies.client_of(peer.ip(), headers);
    let cookies = Cookies {
        is_encrypted: is_encrypted || panel.is_tls,
    };
    let session = cookies.read(headers, SESSION_COOKIE).map(str::to_owned);
    let token = bearer(headers).map(str::to_owned);
    let (identity, needs_setup) = {
        let mut access = panel.access.lock();
        let now = Instant::now();
        let identity = access.identify(token.as_deref(), session.as_deref(), true, now);
        (identity, access.accounts().needs_setup())
    };
    if identity.is_some() {
        panel.places.note_known(peer.ip());
    }
    let caller = Caller {
        identity,
        need,
        address,
        cookies,
        token,
        session,
        device: cookies.read(headers, DEVICE_COOKIE).map(str::to_owned),
    };
    let path = request.uri().path().to_owned();
    let admitted = match need {
        Need::Role(role) => admit(&panel, &caller, needs_setup, role, &request).map(Some),
        Need::Open => Ok(None),
    };
    let response = match admitted {
        Ok(going_on) => {
            let extensions = request.extensions_mut();
            extensions.insert(caller.clone());
            // A command and a stream go on after their answer, so their handlers keep this.
            if let Some(going_on) = &going_on {
                extensions.insert(Arc::clone(going_on));
            }
            answer::hold(next.run(request).await, going_on)
        }
        Err(error) => error.into_response(),
    };
    // Also what a handler refuses: a command, or a change without the password.
    if let Some(Refused(what)) = response.extensions().get()
        && caller.identity.is_some()
    {
        let detail = match what.as_str() {
            "" => path,
            what => format!("{path}: {what}"),
        };
        panel.note(&caller, AuditEvent::Refused, &detail);
    }
    response
}

/// Refuses a request that its sender may not send, and counts it.
fn admit(
    panel: &Panel,
    caller: &Caller,
    needs_setup: bool,
    role: Role,
    request: &Request,
) -> Result<Arc<UserRequest>, ApiError> {
    refuse(caller, needs_setup, role, request)?;
    panel.requests.begin(caller.identity()?).map(Arc::new)
}

fn refuse(
    caller: &Caller,
    needs_setup: bool,
    role: Role,
    request: &Request,
) -> Result<(), ApiError> {
    if needs_setup {
        return Err(ApiError::new(
            StatusCode::FORBIDDEN,
            "setup_needed",
            "set a password first: the setup code is shown on the floor and in the terminal",
        ));
    }
    caller.need(role)?;
    let Some(wanted) = &caller.identity()?.csrf else {
        return Ok(());
    };
    let headers = request.headers();
    let is_stream = headers.contains_key(header::UPGRADE);
    if is_stream && !headers.contains_key(header::ORIGIN) {
        let message = "a stream with a session needs the header Origin";
        return Err(ApiError::new(StatusCode::FORBIDDEN, "bad_origin", message));
    }
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        return Ok(());
    }
    let sent = headers
        .get(CSRF_HEADER)
        .and_then(|value| value.to_str().ok());
    if sent.is_some_and(|sent| is_equal(sent, wanted)) {
        return Ok(());
    }
    let message = format!("a change needs the header {CSRF_HEADER} with the secret of the session");
    Err(ApiError::new(StatusCode::FORBIDDEN, "csrf", message))
}

/// Returns the bearer token of a request. A malformed header is a token that does not exist, so that it is not ignored.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers
        .get(header::AUTHORIZATION)?
        .to_str()
        .unwrap_or_default();
    let (scheme, token) = value.split_once(' ').unwrap_or((value, ""));
    Some(if scheme.eq_ignore_ascii_case("bearer") {
        token.trim()
    } else {
        ""
    })
}
