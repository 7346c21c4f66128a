//! The desk of a node of a hall that follows: it uses the documents of the leader and applies the commands that the leader applied.
//! The files on the disk stay as they are.

use std::sync::Arc;
use std::time::Instant;

use super::super::hall::{DeskTask, PoolRestore};
use super::super::pool_queue::{PoolChange, PoolLoad};
use super::DeskStage;
use crate::app::desk::Desk;
use crate::control::PoolCommand;
use crate::records::SessionEntry;
use crate::site::Editor;

impl DeskStage {
    /// Why a change of the pool is rejected here; `None` if this node follows no other.
    pub(super) fn refusal_of_follower(&self) -> Option<String> {
        let hall = self.links.hall.as_ref()?;
        hall.board.follows().then(|| hall.board.refusal())
    }

    /// Does what the hall stage asks for.
    pub(super) fn follow_hall(&mut self) {
        while let Some(task) =
            (self.links.hall.as_ref()).and_then(|hall| hall.tasks.try_recv().ok())
        {
            let done = match task {
                DeskTask::Restore(restore) => self.restore(*restore),
                DeskTask::Command(entry) => self.follow_command(entry),
            };
            if let Err(reason) = done {
                tracing::warn!("hall: {reason}");
                if let Some(hall) = &self.links.hall {
                    hall.board.set_lost();
                }
            }
        }
    }

    /// Uses the documents of the leader, and passes its pool to the simulation.
    fn restore(&mut self, restore: PoolRestore) -> Result<(), String> {
        let PoolRestore {
            generation,
            message,
        } = restore;
        let mut editor =
            Editor::restore(self.site_path.as_deref(), &message.documents).map_err(|problems| {
                format!("the documents of the leader are not valid on this machine:\n{problems}")
            })?;
        editor.replay_only();
        let before = Arc::clone(self.desk.editor().site());
        self.desk = Desk::new(editor);
        for entry in message.commands {
            if let SessionEntry::Command {
                command, species, ..
            } = entry
            {
                self.apply_followed(&command, species.as_deref())?;
            }
        }
        let site = Arc::clone(self.desk.editor().site());
        let mut change = PoolChange {
            revision: message.revision,
            setup_version: self.links.queue.setup_version(),
            sent: Instant::now(),
            changes: Vec::new(),
        };
        self.update_site((&before, &site), &mut change, true);
        self.revision = self.revision.max(message.revision);
        self.removed.clear();
        let mut start = self.links.queue.start();
        start.revision = message.revision;
        start.setup_version = change.setup_version;
        start.scene = site.description();
        self.links.queue.load(PoolLoad {
            generation,
            start,
            params: message.simulation,
            state: message.state,
            observation: message.observation,
        });
        self.publish_documents();
        Ok(())
    }

    /// Applies a command of the leader to documents and pool.
    fn follow_command(&mut self, entry: SessionEntry) -> Result<(), String> {
        let SessionEntry::Command {
            revision,
            command,
            species,
        } = entry
        else {
            return Ok(());
        };
        let before = Arc::clone(self.desk.editor().site());
        let applied = self.apply_followed(&command, species.as_deref())?;
        self.revision = self.revision.max(revision);
        self.pass_on(&before, applied, (revision, Instant::now()));
        self.publish_documents();
        Ok(())
    }

    fn apply_followed(
        &mut self,
        command: &PoolCommand,
        species: Option<&str>,
    ) -> Result<crate::site::Applied, String> {
        let tick = self.living.tick;
        let species_of = |_| species.map(str::to_owned);
        (self.desk.apply(command, tick, &species_of))
            .map_err(|problems| format!("a command of the leader is not valid here:\n{problems}"))
    }
}
