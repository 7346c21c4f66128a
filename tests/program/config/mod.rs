//! Tests of configuration files. The shipped files are valid, and every invalid file gets a message with file, line and column.

mod extends;
mod files;
mod keywords;
mod messages;

use shoal_testing::assert_message;
use std::path::{Path, PathBuf};

use keywords::schema_problems;
use serde_json::Value;
use shoal::camera::SourceSpec;
use shoal::control::Command;
use shoal::simulation::Simulation;
use shoal::site::{CheckReport, Editor, check_report, load, schemas};
use shoal::world::Observation;

/// A temporary folder with a site file and with its scene and species files.
struct SiteFolder(tempfile::TempDir);

impl SiteFolder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for (name, text) in files {
            let path = folder.0.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    fn site(&self) -> PathBuf {
        self.0.path().join("site.toml")
    }

    /// Opens the site like `shoal run` and `shoal simulate`, and runs one tick.
    fn start(&self) -> Result<(), String> {
        let editor = Editor::open(Some(&self.site()), None).map_err(|e| e.to_string())?;
        let site = editor.site();
        SourceSpec::parse(&site.file.camera.source).map_err(|e| e.to_string())?;
        let simulation = Simulation::new(&site.description(), &site.file.simulation);
        let mut simulation = simulation.map_err(|e| e.to_string())?;
        simulation.run_tick(&Observation::default());
        Ok(())
    }

    /// Returns the check report of the site. The path of the temporary folder is removed from it. A site without problems must
    /// also start.
    fn report(&self) -> CheckReport {
        let mut report = check_report(Some(&self.site()));
        if report.is_good() {
            self.start()
                .unwrap_or_else(|problem| panic!("check finds no problem, but: {problem}"));
        }
        let folder = format!("{}/", self.0.path().display());
        for problem in report.problems.iter_mut().chain(&mut report.warnings) {
            problem.file = problem.file.replace(&folder, "");
            problem.message = problem.message.replace(&folder, "");
        }
        report
    }
}

/// Returns the text of a shipped configuration file.
fn shipped(path: &str) -> String {
    std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("config")
            .join(path),
    )
    .unwrap()
}

/// Every example of the pages about other machines and messages is a valid site file.
#[test]
fn the_examples_of_other_machines_and_messages_are_valid() {
    let protocols = include_str!("../../../docs/protocols.md");
    let operation = include_str!("../../../docs/operation.md");
    let (_, messages) = operation
        .split_once("\n## Messages about faults\n")
        .unwrap();
    let (messages, _) = messages.split_once("\n## ").unwrap();
    let mut count = 0;
    for page in [protocols, messages] {
        let examples = page.split("```toml\n").skip(1);
        for example in examples.filter_map(|rest| rest.split("```").next()) {
            let site = format!("scene = \"koi\"\n{example}");
            let report = SiteFolder::new(&[("site.toml", &site)]).report();
            assert!(report.is_good(), "{report}\n{example}");
            count += 1;
        }
    }
    assert_eq!(
        count, 11,
        "OSC, sACN, webhooks, MQTT, TUIO, PosiStageNet, Augmenta, trackers, a mapping, projectors, messages"
    );
}

/// Every command in the examples for other programs has a meaning.
#[test]
fn the_commands_of_the_examples_for_other_programs_exist() {
    let page = include_str!("../../../docs/protocols.md");
    let (_, examples) = page
        .split_once("\n## Examples for other programs\n")
        .unwrap();
    let ends = |c: char| "`\"'\n".contains(c);
    let mut count = 0;
    for (begin, separator) in [("/api/v1/do/", '/'), ("/shoal/", '/'), ("payload: ", ' ')] {
        for rest in examples.split(begin).skip(1) {
            let text = rest.split(ends).next().unwrap().trim_end_matches(" }");
            let words: Vec<_> = text
                .split([separator, ' '])
                .filter(|word| !word.is_empty())
                .collect();
            // The script of Nodel and TouchDesigner put the rest behind it.
            if words.is_empty() || words == ["event"] {
                continue;
            }
            Command::from_words(&words).unwrap_or_else(|error| panic!("{text}: {error}"));
            count += 1;
        }
    }
    assert_eq!(count, 9);
    for words in [&["closed", "tomorrow"][..], &["plan"], &["scene", "reef"]] {
        assert!(examples.contains(&words.join("/")), "{words:?}");
        Command::from_words(words).unwrap();
    }
}

#[test]
fn the_built_in_demo_is_valid() {
    let report = check_report(None);
    assert_eq!(report.problems, [], "{report}");
    assert_eq!(report.warnings, [], "{report}");
    let site = load(None, None).unwrap();
    assert_eq!(site.scene_name, "koi");
    assert_eq!(
        site.species
            .iter()
            .map(|s| s.name.as_str())
            .collect::<Vec<_>>(),
        ["fry", "koi", "pike", "trout"]
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
    assert_eq!(names, ["fry", "koi", "pike", "trout"]);
}

#[test]
fn the_demo_file_equals_the_built_in_demo() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/demo.toml");
    let (from_file, built_in) = (load(Some(&path), None), load(None, None));
    let (from_file, built_in) = (from_file.unwrap(), built_in.unwrap());
    assert_eq!(from_file.file, built_in.file);
    assert_eq!(from_file.scene, built_in.scene);
}

