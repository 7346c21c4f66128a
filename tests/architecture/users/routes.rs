//! Routes of the panel.

use std::collections::BTreeSet;

use super::texts;

const ROUTES: &str = include_str!("../../../src/panel/routes/mod.rs");

/// Returns the routes in the table of the source file, such as `GET /api/v1/output/{file}`.
fn routes(source: &str) -> impl Iterator<Item = &str> {
    let is_route = |text: &&str| text.starts_with("GET /") || text.starts_with("POST /");
    source.split('"').skip(1).step_by(2).filter(is_route)
}

/// Whether a page or a document names the path of a route, in full or below `/api/v1`.
fn is_used(route: &str, text: &str) -> bool {
    let path = route.split(' ').nth(1).unwrap_or_default();
    let fixed = path.split('{').next().unwrap_or_default();
    let short = fixed.strip_prefix("/api/v1").unwrap_or(fixed);
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let is_whole = fixed == path;
    text.match_indices(short)
        .any(|(at, _)| !is_whole || ends(&text[at + short.len()..]))
}

fn without_user_in(source: &str, text: &str) -> BTreeSet<String> {
    let left = routes(source).filter(|route| !is_used(route, text));
    left.map(|route| format!("route {route}")).collect()
}

pub(super) fn without_user() -> BTreeSet<String> {
    let text = texts::pages() + &texts::code_of(&texts::documents());
    without_user_in(ROUTES, &text)
}

#[test]
fn a_made_up_route_is_found() {
    let source = r#"role("GET /api/v1/log"), role("POST /api/v1/made_up"), role("GET /api/v1/output/{file}")"#;
    let found = without_user_in(source, "get(\"/logs\"), `/output/2`");
    assert_eq!(
        found.into_iter().collect::<Vec<_>>(),
        ["route GET /api/v1/log", "route POST /api/v1/made_up"]
    );
    assert!(routes(ROUTES).count() > 20);
}
