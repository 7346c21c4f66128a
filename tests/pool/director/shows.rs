//! Tests of rules that answer single visitors, of rules that follow each other, and of whom an effect concerns.

use shoal::simulation::{IndividualDescription, SceneDescription, Simulation};
use shoal::world::{AreaParams, Observation};

use super::{hunter, rule, start, visitors};
use crate::pools::{self, bare, wide};
use glam::Vec2;
use shoal::geometry::Visitor;

/// Runs a pool, and returns when each rule began, in whole tenths of a second.
fn beginnings(
    pool: &mut Simulation,
    secs: f32,
    seen: impl Fn(f32) -> Observation,
) -> Vec<(String, Vec<u32>)> {
    let names: Vec<String> = pool.rules().map(|(rule, _)| rule.name.clone()).collect();
    let mut found: Vec<(String, Vec<u32>)> =
        names.into_iter().map(|name| (name, Vec::new())).collect();
    for tick in 0..(secs * 60.0) as u64 {
        let now_secs = tick as f32 / 60.0;
        pool.run_tick(&seen(now_secs));
        let at = pool.world().random.tick;
        for ((_, beginnings), (_, state)) in found.iter_mut().zip(pool.rules()) {
            if state.has_begun && state.begin_tick + 1 == at {
                beginnings.push((now_secs * 10.0).round() as u32);
            }
        }
    }
    found
}

fn with_rules(texts: &[&str]) -> SceneDescription {
    let mut scene = hunter();
    scene.director = texts.iter().map(|text| rule(text)).collect();
    scene
}

fn of<'a>(found: &'a [(String, Vec<u32>)], name: &str) -> &'a [u32] {
    &found.iter().find(|(known, _)| known == name).unwrap().1
}

#[test]
fn the_rules_of_a_show_follow_each_other_wherever_they_stand_in_the_file() {
    let scene = with_rules(&[
        "name = 'last'\nwhen = { condition = 'after', rule = 'middle', secs = 2.0 }\nthen = { effect = 'calm' }",
        "name = 'show'\nwhen = { condition = 'always' }\nfor_secs = 1.0\nthen = { effect = 'calm' }\nhold_secs = 1.0\npause_secs = 10.0",
        "name = 'at once'\nwhen = { condition = 'after', rule = 'show' }\nthen = { effect = 'calm' }",
        "name = 'middle'\nwhen = { condition = 'after', rule = 'show', secs = 3.0 }\nthen = { effect = 'hunting' }",
    ]);
    let found = beginnings(&mut start(&scene), 30.0, |_| visitors(0, 0.0));
    // The show begins after 1 s, and again 11 s later.
    let near = |name: &str, expected: &[u32]| {
        let begun = of(&found, name);
        let is_near = |(a, b): (&u32, &u32)| a.abs_diff(*b) <= 1;
        assert!(
            begun.len() == expected.len() && begun.iter().zip(expected).all(is_near),
            "{name}: {begun:?}, not {expected:?}"
        );
    };
    near("show", &[10, 120, 230]);
    near("at once", &[10, 120, 230]);
    near("middle", &[40, 150, 260]);
    near("last", &[60, 170, 280]);
}

#[test]
fn a_show_can_be_started_by_hand_and_runs_to_its_end() {
    let scene = with_rules(&[
        "name = 'show'\nwhen = { condition = 'by_hand' }\nthen = { effect = 'calm' }",
        "name = 'end'\nwhen = { condition = 'after', rule = 'show', secs = 4.0 }\nthen = { effect = 'hunting' }",
    ]);
    let mut pool = start(&scene);
    let before = beginnings(&mut pool, 6.0, |_| visitors(0, 0.0));
    assert!(of(&before, "end").is_empty(), "{before:?}");
    assert!(pool.start_rule("show"));
    let found = beginnings(&mut pool, 6.0, |_| visitors(0, 0.0));
    assert_eq!(
        (of(&found, "show"), of(&found, "end")),
        (&[0][..], &[40][..])
    );
    assert_eq!(pool.active_need(0), "hunt");
}

