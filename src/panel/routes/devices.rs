//! Routes that list the devices of the machine: cameras and monitors, with the names that the site file uses.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::Value;

use super::super::error::ApiError;
use super::super::links::{Devices, ListDevices};
use super::super::state::Panel;

/// `GET /api/v1/cameras`.
pub(super) async fn cameras(State(panel): State<Arc<Panel>>) -> Result<Json<Value>, ApiError> {
    list(panel, |devices| &devices.cameras).await
}

/// `GET /api/v1/monitors`.
pub(super) async fn monitors(State(panel): State<Arc<Panel>>) -> Result<Json<Value>, ApiError> {
    list(panel, |devices| &devices.monitors).await
}

async fn list(
    panel: Arc<Panel>,
    which: fn(&Devices) -> &ListDevices,
) -> Result<Json<Value>, ApiError> {
    let _one = panel.one_listing().await;
    let listing = move |panel: &Panel| {
        let listed = (which(&panel.links.devices))();
        listed.map(Json).map_err(ApiError::unavailable)
    };
    panel
        .run_blocking("the devices cannot be listed", listing)
        .await
}
