//! Test of the example in `docs/shows`: the show begins with two visitors who stand together, runs to its end, and its effects happen.

use std::collections::BTreeSet;
use std::path::PathBuf;

use glam::Vec2;
use shoal::geometry::Visitor;
use shoal::simulation::Simulation;
use shoal::site;
use shoal::world::{Observation, Snapshot};

use crate::pools;

/// Two visitors: the first one comes at once, the second one at 20 s and stands beside it until 310 s.
fn seen(now_secs: f32) -> Observation {
    let visitor = |id: u32, x: f32| Visitor {
        id,
        foot_m: Vec2::new(x, 1.0),
        centroid_m: Vec2::new(x, 1.0),
        radius_m: 0.2,
        still_secs: 30.0,
        ..Visitor::default()
    };
    let mut shadows = vec![visitor(1, 1.5)];
    if now_secs > 20.0 {
        shadows.push(visitor(2, 0.9));
    }
    // One of them stamps.
    if (300.0..302.0).contains(&now_secs) {
        shadows[0].agitation_mps = 0.1;
    }
    if now_secs > 310.0 {
        shadows.clear();
    }
    Observation {
        time_secs: f64::from(now_secs),
        shadows,
    }
}

/// What the effects of the show have changed, in the order of the show.
#[derive(Debug, Default)]
struct Effects {
    snapshot: Snapshot,
    /// Largest share of the light of each time of day.
    light: [f32; 5],
    /// Cruise speed of the herring, at a time before the show, while they are sleepy, and after it.
    herring_mps: [f32; 3],
    /// Need of Lucky while it dares.
    lucky: BTreeSet<String>,
    /// Whether the herring have enemies: in the hunt, in peace, at the end.
    fears: [bool; 3],
    /// Whether the shark hunted in the hunt, and after its end.
    hunts: [bool; 2],
}

impl Effects {
    /// Looks at the pool. Call it once a second.
    fn look(&mut self, pool: &Simulation, now_secs: f32) {
        pool.snapshot(&mut self.snapshot);
        for (most, now) in self.light.iter_mut().zip(self.snapshot.light) {
            *most = most.max(now);
        }
        let world = pool.world();
        let named = |name: &str| {
            let species = world.species.iter();
            let mut own = species.filter(|one| one.individual.is_none());
            own.find(|one| one.name == name).unwrap()
        };
        let (herring, shark) = (named("herring"), named("shark"));
        let secs = now_secs.round() as u32;
        for (index, at) in [25, 80, 200].into_iter().enumerate() {
            if secs == at {
                self.herring_mps[index] = herring.motion.cruise_mps;
            }
        }
        for (index, at) in [120, 200, 280].into_iter().enumerate() {
            if secs == at {
                self.fears[index] = herring.relations.enemy & shark.name_bits != 0;
            }
        }
        for index in 0..world.agents.ids.len() {
            let species = &world.species[usize::from(world.agents.species[index])];
            if species.individual.as_deref() == Some("Lucky") && (129..147).contains(&secs) {
                self.lucky.insert(pool.active_need(index).to_owned());
            }
            if species.name == "shark" {
                let hunts = pool.active_need(index) == "hunt";
                self.hunts[0] |= hunts && (98..188).contains(&secs);
                self.hunts[1] |= hunts && (190..300).contains(&secs);
            }
        }
    }

    fn check(&self) {
        let percent = self.light.map(|share| (share * 100.0).round() as u32);
        assert_eq!(percent[1..], [100, 0, 100, 90], "{self:?}");
        let [before, sleepy, after] = self.herring_mps;
        assert!((sleepy - before * 0.6).abs() < 1e-4, "{self:?}");
        assert!((after - before).abs() < 1e-4, "{self:?}");
        assert!(self.lucky.contains("offer"), "{self:?}");
        assert_eq!(self.fears, [true, false, true]);
        assert_eq!(self.hunts, [true, false]);
    }
}

#[test]
fn the_show_begins_with_two_visitors_and_runs_to_its_end() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/shows/site.toml");
    let site = site::load(Some(&path), None).unwrap();
    assert!(site.warnings.is_empty(), "{:?}", site.warnings);
    let mut scene = site.description();
    // Fewer fish, so that the test is short.
    for species in &mut scene.species {
        species.count = species.count.min(6);
    }
    let mut pool = Simulation::new(&scene, &pools::run(1, 1)).unwrap();
    let mut begun: Vec<(String, u32)> = Vec::new();
    let (mut left, mut came_back) = (false, false);
    let mut effects = Effects::default();
    for tick in 0..350 * 60u32 {
        let now_secs = tick as f32 / 60.0;
        pool.run_tick(&seen(now_secs));
        let at = pool.world().random.tick;
        for (rule, state) in pool.rules() {
            if state.has_begun && state.begin_tick + 1 == at {
                begun.push((rule.name.clone(), now_secs.round() as u32));
            }
        }
        let world = pool.world();
        let shark = (0..world.agents.ids.len())
            .find(|&i| world.species[usize::from(world.agents.species[i])].name == "shark");
        let position_m = world.agents.bodies[shark.unwrap()].position_m;
        let is_visible = world.water.is_visible(position_m, 1.1);
        left |= now_secs > 31.0 && now_secs < 90.0 && !is_visible;
        came_back |= left && now_secs > 90.0 && is_visible;
        if tick.is_multiple_of(60) {
            effects.look(&pool, now_secs);
        }
    }
    let expected = [
        ("a visitor comes", 1),
        ("a visitor on the bridge", 3),
        ("show", 30),
        ("show: the shark leaves", 31),
        ("show: dusk falls", 35),
        ("show: autumn comes", 35),
        ("show: the school becomes a ball", 50),
        ("show: the fish grow sleepy", 60),
        ("show: a sound in the dark", 88),
        ("show: the shark comes", 90),
        ("show: night", 92),
        ("show: the hunt", 98),
        ("show: Lucky dares", 128),
        ("show: the hunt ends", 188),
        ("show: peace", 190),
        ("show: a new morning", 193),
        ("show: all thank the visitors", 270),
        ("show: a visitor stamps", 300),
        // The show ends at 330 s. Until then, the rules for every day wait.
        ("nobody for a while", 345),
    ];
    let is_of_show =
        |(name, at): &(String, u32)| name.starts_with("show") || !(31..330).contains(at);
    assert!(begun.iter().all(is_of_show), "{begun:?}");
    let mut begun = begun.into_iter();
    for (name, secs) in expected {
        let found = begun.by_ref().find(|(known, _)| known == name);
        let (_, at) = found.unwrap_or_else(|| panic!("{name} never began, or too early"));
        assert!(
            at.abs_diff(secs) <= 1,
            "{name} began at {at} s, not at {secs} s"
        );
    }
    effects.check();
    assert!(
        left && came_back,
        "the shark leaves {left}, comes back {came_back}"
    );
}
