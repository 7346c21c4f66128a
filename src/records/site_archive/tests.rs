use super::restore::*;
use super::*;
use crate::control::Trust;

#[test]
fn the_versions_of_a_file_are_its_earlier_texts() {
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("site.toml");
    let texts = |name: &DocumentName| -> Vec<String> {
        let versions = read_versions(&site, name).unwrap();
        versions.into_iter().map(|version| version.text).collect()
    };
    assert!(texts(&DocumentName::Site).is_empty());
    for text in ["# one\n", "# two\n", "# three\n"] {
        save_file(&site, text.as_bytes()).unwrap();
    }
    assert_eq!(texts(&DocumentName::Site), ["# two\n", "# one\n"]);
    let other = DocumentName::Scene {
        name: "site".to_owned(),
    };
    assert!(texts(&other).is_empty(), "another file");
    let outside = DocumentName::Species {
        name: "../site".to_owned(),
    };
    assert!(read_versions(&site, &outside).is_err());
}
use crate::render::SHIPPED_MODELS;

fn write_all(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        write(&folder.join(name), text.as_bytes()).unwrap();
    }
}

#[test]
fn a_backup_holds_the_site_without_secrets_and_can_be_restored() {
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("museum.toml");
    let scene = "title = \"Own\"\n\n[population]\nherring = 3\n";
    let note = "{\"time\":\"2026-01-01T00:00:00Z\",\"person\":\"Ada\",\"note\":\"lamp\"}\n";
    write_all(
        folder.path(),
        &[
            ("museum.toml", "scene = \"own\"\n"),
            ("scenes/own.toml", scene),
            (".shoal/accounts.json", "{}"),
            (".shoal/panel-key.pem", "secret"),
            (".shoal/notebook.jsonl", note),
            ("notebook.jsonl", "another file of this name"),
            ("key.pem", "secret"),
            ("notes.txt", "x"),
        ],
    );
    let scratch = folder.path().join(".shoal");
    let files = read_site_files(&site, &scratch).unwrap();
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["site.toml", "scenes/own.toml", "notebook.jsonl"]);

    write_all(
        folder.path(),
        &[
            ("museum.toml", "scene = \"pool\"\n"),
            ("scenes/own.toml", "title = \"Other\"\n"),
        ],
    );
    std::fs::remove_file(scratch.join(NOTEBOOK_NAME)).unwrap();
    restore_site_files(&site, &scratch, &files, Trust::Confirmed).unwrap();
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(
        (
            read("museum.toml").as_str(),
            read("scenes/own.toml").as_str()
        ),
        ("scene = \"own\"\n", scene)
    );
    assert_eq!(read(".shoal/notebook.jsonl"), note);
    assert_eq!(read("notebook.jsonl"), "another file of this name");
    // Nothing is left.
    assert_eq!(std::fs::read_dir(&scratch).unwrap().count(), 3);
}

fn file(name: &str, text: &str) -> SiteFileContent {
    SiteFileContent {
        name: name.to_owned(),
        content: text.as_bytes().to_vec(),
    }
}

/// A fixed bug: a folder in the place of a file was found after other files had been replaced.
#[test]
fn a_restore_that_cannot_be_written_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("site.toml");
    let scratch = folder.path().join(".shoal");
    let note = "{\"time\":\"2026-01-01T00:00:00Z\",\"person\":\"Ada\",\"note\":\"lamp\"}\n";
    write_all(
        folder.path(),
        &[
            ("site.toml", "scene = \"pool\"\n"),
            ("scenes/aa.toml", "title = \"Old\"\n"),
        ],
    );
    std::fs::create_dir(folder.path().join("scenes/zz.toml")).unwrap();
    let files = [
        file("site.toml", "scene = \"aa\"\n"),
        file(
            "scenes/aa.toml",
            "title = \"New\"\n[population]\nherring = 3\n",
        ),
        file(
            "scenes/zz.toml",
            "title = \"New\"\n[population]\nherring = 3\n",
        ),
        file(NOTEBOOK_NAME, note),
    ];
    let reasons = restore_site_files(&site, &scratch, &files, Trust::Programs).unwrap_err();
    assert!(
        reasons[0].message.contains("zz.toml")
            && reasons[0].message.contains("nothing was changed")
    );
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(
        (read("site.toml").as_str(), read("scenes/aa.toml").as_str()),
        ("scene = \"pool\"\n", "title = \"Old\"\n")
    );
    assert_eq!(std::fs::read_dir(&scratch).unwrap().count(), 0);
    // With the folder out of the way, a restore that was interrupted after its check is finished at the next start.
    std::fs::remove_dir(folder.path().join("scenes/zz.toml")).unwrap();
    for file in &files {
        write(&scratch.join(READY_FOLDER).join(&file.name), &file.content).unwrap();
    }
    finish_restore(&site, &scratch);
    assert!(read("scenes/zz.toml").contains("New") && read("site.toml").contains("aa"));
    assert_eq!(read(".shoal/notebook.jsonl"), note);
    assert_eq!(std::fs::read_dir(&scratch).unwrap().count(), 1);
}

