//! Reads commands for the running pool from a file or from standard input, as JSON lines, and sends them to the desk.
//!
//! In: lines. Out: commands, no faster than the desk accepts them. Must not: decide whether a command is valid; the desk
//! decides that.

use std::io::{Read, Stdin, stdin};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;

use serde::Deserialize;

use super::followed_file::FollowedFile;
use super::json_lines::{JsonLinesReader, LineError, is_standard_stream};
use crate::control::{Command, CommandSender, Undelivered};
use crate::runtime::{Heartbeat, print_message};

/// Longest line, in bytes. A line may contain a document or a table of points.
const MAX_LINE_BYTES: u64 = 4 << 20;
/// Pause before a command is sent again when the queue of the desk is full.
const FULL_QUEUE_PAUSE: Duration = Duration::from_millis(20);
/// Time between two checks whether the file has grown.
const GROWTH_CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// The thread that reads commands. If it panics and is restarted, it continues with the next line.
pub(super) struct CommandInput {
    path: PathBuf,
    lines: Option<JsonLinesReader<Input>>,
    commands: CommandSender,
}

/// Where commands come from.
enum Input {
    Standard(Stdin),
    File(FollowedFile),
}

impl Input {
    /// Whether this is a file that was replaced since it was opened.
    fn is_replaced(&self) -> bool {
        matches!(self, Self::File(file) if file.is_replaced())
    }
}

impl Read for Input {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Standard(input) => input.read(to),
            Self::File(file) => file.read(to),
        }
    }
}

/// A line of a command log.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LoggedCommand {
    /// Tick in the log. It is ignored, because in a running pool a command is applied as soon as it is read.
    #[serde(default, rename = "tick")]
    _tick: Option<u64>,
    command: Command,
}

impl CommandInput {
    /// Creates a thread state that reads from `path`, or from standard input if `path` is `-`.
    pub(super) fn new(path: &Path, commands: CommandSender) -> Self {
        Self {
            path: path.to_path_buf(),
            lines: None,
            commands,
        }
    }

    /// Opens the input. Waits for a file that does not exist yet. Returns `None` when the program ends, or standard input cannot
    /// be read.
    fn open(&self, heartbeat: &Heartbeat, waits: bool) -> Option<JsonLinesReader<Input>> {
        let mut has_reported = false;
        loop {
            match self.try_open() {
                Ok(lines) => return Some(lines),
                Err(error) => {
                    if !std::mem::replace(&mut has_reported, true) {
                        print_message(&format!("commands: {error:#}; it is tried again"));
                    }
                }
            }
            if !waits || !heartbeat.sleep(GROWTH_CHECK_INTERVAL) {
                return None;
            }
        }
    }

    fn try_open(&self) -> anyhow::Result<JsonLinesReader<Input>> {
        if is_standard_stream(&self.path) {
            let input = Input::Standard(stdin());
            return Ok(JsonLinesReader::new(
                "standard input",
                input,
                MAX_LINE_BYTES,
            ));
        }
        let name = self.path.display().to_string();
        let file =
            FollowedFile::open(&self.path).with_context(|| format!("{name}: cannot be read"))?;
        Ok(JsonLinesReader::new(
            &name,
            Input::File(file),
            MAX_LINE_BYTES,
        ))
    }

    /// Sends all commands of the input to the desk. Standard input is read to its end. A file is read on when it grows, and from
    /// its start when it is replaced, until the program ends. Lines that are not commands, or are too long, are reported and
    /// skipped.
    pub(super) fn run(&mut self, heartbeat: &Heartbeat) {
        let follows = !is_standard_stream(&self.path);
        if self.lines.is_none() {
            self.lines = self.open(heartbeat, follows);
        }
        let mut accepts_partial = !follows;
        while heartbeat.keep_running() {
            let Some(lines) = &mut self.lines else { return };
            let next = lines.next_text(accepts_partial);
            let command = match next.map(|text| text.map(parse)) {
                Ok(Some(command)) => command,
                Ok(None) if lines.input().is_replaced() => {
                    self.lines = self.open(heartbeat, follows);
                    accepts_partial = false;
                    continue;
                }
                Ok(None) if follows => {
                    // A last line without a line feed is accepted if it has not changed at the next check.
                    accepts_partial = true;
                    heartbeat.sleep(GROWTH_CHECK_INTERVAL);
                    continue;
                }
                Ok(None) => return,
                Err(error @ LineError::TooLong { .. }) => {
                    print_message(&format!("commands: {error}; this line is skipped"));
                    continue;
                }
                Err(error) => {
                    let error = anyhow::Error::from(error);
                    print_message(&format!("commands: {error:#}; no more commands are read"));
                    return;
                }
            };
            accepts_partial = !follows;
            match command {
                Ok(command) => {
                    while self.commands.send(command.clone()) == Err(Undelivered::Busy)
                        && heartbeat.sleep(FULL_QUEUE_PAUSE)
                    {}
                }
                // The file was replaced before this line was complete.
                Err(_) if lines.input().is_replaced() => {}
                Err(error) => {
                    let place = lines.place();
                    print_message(&format!(
                        "commands: {place}: this line is no command: {error}"
                    ));
                }
            }
        }
    }
}

