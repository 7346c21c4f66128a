//! Tests of what a named individual has of its own, and of animals that rest.

use glam::Vec3;
use shoal::simulation::IndividualDescription;
use shoal::world::{Observation, Snapshot};

use super::{at, run, start};
use crate::pools::{self, action, bare, wants, wide};

#[test]
fn a_named_individual_has_size_courage_and_look_of_its_own() {
    let mut fish = wants(bare("fish", 3), "roam", &[("wander", action("wander", ""))]);
    fish.body.size_spread = 0.3;
    let individual = |name: &str, size, boldness, look| IndividualDescription {
        name: name.into(),
        relations: fish.relations.clone(),
        mind: fish.mind.clone(),
        size,
        boldness,
        look,
        ..IndividualDescription::default()
    };
    fish.individuals = vec![
        individual("Hero", Some(2.0), Some(1.0), Some(7)),
        individual("Plain", None, None, None),
    ];
    let scene = wide(vec![fish]);
    let radius_m = scene.species[0].body.radius_m;
    let pool = start(&scene);
    let world = pool.world();
    let mut snapshot = Snapshot::default();
    pool.snapshot(&mut snapshot);
    let of = |name: &str| {
        let is_it = |index: &usize| {
            let species = &world.species[usize::from(world.agents.species[*index])];
            species.individual.as_deref() == Some(name)
        };
        let index = (0..world.agents.len()).find(is_it).unwrap();
        let species = &world.species[usize::from(world.agents.species[index])];
        let pose = snapshot.agents[index];
        (
            world.agents.radii_m[index],
            species.flight_factor(),
            pose.species,
        )
    };
    assert_eq!(of("Hero"), (2.0 * radius_m, 0.5, 7));
    let (plain_m, factor, look) = of("Plain");
    assert!((plain_m / radius_m - 1.0).abs() <= 0.3);
    assert_eq!((factor, look), (1.0, 0));
}

/// A fixed bug: no action let an animal rest, so one that stood still was called a problem.
#[test]
fn an_animal_rests_on_the_ground_or_where_it_is() {
    for on_ground in [true, false] {
        let rest = action("rest", &format!("on_ground = {on_ground}"));
        let mut fish = wants(bare("fish", 1), "lie", &[("rest", rest)]);
        let keep = action("avoid_obstacles", "");
        pools::add_action(&mut fish, "keep", keep);
        fish.mind.standard.actions = vec!["keep".into()];
        fish.mind.combine = shoal::behavior::Combine::Budget;
        fish.motion.min_speed_mps = 0.0;
        let mut pool = start(&wide(vec![fish]));
        assert!(pool.place(0, at(0.0, 0.0), Vec3::X));
        run(&mut pool, 30.0, &Observation::default());
        let world = pool.world();
        let (body, radius_m) = (world.agents.bodies[0], world.agents.radii_m[0]);
        let (low, _) = world.water.y_range_m(radius_m);
        assert!(body.velocity_mps.length() < 0.01, "{}", body.velocity_mps);
        let height_m = body.position_m.y - low;
        assert!(on_ground == (height_m < 0.3 * radius_m), "{height_m} m");
    }
}
