//! Tests of the messages for every kind of mistake in a site, scene or species file. A message says what is wrong, where, and
//! what to do.

use super::{SiteFolder, shipped};

/// Checks the files of a folder. The report must contain each expected message. If `expected` is empty, the report must be
/// empty too.
#[track_caller]
fn expect_messages(files: &[(&str, &str)], expected: &[&str]) {
    let report = SiteFolder::new(files).report();
    let text = report.to_string();
    for message in expected {
        assert!(
            text.contains(message),
            "expected \"{message}\", got:\n{text}"
        );
    }
    let is_clean = report.problems.is_empty() && report.warnings.is_empty();
    assert_eq!(expected.is_empty(), is_clean, "{text}");
}

#[test]
fn every_bad_site_file_has_its_message() {
    let site = |text: &str, expected: &str| expect_messages(&[("site.toml", text)], &[expected]);
    expect_messages(&[("site.toml", "# defaults")], &[]);
    expect_messages(&[], &["site.toml: cannot be opened"]);
    site(
        "scene = 'pol'",
        "site.toml:1:9: scene: there is no scene \"pol\"; existing: ",
    );
    site(
        "[surface]\nwidth_m = 400",
        "site.toml:2:11: surface.width_m: 400 m is too large; allowed: 0.2 to 100 m",
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
        "site.toml:3:10: outputs[1].corners: the four corners are not convex",
    );
    site(
        "[[outputs]]\nmonitor = 'DP-1'\n[[outputs]]\nmonitor = 'DP-1'",
        "site.toml:4:11: outputs[1].monitor: \"DP-1\" is already the monitor of outputs[0]; give each output its own monitor",
    );
    site(
        "[calibration]\nfile = 'gone.toml'",
        "site.toml:2:8: calibration.file: gone.toml: cannot be opened",
    );
    expect_messages(
        &[
            ("site.toml", "[calibration]\nfile = 'c.toml'"),
            ("c.toml", "date = 'x'\n"),
        ],
        &["c.toml:1:1: \"errors\" is missing", "\"points\" is missing"],
    );
    expect_messages(
        &[("site.toml", "scene = 'pool"), ("species/eel.toml", "x = ")],
        &["site.toml:1:", "species/eel.toml:1:"],
    );
}

#[test]
fn every_bad_scene_has_its_message() {
    let scene = |text: &str, expected: &[&str]| {
        expect_messages(
            &[("site.toml", "# defaults"), ("scenes/sea.toml", text)],
            expected,
        );
    };
    scene(
        "[population]\ntrotu = 3\n[pool]\nground_depth_m = 0.1",
        &[
            "scenes/sea.toml:2:9: population.trotu: there is no species \"trotu\"; existing: ",
            "; did you mean \"trout\"?",
            "scenes/sea.toml:4:18: pool.ground_depth_m: ground_depth_m = 0.1 must be greater than surface_depth_m = 0.3",
        ],
    );
    scene(
        "[population]\ntrout = 4000000000",
        &[
            "scenes/sea.toml:1:2: population: 4000000000 agents are too many for one pool; reduce the population to at most 200000",
        ],
    );
    scene(
        "[[obstacles]]\nshape = 'sphere'\n[[obstacles]]\nshape = 'cone'",
        &["scenes/sea.toml:4:9: obstacles[1].shape: \"cone\" is not one of sphere, box, capsule"],
    );
    scene(
        "[[obstacles]]\nshape = 'sphere'\ncenter_m = [0.0, 1e30, inf]",
        &[
            "scenes/sea.toml:3:18: obstacles[0].center_m[1]: 1e30 m is too large",
            "scenes/sea.toml:3:24: obstacles[0].center_m[2]: inf is not a finite number",
        ],
    );
}

