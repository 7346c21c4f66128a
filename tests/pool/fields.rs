//! Tests of the flow fields of a scene: they exert forces, are drawn in the overlay and can be edited while the fish swim.
//! Invalid fields are rejected.

use crate::desk;
use crate::desk::Pool;
use glam::Vec3;
use serde_json::{Value, json};
use shoal::site::check_report;
use shoal::world::{
    OverlayItem, OverlayLayer, OverlayLayers, OverlayRequest, OverlayShape, Snapshot,
};
use shoal_testing::{assert_message, assert_near};

/// Makes `follow_flow_field` the only active action of the trout. Its force is the sum with what keeps the trout clear: in a budget
/// that, which follows the fields of the scene too, would leave it nothing.
fn follow(pool: &mut Pool) {
    pool.set("species:trout", "combine", json!("sum"));
    pool.set(
        "species:trout",
        "actions.fields",
        json!({"action": "follow_flow_field", "weight": 3.0}),
    );
    let needs = json!([{"name": "drift", "actions": ["fields"]}]);
    pool.set("species:trout", "needs", needs);
}

fn current(direction: [f32; 3]) -> Value {
    json!([{
        "name": "current",
        "strength_n": 2.0,
        "shape": {"kind": "uniform", "direction": direction, "size_m": [20.0, 20.0]}
    }])
}

/// Returns the mean force of the fields on a trout, in newtons.
fn mean_force(pool: &Pool) -> Vec3 {
    let trout = pool.all("trout");
    let forces = trout.iter().flat_map(|&i| {
        pool.simulation
            .forces(i)
            .filter(|(name, _)| *name == "fields")
    });
    forces.map(|(_, force)| force).sum::<Vec3>() / trout.len() as f32
}

#[test]
fn a_current_acts_on_its_species_and_can_be_turned_while_they_swim() {
    let mut pool = Pool::new();
    follow(&mut pool);
    pool.simulation.record_forces(true);
    pool.set("species:trout", "actions.fields.strength_n", json!(0.0));
    pool.set("species:trout", "actions.fields.foresight_n", json!(0.0));
    pool.run(2);
    assert_eq!(mean_force(&pool), Vec3::ZERO, "there is no field yet");
    pool.set("scene:pool", "fields", current([1.0, 0.0, 0.0]));
    pool.run(2);
    assert!(
        mean_force(&pool).distance(Vec3::X * 6.0) < 1e-4,
        "2 N times a weight of 3: {}",
        mean_force(&pool)
    );
    pool.set(
        "scene:pool",
        "fields[0].shape.direction",
        json!([0.0, 0.0, 1.0]),
    );
    pool.run(2);
    assert_near(mean_force(&pool), Vec3::Z * 6.0, 1e-4);
    pool.set("scene:pool", "fields[0].acts_on", json!(["herring"]));
    pool.run(2);
    assert_eq!(mean_force(&pool), Vec3::ZERO);
    pool.set("scene:pool", "fields[0].acts_on", json!(["fish"]));
    pool.run(2);
    assert!(mean_force(&pool).length() > 5.9, "trout are fish");
    pool.command(json!({"command": "undo"}));
    pool.run(2);
    assert_eq!(mean_force(&pool), Vec3::ZERO, "undone");
}

#[test]
fn a_field_moves_with_its_obstacle() {
    let mut pool = Pool::new();
    pool.set(
        "scene:pool",
        "fields",
        json!([{"obstacle": 0, "shape": {"kind": "radial", "range_m": 0.7, "inner_radius_m": 0.4}}]),
    );
    let arrows = |pool: &Pool| {
        let marks = drawn_fields(pool);
        let tails = marks.iter().map(|mark| match mark.shape {
            OverlayShape::Arrow { from_m, to_m } => {
                assert!(to_m.is_finite() && from_m != to_m);
                from_m
            }
            _ => panic!("a field must be drawn as arrows"),
        });
        // The rings around agents are at the heights of the agents, the grid at the middle height of the water.
        let (low, high) = pool.simulation.world().water.y_range_m(0.0);
        let is_in_grid = |tail: &Vec3| (tail.y - (low + high) / 2.0).abs() < 1e-6;
        tails.filter(is_in_grid).collect::<Vec<Vec3>>()
    };
    let before = arrows(&pool);
    let rock = pool.simulation.world().solids[0].center_m();
    assert!(before.len() > 20, "{} arrows", before.len());
    assert!(before.iter().all(|tail| tail.distance(rock) <= 0.7));
    pool.set(
        "scene:pool",
        "obstacles[0].center_m",
        json!([1.0, -0.9, -0.2]),
    );
    pool.step();
    let after = arrows(&pool);
    let moved = Vec3::new(1.0, -0.9, -0.2);
    assert!(!after.is_empty() && after.iter().all(|tail| tail.distance(moved) <= 0.7));
    pool.edit("scene:pool", "fields[0]", json!({"do": "remove"}));
    pool.step();
    assert!(arrows(&pool).is_empty());
}

fn drawn_fields(pool: &Pool) -> Vec<OverlayItem> {
    let mut snapshot = Snapshot::default();
    let request = OverlayRequest::all(OverlayLayers::NONE.with(OverlayLayer::Field));
    pool.simulation.fill_overlay(&request, &mut snapshot);
    snapshot.overlay
}

