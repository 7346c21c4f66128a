//! Configuration as a stage: shipped files are good, and every bad one gets its sentence with file, line and column.

use std::path::{Path, PathBuf};

use serde_json::Value;
use shoal::config::schema::foreign;
use shoal::site::{CheckReport, check_report, load, schemas};

/// A folder with a site file and what lies beside it.
struct Place(tempfile::TempDir);

impl Place {
    fn new(files: &[(&str, &str)]) -> Self {
        let place = Self(tempfile::tempdir().expect("a temporary folder can be made"));
        for (name, text) in files {
            let path = place.0.path().join(name);
            std::fs::create_dir_all(path.parent().expect("it lies in the folder"))
                .expect("the folder is writable");
            std::fs::write(path, text).expect("the folder is writable");
        }
        place
    }

    fn site(&self) -> PathBuf {
        self.0.path().join("site.toml")
    }

    /// The report with this folder's path cut out.
    fn report(&self) -> CheckReport {
        let mut report = check_report(Some(&self.site()));
        let folder = format!("{}/", self.0.path().display());
        for problem in report.problems.iter_mut().chain(&mut report.warnings) {
            problem.file = problem.file.replace(&folder, "");
            problem.message = problem.message.replace(&folder, "");
        }
        report
    }
}

fn shipped(path: &str) -> String {
    std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("config")
            .join(path),
    )
    .expect("it is shipped")
}

#[test]
fn the_built_in_demo_is_good() {
    let report = check_report(None);
    assert_eq!(report.problems, [], "{report}");
    assert_eq!(report.warnings, [], "{report}");
    let site = load(None, None).expect("the demo is good");
    assert_eq!(site.scene_name, "pool");
    assert_eq!(
        site.species
            .iter()
            .map(|s| s.name.as_str())
            .collect::<Vec<_>>(),
        ["herring", "salmon", "shark", "trout"]
    );
    assert!(site.stones.len() >= 2);
    assert!(
        site.species
            .iter()
            .all(|s| s.count > 0 && s.model.vertices.len() > 100)
    );
    let names: Vec<_> = site
        .description()
        .species
        .into_iter()
        .map(|s| s.name)
        .collect();
    assert_eq!(names, ["herring", "salmon", "shark", "trout"]);
}

#[test]
fn the_demo_from_its_file_is_the_built_in_one() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/demo.toml");
    let (from_file, built_in) = (load(Some(&path), None), load(None, None));
    let (from_file, built_in) = (
        from_file.expect("it is good"),
        built_in.expect("it is good"),
    );
    assert_eq!(from_file.file, built_in.file);
    assert_eq!(from_file.scene, built_in.scene);
}

#[test]
fn schemas_hold_nothing_but_the_closed_set() {
    let schemas = schemas();
    for name in ["site", "scene", "species", "calibration"] {
        let schema = schemas.get(name).unwrap_or(&Value::Null);
        assert_eq!(foreign(schema), Vec::<String>::new(), "{name}");
        assert!(schema.get("description").is_some(), "{name}");
    }
}

#[test]
fn every_field_has_help() {
    fn look(schema: &Value, path: &str, without: &mut Vec<String>) {
        for (name, inner) in schema
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let inner_path = format!("{path}.{name}");
            if inner.get("description").is_none() && inner.get("const").is_none() {
                without.push(inner_path.clone());
            }
            look(inner, &inner_path, without);
        }
        for inner in schema
            .get("oneOf")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            look(inner, path, without);
        }
        for key in ["items", "additionalProperties"] {
            if let Some(inner) = schema.get(key) {
                look(inner, path, without);
            }
        }
    }
    let mut without = Vec::new();
    for (name, schema) in schemas().as_object().expect("it is an object") {
        look(schema, name, &mut without);
    }
    assert_eq!(without, Vec::<String>::new());
}

/// Checks the files of a folder: each sentence must be said of them, and something only when there is one.
#[track_caller]
fn said(files: &[(&str, &str)], wanted: &[&str]) {
    let report = Place::new(files).report();
    let text = report.to_string();
    for sentence in wanted {
        assert!(text.contains(sentence), "wanted '{sentence}', got:\n{text}");
    }
    let is_clean = report.problems.is_empty() && report.warnings.is_empty();
    assert_eq!(wanted.is_empty(), is_clean, "{text}");
}

