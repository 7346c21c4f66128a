//! Keeps the last minutes of a run in memory, and writes them into a folder when a fault begins or an operator asks for it, so that
//! `shoal simulate --session` repeats them.
//!
//! In: the entries of the session, with a saved pool every [`SEGMENT_SECS`]. Out: folders like those of `--log-session`. Must not: make
//! a stage wait. If this thread is too slow, it begins again with the next saved pool.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use parking_lot::Mutex;

use super::entry::{LOG_FILE, START_FILE, SessionEntry, SessionStart};
use super::log::{LogQueue, SessionLog, TickLog, open_log};
use crate::control::{DeskClient, EventKind, Journal};
use crate::files::save_file;
use crate::runtime::{Heartbeat, now_iso};
use crate::site::EditorState;

/// Time from one saved pool to the next. An incident contains one to two such times before its cause.
const SEGMENT_SECS: f64 = 300.0;
/// Time after the cause that an incident contains.
const AFTER_CAUSE: Duration = Duration::from_secs(20);
/// Shortest time between two incidents. Faults in between are in the log of the first one.
const PAUSE: Duration = Duration::from_secs(600);
/// Largest size of one segment, in bytes. Five minutes of ten visitors with outlines take about 20 MB.
const SEGMENT_BYTES_MAX: usize = 64 << 20;
/// Number of kept commands, and of their bytes, from which the documents are copied again, so that the commands before can be
/// forgotten.
const COMMANDS_MAX: usize = 1000;
/// Largest number of incidents in the folder. The oldest are deleted.
const INCIDENTS_MAX: usize = 20;
/// Time between two looks at the events.
const EVENTS_INTERVAL: Duration = Duration::from_secs(1);

/// A copy of the documents, which the desk makes when it is asked for.
#[derive(Debug, Default)]
pub struct DocumentsCopy {
    is_wanted: AtomicBool,
    /// Number of the newest command that the documents contain, and the documents.
    copy: Mutex<Option<(u64, EditorState)>>,
}

impl DocumentsCopy {
    /// Lets the desk copy the documents soon.
    pub fn want(&self) {
        *self.copy.lock() = None;
        self.is_wanted.store(true, Ordering::Relaxed);
    }

    /// Whether there is a copy.
    pub fn has_copy(&self) -> bool {
        self.copy.lock().is_some()
    }

    /// Takes the copy, with the number of the newest command that it contains.
    pub fn take(&self) -> Option<(u64, EditorState)> {
        self.copy.lock().take()
    }

    /// Puts a copy back that cannot be used yet.
    pub fn put_back(&self, revision: u64, documents: EditorState) {
        *self.copy.lock() = Some((revision, documents));
    }

    /// Copies the documents, if a copy is wanted.
    pub fn make_if_wanted(&self, revision: u64, state: impl FnOnce() -> EditorState) {
        if self.is_wanted.swap(false, Ordering::Relaxed) {
            *self.copy.lock() = Some((revision, state()));
        }
    }
}

/// The lines from one saved pool to the next.
struct Segment {
    start: Arc<SessionStart>,
    lines: Vec<u8>,
}

/// The thread that keeps the entries.
pub(super) struct IncidentWriter {
    folder: PathBuf,
    queue: LogQueue,
    documents: Arc<DocumentsCopy>,
    /// The documents before `commands`.
    start: Arc<SessionStart>,
    /// Number and line of each command since then.
    commands: Vec<(u64, Vec<u8>)>,
    /// The newest two segments, oldest first. Empty until a pool was saved.
    segments: VecDeque<Segment>,
    /// Cause of the next incident, and the time at which it is written.
    due: Option<(String, Instant)>,
    written: Option<Instant>,
    /// Number of the newest event that was read.
    read: u64,
    events_due: Instant,
}

/// Creates the folder for incidents. Returns the ends for the desk, the simulation and the writer.
///
/// # Errors
/// When the folder cannot be created.
pub(super) fn create_incidents(
    folder: &Path,
    start: SessionStart,
) -> anyhow::Result<(SessionLog, TickLog, IncidentWriter, Arc<DocumentsCopy>)> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("{}: this folder cannot be created", folder.display()))?;
    let documents: Arc<DocumentsCopy> = Arc::default();
    let (log, ticks, queue) = open_log(Some(SEGMENT_SECS));
    let writer = IncidentWriter {
        folder: folder.to_path_buf(),
        queue,
        documents: Arc::clone(&documents),
        start: Arc::new(start),
        commands: Vec::new(),
        segments: VecDeque::new(),
        due: None,
        written: None,
        read: 0,
        events_due: Instant::now(),
    };
    Ok((log, ticks, writer, documents))
}

