//! Tests of the files that a folder contains in reality: what other programs leave beside the documents, empty files, files that
//! are not regular, and old names. `check` says what is wrong, and never hangs.

use super::{SiteFolder, shipped};
use shoal::control::{DocumentName, EditorStep, PoolCommand};
use shoal::site::Editor;

const DEFAULTS: (&str, &str) = ("site.toml", "# defaults");

#[test]
fn an_empty_document_is_an_error() {
    let full = shipped("species/trout.toml");
    for blank in ["", "\n\n", " \t\r\n", "\u{feff}", "\0\0\0\0"] {
        for (path, other) in [
            ("site.toml", "scenes/sea.toml"),
            ("scenes/sea.toml", "site.toml"),
            ("species/trout.toml", "site.toml"),
        ] {
            let report = SiteFolder::new(&[(other, "# defaults"), (path, blank)]).report();
            assert_eq!(report.problems.len(), 1, "{path} {blank:?}: {report}");
            let problem = report.problems[0].to_string();
            assert!(
                problem.starts_with(&format!("{path}: is empty")),
                "{problem}"
            );
        }
    }
    let folder = SiteFolder::new(&[
        ("site.toml", "\n# all defaults\n"),
        ("species/trout.toml", &full),
    ]);
    assert_eq!(folder.report().problems, []);
}

#[test]
fn files_of_other_programs_are_ignored() {
    let garbage = "\0\u{5}\u{16}\u{7}Mac OS X";
    let mut files = vec![DEFAULTS];
    for name in [
        "scenes/.#pool.toml",
        "scenes/#pool.toml#",
        "scenes/pool.toml~",
        "scenes/.pool.toml.swp",
        "scenes/4913",
        "species/._herring.toml",
        "species/.DS_Store",
        "species/~$herring.toml",
        "species/Thumbs.db",
        "species/desktop.ini",
        "species/~syncthing~herring.toml.tmp",
        "species/.herring.toml.Ab3dEf",
        "species/.goutputstream-AB12CD",
        "species/herring.toml.tmp",
        "species/..data/herring.toml",
    ] {
        files.push((name, garbage));
    }
    let folder = SiteFolder::new(&files);
    #[cfg(unix)]
    std::os::unix::fs::symlink(
        "user@host.1:1",
        folder.0.path().join("scenes/.#lagoon.toml"),
    )
    .unwrap();
    let report = folder.report();
    assert!(
        report.problems.is_empty() && report.warnings.is_empty(),
        "{report}"
    );
}

#[test]
fn files_that_look_like_documents_are_named() {
    let report = SiteFolder::new(&[
        ("site.toml", "scene = 'my pond'"),
        ("site (Anna's conflicted copy 2026-01-02).toml", "x ="),
        ("another site.toml", "x ="),
        ("scenes/my pond.toml", "title = 'Pond'"),
        (
            "scenes/pool (Anna's conflicted copy 2026-01-02).toml",
            "x =",
        ),
        ("scenes/pool.sync-conflict-20260102-101112-ABC.toml", "x ="),
        ("species/trout.TOML", "x ="),
        ("species/trout.toml.txt", "x ="),
    ])
    .report();
    let problems: Vec<String> = report.problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems.len(), 1, "{report}");
    assert!(
        problems[0].ends_with(
            "; scenes/my pond.toml is not read: its name cannot be the name of a document; use 1 to 64 letters, digits, \
             underscores and hyphens"
        ),
        "{report}"
    );
    let warnings: Vec<&str> = report.warnings.iter().map(|w| w.file.as_str()).collect();
    assert_eq!(
        warnings,
        [
            "site (Anna's conflicted copy 2026-01-02).toml",
            "scenes/my pond.toml",
            "scenes/pool (Anna's conflicted copy 2026-01-02).toml",
            "scenes/pool.sync-conflict-20260102-101112-ABC.toml",
            "species/trout.TOML",
            "species/trout.toml.txt",
        ]
    );
    assert!(
        report
            .warnings
            .iter()
            .all(|w| w.message.starts_with("is not read: "))
    );
}

