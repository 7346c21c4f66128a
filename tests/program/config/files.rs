//! Tests of the files that a folder contains in reality: what other programs leave beside the documents, empty files, and files
//! that are not regular. `check` says what is wrong, and never hangs.

use shoal::site::check_report;

use super::{SiteFolder, shipped};

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

/// A fixed bug: a folder was "a folder, not a file", and a scene had nine unknown keys.
#[test]
fn a_folder_or_a_file_of_another_kind_names_the_site_file() {
    let folder = SiteFolder::new(&[
        DEFAULTS,
        ("scenes/pond.toml", &shipped("scenes/pool.toml")),
        ("species/eel.toml", &shipped("species/trout.toml")),
    ]);
    let site = folder.site().display().to_string();
    for (path, expected) in [
        ("", format!("is a folder; name the site file in it: {site}")),
        ("species", "is a folder; name a site file".to_owned()),
        (
            "scenes/pond.toml",
            format!("is a scene file, not a site file; name the site file that uses it: {site}"),
        ),
        (
            "species/eel.toml",
            format!("is a species file, not a site file; name the site file that uses it: {site}"),
        ),
    ] {
        let report = check_report(Some(&folder.0.path().join(path)));
        let messages: Vec<&str> = (report.problems.iter())
            .map(|problem| problem.message.as_str())
            .collect();
        assert!(
            messages.len() == 1 && messages[0].starts_with(&expected),
            "{path}: {messages:?}"
        );
    }
}
