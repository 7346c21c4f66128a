//! Benchmark of path planning on meshes without links. It compares our search with `polyanya`, which finds optimal any-angle
//! paths, in the same run.
//!
//! `cargo bench --bench mesh_paths -- [--mesh FILE --scen FILE]`; `benches/mesh_paths/README.md` has the results.

#![allow(clippy::print_stdout, clippy::print_stderr, missing_docs)]

#[path = "../tests/pool/meshes/mod.rs"]
mod meshes;

use std::path::{Path, PathBuf};
use std::time::Duration;

use cpu_time::ThreadTime;
use glam::Vec2;
use polyanya::PolyanyaFile;
use shoal::navigation::{
    Abilities, MeshLinks, MeshOutcome, MeshPath, MeshPoint, MeshQuery, MeshSearch,
};

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| {
        let place = arguments.iter().position(|a| a == name)?;
        arguments.get(place + 1).map(PathBuf::from)
    };
    if let (Some(mesh), Some(scen)) = (value("--mesh"), value("--scen")) {
        return run(&mesh, &scen);
    }
    for name in ["arena", "aurora"] {
        let mesh = meshes::shared(&format!("mesh/meshes_v2_{name}-merged.mesh"));
        let scen = meshes::shared(&format!("mesh/scenarios_{name}.scen"));
        if !mesh.exists() {
            eprintln!("SKIPPED {name}: {} is missing", mesh.display());
            continue;
        }
        run(&mesh, &scen)?;
    }
    pool()?;
    println!(
        "(targets: never more than 1e-4 shorter than the optimum, median at most 3 % longer, at most 1 ms on aurora)"
    );
    Ok(())
}

fn run(file: &Path, scen: &Path) -> Result<(), String> {
    let mesh = meshes::mesh(file)?;
    let problems = meshes::problems(scen)?;
    let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
    let peer: polyanya::Mesh = PolyanyaFile::from_bytes(&bytes)
        .try_into()
        .map_err(|error| format!("polyanya rejects the mesh: {error:?}"))?;
    let links = MeshLinks::new(&mesh, Vec::new(), &[]);
    let (mut search, mut path) = (MeshSearch::default(), MeshPath::default());
    let (mut own, mut theirs, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    let (mut shortest, mut unsolved, mut expanded) = (f64::INFINITY, 0, 0u64);
    for &(start, goal) in &problems {
        let place = |at_m| MeshPoint { terrace: 0, at_m };
        let query = MeshQuery {
            start: place(start),
            goal: place(goal),
            abilities: Abilities::default(),
            speed_mps: 1.0,
            ..MeshQuery::default()
        };
        let begun = now()?;
        let outcome = search.find_path(&mesh, &links, &query, &mut path);
        own.push(begun.elapsed());
        expanded += u64::from(search.expanded());
        let begun = now()?;
        let optimum = peer.path(of_peer(start), of_peer(goal));
        theirs.push(begun.elapsed());
        let (MeshOutcome::Found, Some(optimum)) = (outcome, optimum) else {
            unsolved += 1;
            continue;
        };
        let ours = path.length_m(start);
        let best = length(start, &optimum.path);
        shortest = shortest.min(ours - best);
        if best > 0.0 {
            ratios.push(ours / best);
        }
    }
    ratios.sort_by(f64::total_cmp);
    let at = |share: f64| ratios.get(((ratios.len().max(1) - 1) as f64 * share) as usize);
    println!(
        "{}: {} polygons, {} problems ({unsolved} not solved by both)",
        file.display(),
        mesh.len(),
        problems.len()
    );
    println!(
        "  length / optimum: median {:.5}, p90 {:.4}, p99 {:.4}, worst {:.4}; ours - optimum at least {shortest:.2e}",
        at(0.5).unwrap_or(&f64::NAN),
        at(0.9).unwrap_or(&f64::NAN),
        at(0.99).unwrap_or(&f64::NAN),
        at(1.0).unwrap_or(&f64::NAN),
    );
    println!(
        "  ours median {:.4} ms, p99 {:.3} ms, {} polygons expanded per query; polyanya median {:.4} ms, p99 {:.3} ms",
        quantile(&mut own, 0.5),
        quantile(&mut own, 0.99),
        expanded / problems.len().max(1) as u64,
        quantile(&mut theirs, 0.5),
        quantile(&mut theirs, 0.99),
    );
    Ok(())
}

/// Measures path searches from the lowest to the highest terrace on the mesh of the shipped scene `cascade`: their time and the
/// number of expanded polygons.
fn pool() -> Result<(), String> {
    let mesh_of = |name: &str| -> Result<_, String> {
        let site = shoal::site::load(None, Some(name)).map_err(|error| format!("{error:?}"))?;
        let params = shoal::simulation::SimulationParams::default();
        let scene = site.description();
        let pool = shoal::simulation::Simulation::new(&scene, &params);
        pool.map_err(|error| error.to_string())
    };
    let pool = mesh_of("cascade")?;
    let meshes = pool.meshes().last();
    let (mesh, links) = meshes.ok_or("the scene cascade has no mesh")?;
    let (mut search, mut path) = (MeshSearch::default(), MeshPath::default());
    let (mut times, mut expanded) = (Vec::new(), Vec::new());
    for step in 0..200 {
        let z = -1.2 + 2.4 * (step as f32 / 199.0);
        let place = |terrace, x, z| MeshPoint {
            terrace,
            at_m: Vec2::new(x, z),
        };
        let query = MeshQuery {
            start: place(0, -1.6, z),
            goal: place(2, 1.5, -z),
            abilities: Abilities {
                leap_height_m: 1.0,
                leap_speed_mps: 9.0,
                ..Abilities::default()
            },
            speed_mps: 0.5,
            ..MeshQuery::default()
        };
        let begun = now()?;
        let outcome = search.find_path(mesh, links, &query, &mut path);
        times.push(begun.elapsed());
        if outcome == MeshOutcome::Found {
            expanded.push(search.expanded());
        }
    }
    expanded.sort_unstable();
    println!(
        "cascade: {} polygons, {} links, {} of 200 climbs found, {} polygons expanded (median), {:.4} ms",
        mesh.len(),
        links.iter().count(),
        expanded.len(),
        expanded.get(expanded.len() / 2).unwrap_or(&0),
        quantile(&mut times, 0.5),
    );
    Ok(())
}

fn of_peer(at: Vec2) -> glam_of_polyanya::Vec2 {
    glam_of_polyanya::Vec2::new(at.x, at.y)
}

fn length(start: Vec2, points: &[glam_of_polyanya::Vec2]) -> f64 {
    let mut from = of_peer(start).as_dvec2();
    let mut sum = 0.0;
    for &point in points {
        sum += from.distance(point.as_dvec2());
        from = point.as_dvec2();
    }
    sum
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
