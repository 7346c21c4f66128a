//! Tests of invalid scene descriptions. Each is rejected with a message that says what is wrong and how to fix it.

use shoal::simulation::{SceneDescription, Simulation, SimulationError, SpeciesDescription};
use shoal::world::{ObstacleParams, SphereParams, TerraceParams};

use crate::pools::{self, wide};

fn rejection(scene: &SceneDescription, tick_hz: f32) -> String {
    let params = shoal::simulation::SimulationParams {
        tick_hz,
        ..pools::run(1, 1)
    };
    match Simulation::new(scene, &params) {
        Ok(_) => panic!("the description was accepted"),
        Err(error) => error.to_string(),
    }
}

fn species(name: &str, count: u32) -> SpeciesDescription {
    SpeciesDescription {
        name: name.into(),
        count,
        ..SpeciesDescription::default()
    }
}

#[test]
fn too_many_names() {
    let groups = (0..100).map(|place| format!("group_{place}")).collect();
    let scene = wide(vec![SpeciesDescription {
        groups,
        ..species("sprat", 1)
    }]);
    let message = rejection(&scene, 60.0);
    assert!(
        message.starts_with("species 'sprat': the pool has more than"),
        "{message}"
    );
    assert!(
        message.ends_with("use fewer groups or relations"),
        "{message}"
    );
}

#[test]
fn too_many_agents() {
    let scene = wide(vec![species("sprat", 150_000), species("cod", 50_001)]);
    assert_eq!(
        rejection(&scene, 60.0),
        "200001 agents are more than the limit of 200000; lower the population"
    );
}

#[test]
fn an_obstacle_with_invalid_shape() {
    let sphere = |radius_m| {
        ObstacleParams::Sphere(SphereParams {
            visible: true,
            center_m: [0.0, -1.0, 0.0],
            radius_m,
        })
    };
    let scene = SceneDescription {
        obstacles: vec![sphere(0.3), sphere(f32::NAN)],
        ..wide(vec![species("sprat", 1)])
    };
    assert_eq!(
        rejection(&scene, 60.0),
        "obstacles[1]: a number is not finite or the outline is not convex; correct the scene file"
    );
}

#[test]
fn terraces_with_invalid_outlines() {
    let mut scene = wide(vec![species("sprat", 1)]);
    scene.pool.terraces = vec![TerraceParams {
        outline_m: vec![[0.0, 0.0], [f32::NAN, 0.0], [1.0, 1.0]],
        ..TerraceParams::default()
    }];
    let message = rejection(&scene, 60.0);
    assert!(
        message.starts_with("cannot build a navigation mesh from the terraces: ")
            && message.ends_with("; correct their outlines"),
        "{message}"
    );
}

#[test]
fn invalid_tick_rates() {
    for (tick_hz, named) in [
        (0.0, "0"),
        (-60.0, "-60"),
        (f32::NAN, "NaN"),
        (f32::INFINITY, "inf"),
    ] {
        assert_eq!(
            rejection(&wide(Vec::new()), tick_hz),
            format!("tick_hz = {named} is not a tick rate; give a number above 0, such as 60")
        );
    }
}

/// The test cannot reliably make the start of threads fail, so it only checks the message.
#[test]
fn threads_that_do_not_start() {
    let error = SimulationError::Threads {
        threads: 64,
        reason: "Resource temporarily unavailable".into(),
    };
    assert_eq!(
        error.to_string(),
        "cannot start the 64 threads of the simulation: Resource temporarily unavailable; configure fewer"
    );
}
