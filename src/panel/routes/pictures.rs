//! Routes with the newest picture of the camera, of its foreground mask and of the outputs. The header `X-Picture-Step` is the number of camera pixels per
//! pixel of a camera picture, which a page needs to convert a position in the picture to camera pixels.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};

use super::super::error::ApiError;
use super::super::hub::PictureChannel;
use super::super::state::Panel;

/// Longest wait for a picture. A machine without a graphics card that is busy draws one every other second.
const PICTURE_TIMEOUT: Duration = Duration::from_secs(4);
/// Header with the number of source pixels per pixel.
const STEP: HeaderName = HeaderName::from_static("x-picture-step");
/// Age up to which a picture counts as the newest one.
const NEW_ENOUGH: Duration = Duration::from_millis(300);

/// `GET /api/v1/camera.jpg`.
pub(super) async fn camera(State(panel): State<Arc<Panel>>) -> Result<Response, ApiError> {
    newest(&panel.hub.camera).await
}

/// `GET /api/v1/mask.jpg`.
pub(super) async fn mask(State(panel): State<Arc<Panel>>) -> Result<Response, ApiError> {
    newest(&panel.hub.mask).await
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
    let mut newest = channel.newest.reader();
    let is_new = |picture: &Option<(Instant, _)>| {
        picture
            .as_ref()
            .is_some_and(|(at, _)| asked.saturating_duration_since(*at) < NEW_ENOUGH)
    };
    let picture = tokio::time::timeout(PICTURE_TIMEOUT, newest.wait_for(is_new)).await;
    let message = picture.ok().flatten().flatten();
    let (_, message) =
        message.ok_or_else(|| ApiError::unavailable("there is no picture at present"))?;
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("image/jpeg"));
    if let Some(step) = PictureChannel::step_of(&message) {
        headers.insert(STEP, HeaderValue::from(u16::from(step)));
    }
    Ok((headers, message.slice(PictureChannel::HEAD..)).into_response())
}
