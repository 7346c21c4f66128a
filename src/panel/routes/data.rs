//! Routes that only read: health, status, events, schema.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::access::Role;
use super::super::caller::Caller;
use super::super::error::ApiError;
use super::super::log_ring::LogLevel;
use super::super::state::Panel;
use crate::control::{DocumentsReader, EventPage};

/// `GET /healthz`.
pub(super) async fn health(State(panel): State<Arc<Panel>>) -> Json<Value> {
    let is_healthy = panel.links.client.status().is_healthy;
    Json(json!({"status": if is_healthy { "ok" } else { "degraded" }}))
}

/// `GET /api/v1/schedule`: what the installation shows on the next days.
pub(super) async fn schedule(State(panel): State<Arc<Panel>>) -> Response {
    Json(&*panel.links.client.schedule_preview()).into_response()
}

/// `GET /api/v1/status`.
pub(super) async fn status(State(panel): State<Arc<Panel>>) -> Response {
    Json(&*panel.links.client.status()).into_response()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EventsQuery {
    #[serde(default)]
    after: u64,
    #[serde(default)]
    limit: Option<usize>,
}

/// `GET /api/v1/events`.
pub(super) async fn events(
    State(panel): State<Arc<Panel>>,
    query: Result<Query<EventsQuery>, QueryRejection>,
) -> Result<Json<EventPage>, ApiError> {
    let Query(query) = query.map_err(|error| ApiError::bad_request(error.body_text()))?;
    let mut page = panel.links.client.events_after(query.after, Duration::ZERO);
    page.events.truncate(query.limit.unwrap_or(usize::MAX));
    Ok(Json(page))
}

/// `GET /api/v1/schema`.
pub(super) async fn schema(State(panel): State<Arc<Panel>>) -> Result<Response, ApiError> {
    let make = |panel: &Panel| Ok(json_text((panel.links.schema)()));
    panel.run_blocking("the schema cannot be made", make).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LogQuery {
    #[serde(default)]
    after: u64,
    #[serde(default)]
    level: Option<LogLevel>,
}

/// `GET /api/v1/log`.
pub(super) async fn log(
    State(panel): State<Arc<Panel>>,
    query: Result<Query<LogQuery>, QueryRejection>,
) -> Result<Response, ApiError> {
    let Query(query) = query.map_err(|error| ApiError::bad_request(error.body_text()))?;
    let level = query.level.unwrap_or(LogLevel::Info);
    let page = panel.links.log.after(query.after, level);
    Ok(Json(page).into_response())
}

/// `GET /api/v1/log.txt`.
pub(super) async fn log_text(State(panel): State<Arc<Panel>>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/plain; charset=utf-8"),
        (
            header::CONTENT_DISPOSITION,
            "attachment; filename=\"shoal-log.txt\"",
        ),
    ];
    (headers, panel.links.log.text()).into_response()
}

/// `GET /api/v1/documents`.
pub(super) async fn documents(
    State(panel): State<Arc<Panel>>,
    Extension(caller): Extension<Caller>,
) -> Result<Response, ApiError> {
    let reader = match caller.identity()?.role {
        Role::Admin => DocumentsReader::Admin,
        Role::View | Role::Operate => DocumentsReader::Other,
    };
    let page = panel.links.client.documents();
    let make = move |_: &Panel| Ok(json_text(page.json(reader).to_owned()));
    panel
        .run_blocking("the documents cannot be shown", make)
        .await
}

/// Returns an answer with a text that is JSON already.
pub(super) fn json_text(text: String) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}
