//! Where commands arrive: from a log, a page, show control, the disk. They are validated here, beside the tick; what the
//! pool has to change is handed on, what was done is logged, what was refused is kept for the status.
//!
//! In: commands, with the tick they came in. Out: changes for [`crate::simulation`], a [`Status`], a log that can be
//! replayed. Must not: hold the pool, block it, or decide what is valid.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use anyhow::{Context, bail};

use super::lines::LinesOut;
use crate::config::Problems;
use crate::control::{Command, CommandLine, Reason, Refusal, Status};
use crate::simulation::Simulation;
use crate::site::{Applied, Editor};

/// Commands that may wait. Who tells more at once is told no.
const WAITING_MAX: usize = 64;

/// Longest line of a log that is read: a whole site may be in it.
const LINE_BYTES_MAX: u64 = 64 << 20;

/// Reasons of one refusal that a status carries.
const REASONS_MAX: usize = 50;

/// Validates commands, and keeps the books of them.
pub struct Desk {
    editor: Editor,
    log: Option<LinesOut>,
    refused: Option<Refusal>,
}

impl Desk {
    /// A desk over the documents of a site.
    pub fn new(editor: Editor) -> Self {
        Self {
            editor,
            log: None,
            refused: None,
        }
    }

    /// Logs what is done from now on, a JSON object a line.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn log_to(&mut self, path: &Path) -> anyhow::Result<()> {
        self.log = Some(LinesOut::create(path)?);
        Ok(())
    }

    /// The documents.
    pub fn editor(&self) -> &Editor {
        &self.editor
    }

    /// Does a command or refuses it: `tick` is how many ticks the pool has done, `species_of` who lives in it. The
    /// changes are for [`Simulation::apply`], before the next tick.
    ///
    /// # Errors
    /// All reasons of a refusal.
    pub fn tell(
        &mut self,
        command: &Command,
        tick: u64,
        species_of: &dyn Fn(u32) -> Option<String>,
    ) -> Result<Applied, Problems> {
        match self.editor.apply(command, species_of) {
            Ok(applied) => {
                self.refused = None;
                if let (Some(log), Some(command)) = (&mut self.log, &applied.command) {
                    let line = CommandLine {
                        tick,
                        command: command.clone(),
                    };
                    // A full disk must not stop the show; what is lost is told once.
                    if let Err(error) = log.write(&line) {
                        tracing::error!("the log of commands ends here: {error:#}");
                        self.log = None;
                    }
                }
                Ok(applied)
            }
            Err(problems) => {
                tracing::warn!(tick, "a command was refused: {problems}");
                self.refused = Some(refusal(tick, &problems));
                Err(problems)
            }
        }
    }

    /// [`Self::tell`] for whoever has the pool at hand: the changes happen at once.
    ///
    /// # Errors
    /// All reasons of a refusal.
    pub fn obey(&mut self, command: &Command, simulation: &mut Simulation) -> Result<(), Problems> {
        let applied = self.tell(command, simulation.tick(), &|id| species_of(simulation, id))?;
        for change in applied.changes {
            simulation.apply(change);
        }
        Ok(())
    }

    /// How everything is.
    pub fn status(&self, simulation: &Simulation) -> Status {
        let (undo_depth, redo_depth) = self.editor.depths();
        let world = simulation.world();
        let mut status = Status {
            tick: simulation.tick(),
            scene: self.editor.site().scene_name.clone(),
            undo_depth,
            redo_depth,
            unsaved: self.editor.unsaved(),
            restart_needed: self.editor.restart_needed(),
            refused: self.refused.clone(),
            ..Status::default()
        };
        for species in &world.species {
            status.counts.insert(species.name.clone(), 0);
        }
        for kind in &world.agents.species {
            if let Some(species) = world.species.get(usize::from(*kind)) {
                *status.counts.entry(species.name.clone()).or_default() += 1;
            }
        }
        if simulation.quarantine_count() > 0 {
            status.faults.push(format!(
                "{} times an agent's state was not finite and was put back",
                simulation.quarantine_count()
            ));
        }
        status
    }

    /// Writes what is still buffered of the log.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn close(self) -> anyhow::Result<()> {
        self.log.map_or(Ok(()), LinesOut::finish)
    }
}

