//! Tests of the pool edges, of the combination of the standard need and the active need, and of occlusion by each shape of
//! obstacle.

use glam::Vec3;
use shoal::behavior::Combine;
use shoal::geometry::SurfaceKind;
use shoal::simulation::{SceneDescription, Simulation};
use shoal::site::load;
use shoal::world::{
    BoxParams, CapsuleParams, EdgeMode, Observation, ObstacleParams, PolygonParams, SphereParams,
};

use super::{Y, seek_point};
use crate::pools::{self, action, add_action, bare, wants, wide};

fn roaming(edge: EdgeMode) -> Simulation {
    Simulation::new(&roaming_scene(edge), &pools::run(3, 1)).unwrap()
}

fn roaming_scene(edge: EdgeMode) -> SceneDescription {
    let mut fish = wants(
        bare("fish", 20),
        "roam",
        &[("wander", action("wander", "idle_per_sec = 0.0"))],
    );
    let keep = action("avoid_obstacles", "");
    add_action(&mut fish, "keep", keep);
    fish.mind.standard.actions = vec!["keep".into()];
    fish.motion.cruise_mps = 0.5;
    let mut scene = SceneDescription {
        species: vec![fish],
        ..SceneDescription::default()
    };
    scene.pool.edge = edge;
    scene
}

#[test]
fn agents_never_appear_or_vanish_in_view() {
    for edge in [EdgeMode::Guide, EdgeMode::Reinsert, EdgeMode::Wrap] {
        let mut pool = roaming(edge);
        pool.run_tick(&Observation::default());
        let (mut teleports, mut wrapped) = (0, 0);
        for _ in 0..60 * 60 {
            let before = pool.world().agents.bodies.clone();
            pool.run_tick(&Observation::default());
            let world = pool.world();
            for (index, (old, new)) in before.iter().zip(&world.agents.bodies).enumerate() {
                if !new.teleported {
                    continue;
                }
                teleports += 1;
                let length_m = 0.3 * world.agents.size_factors[index];
                let is_seen = |at: Vec3| world.water.is_visible(at, length_m);
                assert!(
                    !is_seen(old.position_m),
                    "{edge:?}: vanished at {}",
                    old.position_m
                );
                assert!(
                    !is_seen(new.position_m),
                    "{edge:?}: appeared at {}",
                    new.position_m
                );
                let mirrored = (old.position_m + new.position_m) * Vec3::new(1.0, 0.0, 1.0);
                wrapped += usize::from(mirrored.x.abs() < 0.1 || mirrored.z.abs() < 0.1);
            }
            for body in &world.agents.bodies {
                let half = world
                    .water
                    .edge_half_m(body.position_m.y, world.water.params.margin_m)
                    + 1.5;
                assert!(
                    body.position_m.x.abs() < half.x && body.position_m.z.abs() < half.y,
                    "{edge:?}"
                );
            }
        }
        println!(
            "{edge:?}: {teleports} agents were moved in a minute, {wrapped} of them to the opposite side"
        );
        match edge {
            EdgeMode::Guide => assert_eq!(teleports, 0),
            EdgeMode::Reinsert => assert!(teleports > 10),
            EdgeMode::Wrap => assert!(teleports > 10 && wrapped == teleports),
        }
    }
}

#[test]
fn a_species_with_a_margin_of_its_own_leaves_the_picture_and_comes_back() {
    let crossings = |margin_m: Option<f32>, kind: SurfaceKind| {
        let mut scene = roaming_scene(EdgeMode::Guide);
        scene.surface.kind = kind;
        scene.pool.margin_m = -0.1;
        scene.pool.guide_m = 0.4;
        let own = margin_m.map(|margin_m| ("fish".to_owned(), margin_m));
        scene.pool.margins_m = own.into_iter().collect();
        let mut pool = Simulation::new(&scene, &pools::run(3, 1)).unwrap();
        let (mut left, mut returned, mut left_by_z, mut was) = (0, 0, 0, vec![true; 20]);
        for _ in 0..120 * 60 {
            pool.run_tick(&Observation::default());
            let world = pool.world();
            for (body, was) in world.agents.bodies.iter().zip(&mut was) {
                let at = body.position_m;
                let half = world.water.visible_half_m(at.y);
                let is = world.water.is_visible(at, 0.3);
                left += i32::from(*was && !is);
                left_by_z += i32::from(*was && !is && at.z.abs() > half.y);
                returned += i32::from(!*was && is);
                *was = is;
                assert!(!body.teleported, "a fish that comes back has swum");
            }
        }
        (left, returned, left_by_z)
    };
    assert_eq!(crossings(None, SurfaceKind::Floor), (0, 0, 0));
    let (left, returned, _) = crossings(Some(0.6), SurfaceKind::Floor);
    assert!(left > 20 && returned >= left - 20, "{left}, {returned}");
    let (left, _, left_by_z) = crossings(Some(0.6), SurfaceKind::Wall);
    assert!(left > 10 && left_by_z == 0, "{left}, {left_by_z}");
}

