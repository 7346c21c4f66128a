//! Replays the session of a run without a camera: `shoal simulate --session`.
//!
//! In: the folder that `shoal run --log-session` wrote. Out: the same ticks, compared with the hashes of the run. Must not: write
//! to the files of the site.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, anyhow, bail};

use super::entry::{LOG_FILE, START_FILE, SessionEntry, SessionStart, VERSION, pool_hash};
use crate::control::PoolCommand;
use crate::records::lines::{JsonLinesReader, JsonLinesWriter, add_forces, agents_line};
use crate::runtime::print_message;
use crate::simulation::{Change, Simulation, SimulationParams};
use crate::site::Editor;
use crate::world::{Observation, Snapshot};

/// Longest line, in bytes. A line may contain all documents of a site.
const MAX_LINE_BYTES: u64 = 64 << 20;
/// Largest size of the file with the start, in bytes.
const MAX_START_BYTES: u64 = 256 << 20;

/// Options of [`replay`].
#[derive(Clone, Debug)]
pub struct ReplayOptions {
    /// Folder of the session.
    pub session: PathBuf,
    /// Output file for the agents; `-` is standard output; `None` only compares the hashes.
    pub out: Option<PathBuf>,
    /// Number of ticks from one line to the next; 0 is the same as 1.
    pub every: u64,
    /// Whether the lines contain the steering forces.
    pub why: bool,
}

/// What a replay did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplaySummary {
    /// Number of ticks.
    pub ticks: u64,
    /// Number of commands that were applied.
    pub commands: u64,
    /// Number of compared hashes. All were equal.
    pub hashes: u64,
    /// Hash after the last tick.
    pub last_hash: u64,
}

/// Replays a session. Prints a message if the log ends without its last entry, as after a power cut.
///
/// # Errors
/// When the session cannot be read, a tick differs from the run, or a file cannot be written.
pub fn replay(options: &ReplayOptions, stop: &AtomicBool) -> anyhow::Result<ReplaySummary> {
    let start = read_start(&options.session)?;
    let mut editor = Editor::restore(start.site.as_deref(), &start.documents)
        .map_err(|problems| anyhow!("the documents of the session are not valid:\n{problems}"))?;
    editor.replay_only();
    let mut player = Player {
        editor,
        params: start.simulation,
        simulation: None,
        observation: Observation::default(),
        waiting: BTreeMap::new(),
        revision: 0,
        snapshot: Snapshot::default(),
        out: options
            .out
            .as_deref()
            .map(JsonLinesWriter::create)
            .transpose()?,
        every: options.every.max(1),
        why: options.why,
        summary: ReplaySummary::default(),
    };
    let mut lines = JsonLinesReader::open(&options.session.join(LOG_FILE), MAX_LINE_BYTES)?;
    let mut is_complete = false;
    while let Some(entry) = lines.next_complete::<SessionEntry>("entry of a session")? {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        is_complete |= matches!(entry, SessionEntry::End { .. });
        let place = || format!("{}: the replay ends here", lines.place());
        player.play(entry, stop).with_context(place)?;
    }
    if !is_complete && !stop.load(Ordering::Relaxed) {
        print_message(
            "the log ends without its last entry; the replay ends with the last known tick",
        );
    }
    player.out.map_or(Ok(()), JsonLinesWriter::finish)?;
    Ok(player.summary)
}

fn read_start(folder: &Path) -> anyhow::Result<SessionStart> {
    let path = folder.join(START_FILE);
    let place = || path.display().to_string();
    let bytes = std::fs::metadata(&path).with_context(place)?.len();
    if bytes > MAX_START_BYTES {
        bail!(
            "{}: this file is too large for the start of a session",
            place()
        );
    }
    let text = std::fs::read_to_string(&path).with_context(place)?;
    let start: SessionStart = serde_json::from_str(&text).with_context(place)?;
    if start.version != VERSION {
        bail!(
            "{}: version {} cannot be read; this Shoal reads version {VERSION}, Shoal {} wrote the session",
            place(),
            start.version,
            start.shoal
        );
    }
    Ok(start)
}

/// A command that was read and not applied yet.
struct WaitingCommand {
    command: PoolCommand,
    species: Option<String>,
}