/// A fixed bug: a restore took files that made every later backup fail.
#[test]
fn what_is_restored_or_added_can_be_backed_up() {
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("site.toml");
    let scratch = folder.path().join(".shoal");
    write_all(folder.path(), &[("site.toml", "scene = \"pool\"\n")]);
    let large = |name: &str, bytes: u64| SiteFileContent {
        name: name.to_owned(),
        content: vec![0; usize::try_from(bytes).unwrap()],
    };
    let own = file("site.toml", "scene = \"pool\"\n");
    let one = [own.clone(), large("models/a.bin", FILE_BYTES_MAX + 1)];
    assert!(restore_site_files(&site, &scratch, &one, Trust::Programs).is_err());
    for name in ["models/a.bin", "models/b.bin"] {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::File::create(path)
            .unwrap()
            .set_len(29 << 20)
            .unwrap();
    }
    let third = [own, large("models/c.bin", 5 << 20)];
    let reasons = restore_site_files(&site, &scratch, &third, Trust::Programs).unwrap_err();
    assert!(reasons[0].message.contains("could not be backed up"));
    assert!(read_site_files(&site, &scratch).is_ok());
}

#[test]
fn a_restore_names_no_programs_without_the_right() {
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("site.toml");
    let scratch = folder.path().join(".shoal");
    let with = |command: &str| format!("scene = \"pool\"\n[alerts]\ncommand = \"{command}\"\n");
    write_all(folder.path(), &[("site.toml", &with("mail"))]);
    let same = [file("site.toml", &format!("# restored\n{}", with("mail")))];
    let other = [file("site.toml", &with("sh -c id"))];
    assert!(restore_site_files(&site, &scratch, &other, Trust::Confirmed).is_err());
    assert!(std::fs::read_to_string(&site).unwrap().contains("mail"));
    restore_site_files(&site, &scratch, &same, Trust::Confirmed).unwrap();
    restore_site_files(&site, &scratch, &other, Trust::Programs).unwrap();
}

#[test]
fn a_restore_holds_the_site_file_under_one_name_only() {
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("demo.toml");
    let scratch = folder.path().join(".shoal");
    write_all(folder.path(), &[("demo.toml", "scene = \"pool\"\n")]);
    let harmless = "scene = \"pool\"\n";
    for alias in ["demo.toml", "Demo.toml"] {
        let other = "[alerts]\ncommand = \"sh -c id\"\n";
        let files = [file("site.toml", harmless), file(alias, other)];
        for trust in [Trust::Confirmed, Trust::Programs] {
            let refused = restore_site_files(&site, &scratch, &files, trust);
            assert!(refused.unwrap_err()[0].message.contains("second time"));
        }
    }
    assert_eq!(std::fs::read_to_string(&site).unwrap(), harmless);
}

#[test]
fn only_valid_models_are_added_and_never_replace_another_one() {
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("site.toml");
    let [first, second] = [SHIPPED_MODELS[0].1, SHIPPED_MODELS[1].1];
    assert!(add_model(&site, "koi", b"no model").is_err());
    assert!(!folder.path().join("models").exists());
    assert_eq!(
        add_model(&site, "../My Koi!", first).unwrap(),
        "models/mykoi.glb"
    );
    assert_eq!(
        add_model(&site, "mykoi", first).unwrap(),
        "models/mykoi.glb"
    );
    assert_eq!(
        add_model(&site, "MyKoi", second).unwrap(),
        "models/mykoi_2.glb"
    );
    assert_eq!(add_model(&site, "", first).unwrap(), "models/model.glb");
    let kept = std::fs::read(folder.path().join("models/mykoi.glb")).unwrap();
    assert_eq!(kept, first);
}

#[test]
fn a_backup_that_is_no_valid_site_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("site.toml");
    write_all(folder.path(), &[("site.toml", "scene = \"pool\"\n")]);
    let scratch = folder.path().join(".shoal");
    for files in [
        vec![],
        vec![file("scenes/own.toml", "title = \"x\"\n")],
        vec![file("site.toml", "scene = \"own\"\n")],
        vec![
            file("site.toml", "scene = \"pool\"\n"),
            file("scenes/own.toml", "title = 3\n"),
        ],
    ] {
        let reasons = restore_site_files(&site, &scratch, &files, Trust::Programs).unwrap_err();
        assert!(!reasons.is_empty());
        let shown = reasons.iter().map(ToString::to_string).collect::<String>();
        assert!(!shown.contains("restore-"), "{shown}");
        assert_eq!(
            std::fs::read_to_string(&site).unwrap(),
            "scene = \"pool\"\n"
        );
        assert!(!folder.path().join("scenes").exists());
    }
}
