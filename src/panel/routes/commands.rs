//! `POST /api/v1/commands`: one command, or a list that is applied completely or not at all.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{Path, State};
use axum::{Extension, Json};
use serde_json::{Value, json};

use super::super::access::Role;
use super::super::audit::AuditEvent;
use super::super::body::{COMMANDS_BYTES_MAX, JsonBody};
use super::super::caller::Caller;
use super::super::error::ApiError;
use super::super::state::Panel;
use super::super::user_requests::UserRequest;
use crate::control::{
    Command, DocumentName, Edit, EditorStep, Outcome, PoolCommand, PoolEdit, Reason, Request,
    Source, SourceKind, Trust, Undelivered, command_schema,
};

/// Longest wait for the reply of the desk. A program that delivers a test message may take 30 s.
const REPLY_TIMEOUT: Duration = Duration::from_secs(35);

/// The lowest role that may send each command. A command that is missing here cannot be sent: `take_over` belongs to the
/// watcher of the files, which alone knows the disk.
const ROLES: [(&str, Role); 28] = [
    ("switch_scene", Role::Operate),
    ("director", Role::Operate),
    ("schedule", Role::Operate),
    ("pause", Role::Operate),
    ("keep_incident", Role::Operate),
    // It ends by itself, and a guide shows visitors with it why the fish flee.
    ("overlay", Role::Operate),
    // Each command in it also needs its own role.
    ("batch", Role::Operate),
    // Changed opening hours have to survive the night.
    ("save", Role::Operate),
    ("edit", Role::Admin),
    ("replace_text", Role::Admin),
    ("add_species", Role::Admin),
    ("remove_species", Role::Admin),
    ("add_individual", Role::Admin),
    ("remove_individual", Role::Admin),
    ("override_mind", Role::Admin),
    ("end_override", Role::Admin),
    ("calibrate", Role::Admin),
    ("choose_camera", Role::Admin),
    ("draw_area", Role::Admin),
    ("test_alert", Role::Admin),
    ("test_sound", Role::Admin),
    ("test_picture", Role::Admin),
    ("restart", Role::Admin),
    ("restart_program", Role::Admin),
    ("recording", Role::Admin),
    ("undo", Role::Admin),
    ("redo", Role::Admin),
    ("revert", Role::Admin),
];

/// Largest number of commands in a list below the role `admin`: the desk checks the whole site for each.
const STAFF_BATCH_MAX: usize = 10;

/// Values of the site file that the role `operate` may edit. Not `schedule.projectors`, which names a program to run.
const STAFF_PATHS: [&str; 8] = [
    "schedule.weekly",
    "schedule.dates",
    "schedule.yearly",
    "schedule.otherwise",
    "schedule.time_zone",
    "schedule.clock",
    "sound.volume_db",
    "sound.mute",
];

/// Longest summary of a rejected command in the audit trail, in characters.
const SUMMARY_CHARS_MAX: usize = 60;

fn role_of_name(name: &str) -> Option<Role> {
    let found = ROLES.iter().find(|(own, _)| *own == name);
    found.map(|(_, role)| *role)
}

