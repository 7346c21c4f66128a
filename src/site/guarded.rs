//! The values of a site that need more than the role of an administrator: who may use Shoal, which programs it runs, and which files
//! outside of the site's folder it reads or writes.
//!
//! In: the documents before and after a change. Out: why the change needs more trust. Must not: know how the change was made, so that
//! an edit, a whole text, an undo, a revert and a restored backup are the same.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use super::files::SiteFile;
use super::library::Library;
use super::programs::camera_program;
use crate::camera::{SourceKind, SourceSpec};
use crate::config::{Problem, Problems};
use crate::control::{DocumentName, Trust};
use crate::panel::PanelParams;

/// A value: the document and the path in it.
type Place = (DocumentName, String);

/// The guarded values of a site, each with the trust that a change of it needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GuardedValues(BTreeMap<Place, (String, Trust)>);

impl GuardedValues {
    /// Returns the values of the documents of a site file and those beside it.
    ///
    /// # Errors
    /// When the site file cannot be read.
    pub fn read(site: &Path) -> Result<Self, Problems> {
        let mut problems = Vec::new();
        let library = Library::read(Some(site), &mut problems);
        match library.site {
            Some(_) => Ok(Self::of(&library)),
            None => Err(Problems(problems)),
        }
    }

    pub(super) fn of(library: &Library) -> Self {
        let mut values = Self::default();
        if let Some(site) = &library.site {
            values.add_site(&site.value);
        }
        for (name, species) in &library.species {
            let Some(species) = species else { continue };
            let document = DocumentName::Species { name: name.clone() };
            values.add_outside(document, "look.model", Path::new(&species.value.look.model));
        }
        for (name, scene) in &library.scenes {
            let individuals = scene.iter().flat_map(|scene| &scene.value.individuals);
            for one in individuals {
                let document = DocumentName::Scene { name: name.clone() };
                let model = one.look.model.as_deref().unwrap_or_default();
                let path = format!("individuals.{}.look.model", one.name);
                values.add_outside(document, &path, Path::new(model));
            }
        }
        values
    }

    fn add_site(&mut self, site: &SiteFile) {
        for (path, value) in [
            ("alerts.command", site.alerts.command.as_str()),
            (
                "schedule.projectors.command",
                &site.schedule.projectors.command,
            ),
        ] {
            self.add(DocumentName::Site, path, value.to_owned(), Trust::Programs);
        }
        // The right to name programs is a value that is there or not, so that a change needs it only if it gives it. The place where the
        // panel listens can be another one than the site's (`--panel`), so the right by default is less than the one that is written.
        let is_always = site.panel.may_name_programs == Some(true);
        for (path, is_given) in [
            ("panel.may_name_programs", is_always),
            ("panel.listen", site.panel.may_name_programs()),
        ] {
            if is_given {
                let value = "may name programs".to_owned();
                self.add(DocumentName::Site, path, value, Trust::Programs);
            }
        }
        let panel = PanelParams {
            may_name_programs: None,
            ..site.panel.clone()
        };
        let panel = serde_json::to_string(&panel).unwrap_or_default();
        self.add(DocumentName::Site, "panel", panel, Trust::Confirmed);
        // The machines that it names control the pool without a password.
        let remote = serde_json::to_string(&site.remote).unwrap_or_default();
        self.add(DocumentName::Site, "remote", remote, Trust::Confirmed);
        // Where messages go: the addresses can be of machines that only this one reaches.
        let (webhook, mail) = (&site.alerts.webhook, &site.alerts.mail);
        let messages = serde_json::to_string(&(webhook, mail)).unwrap_or_default();
        self.add(DocumentName::Site, "alerts", messages, Trust::Confirmed);
        for (i, camera) in site.all_cameras().iter().enumerate() {
            let path = site.source_path(i);
            let program = camera_program(&camera.source);
            if !program.is_empty() {
                let program = program.to_owned();
                self.add(DocumentName::Site, &path, program, Trust::Programs);
            }
            match SourceSpec::parse(&camera.source).map(|source| source.kind) {
                Ok(SourceKind::File(file)) => {
                    self.add_outside(DocumentName::Site, &path, &file);
                }
                // The answer of a node that is no camera tells what is on the machine, and opening some has effects.
                Ok(SourceKind::Live { device, .. }) if !is_camera_name(&device) => {
                    self.add(DocumentName::Site, &path, device, Trust::Programs);
                }
                // The machines that it names move the fish without a password.
                Ok(SourceKind::Tracker(_)) => {
                    let source = camera.source.clone();
                    self.add(DocumentName::Site, &path, source, Trust::Confirmed);
                }
                Ok(SourceKind::StandardInput) => {
                    self.add(DocumentName::Site, &path, "-".into(), Trust::Programs);
                }
                _ => {}
            }
            let calibration = camera.calibration.clone().unwrap_or_default();
            let path = site.calibration_path(i);
            self.add_outside(DocumentName::Site, &path, Path::new(&calibration));
        }
        let named = |path: &Option<String>| path.clone().unwrap_or_default();
        for (path, file) in [
            ("counting.file", PathBuf::from(site.counting.file.clone())),
            ("panel.certificate", named(&site.panel.certificate).into()),
            ("panel.key", named(&site.panel.key).into()),
        ] {
            self.add_outside(DocumentName::Site, path, &file);
        }
    }