/// A pipe would wait for a writer, and a device can deliver endless data or have effects when it is opened.
#[test]
#[cfg(unix)]
fn only_regular_files_are_read() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let folder = SiteFolder::new(&[
        ("site.toml", "[calibration]\nfile = 'pipe'"),
        ("scenes/sea.toml", "# defaults"),
        ("species/eel.toml", "[look]\nmodel = 'pipe.glb'"),
        ("scenes/folder.toml/x", ""),
    ]);
    let at = |name: &str| folder.0.path().join(name);
    for pipe in ["pipe", "pipe.glb", "species/pipe.toml"] {
        mknodat(CWD, at(pipe), FileType::Fifo, Mode::RWXU, 0).unwrap();
    }
    let _socket = std::os::unix::net::UnixListener::bind(at("species/socket.toml")).unwrap();
    for (target, link) in [
        ("/dev/zero", "species/device.toml"),
        ("gone.toml", "species/dangling.toml"),
        ("loop.toml", "species/loop.toml"),
    ] {
        std::os::unix::fs::symlink(target, at(link)).unwrap();
    }
    std::fs::write(at("species/large.toml"), vec![b'#'; 2 << 20]).unwrap();
    let report = folder.report();
    let text = report.to_string();
    for wanted in [
        "site.toml:2:8: calibration.file: pipe: cannot be opened: it is a named pipe (FIFO), not a regular file",
        "species/eel.toml:2:9: look.model: the model pipe.glb cannot be opened: it is a named pipe (FIFO)",
        "species/pipe.toml: cannot be opened: it is a named pipe (FIFO), not a regular file",
        "species/socket.toml: cannot be opened: it is a socket, not a regular file",
        "species/device.toml: cannot be opened: it is a device, not a regular file",
        "species/dangling.toml: cannot be opened: it is a link to gone.toml, which does not exist",
        "species/loop.toml: cannot be opened: ",
        "scenes/folder.toml: cannot be opened: it is a folder, not a file",
        "species/large.toml: is larger than 1 MiB, the limit for a configuration file",
    ] {
        assert!(text.contains(wanted), "expected \"{wanted}\", got:\n{text}");
    }
    assert_eq!(report.problems.len(), 9, "{text}");
}

#[test]
#[cfg(unix)]
fn a_folder_that_cannot_be_listed_is_an_error() {
    let folder = SiteFolder::new(&[DEFAULTS, ("species", "no folder")]);
    std::os::unix::fs::symlink("gone", folder.0.path().join("scenes")).unwrap();
    let text = folder.report().to_string();
    assert!(text.contains("error: species: cannot be read: "), "{text}");
    assert!(text.contains("error: scenes: cannot be read: "), "{text}");
    let folder = SiteFolder::new(&[DEFAULTS]);
    assert_eq!(folder.report().problems, [], "no folder is no problem");
}

#[test]
fn an_old_name_is_read_with_a_warning_and_saved_as_the_new_one() {
    let koi = || DocumentName::Species { name: "koi".into() };
    let text = shipped("species/koi.toml");
    assert!(text.contains("can_turn_in_place = false"));
    let text = text.replacen(
        "can_turn_in_place = false",
        "use_hulk = true  # as before",
        1,
    );
    let line = text
        .lines()
        .position(|line| line.starts_with("use_hulk"))
        .unwrap()
        + 1;
    let folder = SiteFolder::new(&[DEFAULTS, ("species/koi.toml", &text)]);
    let report = folder.report();
    assert_eq!(report.problems, [], "{report}");
    let warning = format!("species/koi.toml:{line}:1: ");
    let found = report.warnings.iter().map(ToString::to_string);
    let found: Vec<String> = found.filter(|w| w.starts_with(&warning)).collect();
    assert_eq!(found.len(), 1, "{report}");
    assert!(
        found[0].ends_with(
            "use_hulk: \"use_hulk\" was renamed; it is still read, but write \"can_turn_in_place\""
        ),
        "{report}"
    );
    let mut editor = Editor::open(Some(&folder.site()), None).unwrap();
    assert_eq!(editor.unsaved(), [], "an old name alone is no change");
    let edit = serde_json::json!({"command": "edit", "edits": [
        {"document": {"kind": "species", "name": "koi"}, "path": "motion.cruise_mps", "change": {"do": "set", "value": 0.29}}]});
    let edit: PoolCommand = serde_json::from_value(edit).unwrap();
    editor.apply(&edit, &|_| None).unwrap();
    editor.apply(&EditorStep::Save.into(), &|_| None).unwrap();
    let saved = std::fs::read_to_string(folder.0.path().join("species/koi.toml")).unwrap();
    assert!(
        saved.contains("can_turn_in_place = true  # as before"),
        "{saved}"
    );
    assert!(!saved.contains("use_hulk"), "{saved}");
    // Text that comes from the disk while the pool runs is treated in the same way.
    let documents = vec![shoal::control::DocumentText {
        document: koi(),
        text: Some(text),
    }];
    editor
        .apply(&EditorStep::TakeOver { documents }.into(), &|_| None)
        .unwrap();
    assert_eq!(editor.unsaved(), []);
    assert!(!editor.text(&koi()).unwrap().contains("use_hulk"));
    // The old name beside the new one is ambiguous.
    let both = saved.replace(
        "can_turn_in_place = true",
        "can_turn_in_place = true\nuse_hulk = false",
    );
    let report = SiteFolder::new(&[DEFAULTS, ("species/koi.toml", &both)]).report();
    assert!(
        report.to_string().contains(
            "\"use_hulk\" is the old name of \"can_turn_in_place\", which is also present"
        ),
        "{report}"
    );
}

