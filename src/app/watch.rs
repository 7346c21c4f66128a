//! The thread that looks after the files of a site: a change on the disk becomes a command like any other.
//!
//! In: the site file's path. Out: commands. Must not: judge the files; the desk does, and refuses them whole.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Context;

use super::desk::{CommandSender, Undelivered};
use crate::control::Command;
use crate::site::DiskWatch;
use crate::site::watch::POLL_SECS;

/// Watches a site file with the scenes and species beside it until `stop` is set.
///
/// # Errors
/// When the thread cannot be started.
pub fn watch(
    site: &Path,
    commands: CommandSender,
    stop: Arc<AtomicBool>,
) -> anyhow::Result<JoinHandle<()>> {
    let mut watch = DiskWatch::new(site);
    std::thread::Builder::new()
        .name("disk-watch".to_owned())
        .spawn(move || {
            let mut waiting = None;
            while !stop.load(Ordering::Relaxed) {
                match watch.poll() {
                    // The newest state is the one that counts.
                    Some(Ok(documents)) => waiting = Some(Command::TakeOver { documents }),
                    Some(Err(problems)) => {
                        tracing::warn!("changed files cannot be taken over: {problems}");
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
                std::thread::sleep(Duration::from_secs_f32(POLL_SECS));
            }
        })
        .context("the thread that watches files cannot be started")
}
