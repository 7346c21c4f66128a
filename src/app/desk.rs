//! The desk: applies the commands for the documents and the fish. Applied commands are logged, and the last rejection is kept for
//! the status.
//!
//! In: commands, with the tick in which they arrived. Out: changes for [`crate::simulation`], the documents' part of a [`Status`],
//! and a log that can be replayed. Must not: own the pool, block it, or decide whether a command is valid; [`crate::site`] decides that.

use std::path::Path;

use crate::config::Problems;
use crate::control::{
    CalibrationKnown, CalibrationStatus, CommandLine, PoolCommand, Reason, Rejection, Source,
    Status, Trust,
};
use crate::records::JsonLinesWriter;
use crate::simulation::Simulation;
use crate::site::{Applied, Editor, reasons};

/// Applies commands to the documents of a site, and logs them.
pub struct Desk {
    editor: Editor,
    log: Option<JsonLinesWriter>,
    rejection: Option<Rejection>,
}

impl Desk {
    /// Returns a desk for the documents of a site, without a log.
    pub fn new(editor: Editor) -> Self {
        Self {
            editor,
            log: None,
            rejection: None,
        }
    }

    /// Logs the commands that are applied after this call to a file, as JSON lines.
    ///
    /// # Errors
    /// When the file cannot be created.
    pub fn log_to(&mut self, path: &Path) -> anyhow::Result<()> {
        self.log = Some(JsonLinesWriter::create(path)?);
        Ok(())
    }

    /// Sets what the next commands may change.
    pub fn set_trust(&mut self, trust: Trust) {
        self.editor.set_trust(trust);
    }

    /// Sets who sends the next commands.
    pub fn set_author(&mut self, author: Source) {
        self.editor.set_author(author);
    }

    /// Returns the documents.
    pub fn editor(&self) -> &Editor {
        &self.editor
    }

    /// Applies a command to the documents, or rejects it. `tick` is the number of ticks that the pool has completed;
    /// `species_of` returns the species of a living agent. The caller must pass the returned changes to [`Simulation::apply`]
    /// before the next tick.
    ///
    /// # Errors
    /// All reasons why the command is rejected.
    pub fn apply(
        &mut self,
        command: &PoolCommand,
        tick: u64,
        species_of: &dyn Fn(u32) -> Option<String>,
    ) -> Result<Applied, Problems> {
        match self.editor.apply(command, species_of) {
            Ok(applied) => {
                self.rejection = None;
                if let (Some(log), Some(command)) = (&mut self.log, &applied.command) {
                    let line = CommandLine {
                        tick,
                        command: command.clone(),
                    };
                    // A full disk must not stop the installation, so only the log ends.
                    if let Err(error) = log.write(&line) {
                        tracing::error!("the log of commands ends here: {error:#}");
                        self.log = None;
                    }
                }
                Ok(applied)
            }
            Err(problems) => {
                self.rejection = Some(rejection(tick, &problems));
                Err(problems)
            }
        }
    }

    /// Applies a command to the documents and to a simulation.
    ///
    /// # Errors
    /// All reasons why the command is rejected.
    pub fn apply_to(
        &mut self,
        command: &PoolCommand,
        simulation: &mut Simulation,
    ) -> Result<(), Problems> {
        let applied = self.apply(command, simulation.tick(), &|id| species_of(simulation, id))?;
        for change in applied.changes {
            simulation.apply(change);
        }
        Ok(())
    }

    /// Returns the part of the status that concerns the documents. Its calibration is the one of a camera on the disk.
    pub fn document_status(&self, camera: usize) -> Status {
        let (undo_depth, redo_depth) = self.editor.undo_depths();
        let (undo, redo) = self.editor.next_steps();
        let saved = self.editor.site().calibrations.get(camera);
        let saved = saved.and_then(Option::as_ref);
        let calibration = CalibrationStatus {
            current: saved.map(|saved| CalibrationKnown {
                date: saved.date.clone(),
                lamp_m: saved.lamp_m,
                ..CalibrationKnown::default()
            }),
            ..CalibrationStatus::default()
        };
        Status {
            calibration,
            scene: self.editor.site().scene_name.clone(),
            undo,
            redo,
            undo_depth,
            redo_depth,
            unsaved: self.editor.unsaved(),
            restart_needed: self.editor.restart_needed(),
            rejection: self.rejection.clone(),
            ..Status::default()
        }
    }

    /// Finishes the log.
    ///
    /// # Errors
    /// When the log cannot be written.
    pub fn close(self) -> anyhow::Result<()> {
        self.log.map_or(Ok(()), JsonLinesWriter::finish)
    }
}

/// Returns the species of a living agent; `None` if no living agent has this id.
pub fn species_of(simulation: &Simulation, id: u32) -> Option<String> {
    let world = simulation.world();
    let index = world.agents.ids.binary_search(&id).ok()?;
    let kind = usize::from(*world.agents.species.get(index)?);
    Some(world.species.get(kind)?.name.clone())
}

fn rejection(tick: u64, problems: &Problems) -> Rejection {
    Rejection {
        tick,
        problems: Reason::kept(&reasons(problems)),
    }
}
