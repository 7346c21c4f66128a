//! `shoal ctl`.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};

use crate::app::ctl::{CtlAnswer, CtlClient, CtlRequest, find_instance, status_text};
use crate::control::{
    Command, HandEnd, Outcome, ScheduleStep, ShowCommand, ShowState, UpkeepCommand,
};
use crate::records::{JsonLinesReader, is_standard_stream};
use crate::runtime::{print_message, text_output};

/// Exit code of `ctl status` if a fault is active or a stage does not work.
const EXIT_UNHEALTHY: u8 = 3;
/// Longest line of a file of commands, in bytes.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// `shoal ctl`.
#[derive(Debug, Args)]
pub(in crate::app) struct CtlArguments {
    /// Control socket of the instance, as `shoal run` prints it; default: the only instance that is running
    #[arg(long, value_name = "PATH", global = true)]
    socket: Option<PathBuf>,
    #[command(subcommand)]
    action: CtlAction,
}

#[derive(Debug, Subcommand)]
enum CtlAction {
    /// Print the status; exit code 0: all is well, 3: a fault is active, 1: no instance answers
    Status {
        /// Print the status as one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Send commands, and print a reply for each; exit code 1 if a command was rejected
    Send {
        /// A command such as `undo` or `switch_scene name=reef`, the same as {"command":"switch_scene","name":"reef"}, a file of such
        /// lines, or - for standard input
        #[arg(value_name = "COMMAND|FILE|-", required = true)]
        commands: Vec<String>,
        /// Print the replies as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show another state for some time, or the plan again; `shoal schedule` prints the plan
    Show {
        /// The state
        #[arg(value_enum)]
        state: ShowName,
        /// When the plan applies again
        #[arg(long, value_enum, value_name = "WHEN", default_value_t = EndName::Change, conflicts_with = "minutes")]
        until: EndName,
        /// End the state after this time
        #[arg(long = "for", value_name = "MINUTES", value_parser = clap::value_parser!(u32).range(1..=10_080))]
        minutes: Option<u32>,
    },
    /// Write the kept last minutes into a folder (`shoal run --keep-incidents`)
    Keep,
    /// Send a test message on the way of the messages about faults (`alerts.command` of the site)
    TestAlert,
    /// Print events as JSON lines
    Events {
        /// Print the events after this number; default: all that are kept
        #[arg(long, value_name = "NUMBER", default_value_t = 0)]
        after: u64,
        /// Go on with later events until Ctrl-C
        #[arg(long)]
        follow: bool,
    },
}

/// States of the show, and the plan.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum ShowName {
    /// The pool as usual
    Open,
    /// The pool shows itself: the director's rules begin more often
    Attract,
    /// A black picture
    Dark,
    /// A black picture, a resting pool, and projectors off
    Closed,
    /// What the schedule plans
    Plan,
}

/// When a state that was set by hand ends.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum EndName {
    /// At the next planned change
    Change,
    /// At the first opening after midnight, or at 06:00 if none is planned
    Tomorrow,
    /// When somebody ends it
    Never,
}

impl EndName {
    fn end(self, minutes: Option<u32>) -> HandEnd {
        match (minutes, self) {
            (Some(minutes), _) => HandEnd::Secs(minutes.saturating_mul(60)),
            (None, Self::Change) => HandEnd::NextChange,
            (None, Self::Tomorrow) => HandEnd::Tomorrow,
            (None, Self::Never) => HandEnd::Never,
        }
    }
}

impl ShowName {
    fn step(self, until: HandEnd) -> ScheduleStep {
        let state = match self {
            Self::Open => ShowState::Open,
            Self::Attract => ShowState::Attract,
            Self::Dark => ShowState::Dark,
            Self::Closed => ShowState::Closed,
            Self::Plan => return ScheduleStep::Resume,
        };
        ScheduleStep::ByHand { state, until }
    }
}

pub(in crate::app) fn ctl(arguments: CtlArguments) -> anyhow::Result<ExitCode> {
    let path = match arguments.socket {
        Some(path) => path,
        None => find_instance()?,
    };
    let mut client = CtlClient::connect(&path)?;
    let sends_commands = !matches!(
        arguments.action,
        CtlAction::Status { .. } | CtlAction::Events { .. }
    );
    if sends_commands {
        client.expect_replies()?;
    }
    match arguments.action {
        CtlAction::Status { json } => status(&mut client, json),
        CtlAction::Send { commands, json } => send(&mut client, &commands, json),
        CtlAction::Show {
            state,
            until,
            minutes,
        } => {
            let step = state.step(until.end(minutes));
            let command = Command::Show(ShowCommand::Schedule { step });
            send_alone(&mut client, command, "show")
        }
        CtlAction::Keep => {
            let command = Command::Upkeep(UpkeepCommand::KeepIncident);
            send_alone(&mut client, command, "keep")
        }
        CtlAction::TestAlert => {
            let command = Command::Show(ShowCommand::TestAlert);
            send_alone(&mut client, command, "test-alert")
        }
        CtlAction::Events { after, follow } => events(&mut client, after, follow),
    }
}

fn status(client: &mut CtlClient, json: bool) -> anyhow::Result<ExitCode> {
    let status = client.status()?;
    if json {
        print_line(&serde_json::to_string(&status)?)?;
    } else {
        print_line(status_text(&status).trim_end())?;
    }
    Ok(match status.is_healthy {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(EXIT_UNHEALTHY),
    })
}