/// A fixed gap: the overlay showed only the fields of the scene.
#[test]
fn the_overlay_shows_a_ring_around_each_agent_that_points_away_from_it() {
    let pool = Pool::new();
    let marks = drawn_fields(&pool);
    let agents = pool.simulation.world().agents;
    assert_eq!(marks.len(), 8 * agents.len());
    for (index, mark) in marks.iter().enumerate() {
        let (body, radius_m) = (agents.bodies[index / 8], agents.radii_m[index / 8]);
        let OverlayShape::Arrow { from_m, to_m } = mark.shape else {
            panic!("a field must be drawn as arrows");
        };
        let offset = from_m - body.position_m;
        assert!((to_m - from_m).dot(offset) > 0.0);
        assert!(offset.length() > 2.0 * radius_m && offset.length() < 2.0 * radius_m + 0.06);
    }
}

#[test]
fn every_kind_of_field_can_be_added_and_edited() {
    let mut pool = Pool::new();
    follow(&mut pool);
    for kind in ["radial", "uniform", "vortex", "harmonic"] {
        pool.set("scene:pool", "fields", json!([{"shape": {"kind": kind}}]));
        pool.run(3);
        for key in ["strength_n", "top_depth_m"] {
            pool.set("scene:pool", &format!("fields[0].{key}"), json!(-1.5));
            pool.run(2);
        }
    }
    let wrong = desk::set("scene:pool", "fields[0].shape.goal_m", json!([9.0, 0.0]));
    let problems = pool.try_command(wrong).unwrap_err().to_string();
    assert!(problems.contains("outside the field"), "{problems}");
}

#[test]
fn a_harmonic_field_leads_fish_out_of_a_dead_end_to_its_goal() {
    let mut pool = Pool::new();
    follow(&mut pool);
    pool.set("scene:pool", "population", json!({"trout": 6}));
    let wall = |x: f32, z: f32, half: [f32; 3]| json!({"shape": "box", "center_m": [x, -0.7, z], "half_extents_m": half});
    let walls = json!([
        wall(0.2, 0.0, [0.08, 0.8, 0.7]),
        wall(-0.3, 0.7, [0.5, 0.8, 0.08]),
        wall(-0.3, -0.7, [0.5, 0.8, 0.08]),
    ]);
    pool.set("scene:pool", "obstacles", walls);
    pool.set(
        "scene:pool",
        "fields",
        json!([{
            "center_m": [0.0, -0.7, 0.0],
            "strength_n": 2.0,
            "shape": {"kind": "harmonic", "goal_m": [1.4, 0.0], "size_m": [4.0, 3.0], "clearance_m": 0.1, "arrive_m": 0.3}
        }]),
    );
    for index in pool.all("trout") {
        let z = 0.15 * (index as f32 - 2.5);
        pool.place(index, Vec3::new(-0.1, -0.7, z));
    }
    pool.run(60 * 40);
    let goal = Vec3::new(1.4, -0.7, 0.0);
    for index in pool.all("trout") {
        let at = pool.simulation.world().agents.bodies[index].position_m;
        let left = (at - goal).with_y(0.0).length();
        assert!(left < 1.0, "agent {index} is still at {at}");
    }
}

#[test]
fn check_reports_what_is_wrong_with_fields_and_where() {
    let (folder, site) = desk::shipped_folder();
    let scene = folder.path().join("scenes/pool.toml");
    let text = std::fs::read_to_string(&scene).unwrap();
    let fields = "\n[[fields]]\nobstacle = 9\nacts_on = [\"hering\"]\n\n[[fields]]\ntop_depth_m = 2.0\nbottom_depth_m = 1.0\n\
                  shape = { kind = \"vortx\" }\n\n[[fields]]\nstrength_n = inf\nshape = { kind = \"uniform\", direction = [0.0, 0.0, 0.0] }\n";
    std::fs::write(&scene, text + fields).unwrap();
    let report = check_report(Some(&site));
    let found = report.to_string();
    assert_message(&found, &["vortx", "vortex"]);
    assert!(found.contains("strength_n"), "{found}");
    // Rules that compare several values or files are checked only if the text of the file is valid.
    let better = std::fs::read_to_string(&scene).unwrap();
    let better = better.replace("vortx", "vortex").replace("inf", "1.0");
    std::fs::write(&scene, better).unwrap();
    let report = check_report(Some(&site));
    let found = report.to_string();
    for part in [
        "there is no obstacle 9",
        "is not below top_depth_m",
        "the direction of the current is zero",
    ] {
        assert!(found.contains(part), "{part}: {found}");
    }
    assert_eq!(report.problems.len(), 3, "{found}");
    // Warnings follow when there is no error.
    let valid = std::fs::read_to_string(&scene).unwrap();
    let valid = (valid.replace("obstacle = 9\n", ""))
        .replace("top_depth_m = 2.0\nbottom", "top_depth_m = 0.5\nbottom")
        .replace("[0.0, 0.0, 0.0]", "[1.0, 0.0, 0.0]");
    std::fs::write(&scene, valid).unwrap();
    let report = check_report(Some(&site));
    assert!(report.problems.is_empty(), "{report}");
    assert_message(report.to_string(), &["hering", "herring"]);
}

#[test]
fn a_steady_tick_with_fields_does_not_allocate() {
    let mut pool = Pool::new();
    follow(&mut pool);
    pool.set(
        "scene:pool",
        "fields",
        json!([{"shape": {"kind": "vortex"}}, {"shape": {"kind": "harmonic"}}]),
    );
    pool.run(120);
    let counted = allocation_counter::measure(|| pool.run(60));
    assert_eq!(counted.count_total, 0);
}
