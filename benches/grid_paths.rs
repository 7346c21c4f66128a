//! Benchmark of path planning on grids. It compares the path costs with the optimal costs that movingai.com lists for its
//! maps, and the times with the `pathfinding` crate in the same run.
//!
//! `cargo bench --bench grid_paths -- [--map FILE --scen FILE] [--peer-every N]`

#![allow(clippy::print_stdout, clippy::print_stderr, missing_docs)]

#[path = "../tests/pool/movingai/mod.rs"]
mod movingai;

use std::path::{Path, PathBuf};
use std::time::Duration;

use cpu_time::ThreadTime;
use glam::{UVec2, Vec2};
use movingai::Problem;
use shoal::navigation::{
    FloorRect, Footprints, GridInput, GridMap, GridSearch, LocalGrid, SearchEffort, SearchProgress,
    SearchRules,
};

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| {
        let place = arguments.iter().position(|a| a == name)?;
        arguments.get(place + 1).cloned()
    };
    let peer_every = value("--peer-every").map_or(Ok(20), |n| n.parse::<usize>());
    let peer_every = peer_every
        .map_err(|error| format!("--peer-every: {error}"))?
        .max(1);
    if let (Some(map), Some(scen)) = (value("--map"), value("--scen")) {
        return on_map(&PathBuf::from(map), &PathBuf::from(scen), peer_every);
    }
    for (name, wanted_ms) in [("maze-400-4", 2.0), ("random-400-33", 0.06)] {
        let map = movingai::shared(&format!("grid/{name}.map"));
        let scen = movingai::shared(&format!("grid/{name}.map.scen"));
        if !map.exists() {
            eprintln!("SKIPPED {name}: {} is missing", map.display());
            continue;
        }
        on_map(&map, &scen, peer_every)?;
        println!("  (target at weight 1.6: median of at most {wanted_ms} ms)");
    }
    local()
}

/// Builds a local grid of 128 × 128 cells with 60 rotated boxes and searches a path from corner to corner. Repeats both
/// 2,000 times.
fn local() -> Result<(), String> {
    let mut state = 1u64;
    let mut draw = |low: f32, high: f32| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        low + (high - low) * ((state >> 40) as f32 / (1u64 << 24) as f32)
    };
    let (mut grid, mut search, mut path) =
        (LocalGrid::default(), GridSearch::default(), Vec::new());
    let (mut times, mut builds) = (Vec::new(), Vec::new());
    let (mut found, mut blocked) = (0, 0u32);
    for _ in 0..2000 {
        let mut boxes = Footprints::default();
        for _ in 0..60 {
            let at = Vec2::new(draw(0.0, 12.8), draw(0.0, 12.8));
            let half = Vec2::new(draw(0.1, 0.5), draw(0.1, 0.5));
            boxes.push_box(at, half, Vec2::from_angle(draw(0.0, std::f32::consts::TAU)));
        }
        let area = FloorRect {
            low_m: Vec2::ZERO,
            high_m: Vec2::splat(12.8),
        };
        let ground = GridInput {
            obstacles: &boxes,
            grow_m: 0.1,
            bounds: area,
        };
        let (start, goal) = (UVec2::new(2, 2), UVec2::new(125, 125));
        let begun = now()?;
        grid.build(area, 0.1, &ground);
        builds.push(begun.elapsed());
        let components = grid.components();
        if components.component_of(start).is_some()
            && components.component_of(start) == components.component_of(goal)
        {
            search.begin(grid.map(), start, goal, SearchRules::default());
            found += u32::from(
                search.advance(grid.map(), &mut u32::MAX.clone()) == SearchProgress::Found,
            );
            search.path(grid.map(), &mut path);
            times.push(begun.elapsed());
        }
        let map = grid.map();
        let cells = (0..128 * 128).filter(|n| !map.is_free(UVec2::new(n % 128, n / 128)));
        blocked += cells.count() as u32;
    }
    println!(
        "local grid of 128 x 128 cells, 60 rotated boxes ({:.0} % blocked): build + search median {:.4} ms (target: at most 0.04), build alone {:.4} ms, p99 of both {:.4} ms; {found} of 2000 had a path",
        f64::from(blocked) / (2000.0 * 128.0 * 1.28),
        quantile(&mut times, 0.5),
        quantile(&mut builds, 0.5),
        quantile(&mut times, 0.99),
    );
    Ok(())
}