/// The species of a living individual.
pub fn species_of(simulation: &Simulation, id: u32) -> Option<String> {
    let world = simulation.world();
    let index = world.agents.ids.binary_search(&id).ok()?;
    let kind = usize::from(*world.agents.species.get(index)?);
    Some(world.species.get(kind)?.name.clone())
}

fn refusal(tick: u64, problems: &Problems) -> Refusal {
    let reason = |p: &crate::config::Problem| Reason {
        file: p.file.clone(),
        line: p.line,
        path: p.path.clone(),
        message: p.message.clone(),
    };
    Refusal {
        tick,
        problems: problems.0.iter().take(REASONS_MAX).map(reason).collect(),
    }
}

/// A way for commands to a desk on another thread.
#[derive(Clone, Debug)]
pub struct CommandSender(SyncSender<Command>);

/// Why a command did not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undelivered {
    /// Too many are waiting.
    #[error("{WAITING_MAX} commands are waiting already; try again in a moment")]
    Busy,
    /// Nobody takes commands any more.
    #[error("the pool is ending and takes no more commands")]
    Gone,
}

impl CommandSender {
    /// Hands a command over; never waits.
    ///
    /// # Errors
    /// When too many are waiting, or nobody is there.
    pub fn send(&self, command: Command) -> Result<(), Undelivered> {
        self.0.try_send(command).map_err(|error| match error {
            TrySendError::Full(_) => Undelivered::Busy,
            TrySendError::Disconnected(_) => Undelivered::Gone,
        })
    }
}

/// A bounded way for commands.
pub fn command_queue() -> (CommandSender, Receiver<Command>) {
    let (sender, receiver) = sync_channel(WAITING_MAX);
    (CommandSender(sender), receiver)
}

/// A log of commands that is being read.
pub struct CommandLog {
    path: String,
    reader: BufReader<Box<dyn Read>>,
    line: u64,
    next: Option<CommandLine>,
}

impl CommandLog {
    /// Opens a log and reads its first line.
    ///
    /// # Errors
    /// When the file cannot be read or its first line is no command.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display().to_string();
        let file =
            File::open(path).with_context(|| format!("{shown}: cannot be read as commands"))?;
        let mut log = Self {
            path: shown,
            reader: BufReader::new(Box::new(file)),
            line: 0,
            next: None,
        };
        log.read()?;
        Ok(log)
    }

    /// The next command that was done when the pool had done this many ticks, or before.
    ///
    /// # Errors
    /// When the line after it is none, or goes back in time.
    pub fn due(&mut self, tick: u64) -> anyhow::Result<Option<CommandLine>> {
        if self.next.as_ref().is_none_or(|line| line.tick > tick) {
            return Ok(None);
        }
        let due = self.next.take();
        self.read()?;
        if let (Some(due), Some(next)) = (&due, &self.next)
            && next.tick < due.tick
        {
            bail!(
                "{}:{}: tick {} comes after tick {}; the lines must be in order",
                self.path,
                self.line,
                next.tick,
                due.tick
            );
        }
        Ok(due)
    }

    fn read(&mut self) -> anyhow::Result<()> {
        let mut text = Vec::new();
        loop {
            text.clear();
            self.line += 1;
            let mut limited = (&mut self.reader).take(LINE_BYTES_MAX);
            let count = limited
                .read_until(b'\n', &mut text)
                .with_context(|| format!("{}: cannot be read", self.path))?;
            if count as u64 == LINE_BYTES_MAX {
                bail!("{}:{}: the line is too long", self.path, self.line);
            }
            if count == 0 {
                self.next = None;
                return Ok(());
            }
            if !text.iter().all(u8::is_ascii_whitespace) {
                break;
            }
        }
        let line = serde_json::from_slice(&text)
            .with_context(|| format!("{}:{}: this is no command", self.path, self.line))?;
        self.next = Some(line);
        Ok(())
    }
}
