//! Routes for the maintenance notebook.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::body::JsonBody;
use super::super::error::ApiError;
use super::super::links::Notebook;
use super::super::state::Panel;

fn notebook(panel: &Panel) -> Result<&Notebook, ApiError> {
    panel.links.notebook.as_ref().ok_or_else(|| {
        ApiError::unavailable("the built-in site keeps no notebook; start Shoal with a site file")
    })
}

/// `GET /api/v1/notebook`: all entries, the oldest first.
pub(super) async fn read(State(panel): State<Arc<Panel>>) -> Result<Json<Value>, ApiError> {
    let read = |panel: &Panel| {
        let entries = (notebook(panel)?.read)().map_err(ApiError::unavailable)?;
        Ok(Json(json!({"entries": entries})))
    };
    panel
        .run_blocking("the notebook cannot be read", read)
        .await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewEntry {
    person: String,
    note: String,
}

/// `POST /api/v1/notebook`: adds an entry. Returns all entries.
pub(super) async fn add(
    State(panel): State<Arc<Panel>>,
    JsonBody(NewEntry { person, note }): JsonBody<NewEntry>,
) -> Result<Json<Value>, ApiError> {
    let adding = move |panel: &Panel| {
        let added = (notebook(panel)?.add)(&person, &note);
        added.map_err(|message| ApiError::rejected(message, Vec::new()))
    };
    panel
        .run_blocking("the notebook cannot be written", adding)
        .await?;
    read(State(panel)).await
}
