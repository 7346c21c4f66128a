//! Tests with random parameters and random shadows. In every pool, all numbers must be finite, no agent may enter an
//! obstacle, and no agent may exceed its speed limit or its turn rate.

use crate::pools;
use std::sync::LazyLock;

use glam::{Vec2, Vec3};
use proptest::prelude::*;
use shoal::behavior::{ActionParams, Combine, LimitOf, LimitParams, NeedKind, NeedParams};
use shoal::geometry::Visitor;
use shoal::simulation::{SceneDescription, Simulation};
use shoal::site::schemas;
use shoal::world::{
    BoxParams, CapsuleParams, CollisionResponse, EdgeMode, Observation, ObstacleParams,
    PolygonParams, Random, RandomStream, SphereParams,
};

fn point() -> impl Strategy<Value = [f32; 3]> {
    (-2.5f32..2.5, -1.3f32..0.1, -2.0f32..2.0).prop_map(|(x, y, z)| [x, y, z])
}

fn obstacle() -> impl Strategy<Value = ObstacleParams> {
    prop_oneof![
        (point(), 0.02f32..0.9).prop_map(|(center_m, radius_m)| {
            ObstacleParams::Sphere(SphereParams {
                visible: true,
                center_m,
                radius_m,
            })
        }),
        (point(), prop::array::uniform3(0.02f32..0.6), -180f32..180.0).prop_map(
            |(center_m, half_extents_m, yaw_deg)| {
                ObstacleParams::Box(BoxParams {
                    visible: true,
                    center_m,
                    half_extents_m,
                    yaw_deg,
                })
            }
        ),
        (point(), point(), 0.02f32..0.4).prop_map(|(from_m, to_m, radius_m)| {
            ObstacleParams::Capsule(CapsuleParams {
                visible: true,
                from_m,
                to_m,
                radius_m,
            })
        }),
        (point(), 3usize..9, 0.02f32..0.6, 0.1f32..1.0, 0.02f32..0.6).prop_map(
            |([x, y, z], corners, radius_m, narrow, half_m)| {
                let corner = |i: usize| {
                    let (sin, cos) = (i as f32 / corners as f32 * std::f32::consts::TAU).sin_cos();
                    let across = sin * narrow + cos * 0.3;
                    [x + cos * radius_m, z + across * radius_m]
                };
                ObstacleParams::Polygon(PolygonParams {
                    visible: true,
                    outline_m: (0..corners).map(corner).collect(),
                    bottom_m: y - half_m,
                    top_m: y + half_m,
                })
            }
        ),
    ]
}

prop_compose! {
    fn motion()(
        cruise in 0.0f32..5.0,
        faster in 0.0f32..40.0,
        force in 0.0f32..500.0,
        turn in 0.0f32..2000.0,
        climb in 0.0f32..90.0,
        mass in 0.01f32..50.0,
        collision in prop_oneof![Just(CollisionResponse::Slide), Just(CollisionResponse::Bounce), Just(CollisionResponse::PushOut)],
        turns_in_place in any::<bool>(),
    ) -> (f32, f32, f32, f32, f32, f32, CollisionResponse, bool) {
        (cruise, cruise + faster, force, turn, climb, mass, collision, turns_in_place)
    }
}

prop_compose! {
    fn scene()(
        obstacles in prop::collection::vec(obstacle(), 0..6),
        motions in prop::collection::vec(motion(), 4),
        edge in prop_oneof![Just(EdgeMode::Guide), Just(EdgeMode::Reinsert), Just(EdgeMode::Wrap)],
    ) -> SceneDescription {
        let mut scene = pools::pool();
        scene.obstacles = obstacles;
        scene.pool.edge = edge;
        for (species, motion) in scene.species.iter_mut().zip(motions) {
            species.count = 6;
            let (cruise, boost, force, turn, climb, mass, collision, turns_in_place) = motion;
            species.motion.cruise_mps = cruise;
            species.motion.min_speed_mps = cruise * 0.2;
            species.motion.boost_mps = boost;
            species.motion.max_force_n = force;
            species.motion.max_turn_rate_dps = turn;
            species.motion.max_climb_deg = climb;
            species.motion.collision = collision;
            species.body.mass_kg = mass;
            for action in species.mind.actions.values_mut() {
                match action {
                    ActionParams::EvadeShadow(params) => params.can_turn_in_place = turns_in_place,
                    ActionParams::FleeEnemy(params) => params.can_turn_in_place = turns_in_place,
                    ActionParams::HuntPrey(params) => params.can_turn_in_place = turns_in_place,
                    _ => {}
                }
            }
            for need in &mut species.mind.needs {
                if let Some(limit) = &mut need.limit {
                    limit.rate_per_sec = 0.5;
                }
            }
        }
        scene
    }
}

