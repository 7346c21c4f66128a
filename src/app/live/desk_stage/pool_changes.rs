//! Commands for the documents and the fish: the desk applies them to the documents and passes their effect to the stages.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::live_calibration::CalibrationCommand;
use super::super::pool_queue::PoolChange;
use super::super::rig::VisionSettings;
use super::super::sound_stage::WantedSound;
use super::DeskStage;
use crate::control::{
    DocumentName, Edit, EditChange, EditorStep, EventKind, IndividualCommand, Outcome, PoolCommand,
    PoolEdit, Source,
};
use crate::records::SessionEntry;
use crate::site::{Applied, Site, reasons};

/// Longest time between two steps of one drag. The panel sends a step every 120 ms, and the last one when the finger is lifted.
pub(super) const JOIN_TIME: Duration = Duration::from_secs(1);

impl DeskStage {
    /// Applies a command for the documents and the fish.
    pub(super) fn change_pool(
        &mut self,
        source: &Source,
        command: &PoolCommand,
        sent: Instant,
    ) -> Outcome {
        if let Some(reason) = self.refusal_of_follower() {
            return Outcome::rejected(reason);
        }
        let site_text = |stage: &Self| {
            let text = stage.desk.editor().text(&DocumentName::Site);
            text.map(str::to_owned)
        };
        let before = site_text(self);
        let (mut outcome, is_step_of_drag) = self.edit_joined(source, command, sent);
        let is_save = matches!(command, PoolCommand::Editor(EditorStep::Save));
        let is_take_over = matches!(command, PoolCommand::Editor(EditorStep::TakeOver { .. }));
        if outcome.is_applied()
            && is_save
            && let Err(reason) = self.keep_now()
        {
            outcome = Outcome::rejected(reason);
        }
        if outcome.is_applied() && !is_save && !is_take_over && site_text(self) != before {
            self.keep_after(&mut outcome, is_step_of_drag);
        }
        // A rejected file is shown with its problems.
        if outcome.is_applied() || is_take_over {
            self.publish_documents();
        }
        if outcome.is_applied() && (is_save || is_take_over) {
            self.keep_last_valid();
        }
        outcome
    }

    /// Takes the newest individuals, and forgets removals that the pool has applied.
    pub(super) fn update_living(&mut self) {
        self.links.living.take(&mut self.living, Duration::ZERO);
        let applied = self.living.revision;
        self.removed.retain(|(_, revision)| *revision > applied);
    }

    /// Applies an edit. If the same client changes the same values again within a moment, all these edits are one step to undo;
    /// returns whether this is such a further step.
    fn edit_joined(
        &mut self,
        source: &Source,
        command: &PoolCommand,
        sent: Instant,
    ) -> (Outcome, bool) {
        let next = LastEdit::of(source, command, sent);
        let joins_last = next.as_ref().zip(self.last_edit.as_ref());
        let joins_last = joins_last.is_some_and(|(next, last)| next.joins(last));
        let outcome = match command {
            PoolCommand::Edit(PoolEdit::Edit { edits, .. }) => {
                let edits = edits.clone();
                self.edit(&PoolEdit::Edit { edits, joins_last }.into(), sent)
            }
            _ => self.edit(command, sent),
        };
        if outcome.is_applied() {
            self.last_edit = next;
        }
        (outcome, joins_last)
    }

    pub(super) fn edit(&mut self, command: &PoolCommand, sent: Instant) -> Outcome {
        self.update_living();
        if !self.links.queue.has_room() {
            return Outcome::rejected(
                "the simulation has not applied the last changes yet; try again in a moment",
            );
        }
        let before = Arc::clone(self.desk.editor().site());
        let (living, removed) = (&self.living, &self.removed);
        let species_of = |id| {
            let is_removed = removed.iter().any(|(removed, _)| *removed == id);
            living
                .species_of(id)
                .filter(|_| !is_removed)
                .map(str::to_owned)
        };
        let applied = match self.desk.apply(command, living.tick, &species_of) {
            Ok(applied) => applied,
            Err(problems) => {
                return Outcome::Rejected {
                    problems: reasons(&problems),
                };
            }
        };
        self.revision += 1;
        let hall = self.links.hall.as_ref().map(|hall| &hall.sender);
        if let Some(command) = &applied.command
            && (self.links.session.is_some() || hall.is_some())
        {
            // The individual is named in the state that this desk knew, which the replay does not know.
            let species = match command {
                PoolCommand::Individual(command) => species_of(command.id()),
                _ => None,
            };
            let entry = SessionEntry::Command {
                revision: self.revision,
                command: Box::new(command.clone()),
                species,
            };
            if let Some(hall) = hall {
                hall.entry(entry.clone());
            }
            if let Some(log) = &self.links.session {
                log.add(entry);
            }
        }
        if let PoolCommand::Individual(IndividualCommand::RemoveIndividual { id }) = command {
            self.removed.push((*id, self.revision));
        }
        self.pass_on(&before, applied, (self.revision, sent));
        Outcome::Applied {
            tick: self.living.tick,
            notes: self.new_restart_notes(),
            unsaved: None,
        }
    }

