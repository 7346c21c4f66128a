//! Routes for logging in and out.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::access::{
    Attempt, Identity, Role, UserChange, account_key, hash_of_password, hash_of_pin, is_password,
};
use super::super::body::JsonBody;
use super::super::cookies::{device_cookie, session_cookie};
use super::super::error::ApiError;
use super::super::guard::Caller;
use super::super::state::Panel;

/// Shortest and longest password, in characters. Long passwords are better than complicated ones.
const PASSWORD_CHARS: std::ops::RangeInclusive<usize> = 10..=200;
/// Name of the first administrator, if none is given.
const FIRST_USER: &str = "admin";
/// The same answer for an unknown user, a wrong password and a user without one.
const WRONG_LOGIN: &str = "the name or the password is wrong";

/// `GET /api/v1/session`.
pub(super) async fn session(
    State(panel): State<Arc<Panel>>,
    Extension(caller): Extension<Caller>,
) -> Json<Value> {
    Json(describe(
        &panel,
        caller.identity.as_ref(),
        caller.device.as_deref(),
    ))
}

fn describe(panel: &Panel, identity: Option<&Identity>, device: Option<&str>) -> Value {
    let access = panel.access.lock();
    let is_remembered = device.is_some_and(|device| access.accounts.pin_device(device).is_some());
    json!({
        "setup_needed": access.accounts.needs_setup(),
        "user": identity.map(|identity| &identity.name),
        "role": identity.map(|identity| identity.role),
        "csrf": identity.and_then(|identity| identity.csrf.as_ref()),
        "can_use_pin": is_remembered && access.accounts.has_pins(),
        "language": (panel.links.language)(),
        "instance": panel.instance,
        "version": env!("CARGO_PKG_VERSION"),
    })
}

