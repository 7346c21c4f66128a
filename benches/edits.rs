//! Benchmark of edits of a running pool with 300 fish and one visitor. It makes 50 edits per second during 20 seconds of
//! simulated time. It prints the CPU time of ticks with and without an edit, and the number of ticks that take longer than the
//! time between two ticks.
//!
//! Run it with `cargo bench --bench edits`. It does not check the figures, because other programs may use the machine too.

#![allow(clippy::print_stdout, missing_docs)]

use cpu_time::ThreadTime;
use serde_json::{Value, json};
use shoal::app::{Desk, species_of};
use shoal::control::PoolCommand;
use shoal::geometry::Visitor;
use shoal::simulation::{Simulation, SimulationParams};
use shoal::site::Editor;
use shoal::world::Observation;

/// Number of measured ticks. At 60 ticks per second, this is 20 seconds.
const TICKS: u64 = 1200;

/// Time between two ticks, in milliseconds.
const BUDGET_MS: f64 = 1000.0 / 60.0;

fn command(value: Value) -> PoolCommand {
    serde_json::from_value(value).expect("the command is written here")
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "values are made where they are set"
)]
fn set(kind: &str, name: &str, path: &str, value: Value) -> PoolCommand {
    command(json!({"command": "edit", "edits": [{
        "document": {"kind": kind, "name": name}, "path": path, "change": {"do": "set", "value": value}}]}))
}

/// Returns the `n`-th edit. Edits alternate between parameters, needs, relations, counts, obstacles, director events and undo.
fn edit(n: u64) -> PoolCommand {
    let share = (n % 97) as f64 / 97.0;
    match n % 8 {
        0 => set(
            "species",
            "herring",
            "actions.evade_shadow.flee_distance_m",
            json!(0.2 + share),
        ),
        1 => set(
            "species",
            "salmon",
            "motion.cruise_mps",
            json!(0.3 + 0.2 * share),
        ),
        2 => command(json!({"command": "edit", "edits": [{
            "document": {"kind": "species", "name": "trout"}, "path": "needs[3]", "change": {"do": "move", "to": 2}}]})),
        3 => set(
            "species",
            "herring",
            "relations.friend",
            json!(if n % 16 == 3 { vec!["salmon"] } else { vec![] }),
        ),
        4 => set("scene", "pool", "population.herring", json!(230 + n % 20)),
        5 => set(
            "scene",
            "pool",
            "obstacles[0].center_m[0]",
            json!(-1.4 + 0.2 * share),
        ),
        6 => command(
            json!({"command": "director", "event": {"event": "hunting", "species": "shark", "on": n % 16 == 6}}),
        ),
        _ => command(json!({"command": "undo"})),
    }
}

fn visitors(tick: u64) -> Observation {
    let time_secs = tick as f64 / 60.0;
    let at = glam::Vec2::new((time_secs * 0.7).sin() as f32 * 1.8, 0.3);
    Observation {
        time_secs,
        shadows: vec![Visitor {
            id: 1,
            centroid_m: at,
            foot_m: at,
            radius_m: 0.3,
            velocity_mps: glam::Vec2::X,
            area_m2: 0.28,
            age_secs: 10.0,
            ..Visitor::default()
        }],
    }
}

fn percentile(sorted: &[f64], share: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}

fn report(what: &str, mut times_ms: Vec<f64>) {
    times_ms.sort_by(f64::total_cmp);
    println!(
        "{what:34} n {:5}   median {:7.3} ms   p99 {:7.3} ms   max {:7.3} ms",
        times_ms.len(),
        percentile(&times_ms, 0.5),
        percentile(&times_ms, 0.99),
        percentile(&times_ms, 1.0)
    );
}

fn main() {
    let editor = Editor::open(None, Some("pool")).expect("the demo site is valid");
    let params = SimulationParams::default();
    let mut simulation =
        Simulation::new(&editor.site().description(), &params).expect("the demo site is valid");
    let mut desk = Desk::new(editor);
    let population = json!({"herring": 240, "salmon": 40, "trout": 18, "shark": 2});
    desk.apply_to(
        &set("scene", "pool", "population", population),
        &mut simulation,
    )
    .expect("300 fish are allowed");
    for tick in 0..120 {
        simulation.run_tick(&visitors(tick));
    }
    let (mut steady, mut edited, mut desk_ms, mut over) = (Vec::new(), Vec::new(), Vec::new(), 0);
    let (mut applied, mut refused, mut debt) = (0, 0, 0.0);
    for tick in 0..TICKS {
        let observation = visitors(tick);
        debt += 50.0 / 60.0;
        let mut changes = Vec::new();
        let is_edit = debt >= 1.0;
        if is_edit {
            debt -= 1.0;
            let start = ThreadTime::now();
            let told = desk.apply(&edit(applied + refused), simulation.tick(), &|id| {
                species_of(&simulation, id)
            });
            desk_ms.push(start.elapsed().as_secs_f64() * 1e3);
            match told {
                Ok(done) => {
                    applied += 1;
                    changes = done.changes;
                }
                Err(_) => refused += 1,
            }
        }
        let start = ThreadTime::now();
        for change in changes {
            simulation.apply(change);
        }
        simulation.run_tick(&observation);
        let ms = start.elapsed().as_secs_f64() * 1e3;
        over += u64::from(ms > BUDGET_MS);
        if is_edit {
            edited.push(ms);
        } else {
            steady.push(ms);
        }
    }
    println!(
        "{} fish, {TICKS} ticks, {applied} edits applied, {refused} refused",
        simulation.world().agents.len()
    );
    report("tick without an edit", steady);
    report("tick with an edit applied", edited);
    report("validation of an edit (desk thread)", desk_ms);
    println!("ticks over {BUDGET_MS:.1} ms of CPU time: {over}");
}
