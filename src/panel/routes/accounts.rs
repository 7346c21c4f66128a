//! Routes for users and tokens.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::access::{Role, UserChange, hash_of_password, hash_of_pin};
use super::super::body::JsonBody;
use super::super::error::ApiError;
use super::super::state::Panel;
use super::access::check_password;

/// Number of digits of a PIN.
const PIN_DIGITS: std::ops::RangeInclusive<usize> = 4..=8;

/// `GET /api/v1/users`.
pub(super) async fn users(State(panel): State<Arc<Panel>>) -> Json<Value> {
    Json(list_users(&panel))
}

fn list_users(panel: &Panel) -> Value {
    let access = panel.access.lock();
    let users = access.accounts.users().iter();
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
    JsonBody(request): JsonBody<UserRequest>,
) -> Result<Json<Value>, ApiError> {
    let change = if request.remove {
        None
    } else {
        Some(hashed_change(&panel, &request).await?)
    };
    let ends_sessions = request.remove
        || request.password.is_some()
        || request.pin.is_some()
        || request.role.is_some();
    let time = panel.time();
    {
        let mut access = panel.access.lock();
        let changed = match change {
            None => access.accounts.remove_user(&request.name),
            Some(change) => access.accounts.change_user(&request.name, change, &time),
        };
        changed.map_err(|message| ApiError::rejected(message, Vec::new()))?;
        if ends_sessions {
            access.sessions.end_all_of(&request.name);
        }
    }
    panel.save_accounts().await?;
    Ok(Json(list_users(&panel)))
}

async fn hashed_change(panel: &Panel, request: &UserRequest) -> Result<UserChange, ApiError> {
    let password = match request.password.clone() {
        Some(password) => {
            check_password(&password)?;
            Some(panel.hash(move || hash_of_password(&password)).await?)
        }
        None => None,
    };
    let pin = match request.pin.clone() {
        Some(pin) if pin.is_empty() => Some(None),
        Some(pin) => {
            let is_digits = pin.bytes().all(|byte| byte.is_ascii_digit());
            if !is_digits || !PIN_DIGITS.contains(&pin.len()) {
                return Err(ApiError::bad_request("a PIN has 4 to 8 digits"));
            }
            let salt = panel.access.lock().accounts.pin_salt();
            Some(Some(panel.hash(move || hash_of_pin(&pin, &salt)).await?))
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
    let tokens = access.accounts.tokens().iter();
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
    JsonBody(request): JsonBody<TokenRequest>,
) -> Result<Json<Value>, ApiError> {
    let time = panel.time();
    let changed = {
        let accounts = &mut panel.access.lock().accounts;
        match request {
            TokenRequest::Add { label, role } => accounts.add_token(&label, role, &time).map(Some),
            TokenRequest::Remove { remove } => accounts.remove_token(&remove).map(|()| None),
        }
    };
    let token = changed.map_err(|message| ApiError::rejected(message, Vec::new()))?;
    panel.save_accounts().await?;
    Ok(Json(
        json!({ "token": token, "tokens": list_tokens(&panel) }),
    ))
}