#[test]
fn standard_and_active_need_combine_in_three_ways() {
    let run = |combine, active| {
        let mut fish = wants(bare("fish", 1), "go", &[("left", active)]);
        add_action(&mut fish, "right", seek_point(0.0, 9.0, 2.0));
        fish.mind.standard.actions = vec!["right".into()];
        fish.mind.combine = combine;
        fish.motion.max_force_n = 4.0;
        let mut pool = Simulation::new(&wide(vec![fish]), &pools::run(5, 1)).unwrap();
        pool.place(0, Vec3::new(0.0, Y, 0.0), Vec3::X);
        pool.run_tick(&Observation::default());
        pool.decision(0).proposal.force
    };
    // The force of each action is (-1, 0, ±1) times its weight, 3 (left) or 2 (right).
    let sum = Vec3::new(-5.0, 0.0, -1.0);
    let standard = Vec3::new(-2.0, 0.0, 2.0);
    let left = || seek_point(0.0, -9.0, 3.0);
    assert!(run(Combine::Sum, left()).distance(sum) < 1e-4);
    assert!(run(Combine::First, left()).distance(standard) < 1e-4);
    // Across the standard need, the active need has the largest force of 4 N.
    let across = Vec3::new(-1.0, 0.0, -1.0).normalize() * 4.0;
    assert!(run(Combine::Budget, left()).distance(standard + across) < 1e-3);
    // The standard need uses 2√2 N of the largest force. The active need acts against it with the rest.
    let ahead = seek_point(9.0, -9.0, 30.0);
    let against = run(Combine::Budget, ahead) - standard;
    let along = against.dot(standard.normalize());
    assert!((along - (8f32.sqrt() - 4.0)).abs() < 1e-3, "{against}");
    assert!(against.length() > 3.0, "{against}");
}

#[test]
fn every_shape_of_obstacle_hides_an_enemy() {
    let decides = |obstacle: Option<ObstacleParams>, enemy_z: f32| {
        let flee = action("flee_enemy", "");
        let mut fish = wants(bare("fish", 1), "survive", &[("flee", flee)]);
        fish.relations.insert("enemy".into(), vec!["enemy".into()]);
        let mut scene = wide(vec![bare("enemy", 1), fish]);
        scene.obstacles = obstacle.into_iter().collect();
        let mut pool = Simulation::new(&scene, &pools::run(1, 1)).unwrap();
        pool.place(0, Vec3::new(3.0, Y, enemy_z), Vec3::X);
        pool.place(1, Vec3::new(0.0, Y, 0.0), Vec3::X);
        pool.run_tick(&Observation::default());
        pool.active_need(1) == "survive"
    };
    let center_m = [1.5, Y, 0.0];
    let shapes = [
        ObstacleParams::Sphere(SphereParams {
            visible: true,
            center_m,
            radius_m: 0.4,
        }),
        ObstacleParams::Box(BoxParams {
            visible: true,
            center_m,
            half_extents_m: [0.2, 0.4, 0.4],
            yaw_deg: 20.0,
        }),
        ObstacleParams::Capsule(CapsuleParams {
            visible: true,
            from_m: [1.5, Y, -0.4],
            to_m: [1.5, Y, 0.4],
            radius_m: 0.25,
        }),
        ObstacleParams::Polygon(PolygonParams {
            visible: true,
            outline_m: vec![[1.2, -0.4], [1.9, -0.6], [1.9, 0.6], [1.2, 0.4]],
            ..PolygonParams::default()
        }),
    ];
    assert!(decides(None, 0.0));
    for shape in shapes {
        assert!(
            !decides(Some(shape.clone()), 0.0),
            "{shape:?} does not hide the enemy"
        );
        assert!(
            decides(Some(shape.clone()), 2.5),
            "{shape:?} hides an enemy beside it"
        );
    }
}

/// A fixed bug: in the lagoon, the shark stayed for a quarter of an hour between a round rock and a square one. The rocks took its
/// velocity, the rest of it pointed down, and its heading followed this rest instead of its forces.
#[test]
fn a_shark_swims_out_of_a_pocket_between_steep_rocks() {
    let mut scene = load(None, Some("lagoon")).unwrap().description();
    scene.species.retain(|species| species.name == "shark");
    scene.director.clear();
    for place in [
        Vec3::new(0.23, -0.86, -0.75),
        Vec3::new(0.28, -0.93, -0.88),
        Vec3::new(0.31, -1.11, -0.91),
        Vec3::new(0.25, -1.03, -0.68),
    ] {
        for step in 0..8u8 {
            let angle = f32::from(step) * std::f32::consts::FRAC_PI_4;
            let heading = Vec3::new(angle.cos(), 0.0, angle.sin());
            let mut pool = Simulation::new(&scene, &pools::run(1, 1)).unwrap();
            assert!(pool.place(0, place, heading));
            let mut farthest_m = 0.0_f32;
            for _ in 0..25 * 60 {
                pool.run_tick(&Observation::default());
                let at = pool.world().agents.bodies[0].position_m;
                farthest_m = farthest_m.max(at.distance(place));
            }
            assert!(farthest_m > 0.5, "{place}, {heading}: {farthest_m} m");
        }
    }
}

/// A fixed bug: fish with a margin of their own swam along the edge of the picture, half visible, for most of the time.
#[test]
fn a_fish_with_a_margin_is_in_the_picture_for_most_of_the_time() {
    for margin_m in [0.6, 1.1, 2.0] {
        let mut scene = roaming_scene(EdgeMode::Guide);
        scene.pool.margins_m = [("fish".to_owned(), margin_m)].into();
        scene.pool.guide_m = 0.7;
        let mut pool = Simulation::new(&scene, &pools::run(3, 1)).unwrap();
        let (mut outside, mut all) = (0.0, 0.0);
        for _ in 0..180 * 60 {
            pool.run_tick(&Observation::default());
            let world = pool.world();
            for body in &world.agents.bodies {
                let at = body.position_m;
                let half = world.water.visible_half_m(at.y);
                all += 1.0;
                outside += f32::from(u8::from(at.x.abs() > half.x || at.z.abs() > half.y));
            }
        }
        let share = outside / all;
        assert!((0.02..0.5).contains(&share), "{margin_m} m: {share}");
    }
}
