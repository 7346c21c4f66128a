//! The desk stage: applies commands to the documents of the site, and sends the resulting changes to the simulation and the
//! screen.
//! In: commands, and accepted calibrations. Out: changes of the pool, and a new render setup if the look of the pool changed.
//! The simulation never waits for this stage. A rejected command changes nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::Duration;

use parking_lot::Mutex;

use crate::app::desk::Desk;
use crate::calibration::Calibration;
use crate::config::save_file;
use crate::control::{Command, DocumentName, Edit, EditChange};
use crate::render::RenderSetup;
use crate::simulation::{Change, SceneDescription};
use crate::site::Site;

use super::live_calibration::CalibrationCommand;
use super::supervisor::Heartbeat;

/// Longest wait for a command before the next heartbeat.
const COMMAND_WAIT: Duration = Duration::from_millis(100);
/// Largest number of changes that may wait for the next tick.
pub(crate) const WAITING_MAX: usize = 64;
/// Name of the file in which an accepted calibration is saved if the site does not name a file.
const CALIBRATION_FILE: &str = "calibration.toml";

/// A change of the running pool.
#[derive(Debug)]
pub(crate) struct PoolChange {
    /// Version of the render setup that can draw the changed pool (see [`SetupHandoff`]).
    pub(crate) setup_version: u64,
    /// Changes that the simulation applies before its next tick.
    pub(crate) changes: Vec<Change>,
}

/// The data from which the simulation stage builds the pool when it starts.
#[derive(Clone, Debug)]
pub(crate) struct PoolStart {
    /// Version of the render setup that can draw the pool.
    pub(crate) setup_version: u64,
    /// Description of the pool.
    pub(crate) scene: SceneDescription,
}

/// Passes the newest render setup from the desk stage to the render stage. Setups are numbered. A snapshot can only be drawn
/// with the setup of its own version, because its agents contain the number of their species in that setup.
#[derive(Debug)]
pub struct SetupHandoff {
    latest: Mutex<(u64, RenderSetup)>,
    shown_version: Arc<AtomicU64>,
}

impl SetupHandoff {
    /// Creates a handoff that contains `setup` as version 0. `shown_version` receives the version that the screen draws.
    pub fn new(setup: RenderSetup, shown_version: Arc<AtomicU64>) -> Self {
        Self {
            latest: Mutex::new((0, setup)),
            shown_version,
        }
    }

    /// Returns the newest setup, and marks its version as shown.
    pub fn take(&self) -> RenderSetup {
        let latest = self.latest.lock();
        self.shown_version.store(latest.0, Ordering::Release);
        latest.1.clone()
    }

    fn replace(&self, version: u64, setup: RenderSetup) {
        *self.latest.lock() = (version, setup);
    }
}

/// Builds the render setup of a site.
pub type SetupBuilder = Box<dyn Fn(Site) -> RenderSetup + Send>;

/// Inputs and outputs of the desk stage.
pub(crate) struct DeskStage {
    /// The documents of the site.
    pub(crate) desk: Desk,
    /// Commands to apply.
    pub(crate) commands: Receiver<Command>,
    /// Changes for the simulation stage.
    pub(crate) changes: SyncSender<PoolChange>,
    /// The data from which the simulation stage builds the pool again after a panic.
    pub(crate) start: Arc<Mutex<PoolStart>>,
    /// Commands for the calibration in the vision stage.
    pub(crate) calibration_commands: SyncSender<CalibrationCommand>,
    /// Accepted calibrations from the vision stage. The desk saves them.
    pub(crate) accepted: Option<Receiver<Box<Calibration>>>,
    /// Folder of the site file, in which calibrations are saved; `None` for the built-in site.
    pub(crate) folder: Option<PathBuf>,
    /// The handoff of render setups, and the function that builds them; `None` if the pool runs without a picture.
    pub(crate) setups: Option<(Arc<SetupHandoff>, SetupBuilder)>,
}

