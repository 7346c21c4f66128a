//! Routes for users, tokens, devices and sessions, and the audit trail.
//!
//! Changes of users and tokens need the password of the administrator once more (`POST /api/v1/confirm`). A change that could not be
//! saved holds, and the answer says so in `unsaved`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::access::{
    Device, Role, Sessions, Token, UserChange, check_password, check_pin, hash_of_password,
    hash_of_pin,
};
use super::super::audit::{AuditEntry, AuditEvent};
use super::super::body::JsonBody;
use super::super::caller::Caller;
use super::super::error::ApiError;
use super::super::hashing::HashClient;
use super::super::state::Panel;
use super::access::{check_bounded, checked_name};
use crate::runtime::iso_from_time;

/// `GET /api/v1/users`.
pub(super) async fn users(State(panel): State<Arc<Panel>>) -> Json<Value> {
    Json(list_users(&panel))
}

fn list_users(panel: &Panel) -> Value {
    let access = panel.access.lock();
    let users = access.accounts().users().iter();
    let users: Vec<Value> = users
        .map(|user| {
            json!({
                "name": user.name, "role": user.role, "created": user.created,
                "has_password": user.password.is_some(), "has_pin": user.pin.is_some(),
            })
        })
        .collect();
    json!({ "users": users })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UserRequest {
    name: String,
    #[serde(default)]
    role: Option<Role>,
    #[serde(default)]
    password: Option<String>,
    /// The PIN; an empty text removes it.
    #[serde(default)]
    pin: Option<String>,
    #[serde(default)]
    remove: bool,
}

/// `POST /api/v1/users`.
pub(super) async fn change_users(
    State(panel): State<Arc<Panel>>,
    Extension(caller): Extension<Caller>,
    JsonBody(request): JsonBody<UserRequest>,
) -> Result<Json<Value>, ApiError> {
    caller.need_password(&panel.access.lock())?;
    let name = checked_name(&request.name)?.to_owned();
    let change = if request.remove {
        None
    } else {
        let client = caller.hash_client()?;
        Some(hashed_change(&panel, client, &request, &name).await?)
    };
    let (event, detail) = match &change {
        None => (AuditEvent::UserRemoved, name.clone()),
        Some(change) => (AuditEvent::UserChanged, changed_parts(&name, change)),
    };
    let time = panel.time();
    {
        let mut access = panel.access.lock();
        // The session of the administrator may have ended while a hash was computed.
        caller.check_again(&mut access)?;
        let changed = access.change_accounts(|accounts| match change {
            None => accounts.remove_user(&name),
            Some(change) => accounts.change_user(&name, change, &time),
        });
        changed.map_err(|message| ApiError::rejected(message, Vec::new()))?;
    }
    panel.note(&caller, event, &detail);
    let unsaved = panel.save().await;
    let mut answer = list_users(&panel);
    answer["unsaved"] = json!(unsaved);
    Ok(Json(answer))
}

/// Returns which parts of a user a change concerns.
fn changed_parts(name: &str, change: &UserChange) -> String {
    let role = change.role.map(Role::name);
    let password = change.password.as_ref().map(|_| "password");
    let pin = change
        .pin
        .map(|pin| if pin.is_some() { "PIN" } else { "no PIN" });
    let parts: Vec<&str> = [role, password, pin].into_iter().flatten().collect();
    format!("{name}: {}", parts.join(", "))
}

async fn hashed_change(
    panel: &Panel,
    client: HashClient,
    request: &UserRequest,
    name: &str,
) -> Result<UserChange, ApiError> {
    let password = match request.password.clone() {
        Some(password) => {
            check_bounded(&password)?;
            check_password(&password, name).map_err(ApiError::bad_request)?;
            let hash = move || hash_of_password(&password);
            Some(panel.hashes.compute(client.clone(), hash).await?)
        }
        None => None,
    };
    let pin = match request.pin.clone() {
        Some(pin) if pin.is_empty() => Some(None),
        Some(pin) => {
            check_pin(&pin).map_err(ApiError::bad_request)?;
            let salt = panel.access.lock().accounts().pin_salt();
            let hash = move || hash_of_pin(&pin, &salt);
            Some(Some(panel.hashes.compute(client, hash).await?))
        }
        None => None,
    };
    Ok(UserChange {
        role: request.role,
        password,
        pin,
    })
}

/// `GET /api/v1/tokens`.
pub(super) async fn tokens(State(panel): State<Arc<Panel>>) -> Json<Value> {
    Json(json!({ "tokens": list_tokens(&panel) }))
}

fn list_tokens(panel: &Panel) -> Vec<Value> {
    let access = panel.access.lock();
    let tokens = access.accounts().tokens().iter();
    tokens
        .map(|token| {
            json!({"id": token.id, "label": token.label, "role": token.role, "created": token.created})
        })
        .collect()
}

#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub(super) enum TokenRequest {
    Add { label: String, role: Role },
    Remove { remove: String },
}

