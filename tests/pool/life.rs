//! Tests of the report of the life in a pool: what it measures, and what it finds wrong.

use crate::pools;
use glam::Vec3;
use shoal::behavior::ActionParams;
use shoal::life::{LifeRecorder, LifeReport, RunName, StaffScript, VisitorProgram, VisitorScript};
use shoal::simulation::{SceneDescription, Simulation};

fn run(scene: &SceneDescription, program: VisitorProgram, seconds: f64) -> LifeReport {
    let mut simulation = Simulation::new(scene, &pools::run(1, 1)).unwrap();
    measure(&mut simulation, scene, program, seconds)
}

fn measure(
    simulation: &mut Simulation,
    scene: &SceneDescription,
    program: VisitorProgram,
    seconds: f64,
) -> LifeReport {
    let name = RunName {
        scene: "test".into(),
        program: Some(program),
        seed: 1,
        seconds,
    };
    let mut visitors = VisitorScript::new(program, &scene.surface, 1, seconds);
    let mut recorder = LifeRecorder::new(name, simulation);
    while simulation.time_secs() < seconds {
        let reached_secs = simulation.time_secs() + simulation.dt_secs();
        simulation.run_tick(visitors.at(reached_secs));
        recorder.record(simulation);
    }
    recorder.finish()
}

fn action(kind: &str) -> ActionParams {
    toml::from_str(&format!("action = '{kind}'")).unwrap()
}

#[test]
fn a_fish_that_stays_in_place_is_reported_with_its_action() {
    let mut slow = pools::bare("slow", 2);
    slow.motion.cruise_mps = 0.001;
    let scene = pools::pool_with(vec![pools::wants(
        slow,
        "roam",
        &[("stroll", action("wander"))],
    )]);
    let report = run(&scene, VisitorProgram::None, 40.0);
    let still = &report.species[0].stillness;
    assert_eq!(still.episodes, 2);
    assert!((30.0..41.0).contains(&still.longest_secs), "{still:?}");
    assert_eq!(still.longest_actions, ["stroll"]);
    let problem = report
        .problems
        .iter()
        .find(|p| p.contains("stayed within 0.1 m"))
        .unwrap();
    assert!(problem.contains("stroll"), "{problem}");
}

#[test]
fn two_fish_that_meet_touch_once_and_a_hunter_and_its_prey_do_not() {
    let meet = |prey: &str| {
        let mut own = pools::bare("own", 2);
        own.motion.cruise_mps = 0.2;
        own.relations.insert("prey".into(), vec![prey.into()]);
        let scene = pools::wide(vec![own]);
        let mut simulation = Simulation::new(&scene, &pools::run(1, 1)).unwrap();
        simulation.place(0, Vec3::new(-1.0, -0.7, 0.0), Vec3::X);
        simulation.place(1, Vec3::new(1.0, -0.7, 0.0), -Vec3::X);
        let report = measure(&mut simulation, &scene, VisitorProgram::None, 12.0);
        report.species[0].touches_per_min.whole
    };
    assert!(
        (meet("other") - 5.0).abs() < 0.1,
        "one touch in 12 s: {}",
        meet("other")
    );
    assert_eq!(meet("own"), 0.0);
}

#[test]
fn shares_of_needs_add_up_and_an_action_that_is_never_executed_is_named() {
    let report = run(&pools::pool(), VisitorProgram::None, 10.0);
    for species in &report.species {
        let sum: f64 = species.needs.iter().map(|need| need.share.whole).sum();
        assert!((sum - 1.0).abs() < 1e-6, "{}: {sum}", species.name);
    }
    let herring = report.species.iter().find(|s| s.name == "herring").unwrap();
    let never = |name: &str| {
        herring
            .actions
            .iter()
            .any(|a| a.name == name && a.executions == 0)
    };
    assert!(never("evade_shadow") && !never("avoid_obstacles"));
    let text = report.to_string();
    let line = text
        .lines()
        .find(|line| line.contains("never executed:"))
        .unwrap();
    assert!(line.contains("evade_shadow"), "{line}");
    assert!(herring.visitors.is_none());
}

/// The report once said "never" for a rule that was on in the first tick.
#[test]
fn a_rule_that_begins_with_the_run_is_counted() {
    let mut scene = pools::pool();
    let text = "name = 'from the beginning'\nwhen = { condition = 'always' }\nthen = { effect = 'calm' }\nhold_secs = 100.0";
    scene.director = vec![toml::from_str(text).unwrap()];
    let report = run(&scene, VisitorProgram::None, 2.0);
    assert_eq!(report.rules[0].begins, 1);
    assert!(report.rules[0].on_secs > 1.9, "{:?}", report.rules[0]);
}

