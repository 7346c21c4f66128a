//! Tests of the warnings about configuration that is valid but has no effect, or cannot work.

use super::SiteFolder;
use shoal_testing::assert_message;

/// Checks the files of a folder. The report must contain no problems, and each of these warnings.
#[track_caller]
fn expect_warnings(files: &[(&str, &str)], expected: &[&str]) {
    let report = SiteFolder::new(files).report();
    assert_eq!(report.problems, [], "{report}");
    let text = report.to_string();
    for message in expected {
        assert_message(&text, &[message]);
    }
    assert_eq!(report.warnings.len(), expected.len(), "{text}");
}

#[track_caller]
fn species(text: &str, expected: &[&str]) {
    expect_warnings(
        &[("site.toml", "# defaults"), ("species/eel.toml", text)],
        expected,
    );
}

/// A scene with a species `eel` that only wanders, unless `eel` gives it another text.
#[track_caller]
fn scene(text: &str, eel: &str, expected: &[&str]) {
    let files = [
        ("site.toml", "# defaults"),
        ("scenes/sea.toml", text),
        ("species/eel.toml", eel),
    ];
    expect_warnings(&files, expected);
}

const WANDERS: &str = "[look]\nlength_m = 0.3\n[actions.wander]\naction = 'wander'\n[[needs]]\nname = 'roam'\nactions = ['wander']\n";

#[test]
fn a_drive_that_no_need_reads() {
    species(
        &format!("drives = {{ hungry_after_secs = 60.0, fear_distance_m = 0.5 }}\n{WANDERS}"),
        &[
            "species/eel.toml:1:32: drives.hungry_after_secs: no need reads hunger",
            "drives.fear_distance_m: no need reads fear",
        ],
    );
}

#[test]
fn less_fear_of_calm_enemies_without_any_enemy() {
    let calm = "perception = { calm_enemy_share = 0.5 }\n";
    species(
        &format!("{calm}{WANDERS}"),
        &["species/eel.toml:1:35: perception.calm_enemy_share: the species has no enemy"],
    );
    species(
        &format!("{calm}relations = {{ enemy = ['pike'] }}\n{WANDERS}"),
        &[],
    );
}

#[test]
fn a_species_without_needs() {
    species(
        "look = { length_m = 0.3 }\n",
        &["needs: the species has no needs, so its agents only drift"],
    );
    species(
        "look = { length_m = 0.3 }\n[standard]\nadditive = true\nactions = ['avoid']\n[actions.avoid]\naction = 'avoid_obstacles'\n",
        &["needs: the species has no needs"],
    );
    species(
        "look = { length_m = 0.3 }\n[standard]\nactions = ['go']\n[actions.go]\naction = 'wander'\n",
        &[],
    );
}

#[test]
fn a_relation_that_no_action_uses() {
    species(
        &format!("{WANDERS}[relations]\nenemies = ['shark']\n"),
        &[
            "relations.enemies: no action of this species uses the relation \"enemies\", so it has no effect; did you mean \"enemy\"?",
        ],
    );
    species(
        &format!("{WANDERS}[relations]\nfood = ['shark']\n"),
        &["relations.food: no action of this species uses the relation \"food\""],
    );
    let named = WANDERS.replace("'wander'\n[[", "'wander'\n[actions.follow]\naction = 'seek'\ntarget = 'agent'\nrelations = ['teacher']\n[[");
    let named = named.replace("actions = ['wander']", "actions = ['follow', 'wander']");
    species(&format!("{named}[relations]\nteacher = ['shark']\n"), &[]);
}

/// The koi circled only visitors, but had no relation to them, so it never did.
#[test]
fn an_action_for_a_relation_that_no_agent_can_be_in() {
    let curious = WANDERS.replace(
        "'wander'\n[[",
        "'wander'\n[actions.look]\naction = 'investigate'\nrelations = ['visitor']\n[[",
    );
    let curious = curious.replace("actions = ['wander']", "actions = ['look', 'wander']");
    species(
        &curious,
        &[
            "actions.look: the action 'look' is never executed, because no agent can be in its relation \"visitor\": add visitor = [\"NAME\"]",
        ],
    );
    let empty = format!("{curious}[relations]\nvisitor = []\n");
    species(
        &empty,
        &["actions.look: the action 'look' is never executed"],
    );
    species(
        &format!("{curious}[relations]\nvisitor = ['visitor']\n"),
        &[],
    );
    species(&curious.replace("['visitor']", "['known']"), &[]);
    species(&curious.replace("['visitor']", "[]"), &[]);
    let off = curious.replace(
        "action = 'investigate'",
        "action = 'investigate'\nweight = 0.0",
    );
    species(&off, &[]);
}

#[test]
fn an_action_behind_one_that_always_wins() {
    let text = WANDERS.replace("['wander']", "['wander', 'flee']");
    let flee = "[actions.flee]\naction = 'flee_enemy'\n";
    species(
        &format!("{text}{flee}"),
        &[
            "needs[0].actions[1]: 'flee' is never executed in the need 'roam': 'wander' before it can always be executed",
        ],
    );
    let random = text.replace("name = 'roam'", "name = 'roam'\nstochastic = true");
    species(&format!("{random}{flee}"), &[]);
    let off = text.replace("action = 'wander'", "action = 'wander'\nweight = 0.0");
    species(&format!("{off}{flee}"), &[]);
}

