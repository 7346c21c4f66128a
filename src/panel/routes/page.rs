//! The page and its files.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::super::assets::{INDEX, asset as find_asset};
use super::super::error::ApiError;
use super::super::state::Panel;

/// `GET /`.
pub(super) async fn index(
    State(panel): State<Arc<Panel>>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    answer(&panel, INDEX, &headers)
}

/// `GET /assets/…`.
pub(super) async fn asset(
    State(panel): State<Arc<Panel>>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    answer(&panel, &name, &headers)
}

/// Returns a file. A browser asks every time, and gets the content only if it has changed since the program started.
fn answer(panel: &Panel, name: &str, headers: &HeaderMap) -> Result<Response, ApiError> {
    let (kind, content) = find_asset(name).ok_or_else(ApiError::not_found)?;
    let tag = HeaderValue::from_str(&format!("\"{}\"", panel.instance));
    let tag = tag.map_err(|_| ApiError::not_found())?;
    let is_known = headers.get(header::IF_NONE_MATCH) == Some(&tag);
    let is_fixed = content.is_borrowed();
    let mut response = if is_known && is_fixed {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        ([(header::CONTENT_TYPE, kind)], content.into_bytes()).into_response()
    };
    let headers = response.headers_mut();
    if is_fixed {
        headers.insert(header::ETAG, tag);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    }
    Ok(response)
}