    /// Passes the effect of the command with this number, which was sent at this time, to the stages. `before` is the site before it.
    pub(super) fn pass_on(
        &mut self,
        before: &Site,
        applied: Applied,
        (revision, sent): (u64, Instant),
    ) {
        let site = Arc::clone(self.desk.editor().site());
        let mut change = PoolChange {
            revision,
            setup_version: self.links.queue.setup_version(),
            sent,
            changes: applied.changes,
        };
        if applied.is_new_site {
            self.update_site((before, &site), &mut change, false);
        }
        let scene = applied.is_new_site.then(|| site.description());
        self.links.queue.push(change, scene);
    }

    /// Passes a changed site to the stages that need it. The picture of another pool fades over also if it has the same look.
    pub(super) fn update_site(
        &mut self,
        (before, site): (&Site, &Arc<Site>),
        change: &mut PoolChange,
        is_other_pool: bool,
    ) {
        let is_same_scene = has_same_look(before, site) && !is_other_pool;
        if !is_same_scene || before.outputs() != site.outputs() {
            change.setup_version += 1;
            if let Some((handoff, build_setup)) = &self.links.setups {
                let setup = build_setup(Site::clone(site));
                handoff.replace(change.setup_version, setup, is_same_scene);
            }
        }
        self.links.notices.set_language(site.file.language);
        let cameras = &self.links.control.rig.cameras;
        let settings = vision_settings(before)
            .into_iter()
            .zip(vision_settings(site));
        for (camera, (before, settings)) in cameras.iter().zip(settings) {
            if before != settings {
                *camera.settings.lock() = Some(settings);
            }
        }
        if before.file.alerts != site.file.alerts {
            self.links.alerts.set_params(site.file.alerts.clone());
        }
        self.links.sound.want(WantedSound::of(site));
        if before.file.schedule != site.file.schedule {
            self.links.schedule.set_params(site.file.schedule.clone());
        }
        let calibrations = before.calibrations.iter().zip(&site.calibrations);
        for (camera, (before, calibration)) in calibrations.enumerate() {
            if before != calibration {
                self.unkept.forget_calibration(camera);
                let calibration = calibration.clone().map(Box::new);
                self.send_calibration(camera, CalibrationCommand::Replace(calibration));
            }
        }
        self.check_calibration();
        if before.scene_name != site.scene_name {
            let scene = site.scene_name.clone();
            self.links.journal.add(EventKind::SceneChanged { scene });
        }
    }

    /// Returns a note for every value that needs a restart since this command.
    fn new_restart_notes(&mut self) -> Vec<String> {
        let needed = self.desk.editor().restart_needed();
        let known = std::mem::replace(&mut self.restart_needed, needed);
        let new = self
            .restart_needed
            .iter()
            .filter(|path| !known.contains(path));
        let note =
            |path: &String| format!("the change of {path} becomes effective after a restart");
        let notes: Vec<String> = new.map(note).collect();
        for note in &notes {
            tracing::warn!("{note}");
        }
        notes
    }
}

/// An edit that a further step of a drag can join.
pub(super) struct LastEdit {
    source: Source,
    /// The values that it set.
    values: Vec<(DocumentName, String)>,
    sent: Instant,
}

impl LastEdit {
    /// Returns what has to be known of a command; `None` if it does more than to set values.
    fn of(source: &Source, command: &PoolCommand, sent: Instant) -> Option<Self> {
        let PoolCommand::Edit(PoolEdit::Edit { edits, .. }) = command else {
            return None;
        };
        let is_set = |edit: &Edit| matches!(edit.change, EditChange::Set { .. });
        edits.iter().all(is_set).then(|| Self {
            source: source.clone(),
            values: (edits
                .iter()
                .map(|edit| (edit.document.clone(), edit.path.clone())))
            .collect(),
            sent,
        })
    }