/// The kind of the action is inherited, and so is a value with the new name.
#[test]
fn an_old_name_in_a_species_that_extends_another_one_replaces_the_inherited_value() {
    let eel = || DocumentName::Species { name: "eel".into() };
    let text = "extends = 'fish'\n[actions.evade_shadow]\nuse_hulk = false  # agile\n";
    let folder = SiteFolder::new(&[DEFAULTS, ("species/eel.toml", text)]);
    let report = folder.report();
    assert_eq!(report.problems, [], "{report}");
    let warning = "species/eel.toml:3:1: actions.evade_shadow.use_hulk: \"use_hulk\" was renamed";
    assert!(report.to_string().contains(warning), "{report}");
    let mut editor = Editor::open(Some(&folder.site()), None).unwrap();
    assert_eq!(editor.unsaved(), [], "an old name alone is no change");
    let new = text.replace("use_hulk", "can_turn_in_place");
    assert_eq!(editor.text(&eel()), Some(new.as_str()));
    // Text that comes from the disk while the pool runs is treated in the same way, also if it is the base that changes.
    for (name, text) in [("eel", text), ("fish", &shipped("species/fish.toml"))] {
        let documents = vec![shoal::control::DocumentText {
            document: DocumentName::Species { name: name.into() },
            text: Some(text.to_owned()),
        }];
        editor
            .apply(&EditorStep::TakeOver { documents }.into(), &|_| None)
            .unwrap();
        assert_eq!(editor.unsaved(), []);
        assert_eq!(editor.text(&eel()), Some(new.as_str()));
    }
    // Both names in the same text are ambiguous.
    let both = format!("{new}use_hulk = true\n");
    let report = SiteFolder::new(&[DEFAULTS, ("species/eel.toml", &both)]).report();
    assert!(report.to_string().contains("also present"), "{report}");
}

/// A document without values still has a comment, because an empty file would be rejected at the next start.
#[test]
fn edits_never_make_a_document_empty() {
    let folder = SiteFolder::new(&[DEFAULTS, ("species/eel.toml", "groups = ['x']")]);
    let mut editor = Editor::open(Some(&folder.site()), None).unwrap();
    for command in [
        serde_json::json!({"command": "edit", "edits": [
            {"document": {"kind": "species", "name": "eel"}, "path": "groups", "change": {"do": "remove"}}]}),
        serde_json::json!({"command": "add_species", "name": "plain"}),
        serde_json::json!({"command": "save"}),
    ] {
        let command: PoolCommand = serde_json::from_value(command).unwrap();
        editor.apply(&command, &|_| None).unwrap();
    }
    assert_eq!(folder.report().problems, []);
    assert!(folder.0.path().join("species/plain.toml").exists());
}

/// What `run` and `simulate` reject when they compile the pool, `check` rejects too, and names the place. This holds for all
/// scenes, so that a switch to another scene cannot fail.
#[test]
fn check_rejects_what_a_run_rejects() {
    let individuals = |count: usize, species: &str| -> String {
        let one = |i| format!("[[individuals]]\nname = 'n{i}'\nspecies = '{species}'\n");
        (0..count).map(one).collect()
    };
    let herrings = format!(
        "[population]\nherring = 100\n{}",
        individuals(63, "herring")
    );
    let groups: Vec<String> = (0..64).map(|i| format!("'g{i}'")).collect();
    let grouped = format!("groups = [{}]\n", groups.join(", "));
    let terrace =
        "[[pool.terraces]]\noutline_m = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]\n";
    for (scene, files, expected) in [
        (
            "sea",
            vec![("scenes/sea.toml", herrings.as_str())],
            "scenes/sea.toml:2:11: population.herring: species 'herring': ",
        ),
        (
            "pool",
            vec![("scenes/sea.toml", herrings.as_str())],
            "scenes/sea.toml:2:11: population.herring: species 'herring': ",
        ),
        (
            "sea",
            vec![
                ("scenes/sea.toml", "[population]\neel = 1"),
                ("species/eel.toml", grouped.as_str()),
            ],
            "scenes/sea.toml:2:7: population.eel: species 'eel': the pool has more than 63 different names",
        ),
    ] {
        let site = format!("scene = '{scene}'");
        let mut files = files;
        files.push(("site.toml", &site));
        let folder = SiteFolder::new(&files);
        let text = folder.report().to_string();
        assert!(
            text.contains(expected),
            "expected \"{expected}\", got:\n{text}"
        );
        assert!(folder.start().is_err(), "{text}");
    }
    // These were rejected at the start, although nothing is wrong with them: flat boxes and upright capsules among terraces.
    for obstacle in [
        "shape = 'box'\ncenter_m = [0.0, -1.0, 0.0]\nhalf_extents_m = [0.0, 0.5, 0.6]",
        "shape = 'box'\ncenter_m = [0.0, -1.0, 0.0]\nhalf_extents_m = [0.6, 0.5, 0.0]\nyaw_deg = 30.0",
        "shape = 'box'\ncenter_m = [0.0, -1.0, 0.0]\nhalf_extents_m = [0.0, 0.5, 0.0]",
        "shape = 'capsule'\nfrom_m = [0.3, -1.2, 0.2]\nto_m = [0.3, -0.2, 0.2]\nradius_m = 0.1",
    ] {
        let scene = format!("[population]\nsalmon = 3\n{terrace}[[obstacles]]\n{obstacle}\n");
        let folder =
            SiteFolder::new(&[("site.toml", "scene = 'sea'"), ("scenes/sea.toml", &scene)]);
        assert_eq!(folder.report().problems, [], "{obstacle}");
    }
}
