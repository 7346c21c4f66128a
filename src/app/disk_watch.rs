//! Watches the files of a site: a change on the disk becomes a command for the desk.
//!
//! In: a watcher of the site's files. Out: commands. Must not: validate the files; the desk validates them.

use std::collections::VecDeque;
use std::time::Duration;

use super::live::Heartbeat;
use crate::control::{Command, CommandSender, Undelivered};
use crate::site::{FileWatcher, POLL_SECS};

/// Polls a watcher of a site's files and sends changed documents to the desk. Returns when the program ends.
///
/// The caller creates the watcher, so that a change between the creation and the start of this thread is not missed.
pub fn watch_files(watch: &mut FileWatcher, commands: &CommandSender, heartbeat: &Heartbeat) {
    let mut waiting: VecDeque<Command> = VecDeque::new();
    let mut was_readable = true;
    while heartbeat.keep_running() {
        match watch.poll() {
            Some(Ok(commands)) => {
                if !std::mem::replace(&mut was_readable, true) {
                    tracing::info!("all files of the site can be read again");
                }
                // A newer state of the files replaces one that is still waiting.
                waiting = commands.into();
            }
            Some(Err(problems)) => {
                was_readable = false;
                tracing::warn!(
                    "the site on the disk is not applied until its files can be read; the pool keeps the last valid site: {problems}"
                );
            }
            None => {}
        }
        while let Some(command) = waiting.front() {
            match commands.send(command.clone()) {
                Ok(()) => {
                    waiting.pop_front();
                }
                Err(Undelivered::Busy) => break,
                Err(_) => return,
            }
        }
        heartbeat.sleep(Duration::from_secs_f32(POLL_SECS));
    }
}