#[test]
fn every_bad_director_and_individual_has_its_message() {
    let scene = |text: &str, expected: &[&str]| {
        let text = format!("[population]\ntrout = 2\n{text}");
        expect_messages(
            &[("site.toml", "# defaults"), ("scenes/sea.toml", &text)],
            expected,
        );
    };
    let rule = "[[director]]\nname = 'a'\nwhen = { condition = 'always' }\n";
    scene(
        &format!("{rule}then = {{ effect = 'explode' }}"),
        &[
            "director[0].then.effect: \"explode\" is not one of hunting, gather, gather_at_shadow, send_across, calm, set_need",
        ],
    );
    scene(
        "[[director]]\nname = 'a'\nwhen = { condition = 'rain' }\nthen = { effect = 'calm' }",
        &[
            "director[0].when.condition: \"rain\" is not one of visitors, still_visitor, scare, chance, always, by_hand",
        ],
    );
    scene(
        "[[director]]\nname = 'a'",
        &["\"when\" is missing", "\"then\" is missing"],
    );
    scene(
        &format!("{rule}then = {{ effect = 'calm' }}\n{rule}then = {{ effect = 'calm' }}"),
        &["director[1].name: another rule is already named 'a'"],
    );
    scene(
        "[[director]]\nname = ''\nwhen = { condition = 'visitors', at_least = 3, at_most = 2 }\nthen = { effect = 'calm', loudly = true }",
        &["director[0].then.loudly: unknown key \"loudly\""],
    );
    scene(
        "[[director]]\nname = ''\nwhen = { condition = 'visitors', at_least = 3, at_most = 2 }\nthen = { effect = 'calm' }\nhold_secs = -1.0",
        &["director[0].hold_secs: -1"],
    );
    scene(
        "[[director]]\nname = ''\nwhen = { condition = 'visitors', at_least = 3, at_most = 2 }\nthen = { effect = 'calm' }",
        &[
            "director[0].name: the rule has no name",
            "director[0].when.at_least: at_least = 3 is greater than at_most = 2",
        ],
    );
    scene(
        &format!("{rule}then = {{ effect = 'hunting', species = ['truot'] }}"),
        &[
            "warning: scenes/sea.toml:6:41: director[0].then.species[0]: there is no species in the population \"truot\"",
        ],
    );
    scene(
        &format!("{rule}then = {{ effect = 'set_need', need = 'sleep' }}"),
        &["none of these species has a limit_based need \"sleep\""],
    );
    scene(
        "[[individuals]]\nname = 'Ida'\nspecies = 'carp'",
        &["individuals[0].species: there is no species in the population \"carp\""],
    );
    scene(
        "[[individuals]]\nname = 'trout'\nspecies = 'trout'",
        &["individuals[0].name: the name \"trout\" is empty or already used"],
    );
    scene(
        "[[individuals]]\nname = 'Ida'\nspecies = 'trout'\nneeds = [{ name = 'nap', type = 'default', actions = ['sleep'] }]",
        &["individuals[0].needs[0].actions[0]: unknown action 'sleep'"],
    );
    scene(
        "[[individuals]]\nspecies = 'trout'\nposition_m = [1e9, 0.0, 0.0]",
        &["\"name\" is missing", "individuals[0].position_m[0]: 1e9"],
    );
    let three = |name: &str| format!("[[individuals]]\nname = '{name}'\nspecies = 'trout'\n");
    scene(
        &[three("Ida"), three("Ole"), three("Pia")].concat(),
        &[
            "individuals[2]: the population has 2 of \"trout\", but this is named individual number 3",
        ],
    );
}

#[test]
fn every_bad_species_has_its_message() {
    let changed = |name: &str, from: &str, to: &str, expected: &str| {
        let text = shipped(&format!("species/{name}.toml"));
        assert!(
            text.contains(from),
            "the shipped {name} does not contain \"{from}\""
        );
        let text = text.replacen(from, to, 1);
        expect_messages(
            &[
                ("site.toml", "# defaults"),
                (&format!("species/{name}.toml"), &text),
            ],
            &[expected],
        );
    };
    changed(
        "fish",
        "actions = [\"avoid_obstacles\", ",
        "actions = [\"avoid_obstacle\", ",
        "standard.actions[0]: unknown action 'avoid_obstacle'",
    );
    changed(
        "fish",
        "actions = [\"hunt_prey\", \"wander\"]",
        "actions = []",
        "needs[1].actions: the need 'hunt' has no action",
    );
    changed(
        "trout",
        "enemy = [\"shark\"]",
        "enemy = [\"shrak\"]",
        "relations.enemy[0]: there is no species or group \"shrak\"",
    );
    changed(
        "pike",
        "boost_mps = ",
        "boost_mps = 0.01 #",
        "motion.boost_mps: boost_mps = 0.01 is slower than cruise_mps",
    );
    changed(
        "koi",
        "sight_radius_m = ",
        "sight_radius_m = 0.01 #",
        "is larger than sight_radius_m = 0.01",
    );
    changed(
        "grazer",
        "hungry_after_secs = 90.0",
        "hungry_after_secs = 0.0",
        "needs[3].limit.of: the need 'feed' reads a drive that is switched off; set drives.hungry_after_secs",
    );
    changed(
        "grazer",
        "hungry_after_secs = 90.0",
        "hungry_after_secs = -90.0",
        "drives.hungry_after_secs: -90",
    );
    changed(
        "trout",
        "[look]",
        "[actions.both]\naction = \"combined\"\nactions = [\"wander\", \"nap\", \"both\"]\n[look]",
        "actions.both.actions[1]: unknown action 'nap'",
    );
    changed(
        "trout",
        "[look]",
        "[actions.both]\naction = \"combined\"\nactions = [\"wander\", \"both\"]\n[look]",
        "actions.both.actions[1]: 'both' contains itself through 'both'; remove this entry",
    );
    changed(
        "trout",
        "rate_per_sec = 0.01 ",
        "rate_per_sec = 0.01\nrate_per_sec = 0.02 #",
        "duplicate key: this key already exists in the table",
    );
    changed(
        "fish",
        "[actions.hide_from_enemy]\naction = \"hide_from_enemy\"",
        "[actions.hide_from_enemy]\naction = \"hide_from_enmy\"",
        "actions.hide_from_enemy.action: \"hide_from_enmy\" is not one of",
    );
}

