//! Maps and scenarios of the Moving AI Lab (movingai.com), for tests and benchmarks.

#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "shared by tests and benchmarks, each of which uses a part"
)]

use std::path::{Path, PathBuf};

use glam::UVec2;
use shoal::navigation::grid::GridMap;

/// One problem: a way on a map, and the cost of the shortest.
pub struct Problem {
    pub start: UVec2,
    pub goal: UVec2,
    pub optimum: f64,
}

/// A file of the shared test data.
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

/// A `.map` file: a header, then a row of characters per row of cells; `.`, `G` and `S` are free.
pub fn map(path: &Path) -> Result<GridMap, String> {
    let text = read(path)?;
    let broken = |what: &str| format!("{}: {what}", path.display());
    let value = |name: &str| {
        text.lines()
            .take(4)
            .find_map(|line| line.strip_prefix(name)?.trim().parse::<u32>().ok())
            .ok_or_else(|| broken(&format!("no '{name} NUMBER' in the first four lines")))
    };
    let (width, height) = (value("width ")?, value("height ")?);
    let mut map = GridMap::default();
    map.reset(width, height);
    let mut rows = text.lines().skip_while(|line| line.trim() != "map").skip(1);
    for y in 0..height {
        let row = rows
            .next()
            .ok_or_else(|| broken("fewer rows than its height"))?;
        if row.trim_end().len() < width as usize {
            return Err(broken(&format!("row {y} is shorter than its width")));
        }
        for (x, c) in row.bytes().take(width as usize).enumerate() {
            let x = x as u32;
            map.fill_row(y, x, x + 1, matches!(c, b'.' | b'G' | b'S'));
        }
    }
    Ok(map)
}

/// A `.scen` file: bucket, map, width, height, start x y, goal x y, octile cost of the shortest way.
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
            let whole = |place: usize| fields.get(place).and_then(|f| f.parse::<u32>().ok());
            let problem = || {
                Some(Problem {
                    start: UVec2::new(whole(4)?, whole(5)?),
                    goal: UVec2::new(whole(6)?, whole(7)?),
                    optimum: fields.get(8)?.parse().ok()?,
                })
            };
            problem().ok_or_else(|| format!("{}:{}: no scenario", path.display(), number + 1))
        })
        .collect()
}
