//! Commands for a running pool from a file or from standard input, one JSON object a line.
//!
//! In: lines. Out: commands for the desk, at the rate that it takes them. Must not: judge them; the desk does.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;

use super::desk::{CommandSender, Undelivered};
use super::tell;
use crate::control::Command;

/// Longest line that is read: a table of points or a document may be in it.
const LINE_BYTES_MAX: u64 = 4 << 20;
/// How long a desk that is busy is left alone.
const PAUSE: Duration = Duration::from_millis(20);

/// Passes the commands of a file on, `-` for standard input, until it is at its end or `stop` is set.
///
/// # Errors
/// When the thread cannot be started. A file that cannot be read, and lines that are no commands, are told.
pub fn listen(path: &Path, commands: CommandSender, stop: Arc<AtomicBool>) -> anyhow::Result<()> {
    let path = path.to_path_buf();
    let read = move || {
        let input: Box<dyn Read> = if path.as_os_str() == "-" {
            Box::new(std::io::stdin())
        } else {
            match File::open(&path) {
                Ok(file) => Box::new(file),
                Err(error) => {
                    tell(&format!(
                        "commands: {} cannot be read: {error}",
                        path.display()
                    ));
                    return;
                }
            }
        };
        pass_on(BufReader::new(input), &commands, &stop);
    };
    // Nobody waits for it at the end: reading may block for ever.
    std::thread::Builder::new()
        .name("commands".to_owned())
        .spawn(read)
        .map(drop)
        .context("the thread that reads commands cannot be started")
}

fn pass_on(mut lines: impl BufRead, commands: &CommandSender, stop: &AtomicBool) {
    let mut text = Vec::new();
    let mut number = 0_u64;
    while !stop.load(Ordering::Relaxed) {
        text.clear();
        number += 1;
        match (&mut lines)
            .take(LINE_BYTES_MAX)
            .read_until(b'\n', &mut text)
        {
            Ok(0) => return,
            Ok(count) if count as u64 == LINE_BYTES_MAX => {
                tell(&format!(
                    "commands: line {number} is too long; what follows is not read"
                ));
                return;
            }
            Ok(_) => {}
            Err(error) => {
                tell(&format!("commands: line {number} cannot be read: {error}"));
                return;
            }
        }
        if text.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match serde_json::from_slice::<Command>(&text) {
            Ok(command) => {
                while commands.send(command.clone()) == Err(Undelivered::Busy)
                    && !stop.load(Ordering::Relaxed)
                {
                    std::thread::sleep(PAUSE);
                }
            }
            Err(error) => tell(&format!("commands: line {number} is no command: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::desk::command_queue;

    #[test]
    fn lines_become_commands_and_others_are_left_out() {
        let (sender, received) = command_queue();
        let text = "{\"command\":\"undo\"}\n\nnonsense\n{\"command\":\"redo\"}";
        pass_on(text.as_bytes(), &sender, &AtomicBool::new(false));
        assert_eq!(
            received.try_iter().collect::<Vec<_>>(),
            [Command::Undo, Command::Redo]
        );
    }
}