    fn joins(&self, last: &Self) -> bool {
        self.sent.saturating_duration_since(last.sent) <= JOIN_TIME
            && self.source == last.source
            && self.values == last.values
    }
}

/// Returns the settings of all cameras.
fn vision_settings(site: &Site) -> Vec<VisionSettings> {
    let cameras = site.file.all_cameras().into_iter();
    let projection = site.projection_digest();
    let settings = cameras.map(|camera| VisionSettings {
        vision: camera.vision(&site.file.vision),
        surface: site.file.surface.clone(),
        camera: camera.params(),
        projection: projection.clone(),
    });
    settings.collect()
}

/// Whether the same render setup can draw both sites, apart from their outputs.
fn has_same_look(a: &Site, b: &Site) -> bool {
    // The same model is the same object until its file changes.
    let names = |site: &Site| -> Vec<_> { site.species.iter().map(|s| s.name.clone()).collect() };
    let looks = |site: &Site| -> Vec<_> {
        let looks = site
            .looks()
            .map(|(look, model)| (look.clone(), Arc::as_ptr(model)));
        looks.collect()
    };
    // Another scene with the same look has other fish, so its picture fades too.
    a.scene_name == b.scene_name
        && a.file.surface == b.file.surface
        && a.file.picture == b.file.picture
        && a.scene.look == b.scene.look
        && a.scene.obstacles == b.scene.obstacles
        && a.scene.pool.ground_depth_m.to_bits() == b.scene.pool.ground_depth_m.to_bits()
        && a.scene.pool.terraces == b.scene.pool.terraces
        && names(a) == names(b)
        && looks(a) == looks(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::SourceKind;
    use crate::render::PictureQuality;
    use crate::site::{Editor, load};

    fn source(name: &str) -> Source {
        Source {
            kind: SourceKind::Panel,
            name: name.to_owned(),
        }
    }

    fn set(path: &str, value: f64, joins_last: bool) -> PoolCommand {
        PoolCommand::Edit(PoolEdit::Edit {
            edits: vec![Edit {
                document: DocumentName::Site,
                path: path.to_owned(),
                change: EditChange::Set {
                    value: value.into(),
                },
            }],
            joins_last,
        })
    }

    #[test]
    fn steps_of_one_drag_are_recognized() {
        let begin = Instant::now();
        let edit = |name: &str, path: &str, ms: u64| {
            let sent = begin + Duration::from_millis(ms);
            LastEdit::of(&source(name), &set(path, 0.5, false), sent).unwrap()
        };
        let first = edit("ada", "surface.width_m", 0);
        assert!(edit("ada", "surface.width_m", 900).joins(&first));
        assert!(!edit("ada", "surface.width_m", 1100).joins(&first), "late");
        // Another client.
        assert!(!edit("bob", "surface.width_m", 100).joins(&first));
        // Another value.
        assert!(!edit("ada", "surface.height_m", 100).joins(&first));
        assert!(LastEdit::of(&source("ada"), &EditorStep::UNDO.into(), begin).is_none());
    }

    #[test]
    fn a_drag_is_one_step_to_undo() {
        let mut editor = Editor::open(None, None).unwrap();
        let width = |editor: &Editor| editor.site().file.surface.width_m;
        let none = |_: u32| None;
        editor
            .apply(&set("surface.width_m", 5.0, false), &none)
            .unwrap();
        for (value, joins_last) in [(5.1, false), (5.2, true), (5.2, true), (5.3, true)] {
            editor
                .apply(&set("surface.width_m", value, joins_last), &none)
                .unwrap();
        }
        assert_eq!(editor.undo_depths(), (2, 0));
        editor.apply(&EditorStep::UNDO.into(), &none).unwrap();
        assert!((width(&editor) - 5.0).abs() < 1e-6);
        editor.apply(&EditorStep::REDO.into(), &none).unwrap();
        assert!((width(&editor) - 5.3).abs() < 1e-6);
    }

    #[test]
    fn an_edited_quality_needs_a_new_picture() {
        let before = load(None, Some("koi")).expect("the shipped scene is valid");
        let mut after = before.clone();
        after.file.picture.quality = PictureQuality::Low;
        assert!(!has_same_look(&before, &after));
    }

    #[test]
    fn an_edited_terrace_needs_a_new_picture() {
        let before = load(None, Some("cascade")).unwrap();
        assert!(has_same_look(&before, &before.clone()));
        let mut after = before.clone();
        after.scene.pool.terraces[0].ground_depth_m += 0.1;
        assert!(!has_same_look(&before, &after));
    }
}
