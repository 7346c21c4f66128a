//! Reads a log of commands in step with the simulation. Each line contains the tick in which its command was applied.

use std::path::Path;

use anyhow::bail;

use crate::control::CommandLine;
use crate::records::JsonLinesReader;
use crate::runtime::StopFlag;

/// Longest line, in bytes. A line may contain all documents of a site.
const MAX_LINE_BYTES: u64 = 64 << 20;

/// A log of commands that is being read.
pub(super) struct CommandReader {
    lines: JsonLinesReader,
    next: Option<CommandLine>,
}

impl CommandReader {
    /// Opens a log and reads its first line. When `stop` is set, a log that another program still writes ends.
    ///
    /// # Errors
    /// When the file cannot be read, or its first line is no command.
    pub(super) fn open(path: &Path, stop: &StopFlag) -> anyhow::Result<Self> {
        let mut reader = Self {
            lines: JsonLinesReader::open_until(path, MAX_LINE_BYTES, stop)?,
            next: None,
        };
        reader.next = reader.read_line()?;
        Ok(reader)
    }

    /// Removes and returns the next command if it is due when the simulation has completed `tick` ticks; otherwise `None`.
    ///
    /// # Errors
    /// When the following line is no command, or its tick is earlier.
    pub(super) fn take_due(&mut self, tick: u64) -> anyhow::Result<Option<CommandLine>> {
        let Some(due) = self.next.take_if(|line| line.tick <= tick) else {
            return Ok(None);
        };
        self.next = self.read_line()?;
        if let Some(next) = &self.next
            && next.tick < due.tick
        {
            bail!(
                "{}: tick {} comes after tick {}; sort the lines by tick",
                self.lines.place(),
                next.tick,
                due.tick
            );
        }
        Ok(Some(due))
    }

    fn read_line(&mut self) -> anyhow::Result<Option<CommandLine>> {
        self.lines.next("command with its tick")
    }
}
