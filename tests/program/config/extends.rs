//! Tests of species and scenes that extend others: what they inherit, and where their mistakes are reported.

use super::SiteFolder;
use super::messages::check;
use serde_json::{Value, json};
use shoal::control::{EditorStep, PoolCommand};
use shoal::site::{Editor, SceneFile, SpeciesFile, load};
use shoal_testing::assert_message;

const BASE: &str = "groups = ['fish']\nbody = { length_m = 0.2 }\nlook = { length_m = 0.2 }\n[motion]\ncruise_mps = 0.4\nboost_mps = 1.5\n\
    [actions.go]\naction = 'wander'\nweight = 3.0\n[actions.flee]\naction = 'flee_enemy'\n\
    [[needs]]\nname = 'survive'\ntype = 'action_based'\nactions = ['flee']\n[[needs]]\nname = 'roam'\nactions = ['go']\n";

const SITE: [(&str, &str); 3] = [
    ("site.toml", "scene = 'sea'"),
    ("scenes/sea.toml", "[population]\neel = 2\n"),
    ("species/base.toml", BASE),
];

fn folder(eel: &str, more: &[(&str, &str)]) -> SiteFolder {
    SiteFolder::new(&[&SITE[..], &[("species/eel.toml", eel)], more].concat())
}

/// Returns the name and `keep_secs` of each need.
fn needs(file: &SpeciesFile) -> Vec<(&str, f32)> {
    let needs = file.needs.iter();
    needs.map(|need| (&*need.name, need.keep_secs)).collect()
}

fn command(command: Value) -> PoolCommand {
    serde_json::from_value(command).unwrap()
}

fn edit(species: &str, path: &str, change: Value) -> PoolCommand {
    let document = json!({ "kind": "species", "name": species });
    let edit = json!({ "document": document, "path": path, "change": change });
    command(json!({ "command": "edit", "edits": [edit] }))
}

#[test]
fn a_species_inherits_everything_and_overrides_single_keys() {
    let eel = "extends = 'base'\n[motion]\ncruise_mps = 0.3\n[actions.go]\nweight = 1.0\n[actions.stay]\naction = 'separate'\n\
        [[needs]]\nname = 'calm'\ntype = 'action_based'\nactions = ['stay']\n[[needs]]\nname = 'roam'\nkeep_secs = 2.0\n";
    let folder = folder(eel, &[]);
    let report = folder.report();
    assert!(report.is_good() && report.warnings.is_empty(), "{report}");
    let site = load(Some(&folder.site()), None).unwrap();
    let file = &site.species[0].file;
    assert_eq!((file.motion.cruise_mps, file.motion.boost_mps), (0.3, 1.5));
    assert_eq!((file.body.length_m, file.groups[0].as_str()), (0.2, "fish"));
    assert_eq!(file.actions["go"].weight(), 1.0);
    assert_eq!(file.actions["go"].kind(), "wander");
    assert_eq!(
        needs(file),
        [("survive", 0.0), ("calm", 0.0), ("roam", 2.0)]
    );
    assert_eq!(file.needs[2].actions, ["go"]);
}

#[test]
fn a_base_can_extend_another_base() {
    let eel = "extends = 'slow'\n[actions.go]\nweight = 2.0\n";
    let slow = "extends = 'base'\n[motion]\ncruise_mps = 0.1\nboost_mps = 0.5\n";
    let folder = folder(eel, &[("species/slow.toml", slow)]);
    let site = load(Some(&folder.site()), None).unwrap();
    let file = &site.species[0].file;
    assert_eq!((file.motion.cruise_mps, file.motion.boost_mps), (0.1, 0.5));
    assert_eq!((file.actions["go"].weight(), file.needs.len()), (2.0, 2));
}

#[test]
fn mistakes_are_reported_where_they_are() {
    check("extends", include_str!("messages/extends.txt"), &SITE);
}

#[test]
fn a_warning_at_an_inherited_value_is_reported_once() {
    let base = format!("{BASE}[actions.unused]\naction = 'separate'\n");
    let files = [
        ("site.toml", "# defaults"),
        ("species/base.toml", &*base),
        ("species/eel.toml", "extends = 'base'\n"),
        ("scenes/sea.toml", "[population]\neel = 3\n"),
    ];
    let report = SiteFolder::new(&files).report();
    assert_eq!(report.warnings.len(), 1, "{report}");
    assert_eq!(report.warnings[0].file, "species/base.toml");
}

