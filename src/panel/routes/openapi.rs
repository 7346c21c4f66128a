//! The description of the HTTP interface for programs: an OpenAPI document. Its sentences are those of the table in `docs/panel.md`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::{Map, Value, json};

use super::super::access::Role;
use super::super::caller::Need;
use super::super::state::Panel;
use super::commands::commands_schema;
use super::{ROUTES, Route};

/// The page with the table of the routes.
const PAGE: &str = include_str!("../../../docs/panel.md");
/// Start of most paths, which the page leaves out after the first one of a row.
const BASE: &str = "/api/v1";

/// A row of the table: the routes that it describes, the keys of their query, and its sentence.
struct Row {
    routes: Vec<(String, String)>,
    query: Vec<String>,
    text: String,
}

/// `GET /api/v1/openapi.json`.
pub(super) async fn openapi(State(panel): State<Arc<Panel>>) -> Json<Value> {
    let Json(commands) = commands_schema().await;
    let version = &panel.links.client.status().versions.shoal;
    Json(document(&commands, version))
}

fn document(commands: &Value, version: &str) -> Value {
    let rows = rows(PAGE);
    let mut paths = Map::new();
    for route in ROUTES {
        let (method, path) = route.name.split_once(' ').unwrap_or_default();
        // The page itself is for browsers.
        let Some(row) = rows.iter().find(|row| row.describes(method, path)) else {
            continue;
        };
        let path = path.replace("{*", "{");
        let operations = paths.entry(path.clone()).or_insert_with(|| json!({}));
        operations[method.to_lowercase()] = operation(route, method, &path, row);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Shoal",
            "version": version,
            "description": "The panel of an interactive pool. Programs log in with a token of the panel (System, Tokens).",
        },
        "servers": [{ "url": "/" }],
        "security": [{ "token": [] }],
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "schemas": schemas(commands.clone()),
        },
        "paths": paths,
    })
}

/// Returns the schema of the commands and those that it refers to, at the place where OpenAPI has them.
fn schemas(mut commands: Value) -> Value {
    refer_to_components(&mut commands);
    let parts = commands.as_object_mut().and_then(|fields| {
        fields.remove("$schema");
        fields.remove("$defs")
    });
    let mut schemas = parts.unwrap_or_else(|| json!({}));
    schemas["Command"] = commands;
    schemas
}

fn refer_to_components(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::String(reference)) = fields.get_mut("$ref") {
                *reference = reference.replace("#/$defs/", "#/components/schemas/");
            }
            fields.values_mut().for_each(refer_to_components);
        }
        Value::Array(items) => items.iter_mut().for_each(refer_to_components),
        _ => {}
    }
}

fn operation(route: &Route, method: &str, path: &str, row: &Row) -> Value {
    let mut parameters: Vec<Value> = Vec::new();
    let mut add = |name: &str, place: &str| {
        parameters.push(json!({
            "name": name, "in": place, "required": place == "path", "schema": { "type": "string" },
        }));
    };
    for part in path.split('/') {
        if let Some(name) = part.strip_prefix('{').and_then(|p| p.strip_suffix('}')) {
            add(name, "path");
        }
    }
    if method == "GET" || path.ends_with("/models") {
        row.query.iter().for_each(|key| add(key, "query"));
    }
    let role = match route.need {
        Need::Open => "none",
        Need::Role(Role::View) => "view",
        Need::Role(Role::Operate) => "operate",
        Need::Role(Role::Admin) => "admin",
    };
    let id: String = (path.trim_start_matches(BASE).chars())
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    let mut operation = json!({
        "operationId": format!("{}_{}", method.to_lowercase(), id.trim_matches('_')),
        "description": row.text,
        "x-role": role,
        "parameters": parameters,
        "responses": {
            "200": { "description": "Done." },
            "4XX": { "description": "Refused: {\"error\": {\"code\", \"message\"}}." },
        },
    });
    if matches!(route.need, Need::Open) {
        operation["security"] = json!([]);
    }
    let command = json!({ "$ref": "#/components/schemas/Command" });
    let body = match path.trim_start_matches(BASE) {
        "/commands" => json!({ "oneOf": [command, { "type": "array", "items": command }] }),
        "/do/{words}" | "/logout" => return operation,
        _ => json!({ "type": "object" }),
    };
    let media = match path.trim_start_matches(BASE) {
        "/restore" => "application/x-tar",
        "/models" => "model/gltf-binary",
        _ => "application/json",
    };
    if method == "POST" {
        operation["requestBody"] = match media {
            "application/json" => json!({ "content": { media: { "schema": body } } }),
            _ => json!({ "content": { media: {} } }),
        };
    }
    operation
}

