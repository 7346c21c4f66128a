//! Watches the files of a site: a change on the disk becomes a command for the desk.
//!
//! In: a watcher of the site's files. Out: commands. Must not: validate the files; the desk validates them.

use std::time::Duration;

use super::live::Heartbeat;
use crate::control::{Command, CommandSender, Undelivered};
use crate::site::{FileWatcher, POLL_SECS};

/// Polls a watcher of a site's files and sends changed documents to the desk. Returns when the program ends.
///
/// The caller creates the watcher, so that a change between the creation and the start of this thread is not missed.
pub fn watch_files(watch: &mut FileWatcher, commands: &CommandSender, heartbeat: &Heartbeat) {
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
                Err(_) => return,
            }
        }
        heartbeat.sleep(Duration::from_secs_f32(POLL_SECS));
    }
}