/// Solves all problems of a map with the heuristic weights 1 and 1.6, and every `peer_every`-th problem also with the
/// `pathfinding` crate.
fn on_map(map: &Path, scen: &Path, peer_every: usize) -> Result<(), String> {
    let grid = movingai::map(map)?;
    let problems = movingai::problems(scen)?;
    println!("{}: {} problems", map.display(), problems.len());
    for weight in [1.0, 1.6] {
        let rules = SearchRules {
            weight,
            ..SearchRules::default()
        };
        run(&grid, &problems, rules)?;
    }
    peer(&grid, &problems, peer_every)
}

fn run(grid: &GridMap, problems: &[Problem], rules: SearchRules) -> Result<(), String> {
    let mut search = GridSearch::default();
    let mut path = Vec::new();
    let mut times = Vec::with_capacity(problems.len());
    let (mut worst, mut sum, mut failed) = (0f64, 0.0, 0);
    let mut total = SearchEffort::default();
    for problem in problems {
        let start = now()?;
        search.begin(grid, problem.start, problem.goal, rules);
        let progress = search.advance(grid, &mut u32::MAX.clone());
        search.path(grid, &mut path);
        times.push(start.elapsed());
        total.expanded += search.effort().expanded;
        total.reopened += search.effort().reopened;
        if progress != SearchProgress::Found {
            failed += 1;
            continue;
        }
        // Computes the cost from the cells of the path, independently of the sum that the search itself reports.
        let cost: f64 = path
            .windows(2)
            .map(|pair| pair[0].as_dvec2().distance(pair[1].as_dvec2()))
            .sum();
        let ratio = if problem.optimum > 0.0 {
            cost / problem.optimum
        } else {
            1.0
        };
        worst = worst.max((ratio - 1.0).abs());
        sum += ratio;
    }
    println!(
        "  weight {}: median {:.4} ms, p99 {:.3} ms; {:.0} ns per expansion; cost / optimum: mean {:.4}, worst {:+.2e}; {} expanded, {} reopened, {failed} without a path",
        rules.weight,
        quantile(&mut times, 0.5),
        quantile(&mut times, 0.99),
        times.iter().sum::<Duration>().as_nanos() as f64 / total.expanded as f64,
        sum / (problems.len() - failed).max(1) as f64,
        worst,
        total.expanded,
        total.reopened,
    );
    Ok(())
}

/// Measures A* of the `pathfinding` crate on the same map, with the heuristic weights 1 and 1.6.
fn peer(grid: &GridMap, problems: &[Problem], every: usize) -> Result<(), String> {
    for weight in [1.0, 1.6] {
        let mut times = Vec::new();
        for problem in problems.iter().step_by(every) {
            let goal = problem.goal;
            let start = now()?;
            let found = pathfinding::directed::astar::astar(
                &(problem.start.x as i32, problem.start.y as i32),
                |&(x, y)| neighbors(grid, x, y),
                |&(x, y)| {
                    let dx = x.abs_diff(goal.x as i32);
                    let dy = y.abs_diff(goal.y as i32);
                    let octile = dx.max(dy) * 5741 + dx.min(dy) * 2378;
                    (f64::from(octile) * weight) as u32
                },
                |&(x, y)| (x as u32, y as u32) == (goal.x, goal.y),
            );
            times.push(start.elapsed());
            if found.is_none() {
                return Err("the peer found no path".into());
            }
        }
        println!(
            "  pathfinding crate, weight {weight}, every {every}th problem: median {:.4} ms, p99 {:.3} ms",
            quantile(&mut times, 0.5),
            quantile(&mut times, 0.99),
        );
    }
    Ok(())
}

fn neighbors(grid: &GridMap, x: i32, y: i32) -> impl Iterator<Item = ((i32, i32), u32)> {
    let free = |x: i32, y: i32| grid.is_free(UVec2::new(x as u32, y as u32));
    let around = (-1..=1).flat_map(|dy| (-1..=1).map(move |dx| (dx, dy)));
    let list: Vec<_> = around
        .filter(|&(dx, dy)| {
            (dx, dy) != (0, 0) && free(x + dx, y + dy) && free(x + dx, y) && free(x, y + dy)
        })
        .map(|(dx, dy)| {
            (
                (x + dx, y + dy),
                if dx == 0 || dy == 0 { 5741 } else { 8119 },
            )
        })
        .collect();
    list.into_iter()
}

fn now() -> Result<ThreadTime, String> {
    ThreadTime::try_now().map_err(|error| error.to_string())
}

/// Sorts the times and returns the quantile `share` (0 to 1) in milliseconds.
fn quantile(times: &mut [Duration], share: f64) -> f64 {
    times.sort();
    let last = times.len().saturating_sub(1);
    let place = ((last as f64) * share).round() as usize;
    times
        .get(place)
        .map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
}
