//! Meshes and scenarios of Cui, Harabor & Grastien 2017 (Polyanya), for tests and benchmarks.

#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "shared by tests and benchmarks, each of which uses a part"
)]

use std::path::{Path, PathBuf};

use glam::Vec2;
use shoal::navigation::NavMesh;

/// Returns the full path of a file in the shared test data.
pub fn shared(path: &str) -> PathBuf {
    let root = std::env::var_os("SHOAL_TEST_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        PathBuf::from,
    );
    root.join("data/nav").join(path)
}

/// Reads a file in the `mesh 2` format.
pub fn mesh(path: &Path) -> Result<NavMesh, String> {
    let broken = |what: &str| format!("{}: {what}", path.display());
    let text = std::fs::read_to_string(path).map_err(|e| broken(&e.to_string()))?;
    let mut words = text.split_ascii_whitespace();
    if words.next() != Some("mesh") || words.next() != Some("2") {
        return Err(broken("the file does not begin with 'mesh 2'"));
    }
    let mut number = || -> Result<f64, String> {
        let word = words
            .next()
            .ok_or_else(|| broken("unexpected end of file"))?;
        word.parse()
            .map_err(|_| broken(&format!("'{word}' is not a number")))
    };
    let (vertex_count, polygon_count) = (number()? as usize, number()? as usize);
    let mut vertices = Vec::new();
    for _ in 0..vertex_count {
        vertices.push(Vec2::new(number()? as f32, number()? as f32));
        for _ in 0..number()? as usize {
            number()?;
        }
    }
    let mut rings = Vec::new();
    for _ in 0..polygon_count {
        let count = number()? as usize;
        let mut ring = Vec::new();
        for _ in 0..count {
            ring.push(number()? as u32);
        }
        for _ in 0..count {
            number()?;
        }
        rings.push((ring, 0));
    }
    NavMesh::new(vertices, &rings).map_err(|e| broken(&e.to_string()))
}

/// Reads the start point and the goal point of every scenario in a `.scen` file.
pub fn problems(path: &Path) -> Result<Vec<(Vec2, Vec2)>, String> {
    let broken = |what: &str| format!("{}: {what}", path.display());
    let text = std::fs::read_to_string(path).map_err(|e| broken(&e.to_string()))?;
    let lines = text
        .lines()
        .enumerate()
        .skip(1)
        .filter(|(_, l)| !l.trim().is_empty());
    lines
        .map(|(number, line)| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let at = |column: usize| fields.get(column).and_then(|f| f.parse::<f32>().ok());
            let both = || Some((Vec2::new(at(4)?, at(5)?), Vec2::new(at(6)?, at(7)?)));
            both().ok_or_else(|| broken(&format!("line {}: not a scenario", number + 1)))
        })
        .collect()
}
