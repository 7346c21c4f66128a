//! `POST /api/v1/commands`: one command, or a list that is applied completely or not at all.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::{Extension, Json};
use serde_json::{Value, json};

use super::super::access::Role;
use super::super::error::ApiError;
use super::super::guard::Caller;
use super::super::panel::{Panel, read_json};
use crate::control::{Command, Outcome, Request, Source, SourceKind, Undelivered};

/// Longest wait for the reply of the desk.
const REPLY_TIMEOUT: Duration = Duration::from_secs(20);

/// Returns the lowest role that may send a command; `None` if the panel cannot send it.
pub(crate) fn role_of(command: &Command) -> Option<Role> {
    match command {
        Command::SwitchScene { .. } | Command::Director { .. } => Some(Role::Operate),
        Command::Batch { commands } => {
            let mut highest = Role::Operate;
            for command in commands {
                highest = highest.max(role_of(command)?);
            }
            Some(highest)
        }
        Command::Edit { .. }
        | Command::AddSpecies { .. }
        | Command::RemoveSpecies { .. }
        | Command::AddIndividual { .. }
        | Command::RemoveIndividual { .. }
        | Command::OverrideMind { .. }
        | Command::Calibrate { .. }
        | Command::Undo
        | Command::Redo
        | Command::Save
        | Command::Revert => Some(Role::Admin),
        // The watcher of the files says what is on the disk, and nobody else.
        Command::TakeOver { .. } => None,
    }
}

/// `POST /api/v1/commands`.
pub(super) async fn commands(
    State(panel): State<Arc<Panel>>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Value>, ApiError> {
    let text: Value = read_json(body, &headers).await?;
    let command = if text.is_array() {
        serde_json::from_value(text).map(|commands| Command::Batch { commands })
    } else {
        serde_json::from_value(text)
    };
    let command =
        command.map_err(|error| ApiError::bad_request(format!("this is no command: {error}")))?;
    match role_of(&command) {
        Some(role) => caller.need(role)?,
        None => return Err(ApiError::forbidden("the panel cannot send this command")),
    }
    let source = Source {
        kind: SourceKind::Panel,
        name: caller.identity()?.name.clone(),
    };
    let request = Request {
        id: 0,
        source,
        command,
    };
    let (sender, reply) = tokio::sync::oneshot::channel();
    panel.links.client.send(request, move |reply| {
        // The client may have stopped waiting.
        let _gone = sender.send(reply);
    })?;
    let reply = match tokio::time::timeout(REPLY_TIMEOUT, reply).await {
        Ok(Ok(reply)) => reply,
        Ok(Err(_)) => return Err(Undelivered::Gone.into()),
        Err(_) => return Err(Undelivered::Late.into()),
    };
    match reply.result {
        Outcome::Rejected { problems } => {
            let message = match problems.as_slice() {
                [only] => only.message.clone(),
                _ => format!("the command was rejected for {} reasons", problems.len()),
            };
            Err(ApiError::rejected(message, problems))
        }
        applied @ Outcome::Applied { .. } => {
            Ok(Json(json!({"revision": reply.revision, "result": applied})))
        }
    }
}