#[test]
fn every_bad_site_file_has_its_sentence() {
    let site = |text: &str, wanted: &str| said(&[("site.toml", text)], &[wanted]);
    said(&[("site.toml", "")], &[]);
    said(&[], &["site.toml: cannot be opened"]);
    site(
        "scene = 'pol'",
        "site.toml:1:9: scene: there is no scene 'pol', there are ",
    );
    site(
        "[surface]\nwidth_m = 400",
        "site.toml:2:11: surface.width_m: 400 m is too large; allowed is 0.2 to 100 m",
    );
    site(
        "[camera]\nsource = 'webcam'",
        "site.toml:2:10: camera.source: ",
    );
    site(
        "[vision]\nmin_area_m2 = 2.0\nmax_area_m2 = 1.0",
        "site.toml:3:15: vision.max_area_m2: 1 is not above min_area_m2 = 2",
    );
    site(
        "[[outputs]]\n[[outputs]]\n[outputs.corners]\ntop_left = { x = 0.9, y = 0.9 }",
        "site.toml:3:10: outputs[1].corners: the four corners do not make a convex picture",
    );
    site(
        "[calibration]\nfile = 'gone.toml'",
        "site.toml:2:8: calibration.file: gone.toml: cannot be opened",
    );
    said(
        &[
            ("site.toml", "[calibration]\nfile = 'c.toml'"),
            ("c.toml", "date = 'x'\n"),
        ],
        &["c.toml:1:1: 'errors' is missing", "'points' is missing"],
    );
    said(
        &[("site.toml", "scene = 'pool"), ("species/eel.toml", "x = ")],
        &["site.toml:1:", "species/eel.toml:1:"],
    );
}

#[test]
fn every_bad_scene_has_its_sentence() {
    let scene =
        |text: &str, wanted: &[&str]| said(&[("site.toml", ""), ("scenes/sea.toml", text)], wanted);
    scene(
        "[population]\ntrotu = 3\n[pool]\nground_depth_m = 0.1",
        &[
            "scenes/sea.toml:2:9: population.trotu: there is no species 'trotu', there are ",
            "; did you mean 'trout'?",
            "scenes/sea.toml:4:18: pool.ground_depth_m: ground_depth_m = 0.1 is not below surface_depth_m = 0.3",
        ],
    );
    scene(
        "[population]\ntrout = 4000000000",
        &["scenes/sea.toml:1:2: population: 4000000000 agents are more than the 200000"],
    );
    scene(
        "[[obstacles]]\nshape = 'sphere'\n[[obstacles]]\nshape = 'cone'",
        &["scenes/sea.toml:4:9: obstacles[1].shape: 'cone' is none of sphere, box, capsule"],
    );
    scene(
        "[[obstacles]]\nshape = 'sphere'\ncenter_m = [0.0, 1e30, inf]",
        &[
            "scenes/sea.toml:3:18: obstacles[0].center_m[1]: 1e30 m is too large",
            "scenes/sea.toml:3:24: obstacles[0].center_m[2]: inf is no finite number",
        ],
    );
}