impl IncidentWriter {
    /// Keeps entries and writes incidents until the program ends.
    pub(super) fn run(&mut self, heartbeat: &Heartbeat, client: &DeskClient, journal: &Journal) {
        while heartbeat.keep_running() {
            match self.queue.next() {
                Ok(entry) => self.keep(entry),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if !self.queue.is_open() {
                self.queue.set_open(true);
                tracing::warn!(
                    "incidents: this thread was too slow, so the kept minutes begin again"
                );
                self.segments.clear();
            }
            let now = Instant::now();
            if now >= self.events_due {
                self.events_due = now + EVENTS_INTERVAL;
                self.read_events(client, now);
            }
            if self.due.as_ref().is_some_and(|(_, at)| now >= *at) {
                self.write_due(now, journal);
            }
        }
        // A cause shortly before the end is not lost.
        if self.due.is_some() {
            self.write_due(Instant::now(), journal);
        }
    }

    fn keep(&mut self, entry: SessionEntry) {
        let mut line = serde_json::to_vec(&entry).unwrap_or_default();
        line.push(b'\n');
        match entry {
            SessionEntry::Command { revision, .. } => {
                self.commands.push((revision, line.clone()));
                self.add(&line);
            }
            SessionEntry::Start { revision, .. } | SessionEntry::State { revision, .. } => {
                self.begin_segment(revision);
                self.add(&line);
            }
            SessionEntry::Observed { observation, .. } => {
                self.add(&line);
                self.queue.give_back(observation);
            }
            _ => self.add(&line),
        }
    }

    fn add(&mut self, line: &[u8]) {
        if let Some(segment) = self.segments.back_mut() {
            if segment.lines.len() + line.len() > SEGMENT_BYTES_MAX {
                tracing::warn!(
                    "incidents: more than {} MiB within {SEGMENT_SECS} s are not kept",
                    SEGMENT_BYTES_MAX >> 20
                );
                self.segments.clear();
                return;
            }
            segment.lines.extend_from_slice(line);
        }
    }

    /// Begins a segment with a pool that contains the commands up to `revision`.
    fn begin_segment(&mut self, revision: u64) {
        let copied = self
            .documents
            .copy
            .lock()
            .take_if(|(copied, _)| *copied <= revision);
        if let Some((copied, documents)) = copied {
            self.commands.retain(|(number, _)| *number > copied);
            self.start = Arc::new(SessionStart {
                documents,
                ..SessionStart::clone(&self.start)
            });
        }
        if self.commands.len() > COMMANDS_MAX {
            self.documents.is_wanted.store(true, Ordering::Relaxed);
        }
        while self.segments.len() > 1 {
            self.segments.pop_front();
        }
        self.segments.push_back(Segment {
            start: Arc::clone(&self.start),
            lines: self
                .commands
                .iter()
                .flat_map(|(_, line)| line.iter().copied())
                .collect(),
        });
    }

    fn read_events(&mut self, client: &DeskClient, now: Instant) {
        loop {
            let page = client.events_after(self.read, Duration::ZERO);
            let Some(last) = page.events.last() else {
                return;
            };
            self.read = last.number;
            for event in &page.events {
                let cause = match &event.kind {
                    EventKind::FaultBegan { fault, .. } => Some((fault.as_str(), false)),
                    EventKind::CommandApplied { command, .. } if command == "keep_incident" => {
                        Some(("kept", true))
                    }
                    _ => None,
                };
                if let Some((cause, is_by_hand)) = cause {
                    self.want(cause, is_by_hand, now);
                }
            }
        }
    }

    fn want(&mut self, cause: &str, is_by_hand: bool, now: Instant) {
        let is_pause = |written: Instant| now.saturating_duration_since(written) < PAUSE;
        if self.due.is_some() || (!is_by_hand && self.written.is_some_and(is_pause)) {
            return;
        }
        let after = if is_by_hand {
            Duration::ZERO
        } else {
            AFTER_CAUSE
        };
        self.due = Some((cause.to_owned(), now + after));
    }

    fn write_due(&mut self, now: Instant, journal: &Journal) {
        let Some((cause, _)) = self.due.take() else {
            return;
        };
        self.written = Some(now);
        match self.write(&cause) {
            Ok(Some(folder)) => {
                let folder = folder.display().to_string();
                tracing::info!("incident: {folder}");
                journal.add(EventKind::IncidentKept { folder, cause });
            }
            Ok(None) => tracing::info!("incident {cause}: nothing is kept yet"),
            Err(error) => tracing::warn!("incident {cause}: {error:#}"),
        }
    }

    /// Writes what is kept. Returns the folder; `None` if nothing is kept.
    fn write(&mut self, cause: &str) -> anyhow::Result<Option<PathBuf>> {
        let Some(first) = self.segments.front() else {
            return Ok(None);
        };
        let is_allowed = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let cause: String = cause.chars().filter(is_allowed).take(60).collect();
        let folder = self
            .folder
            .join(format!("{}-{cause}", now_iso().replace(':', "")));
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("{}: this folder cannot be created", folder.display()))?;
        let start = serde_json::to_vec_pretty(&*first.start)?;
        let lines: Vec<u8> = self
            .segments
            .iter()
            .flat_map(|s| s.lines.iter().copied())
            .collect();
        for (name, bytes) in [(START_FILE, &start), (LOG_FILE, &lines)] {
            let path = folder.join(name);
            save_file(&path, bytes).with_context(|| path.display().to_string())?;
        }
        self.delete_old();
        Ok(Some(folder))
    }

