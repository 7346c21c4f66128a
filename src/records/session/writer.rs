//! The thread that writes a session into a folder, from which `shoal simulate --session` gives the same run again. It ends with the
//! program, or if the disk is full or too slow. A power cut costs the last second.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use super::entry::{LOG_FILE, START_FILE, SessionEntry, SessionStart};
use super::log::{LogQueue, SessionLog, TickLog, open_log};
use crate::files::save_file;
use crate::runtime::Heartbeat;

/// Largest size of the log, in bytes. At 30 observations a second of five visitors with outlines this is about a day.
const LOG_BYTES_MAX: u64 = 4 << 30;
/// Time after which written entries are on the disk, so that a power cut costs no more.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);

/// The thread that writes the log.
pub(super) struct SessionWriter {
    out: Option<BufWriter<File>>,
    path: PathBuf,
    queue: LogQueue,
    bytes: u64,
}

/// Creates the folder of a session. Returns the ends for the desk, the simulation and the writer.
///
/// # Errors
/// When the folder has other content, or cannot be written.
pub(super) fn create_session(
    folder: &Path,
    start: &SessionStart,
) -> anyhow::Result<(SessionLog, TickLog, SessionWriter)> {
    let shown = folder.display();
    std::fs::create_dir_all(folder)
        .with_context(|| format!("{shown}: this folder cannot be created"))?;
    let is_empty = std::fs::read_dir(folder)
        .map(|mut entries| entries.next().is_none())
        .with_context(|| format!("{shown}: this folder cannot be read"))?;
    if !is_empty {
        bail!("{shown}: this folder is not empty; name a new one for the session");
    }
    let write = || -> std::io::Result<File> {
        let text = serde_json::to_vec_pretty(start)?;
        save_file(&folder.join(START_FILE), &text)?;
        File::create(folder.join(LOG_FILE))
    };
    let file = write().with_context(|| format!("{shown}: the session cannot be written"))?;
    let (log, ticks, queue) = open_log(None);
    let writer = SessionWriter {
        out: Some(BufWriter::new(file)),
        path: folder.join(LOG_FILE),
        queue,
        bytes: 0,
    };
    Ok((log, ticks, writer))
}

impl SessionWriter {
    /// Writes entries until the program ends, the log is full, or the disk is.
    pub(super) fn run(&mut self, heartbeat: &Heartbeat) {
        let mut synced = Instant::now();
        while let Some(out) = &mut self.out {
            if synced.elapsed() >= SYNC_INTERVAL {
                synced = Instant::now();
                if let Err(error) = out.flush().and_then(|()| out.get_ref().sync_data()) {
                    return self.close(&error.to_string());
                }
            }
            let entry = match self.queue.next() {
                Ok(entry) => entry,
                Err(RecvTimeoutError::Timeout) if self.queue.is_open() => {
                    if !heartbeat.keep_running() {
                        return self.close("the program ended");
                    }
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => return self.close("the disk is too slow"),
                Err(RecvTimeoutError::Disconnected) => return self.close("the program ended"),
            };
            let is_end = matches!(entry, SessionEntry::End { .. });
            match write_line(out, &entry) {
                Ok(bytes) => self.bytes += bytes,
                Err(error) => return self.close(&error.to_string()),
            }
            if let SessionEntry::Observed { observation, .. } = entry {
                self.queue.give_back(observation);
            }
            if is_end {
                return self.close("the program ended");
            }
            if self.bytes > LOG_BYTES_MAX {
                return self.close("it has its largest size");
            }
        }
    }

    fn close(&mut self, reason: &str) {
        self.queue.set_open(false);
        let flushed = self.out.take().map(|mut out| out.flush());
        let path = self.path.display();
        match flushed {
            Some(Err(error)) => tracing::warn!("{path}: the log of the session ends here: {error}"),
            _ if reason == "the program ended" => tracing::info!("{path}: the session is complete"),
            _ => tracing::warn!("{path}: the log of the session ends here: {reason}"),
        }
    }
}

fn write_line(out: &mut BufWriter<File>, entry: &SessionEntry) -> std::io::Result<u64> {
    let mut line = serde_json::to_vec(entry)?;
    line.push(b'\n');
    out.write_all(&line)?;
    Ok(line.len() as u64)
}
