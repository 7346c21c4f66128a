//! Routes for the recordings of the camera. The commands `recording` start, end and replay them.

use std::fs::File;
use std::io::Read;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use http_body_util::channel::{Channel, Sender};
use serde::Deserialize;
use tokio::runtime::Handle;

use super::super::audit::AuditEvent;
use super::super::body::JsonBody;
use super::super::caller::Caller;
use super::super::error::ApiError;
use super::super::links::{RecordingList, Recordings};
use super::super::state::Panel;

/// Bytes that are read from the disk at once.
const CHUNK_BYTES: usize = 256 << 10;
/// Number of chunks that wait for a slow client.
const CHUNKS_WAITING: usize = 4;

fn recordings(panel: &Panel) -> Result<&Recordings, ApiError> {
    panel.links.recordings.as_ref().ok_or_else(|| {
        ApiError::unavailable("the built-in site keeps no recordings; start Shoal with a site file")
    })
}

/// `GET /api/v1/recordings`.
pub(super) async fn list(State(panel): State<Arc<Panel>>) -> Result<Json<RecordingList>, ApiError> {
    let list = |panel: &Panel| {
        let listed = (recordings(panel)?.list)().map_err(ApiError::unavailable)?;
        Ok(Json(listed))
    };
    panel
        .run_blocking("the recordings cannot be listed", list)
        .await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Change {
    /// Name of the recording to delete.
    remove: String,
}

/// `POST /api/v1/recordings`: deletes a recording. Returns those that are left.
pub(super) async fn change(
    State(panel): State<Arc<Panel>>,
    Extension(caller): Extension<Caller>,
    JsonBody(Change { remove }): JsonBody<Change>,
) -> Result<Json<RecordingList>, ApiError> {
    let removing = move |panel: &Panel| {
        let removed = (recordings(panel)?.remove)(&remove);
        removed.map_err(|message| ApiError::rejected(message, Vec::new()))?;
        panel.note(&caller, AuditEvent::RecordingRemoved, &remove);
        Ok(())
    };
    panel
        .run_blocking("the recording cannot be deleted", removing)
        .await?;
    list(State(panel)).await
}

/// `GET /api/v1/recordings/NAME`.
pub(super) async fn download(
    State(panel): State<Arc<Panel>>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    let place = panel.one_download()?;
    let opened = panel.run_blocking("the recording cannot be read", move |panel| {
        let file = (recordings(panel)?.open)(&name).ok_or_else(ApiError::not_found)?;
        let bytes = (file.metadata().map(|metadata| metadata.len())).map_err(unreadable)?;
        panel.note(&caller, AuditEvent::RecordingRead, &name);
        Ok((file, bytes, name))
    });
    let (file, bytes, name) = opened.await?;
    let (sender, body) = Channel::new(CHUNKS_WAITING);
    tokio::task::spawn_blocking(move || {
        send_file(file, bytes, sender);
        drop(place);
    });
    let headers = [
        (header::CONTENT_LENGTH, bytes.to_string()),
        (header::CONTENT_TYPE, "video/x-yuv4mpeg".to_owned()),
        (
            header::CONTENT_DISPOSITION,
            // The name of an existing recording contains neither quotes nor control characters.
            format!("attachment; filename=\"{name}\""),
        ),
    ];
    Ok((headers, Body::new(body)).into_response())
}

fn unreadable(error: impl std::fmt::Display) -> ApiError {
    ApiError::unavailable(format!("the recording cannot be read: {error}"))
}

/// Reads the first `bytes` of a file, until the client is gone.
fn send_file(mut file: File, bytes: u64, mut body: Sender<Bytes, std::io::Error>) {
    let runtime = Handle::current();
    let mut left = bytes;
    while left > 0 {
        let length = left.min(CHUNK_BYTES as u64);
        let mut chunk = vec![0; usize::try_from(length).unwrap_or(CHUNK_BYTES)];
        if let Err(error) = file.read_exact(&mut chunk) {
            body.abort(error);
            return;
        }
        if runtime.block_on(body.send_data(chunk.into())).is_err() {
            return;
        }
        left -= length;
    }
}
