//! Maps and scenarios of the Moving AI Lab (movingai.com), for tests and benchmarks.

#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "shared by tests and benchmarks, each of which uses a part"
)]

use std::path::{Path, PathBuf};

use glam::UVec2;
use shoal::navigation::GridMap;

/// A start and a goal on a map, and the cost of the shortest path between them.
pub struct Problem {
    pub start: UVec2,
    pub goal: UVec2,
    pub optimum: f64,
}

/// Returns the full path of a file in the shared test data.
pub fn shared(path: &str) -> PathBuf {
    let root = std::env::var_os("SHOAL_TEST_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        PathBuf::from,
    );
    root.join("data/nav").join(path)
}

pub fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Reads a `.map` file: a header, then one line of characters per row of cells. The characters `.`, `G` and `S` are
/// free cells, all others are blocked.
pub fn map(path: &Path) -> Result<GridMap, String> {
    let text = read(path)?;
    let broken = |what: &str| format!("{}: {what}", path.display());
    let value = |name: &str| {
        text.lines()
            .take(4)
            .find_map(|line| line.strip_prefix(name)?.trim().parse::<u32>().ok())
            .ok_or_else(|| {
                broken(&format!(
                    "no line '{name} NUMBER' among the first four lines"
                ))
            })
    };
    let (width, height) = (value("width ")?, value("height ")?);
    let mut map = GridMap::default();
    map.reset(width, height);
    let mut rows = text.lines().skip_while(|line| line.trim() != "map").skip(1);
    for y in 0..height {
        let row = rows
            .next()
            .ok_or_else(|| broken("fewer rows than the header says"))?;
        if row.trim_end().len() < width as usize {
            return Err(broken(&format!(
                "row {y} is shorter than the width in the header"
            )));
        }
        for (x, c) in row.bytes().take(width as usize).enumerate() {
            let x = x as u32;
            map.fill_row(y, x, x + 1, matches!(c, b'.' | b'G' | b'S'));
        }
    }
    Ok(map)
}

/// Reads a `.scen` file. Its columns: bucket, map, width, height, start x, start y, goal x, goal y, cost of the shortest
/// path with straight steps of length 1 and diagonal steps of length √2.
pub fn problems(path: &Path) -> Result<Vec<Problem>, String> {
    let text = read(path)?;
    let lines = text
        .lines()
        .enumerate()
        .skip(1)
        .filter(|(_, l)| !l.trim().is_empty());
    lines
        .map(|(number, line)| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let whole = |column: usize| fields.get(column).and_then(|f| f.parse::<u32>().ok());
            let problem = || {
                Some(Problem {
                    start: UVec2::new(whole(4)?, whole(5)?),
                    goal: UVec2::new(whole(6)?, whole(7)?),
                    optimum: fields.get(8)?.parse().ok()?,
                })
            };
            problem().ok_or_else(|| format!("{}:{}: not a scenario", path.display(), number + 1))
        })
        .collect()
}