#[test]
fn schemas_use_only_allowed_keywords() {
    let schemas = schemas();
    for name in ["site", "scene", "species", "calibration"] {
        let schema = schemas.get(name).unwrap_or(&Value::Null);
        assert_eq!(schema_problems(schema), Vec::<String>::new(), "{name}");
        assert!(schema.get("description").is_some(), "{name}");
    }
}

#[test]
fn every_field_has_a_description() {
    fn visit(schema: &Value, path: &str, without: &mut Vec<String>) {
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
            visit(inner, &inner_path, without);
        }
        for inner in schema
            .get("oneOf")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            visit(inner, path, without);
        }
        for key in ["items", "additionalProperties"] {
            if let Some(inner) = schema.get(key) {
                visit(inner, path, without);
            }
        }
    }
    let mut without = Vec::new();
    for (name, schema) in schemas().as_object().unwrap() {
        visit(schema, name, &mut without);
    }
    assert_eq!(without, Vec::<String>::new());
}

#[test]
fn all_problems_of_all_files_are_reported_at_once() {
    let folder = SiteFolder::new(&[
        (
            "site.toml",
            "scene = 'pol'\n[surface]\nwidth_m = nan\nheigth_m = 3\n[vision]\nshadow_ratio = 2",
        ),
        ("scenes/pool.toml", "title = 3"),
        (
            "scenes/pond.toml",
            "[population]\ntrot = 3\nsalmon = 1000000\n[pool]\ndepht_m = 2\n[[individuals]]\nname = 'salmon'\nspecies = 'salmon'\nposition_m = [0, nan, 0]",
        ),
        ("species/trout.toml", "[body]\nlength_m = -1\nmass_kg = '1'"),
    ]);
    let report = folder.report();
    let places: Vec<(String, usize)> = report
        .problems
        .iter()
        .map(|p| (p.file.clone(), p.line))
        .collect();
    // Contradictions between files are reported together with problems inside one file.
    let expected = [
        ("site.toml", 1),
        ("site.toml", 3),
        ("site.toml", 4),
        ("site.toml", 6),
        ("scenes/pond.toml", 1),
        ("scenes/pond.toml", 2),
        ("scenes/pond.toml", 5),
        ("scenes/pond.toml", 7),
        ("scenes/pond.toml", 9),
        ("scenes/pool.toml", 1),
        ("species/trout.toml", 2),
        ("species/trout.toml", 3),
    ];
    assert_eq!(places, expected.map(|(f, l)| (f.to_owned(), l)), "{report}");
    assert!(load(Some(&folder.site()), None).is_err());
}

/// Values that are out of range are also checked against other files. No such check may panic because of them.
#[test]
fn absurd_numbers_everywhere_are_reported_without_panic() {
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("config");
    let names = ["scenes", "species"].into_iter().flat_map(|kind| {
        let folder = std::fs::read_dir(config.join(kind)).unwrap();
        folder.map(move |entry| {
            let name = entry.unwrap().file_name();
            format!("{kind}/{}", name.display())
        })
    });
    let texts: Vec<(String, String)> = names.map(|name| (name.clone(), shipped(&name))).collect();
    for absurd in ["nan", "-inf", "1e300", "-1", "0", "9000000000000000000"] {
        let with = |text: &String| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            for line in &mut lines {
                let Some((name, value)) = line.split_once(" = ") else {
                    continue;
                };
                if value.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
                    *line = format!("{name} = {absurd}");
                }
            }
            lines.join("\n")
        };
        let texts = texts.iter().map(|(name, text)| (name.as_str(), with(text)));
        let mut files: Vec<(&str, String)> = texts.collect();
        files.push(("site.toml", "# defaults".to_owned()));
        let files: Vec<(&str, &str)> = files.iter().map(|(p, t)| (*p, t.as_str())).collect();
        let report = SiteFolder::new(&files).report();
        assert!(report.problems.len() > 100, "{absurd}: {report}");
    }
}

#[test]
fn files_replace_built_in_ones() {
    let trout = shipped("species/trout.toml").replacen("[body]\n", "[body]\nmass_kg = 7.0\n", 1);
    let folder = SiteFolder::new(&[
        ("site.toml", "scene = 'pond'"),
        (
            "scenes/pond.toml",
            "title = 'Pond'\n[population]\ntrout = 3\nherring = 2",
        ),
        ("species/trout.toml", &trout),
    ]);
    let site = load(Some(&folder.site()), None).unwrap();
    assert_eq!(site.scene.title, "Pond");
    let trout = site.species.iter().find(|s| s.name == "trout").unwrap();
    assert_eq!((trout.count, trout.file.body.mass_kg), (3, 7.0));
    assert_eq!(site.folder, folder.0.path());
    assert_eq!(
        load(Some(&folder.site()), Some("pool")).unwrap().scene_name,
        "pool"
    );
    let problems = load(Some(&folder.site()), Some("pnd")).unwrap_err();
    assert_message(&problems, &["did you mean \"pond\"?"]);
}