/// Returns the shadow of a visitor that walks around. `defect` 1: the position is NaN in every 7th tick. `defect` 2: the
/// radius and the velocity are 1e30.
fn observation(tick: u64, defect: u32) -> Observation {
    let t = tick as f32 / 60.0;
    let at = Vec2::new((t * 1.3).sin() * 2.0, (t * 0.9).cos() * 1.5);
    let is_nan = defect == 1 && tick.is_multiple_of(7);
    let shadow = Visitor {
        id: 1,
        centroid_m: if is_nan { Vec2::splat(f32::NAN) } else { at },
        foot_m: at,
        radius_m: if defect == 2 { 1e30 } else { 0.3 },
        velocity_mps: if defect == 2 {
            Vec2::splat(1e30)
        } else {
            Vec2::X
        },
        area_m2: 0.3,
        age_secs: f64::from(t),
        outline_m: if tick.is_multiple_of(2) {
            vec![]
        } else {
            vec![at, at + Vec2::X * 0.3, at + Vec2::ONE * 0.3]
        },
        ..Visitor::default()
    };
    Observation {
        time_secs: f64::from(t),
        shadows: vec![shadow],
    }
}

/// Generates an action of a random kind. Its numbers come from the ranges in the schema, and its booleans and strings from
/// the allowed values. Fields of most other types keep their defaults.
fn action() -> impl Strategy<Value = ActionParams> {
    (0..ActionParams::KINDS.len(), any::<u64>()).prop_map(|(kind, seed)| {
        static SCHEMAS: LazyLock<serde_json::Value> = LazyLock::new(schemas);
        let variants =
            &SCHEMAS["species"]["properties"]["actions"]["additionalProperties"]["oneOf"];
        let name = ActionParams::KINDS[kind];
        let variants = variants.as_array().unwrap();
        let variant = variants
            .iter()
            .find(|v| v["properties"]["action"]["const"] == name)
            .unwrap();
        let mut value = serde_json::json!({"action": name});
        let random = Random { seed, tick: 0 };
        for (number, (field, schema)) in variant["properties"]
            .as_object()
            .unwrap()
            .iter()
            .enumerate()
        {
            let draw = |n| f64::from(random.unit(number as u32, RandomStream::Choice, n));
            let (least, most) = (schema["minimum"].as_f64(), schema["maximum"].as_f64());
            value[field.as_str()] = match (schema["type"].as_str().unwrap_or(""), least, most) {
                ("number", Some(least), Some(most)) => {
                    // Draws the lower limit, the upper limit, any number between them, or (most often) a small number.
                    let usual = least.max(0.0) + draw(1) * (most - least.max(0.0)).min(2.0);
                    let number = match (draw(0) * 8.0) as u32 {
                        0 => least,
                        1 => most,
                        2 => least + draw(1) * (most - least),
                        _ => usual,
                    };
                    serde_json::json!(number)
                }
                ("boolean", ..) => serde_json::json!(draw(0) < 0.5),
                ("string", ..) if field == "action" => continue,
                ("string", ..) => {
                    // A text without a list of values is the name of something in the scene; the default stays.
                    let Some(names) = schema["enum"].as_array() else {
                        continue;
                    };
                    names[(draw(0) * names.len() as f64) as usize].clone()
                }
                _ if field == "actions" => serde_json::json!(["a0", "a1"]),
                _ if field == "relations" => serde_json::json!(["friend", "leader"]),
                _ => continue,
            };
        }
        serde_json::from_value(value.clone()).unwrap_or_else(|e| panic!("{value}: {e}"))
    })
}