    /// Deletes the oldest incidents. Only folders with the two files of an incident count.
    fn delete_old(&self) {
        let Ok(entries) = std::fs::read_dir(&self.folder) else {
            return;
        };
        let mut incidents: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.join(START_FILE).is_file() && path.join(LOG_FILE).is_file())
            .collect();
        // The names begin with the date.
        incidents.sort();
        let surplus = incidents.len().saturating_sub(INCIDENTS_MAX);
        for old in incidents.into_iter().take(surplus) {
            if let Err(error) = std::fs::remove_dir_all(&old) {
                tracing::warn!(
                    "{}: the old incident is not deleted: {error}",
                    old.display()
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::pool_hash;
    use super::super::{ReplayOptions, replay};
    use super::*;
    use crate::control::PoolCommand;
    use crate::simulation::Simulation;
    use crate::site::Editor;
    use crate::world::{Observation, Snapshot};

    /// A run of 200 ticks with a pool that is saved every 60 ticks: the incident begins with the pool of tick 120.
    #[test]
    fn an_incident_that_begins_with_a_saved_pool_is_repeated() {
        let folder = tempfile::tempdir().unwrap();
        let mut editor = Editor::open(None, None).unwrap();
        let site = Arc::clone(editor.site());
        let params = &site.file.simulation;
        let start = SessionStart::new(None, params, &editor);
        let (log, ticks, mut writer, _) = create_incidents(folder.path(), start).unwrap();
        let mut simulation = Simulation::new(&site.description(), params).unwrap();
        ticks.add(SessionEntry::Start {
            revision: 0,
            pace: 1.0,
        });
        let mut snapshot = Snapshot::default();
        let pace = r#"{"command": "director", "event": {"event": "pace", "factor": 20.0}}"#;
        let command: PoolCommand = serde_json::from_str(pace).unwrap();
        for tick in 1..=200_u64 {
            // One command is older than the saved pool, one is younger.
            if tick == 31 || tick == 150 {
                let revision = 1 + tick / 100;
                let applied = editor.apply(&command, &|_| None).unwrap();
                (applied.changes.into_iter()).for_each(|change| simulation.apply(change));
                log.add(SessionEntry::Command {
                    revision,
                    command: Box::new(command.clone()),
                    species: None,
                });
                ticks.add(SessionEntry::Applied { tick, revision });
            }
            simulation.run_tick(&Observation::default());
            if tick.is_multiple_of(30) {
                simulation.snapshot(&mut snapshot);
                let hash = pool_hash(&snapshot);
                ticks.add(SessionEntry::Hash { tick, hash });
            }
            if tick.is_multiple_of(60) {
                ticks.add(SessionEntry::State {
                    tick,
                    revision: u64::from(tick > 31) + u64::from(tick > 150),
                    state: simulation.save().unwrap(),
                });
            }
            while let Some(entry) = writer.queue.waiting() {
                writer.keep(entry);
            }
        }
        let options = ReplayOptions {
            session: writer.write("camera.black").unwrap().unwrap(),
            out: None,
            every: 1,
            why: false,
        };
        let summary = replay(&options, &AtomicBool::new(false)).unwrap();
        // The hashes of the ticks 150 and 180.
        assert_eq!(
            (summary.hashes, summary.ticks, summary.commands),
            (2, 60, 2)
        );
    }

    #[test]
    fn only_the_newest_incidents_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let editor = Editor::open(None, None).unwrap();
        let start = SessionStart::new(None, &editor.site().file.simulation, &editor);
        let (_log, _ticks, mut writer, _) = create_incidents(folder.path(), start).unwrap();
        // Nothing is kept yet.
        assert!(writer.write("early").unwrap().is_none());
        for number in 0..INCIDENTS_MAX + 5 {
            let old = folder.path().join(format!("2020-01-{number:02}"));
            std::fs::create_dir(&old).unwrap();
            std::fs::write(old.join(START_FILE), "").unwrap();
            std::fs::write(old.join(LOG_FILE), "").unwrap();
        }
        std::fs::create_dir(folder.path().join("a folder of somebody")).unwrap();
        writer.keep(SessionEntry::Start {
            revision: 0,
            pace: 1.0,
        });
        let written = writer.write("../../evil name").unwrap().unwrap();
        assert!(written.starts_with(folder.path()), "{}", written.display());
        assert!(written.join(LOG_FILE).is_file());
        let count = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(count, INCIDENTS_MAX + 1);
    }
}