#[test]
fn a_need_below_one_that_is_never_satisfied() {
    let text = format!(
        "{WANDERS}[[needs]]\nname = 'sleep'\ntype = 'action_based'\nactions = ['nap']\n[actions.nap]\naction = 'separate'\n"
    );
    species(
        &text,
        &[
            "needs[1].name: the need 'sleep' never acts: the need 'roam' above it is never satisfied",
        ],
    );
    let blocked = WANDERS.replace("action = 'wander'", "action = 'wander'\nweight = 0.0");
    species(
        &blocked,
        &["needs[0].actions: all actions of the need 'roam' have weight 0"],
    );
}

#[test]
fn keys_that_other_keys_switch_off() {
    let both = WANDERS.replace(
        "name = 'roam'",
        "name = 'roam'\nadditive = true\nstochastic = true",
    );
    species(&both, &["needs[0].stochastic: stochastic has no effect"]);
    let alone = WANDERS.replace("name = 'roam'", "name = 'roam'\ncombine = 'budget'");
    species(&alone, &["needs[0].combine: combine has no effect"]);
}

#[test]
fn a_current_that_nobody_follows() {
    let current = "[population]\neel = 3\n[[fields]]\nshape = { kind = 'uniform' }\n";
    let report = SiteFolder::new(&[
        ("site.toml", "# defaults"),
        ("scenes/sea.toml", current),
        ("species/eel.toml", WANDERS),
    ])
    .report();
    let text = report.to_string();
    assert_message(
        &text,
        &["fields[0]: no species in the population follows this field"],
    );
}

#[test]
fn rules_that_nobody_follows_or_that_never_begin() {
    let rule = |when: &str, then: &str, more: &str| {
        format!(
            "[population]\neel = 3\n[[director]]\nname = 'r'\nwhen = {when}\nthen = {then}\n{more}"
        )
    };
    let by_hand = "{ condition = 'by_hand' }";
    scene(
        &rule(by_hand, "{ effect = 'gather' }", ""),
        WANDERS,
        &["director[0].then: none of these species has an action whose target is \"director\""],
    );
    scene(
        &rule(by_hand, "{ effect = 'hunting' }", ""),
        WANDERS,
        &["director[0].then: none of these species has an action that hunts"],
    );
    scene(
        &rule(
            "{ condition = 'chance', rate_per_sec = 0.0 }",
            "{ effect = 'calm' }",
            "",
        ),
        WANDERS,
        &["director[0].when.rate_per_sec: the rule never begins"],
    );
    let seeks = WANDERS.replace(
        "'wander'\n[[",
        "'wander'\n[actions.seek]\naction = 'seek'\nweight = 0.0\n[[",
    );
    let seeks = seeks.replace("actions = ['wander']", "actions = ['seek', 'wander']");
    scene(
        &rule(by_hand, "{ effect = 'gather' }", "hold_secs = 0.0"),
        &seeks,
        &["director[0].hold_secs: the effect ends as soon as it begins"],
    );
    scene(
        &rule(by_hand, "{ effect = 'gather' }", "hold_secs = 5.0"),
        &seeks,
        &[],
    );
    scene(
        &rule(by_hand, "{ effect = 'calm', species = ['cod'] }", ""),
        WANDERS,
        &["director[0].then.species[0]: there is no species in the population \"cod\""],
    );
}

#[test]
fn too_many_fish_for_the_surface_and_the_computer() {
    let eel = WANDERS;
    scene(
        "[population]\neel = 60000\n",
        eel,
        &[
            "population.eel: the bodies of all fish cover 11250 % of the surface of 4 x 3 m",
            "population.eel: 60000 agents need about 48 ms per tick, but at 60 Hz a tick has 16.7 ms",
        ],
    );
    scene("[population]\neel = 60\n", eel, &[]);
}

#[test]
fn paths_and_barriers_that_no_species_uses() {
    let path = "[population]\neel = 3\n[[paths]]\nname = 'lane'\n";
    scene(
        path,
        WANDERS,
        &["scenes/sea.toml:4:8: paths[0].name: no species in the population uses this path"],
    );
    let follows = WANDERS.replace("action = 'wander'", "action = 'follow_path'\npath = 'line'");
    scene(
        path,
        &follows,
        &[
            "paths[0].name: no species in the population uses this path",
            "population.eel: an action of this species needs the path \"line\", which is not in [[paths]] of this scene, so it is never executed; did you mean \"lane\"?",
        ],
    );
    scene(path, &follows.replace("line", "lane"), &[]);
    let barrier = "[population]\neel = 3\n[[barriers]]\n";
    scene(
        barrier,
        WANDERS,
        &["barriers: no species in the population turns away from barriers"],
    );
    scene(
        barrier,
        &WANDERS.replace("'wander'\n[[", "'avoid_barriers'\n[["),
        &[],
    );
}