    fn add(&mut self, document: DocumentName, path: &str, value: String, needs: Trust) {
        self.0.insert((document, path.to_owned()), (value, needs));
    }

    /// Adds the path of a file, if it leaves the site's folder.
    fn add_outside(&mut self, document: DocumentName, path: &str, file: &Path) {
        if !is_inside(file) {
            let file = format!("file {}", file.display());
            self.add(document, path, file, Trust::Programs);
        }
    }

    /// Checks that a change from the values `before` needs no more than `trust`.
    ///
    /// # Errors
    /// The first value that needs more, and why.
    pub fn check(&self, before: &Self, trust: Trust) -> Result<(), Problems> {
        let changed = |(place, (value, needs)): &(&Place, &(String, Trust))| {
            let former = before.0.get(*place).map_or("", |(former, _)| former);
            *needs > trust && value != former
        };
        match self.0.iter().find(changed) {
            Some(((document, path), (_, needs))) => {
                let problem = Problem::of_file(document.to_string(), needs.refusal());
                let path = path.clone();
                Err(Problems(vec![Problem { path, ..problem }]))
            }
            None => Ok(()),
        }
    }
}

/// Whether a path stays in the site's folder and outside of what Shoal keeps there for itself, whose names begin with a point.
fn is_inside(path: &Path) -> bool {
    path.components().all(|part| match part {
        Component::CurDir => true,
        Component::Normal(name) => !name.as_encoded_bytes().starts_with(b"."),
        Component::Prefix(_) | Component::RootDir | Component::ParentDir => false,
    })
}

