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
    let sender_of = caller.clone();
    let opened = panel.run_blocking("the recording cannot be read", move |panel| {
        let file = (recordings(panel)?.open)(&name).ok_or_else(ApiError::not_found)?;
        let bytes = (file.metadata().map(|metadata| metadata.len())).map_err(unreadable)?;
        panel.note(&caller, AuditEvent::RecordingRead, &name);
        Ok((file, bytes, name))
    });
    let (file, bytes, name) = opened.await?;
    let (sender, body) = Channel::new(CHUNKS_WAITING);
    tokio::task::spawn_blocking(move || {
        let may_go_on = || sender_of.check_again(&mut panel.access.lock()).is_ok();
        send_file(file, bytes, sender, may_go_on);
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

/// Sends the first `bytes` of a file, until the client is gone or `may_go_on` is false: a download takes minutes, and the session of
/// its reader can end meanwhile.
fn send_file(
    mut file: File,
    bytes: u64,
    mut body: Sender<Bytes, std::io::Error>,
    may_go_on: impl Fn() -> bool,
) {
    let runtime = Handle::current();
    let mut left = bytes;
    while left > 0 {
        if !may_go_on() {
            body.abort(std::io::Error::other("the session has ended"));
            return;
        }
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// A fixed bug: a download went on for minutes after the session of its reader had been ended.
    #[tokio::test]
    async fn a_download_ends_with_the_session() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.y4m");
        let bytes = 4 * CHUNK_BYTES;
        std::fs::write(&path, vec![7; bytes]).unwrap();
        for (chunks, is_whole) in [(2, false), (9, true)] {
            let (sender, body) = Channel::new(CHUNKS_WAITING);
            let file = File::open(&path).unwrap();
            let asked = AtomicUsize::new(0);
            let may_go_on = move || asked.fetch_add(1, Ordering::Relaxed) < chunks;
            let sending = tokio::task::spawn_blocking(move || {
                send_file(file, bytes as u64, sender, may_go_on);
            });
            let read = axum::body::to_bytes(Body::new(body), usize::MAX).await;
            sending.await.unwrap();
            assert_eq!(read.is_ok_and(|read| read.len() == bytes), is_whole);
        }
    }
}
