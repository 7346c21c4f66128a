//! The log of a run, from which `shoal simulate --session` gives the same run again: the documents at the start, every applied
//! command, and every observation with the tick that used it.
//!
//! In: entries from the desk stage and the simulation stage. Out: a folder with `session.json` and `log.jsonl`. Must not: make a
//! stage wait. If the disk is too slow, the log ends, because a log with a gap could not be replayed. A power cut costs the last second.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use crate::control::PoolCommand;
use crate::files::save_file;
use crate::geometry::Visitor;
use crate::runtime::{Heartbeat, now_iso};
use crate::simulation::SimulationParams;
use crate::site::{Editor, EditorState};
use crate::world::{Observation, Snapshot};

/// Version of the format.
pub(super) const SESSION_VERSION: u32 = 1;
/// Name of the file with the start of a session.
pub(super) const START_FILE: &str = "session.json";
/// Name of the file with the entries of a session.
pub(super) const LOG_FILE: &str = "log.jsonl";
/// Largest number of entries that may wait for the disk: several seconds of ticks.
pub(super) const WAITING_MAX: usize = 512;
/// Largest size of the log, in bytes. At 30 observations a second of five visitors with outlines this is about a day.
const LOG_BYTES_MAX: u64 = 4 << 30;
/// Longest wait for an entry before the next heartbeat.
const ENTRY_WAIT: Duration = Duration::from_millis(100);
/// Time after which written entries are on the disk, so that a power cut costs no more.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);

/// The start of a session.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionStart {
    /// Version of the format.
    pub version: u32,
    /// Version of Shoal that wrote the session.
    pub shoal: String,
    /// Date and time of the start, ISO 8601.
    pub date: String,
    /// The site file, to which models and field files refer; `None` for the built-in demo.
    pub site: Option<PathBuf>,
    /// Parameters of the tick.
    pub simulation: SimulationParams,
    /// The documents.
    pub documents: EditorState,
}

impl SessionStart {
    /// Describes a run that starts now. `site` is the path of the site file.
    pub fn new(site: Option<&Path>, simulation: &SimulationParams, editor: &Editor) -> Self {
        Self {
            version: SESSION_VERSION,
            shoal: env!("CARGO_PKG_VERSION").to_owned(),
            date: now_iso(),
            // The replay may start in another folder.
            site: site.map(|path| std::path::absolute(path).unwrap_or(path.to_path_buf())),
            simulation: simulation.clone(),
            documents: editor.state(),
        }
    }
}

/// One line of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum SessionEntry {
    /// The pool starts, with the commands up to `revision`.
    Start {
        /// Number of the newest command that the pool contains.
        revision: u64,
        /// Factor on the frequency at which rules of the director begin.
        pace: f32,
    },
    /// The desk applied a command.
    Command {
        /// Number of the command.
        revision: u64,
        /// The command.
        command: Box<PoolCommand>,
        /// Species of the individual that the command names.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        species: Option<String>,
    },
    /// The pool applied the commands up to `revision` before the tick `tick`.
    Applied {
        /// Number of the tick, counted from 1.
        tick: u64,
        /// Number of the newest applied command.
        revision: u64,
    },
    /// From the tick `tick` on, the pool reacts to these shadows.
    Observed {
        /// Number of the tick, counted from 1.
        tick: u64,
        /// The observation.
        observation: Observation,
    },
    /// The whole pool after a tick, from which a replay can begin.
    State {
        /// Number of the tick.
        tick: u64,
        /// Number of the newest applied command.
        revision: u64,
        /// The pool, as `simulate --save-state` writes it.
        state: String,
    },
    /// The state of the pool after a tick.
    Hash {
        /// Number of the tick, counted from 1.
        tick: u64,
        /// The hash, see [`pool_hash`].
        hash: u64,
    },
    /// The session ends after this tick.
    End {
        /// Number of the last tick.
        tick: u64,
        /// Reason for the end.
        reason: String,
    },
}

/// Returns a hash of all poses, bit by bit (FNV-1a).
pub(super) fn pool_hash(snapshot: &Snapshot) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut add = |word: u32| {
        for byte in word.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for agent in &snapshot.agents {
        add(agent.id);
        add(u32::from(agent.species));
        for vector in [
            agent.position_m,
            agent.velocity_mps,
            agent.forward,
            agent.up,
        ] {
            vector.to_array().into_iter().for_each(|v| add(v.to_bits()));
        }
        add(agent.boost.to_bits());
    }
    hash
}