/// Parses a command, or a line of a command log. A line of a command log contains the command as an object.
fn parse(text: &[u8]) -> Result<Command, serde_json::Error> {
    let value: serde_json::Value = serde_json::from_slice(text)?;
    if value
        .get("command")
        .is_some_and(serde_json::Value::is_object)
    {
        return serde_json::from_value(value).map(|line: LoggedCommand| line.command);
    }
    serde_json::from_value(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{DeskEvent, EditorStep, Source, SourceKind, desk_queue};
    use crate::runtime::{HangPolicy, StopFlag, Supervisor};
    use std::io::Write as _;
    use std::sync::mpsc::Receiver;

    fn step(step: EditorStep) -> Command {
        Command::Pool(step.into())
    }

    fn next(received: &Receiver<DeskEvent>) -> Command {
        match received.recv_timeout(Duration::from_secs(20)).unwrap() {
            DeskEvent::Request(incoming) => incoming.request.command.clone(),
            DeskEvent::Report(report) => panic!("{report:?}"),
        }
    }

    fn start(path: &Path) -> (Supervisor, Receiver<DeskEvent>) {
        let (client, received, _) = desk_queue();
        let sender = client.sender(Source::of(SourceKind::Commands));
        let mut input = CommandInput::new(path, sender);
        let mut supervisor = Supervisor::new(StopFlag::default());
        supervisor
            .start("commands", HangPolicy::Abandon, move |heartbeat| {
                input.run(heartbeat);
                Ok(())
            })
            .unwrap();
        (supervisor, received)
    }

    #[test]
    fn commands_are_read_with_and_without_tick_and_other_lines_are_skipped() {
        let undo = |text: &str| parse(text.as_bytes()).ok() == Some(step(EditorStep::Undo));
        assert!(undo(r#"{"command":"undo"}"#));
        assert!(undo(r#"{"command":{"command":"undo"}}"#));
        assert!(undo(r#"{"tick":120,"command":{"command":"undo"}}"#));
        for text in [
            "nonsense",
            r#"{"command":"explode"}"#,
            r#"{"tick":-1,"command":{"command":"undo"}}"#,
            r#"{"tock":1,"command":{"command":"undo"}}"#,
        ] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn commands_after_a_line_that_is_too_long_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("commands.jsonl");
        let long = "x".repeat(MAX_LINE_BYTES as usize + 70_000);
        std::fs::write(&path, format!("{long}\n{{\"command\":\"undo\"}}\n{long}")).unwrap();
        let (supervisor, received) = start(&path);
        let next = || next(&received);
        assert_eq!(next(), step(EditorStep::Undo));
        let mut file = std::fs::File::options().append(true).open(&path).unwrap();
        file.write_all(b"end\n{\"command\":\"redo\"}\n").unwrap();
        assert_eq!(next(), step(EditorStep::Redo));
        supervisor.shut_down().unwrap();
    }

    #[test]
    fn lines_that_are_appended_to_the_file_are_read_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("commands.jsonl");
        std::fs::write(&path, "{\"command\":\"undo\"}\n\nnonsense\n").unwrap();
        let (supervisor, received) = start(&path);
        let next = || next(&received);
        assert_eq!(next(), step(EditorStep::Undo));
        let mut file = std::fs::File::options().append(true).open(&path).unwrap();
        file.write_all(b"{\"command\":\"redo\"}").unwrap();
        assert_eq!(next(), step(EditorStep::Redo));
        supervisor.shut_down().unwrap();
    }

    #[test]
    fn a_file_that_appears_later_or_is_replaced_is_read_from_its_start() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("commands.jsonl");
        let (supervisor, received) = start(&path);
        let next = || next(&received);
        std::fs::write(&path, "{\"command\":\"undo\"}\n").unwrap();
        assert_eq!(next(), step(EditorStep::Undo));
        std::fs::write(&path, "{\"command\":\"redo\"}\n").unwrap();
        assert_eq!(next(), step(EditorStep::Redo));
        let other = folder.path().join("other");
        std::fs::write(&other, "{\"command\":\"save\"}\n{\"command\":\"undo\"}\n").unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert_eq!(next(), step(EditorStep::Save));
        assert_eq!(next(), step(EditorStep::Undo));
        supervisor.shut_down().unwrap();
    }
}
