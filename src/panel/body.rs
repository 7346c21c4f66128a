//! Bodies of requests.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use serde::de::DeserializeOwned;

use super::caller::Caller;
use super::error::ApiError;
use super::state::Panel;

/// Largest JSON body of most requests, in bytes: a note with escapes has some 24 KB. Strangers can send it too.
pub(crate) const JSON_BYTES_MAX: usize = 64 << 10;
/// Largest JSON body with commands, in bytes. A command may contain a document or a table of points.
pub(crate) const COMMANDS_BYTES_MAX: usize = 1 << 20;
/// Longest time in which a client sends the body of a request.
const BODY_TIMEOUT: Duration = Duration::from_secs(20);
/// Longest time in which a client sends a file.
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(180);

/// A JSON body of at most this number of bytes. Only `application/json` is accepted, which no form of another site can send.
pub(crate) struct JsonBody<T, const BYTES_MAX: usize = JSON_BYTES_MAX>(pub(crate) T);

impl<T: DeserializeOwned, const BYTES_MAX: usize> FromRequest<Arc<Panel>>
    for JsonBody<T, BYTES_MAX>
{
    type Rejection = ApiError;

    async fn from_request(request: Request, panel: &Arc<Panel>) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        need_media_type(&parts.headers, "application/json")?;
        let bytes = read_body(body, &parts.headers, BYTES_MAX, BODY_TIMEOUT).await?;
        // The body may have taken as long as the session of its sender.
        if let Some(caller) = parts.extensions.get::<Caller>() {
            caller.check_again(&mut panel.access.lock())?;
        }
        let value = serde_json::from_slice(&bytes);
        value.map(Self).map_err(|error| {
            ApiError::bad_request(format!("this is not what is expected: {error}"))
        })
    }
}

/// Reads the body of a request.
///
/// # Errors
/// When it is larger than `bytes_max`, or does not come within `time`.
async fn read_body(
    body: Body,
    headers: &HeaderMap,
    bytes_max: usize,
    time: Duration,
) -> Result<Bytes, ApiError> {
    let announced = headers.get(header::CONTENT_LENGTH);
    let announced = announced.and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|bytes| bytes > bytes_max as u64) {
        return Err(ApiError::too_large(bytes_max));
    }
    let read = tokio::time::timeout(time, axum::body::to_bytes(body, bytes_max)).await;
    match read {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(_)) => Err(ApiError::too_large(bytes_max)),
        Err(_) => Err(ApiError::bad_request("the request did not arrive in time")),
    }
}

/// Reads a file. Only the media type `kind` is accepted, which no form of another site can send.
///
/// # Errors
/// As [`read_body`], and when the sender may no longer send it.
pub(crate) async fn read_upload(
    (panel, caller): (&Panel, &Caller),
    (headers, body): (&HeaderMap, Body),
    kind: &str,
    bytes_max: usize,
) -> Result<Bytes, ApiError> {
    need_media_type(headers, kind)?;
    let bytes = read_body(body, headers, bytes_max, UPLOAD_TIMEOUT).await?;
    caller.check_again(&mut panel.access.lock())?;
    Ok(bytes)
}

/// Refuses a request with another media type than `wanted`.
///
/// # Errors
/// See above.
pub(crate) fn need_media_type(headers: &HeaderMap, wanted: &str) -> Result<(), ApiError> {
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case(wanted) {
        return Ok(());
    }
    Err(ApiError::new(
        axum::http::StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "unsupported_media",
        format!("send this with the header Content-Type: {wanted}"),
    ))
}
