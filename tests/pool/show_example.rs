//! Test of the example in `docs/shows`: the show begins with two visitors who stand together, and runs to its end.

use std::path::PathBuf;

use glam::Vec2;
use shoal::geometry::Visitor;
use shoal::simulation::Simulation;
use shoal::site;
use shoal::world::Observation;

use crate::pools;

/// Two visitors: the first one comes at once, the second one at 20 s and stands beside it until 310 s.
fn seen(now_secs: f32) -> Observation {
    let visitor = |id: u32, x: f32| Visitor {
        id,
        foot_m: Vec2::new(x, 1.0),
        centroid_m: Vec2::new(x, 1.0),
        radius_m: 0.2,
        still_secs: 30.0,
        ..Visitor::default()
    };
    let mut shadows = vec![visitor(1, 1.5)];
    if now_secs > 20.0 {
        shadows.push(visitor(2, 0.9));
    }
    if now_secs > 310.0 {
        shadows.clear();
    }
    Observation {
        time_secs: f64::from(now_secs),
        shadows,
    }
}

#[test]
fn the_show_begins_with_two_visitors_and_runs_to_its_end() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/shows/site.toml");
    let site = site::load(Some(&path), None).unwrap();
    assert!(site.warnings.is_empty(), "{:?}", site.warnings);
    let mut scene = site.description();
    // Fewer fish, so that the test is short.
    for species in &mut scene.species {
        species.count = species.count.min(6);
    }
    let mut pool = Simulation::new(&scene, &pools::run(1, 1)).unwrap();
    let mut begun: Vec<(String, u32)> = Vec::new();
    let (mut left, mut came_back) = (false, false);
    for tick in 0..320 * 60u32 {
        let now_secs = tick as f32 / 60.0;
        pool.run_tick(&seen(now_secs));
        let at = pool.world().random.tick;
        for (rule, state) in pool.rules() {
            if state.has_begun && state.begin_tick + 1 == at {
                begun.push((rule.name.clone(), now_secs.round() as u32));
            }
        }
        let world = pool.world();
        let shark = (0..world.agents.ids.len())
            .find(|&i| world.species[usize::from(world.agents.species[i])].name == "shark");
        let position_m = world.agents.bodies[shark.unwrap()].position_m;
        let is_visible = world.water.is_visible(position_m, 1.1);
        left |= now_secs > 31.0 && now_secs < 90.0 && !is_visible;
        came_back |= left && now_secs > 90.0 && is_visible;
    }
    let expected = [
        ("a visitor comes", 1),
        ("a visitor on the bridge", 3),
        ("show", 30),
        ("show: the shark leaves", 31),
        ("show: the school becomes a ball", 50),
        ("show: the shark comes", 90),
        ("show: the hunt", 98),
        ("show: the hunt ends", 188),
        ("show: all thank the visitors", 270),
        ("a visitor leaves", 312),
    ];
    let mut begun = begun.into_iter();
    for (name, secs) in expected {
        let found = begun.by_ref().find(|(known, _)| known == name);
        let (_, at) = found.unwrap_or_else(|| panic!("{name} never began, or too early"));
        assert!(
            at.abs_diff(secs) <= 1,
            "{name} began at {at} s, not at {secs} s"
        );
    }
    assert!(
        left && came_back,
        "the shark leaves {left}, comes back {came_back}"
    );
}