/// Sends entries to the thread that writes them. Copies share the log.
#[derive(Clone)]
pub struct SessionLog {
    entries: SyncSender<SessionEntry>,
    is_open: Arc<AtomicBool>,
}

impl SessionLog {
    /// Creates a log. While `is_open` is false, entries are dropped.
    pub(super) fn new(entries: SyncSender<SessionEntry>, is_open: Arc<AtomicBool>) -> Self {
        Self { entries, is_open }
    }

    /// Adds an entry. Never waits: if too many are waiting, the log ends.
    pub(super) fn add(&self, entry: SessionEntry) {
        if self.is_open.load(Ordering::Relaxed) && self.entries.try_send(entry).is_err() {
            self.is_open.store(false, Ordering::Relaxed);
        }
    }
}

/// The end of the log in the simulation stage, which reuses the memory of observations.
pub(super) struct TickLog {
    log: SessionLog,
    /// Observations that were written, so that their memory is used again.
    written: Receiver<Observation>,
    /// Time from one saved pool to the next; `None` if no pool is saved.
    segment_secs: Option<f64>,
}

impl TickLog {
    /// Creates the end of a log.
    pub(super) fn new(
        log: SessionLog,
        written: Receiver<Observation>,
        segment_secs: Option<f64>,
    ) -> Self {
        Self {
            log,
            written,
            segment_secs,
        }
    }

    /// Whether the pool is to be saved after this tick.
    pub(super) fn wants_state(&self, tick: u64, dt_secs: f64) -> bool {
        let ticks = self
            .segment_secs
            .map(|secs| (secs / dt_secs).round().max(1.0) as u64);
        ticks.is_some_and(|ticks| tick.is_multiple_of(ticks))
    }

    /// Adds an entry.
    pub(super) fn add(&self, entry: SessionEntry) {
        self.log.add(entry);
    }

    /// Adds a copy of an observation that the tick `tick` uses first.
    pub(super) fn add_observation(&self, tick: u64, from: &Observation) {
        let mut observation = self.written.try_recv().unwrap_or_default();
        observation.time_secs = from.time_secs;
        // A visitor with a number that is not finite cannot be written, and the pool ignores it.
        let written = from.shadows.iter().filter(|visitor| visitor.is_finite());
        Visitor::copy_all(&mut observation.shadows, written);
        self.log.add(SessionEntry::Observed { tick, observation });
    }
}

/// The thread that writes the log.
pub(super) struct SessionWriter {
    out: Option<BufWriter<File>>,
    path: PathBuf,
    entries: Receiver<SessionEntry>,
    give_back: SyncSender<Observation>,
    is_open: Arc<AtomicBool>,
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
    let (entries, received) = sync_channel(WAITING_MAX);
    let (give_back, written) = sync_channel(WAITING_MAX);
    let is_open = Arc::new(AtomicBool::new(true));
    let log = SessionLog::new(entries, Arc::clone(&is_open));
    let writer = SessionWriter {
        out: Some(BufWriter::new(file)),
        path: folder.join(LOG_FILE),
        entries: received,
        give_back,
        is_open,
        bytes: 0,
    };
    let ticks = TickLog::new(log.clone(), written, None);
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
            let entry = match self.entries.recv_timeout(ENTRY_WAIT) {
                Ok(entry) => entry,
                Err(RecvTimeoutError::Timeout) if self.is_open.load(Ordering::Relaxed) => {
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
                // If the channel is full, the memory is freed instead of used again.
                let _full = self.give_back.try_send(observation);
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
        self.is_open.store(false, Ordering::Relaxed);
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

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec2;

    #[test]
    fn an_observation_is_read_back_bit_by_bit() {
        let shadow = Visitor {
            id: 3,
            centroid_m: Vec2::new(0.1, -1.0 / 3.0),
            radius_m: f32::MIN_POSITIVE,
            outline_m: vec![Vec2::new(1e-7, 123.456_79), Vec2::new(-0.0, 0.3)],
            ..Visitor::default()
        };
        let entry = SessionEntry::Observed {
            tick: 7,
            observation: Observation {
                time_secs: 0.25,
                shadows: vec![shadow],
            },
        };
        let text = serde_json::to_string(&entry).unwrap();
        let read: SessionEntry = serde_json::from_str(&text).unwrap();
        assert_eq!(format!("{read:?}"), format!("{entry:?}"));
    }
}
