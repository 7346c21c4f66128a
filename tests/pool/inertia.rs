//! Property: effects, edits and rules change what fish want. A velocity changes only by the force of the fish, by obstacles and by
//! the edges of the water.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may")]

use crate::pools;
use glam::Vec2;
use proptest::prelude::*;
use shoal::geometry::Visitor;
use shoal::simulation::{Change, PlanChange, PoolPlan, SceneDescription, Simulation};
use shoal::world::{Body, Effect, FastStart, Observation, RuleParams};

/// Each effect that a rule or a command can have.
const EFFECTS: [&str; 8] = [
    "effect = 'calm'",
    "effect = 'hunting'\non = true",
    "effect = 'hunting'\non = false",
    "effect = 'gather'\npoint_m = [1.0, -0.7, 0.5]\nweight = 40.0",
    "effect = 'gather_at_shadow'\nweight = 40.0",
    "effect = 'send_across'\nweight = 40.0",
    "effect = 'set_need'\nneed = 'hunt'\nvalue = 5.0",
    "effect = 'calm'\nspecies = ['herring']",
];

/// A change of a running pool.
#[derive(Clone, Debug)]
enum Disturbance {
    Effect(usize),
    Rule(usize),
    /// Factors on cruise speed, boost speed, minimum speed and the time to calm down.
    Speeds([f32; 4]),
}

fn disturbance() -> impl Strategy<Value = Disturbance> {
    let factor = || prop_oneof![Just(0.1f32), Just(0.0), 0.3f32..3.0];
    prop_oneof![
        (0..EFFECTS.len()).prop_map(Disturbance::Effect),
        (0..EFFECTS.len()).prop_map(Disturbance::Rule),
        prop::array::uniform4(factor()).prop_map(Disturbance::Speeds),
    ]
}

fn scene() -> SceneDescription {
    let mut scene = pools::pool();
    let rule = |(number, then): (usize, &&str)| -> RuleParams {
        let text = format!(
            "name = '{number}'\nhold_secs = 1.0\nwhen = {{ condition = 'by_hand' }}\n[then]\n{then}"
        );
        toml::from_str(&text).unwrap()
    };
    scene.director = EFFECTS.iter().enumerate().map(rule).collect();
    scene
}

fn change(disturbance: &Disturbance) -> Change {
    match disturbance {
        Disturbance::Effect(number) => {
            Change::Effect(toml::from_str::<Effect>(EFFECTS[*number]).unwrap())
        }
        Disturbance::Rule(number) => Change::StartRule {
            name: number.to_string(),
        },
        Disturbance::Speeds([cruise, boost, least, calm]) => {
            let mut scene = scene();
            for species in &mut scene.species {
                let motion = &mut species.motion;
                motion.cruise_mps *= cruise;
                motion.boost_mps = (motion.boost_mps * boost).max(motion.cruise_mps);
                motion.min_speed_mps = (motion.min_speed_mps * least).min(motion.cruise_mps);
                for action in species.mind.actions.values_mut() {
                    use shoal::behavior::ActionParams::{EvadeShadow, FleeEnemy, HuntPrey};
                    match action {
                        EvadeShadow(action) => action.calm_secs *= calm,
                        FleeEnemy(action) => action.calm_secs *= calm,
                        HuntPrey(action) => action.calm_secs *= calm,
                        _ => {}
                    }
                }
            }
            Change::Pool(Box::new(PlanChange {
                plan: PoolPlan::compile(&scene).unwrap(),
                added: Vec::new(),
                removed_ids: Vec::new(),
            }))
        }
    }
}

/// Returns the shadow of a visitor who runs through the pool and leaves it.
fn runner(tick: u32) -> Observation {
    let t = tick as f32 / 60.0;
    let at = Vec2::new(t * 2.0 - 2.5, 0.3);
    let shadow = Visitor {
        id: 1,
        centroid_m: at,
        foot_m: at,
        radius_m: 0.25,
        velocity_mps: Vec2::X * 2.0,
        area_m2: 0.2,
        age_secs: f64::from(t),
        ..Visitor::default()
    };
    Observation {
        time_secs: f64::from(t),
        shadows: if t < 2.5 { vec![shadow] } else { vec![] },
    }
}

/// Checks that the disturbances, one each half second, change no velocity by more than the force of the fish.
fn check_velocities(disturbances: &[Disturbance], seed: u64) -> Result<(), TestCaseError> {
    let mut pool = Simulation::new(&scene(), &pools::run(seed, 1)).unwrap();
    // Fish that a hunter may have caught: it carries them.
    let mut carried = vec![false; pool.world().agents.len()];
    for tick in 0..300 {
        if tick % 30 == 0 {
            pool.apply(change(&disturbances[tick as usize / 30]));
        }
        let before = pool.world().agents.bodies.clone();
        pool.run_tick(&runner(tick));
        let world = pool.world();
        for (index, (old, new)) in before.iter().zip(&world.agents.bodies).enumerate() {
            let is_hunter = |other: &Body| {
                other.intent.hunts && other.position_m.distance(old.position_m) < 0.5
            };
            carried[index] |= before.iter().any(is_hunter) && !old.intent.hunts;
            let is_pushed = (new.velocity_mps - new.forward * new.velocity_mps.length()).length()
                > 1e-4
                || new.pushed_mps.length() > 1e-6
                || old.pushed_mps.length() > 1e-6;
            if new.teleported || is_pushed || carried[index] {
                continue;
            }
            let species = &world.species[usize::from(world.agents.species[index])];
            let mass_kg = species.body.mass_kg * world.agents.size_factors[index].powi(3);
            // A fast start has the force of the whole body.
            let starts = old.start.phase < FastStart::OVER || new.start.phase < FastStart::OVER;
            let factor = if starts {
                species.motion.start.force_factor
            } else {
                1.0
            };
            let own_mps = factor * species.motion.max_force_n / mass_kg * world.dt_secs;
            let leveled_mps = old.velocity_mps.y.abs() * world.dt_secs / species.motion.level_secs;
            let changed_mps = new.velocity_mps.distance(old.velocity_mps);
            // While the limit of the speed falls, the body brakes and turns with its force at the same time.
            let most_mps = own_mps * std::f32::consts::SQRT_2 + leveled_mps;
            prop_assert!(
                changed_mps <= most_mps + 1e-3,
                "tick {tick}, {}: {} to {} m/s, {changed_mps} of {most_mps}",
                species.name,
                old.velocity_mps,
                new.velocity_mps
            );
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn no_effect_edit_or_rule_changes_a_velocity_by_more_than_the_force_of_the_fish(
        disturbances in prop::collection::vec(disturbance(), 10), seed in 0u64..1000,
    ) {
        check_velocities(&disturbances, seed)?;
    }
}

/// A fixed bug: a fish that was slower than its raised minimum speed turned round and became faster in the same tick, with twice its force.
#[test]
fn a_slow_fish_that_turns_round_does_not_become_faster_too() {
    use Disturbance::{Effect, Rule, Speeds};
    let disturbances = [
        Speeds([0.1, 0.0, 0.1, 0.0]),
        Speeds([2.7966692, 0.1, 1.392914, 0.1]),
        Effect(0),
        Effect(0),
        Effect(0),
        Effect(0),
        Effect(3),
        Rule(1),
        Speeds([1.707251, 1.9872332, 0.1, 0.0]),
        Rule(6),
    ];
    check_velocities(&disturbances, 884).unwrap();
}
