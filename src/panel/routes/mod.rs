//! The routes of the HTTP interface. [`ROUTES`] is all of it: a path or method that is not in the table is answered with an
//! error, and every route in it names the role that it needs.

mod access;
mod accounts;
mod analytics;
mod commands;
mod data;
mod devices;
mod files;
mod metrics;
mod notebook;
mod openapi;
mod page;
mod pictures;
mod recordings;

pub use commands::command_schema_with_roles;

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, get, post};

use super::access::Role;
use super::caller::Need;
use super::error::ApiError;
use super::guard::{check_origin, check_role};
use super::state::Panel;
use super::stream::stream;

/// A route.
pub(crate) struct Route {
    /// Method and path. A part in braces stands for any text.
    pub(crate) name: &'static str,
    /// The permission that it needs. Commands also need the role of the command.
    pub(crate) need: Need,
    handler: fn() -> MethodRouter<Arc<Panel>>,
}

const fn open(name: &'static str, handler: fn() -> MethodRouter<Arc<Panel>>) -> Route {
    Route {
        name,
        need: Need::Open,
        handler,
    }
}

const fn role(role: Role, name: &'static str, handler: fn() -> MethodRouter<Arc<Panel>>) -> Route {
    Route {
        name,
        need: Need::Role(role),
        handler,
    }
}

/// All routes.
pub(crate) const ROUTES: &[Route] = &[
    open("GET /", || get(page::index)),
    open("GET /assets/{*path}", || get(page::asset)),
    open("GET /healthz", || get(data::health)),
    open("GET /api/v1/session", || get(access::session)),
    open("POST /api/v1/setup", || post(access::setup)),
    open("POST /api/v1/login", || post(access::login)),
    open("POST /api/v1/logout", || post(access::logout)),
    role(Role::View, "POST /api/v1/password", || {
        post(access::change_password)
    }),
    role(Role::View, "POST /api/v1/confirm", || post(access::confirm)),
    role(Role::View, "GET /api/v1/devices", || get(accounts::devices)),
    role(Role::View, "POST /api/v1/devices", || {
        post(accounts::change_devices)
    }),
    role(Role::Admin, "GET /api/v1/audit", || get(accounts::audit)),
    role(Role::View, "GET /api/v1/status", || get(data::status)),
    role(Role::View, "GET /api/v1/events", || get(data::events)),
    role(Role::View, "GET /api/v1/schedule", || get(data::schedule)),
    role(Role::View, "GET /api/v1/schema", || get(data::schema)),
    role(Role::View, "GET /api/v1/commands/schema", || {
        get(commands::commands_schema)
    }),
    role(Role::View, "GET /api/v1/openapi.json", || {
        get(openapi::openapi)
    }),
    role(Role::View, "GET /api/v1/documents", || get(data::documents)),
    role(Role::View, "GET /api/v1/analytics", || {
        get(analytics::analytics)
    }),
    role(Role::Admin, "GET /api/v1/cameras", || get(devices::cameras)),
    role(Role::Admin, "GET /api/v1/monitors", || {
        get(devices::monitors)
    }),
    role(Role::View, "GET /api/v1/stream", || get(stream)),
    role(Role::View, "GET /api/v1/camera.jpg", || {
        get(pictures::camera)
    }),
    role(Role::View, "GET /api/v1/mask.jpg", || get(pictures::mask)),
    role(Role::View, "GET /api/v1/output/{file}", || {
        get(pictures::output)
    }),
    role(Role::Operate, "POST /api/v1/commands", || {
        post(commands::commands)
    }),
    role(Role::Operate, "POST /api/v1/do/{*words}", || {
        post(commands::say)
    }),
    role(Role::View, "GET /metrics", || get(metrics::metrics)),
    role(Role::Admin, "GET /api/v1/backup", || get(files::backup)),
    role(Role::Admin, "POST /api/v1/restore", || post(files::restore)),
    role(Role::Admin, "GET /api/v1/versions", || get(files::versions)),
    role(Role::Admin, "POST /api/v1/models", || {
        post(files::add_model)
    }),
    role(Role::Admin, "GET /api/v1/recordings", || {
        get(recordings::list)
    }),
    role(Role::Admin, "POST /api/v1/recordings", || {
        post(recordings::change)
    }),
    role(Role::Admin, "GET /api/v1/recordings/{recording}", || {
        get(recordings::download)
    }),
    role(Role::Admin, "GET /api/v1/notebook", || get(notebook::read)),
    role(Role::Admin, "POST /api/v1/notebook", || post(notebook::add)),
    role(Role::Admin, "GET /api/v1/log", || get(data::log)),
    role(Role::Admin, "GET /api/v1/log.txt", || get(data::log_text)),
    role(Role::Admin, "GET /api/v1/users", || get(accounts::users)),
    role(Role::Admin, "POST /api/v1/users", || {
        post(accounts::change_users)
    }),
    role(Role::Admin, "GET /api/v1/tokens", || get(accounts::tokens)),
    role(Role::Admin, "POST /api/v1/tokens", || {
        post(accounts::change_tokens)
    }),
];

/// Returns the router of all routes.
pub(crate) fn router(panel: &Arc<Panel>) -> Router {
    let mut router = Router::new();
    for route in ROUTES {
        let path = route.name.split_once(' ').map_or("/", |(_, path)| path);
        let check = from_fn_with_state((Arc::clone(panel), route.need), check_role);
        router = router.route(path, (route.handler)().route_layer(check));
    }
    router
        .fallback(|| async { ApiError::not_found() })
        .method_not_allowed_fallback(|| async {
            ApiError::new(
                StatusCode::METHOD_NOT_ALLOWED,
                "method_not_allowed",
                "this address has no such method",
            )
        })
        .layer(from_fn_with_state(Arc::clone(panel), check_origin))
        .with_state(Arc::clone(panel))
}
