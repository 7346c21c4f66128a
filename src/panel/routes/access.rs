//! Routes for logging in and out.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::super::access::{
    Attempt, Identity, LoggedIn, LoginClient, Proof, Role, UserChange, account_key, bounded_name,
    check_password, hash_of_password, hash_of_pin, hash_of_random, is_bounded_secret, is_password,
    is_pin,
};
use super::super::assets::page_name;
use super::super::audit::AuditEvent;
use super::super::body::JsonBody;
use super::super::caller::Caller;
use super::super::error::ApiError;
use super::super::hashing::HashClient;
use super::super::state::Panel;

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
    let is_remembered = device.is_some_and(|device| access.accounts().pin_device(device).is_some());
    json!({
        "setup_needed": access.accounts().needs_setup(),
        "user": identity.map(|identity| &identity.name),
        "role": identity.map(|identity| identity.role),
        "csrf": identity.and_then(|identity| identity.csrf.as_ref()),
        "can_use_pin": is_remembered && access.accounts().has_pins(),
        "language": (panel.links.language)(),
        "instance": panel.instance,
        "page": page_name(),
        "version": identity.map_or("", |_| env!("CARGO_PKG_VERSION")),
    })
}

/// Begins a session for the user of a proof.
fn begin_session(
    panel: &Panel,
    caller: &Caller,
    proof: &Proof,
    remembers: bool,
) -> Result<LoggedIn, ApiError> {
    let client = LoginClient {
        address: caller.address.to_string(),
        session: caller.session.as_deref(),
        device: caller.device.as_deref(),
        remembers,
    };
    let (time, now) = (panel.time(), Instant::now());
    let begun = panel.access.lock().log_in(proof, &client, (&time, now))?;
    // The secret was changed while its hash was computed.
    let begun = begun.ok_or_else(|| ApiError::wrong_credentials(WRONG_LOGIN))?;
    let (who, address) = (&begun.identity.name, &client.address);
    panel.audit.add(AuditEvent::Login, who, address, "");
    Ok(begun)
}

