//! Tests of the effects that send fish out of the picture and let them come from a side.

use glam::Vec3;
use shoal::behavior::ActionParams;
use shoal::behavior::actions::{Seek, SeekTarget};
use shoal::simulation::{SceneDescription, Simulation};
use shoal::world::{EdgeMode, Observation};

use super::{at, rule, run, start};
use crate::pools::{self, action, bare, wants, wide};

/// A fish whose margin lets it out of the picture, and that swims where the director wants.
fn outsider() -> SceneDescription {
    let seek = Seek {
        target: SeekTarget::Director,
        weight: 0.0,
        ..Seek::default()
    };
    let mut fish = wants(bare("fish", 1), "go", &[("seek", ActionParams::Seek(seek))]);
    fish.motion.cruise_mps = 0.5;
    let mut scene = wide(vec![fish]);
    scene.surface.width_m = 4.0;
    scene.surface.height_m = 3.0;
    scene.pool.edge = EdgeMode::Guide;
    scene.pool.margins_m = [("fish".to_owned(), 1.0)].into();
    scene
}

#[test]
fn a_fish_is_sent_out_of_the_picture_and_comes_in_from_the_other_side() {
    let mut scene = outsider();
    let by_hand = |name: &str, effect: &str| {
        rule(&format!(
            "name = '{name}'\nwhen = {{ condition = 'by_hand' }}\nthen = {{ effect = '{effect}', side = 'right' }}\nhold_secs = 12.0"
        ))
    };
    scene.director = vec![by_hand("out", "leave"), by_hand("in", "enter")];
    scene.director[1].then = toml::from_str("effect = 'enter'\nside = 'left'").unwrap();
    let mut pool = start(&scene);
    let nobody = Observation::default();
    let is_visible = |pool: &Simulation| {
        let world = pool.world();
        world
            .water
            .is_visible(world.agents.bodies[0].position_m, 0.3)
    };
    assert!(pool.place(0, at(0.0, 0.0), Vec3::X) && pool.start_rule("out"));
    run(&mut pool, 10.0, &nobody);
    assert!(!is_visible(&pool) && pool.world().agents.bodies[0].position_m.x > 2.0);
    assert!(pool.start_rule("in"));
    run(&mut pool, 1.0 / 60.0, &nobody);
    let body = pool.world().agents.bodies[0];
    assert!(body.teleported && body.position_m.x < -2.0 && !is_visible(&pool));
    run(&mut pool, 5.0, &nobody);
    assert!(is_visible(&pool));
}

/// A fixed bug: a fish that was in sight, or of which only the tail was, did not react to `enter`.
#[test]
fn a_fish_that_is_in_sight_leaves_the_picture_and_comes_in_from_the_side() {
    for start_x in [-1.0, 0.5, 2.2] {
        let mut scene = outsider();
        scene.director = vec![rule(
            "name = 'in'\nwhen = { condition = 'by_hand' }\nthen = { effect = 'enter', side = 'left' }\nhold_secs = 15.0",
        )];
        let mut pool = start(&scene);
        let nobody = Observation::default();
        assert!(pool.place(0, at(start_x, 0.4), Vec3::Z) && pool.start_rule("in"));
        let (mut entered, mut in_sight_secs) = (None, 0.0);
        for tick in 0..60 * 40 {
            pool.run_tick(&nobody);
            let world = pool.world();
            let body = world.agents.bodies[0];
            let is_visible = world.water.is_visible(body.position_m, 0.3);
            assert!(!(body.teleported && is_visible), "it jumped in sight");
            if body.teleported {
                assert!(body.position_m.x < -2.0 && entered.is_none());
                entered = Some(tick);
            }
            let since = entered.map_or(0, |entered| tick - entered);
            if since > 0 && since < 60 * 14 && body.position_m.x.abs() < 1.0 {
                in_sight_secs += 1.0 / 60.0;
            }
        }
        assert!(entered.is_some_and(|tick| tick > 0), "from {start_x} m");
        assert!(in_sight_secs > 3.0, "{in_sight_secs} s in the middle");
    }
}

/// A fixed bug: `leave` sent a fish against the guides at the edge, where it hovered in sight.
#[test]
fn a_fish_that_is_sent_out_stays_out_of_sight_while_the_effect_lasts() {
    for side in ["left", "right", "nearest"] {
        let mut scene = outsider();
        let keep = action("avoid_obstacles", "");
        pools::add_action(&mut scene.species[0], "keep", keep);
        scene.species[0].mind.standard.actions = vec!["keep".into()];
        scene.species[0].mind.combine = shoal::behavior::Combine::Budget;
        scene.director = vec![rule(&format!(
            "name = 'out'\nwhen = {{ condition = 'by_hand' }}\nthen = {{ effect = 'leave', side = '{side}' }}\nhold_secs = 60.0"
        ))];
        let mut pool = start(&scene);
        assert!(pool.place(0, at(0.3, 0.2), Vec3::Z) && pool.start_rule("out"));
        run(&mut pool, 15.0, &Observation::default());
        for _ in 0..60 * 40 {
            pool.run_tick(&Observation::default());
            let world = pool.world();
            let at_m = world.agents.bodies[0].position_m;
            assert!(!world.water.is_visible(at_m, 0.3), "{side}: {at_m}");
        }
    }
}