#[test]
fn every_bad_director_and_individual_has_its_sentence() {
    let scene = |text: &str, wanted: &[&str]| {
        let text = format!("[population]\ntrout = 2\n{text}");
        said(&[("site.toml", ""), ("scenes/sea.toml", &text)], wanted);
    };
    let rule = "[[director]]\nname = 'a'\nwhen = { condition = 'always' }\n";
    scene(
        &format!("{rule}then = {{ effect = 'explode' }}"),
        &[
            "director[0].then.effect: 'explode' is none of hunting, gather, gather_at_shadow, send_across, calm, set_need",
        ],
    );
    scene(
        "[[director]]\nname = 'a'\nwhen = { condition = 'rain' }\nthen = { effect = 'calm' }",
        &[
            "director[0].when.condition: 'rain' is none of visitors, still_visitor, scare, chance, always, by_hand",
        ],
    );
    scene(
        "[[director]]\nname = 'a'",
        &["'when' is missing", "'then' is missing"],
    );
    scene(
        &format!("{rule}then = {{ effect = 'calm' }}\n{rule}then = {{ effect = 'calm' }}"),
        &["director[1].name: a rule named 'a' stands above already"],
    );
    scene(
        "[[director]]\nname = ''\nwhen = { condition = 'visitors', at_least = 3, at_most = 2 }\nthen = { effect = 'calm', loudly = true }",
        &["director[0].then.loudly: unknown key 'loudly'"],
    );
    scene(
        "[[director]]\nname = ''\nwhen = { condition = 'visitors', at_least = 3, at_most = 2 }\nthen = { effect = 'calm' }\nhold_secs = -1.0",
        &["director[0].hold_secs: -1"],
    );
    scene(
        "[[director]]\nname = ''\nwhen = { condition = 'visitors', at_least = 3, at_most = 2 }\nthen = { effect = 'calm' }",
        &[
            "director[0].name: the rule has no name",
            "director[0].when.at_least: at_least = 3 is more than at_most = 2",
        ],
    );
    scene(
        &format!("{rule}then = {{ effect = 'hunting', species = ['truot'] }}"),
        &[
            "warning: scenes/sea.toml:6:41: director[0].then.species[0]: there is no species in the population 'truot'",
        ],
    );
    scene(
        &format!("{rule}then = {{ effect = 'set_need', need = 'sleep' }}"),
        &["none of these species has a limit_based need 'sleep'"],
    );
    scene(
        "[[individuals]]\nname = 'Ida'\nspecies = 'koi'",
        &["individuals[0].species: there is no species in the population 'koi'"],
    );
    scene(
        "[[individuals]]\nname = 'trout'\nspecies = 'trout'",
        &["individuals[0].name: the name 'trout' is empty, or borne by others"],
    );
    scene(
        "[[individuals]]\nname = 'Ida'\nspecies = 'trout'\nneeds = [{ name = 'nap', type = 'default', actions = ['sleep'] }]",
        &["individuals[0].needs[0].actions[0]: there is no action 'sleep'"],
    );
    scene(
        "[[individuals]]\nspecies = 'trout'\nposition_m = [1e9, 0.0, 0.0]",
        &["'name' is missing", "individuals[0].position_m[0]: 1e9"],
    );
    let three = |name: &str| format!("[[individuals]]\nname = '{name}'\nspecies = 'trout'\n");
    scene(
        &[three("Ida"), three("Ole"), three("Pia")].concat(),
        &["individuals[2]: there are 2 of 'trout', and this is number 3 of those with names"],
    );
}

#[test]
fn every_bad_species_has_its_sentence() {
    let changed = |name: &str, from: &str, to: &str, wanted: &str| {
        let text = shipped(&format!("species/{name}.toml"));
        assert!(
            text.contains(from),
            "'{from}' is gone from the shipped {name}"
        );
        let text = text.replacen(from, to, 1);
        said(
            &[("site.toml", ""), (&format!("species/{name}.toml"), &text)],
            &[wanted],
        );
    };
    changed(
        "trout",
        "actions = [\"avoid_obstacles\"]",
        "actions = [\"avoid_obstacle\"]",
        "standard.actions[0]: there is no action 'avoid_obstacle'",
    );
    changed(
        "trout",
        "actions = [\"hunt_prey\", \"wander\"]",
        "actions = []",
        "needs[1].actions: the need 'hunt' has no action",
    );
    changed(
        "trout",
        "enemy = [\"shark\"]",
        "enemy = [\"shrak\"]",
        "relations.enemy[0]: there is no species or group 'shrak'",
    );
    changed(
        "trout",
        "boost_mps = ",
        "boost_mps = 0.01 #",
        "motion.boost_mps: boost_mps = 0.01 is slower than cruise_mps",
    );
    changed(
        "herring",
        "sight_radius_m = ",
        "sight_radius_m = 0.01 #",
        "is beyond sight_radius_m = 0.01",
    );
    changed(
        "grazer",
        "hungry_after_secs = 90.0",
        "hungry_after_secs = 0.0",
        "needs[1].limit.of: the need 'feed' reads a drive that is switched off; set drives.hungry_after_secs",
    );
    changed(
        "grazer",
        "fear_distance_m = 0.4",
        "fear_distance_m = -0.4",
        "drives.fear_distance_m: -0.4",
    );
    changed(
        "trout",
        "[look]",
        "[actions.both]\naction = \"combined\"\nactions = [\"wander\", \"nap\", \"both\"]\n[look]",
        "actions.both.actions[1]: there is no action 'nap'",
    );
    changed(
        "trout",
        "[look]",
        "[actions.both]\naction = \"combined\"\nactions = [\"wander\", \"both\"]\n[look]",
        "actions.both.actions[1]: 'both' is combined itself; name its parts instead",
    );
    changed(
        "trout",
        "rate_per_sec = 0.0 ",
        "rate_per_sec = 0.0\nreset_by = \"sleep\" #",
        "is given twice",
    );
    changed(
        "trout",
        "[actions.hide_from_enemy]\naction = \"hide_from_enemy\"",
        "[actions.hide_from_enemy]\naction = \"hide_from_enmy\"",
        "actions.hide_from_enemy.action: 'hide_from_enmy' is none of",
    );
}