#[test]
fn the_species_of_the_page_about_design_is_valid() {
    let page = include_str!("../../../docs/design.md");
    let begin = "`my/species/char.toml`:\n\n```toml\n";
    let (_, rest) = page.split_once(begin).unwrap();
    let (text, _) = rest.split_once("```").unwrap();
    assert!(text.lines().count() <= 30);
    let folder = SiteFolder::new(&[
        ("site.toml", "scene = 'sea'"),
        ("scenes/sea.toml", "[population]\nchar = 2\n"),
        ("species/char.toml", text),
    ]);
    let report = folder.report();
    assert!(report.is_good(), "{report}");
    let mut warnings = report.warnings.iter();
    assert!(warnings.all(|w| !w.file.contains("char")), "{report}");
    let site = load(Some(&folder.site()), None).unwrap();
    let needs = needs(&site.species[0].file);
    let place = needs.iter().position(|need| need.0 == "play").unwrap();
    assert_eq!(needs[place + 1].0, "roam", "{needs:?}");
}

/// Applies edits of the species `eel` by command, saves them, and returns the saved text.
fn edited(folder: &SiteFolder, edits: &[(&str, Value)]) -> String {
    let mut editor = Editor::open(Some(&folder.site()), None).unwrap();
    for (path, change) in edits {
        let applied = editor.apply(&edit("eel", path, change.clone()), &|_| None);
        assert!(applied.is_ok(), "{path}: {:?}", applied.err());
    }
    editor.apply(&EditorStep::Save.into(), &|_| None).unwrap();
    let path = folder.site().with_file_name("species").join("eel.toml");
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn an_edit_of_an_inherited_value_writes_only_this_value() {
    let folder = folder("# My eel.\nextends = 'base'   # short\n", &[]);
    let text = edited(
        &folder,
        &[
            ("motion.cruise_mps", json!({ "do": "set", "value": 0.25 })),
            ("needs[1].keep_secs", json!({ "do": "set", "value": 3.0 })),
            ("needs[0].actions", json!({ "do": "insert", "value": "go" })),
            ("groups[0]", json!({ "do": "set", "value": "eels" })),
        ],
    );
    assert!(
        text.starts_with("# My eel.\nextends = 'base'   # short\n"),
        "{text}"
    );
    for absent in ["boost_mps", "wander", "body"] {
        assert!(!text.contains(absent), "{absent} was copied:\n{text}");
    }
    let site = load(Some(&folder.site()), None).unwrap();
    let file = &site.species[0].file;
    assert_eq!((file.motion.cruise_mps, file.motion.boost_mps), (0.25, 1.5));
    assert_eq!(needs(file), [("survive", 0.0), ("roam", 3.0)]);
    assert_eq!(file.needs[0].actions, ["flee", "go"]);
    assert_eq!(file.groups, ["eels"]);
}

#[test]
fn an_edit_of_the_base_changes_the_species_that_extend_it_and_removing_the_base_is_rejected() {
    let folder = folder("extends = 'base'\n", &[]);
    let mut editor = Editor::open(Some(&folder.site()), None).unwrap();
    let slower = json!({ "do": "set", "value": 0.2 });
    let edit = edit("base", "motion.cruise_mps", slower);
    editor.apply(&edit, &|_| None).unwrap();
    assert_eq!(editor.site().species[0].file.motion.cruise_mps, 0.2);
    let remove = command(json!({ "command": "remove_species", "name": "base" }));
    let problems = editor.apply(&remove, &|_| None).unwrap_err();
    assert_message(&problems, &["extends: there is no species \"base\""]);
}

#[test]
fn an_edit_of_the_order_of_inherited_needs_gives_the_species_its_own_needs() {
    let folder = folder("extends = 'base'\n", &[]);
    let need = json!({ "name": "late", "actions": ["go"] });
    let edits = [
        ("needs", json!({"do": "insert", "index": 1, "value": need})),
        ("needs[1]", json!({ "do": "move", "to": 0 })),
        ("needs[1]", json!({ "do": "remove" })),
    ];
    let text = edited(&folder, &edits);
    assert!(text.contains("own_needs = true"), "{text}");
    let site = load(Some(&folder.site()), None).unwrap();
    let file = &site.species[0].file;
    assert_eq!(needs(file), [("late", 0.0), ("roam", 0.0)], "{text}");
    assert_eq!(file.actions.len(), 2);
}

#[test]
fn an_inherited_need_can_be_left_out() {
    let folder = folder("extends = 'base'\nwithout_needs = ['survive']\n", &[]);
    let report = folder.report();
    assert!(report.is_good() && report.warnings.is_empty(), "{report}");
    let site = load(Some(&folder.site()), None).unwrap();
    assert_eq!(needs(&site.species[0].file), [("roam", 0.0)]);
}

const POND: &str = "title = 'Pond'\npopulation = { eel = 2, cod = 3 }\n[look]\nsun_strength = 2.0\nclarity_m = 2.5\n\
    [[director]]\nname = 'calm'\nwhen = { condition = 'visitors', at_least = 5 }\nthen = { effect = 'calm' }\npause_secs = 9.0\n\
    [[director]]\nname = 'hunt'\nwhen = { condition = 'always' }\nthen = { effect = 'calm' }\n";

fn pond(night: &str) -> SiteFolder {
    SiteFolder::new(&[
        ("site.toml", "scene = 'night'"),
        ("scenes/pond.toml", POND),
        ("scenes/night.toml", night),
        ("species/base.toml", BASE),
        ("species/eel.toml", "extends = 'base'"),
        ("species/cod.toml", "extends = 'base'"),
    ])
}

fn edit_scene(scene: &str, path: &str, change: Value) -> PoolCommand {
    let document = json!({ "kind": "scene", "name": scene });
    let edit = json!({ "document": document, "path": path, "change": change });
    command(json!({ "command": "edit", "edits": [edit] }))
}

/// Returns the name and `pause_secs` of each rule.
fn rules(scene: &SceneFile) -> Vec<(&str, f32)> {
    let rules = scene.director.iter();
    rules.map(|rule| (&*rule.name, rule.pause_secs)).collect()
}

#[test]
fn a_scene_is_a_night_variant_of_another_one_in_five_lines() {
    let folder = pond(
        "extends = 'pond'\ntitle = 'Night'\nwithout_rules = ['hunt']\npopulation = { cod = 0 }\nlook = { light = 'night' }\n\
         [[director]]\nname = 'calm'\nwhen = { at_least = 2 }\n",
    );
    let report = folder.report();
    assert!(report.is_good() && report.warnings.is_empty(), "{report}");
    let site = load(Some(&folder.site()), None).unwrap();
    let counts: Vec<_> = site.species.iter().map(|s| (&*s.name, s.count)).collect();
    assert_eq!(counts, [("cod", 0), ("eel", 2)]);
    let look = &site.scene.look;
    assert_eq!((look.sun_strength, look.clarity_m), (None, Some(2.5)));
    assert_eq!(rules(&site.scene), [("calm", 9.0)]);
    let shown = format!("{:?}", site.scene.director[0].when);
    assert!(shown.contains("at_least: 2"), "{shown}");
}

#[test]
fn an_edit_of_a_scene_that_extends_another_writes_only_this_value() {
    let folder = pond("extends = 'pond'   # at night\n");
    let mut editor = Editor::open(Some(&folder.site()), None).unwrap();
    for (path, value) in [
        ("director[1].pause_secs", json!(4.0)),
        ("population.eel", json!(7)),
        ("look.sun_strength", json!(0.2)),
    ] {
        let set = edit_scene("night", path, json!({ "do": "set", "value": value }));
        editor.apply(&set, &|_| None).unwrap();
    }
    editor.apply(&EditorStep::Save.into(), &|_| None).unwrap();
    let path = folder.site().with_file_name("scenes").join("night.toml");
    let text = std::fs::read_to_string(path).unwrap();
    assert!(
        text.starts_with("extends = 'pond'   # at night\n"),
        "{text}"
    );
    for absent in ["cod", "calm", "clarity_m"] {
        assert!(!text.contains(absent), "{absent} was copied:\n{text}");
    }
    let site = load(Some(&folder.site()), None).unwrap();
    assert_eq!(rules(&site.scene), [("calm", 9.0), ("hunt", 4.0)]);
    assert_eq!(site.species[1].count, 7);
}

#[test]
fn an_edit_of_the_base_changes_the_scenes_that_extend_it() {
    let folder = pond("extends = 'pond'\n");
    let mut editor = Editor::open(Some(&folder.site()), None).unwrap();
    let set = edit_scene("pond", "population.eel", json!({ "do": "set", "value": 9 }));
    editor.apply(&set, &|_| None).unwrap();
    assert_eq!(editor.site().species[1].count, 9);
    std::fs::remove_file(folder.site().with_file_name("scenes").join("pond.toml")).unwrap();
    let problems = load(Some(&folder.site()), None).unwrap_err();
    assert_message(&problems, &["extends: there is no scene \"pond\""]);
}
