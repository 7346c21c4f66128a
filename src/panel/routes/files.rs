//! Backup of the site as one archive, earlier versions of its files, and new models.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::archive::{read_archive, write_archive};
use super::super::audit::AuditEvent;
use super::super::body::{need_media_type, read_upload};
use super::super::caller::Caller;
use super::super::error::ApiError;
use super::super::links::SiteFiles;
use super::super::state::Panel;
use crate::control::DocumentName;

/// Media type of an archive.
const TAR: &str = "application/x-tar";
/// Largest archive that is taken, in bytes.
const ARCHIVE_BYTES_MAX: usize = 64 << 20;

/// Media type of a model.
const GLB: &str = "model/gltf-binary";
/// Largest model that is taken, in bytes. A backup contains no larger file.
const MODEL_BYTES_MAX: usize = 32 << 20;

fn site_files(panel: &Panel) -> Result<&SiteFiles, ApiError> {
    panel.links.archive.as_ref().ok_or_else(|| {
        ApiError::unavailable("the built-in site has no files; start Shoal with a site file")
    })
}

/// `GET /api/v1/backup`.
pub(super) async fn backup(
    State(panel): State<Arc<Panel>>,
    Extension(caller): Extension<Caller>,
) -> Result<Response, ApiError> {
    panel.note(&caller, AuditEvent::Backup, "");
    let _one = panel.one_upload()?;
    let made = panel.run_blocking("the backup failed", |panel| {
        let files = (site_files(panel)?.read)().map_err(ApiError::unavailable)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Ok(write_archive(&files, now.map_or(0, |now| now.as_secs())))
    });
    let made = made.await?;
    let headers = [
        (header::CONTENT_TYPE, TAR),
        (
            header::CONTENT_DISPOSITION,
            "attachment; filename=\"shoal-backup.tar\"",
        ),
    ];
    Ok((headers, made).into_response())
}

/// `POST /api/v1/restore`.
pub(super) async fn restore(
    State(panel): State<Arc<Panel>>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Value>, ApiError> {
    need_media_type(&headers, TAR)?;
    caller.need_password(&panel.access.lock())?;
    let _one = panel.one_upload()?;
    let bytes = read_upload((&panel, &caller), (&headers, body), TAR, ARCHIVE_BYTES_MAX).await?;
    let trust = panel.trust(&caller);
    let restored = panel.run_blocking("the restore failed", move |panel| {
        let files =
            read_archive(&bytes).map_err(|message| ApiError::rejected(message, Vec::new()))?;
        let rejected = |problems| ApiError::rejected("the backup is no valid site", problems);
        (site_files(panel)?.restore)(&files, trust).map_err(rejected)?;
        Ok(files.len())
    });
    let files = restored.await?;
    panel.note(&caller, AuditEvent::Restored, &format!("{files} files"));
    Ok(Json(json!({"files": files})))
}

/// `GET /api/v1/versions`: the earlier texts of the document that the query names.
pub(super) async fn versions(
    State(panel): State<Arc<Panel>>,
    query: Result<Query<DocumentName>, QueryRejection>,
) -> Result<Json<Value>, ApiError> {
    let Query(document) = query.map_err(|error| ApiError::bad_request(error.body_text()))?;
    let read = panel.run_blocking("the versions cannot be read", move |panel| {
        let versions = (site_files(panel)?.versions)(&document);
        Ok(json!({"versions": versions.map_err(ApiError::bad_request)?}))
    });
    let versions = read.await?;
    Ok(Json(versions))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelQuery {
    /// The wished name.
    #[serde(default)]
    name: String,
}

/// `POST /api/v1/models`.
pub(super) async fn add_model(
    State(panel): State<Arc<Panel>>,
    Extension(caller): Extension<Caller>,
    query: Result<Query<ModelQuery>, QueryRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Value>, ApiError> {
    let _one = panel.one_upload()?;
    let Query(query) = query.map_err(|error| ApiError::bad_request(error.body_text()))?;
    let bytes = read_upload((&panel, &caller), (&headers, body), GLB, MODEL_BYTES_MAX).await?;
    let added = panel.run_blocking("the model cannot be added", move |panel| {
        let added = (site_files(panel)?.add_model)(&query.name, &bytes);
        added.map_err(|message| ApiError::rejected(message, Vec::new()))
    });
    let model = added.await?;
    panel.note(&caller, AuditEvent::ModelAdded, &model);
    Ok(Json(json!({"model": model})))
}