#[test]
fn bad_models_and_names_have_their_message() {
    let eel = |text: &str, expected: &str| {
        expect_messages(
            &[
                ("site.toml", "# defaults"),
                ("species/eel.toml", text),
                ("eel.glb", "no glTF"),
            ],
            &[expected],
        );
    };
    eel(
        "[look]\nmodel = 'tuort'",
        "species/eel.toml:2:9: look.model: there is no model \"tuort\"",
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
    expect_messages(
        &[
            ("site.toml", "# defaults"),
            ("species/visitor.toml", "# defaults"),
        ],
        &["\"visitor\" is the species name of the visitors' shadows"],
    );
}

#[test]
fn every_bad_mind_has_its_message() {
    let eel = |text: &str, expected: &[&str]| {
        let text = format!("{text}\n[look]\nlength_m = 0.3\n");
        expect_messages(
            &[("site.toml", "# defaults"), ("species/eel.toml", &text)],
            expected,
        );
    };
    let actions = "[actions.go]\naction = 'wander'\n[actions.stop]\naction = 'wander'\n";
    let mind = |needs: &str, expected: &[&str]| eel(&format!("{needs}\n{actions}"), expected);
    let both = "actions = ['go', 'stop']";
    mind(&format!("[standard]\nadditive = true\n{both}"), &[]);
    mind(
        "[standard]\nactions = ['go']",
        &[
            "warning: species/eel.toml:5:10: actions.stop: no need uses the action 'stop', so it is never executed",
        ],
    );
    mind(
        &format!("[standard]\ntype = 'action_based'\n{both}"),
        &["standard.type: the standard need acts in every tick, so its type must be 'default'"],
    );
    mind(
        &format!("[[needs]]\n{both}\n[[needs]]\nname = 'a'\n{both}\n[[needs]]\nname = 'a'\n{both}"),
        &[
            "needs[0].name: the need has no name; add one",
            "needs[2].name: another need is already named 'a'; choose a different name",
        ],
    );
    mind(
        "[[needs]]\nname = 'a'\nactions = ['go', 'stop', 'go']",
        &["needs[0].actions[2]: the action 'go' is listed twice in this need; remove one entry"],
    );
    mind(
        &format!("[[needs]]\nname = 'a'\ntype = 'limit_based'\n{both}"),
        &["needs[0].limit: the need 'a' is limit_based but has no limit; add limit = "],
    );
    mind(
        &format!("[[needs]]\nname = 'a'\n{both}\nlimit = {{ value = 1.0 }}"),
        &["needs[0].limit: the need 'a' has a limit but is not limit_based; change its type"],
    );
    let many: String = (0..65)
        .map(|i| format!("[[needs]]\nname = 'n{i}'\n{both}\n"))
        .collect();
    mind(&many, &["needs: has 65 items; allowed: at most 64"]);
    let many: String = (0..65)
        .map(|i| format!("[actions.a{i}]\naction = 'wander'\n"))
        .collect();
    eel(
        &many,
        &["actions: 65 actions are too many; a mind can have at most 64"],
    );
    eel(
        "[[needs]]\nname = 'survive'\nactions = ['flee', 'hide']\n[actions.flee]\naction = 'flee_enemy'\nflee_distance_m = 2.0\n\
         [actions.hide]\naction = 'hide_from_enemy'\nflee_distance_m = 1.5",
        &[
            "actions.hide.flee_distance_m: 'hide' comes after 'flee', which already flees at 2 m, so \
             the agent never hides within 1.5 m",
        ],
    );
    eel(
        "[[needs]]\nname = 'school'\nactions = ['school']\n[actions.school]\naction = 'flock_simple'\ncentroid = 'individual'\n\
         centroid_radius_m = 0.5\ncohesion_m = 0.5",
        &[
            "actions.school.centroid_radius_m: the center of mates within 0.5 m is never 0.5 m away, so 'school' does not keep the school together",
        ],
    );
    eel(
        "[motion]\nmin_speed_mps = 3.0\n[perception]\nprey_sight_radius_m = 0.5",
        &[
            "motion.min_speed_mps: min_speed_mps = 3 is faster than cruise_mps = 0.35; lower it",
            "perception.prey_sight_radius_m: prey_sight_radius_m = 0.5 is shorter than sight_radius_m = 1.5",
        ],
    );
}

#[test]
fn every_bad_obstacle_terrace_and_field_has_its_message() {
    let scene = |text: &str, expected: &[&str]| {
        expect_messages(
            &[("site.toml", "# defaults"), ("scenes/sea.toml", text)],
            expected,
        );
    };
    let polygon = |rest: &str| format!("[[obstacles]]\nshape = 'polygon'\n{rest}");
    scene(&polygon(""), &[]);
    scene(
        &polygon("outline_m = [[0, 0], [2, 0], [2, 2], [1, 0.5], [0, 2]]"),
        &[
            "scenes/sea.toml:3:13: obstacles[0].outline_m: outline_m is not a convex polygon, crosses itself or has no area",
        ],
    );
    scene(
        &polygon("outline_m = [[0, 0], [2, 0]]\ntop_m = -2.0"),
        &[
            "scenes/sea.toml:3:13: obstacles[0].outline_m: outline_m has 2 corners; give 3 to 8",
            "scenes/sea.toml:4:9: obstacles[0].top_m: top_m = -2 is not above bottom_m = -1.2",
        ],
    );
    scene(
        "[[pool.terraces]]\noutline_m = [[0, 0], [1, 1], [2, 2]]\nsurface_depth_m = 1.0\nground_depth_m = 0.5",
        &[
            "pool.terraces[0].outline_m: outline_m has no area; give at least three corners",
            "pool.terraces[0].ground_depth_m: ground_depth_m = 0.5 must be greater than surface_depth_m = 1; make the terrace deeper",
        ],
    );
    let field = |rest: &str| format!("[[fields]]\n{rest}");
    scene(
        &field(
            "acts_on = ['carp']\nshape = { kind = 'radial', inner_radius_m = 3.0, range_m = 1.0 }",
        ),
        &[
            "fields[0].acts_on[0]: there is no species or group \"carp\"",
            "; the field does not act on this name",
            "fields[0].shape.inner_radius_m: inner_radius_m = 3 is beyond range_m = 1",
        ],
    );
    scene(
        &field(
            "center_m = [0.0, 0.0, 20000.0]\nshape = { kind = 'uniform', direction = [0, 0, 0] }",
        ),
        &[
            "fields[0].center_m: the center is too far away; give numbers up to 10000 m",
            "fields[0].shape.direction: the direction of the current is zero",
        ],
    );
    scene(
        &field("shape = { kind = 'vortex', size_m = [0.0, 1.0, 1.0] }"),
        &[
            "fields[0].shape.size_m: the size of a field must be more than 0 along x and z, and at most 1000 m",
        ],
    );
    scene(
        &field("shape = { kind = 'vortex', size_m = [900.0, 1.0, 900.0], cell_m = 0.1 }"),
        &[
            "fields[0].shape.cell_m: cells of 0.1 m in a field of [900.0, 1.0, 900.0] m are more than ",
        ],
    );
}

#[test]
fn a_director_has_no_more_rules_than_it_may_hold() {
    let many: String = (0..65)
        .map(|i| format!("[[director]]\nname = 'r{i}'\nwhen = {{ condition = 'always' }}\nthen = {{ effect = 'calm' }}\n"))
        .collect();
    expect_messages(
        &[("site.toml", "# defaults"), ("scenes/sea.toml", &many)],
        &["director: 65 rules are too many; a scene can have at most 64, remove some"],
    );
}