impl DeskStage {
    /// Applies commands until the program ends.
    pub(crate) fn run(&mut self, heartbeat: &Heartbeat) {
        while heartbeat.keep_running() {
            while let Some(Ok(calibration)) = self.accepted.as_ref().map(Receiver::try_recv) {
                self.save_calibration(&calibration);
            }
            match self.commands.recv_timeout(COMMAND_WAIT) {
                Ok(command) => self.apply(&command),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn apply(&mut self, command: &Command) {
        let before = self.desk.editor().site().clone();
        if let Command::Calibrate { step } = command {
            let limits = before.file.calibration.clone();
            self.send_calibration(CalibrationCommand::Step(step.clone(), limits));
            return;
        }
        // The desk stage does not know individual agents, so a command that names one is rejected.
        let Ok(applied) = self.desk.apply(command, 0, &|_| None) else {
            return;
        };
        let site = self.desk.editor().site();
        let mut setup_version = self.start.lock().setup_version;
        if applied.is_new_site {
            if !has_same_look(&before, site) {
                setup_version += 1;
                if let Some((handoff, build_setup)) = &self.setups {
                    handoff.replace(setup_version, build_setup(Site::clone(site)));
                }
            }
            let scene = site.description();
            if before.calibration != site.calibration {
                let calibration = site.calibration.clone().map(Box::new);
                self.send_calibration(CalibrationCommand::Replace(calibration));
            }
            *self.start.lock() = PoolStart {
                setup_version,
                scene,
            };
            tracing::info!("changes of the site were applied");
        }
        for path in self.desk.editor().restart_needed() {
            tracing::warn!("the change of {path} becomes effective after a restart");
        }
        let changes = applied.changes;
        // The channel closes only when the program ends, so the error is ignored.
        let _ = self.changes.send(PoolChange {
            setup_version,
            changes,
        });
    }

    fn send_calibration(&self, command: CalibrationCommand) {
        if self.calibration_commands.try_send(command).is_err() {
            tracing::warn!("calibration: too many commands at once; try again in a moment");
        }
    }

    /// Saves an accepted calibration, so that it is still in use after a restart.
    fn save_calibration(&mut self, calibration: &Calibration) {
        let saved = match self.folder.clone() {
            Some(folder) => self.save(&folder, calibration),
            None => Err("the built-in demo has no folder; start Shoal with a site file".to_owned()),
        };
        let message = match saved {
            Ok(path) => {
                let message = format!("The calibration is in use and saved: {}", path.display());
                tracing::info!("{message}");
                message
            }
            Err(reason) => {
                let message = format!(
                    "The calibration is in use until the next restart, but is not saved: {reason}"
                );
                tracing::error!("{message}");
                message
            }
        };
        self.send_calibration(CalibrationCommand::ReportSaved(message));
    }

    fn save(&mut self, folder: &Path, calibration: &Calibration) -> Result<PathBuf, String> {
        let named = self.desk.editor().site().file.calibration.file.clone();
        let path = folder.join(named.as_deref().unwrap_or(CALIBRATION_FILE));
        save_file(&path, calibration.to_toml().as_bytes())
            .map_err(|error| format!("{}: {error}", path.display()))?;
        if named.is_none() {
            self.name_calibration_in_site()?;
        }
        Ok(path)
    }

    /// Writes the name of the calibration file to `calibration.file` of the site. The site file is saved only if it had no
    /// other unsaved changes.
    fn name_calibration_in_site(&mut self) -> Result<(), String> {
        let is_clean = self.desk.editor().unsaved().is_empty();
        self.apply(&Command::Edit {
            edits: vec![Edit {
                document: DocumentName::Site,
                path: "calibration.file".to_owned(),
                change: EditChange::Set {
                    value: CALIBRATION_FILE.into(),
                },
            }],
        });
        if is_clean {
            self.apply(&Command::Save);
        }
        let editor = self.desk.editor();
        let is_named = editor.site().file.calibration.file.is_some();
        if is_named && !editor.unsaved().contains(&DocumentName::Site) {
            return Ok(());
        }
        Err(format!(
            "the site file does not contain calibration.file = \"{CALIBRATION_FILE}\" yet; save the site"
        ))
    }
}

/// Whether the same render setup can draw both sites.
fn has_same_look(a: &Site, b: &Site) -> bool {
    let species = |site: &Site| -> Vec<_> {
        let look = |s: &crate::site::SiteSpecies| (s.name.clone(), s.file.look.clone());
        site.species.iter().map(look).collect()
    };
    a.scene.look == b.scene.look
        && a.scene.obstacles == b.scene.obstacles
        && a.scene.pool.ground_depth_m.to_bits() == b.scene.pool.ground_depth_m.to_bits()
        && a.scene.pool.terraces == b.scene.pool.terraces
        && species(a) == species(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::load;

    #[test]
    fn an_edited_terrace_needs_a_new_picture() {
        let before = load(None, Some("cascade")).expect("the shipped scene is valid");
        assert!(has_same_look(&before, &before.clone()));
        let mut after = before.clone();
        after.scene.pool.terraces[0].ground_depth_m += 0.1;
        assert!(!has_same_look(&before, &after));
    }
}