impl Row {
    fn describes(&self, method: &str, path: &str) -> bool {
        (self.routes.iter()).any(|(known, as_written)| known == method && is_same(path, as_written))
    }
}

/// Whether a path with names in braces is that of the page, where words in capitals stand for the names.
fn is_same(path: &str, as_written: &str) -> bool {
    let mut written = as_written.split('/');
    for part in path.split('/') {
        match written.next() {
            Some(_) if part.starts_with("{*") => return true,
            Some(other) if part == other || part.starts_with('{') && has_name(other) => {}
            _ => return false,
        }
    }
    written.next().is_none()
}

fn has_name(part: &str) -> bool {
    part.starts_with(|c: char| c.is_ascii_uppercase())
}

/// Returns the rows of the table of the page.
fn rows(page: &str) -> Vec<Row> {
    let table = page
        .lines()
        .skip_while(|line| !line.starts_with("| route |"));
    let table = table.skip(2).take_while(|line| line.starts_with('|'));
    table.filter_map(row_of).collect()
}

fn row_of(line: &str) -> Option<Row> {
    // A bar inside of a cell is written with a backslash.
    let line = line.replace("\\|", "\u{0}");
    let mut cells = line
        .split('|')
        .skip(1)
        .map(|cell| cell.trim().replace('\u{0}', "|"));
    let (first, _role, text) = (cells.next()?, cells.next()?, cells.next()?);
    let (mut routes, mut methods, mut query) = (Vec::new(), Vec::new(), Vec::new());
    for code in first.split('`').skip(1).step_by(2) {
        let (method, path) = match code.split_once(' ') {
            Some((method, path)) => (Some(method), path),
            None if code.starts_with('/') => (None, code),
            None if matches!(code, "GET" | "POST") => {
                methods.push(code.to_owned());
                continue;
            }
            None => {
                query.extend(keys_of(code));
                continue;
            }
        };
        // A short path has the methods of the one before it.
        if let Some(method) = method {
            if routes.is_empty() {
                methods.push(method.to_owned());
            } else {
                methods = vec![method.to_owned()];
            }
        }
        let (path, keys) = path.split_once('?').unwrap_or((path, ""));
        query.extend(keys_of(keys));
        let is_whole = method.is_some();
        let path = if is_whole {
            path.to_owned()
        } else {
            format!("{BASE}{path}")
        };
        routes.extend(methods.iter().map(|method| (method.clone(), path.clone())));
    }
    query.sort();
    query.dedup();
    Some(Row {
        routes,
        query,
        text: text.replace('`', ""),
    })
}

/// Returns the keys of `a=1&b=2`.
fn keys_of(query: &str) -> Vec<String> {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(key, _)| key.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_of_the_interface_is_described() {
        let document = document(&json!({ "oneOf": [] }), "1.0");
        for route in ROUTES {
            let (method, path) = route.name.split_once(' ').unwrap();
            if path == "/" || path.starts_with("/assets") {
                continue;
            }
            let operation = &document["paths"][path.replace("{*", "{")][method.to_lowercase()];
            let text = operation["description"].as_str().unwrap_or_default();
            assert!(
                text.len() > 5,
                "{} is not in the table of docs/panel.md",
                route.name
            );
        }
        let paths = document["paths"].as_object().unwrap();
        let analytics = &paths["/api/v1/analytics"]["get"]["parameters"];
        let names: Vec<_> = (analytics.as_array().unwrap().iter())
            .map(|parameter| parameter["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["by", "format", "from", "to"]);
        let say = &paths["/api/v1/do/{words}"]["post"];
        assert_eq!(
            (&say["x-role"], &say["parameters"][0]["in"]),
            (&json!("operate"), &json!("path"))
        );
        assert_eq!(paths["/api/v1/login"]["post"]["security"], json!([]));
    }

    #[test]
    fn every_reference_of_the_commands_is_in_the_document() {
        let document = document(&crate::control::command_schema(), "1.0");
        let text = document.to_string();
        assert!(!text.contains("$defs"));
        let references = text.split("\"#/components/schemas/").skip(1);
        let names: Vec<&str> = references
            .filter_map(|rest| rest.split('"').next())
            .collect();
        assert!(names.len() > 20, "{names:?}");
        for name in names {
            assert!(!document["components"]["schemas"][name].is_null(), "{name}");
        }
    }

    #[test]
    fn the_page_names_no_route_that_does_not_exist() {
        for row in rows(PAGE) {
            for (method, path) in &row.routes {
                let exists = ROUTES.iter().any(|route| {
                    let (known, route_path) = route.name.split_once(' ').unwrap();
                    known == method && is_same(route_path, path)
                });
                assert!(exists, "{method} {path}");
            }
        }
    }
}
