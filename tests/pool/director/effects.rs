//! Tests of effects that change species, minds and the light of the picture for a time.

use shoal::behavior::ActionParams;
use shoal::simulation::{SceneDescription, Simulation};
use shoal::world::{Snapshot, WaterSound};

use super::{action, at, bare, rule, run, start, visitors, wants, wide};
use crate::pools;
use glam::Vec3;

/// Returns a pool with a rule that a command starts and that lasts two seconds.
fn with_effect(mut scene: SceneDescription, effect: &str) -> SceneDescription {
    scene.director = vec![rule(&format!(
        "name = 'go'\nwhen = {{ condition = 'by_hand' }}\nthen = {{ {effect} }}\nhold_secs = 2.0"
    ))];
    scene
}

fn wanderer(name: &str, count: u32) -> shoal::simulation::SpeciesDescription {
    let wander: (&str, ActionParams) = ("wander", action("wander", ""));
    wants(bare(name, count), "roam", &[wander])
}

/// Returns a pool in which fish `fish` flees from enemies, and a fish `other` is near it.
fn two_species() -> SceneDescription {
    let flee = ("flee", action("flee_enemy", ""));
    let fish = wants(bare("fish", 1), "survive", &[flee]);
    wide(vec![fish, bare("other", 1)])
}

fn place_both(pool: &mut Simulation) {
    pool.place(0, at(0.0, 0.0), Vec3::X);
    pool.place(1, at(1.0, 0.0), Vec3::X);
}

#[test]
fn a_species_is_slower_for_a_time_and_brakes_by_its_own_force() {
    let scene = wide(vec![wanderer("fish", 1), wanderer("other", 1)]);
    let scene = with_effect(scene, "effect = 'speed', species = ['fish'], factor = 0.25");
    let mut pool = start(&scene);
    let seen = visitors(0, 0.0);
    let speed = |pool: &Simulation, index: usize| -> f32 {
        pool.world().agents.bodies[index].velocity_mps.length()
    };
    run(&mut pool, 2.0, &seen);
    assert!(speed(&pool, 0) > 0.5 && speed(&pool, 1) > 0.5);
    pool.start_rule("go");
    let motion = &scene.species[0].motion;
    let brake_mps = motion.max_force_n / scene.species[0].body.mass_kg / 60.0;
    let mut last = speed(&pool, 0);
    for _ in 0..90 {
        pool.run_tick(&seen);
        let now = speed(&pool, 0);
        assert!(last - now <= brake_mps * 1.01, "{last} to {now}");
        last = now;
    }
    assert!(last <= 0.26, "{last}");
    assert!(speed(&pool, 1) > 0.5, "the other species swims on");
    run(&mut pool, 4.0, &seen);
    assert!(speed(&pool, 0) > 0.5, "the effect has ended");
}

#[test]
fn a_species_has_an_enemy_for_a_time() {
    let scene = with_effect(
        two_species(),
        "effect = 'relation', species = ['fish'], relation = 'enemy', to = ['other']",
    );
    let mut pool = start(&scene);
    let seen = visitors(0, 0.0);
    place_both(&mut pool);
    run(&mut pool, 0.5, &seen);
    assert_eq!(pool.active_need(0), "", "there is no enemy yet");
    pool.start_rule("go");
    run(&mut pool, 0.5, &seen);
    assert_eq!(pool.active_need(0), "survive");
    run(&mut pool, 2.0, &seen);
    place_both(&mut pool);
    run(&mut pool, 2.0, &seen);
    place_both(&mut pool);
    run(&mut pool, 0.1, &seen);
    assert_eq!(pool.active_need(0), "", "the enemy is none again");
}

#[test]
fn a_species_loses_its_enemy_for_a_time() {
    let mut scene = two_species();
    let enemies = vec!["other".to_owned()];
    scene.species[0].relations.insert("enemy".into(), enemies);
    let scene = with_effect(
        scene,
        "effect = 'relation', species = ['fish'], relation = 'enemy', to = ['other'], on = false",
    );
    let mut pool = start(&scene);
    let seen = visitors(0, 0.0);
    pool.start_rule("go");
    pool.run_tick(&seen);
    place_both(&mut pool);
    run(&mut pool, 0.5, &seen);
    assert_eq!(pool.active_need(0), "", "peace");
    run(&mut pool, 1.6, &seen);
    place_both(&mut pool);
    run(&mut pool, 0.2, &seen);
    assert_eq!(pool.active_need(0), "survive");
}

