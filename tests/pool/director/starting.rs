//! Rules that are started again, stopped, and wait for each other.

use super::*;

/// Returns the names of the rules that act.
fn acting(pool: &Simulation) -> Vec<&str> {
    let on = pool.rules().filter(|(_, state)| state.is_on);
    on.map(|(rule, _)| rule.name.as_str()).collect()
}

fn with_rules(texts: &[&str]) -> Simulation {
    let mut scene = SceneDescription {
        species: vec![bare("fish", 1)],
        ..SceneDescription::default()
    };
    scene.director = texts.iter().map(|text| rule(text)).collect();
    start(&scene)
}

fn wait(pool: &mut Simulation, secs: f32) {
    run(pool, secs, &visitors(0, 0.0));
}

/// A show of three rules, with the last one first in the list.
fn show() -> Simulation {
    with_rules(&[
        "name = 'end'\nwhen = { condition = 'after', rule = 'slow', secs = 4.0 }\nthen = { effect = 'light', to = 'night' }\nhold_secs = 9.0",
        "name = 'show'\nwhen = { condition = 'by_hand' }\nthen = { effect = 'calm' }\nhold_secs = 20.0\npause_secs = 600.0",
        "name = 'slow'\nwhen = { condition = 'after', rule = 'show', secs = 1.0 }\nthen = { effect = 'speed', factor = 0.5 }\nhold_secs = 6.0",
    ])
}

/// A fixed bug: what still acted when the show began again kept its old end, and reached into the new show.
#[test]
fn a_show_that_is_started_twice_begins_again_as_a_whole() {
    let mut pool = show();
    let cruise_mps = pool.world().species[0].motion.cruise_mps;
    assert!(pool.start_rule("show"));
    wait(&mut pool, 6.0);
    assert_eq!(acting(&pool), ["end", "show", "slow"]);
    assert!(pool.start_rule("show"));
    wait(&mut pool, 0.5);
    assert_eq!(acting(&pool), ["show"]);
    assert_eq!(
        pool.world().species[0].motion.cruise_mps,
        cruise_mps,
        "ended"
    );
    wait(&mut pool, 4.0);
    assert_eq!(acting(&pool), ["show", "slow"]);
    assert_eq!(pool.world().species[0].motion.cruise_mps, cruise_mps * 0.5);
    wait(&mut pool, 1.0);
    assert_eq!(acting(&pool), ["end", "show", "slow"]);
    wait(&mut pool, 2.0);
    assert_eq!(acting(&pool), ["end", "show"]);
    // Also from its pause.
    wait(&mut pool, 30.0);
    assert!(acting(&pool).is_empty());
    assert!(pool.start_rule("show"));
    wait(&mut pool, 1.5);
    assert_eq!(acting(&pool), ["show", "slow"]);
}

#[test]
fn a_show_that_is_stopped_ends_with_all_that_follows() {
    let mut pool = show();
    assert!(pool.start_rule("show"));
    wait(&mut pool, 3.0);
    pool.apply(Change::StopRule {
        name: "show".into(),
    });
    wait(&mut pool, 0.1);
    assert!(acting(&pool).is_empty());
    wait(&mut pool, 10.0);
    assert!(acting(&pool).is_empty(), "what was to come does not begin");
    assert!(!pool.stop_rule("nowhere"));
    // A part of it.
    assert!(pool.start_rule("show"));
    wait(&mut pool, 1.2);
    assert!(pool.stop_rule("slow"));
    wait(&mut pool, 8.0);
    assert_eq!(acting(&pool), ["show"]);
}

#[test]
fn a_lent_mind_ends_with_the_rule_that_is_stopped() {
    let wander = |need: &str, name: &str, count: u32| {
        wants(bare(name, count), need, &[(need, action("wander", ""))])
    };
    let mut scene = wide(vec![wander("roam", "fish", 1), wander("offer", "other", 0)]);
    scene.director = vec![rule(
        "name = 'lend'\nwhen = { condition = 'by_hand' }\nthen = { effect = 'mind', species = ['fish'], like = 'other' }\nhold_secs = 60.0",
    )];
    let mut pool = start(&scene);
    assert!(pool.start_rule("lend"));
    wait(&mut pool, 1.0);
    assert!(pool.has_override(0));
    assert!(pool.stop_rule("lend"));
    assert!(!pool.has_override(0));
}

#[test]
fn a_rule_acts_only_during_another_one() {
    let mut pool = with_rules(&[
        "name = 'answer'\nwhen = { condition = 'always' }\nduring = 'show'\nthen = { effect = 'speed', factor = 0.5 }\nhold_secs = 100.0",
        "name = 'show'\nwhen = { condition = 'by_hand' }\nthen = { effect = 'calm' }\nhold_secs = 5.0",
        "name = 'next'\nwhen = { condition = 'after', rule = 'answer', secs = 8.0 }\nthen = { effect = 'calm' }\nhold_secs = 9.0",
    ]);
    let cruise_mps = pool.world().species[0].motion.cruise_mps;
    wait(&mut pool, 2.0);
    pool.start_rule("answer");
    wait(&mut pool, 1.0);
    assert!(acting(&pool).is_empty(), "also if a command starts it");
    pool.start_rule("show");
    wait(&mut pool, 4.0);
    assert_eq!(acting(&pool), ["answer", "show"]);
    wait(&mut pool, 2.0);
    assert!(acting(&pool).is_empty());
    assert_eq!(pool.world().species[0].motion.cruise_mps, cruise_mps);
    wait(&mut pool, 5.0);
    assert!(acting(&pool).is_empty(), "what follows it does not begin");
}

#[test]
fn a_show_that_acts_alone_ends_the_other_rules_and_lets_them_wait() {
    let mut pool = with_rules(&[
        "name = 'usual'\nwhen = { condition = 'always' }\nthen = { effect = 'speed', factor = 0.5 }\nhold_secs = 2.0\npause_secs = 1.0",
        "name = 'usual, later'\nwhen = { condition = 'after', rule = 'usual', secs = 1.5 }\nthen = { effect = 'calm' }\nhold_secs = 1.0",
        "name = 'step'\nwhen = { condition = 'after', rule = 'show', secs = 1.0 }\nthen = { effect = 'calm' }\nhold_secs = 3.0",
        "name = 'answer'\nwhen = { condition = 'always' }\nfor_secs = 2.0\nduring = 'show'\nthen = { effect = 'calm' }\nhold_secs = 100.0",
        "name = 'show'\nwhen = { condition = 'by_hand' }\nthen = { effect = 'calm' }\nhold_secs = 6.0\nalone = true",
    ]);
    wait(&mut pool, 1.0);
    assert_eq!(acting(&pool), ["usual"]);
    pool.start_rule("show");
    wait(&mut pool, 0.9);
    assert_eq!(acting(&pool), ["show"]);
    wait(&mut pool, 2.0);
    assert_eq!(acting(&pool), ["step", "answer", "show"]);
    // Staff start an everyday rule on purpose.
    pool.start_rule("usual");
    wait(&mut pool, 0.1);
    assert_eq!(acting(&pool), ["usual", "step", "answer", "show"]);
    wait(&mut pool, 2.5);
    assert_eq!(acting(&pool), ["answer", "show"]);
    wait(&mut pool, 2.0);
    assert_eq!(acting(&pool), ["usual"]);
}
