//! The editing stage: commands are validated here, beside the tick; what becomes of them goes to pool and picture.
//!
//! In: commands. Out: changes for the simulation, and another picture for the screen where the look has changed. The
//! pool never waits for it; a refused command changes nothing.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::app::desk::Desk;
use crate::calibration::Calibration;
use crate::config::save;
use crate::control::{Command, DocumentName, Edit, EditChange};
use crate::render::RenderSetup;
use crate::simulation::{Change, SceneDescription};
use crate::site::Site;

use super::calibrating::Wish;
use super::supervise::Pulse;

/// How often the stage says that it is alive while nobody tells it anything.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Changes that may wait for the next tick.
pub const WAITING_MAX: usize = 64;
/// Where a calibration is saved whose site names no file.
const CALIBRATION_FILE: &str = "calibration.toml";

/// What a command means for the pool.
#[derive(Debug)]
pub struct Edited {
    /// The picture that can show the pool after it (see [`Pictures`]).
    pub version: u64,
    /// What the pool has to change before its next tick.
    pub changes: Vec<Change>,
}

/// What a pool is made from when it begins anew.
#[derive(Clone, Debug)]
pub struct Beginning {
    /// The picture that can show it.
    pub version: u64,
    /// The pool.
    pub scene: SceneDescription,
}

/// The picture that is wanted, and the one that is on the screen. A screen draws only moments of its own version: what a
/// moment's numbers of species mean is known to that picture alone.
#[derive(Debug)]
pub struct Pictures {
    wanted: Mutex<(u64, RenderSetup)>,
    opened: Arc<AtomicU64>,
}

impl Pictures {
    /// The first picture; `opened` is told which one is on the screen.
    pub fn new(setup: RenderSetup, opened: Arc<AtomicU64>) -> Self {
        Self {
            wanted: Mutex::new((0, setup)),
            opened,
        }
    }

    /// The newest picture, which is on the screen from now on.
    pub fn open(&self) -> RenderSetup {
        let wanted = lock(&self.wanted);
        self.opened.store(wanted.0, Ordering::Release);
        wanted.1.clone()
    }

    fn want(&self, version: u64, setup: RenderSetup) {
        *lock(&self.wanted) = (version, setup);
    }
}

/// What the editing stage is made of.
pub struct Editing {
    /// The documents.
    pub desk: Desk,
    /// Where commands come from.
    pub commands: Receiver<Command>,
    /// Where changes go.
    pub edited: SyncSender<Edited>,
    /// What a pool that begins anew begins with.
    pub beginning: Arc<Mutex<Beginning>>,
    /// Where wishes about the calibration go.
    pub wishes: SyncSender<Wish>,
    /// Where accepted calibrations come from.
    pub accepted: Option<Receiver<Box<Calibration>>>,
    /// The site's folder, in which they are saved; the built-in site has none.
    pub folder: Option<PathBuf>,
    /// Where another picture goes, and how a site is made into one.
    pub pictures: Option<(Arc<Pictures>, Painter)>,
}

/// Makes the picture of a site.
pub type Painter = Box<dyn Fn(Site) -> RenderSetup + Send>;

impl Editing {
    /// Obeys until the program ends.
    pub fn run(&mut self, pulse: &Pulse) {
        while pulse.goes_on() {
            while let Some(Ok(calibration)) = self.accepted.as_ref().map(Receiver::try_recv) {
                self.keep(&calibration);
            }
            match self.commands.recv_timeout(LOOK_EVERY) {
                Ok(command) => self.obey(&command),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn obey(&mut self, command: &Command) {
        let before = self.desk.editor().site().clone();
        if let Command::Calibrate { step } = command {
            self.wish(Wish::Step(step.clone(), before.file.calibration.clone()));
            return;
        }
        // Nobody who could name an individual sends commands yet; the files do not know them.
        let Ok(applied) = self.desk.tell(command, 0, &|_| None) else {
            return;
        };
        let site = self.desk.editor().site();
        let mut version = lock(&self.beginning).version;
        if applied.is_new_site {
            if !looks_like(&before, site) {
                version += 1;
                if let Some((pictures, painter)) = &self.pictures {
                    pictures.want(version, painter(Site::clone(site)));
                }
            }
            let scene = site.description();
            if before.calibration != site.calibration {
                self.wish(Wish::Use(site.calibration.clone().map(Box::new)));
            }
            *lock(&self.beginning) = Beginning { version, scene };
            tracing::info!("changed files were taken over");
        }
        for document in self.desk.editor().restart_needed() {
            tracing::warn!("{document:?} holds changes that need a restart");
        }
        let changes = applied.changes;
        // The simulation ends only with the program.
        let _ = self.edited.send(Edited { version, changes });
    }

    fn wish(&self, wish: Wish) {
        if self.wishes.try_send(wish).is_err() {
            tracing::warn!("calibration: too much is asked for at once; try again in a moment");
        }
    }

    /// Saves an accepted calibration, so that it counts after a restart as well.
    fn keep(&mut self, calibration: &Calibration) {
        let kept = match self.folder.clone() {
            Some(folder) => self.save(&folder, calibration),
            None => Err("the built-in demo has no folder; start Shoal with a site file".to_owned()),
        };
        let sentence = match kept {
            Ok(path) => {
                let sentence = format!("The calibration counts, and is saved: {}", path.display());
                tracing::info!("{sentence}");
                sentence
            }
            Err(reason) => {
                let sentence =
                    format!("The calibration counts until the restart, but is not saved: {reason}");
                tracing::error!("{sentence}");
                sentence
            }
        };
        self.wish(Wish::Told(sentence));
    }

    fn save(&mut self, folder: &Path, calibration: &Calibration) -> Result<PathBuf, String> {
        let named = self.desk.editor().site().file.calibration.file.clone();
        let path = folder.join(named.as_deref().unwrap_or(CALIBRATION_FILE));
        save(&path, calibration.to_toml().as_bytes())
            .map_err(|error| format!("{}: {error}", path.display()))?;
        if named.is_none() {
            self.name_calibration()?;
        }
        Ok(path)
    }

    /// Lets the site file name the calibration. What else is not saved yet stays so.
    fn name_calibration(&mut self) -> Result<(), String> {
        let is_clean = self.desk.editor().unsaved().is_empty();
        self.obey(&Command::Edit {
            edits: vec![Edit {
                document: DocumentName::Site,
                path: "calibration.file".to_owned(),
                change: EditChange::Set {
                    value: CALIBRATION_FILE.into(),
                },
            }],
        });
        if is_clean {
            self.obey(&Command::Save);
        }
        let editor = self.desk.editor();
        let is_named = editor.site().file.calibration.file.is_some();
        if is_named && !editor.unsaved().contains(&DocumentName::Site) {
            return Ok(());
        }
        Err(format!(
            "the site file does not say calibration.file = \"{CALIBRATION_FILE}\" yet; save the site"
        ))
    }
}

/// Whether one picture can show both.
fn looks_like(a: &Site, b: &Site) -> bool {
    let species = |site: &Site| -> Vec<_> {
        let look = |s: &crate::site::SiteSpecies| (s.name.clone(), s.file.look.clone());
        site.species.iter().map(look).collect()
    };
    a.scene.look == b.scene.look
        && a.scene.obstacles == b.scene.obstacles
        && a.scene.pool.ground_depth_m.to_bits() == b.scene.pool.ground_depth_m.to_bits()
        && species(a) == species(b)
}

/// Holds what is shared. A panic while it was held left whole values: they are replaced, never changed in place.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