#[test]
fn a_group_has_the_mind_of_another_species_for_a_time() {
    let mut fish = wanderer("fish", 3);
    fish.groups = vec!["brave".into()];
    let offers = ("offer", action("wander", ""));
    let bait = wants(bare("bait", 0), "offer", &[offers]);
    let scene = wide(vec![fish, wanderer("other", 1), bait]);
    let scene = with_effect(scene, "effect = 'mind', species = ['brave'], like = 'bait'");
    let mut pool = start(&scene);
    let seen = visitors(0, 0.0);
    let needs = |pool: &Simulation| -> Vec<String> {
        (0..4)
            .map(|index| pool.active_need(index).to_owned())
            .collect()
    };
    run(&mut pool, 0.5, &seen);
    assert_eq!(needs(&pool), ["roam"; 4]);
    pool.start_rule("go");
    run(&mut pool, 1.0, &seen);
    assert_eq!(needs(&pool), ["offer", "offer", "offer", "roam"]);
    run(&mut pool, 1.5, &seen);
    assert_eq!(needs(&pool), ["roam"; 4]);
}

#[test]
fn the_picture_gets_another_light_and_fades_back() {
    let scene = with_effect(
        wide(vec![bare("fish", 1)]),
        "effect = 'light', to = 'night', share = 0.8, fade_secs = 2.0",
    );
    let mut pool = start(&scene);
    let seen = visitors(0, 0.0);
    let mut snapshot = Snapshot::default();
    let mut night = |pool: &Simulation| {
        pool.snapshot(&mut snapshot);
        (snapshot.light[4] * 100.0).round() as u32
    };
    pool.run_tick(&seen);
    assert_eq!(night(&pool), 0);
    pool.start_rule("go");
    run(&mut pool, 1.0, &seen);
    assert_eq!(night(&pool), 50);
    run(&mut pool, 0.9, &seen);
    assert_eq!(night(&pool), 80);
    run(&mut pool, 1.1, &seen);
    assert!((25..=35).contains(&night(&pool)), "{}", night(&pool));
    run(&mut pool, 1.0, &seen);
    assert_eq!(night(&pool), 0);
}

#[test]
fn the_plants_get_another_season_and_fade_back() {
    let scene = with_effect(
        wide(vec![bare("fish", 1)]),
        "effect = 'season', to = 'autumn', fade_secs = 2.0",
    );
    let mut pool = start(&scene);
    let seen = visitors(0, 0.0);
    let mut snapshot = Snapshot::default();
    let mut autumn = |pool: &Simulation| {
        pool.snapshot(&mut snapshot);
        (snapshot.season[1] * 100.0).round() as u32
    };
    pool.run_tick(&seen);
    assert_eq!(autumn(&pool), 0);
    pool.start_rule("go");
    run(&mut pool, 1.0, &seen);
    assert_eq!(autumn(&pool), 50);
    run(&mut pool, 4.0, &seen);
    assert_eq!(autumn(&pool), 0);
}

#[test]
fn a_sound_is_asked_for_in_the_tick_in_which_its_rule_begins() {
    let scene = with_effect(
        wide(vec![bare("fish", 1)]),
        "effect = 'sound', play = 'step', at_m = [0.5, 0.2]",
    );
    let mut pool = start(&scene);
    let seen = visitors(0, 0.0);
    let mut snapshot = Snapshot::default();
    let mut sounds = 0;
    pool.run_tick(&seen);
    pool.start_rule("go");
    for _ in 0..30 {
        pool.run_tick(&seen);
        pool.snapshot(&mut snapshot);
        for sound in &snapshot.sounds {
            assert_eq!((sound.play, sound.at_m), (WaterSound::Step, [0.5, 0.2]));
            sounds += 1;
        }
    }
    assert_eq!(sounds, 1);
}

/// Effects that last continue after a pool was saved.
#[test]
fn a_pool_that_is_saved_during_the_effects_goes_on_equally() {
    let bait = wants(bare("bait", 0), "offer", &[("offer", action("wander", ""))]);
    let mut scene = two_species();
    scene.species.push(bait);
    let effects = [
        "effect = 'speed', species = ['other'], factor = 3.0",
        "effect = 'relation', species = ['fish'], relation = 'enemy', to = ['other']",
        "effect = 'mind', species = ['other'], like = 'bait'",
        "effect = 'light', to = 'dusk', fade_secs = 5.0",
    ];
    scene.director = (effects.iter().enumerate())
        .map(|(index, effect)| {
            rule(&format!(
                "name = 'rule {index}'\nwhen = {{ condition = 'always' }}\nthen = {{ {effect} }}\nhold_secs = 3.0\npause_secs = 100.0"
            ))
        })
        .collect();
    let seen = visitors(0, 0.0);
    let mut pool = start(&scene);
    run(&mut pool, 1.0, &seen);
    let text = pool.save().unwrap();
    let mut resumed = Simulation::load(&scene, &pools::run(1, 1), &text).unwrap();
    assert_eq!(resumed.save().unwrap(), text);
    run(&mut pool, 4.0, &seen);
    run(&mut resumed, 4.0, &seen);
    assert_eq!(pool.save().unwrap(), resumed.save().unwrap());
}