fn send(client: &mut CtlClient, words: &[String], json: bool) -> anyhow::Result<ExitCode> {
    let mut all_applied = true;
    let mut send = |id: u64, command: Command, place: &str| {
        all_applied &= send_one(client, (id, command), place, json)?;
        anyhow::Ok(())
    };
    let commands = words.first().map_or("", String::as_str);
    let is_file = is_standard_stream(Path::new(commands)) || Path::new(commands).exists();
    if words.len() > 1 || (!is_file && commands.chars().all(|c| c.is_alphabetic() || c == '_')) {
        send(1, command_of_words(words)?, "the command")?;
    } else if commands.trim_start().starts_with('{') {
        let command = serde_json::from_str(commands).context("this is no command")?;
        send(1, command, "the command")?;
    } else {
        let path = Path::new(commands);
        if !is_file {
            bail!("{commands}: this is neither a command (a JSON object) nor a file of commands");
        }
        let mut lines = JsonLinesReader::open(path, MAX_LINE_BYTES)?;
        let mut id = 0;
        while let Some(command) = lines.next("command")? {
            id += 1;
            send(id, command, &lines.place())?;
        }
    }
    Ok(match all_applied {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Returns a command that is given as words: its name, and a `KEY=VALUE` for each further key.
fn command_of_words(words: &[String]) -> anyhow::Result<Command> {
    let mut object = serde_json::Map::new();
    let pairs = words.iter().skip(1).map(|word| {
        let pair = word.split_once('=');
        pair.with_context(|| format!("{word}: write KEY=VALUE behind the name of the command"))
    });
    let name = words.first().map(|name| ("command", name.as_str()));
    for pair in name.into_iter().map(Ok).chain(pairs) {
        let (key, value) = pair?;
        let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
        object.insert(key.to_owned(), value);
    }
    serde_json::from_value(object.into()).context("this is no command")
}

/// Sends the only command of this call and prints its reply.
fn send_alone(client: &mut CtlClient, command: Command, place: &str) -> anyhow::Result<ExitCode> {
    let is_applied = send_one(client, (1, command), place, false)?;
    Ok(ExitCode::from(u8::from(!is_applied)))
}

/// Sends a command and prints its reply. Returns whether it was applied.
fn send_one(
    client: &mut CtlClient,
    (id, command): (u64, Command),
    place: &str,
    json: bool,
) -> anyhow::Result<bool> {
    let name = std::env::var("USER").unwrap_or_default();
    // The answer to all others comes after their effect.
    let is_passed_on = match &command {
        Command::Pool(_) | Command::Show(ShowCommand::TestAlert) => false,
        Command::Vision(_) | Command::Show(_) | Command::Upkeep(_) => true,
    };
    client.send(&CtlRequest::Send { id, name, command })?;
    let reply = match client.next_answer()? {
        Some(CtlAnswer::Reply(reply)) => reply,
        Some(CtlAnswer::Error(message)) => bail!("{place}: {message}"),
        _ => bail!("{place}: the instance ended before it answered"),
    };
    if json {
        print_line(&serde_json::to_string(&reply)?)?;
    } else {
        match &reply.result {
            Outcome::Applied { notes, .. } => {
                let done = match is_passed_on {
                    true => "passed on; `shoal ctl status` shows the effect",
                    false => "applied",
                };
                print_line(&format!("{done}, revision {}", reply.revision))?;
                for note in notes {
                    print_message(&format!("{place}: {note}"));
                }
            }
            Outcome::Rejected { problems } => {
                for problem in problems {
                    print_message(&format!("{place}: rejected: {problem}"));
                }
            }
        }
    }
    Ok(reply.result.is_applied())
}

fn events(client: &mut CtlClient, after: u64, follow: bool) -> anyhow::Result<ExitCode> {
    client.send(&CtlRequest::Events { after, follow })?;
    if follow {
        client.wait_forever()?;
    }
    loop {
        match client.next_answer()? {
            Some(CtlAnswer::Event(event)) => print_line(&serde_json::to_string(&event)?)?,
            Some(CtlAnswer::Lost(count)) => {
                print_message(&format!("{count} older events are no longer kept"));
            }
            Some(CtlAnswer::End(_)) => return Ok(ExitCode::SUCCESS),
            Some(CtlAnswer::Error(message)) => bail!("{message}"),
            Some(_) => {}
            None if follow => return Ok(ExitCode::SUCCESS),
            None => bail!("the instance ended before it sent all events"),
        }
    }
}

fn print_line(text: &str) -> anyhow::Result<()> {
    let mut out = text_output();
    writeln!(out, "{text}")?;
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_as_words_is_the_same_as_one_object() {
        for (words, object) in [
            ("undo", r#"{"command":"undo"}"#),
            (
                "switch_scene name=reef",
                r#"{"command":"switch_scene","name":"reef"}"#,
            ),
        ] {
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            let wanted: Command = serde_json::from_str(object).unwrap();
            assert_eq!(command_of_words(&words).unwrap(), wanted);
        }
        for words in ["calm", "undo now", "switch_scene"] {
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            assert!(command_of_words(&words).is_err(), "{words:?}");
        }
    }
}
