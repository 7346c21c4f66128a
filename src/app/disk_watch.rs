//! Watches the files of a site: a change on the disk becomes a command for the desk.
//!
//! In: the path of the site file. Out: commands. Must not: validate the files; the desk does.

use std::path::Path;
use std::time::Duration;

use super::desk::{CommandSender, Undelivered};
use super::live::Heartbeat;
use crate::control::Command;
use crate::site::{FileWatcher, POLL_SECS};

/// Watches a site file and the scenes and species beside it, and sends changed documents to the desk. Returns when the
/// program ends.
pub fn watch_files(site: &Path, commands: &CommandSender, heartbeat: &Heartbeat) {
    let mut watch = FileWatcher::new(site);
    let mut waiting = None;
    while heartbeat.keep_running() {
        match watch.poll() {
            // A newer state of the files replaces one that is still waiting.
            Some(Ok(documents)) => waiting = Some(Command::TakeOver { documents }),
            Some(Err(problems)) => {
                tracing::warn!("changed files cannot be read: {problems}");
            }
            None => {}
        }
        if let Some(command) = waiting.take() {
            match commands.send(command.clone()) {
                Ok(()) => {}
                Err(Undelivered::Busy) => waiting = Some(command),
                Err(Undelivered::Gone) => return,
            }
        }
        heartbeat.sleep(Duration::from_secs_f32(POLL_SECS));
    }
}