/// `POST /api/v1/tokens`.
pub(super) async fn change_tokens(
    State(panel): State<Arc<Panel>>,
    Extension(caller): Extension<Caller>,
    JsonBody(request): JsonBody<TokenRequest>,
) -> Result<Json<Value>, ApiError> {
    let time = panel.time();
    let (event, detail) = match &request {
        TokenRequest::Add { label, role } => {
            (AuditEvent::TokenAdded, format!("{label}: {}", role.name()))
        }
        TokenRequest::Remove { remove } => {
            let access = panel.access.lock();
            let label = |token: &Token| format!("{}: {}", token.label, token.role.name());
            let removed = access
                .accounts()
                .tokens()
                .iter()
                .find(|token| token.id == *remove);
            (
                AuditEvent::TokenRemoved,
                removed.map_or_else(String::new, label),
            )
        }
    };
    let changed = {
        let mut access = panel.access.lock();
        caller.need_password(&access)?;
        access.change_accounts(|accounts| match request {
            TokenRequest::Add { label, role } => accounts.add_token(&label, role, &time).map(Some),
            TokenRequest::Remove { remove } => accounts.remove_token(&remove).map(|()| None),
        })
    };
    let token = changed.map_err(|message| ApiError::rejected(message, Vec::new()))?;
    panel.note(&caller, event, &detail);
    let unsaved = panel.save().await;
    Ok(Json(
        json!({ "token": token, "tokens": list_tokens(&panel), "unsaved": unsaved }),
    ))
}

/// Returns the user whose devices and sessions a sender may see and end; `None` for an administrator, who sees all. A token of a
/// lower role has none.
fn owner(caller: &Caller) -> Result<Option<&str>, ApiError> {
    let identity = caller.identity()?;
    match identity.user() {
        _ if identity.role >= Role::Admin => Ok(None),
        // No user has an empty name.
        user => Ok(Some(user.unwrap_or_default())),
    }
}

/// `GET /api/v1/devices`: sessions and known devices, of the own user or, for an administrator, of all.
pub(super) async fn devices(
    State(panel): State<Arc<Panel>>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<Value>, ApiError> {
    Ok(Json(list_devices(&panel, &caller)?))
}

fn list_devices(panel: &Panel, caller: &Caller) -> Result<Value, ApiError> {
    let owner = owner(caller)?;
    let is_seen = |user: &str| owner.is_none_or(|owner| owner == user);
    let now = Instant::now();
    let clock = std::time::SystemTime::now();
    let ago = |time: Duration| clock.checked_sub(time).map(iso_from_time);
    let current = caller.session.as_deref().and_then(Sessions::id_of);
    let access = panel.access.lock();
    let sessions: Vec<Value> = (access.sessions.list(now).into_iter())
        .filter(|(_, session)| is_seen(&session.user))
        .map(|(id, session)| {
            json!({
                "user": session.user, "address": session.address, "is_of_pin": session.is_of_pin,
                "created": ago(session.age(now)), "used": ago(session.idle(now)),
                "is_this": Some(&id) == current.as_ref(), "id": id,
            })
        })
        .collect();
    let is_this = |device: &Device| {
        (caller.device.as_deref()).is_some_and(|secret| device.has_secret(secret))
    };
    let devices: Vec<Value> = (access.accounts().devices().iter())
        .filter(|device| is_seen(&device.user))
        .map(|device| {
            json!({
                "id": device.id(), "user": device.user, "created": device.created,
                "may_use_pin": device.may_use_pin, "is_this": is_this(device),
            })
        })
        .collect();
    Ok(json!({ "sessions": sessions, "devices": devices }))
}

#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub(super) enum DeviceRequest {
    End { end_session: String },
    Forget { forget_device: String },
}

/// `POST /api/v1/devices`: ends a session, or forgets a device.
pub(super) async fn change_devices(
    State(panel): State<Arc<Panel>>,
    Extension(caller): Extension<Caller>,
    JsonBody(request): JsonBody<DeviceRequest>,
) -> Result<Json<Value>, ApiError> {
    let owner = owner(&caller)?;
    let (event, changed) = {
        let mut access = panel.access.lock();
        match request {
            DeviceRequest::End { end_session: id } => {
                let ended = access.sessions.end_by_id(&id, owner);
                (AuditEvent::SessionEnded, ended)
            }
            DeviceRequest::Forget { forget_device: id } => {
                let forgotten =
                    access.change_accounts(|accounts| accounts.forget_device(&id, owner));
                (AuditEvent::DeviceForgotten, forgotten)
            }
        }
    };
    let user = changed.map_err(|message| ApiError::rejected(message, Vec::new()))?;
    // Every user may do this, as often as it likes, so the entry has nothing that differs each time.
    panel.note(&caller, event, &user);
    let unsaved = panel.save().await;
    // The sender may have ended the own session.
    let mut answer = list_devices(&panel, &caller)?;
    answer["unsaved"] = json!(unsaved);
    Ok(Json(answer))
}

/// `GET /api/v1/audit`: who did what, the newest first.
pub(super) async fn audit(State(panel): State<Arc<Panel>>) -> Result<Json<Value>, ApiError> {
    let read = |panel: &Panel| {
        let entries: Vec<AuditEntry> = panel.audit.read().map_err(ApiError::unavailable)?;
        Ok(Json(json!({ "entries": entries })))
    };
    panel
        .run_blocking("the audit trail cannot be read", read)
        .await
}