/// Whether this is the number, the name or the node of a camera. Another path is none.
fn is_camera_name(device: &str) -> bool {
    let is_plain = |rest: &str| !rest.contains("..") && !rest.contains("//");
    match device.strip_prefix("/dev/") {
        Some(node) => match node.strip_prefix("video") {
            Some(number) => !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()),
            None => node.starts_with("v4l/") && is_plain(node),
        },
        None => !device.contains('/'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{Edit, EditChange, EditorStep, PoolCommand, PoolEdit};
    use crate::site::Editor;
    use serde_json::{Value, json};

    const SITE: &str = "scene = \"pool\"\n[alerts]\ncommand = \"mail\"\n[panel]\nlisten = \"lan\"\nmay_name_programs = false\n";

    fn opened() -> (tempfile::TempDir, Editor) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("site.toml");
        std::fs::write(&path, SITE).unwrap();
        let editor = Editor::open(Some(&path), None).unwrap();
        (folder, editor)
    }

    fn set(path: &str, value: Value) -> PoolCommand {
        let edit = Edit {
            document: DocumentName::Site,
            path: path.into(),
            change: EditChange::Set { value },
        };
        PoolEdit::Edit {
            edits: vec![edit],
            joins_last: false,
        }
        .into()
    }

    fn text(text: &str) -> PoolCommand {
        PoolEdit::ReplaceText {
            document: DocumentName::Site,
            text: text.to_owned(),
        }
        .into()
    }

    fn in_batch(command: &PoolCommand) -> PoolCommand {
        let PoolCommand::Edit(edit) = command else {
            panic!("{command:?}");
        };
        let commands = vec![edit.clone()];
        EditorStep::Batch { commands }.into()
    }

    /// A fixed bug: an API token of an administrator could open the panel to the network, or believe a proxy.
    #[test]
    fn the_table_of_the_panel_needs_the_password_in_every_way_to_change_it() {
        let (_folder, mut editor) = opened();
        let changes = [
            set("panel.listen", json!("0.0.0.0:80")),
            set("panel.allow_insecure", json!(true)),
            set("panel.names", json!(["evil.example"])),
            set("panel.trusted_proxies", json!(["10.0.0.66"])),
            set("panel.announce", json!(false)),
            set("remote.osc.listen", json!("0.0.0.0:9000")),
            set("remote.osc.from", json!(["10.0.0.66"])),
            text(&format!("{SITE}[remote.osc]\nfrom = [\"10.0.0.66\"]\n")),
            set("panel.certificate", json!("own.pem")),
            set("panel", json!({"listen": "off"})),
            text(&SITE.replace("lan", "off")),
            text("scene = \"pool\"\n[alerts]\ncommand = \"mail\"\n"),
        ];
        for trust in [Trust::Role, Trust::Confirmed] {
            for change in &changes {
                editor.set_trust(trust);
                for command in [change.clone(), in_batch(change)] {
                    let before = editor.text(&DocumentName::Site).map(str::to_owned);
                    let applied = editor.apply(&command, &|_| None);
                    if trust == Trust::Role {
                        assert!(applied.is_err(), "{command:?}");
                        assert_eq!(editor.text(&DocumentName::Site), before.as_deref());
                    }
                }
            }
        }
        // What a user with the password changed, cannot be changed back or again without it.
        let (_folder, mut editor) = opened();
        let change = set("panel.names", json!(["pool.museum.org"]));
        for step in [EditorStep::Revert, EditorStep::UNDO] {
            editor.set_trust(Trust::Confirmed);
            editor.apply(&change, &|_| None).unwrap();
            editor.set_trust(Trust::Role);
            assert!(editor.apply(&step.clone().into(), &|_| None).is_err());
            editor.set_trust(Trust::Confirmed);
            editor.apply(&step.into(), &|_| None).unwrap();
        }
        editor.set_trust(Trust::Role);
        assert!(editor.apply(&EditorStep::REDO.into(), &|_| None).is_err());
        editor
            .apply(&set("scene", json!("reef")), &|_| None)
            .unwrap();
    }

    /// A panel that believes no proxy and listens on this machine only may name programs by default. So a change of these two values
    /// is a way to that right.
    #[test]
    fn no_value_of_the_panel_is_a_way_to_the_right_to_name_programs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("site.toml");
        let of = |listen: &str, more: &str| {
            format!("scene = \"pool\"\n[panel]\nlisten = \"{listen}\"\n{more}\n")
        };
        let proxy = "trusted_proxies = [\"127.0.0.1\"]";
        for (before, after, is_refused) in [
            (of("lan", ""), of("local", ""), true),
            (
                of("lan", "may_name_programs = false"),
                of("local", ""),
                true,
            ),
            (of("127.0.0.1:8017", proxy), of("127.0.0.1:8017", ""), true),
            (of("lan", ""), of("lan", "may_name_programs = true"), true),
            (
                of("local", ""),
                of("local", "may_name_programs = true"),
                true,
            ),
            (of("lan", ""), of("off", ""), false),
            // The right is taken away.
            (of("local", ""), of("lan", ""), false),
            (
                of("local", "may_name_programs = true"),
                of("lan", ""),
                false,
            ),
            (of("lan", ""), of("0.0.0.0:8018", ""), false),
            (
                of("lan", ""),
                of("local", "may_name_programs = false"),
                false,
            ),
        ] {
            std::fs::write(&path, &before).unwrap();
            let mut editor = Editor::open(Some(&path), None).unwrap();
            editor.set_trust(Trust::Confirmed);
            let applied = editor.apply(&text(&after), &|_| None);
            assert_eq!(applied.is_err(), is_refused, "{before}{after}");
        }
    }

    /// A fixed bug: the last question of the set-up, whether the network reaches the panel from now on, was always refused, because the
    /// right to name programs, which then ends, counted as a change of it.
    #[test]
    fn a_panel_that_is_opened_to_the_network_needs_no_right_to_name_programs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("site.toml");
        std::fs::write(&path, "scene = \"pool\"\n").unwrap();
        let mut editor = Editor::open(Some(&path), None).unwrap();
        let open = set("panel.listen", json!("lan"));
        editor.set_trust(Trust::Role);
        assert!(editor.apply(&open, &|_| None).is_err(), "the password");
        editor.set_trust(Trust::Confirmed);
        editor.apply(&open, &|_| None).unwrap();
        // The way back gives the right again.
        for step in [set("panel.listen", json!("local")), EditorStep::UNDO.into()] {
            assert!(editor.apply(&step, &|_| None).is_err(), "{step:?}");
        }
    }

    /// A fixed bug: the file of the counts could be the file of the users, which was then moved away as damaged, so that the first
    /// password could be set again.
    #[test]
    fn a_file_outside_of_the_sites_folder_is_named_only_by_who_may_name_programs() {
        let inside = ["counts.sqlite", "./a/counts.sqlite", "a/b.sqlite", ""];
        assert!(inside.iter().all(|path| is_inside(Path::new(path))));
        for path in [
            "/var/lib/x.sqlite",
            "/etc/passwd",
            "../x.sqlite",
            "a/../../x.sqlite",
            ".shoal/accounts.json",
            "./.shoal/x.sqlite",
            "a/.generations/x.sqlite",
        ] {
            assert!(!is_inside(Path::new(path)), "{path}");
            let (_folder, mut editor) = opened();
            editor.set_trust(Trust::Confirmed);
            for (key, value) in [
                ("counting.file", json!(path)),
                ("camera.source", json!(format!("file:{path}"))),
                ("calibration.file", json!(path)),
                ("panel.certificate", json!(path)),
                ("cameras", json!([{"name": "a", "calibration": path}])),
                (
                    "cameras",
                    json!([{"name": "a", "source": format!("file:{path}")}]),
                ),
                (
                    "cameras",
                    json!([{"name": "a", "source": "command:sh -c id"}]),
                ),
            ] {
                let refused = editor.apply(&set(key, value), &|_| None);
                // The file is not read: what is wrong in it would be quoted.
                let refused = refused.unwrap_err();
                assert_eq!(
                    refused.0[0].message,
                    Trust::Programs.refusal(),
                    "{key} {path}"
                );
            }
        }
        let (_folder, mut editor) = opened();
        editor.set_trust(Trust::Role);
        for source in [
            "v4l2:0",
            "nokhwa:1",
            "v4l2:/dev/video12",
            "v4l2:/dev/v4l/by-id/usb-x",
            "v4l2:platform:vivid-000 vivid",
        ] {
            let changed = editor.apply(&set("camera.source", json!(source)), &|_| None);
            changed.unwrap_or_else(|problem| panic!("{source}: {problem}"));
        }
        editor.set_trust(Trust::Confirmed);
        for source in [
            "-",
            "v4l2:/etc/shadow",
            "v4l2:/dev/tty",
            "v4l2:/dev/video",
            "v4l2:/dev/video0/../tty",
            "v4l2:/dev/v4l/../../etc/shadow",
            "v4l2:etc/shadow",
        ] {
            let refused = editor.apply(&set("camera.source", json!(source)), &|_| None);
            let message = refused.unwrap_err().0[0].message.clone();
            assert_eq!(message, Trust::Programs.refusal(), "{source}");
        }
        editor.set_trust(Trust::Role);
        let other = set("counting.file", json!("site.toml"));
        let refused = editor.apply(&other, &|_| None).unwrap_err();
        assert!(refused.0[0].message.contains(".sqlite"), "{refused}");
        for command in [
            set("counting.file", json!("counts.sqlite")),
            set("camera.source", json!("file:walk.y4m")),
        ] {
            editor.apply(&command, &|_| None).unwrap();
        }
        editor.set_trust(Trust::Programs);
        let elsewhere = set("counting.file", json!("/var/lib/museum/counts.sqlite"));
        editor.apply(&elsewhere, &|_| None).unwrap();
        // A value that is there already is no change.
        editor.set_trust(Trust::Role);
        editor
            .apply(&set("scene", json!("reef")), &|_| None)
            .unwrap();
    }
}