#[test]
fn visitors_have_a_distance_and_a_company() {
    let report = run(&pools::pool(), VisitorProgram::Still, 120.0);
    let herring = report.species.iter().find(|s| s.name == "herring").unwrap();
    let visitors = herring.visitors.unwrap();
    assert!(
        visitors.nearest_m < 0.6 && visitors.mean_m > visitors.nearest_m,
        "{visitors:?}"
    );
    assert_eq!(report.company_waits_secs.len(), 1);
    // The wait for the first agent is that of the species that came first.
    let waits = report.species.iter().flat_map(|s| &s.company_waits_secs);
    let first = waits.copied().fold(f64::INFINITY, f64::min);
    assert_eq!(first, report.company_waits_secs[0]);
    assert!((0.0..=1.0).contains(&herring.path_variety.unwrap()));
    let company = herring.company.unwrap();
    assert!((0.0..=1.0).contains(&company.max_share) && company.min_share <= company.mean_share);
    assert!(company.judged_secs >= 10.0, "{company:?}");
}

#[test]
fn the_staff_of_a_survey_start_every_rule_that_waits_for_a_command_once_in_each_half() {
    let mut scene = pools::pool();
    let rule = |name: &str, when: &str| {
        let text = format!(
            "name = '{name}'\nwhen = {{ condition = '{when}' }}\nthen = {{ effect = 'calm' }}"
        );
        toml::from_str(&text).unwrap()
    };
    scene.director = vec![
        rule("a", "by_hand"),
        rule("b", "always"),
        rule("c", "by_hand"),
    ];
    let pool = Simulation::new(&scene, &pools::run(1, 1)).unwrap();
    let mut staff = StaffScript::new(&pool, 60.0);
    let mut started = Vec::new();
    for second in 1..=60 {
        while let Some(name) = staff.due(f64::from(second)) {
            started.push((second, name.to_owned()));
        }
    }
    let wanted = [(10, "a"), (20, "c"), (40, "a"), (50, "c")];
    assert_eq!(started, wanted.map(|(at, name)| (at, name.to_owned())));
}

/// A fixed gap: a scene for a wall was judged on a floor.
#[test]
fn a_scene_is_judged_on_a_surface_that_suits_it() {
    use shoal::geometry::SurfaceKind;
    let wall = shoal::site::load_suited(None, "aquarium").unwrap();
    let surface = &wall.description().surface;
    assert_eq!(surface.kind, SurfaceKind::Wall);
    assert_eq!((surface.width_m, surface.height_m), (4.0, 2.25));
    let floor = shoal::site::load_suited(None, "pool").unwrap();
    assert_eq!(
        floor.description().surface,
        shoal::geometry::Surface::default()
    );
}

#[test]
fn the_report_does_not_change_the_run() {
    let scene = pools::pool();
    let finish = |measured: bool| {
        let mut simulation = Simulation::new(&scene, &pools::run(3, 1)).unwrap();
        if measured {
            measure(&mut simulation, &scene, VisitorProgram::Walkers, 5.0);
        } else {
            let mut visitors = VisitorScript::new(VisitorProgram::Walkers, &scene.surface, 1, 5.0);
            while simulation.time_secs() < 5.0 {
                let reached_secs = simulation.time_secs() + simulation.dt_secs();
                simulation.run_tick(visitors.at(reached_secs));
            }
        }
        simulation.save().unwrap()
    };
    assert!(finish(true) == finish(false));
}

/// The default scene shows the whole ecosystem to a visitor who stays for a minute: the fry school and flee from the pike, the
/// koi flee from the visitors and gather at one who stands still, the trout lurk and look at others.
#[test]
fn the_koi_pond_shows_its_ecosystem_within_a_minute() {
    let scene = shoal::site::load(None, Some("koi")).unwrap().description();
    let [walkers, still] =
        [VisitorProgram::Walkers, VisitorProgram::Still].map(|program| run(&scene, program, 60.0));
    for (report, species, actions) in [
        (&walkers, "fry", ["flock", "flee_enemy"].as_slice()),
        (&walkers, "pike", &["wander", "hunt_prey"]),
        (&walkers, "koi", &["evade_shadow"]),
        (&still, "koi", &["shelter_under"]),
        (&walkers, "trout", &["lurk", "investigate"]),
    ] {
        let life = report.species.iter().find(|life| life.species == species);
        let seen: Vec<_> = life
            .iter()
            .flat_map(|life| &life.actions)
            .filter(|action| action.executions > 0)
            .map(|action| action.name.as_str())
            .collect();
        for action in actions {
            assert!(seen.contains(action), "{species} never {action}: {seen:?}");
        }
    }
}