/// The replayed pool.
struct Player {
    editor: Editor,
    params: SimulationParams,
    simulation: Option<Simulation>,
    observation: Observation,
    /// Commands by their numbers.
    waiting: BTreeMap<u64, WaitingCommand>,
    /// Number of the newest command that the documents contain.
    revision: u64,
    snapshot: Snapshot,
    out: Option<JsonLinesWriter>,
    every: u64,
    why: bool,
    summary: ReplaySummary,
}

impl Player {
    fn play(&mut self, entry: SessionEntry, stop: &AtomicBool) -> anyhow::Result<()> {
        match entry {
            SessionEntry::Start { revision, pace } => {
                self.simulation = None;
                self.apply_up_to(revision)?;
                let scene = self.editor.site().description();
                let mut simulation = Simulation::new(&scene, &self.params)?;
                simulation.apply(Change::Pace(pace));
                simulation.record_forces(self.why);
                self.simulation = Some(simulation);
                self.observation = Observation::default();
            }
            SessionEntry::Command {
                revision,
                command,
                species,
            } => {
                // The log of an incident (the minutes before a fault) repeats the commands before each saved pool: those that the documents
                // already contain are skipped.
                if revision > self.revision {
                    let command = *command;
                    self.waiting
                        .insert(revision, WaitingCommand { command, species });
                }
            }
            SessionEntry::Applied { tick, revision } => {
                self.run_to(tick.saturating_sub(1), stop)?;
                self.apply_up_to(revision)?;
            }
            SessionEntry::Observed { tick, observation } => {
                self.run_to(tick.saturating_sub(1), stop)?;
                self.observation = observation;
            }
            SessionEntry::State {
                revision, state, ..
            } if self.simulation.is_none() => {
                self.apply_up_to(revision)?;
                let scene = self.editor.site().description();
                let mut simulation = Simulation::load(&scene, &self.params, &state)?;
                simulation.record_forces(self.why);
                self.simulation = Some(simulation);
                self.observation = Observation::default();
            }
            // The pool of the replay is the same; the next hash proves it.
            SessionEntry::State { tick, .. } => self.run_to(tick, stop)?,
            SessionEntry::Hash { tick, hash } => {
                self.run_to(tick, stop)?;
                if stop.load(Ordering::Relaxed) {
                    return Ok(());
                }
                self.take_snapshot();
                let own = pool_hash(&self.snapshot);
                if own != hash {
                    bail!(
                        "tick {tick}: the replay differs from the run (hash {own:016x} instead of {hash:016x}); replay it with \
                         the version of Shoal, the models and the field files of the run"
                    );
                }
                self.summary.hashes += 1;
                self.summary.last_hash = hash;
            }
            SessionEntry::End { tick, .. } => self.run_to(tick, stop)?,
        }
        Ok(())
    }

    /// Applies the commands up to a number to the documents and, if it runs, to the pool.
    fn apply_up_to(&mut self, revision: u64) -> anyhow::Result<()> {
        let later = self.waiting.split_off(&revision.saturating_add(1));
        let due = std::mem::replace(&mut self.waiting, later);
        self.revision = self.revision.max(revision);
        for (revision, WaitingCommand { command, species }) in due {
            let applied = self
                .editor
                .apply(&command, &|_| species.clone())
                .map_err(|problems| anyhow!("command {revision} is rejected now:\n{problems}"))?;
            self.summary.commands += 1;
            if let Some(simulation) = &mut self.simulation {
                for change in applied.changes {
                    simulation.apply(change);
                }
            }
        }
        Ok(())
    }

    fn run_to(&mut self, tick: u64, stop: &AtomicBool) -> anyhow::Result<()> {
        loop {
            let Some(simulation) = &mut self.simulation else {
                bail!("this entry comes before the start of the pool");
            };
            if simulation.tick() >= tick || stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            simulation.run_tick(&self.observation);
            self.summary.ticks += 1;
            if self.out.is_some() && simulation.tick().is_multiple_of(self.every) {
                self.write_line()?;
            }
        }
    }

    fn take_snapshot(&mut self) {
        if let Some(simulation) = &self.simulation {
            simulation.snapshot(&mut self.snapshot);
        }
    }

    fn write_line(&mut self) -> anyhow::Result<()> {
        self.take_snapshot();
        let (Some(simulation), Some(out)) = (&self.simulation, &mut self.out) else {
            return Ok(());
        };
        let mut line = agents_line(simulation, &self.snapshot);
        if self.why {
            add_forces(simulation, &mut line);
        }
        out.write(&line)
    }
}