/// Begins a session for a user, instead of the session that the request may have. Returns the answer with its cookies.
fn begin_session(
    panel: &Panel,
    caller: &Caller,
    user: &str,
    device: Option<&str>,
    is_of_pin: bool,
) -> Result<Response, ApiError> {
    let (secret, identity) = {
        let mut access = panel.access.lock();
        if let Some(old) = &caller.session {
            access.sessions.end(old);
        }
        let (secret, session) = access.sessions.begin(user, is_of_pin, Instant::now())?;
        let identity = access.identity_of(session);
        (secret, identity.ok_or_else(ApiError::not_logged_in)?)
    };
    let body = describe(panel, Some(&identity), device.or(caller.device.as_deref()));
    let mut response = Json(body).into_response();
    let cookies = [
        session_cookie(&secret, panel.is_tls),
        device.and_then(|device| device_cookie(device, panel.is_tls)),
    ];
    for cookie in cookies.into_iter().flatten() {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    Ok(response)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Setup {
    code: String,
    password: String,
    #[serde(default)]
    user: Option<String>,
}

/// `POST /api/v1/setup`.
pub(super) async fn setup(
    State(panel): State<Arc<Panel>>,
    Extension(caller): Extension<Caller>,
    JsonBody(request): JsonBody<Setup>,
) -> Result<Response, ApiError> {
    let Setup {
        code,
        password,
        user,
    } = request;
    let already = || {
        let message = "a password is set already; log in";
        ApiError::new(StatusCode::CONFLICT, "already_set_up", message)
    };
    let attempts = [Attempt::of_address(caller.address)];
    {
        let mut access = panel.access.lock();
        if !access.accounts.needs_setup() {
            return Err(already());
        }
        let now = Instant::now();
        access
            .throttle
            .take(&attempts, now)
            .map_err(ApiError::throttled)?;
        if !access.code.is_code(&code, now) {
            return Err(ApiError::wrong_credentials(
                "the code is wrong or too old; the current one is on the floor and in the terminal",
            ));
        }
        access.throttle.give_back(&attempts, now);
    }
    check_password(&password)?;
    let hash = panel.hash(move || hash_of_password(&password)).await?;
    let user = user.unwrap_or_else(|| FIRST_USER.to_owned());
    let time = panel.time();
    let device = {
        let mut access = panel.access.lock();
        // Another client may have been faster while the hash was computed.
        if !access.accounts.needs_setup() {
            return Err(already());
        }
        let change = UserChange {
            role: Some(Role::Admin),
            password: Some(hash),
            pin: None,
        };
        let changed = access.accounts.change_user(&user, change, &time);
        changed.map_err(ApiError::bad_request)?;
        let known = (caller.device.as_deref(), user.as_str());
        access.accounts.remember_device(known, false, &time)?
    };
    (panel.links.on_setup)(None);
    tracing::info!("panel: the first password is set");
    panel.save_accounts().await?;
    begin_session(&panel, &caller, &user, Some(&device), false)
}

pub(super) fn check_password(password: &str) -> Result<(), ApiError> {
    if PASSWORD_CHARS.contains(&password.chars().count()) {
        return Ok(());
    }
    let (shortest, longest) = (PASSWORD_CHARS.start(), PASSWORD_CHARS.end());
    Err(ApiError::bad_request(format!(
        "a password has {shortest} to {longest} characters; three or four words are easy to remember"
    )))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Login {
    #[serde(default)]
    user: Option<String>,
    #[serde(default)]
    password: Option<String>,
    #[serde(default)]
    pin: Option<String>,
    /// Whether the device is remembered for PINs.
    #[serde(default)]
    remember: bool,
}

/// `POST /api/v1/login`.
pub(super) async fn login(
    State(panel): State<Arc<Panel>>,
    Extension(caller): Extension<Caller>,
    JsonBody(login): JsonBody<Login>,
) -> Result<Response, ApiError> {
    match login {
        Login {
            user: Some(user),
            password: Some(password),
            pin: None,
            remember,
        } => login_with_password(&panel, &caller, (&user, password), remember).await,
        Login {
            user: None,
            password: None,
            pin: Some(pin),
            ..
        } => login_with_pin(&panel, &caller, pin).await,
        _ => Err(ApiError::bad_request(
            "send `user` and `password`, or `pin` alone",
        )),
    }
}

async fn login_with_password(
    panel: &Arc<Panel>,
    caller: &Caller,
    (user, password): (&str, String),
    remember: bool,
) -> Result<Response, ApiError> {
    let attempts = {
        let access = panel.access.lock();
        let device = caller.device.as_deref();
        let known = device.and_then(|device| access.accounts.known_device(device, user));
        let account = match known {
            Some(device) => Attempt::Device(device),
            None => Attempt::Account(account_key(user)),
        };
        [Attempt::of_address(caller.address), account]
    };
    if !is_password_of(panel, user, password, attempts).await? {
        tracing::warn!(address = %caller.address, "panel: a login failed");
        return Err(ApiError::wrong_credentials(WRONG_LOGIN));
    }
    let time = panel.time();
    let known = (caller.device.as_deref(), user);
    let device = (panel.access.lock().accounts).remember_device(known, remember, &time)?;
    if caller.device.as_ref() != Some(&device) || remember {
        panel.save_accounts().await?;
    }
    begin_session(panel, caller, user, Some(&device), false)
}

/// Whether a password is that of a user. Takes one of the attempts, and gives it back if the password is right.
async fn is_password_of(
    panel: &Panel,
    user: &str,
    password: String,
    attempts: [Attempt; 2],
) -> Result<bool, ApiError> {
    let stored = {
        let mut access = panel.access.lock();
        let taken = access.throttle.take(&attempts, Instant::now());
        taken.map_err(ApiError::throttled)?;
        let user = access.accounts.user(user);
        user.and_then(|user| user.password.clone())
    };
    let is_right = panel.hash(move || is_password(&password, stored.as_deref()));
    let is_right = is_right.await?;
    if is_right {
        let throttle = &mut panel.access.lock().throttle;
        throttle.give_back(&attempts, Instant::now());
    }
    Ok(is_right)
}

async fn login_with_pin(
    panel: &Arc<Panel>,
    caller: &Caller,
    pin: String,
) -> Result<Response, ApiError> {
    let wrong = || {
        ApiError::wrong_credentials(
            "the PIN is wrong, or this device is not remembered; log in with a password",
        )
    };
    let (attempts, salt) = {
        let mut access = panel.access.lock();
        let device = caller.device.as_deref();
        let device = device.and_then(|device| access.accounts.pin_device(device));
        let mut attempts = vec![Attempt::of_address(caller.address)];
        attempts.extend(device.map(Attempt::Pin));
        let taken = access.throttle.take(&attempts, Instant::now());
        taken.map_err(ApiError::throttled)?;
        if device.is_none() {
            return Err(wrong());
        }
        (attempts, access.accounts.pin_salt())
    };
    let hash = panel.hash(move || hash_of_pin(&pin, &salt)).await?;
    let user = {
        let mut access = panel.access.lock();
        let user = access.accounts.user_of_pin(&hash);
        let user = user.map(|user| user.name.clone()).ok_or_else(wrong)?;
        access.throttle.give_back(&attempts, Instant::now());
        user
    };
    begin_session(panel, caller, &user, None, true)
}

/// `POST /api/v1/logout`.
pub(super) async fn logout(
    State(panel): State<Arc<Panel>>,
    Extension(caller): Extension<Caller>,
    // The body has no content, but its type keeps forms of other sites away.
    _: JsonBody<Value>,
) -> Result<Response, ApiError> {
    if let Some(session) = &caller.session {
        panel.access.lock().sessions.end(session);
    }
    let mut response = Json(describe(&panel, None, caller.device.as_deref())).into_response();
    if let Some(cookie) = session_cookie("", panel.is_tls) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    Ok(response)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PasswordChange {
    old: String,
    new: String,
}

/// `POST /api/v1/password`.
pub(super) async fn change_password(
    State(panel): State<Arc<Panel>>,
    Extension(caller): Extension<Caller>,
    JsonBody(PasswordChange { old, new }): JsonBody<PasswordChange>,
) -> Result<Response, ApiError> {
    let identity = caller.identity()?;
    if identity.csrf.is_none() {
        return Err(ApiError::forbidden("a token has no password"));
    }
    check_password(&new)?;
    let user = identity.name.clone();
    let attempts = [
        Attempt::of_address(caller.address),
        Attempt::Account(account_key(&user)),
    ];
    if !is_password_of(&panel, &user, old, attempts).await? {
        return Err(ApiError::wrong_credentials("the old password is wrong"));
    }
    let hash = panel.hash(move || hash_of_password(&new)).await?;
    let change = UserChange {
        password: Some(hash),
        ..UserChange::default()
    };
    let time = panel.time();
    let device = {
        let mut access = panel.access.lock();
        // An administrator may have removed the user while the hash was computed.
        access
            .accounts
            .user(&user)
            .ok_or_else(ApiError::not_logged_in)?;
        let changed = access.accounts.change_user(&user, change, &time);
        changed.map_err(ApiError::bad_request)?;
        access.sessions.end_all_of(&user);
        access
            .accounts
            .remember_device((None, &user), false, &time)?
    };
    panel.save_accounts().await?;
    begin_session(&panel, &caller, &user, Some(&device), false)
}
