//! Tests of `shoal tune`: messages about a tuning file, the shipped tuning files, and a short search.

use shoal::config::Problems;
use shoal::site::Editor;
use shoal::tuning::{Task, TuningFile};
use shoal_testing::assert_message;
use std::path::Path;
use std::process::{Command, Output};

fn task(text: &str) -> Result<Task, Problems> {
    let (file, spans) = TuningFile::parse(text, "my.toml")?;
    let editor = Editor::open_suited(None, &file.scene).unwrap();
    Task::new(file, &spans, &editor)
}

/// A tuning file with the genes and wishes of a test.
fn file(genes: &str, wishes: &str) -> String {
    format!("scene = 'lagoon'\nspecies = 'herring'\n{genes}\n{wishes}\n")
}

const GENE: &str = "[[genes]]\nkey = 'flock.alignment.weight'";
const WISH: &str = "[[wishes]]\nfigure = 'polarization'\nat_least = 0.8";

#[track_caller]
fn assert_problem(text: &str, words: &[&str]) {
    let message = task(text).unwrap_err().to_string();
    assert_message(&message, words);
}

#[test]
fn mistakes_in_a_tuning_file_are_explained_with_their_line() {
    assert!(task(&file(GENE, WISH)).is_ok());
    let gene = |lines: &str| file(&format!("[[genes]]\n{lines}"), WISH);
    let wish = |lines: &str| file(GENE, &format!("[[wishes]]\n{lines}"));
    assert_problem(
        &gene("key = 'flock.alignment.wieght'"),
        &[
            "my.toml:4:7",
            "is no number of the species \"herring\"",
            "did you mean \"flock.alignment.weight\"?",
        ],
    );
    assert_problem(
        &gene("key = 'alignment'"),
        &[
            "did you mean flock.alignment.angle_deg or",
            "actions.NAME.KEY",
        ],
    );
    assert_problem(
        &gene("key = 'flock.alignment.weight'\nfrom = 5.0\nto = 5.5"),
        &[
            "my.toml:5:8",
            "does not contain the present value",
            "widen the range",
        ],
    );
    assert_problem(
        &gene("key = 'flock.alignment.weight'\nto = 1e9"),
        &["my.toml:5:6", "out of the range", "allowed: 0 to"],
    );
    assert_problem(
        &file(&format!("{GENE}\n{GENE}"), WISH),
        &["my.toml:6:7", "listed twice"],
    );
    assert_problem(
        &wish("figure = 'polarisation'\nat_least = 0.8"),
        &[
            "my.toml:6:10",
            "polarisation",
            "did you mean \"polarization\"?",
        ],
    );
    assert_problem(
        &wish("figure = 'polarization'"),
        &["my.toml:6:10", "no range"],
    );
    assert_problem(
        &wish("figure = 'polarization'\nat_least = 0.9\nat_most = 0.8"),
        &["my.toml:7:12", "no value fulfills"],
    );
    assert_problem(
        &wish("figure = 'under_shadow_share'\nat_most = 0.01"),
        &[
            "my.toml:6:10",
            "has no value with the visitors \"none\"",
            "visitors = \"walkers\"",
        ],
    );
    assert_problem(
        &wish("figure = 'polarization'\nat_least = 0.8\nspecies = 'koi'"),
        &[
            "my.toml:8:11",
            "no \"koi\" lives in the scene \"lagoon\"",
            "herring",
        ],
    );
    assert_problem(
        &file(GENE, WISH).replace("'herring'", "'hering'"),
        &["my.toml:2:11", "did you mean \"herring\"?"],
    );
    assert_problem(&file("", WISH), &["genes"]);
}

/// The tuning files in `docs/tuning` are valid for the shipped site.
#[test]
fn the_tuning_files_of_the_documentation_are_valid() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/tuning");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        if let Err(problems) = task(&text) {
            panic!("{}: {problems}", path.display());
        }
        count += 1;
    }
    assert!(count >= 3, "{count} tuning files");
    let page = include_str!("../../docs/tuning.md");
    let (_, example) = page.split_once("```toml\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    task(example).unwrap();
}

fn tune(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_shoal"));
    command.arg("tune").args(arguments).output().unwrap()
}

#[test]
fn a_mistake_is_shown_with_a_mark_below_its_column() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my.toml");
    std::fs::write(
        &path,
        file("[[genes]]\nkey = 'flock.alignment.wieght'", WISH),
    )
    .unwrap();
    let output = tune(&[path.to_str().unwrap(), "--check"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert_message(
        &text,
        &["4 | key = 'flock.alignment.wieght'\n    |       ^"],
    );
    std::fs::write(&path, file(GENE, WISH).replace("'lagoon'", "'lagon'")).unwrap();
    let output = tune(&[path.to_str().unwrap(), "--check"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_message(&text, &["my.toml:1:9", "lagon", "did you mean \"lagoon\"?"]);
}

/// A search over the whole way of the command: the site is a copy, the wish is easy, and the comments of the species file stay.
#[test]
fn a_short_search_writes_a_better_species_file_and_keeps_its_comments() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(path("species")).unwrap();
    std::fs::create_dir_all(path("scenes")).unwrap();
    std::fs::write(path("site.toml"), "scene = 'small'\n").unwrap();
    std::fs::write(path("scenes/small.toml"), "population = { slow = 3 }\n").unwrap();
    let species = "# A slow fish.\nextends = \"simple_fish\"\n\n[motion]\ncruise_mps = 0.2                 # normal speed\n";
    std::fs::write(path("species/slow.toml"), species).unwrap();
    let tuning = "site = 'site.toml'\nscene = 'small'\nspecies = 'slow'\nminutes = 0.2\nseeds = 1\ncheck_seeds = 3\n\
                  generations = 12\n[[genes]]\nkey = 'motion.cruise_mps'\nto = 0.5\n\
                  [[wishes]]\nfigure = 'speed_mps'\nat_least = 0.3\n";
    std::fs::write(path("my.toml"), tuning).unwrap();
    let (tuning, diff) = (path("my.toml"), path("my.diff"));
    let output = tune(&[
        tuning.to_str().unwrap(),
        "--apply",
        "--jobs",
        "1",
        "--out",
        diff.to_str().unwrap(),
    ]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}{errors}");
    assert_message(
        &text,
        &["fulfilled, better", "-cruise_mps = 0.2 ", "processor time"],
    );
    assert_message(&errors, &["generation 1 of 12", "written"]);
    let new = std::fs::read_to_string(path("species/slow.toml")).unwrap();
    assert!(
        new.starts_with("# A slow fish.\n") && new.contains("# normal speed"),
        "{new}"
    );
    let line = new
        .lines()
        .find(|line| line.starts_with("cruise_mps"))
        .unwrap();
    let speed: f64 = line
        .split(['=', '#'])
        .nth(1)
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    assert!((0.28..=0.5).contains(&speed), "{line}");
    let diff = std::fs::read_to_string(diff).unwrap();
    assert!(diff.contains(&format!("+{line}")), "{diff}");
}

#[test]
fn the_built_in_species_cannot_be_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my.toml");
    std::fs::write(&path, file(GENE, WISH)).unwrap();
    let output = tune(&[path.to_str().unwrap(), "--apply"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_message(&text, &["built-in species cannot be changed", "--site"]);
}