/// Returns the answer to a login, with its cookies. `unsaved` says what could not be saved.
fn session_answer(
    panel: &Panel,
    caller: &Caller,
    begun: &LoggedIn,
    unsaved: Option<&str>,
) -> Response {
    let device = begun.device.as_deref();
    let known = device.or(caller.device.as_deref());
    let mut body = describe(panel, Some(&begun.identity), known);
    body["unsaved"] = json!(unsaved);
    let mut response = Json(body).into_response();
    let cookies = [
        caller.cookies.session(&begun.secret),
        device.and_then(|device| caller.cookies.device(device)),
    ];
    for cookie in cookies.into_iter().flatten() {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}

/// Returns a name of a request, if it has a length that a name can have.
pub(super) fn checked_name(name: &str) -> Result<&str, ApiError> {
    bounded_name(name).map_err(ApiError::bad_request)
}

/// Refuses texts that are too long for a password, before anything is done with them.
pub(super) fn check_bounded(secret: &str) -> Result<(), ApiError> {
    if is_bounded_secret(secret) {
        return Ok(());
    }
    Err(ApiError::bad_request("this is too long for a password"))
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
    let wrong_code = || {
        ApiError::wrong_credentials(
            "the code is wrong or too old; the current one is on the floor and in the terminal",
        )
    };
    let attempts = Attempt::of_address(caller.address);
    {
        let mut access = panel.access.lock();
        if !access.accounts().needs_setup() {
            return Err(already());
        }
        let now = Instant::now();
        let taken = access.throttle.take(&attempts, now);
        taken.map_err(|wait| refused_login(&panel, &caller, "", ApiError::throttled(wait)))?;
        if !access.code.is_code(&code, now) {
            let who = "setup code";
            return Err(refused_login(&panel, &caller, who, wrong_code()));
        }
        access.throttle.give_back(&attempts, now);
    }
    let user = user.unwrap_or_else(|| FIRST_USER.to_owned());
    let user = checked_name(&user)?.to_owned();
    check_bounded(&password)?;
    check_password(&password, &user).map_err(ApiError::bad_request)?;
    let hash = move || hash_of_password(&password);
    let client = HashClient::stranger(caller.address);
    let hash = panel.hashes.compute(client, hash).await?;
    let time = panel.time();
    let proof = Proof::Password {
        user: user.clone(),
        stored: hash.clone(),
    };
    {
        let mut access = panel.access.lock();
        // Another client may have been faster while the hash was computed.
        if !access.accounts().needs_setup() {
            return Err(already());
        }
        if !access.code.is_code(&code, Instant::now()) {
            return Err(wrong_code());
        }
        let change = UserChange {
            role: Some(Role::Admin),
            password: Some(hash),
            pin: None,
        };
        let changed = access.change_accounts(|accounts| accounts.change_user(&user, change, &time));
        changed.map_err(ApiError::bad_request)?;
    }
    (panel.links.on_setup)(None);
    let address = caller.address.to_string();
    panel.audit.add(AuditEvent::Setup, &user, &address, "");
    let begun = begin_session(&panel, &caller, &proof, false)?;
    let unsaved = panel.save().await;
    Ok(session_answer(&panel, &caller, &begun, unsaved.as_deref()))
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

/// Returns the sender of a wrong PIN for the audit trail: the user whose device it is.
fn pin_sender(panel: &Panel, caller: &Caller) -> String {
    let access = panel.access.lock();
    let device = caller.device.as_deref();
    let device = device.and_then(|secret| access.accounts().pin_device(secret));
    device.map_or_else(
        || "PIN".to_owned(),
        |device| format!("PIN on a device of {}", device.user),
    )
}

/// `POST /api/v1/login`. Needs no write to the disk: what has changed is saved later.
pub(super) async fn login(
    State(panel): State<Arc<Panel>>,
    Extension(caller): Extension<Caller>,
    JsonBody(login): JsonBody<Login>,
) -> Result<Response, ApiError> {
    let (who, tried) = match login {
        Login {
            user: Some(user),
            password: Some(password),
            pin: None,
            remember,
        } => {
            let user = checked_name(&user)?.to_owned();
            check_bounded(&password)?;
            let tried = login_with_password(&panel, &caller, (&user, password), remember).await;
            (user, tried)
        }
        Login {
            user: None,
            password: None,
            pin: Some(pin),
            ..
        } => (
            pin_sender(&panel, &caller),
            login_with_pin(&panel, &caller, pin).await,
        ),
        _ => {
            return Err(ApiError::bad_request(
                "send `user` and `password`, or `pin` alone",
            ));
        }
    };
    let begun = tried.map_err(|error| refused_login(&panel, &caller, &who, error))?;
    Ok(session_answer(&panel, &caller, &begun, None))
}

/// Notes a login that was refused. Many in a row are counted for the address, whatever name they tried.
fn refused_login(panel: &Panel, caller: &Caller, who: &str, error: ApiError) -> ApiError {
    let (audit, address) = (&panel.audit, caller.address.to_string());
    if error.is_throttled() {
        let address = Attempt::place_name(caller.address);
        audit.add(AuditEvent::LoginThrottled, "", &address, "");
    } else if error.is_of_wrong_secret() {
        audit.add(AuditEvent::LoginFailed, who, &address, "");
    }
    error
}

async fn login_with_password(
    panel: &Arc<Panel>,
    caller: &Caller,
    (user, password): (&str, String),
    remember: bool,
) -> Result<LoggedIn, ApiError> {
    let (attempts, client) = {
        let access = panel.access.lock();
        let device = caller.device.as_deref();
        let known = device.and_then(|device| access.accounts().known_device(device, user));
        match known {
            // Wrong attempts of others do not count for a device on which the user has logged in before.
            Some(device) => (vec![Attempt::Device(device)], HashClient::device_of(user)),
            None => {
                let mut attempts = Attempt::of_address(caller.address);
                attempts.push(Attempt::Account(account_key(user)));
                (attempts, HashClient::stranger(caller.address))
            }
        }
    };
    let proof = proof_of_password(panel, client, (user, password), &attempts).await?;
    let proof = proof.ok_or_else(|| ApiError::wrong_credentials(WRONG_LOGIN))?;
    begin_session(panel, caller, &proof, remember)
}

/// Returns the proof that a password is that of a user; `None` if it is not. Takes one of the attempts, and gives it back if the
/// password is right, or was not looked at.
async fn proof_of_password(
    panel: &Panel,
    client: HashClient,
    (user, password): (&str, String),
    attempts: &[Attempt],
) -> Result<Option<Proof>, ApiError> {
    let stored = {
        let mut access = panel.access.lock();
        let taken = access.throttle.take(attempts, Instant::now());
        taken.map_err(ApiError::throttled)?;
        let user = access.accounts().user(user);
        user.and_then(|user| user.password.clone())
    };
    let checked = stored.clone();
    let hash = move || is_password(&password, checked.as_deref());
    let is_right = panel.hashes.compute(client, hash).await;
    if !matches!(is_right, Ok(false)) {
        let throttle = &mut panel.access.lock().throttle;
        throttle.give_back(attempts, Instant::now());
    }
    let (true, Some(stored)) = (is_right?, stored) else {
        return Ok(None);
    };
    let user = user.to_owned();
    Ok(Some(Proof::Password { user, stored }))
}

async fn login_with_pin(
    panel: &Arc<Panel>,
    caller: &Caller,
    pin: String,
) -> Result<LoggedIn, ApiError> {
    let wrong = || {
        ApiError::wrong_credentials(
            "the PIN is wrong, or this device is not remembered; log in with a password",
        )
    };
    let (attempts, client, salt, device) = {
        let mut access = panel.access.lock();
        let secret = caller.device.as_deref();
        let device = secret.and_then(|secret| access.accounts().pin_device(secret));
        let attempts = match device {
            Some(device) => Attempt::of_pins(&account_key(&device.user)),
            None => Attempt::of_address(caller.address),
        };
        let client = device.map(|device| HashClient::device_of(&device.user));
        let taken = access.throttle.take(&attempts, Instant::now());
        taken.map_err(ApiError::throttled)?;
        let secret = secret.filter(|_| is_pin(&pin)).ok_or_else(wrong)?;
        let client = client.ok_or_else(wrong)?;
        let salt = access.accounts().pin_salt();
        (attempts, client, salt, secret.to_owned())
    };
    let hash = move || hash_of_pin(&pin, &salt);
    let hash = panel.hashes.compute(client, hash).await;
    let hash = hash.inspect_err(|_| {
        let throttle = &mut panel.access.lock().throttle;
        throttle.give_back(&attempts, Instant::now());
    })?;
    let proof = Proof::Pin { hash, device };
    {
        let mut access = panel.access.lock();
        access.user_of_proof(&proof).ok_or_else(wrong)?;
        access.throttle.give_back(&attempts, Instant::now());
    }
    begin_session(panel, caller, &proof, false)
}

/// `POST /api/v1/logout`.
pub(super) async fn logout(
    State(panel): State<Arc<Panel>>,
    Extension(caller): Extension<Caller>,
    // The body has no content, but its type keeps forms of other sites away.
    _: JsonBody<IgnoredAny>,
) -> Result<Response, ApiError> {
    let session = caller.session.as_deref();
    let is_ended = session.is_some_and(|session| panel.access.lock().sessions.end(session));
    let mut answer = describe(&panel, None, caller.device.as_deref());
    // Without a session, there is nothing to write.
    if is_ended {
        panel.note(&caller, AuditEvent::Logout, "");
        // A session that was ended is not in the file, however the program ends.
        answer["unsaved"] = json!(panel.save().await);
    }
    let mut response = Json(answer).into_response();
    if let Some(cookie) = caller.cookies.session("") {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    Ok(response)
}

/// Returns the proof that a password is that of the user who has logged in.
async fn own_proof(panel: &Panel, caller: &Caller, password: String) -> Result<Proof, ApiError> {
    let client = caller.hash_client()?;
    let user = &caller.identity()?.name;
    check_bounded(&password)?;
    let session = caller.session.as_deref().unwrap_or_default();
    // The attempts of one session do not count for others, so nobody locks the user out of the own account.
    let attempts = [Attempt::Session(hash_of_random(session)?)];
    let proof = proof_of_password(panel, client, (user, password), &attempts).await;
    let proof = proof.map_err(|error| refused_login(panel, caller, user, error))?;
    let wrong = || {
        panel.note(caller, AuditEvent::LoginFailed, "password asked again");
        ApiError::wrong_credentials("the password is wrong")
    };
    proof.ok_or_else(wrong)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Confirmation {
    password: String,
}

/// `POST /api/v1/confirm`: the password once more, before a change of users, tokens, programs or the whole site.
pub(super) async fn confirm(
    State(panel): State<Arc<Panel>>,
    Extension(caller): Extension<Caller>,
    JsonBody(Confirmation { password }): JsonBody<Confirmation>,
) -> Result<Json<Value>, ApiError> {
    let proof = own_proof(&panel, &caller, password).await?;
    let mut access = panel.access.lock();
    caller.check_again(&mut access)?;
    (access.user_of_proof(&proof)).ok_or_else(ApiError::not_logged_in)?;
    let session = caller.session.as_deref().unwrap_or_default();
    access.sessions.confirm(session, Instant::now());
    Ok(Json(json!({})))
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
    let user = caller.identity()?.name.clone();
    check_bounded(&new)?;
    let proof = own_proof(&panel, &caller, old).await?;
    check_password(&new, &user).map_err(ApiError::bad_request)?;
    let hash = move || hash_of_password(&new);
    let hash = panel.hashes.compute(caller.hash_client()?, hash).await?;
    let new_proof = Proof::Password {
        user: user.clone(),
        stored: hash.clone(),
    };
    let change = UserChange {
        password: Some(hash),
        ..UserChange::default()
    };
    let time = panel.time();
    {
        let mut access = panel.access.lock();
        // The session may have ended, and the password may have been changed, while the hashes were computed.
        caller.check_again(&mut access)?;
        (access.user_of_proof(&proof)).ok_or_else(ApiError::not_logged_in)?;
        let changed = access.change_accounts(|accounts| accounts.change_user(&user, change, &time));
        changed.map_err(ApiError::bad_request)?;
    }
    panel.note(&caller, AuditEvent::PasswordChanged, &user);
    let begun = begin_session(&panel, &caller, &new_proof, false)?;
    let unsaved = panel.save().await;
    Ok(session_answer(&panel, &caller, &begun, unsaved.as_deref()))
}
