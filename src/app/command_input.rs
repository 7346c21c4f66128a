//! Reads commands for the running pool from a file or from standard input, as JSON lines, and sends them to the desk.
//!
//! In: lines. Out: commands, no faster than the desk accepts them. Must not: decide whether a command is valid; the desk
//! decides that.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use super::desk::{CommandSender, Undelivered};
use super::json_lines::{JsonLinesReader, is_standard_stream};
use super::live::Heartbeat;
use super::print_message;
use crate::control::Command;

/// Longest line, in bytes. A line may contain a document or a table of points.
const MAX_LINE_BYTES: u64 = 4 << 20;
/// Pause before a command is sent again when the queue of the desk is full.
const FULL_QUEUE_PAUSE: Duration = Duration::from_millis(20);
/// Time between two checks whether the file has grown.
const GROWTH_CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// The thread that reads commands. If it panics and is restarted, it continues with the next line.
pub(super) struct CommandInput {
    path: PathBuf,
    lines: Option<JsonLinesReader>,
    commands: CommandSender,
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

    /// Sends all commands of the input to the desk. Standard input is read to its end. A file is read again when it grows,
    /// until the program ends. Lines that are not commands are reported and skipped; an unreadable file ends the thread.
    pub(super) fn run(&mut self, heartbeat: &Heartbeat) {
        let follows = !is_standard_stream(&self.path);
        let result = match self.lines.take() {
            Some(lines) => Ok(lines),
            None => JsonLinesReader::open(&self.path, MAX_LINE_BYTES),
        };
        let lines = match result {
            Ok(lines) => self.lines.insert(lines),
            Err(error) => return print_message(&format!("commands: {error:#}")),
        };
        let mut accepts_partial = !follows;
        while heartbeat.keep_running() {
            let command = match lines.next_text(accepts_partial) {
                Ok(Some(text)) => parse(text),
                Ok(None) if follows => {
                    // A last line without a line feed is accepted if it has not changed at the next check.
                    accepts_partial = true;
                    heartbeat.sleep(GROWTH_CHECK_INTERVAL);
                    continue;
                }
                Ok(None) => return,
                Err(error) => {
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
    use crate::app::desk::command_queue;
    use crate::app::live::{HangPolicy, StopFlag, Supervisor};
    use std::io::Write as _;

    fn start(path: &Path) -> (Supervisor, std::sync::mpsc::Receiver<Command>) {
        let (sender, received) = command_queue();
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
        let undo = |text: &str| parse(text.as_bytes()).ok() == Some(Command::Undo);
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
    fn lines_that_are_appended_to_the_file_are_read_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("commands.jsonl");
        std::fs::write(&path, "{\"command\":\"undo\"}\n\nnonsense\n").unwrap();
        let (supervisor, received) = start(&path);
        let patience = Duration::from_secs(20);
        assert_eq!(received.recv_timeout(patience), Ok(Command::Undo));
        let mut file = std::fs::File::options().append(true).open(&path).unwrap();
        file.write_all(b"{\"command\":\"redo\"}").unwrap();
        assert_eq!(received.recv_timeout(patience), Ok(Command::Redo));
        supervisor.shut_down().unwrap();
    }
}