/// Whether an edit changes values that staff changes in a day.
fn is_of_staff(edit: &Edit) -> bool {
    let is_below = |staff_path: &&str| {
        let rest = edit.path.strip_prefix(*staff_path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    edit.document == DocumentName::Site && STAFF_PATHS.iter().any(is_below)
}

/// Returns the lowest role that may send a command; `None` if the panel cannot send it.
fn role_of(command: &Command) -> Option<Role> {
    let own = role_of_name(command.name())?;
    match command {
        Command::Pool(PoolCommand::Editor(EditorStep::Batch { commands })) => commands
            .iter()
            .try_fold(own, |highest, edit| Some(highest.max(role_of_edit(edit)?))),
        Command::Pool(PoolCommand::Edit(edit)) => role_of_edit(edit),
        _ => Some(own),
    }
}

fn role_of_edit(edit: &PoolEdit) -> Option<Role> {
    match edit {
        PoolEdit::Edit { edits, .. } if edits.iter().all(is_of_staff) => Some(Role::Operate),
        _ => role_of_name(edit.name()),
    }
}

/// `GET /api/v1/commands/schema`.
pub(super) async fn commands_schema() -> Json<Value> {
    Json(command_schema_with_roles())
}

/// Returns the JSON Schema of a command. `x-role` is the role that each needs.
pub fn command_schema_with_roles() -> Value {
    let mut schema = command_schema();
    let variants = schema.get_mut("oneOf").and_then(Value::as_array_mut);
    for variant in variants.into_iter().flatten() {
        let name = variant["properties"]["command"]["const"].as_str();
        let role = name.and_then(role_of_name);
        variant["x-role"] = json!(role);
    }
    schema
}

/// `POST /api/v1/commands`.
pub(super) async fn commands(
    State(panel): State<Arc<Panel>>,
    Extension(caller): Extension<Caller>,
    Extension(going_on): Extension<Arc<UserRequest>>,
    JsonBody(text): JsonBody<Value, COMMANDS_BYTES_MAX>,
) -> Result<Json<Value>, ApiError> {
    let command: Result<Command, _> = if text.is_array() {
        serde_json::from_value(json!({"command": "batch", "commands": text}))
    } else {
        serde_json::from_value(text)
    };
    let command =
        command.map_err(|error| ApiError::bad_request(format!("this is no command: {error}")))?;
    send(&panel, (&caller, going_on), command).await
}

/// `POST /api/v1/do/WORD/WORD`: an everyday command in words, for buttons of other machines.
pub(super) async fn say(
    State(panel): State<Arc<Panel>>,
    Extension(caller): Extension<Caller>,
    Extension(going_on): Extension<Arc<UserRequest>>,
    Path(words): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let words: Vec<_> = words.split('/').collect();
    let command = Command::from_words(&words).map_err(ApiError::bad_request)?;
    send(&panel, (&caller, going_on), command).await
}

/// Sends a command to the desk, if the caller may, and waits for the reply.
async fn send(
    panel: &Panel,
    (caller, going_on): (&Caller, Arc<UserRequest>),
    command: Command,
) -> Result<Json<Value>, ApiError> {
    if panel.stop_watch.is_after_stop(Instant::now()) {
        return Err(ApiError::stopped());
    }
    let summary = format!("{} {}", command.name(), command.summary());
    let summary = summary.trim();
    let allowed = match role_of(&command) {
        Some(role) => caller.need(role),
        None => Err(ApiError::forbidden("the panel cannot send this command")),
    };
    allowed.map_err(|error| error.refusing(summary))?;
    if let Command::Pool(PoolCommand::Editor(EditorStep::Batch { commands })) = &command
        && caller.identity()?.role < Role::Admin
        && commands.len() > STAFF_BATCH_MAX
    {
        let message = format!("a list of the role operate has at most {STAFF_BATCH_MAX} commands");
        return Err(ApiError::bad_request(message));
    }
    let event = match role_of(&command) {
        Some(Role::Admin) => AuditEvent::Command,
        _ => AuditEvent::Operated,
    };
    let source = Source {
        kind: SourceKind::Panel,
        name: caller.identity()?.shown(),
    };
    let trust = panel.trust(caller);
    let request = Request {
        id: 0,
        source,
        command,
        trust,
    };
    let (sender, reply) = tokio::sync::oneshot::channel();
    // Until the reply is there, the client hangs up, or the wait ends.
    let wanted = Arc::default();
    panel
        .links
        .client
        .send_while(&wanted, request, move |reply| {
            // The request counts for its user until the desk has answered.
            drop(going_on);
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
            let needed = needed_trust(&problems);
            if needed.is_some_and(|needed| trust == Trust::Role && needed <= panel.trust_max()) {
                // The command could be applied after the password.
                let confirmed = caller.need_password(&panel.access.lock());
                confirmed.map_err(|error| error.refusing(summary))?;
            }
            let message = match problems.as_slice() {
                [only] => only.message.clone(),
                _ => format!("the command was rejected for {} reasons", problems.len()),
            };
            let error = ApiError::rejected(message, problems);
            Err(match needed {
                Some(_) => error.refusing(summary),
                None => {
                    // The reason has room in the entry, however long the summary is.
                    let what: String = summary.chars().take(SUMMARY_CHARS_MAX).collect();
                    let detail = format!("{what}: {}", error.message());
                    panel.note(caller, AuditEvent::Rejected, &detail);
                    error
                }
            })
        }
        applied @ Outcome::Applied { .. } => {
            panel.note(caller, event, summary);
            Ok(Json(json!({"revision": reply.revision, "result": applied})))
        }
    }
}

/// Returns the trust for want of which a command was rejected; `None` if it was rejected for other reasons.
fn needed_trust(problems: &[Reason]) -> Option<Trust> {
    let is_reason = |needed: &Trust| {
        let refusal = needed.refusal();
        problems.iter().any(|p| p.message.ends_with(refusal))
    };
    [Trust::Programs, Trust::Confirmed]
        .into_iter()
        .find(is_reason)
}
