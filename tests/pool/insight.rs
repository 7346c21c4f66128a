//! Tests of what explains a fish to people: the overlay around chosen fish, the reasons of its mind, and a fish that is led.

use serde_json::json;
use shoal::behavior::Standing;
use shoal::world::{
    OverlayAgents, OverlayItem, OverlayLayer, OverlayLayers, OverlayRequest, OverlayShape, Snapshot,
};

use crate::desk::Pool;

fn drawn(pool: &Pool, layers: OverlayLayers, agents: OverlayAgents) -> Vec<OverlayItem> {
    let mut snapshot = Snapshot::default();
    let request = OverlayRequest { layers, agents };
    pool.simulation.fill_overlay(&request, &mut snapshot);
    snapshot.overlay
}

fn sectors(items: &[OverlayItem]) -> usize {
    let is_sector = |item: &&OverlayItem| matches!(item.shape, OverlayShape::Sector { .. });
    items.iter().filter(is_sector).count()
}

/// A fixed gap (Jockel 2005, figures 24 to 27): the neighborhoods of a school could not be seen.
#[test]
fn the_neighborhoods_of_a_chosen_fish_are_drawn_with_the_neighbors_that_count() {
    let mut pool = Pool::new();
    pool.run(120);
    let index = pool.all("herring")[0];
    let items = drawn(
        &pool,
        OverlayLayers::FLOCK,
        OverlayAgents::Id(pool.id(index)),
    );
    assert_eq!(sectors(&items), 3, "{items:?}");
    let at = pool.simulation.world().agents.bodies[index].position_m;
    let counting: Vec<_> = (pool.simulation.perceived(index).into_iter())
        .filter(|(_, counts)| counts.contains(&true))
        .collect();
    assert!(!counting.is_empty(), "a herring without a school");
    let lines = items.iter().filter_map(|item| match item.shape {
        OverlayShape::Line { from_m, to_m } => Some((from_m, to_m)),
        _ => None,
    });
    let lines: Vec<_> = lines.collect();
    assert_eq!(lines.len(), counting.len());
    for (from_m, to_m) in lines {
        assert!(from_m.distance(at) < 1e-5);
        let ends_at = |(other, _): &(shoal::behavior::Neighbor, _)| {
            (at + other.offset_m).distance(to_m) < 1e-4
        };
        assert!(counting.iter().any(ends_at));
    }
    // The nearest mate counts for more than one of the far ones.
    assert!(counting[0].1.iter().filter(|counts| **counts).count() >= 2);
}

#[test]
fn rings_of_many_fish_are_drawn_around_one_of_each_species() {
    let mut pool = Pool::new();
    pool.run(2);
    let layers = OverlayLayers::NONE.with(OverlayLayer::Sight);
    let all = drawn(&pool, layers, OverlayAgents::All);
    let species = pool.simulation.world().species.len();
    assert!(
        (3..=2 * species).contains(&sectors(&all)),
        "{} rings for {species} species",
        sectors(&all)
    );
    let named = drawn(&pool, layers, OverlayAgents::Named("shark".to_owned()));
    assert!((1..=2).contains(&sectors(&named)), "{named:?}");
    let none = drawn(&pool, layers, OverlayAgents::Named("unicorn".to_owned()));
    assert!(none.is_empty());
}

#[test]
fn a_mind_says_which_need_acts_and_why() {
    let mut pool = Pool::new();
    pool.set("scene:pool", "population", json!({"herring": 1}));
    pool.set("species:herring", "needs[0].minimum_secs", json!(0));
    pool.step();
    let index = pool.all("herring")[0];
    let at = pool.simulation.world().agents.bodies[index].position_m;
    pool.visitor(glam::Vec2::new(at.x, at.z), 0.0);
    pool.simulation.record_forces(true);
    pool.step();
    let needs = pool.simulation.need_insights(index);
    let active = needs
        .iter()
        .position(|need| need.standing == Standing::Active);
    let survive = &needs[active.unwrap()];
    assert_eq!(survive.name, "survive");
    let evade = survive.actions.iter().find(|action| action.acts).unwrap();
    assert_eq!(
        (evade.name, evade.is_possible),
        ("evade_shadow", Some(true))
    );
    assert!(evade.force.length() > 0.0);
    // Less important needs were not asked.
    assert!(
        needs[active.unwrap() + 1..]
            .iter()
            .all(|need| need.standing == Standing::Waiting)
    );
    pool.simulation.record_forces(false);
    pool.step();
    let unknown = pool.simulation.need_insights(index);
    let is_unknown = |action: &shoal::behavior::ActionInsight<'_>| action.is_possible.is_none();
    assert!(
        unknown
            .iter()
            .flat_map(|need| &need.actions)
            .all(is_unknown)
    );
}

/// Jockel 2005, §1.2.2: a fish that turns round and is caught.
#[test]
fn a_fish_is_led_to_its_enemy_and_gets_its_own_mind_back_at_once() {
    let mut pool = Pool::new();
    pool.set(
        "scene:pool",
        "population",
        json!({"herring": 1, "shark": 1}),
    );
    pool.step();
    let (herring, shark) = (pool.all("herring")[0], pool.all("shark")[0]);
    let id = pool.id(herring);
    let placed = |pool: &mut Pool, index, x: f32, heading| {
        let at = glam::Vec3::new(x, -0.4, 0.0);
        assert!(pool.simulation.place(index, at, heading));
    };
    placed(&mut pool, herring, 0.0, glam::Vec3::Z);
    placed(&mut pool, shark, 0.5, glam::Vec3::X);
    pool.command(
        json!({"command": "override_mind", "id": id, "secs": 20.0, "mind": {"of": "needs",
        "actions": {"be_caught": {"action": "pursue", "relations": ["enemy"]}},
        "needs": [{"name": "by_hand", "type": "default", "actions": ["be_caught"]}]}}),
    );
    pool.step();
    assert!(pool.simulation.has_override(herring));
    assert_eq!(pool.simulation.active_need(herring), "by_hand");
    let left = pool.simulation.other_mind_secs(herring).unwrap();
    assert!((19.0..=20.0).contains(&left), "{left}");
    // How far its heading is towards the shark: at first it looks past it.
    let mut nearest_heading = f32::MIN;
    for _ in 0..150 {
        pool.step();
        let bodies = &pool.simulation.world().agents.bodies;
        let way = (bodies[shark].position_m - bodies[herring].position_m).normalize();
        nearest_heading = nearest_heading.max(bodies[herring].forward.dot(way));
    }
    assert!(
        nearest_heading > 0.6,
        "the herring does not turn to the shark: {nearest_heading}"
    );
    pool.command(json!({"command": "end_override", "id": id}));
    pool.step();
    assert!(!pool.simulation.has_override(herring));
    assert_ne!(pool.simulation.active_need(herring), "by_hand");
}