prop_compose! {
    /// Generates a scene with random actions in needs of every kind, and with random relations between the species.
    fn scene_of_minds()(
        scene in scene(),
        actions in prop::collection::vec(action(), 8),
        relations in prop::collection::vec((0usize..8, 0usize..5), 6),
        combines in prop::array::uniform3(prop_oneof![
            Just(Combine::Sum), Just(Combine::First), Just(Combine::Budget)]),
        flags in prop::array::uniform4(any::<bool>()),
        drives in prop::array::uniform3(prop_oneof![Just(0.0f32), 0.01f32..3.0]),
    ) -> SceneDescription {
        let mut scene = scene;
        for species in &mut scene.species {
            species.mind.actions = actions.iter().enumerate().map(|(i, a)| (format!("a{i}"), a.clone())).collect();
            let need = |name: &str, actions: &[&str]| NeedParams {
                name: name.into(),
                actions: actions.iter().map(|&a| a.to_owned()).collect(),
                kind: NeedKind::ActionBased,
                ..NeedParams::default()
            };
            let limit = |of| Some(LimitParams { of, value: 0.3, rate_per_sec: 0.5, ..LimitParams::default() });
            species.mind.standard = NeedParams {
                additive: flags[0],
                combine: combines[0],
                kind: NeedKind::Default,
                ..need("", &["a0", "a1"])
            };
            species.mind.needs = vec![
                NeedParams { kind: NeedKind::LimitBased, limit: limit(LimitOf::Own), stochastic: flags[1], ..need("one", &["a2", "a3"]) },
                NeedParams { kind: NeedKind::LimitBased, limit: limit(LimitOf::Fear), keep_secs: 0.5, ..need("two", &["a4"]) },
                NeedParams { additive: flags[2], combine: combines[1], ..need("three", &["a5", "a6", "a0"]) },
                need("four", &["a7"]),
            ];
            species.mind.combine = combines[2];
            species.mind.drives.hungry_after_secs = drives[0];
            species.mind.drives.fear_distance_m = drives[1];
            species.mind.drives.courts_after_secs = drives[2];
            species.perception.size_gain = if flags[3] { 2.0 } else { 0.0 };
            let kinds = ["enemy", "prey", "food", "mother", "child", "partner", "friend", "leader"];
            let names = ["shark", "salmon", "herring", "trout", "visitor"];
            for (kind, name) in &relations {
                species.relations.entry(kinds[*kind].into()).or_default().push(names[*name].into());
            }
        }
        scene
    }
}

/// Runs a pool and checks the properties after every tick.
fn check_properties(
    scene: &SceneDescription,
    seed: u64,
    defect: u32,
    ticks: u64,
) -> Result<(), TestCaseError> {
    let mut simulation = Simulation::new(scene, &pools::run(seed, 1)).unwrap();
    let solids = simulation.world().solids.to_vec();
    let is_inside = |at: Vec3| solids.iter().any(|solid| solid.signed_distance_m(at) < 0.0);
    for tick in 0..ticks {
        let before = simulation.world().agents.bodies.clone();
        simulation.run_tick(&observation(tick, defect));
        let world = simulation.world();
        for (index, (old, new)) in before.iter().zip(&world.agents.bodies).enumerate() {
            let motion = &world.species[usize::from(world.agents.species[index])].motion;
            prop_assert!(new.is_finite(), "{new:?}");
            prop_assert!((new.forward.length() - 1.0).abs() < 1e-4);
            prop_assert!(
                (new.up.length() - 1.0).abs() < 1e-4 && new.up.dot(new.forward).abs() < 1e-3
            );
            // An agent is placed inside an obstacle if there is no free position. It may then swim out, so the checks do
            // not apply to it.
            if !is_inside(old.position_m) {
                prop_assert!(
                    !is_inside(new.position_m),
                    "tick {tick}: agent {index} at {}",
                    new.position_m
                );
                prop_assert!(new.velocity_mps.length() <= new.boost.allowed_mps * 1.0001 + 1e-5);
                prop_assert!(new.boost.allowed_mps <= motion.boost_mps * 1.0001);
            }
            let is_limited =
                !simulation.decision(index).proposal.turns_in_place && !new.start.bends();
            if !new.teleported && is_limited {
                let most = motion.max_turn_rate_dps.to_radians() * world.dt_secs;
                let turned = old.forward.angle_between(new.forward);
                prop_assert!(turned <= most + 3e-3, "turned {turned} of {most}");
            }
        }
    }
    prop_assert_eq!(simulation.quarantine_count(), 0);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..cases(48) })]

    #[test]
    fn any_scene_has_the_properties(scene in scene(), seed in 0u64..1000, defect in 0u32..3) {
        check_properties(&scene, seed, defect, 240)?;
    }

    #[test]
    fn any_mind_has_the_properties(scene in scene_of_minds(), seed in 0u64..1000, defect in 0u32..3) {
        check_properties(&scene, seed, defect, 90)?;
    }
}

/// Returns a configuration with `default` cases, or with the number in the environment variable `PROPTEST_CASES`.
fn cases(default: u32) -> ProptestConfig {
    let config = ProptestConfig::default();
    let is_set = std::env::var_os("PROPTEST_CASES").is_some();
    ProptestConfig {
        cases: if is_set { config.cases } else { default },
        ..config
    }
}
