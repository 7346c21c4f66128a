//! Routes with the newest picture of the camera and of the outputs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::super::error::ApiError;
use super::super::hub::PictureChannel;
use super::super::state::Panel;

/// Longest wait for a picture. A machine without a graphics card that is busy draws one every other second.
const PICTURE_TIMEOUT: Duration = Duration::from_secs(4);
/// Age up to which a picture counts as the newest one.
const NEW_ENOUGH: Duration = Duration::from_millis(300);

/// `GET /api/v1/camera.jpg`.
pub(super) async fn camera(State(panel): State<Arc<Panel>>) -> Result<Response, ApiError> {
    newest(&panel.hub.camera).await
}

/// `GET /api/v1/output/N.jpg`.
pub(super) async fn output(
    State(panel): State<Arc<Panel>>,
    Path(file): Path<String>,
) -> Result<Response, ApiError> {
    let number = file
        .strip_suffix(".jpg")
        .and_then(|n| n.parse::<usize>().ok());
    let outputs = panel.links.client.status().outputs.len();
    let number = number.filter(|number| *number < outputs);
    let channel = number.and_then(|number| panel.hub.outputs.get(number));
    newest(channel.ok_or_else(ApiError::not_found)?).await
}

async fn newest(channel: &PictureChannel) -> Result<Response, ApiError> {
    let asked = Instant::now();
    let mut newest = channel.newest.subscribe();
    let is_new = |picture: &Option<(Instant, _)>| {
        picture
            .as_ref()
            .is_some_and(|(at, _)| asked.saturating_duration_since(*at) < NEW_ENOUGH)
    };
    let picture = tokio::time::timeout(PICTURE_TIMEOUT, newest.wait_for(is_new)).await;
    let picture = match &picture {
        Ok(Ok(picture)) => picture
            .as_ref()
            .map(|(_, message)| message.slice(PictureChannel::HEAD..)),
        Ok(Err(_)) | Err(_) => None,
    };
    let picture = picture.ok_or_else(|| ApiError::unavailable("there is no picture at present"))?;
    Ok(([(header::CONTENT_TYPE, "image/jpeg")], picture).into_response())
}