#[test]
fn a_rule_answers_a_visitor_who_arrives_one_who_leaves_and_two_together() {
    let scene = with_rules(&[
        "name = 'hello'\nwhen = { condition = 'visitor_arrives' }\nthen = { effect = 'calm' }",
        "name = 'bye'\nwhen = { condition = 'visitor_leaves' }\nthen = { effect = 'calm' }",
        "name = 'pair'\nwhen = { condition = 'visitors_together', within_m = 0.7 }\nfor_secs = 1.0\nthen = { effect = 'calm' }\npause_secs = 100.0",
    ]);
    let visitor = |id: u32, x: f32| Visitor {
        id,
        foot_m: Vec2::new(x, 0.0),
        centroid_m: Vec2::new(x, 0.0),
        radius_m: 0.2,
        ..Visitor::default()
    };
    // One comes at 2 s, a second one at 5 s and walks to the first one until 8 s; both leave at 12 s.
    let seen = |now: f32| {
        let mut shadows = Vec::new();
        if (2.0..12.0).contains(&now) {
            shadows.push(visitor(1, -1.0));
        }
        if (5.0..12.0).contains(&now) {
            shadows.push(visitor(2, (2.0 - (now - 5.0)).max(-0.5)));
        }
        Observation {
            time_secs: f64::from(now),
            shadows,
        }
    };
    let found = beginnings(&mut start(&scene), 20.0, seen);
    assert_eq!(of(&found, "hello"), [30, 60]);
    assert_eq!(of(&found, "bye"), [140]);
    // They are closer than 0.7 m from 7.3 s on.
    assert_eq!(of(&found, "pair"), [83]);
}

#[test]
fn a_rule_answers_a_visitor_at_a_place() {
    let mut scene = with_rules(&[
        "name = 'bridge'\nwhen = { condition = 'visitor_at', place = 'bridge' }\nfor_secs = 1.0\nthen = { effect = 'calm' }\npause_secs = 100.0",
    ]);
    scene.pool.areas = vec![AreaParams {
        name: "bridge".into(),
        outline_m: vec![[0.5, -1.0], [1.5, -1.0], [1.5, 1.0], [0.5, 1.0]],
        cost: 0.0,
    }];
    let seen = |now: f32| Observation {
        time_secs: f64::from(now),
        shadows: vec![Visitor {
            id: 1,
            foot_m: Vec2::new(0.1 * now - 0.5, 0.0),
            // The shadow falls elsewhere.
            centroid_m: Vec2::new(-1.5, 0.0),
            radius_m: 0.2,
            ..Visitor::default()
        }],
    };
    let found = beginnings(&mut start(&scene), 15.0, seen);
    assert_eq!(of(&found, "bridge"), [110]);
}

#[test]
fn an_effect_concerns_a_group_or_a_single_individual() {
    let hunting = |of: &str| {
        let mut scene = wide(Vec::new());
        let mut fish = hunter().species.remove(0);
        fish.count = 3;
        fish.groups = vec!["hunters".into()];
        fish.individuals = vec![IndividualDescription {
            name: "Old Grey".into(),
            groups: Vec::new(),
            relations: fish.relations.clone(),
            mind: fish.mind.clone(),
            ..IndividualDescription::default()
        }];
        scene.species = vec![fish, bare("other", 1)];
        scene.director = vec![rule(&format!(
            "name = 'on'\nwhen = {{ condition = 'by_hand' }}\nthen = {{ effect = 'hunting', species = ['{of}'] }}"
        ))];
        let mut pool = Simulation::new(&scene, &pools::run(1, 1)).unwrap();
        pool.start_rule("on");
        pool.run_tick(&visitors(0, 0.0));
        pool.run_tick(&visitors(0, 0.0));
        let names = pool.world().species;
        let mut hunters: Vec<String> = (0..pool.world().agents.ids.len())
            .filter(|&index| pool.active_need(index) == "hunt")
            .map(|index| {
                let kind = &names[usize::from(pool.world().agents.species[index])];
                kind.individual.clone().unwrap_or_else(|| kind.name.clone())
            })
            .collect();
        hunters.sort();
        hunters
    };
    assert_eq!(hunting("hunters"), ["Old Grey", "fish", "fish"]);
    assert_eq!(hunting("Old Grey"), ["Old Grey"]);
    assert!(hunting("other").is_empty());
}