#[test]
fn bad_models_and_names_have_their_sentence() {
    let eel = |text: &str, wanted: &str| {
        said(
            &[
                ("site.toml", ""),
                ("species/eel.toml", text),
                ("eel.glb", "no glTF"),
            ],
            &[wanted],
        );
    };
    eel(
        "[look]\nmodel = 'tuort'",
        "species/eel.toml:2:9: look.model: there is no model 'tuort'",
    );
    eel(
        "[look]\nmodel = 'eel.glb'",
        "species/eel.toml:2:9: look.model: model eel.glb: not a binary glTF 2.0 file",
    );
    eel(
        "[look]\nmodel = 'gone.glb'",
        "species/eel.toml:2:9: look.model: the model gone.glb cannot be opened",
    );
    eel(
        "[body]\nlength_m = 3.0\n[look]\nlength_m = 1.0",
        "species/eel.toml:4:12: look.length_m: it is drawn 1 m long, but body.length_m = 3",
    );
    said(
        &[("site.toml", ""), ("species/visitor.toml", "")],
        &["'visitor' is the name of the visitors' shadows"],
    );
}

#[test]
fn all_problems_of_all_files_come_at_once() {
    let place = Place::new(&[
        (
            "site.toml",
            "scene = 'pol'\n[surface]\nwidth_m = nan\nheigth_m = 3\n[vision]\nshadow_ratio = 2",
        ),
        ("scenes/pool.toml", "title = 3"),
        ("species/trout.toml", "[body]\nlength_m = -1\nmass_kg = '1'"),
    ]);
    let report = place.report();
    let places: Vec<(String, usize)> = report
        .problems
        .iter()
        .map(|p| (p.file.clone(), p.line))
        .collect();
    let wanted = [
        ("site.toml", 3),
        ("site.toml", 4),
        ("site.toml", 6),
        ("scenes/pool.toml", 1),
        ("species/trout.toml", 2),
        ("species/trout.toml", 3),
    ];
    assert_eq!(places, wanted.map(|(f, l)| (f.to_owned(), l)), "{report}");
    assert!(load(Some(&place.site()), None).is_err());
}

#[test]
fn own_files_stand_before_built_in_ones() {
    let trout = shipped("species/trout.toml").replacen("mass_kg = ", "mass_kg = 7.0 #", 1);
    let place = Place::new(&[
        ("site.toml", "scene = 'pond'"),
        (
            "scenes/pond.toml",
            "title = 'Pond'\n[population]\ntrout = 3\nherring = 2",
        ),
        ("species/trout.toml", &trout),
    ]);
    let site = load(Some(&place.site()), None).expect("all is good");
    assert_eq!(site.scene.title, "Pond");
    let trout = site
        .species
        .iter()
        .find(|s| s.name == "trout")
        .expect("the scene has trout");
    assert_eq!((trout.count, trout.file.body.mass_kg), (3, 7.0));
    assert_eq!(site.folder, place.0.path());
    assert_eq!(
        load(Some(&place.site()), Some("pool"))
            .expect("it is built in")
            .scene_name,
        "pool"
    );
    let problems = load(Some(&place.site()), Some("pnd")).expect_err("there is no such scene");
    assert!(
        problems.to_string().contains("did you mean 'pond'?"),
        "{problems}"
    );
}
