//! The command `shoal ctl`: its options, and what it runs.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};

use crate::app::ctl::{CtlAnswer, CtlClient, CtlRequest, find_instance, status_text};
use crate::control::{Command, Outcome, PHRASES, ShowCommand};
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
        /// A command such as {"command":"switch_scene","name":"reef"}, a file of such lines, or - for standard input
        #[arg(value_name = "COMMAND|FILE|-")]
        command: String,
        /// Print the replies as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the names of the scenes, and of the events of the scene that is shown
    List,
    /// Print events as JSON lines
    Events {
        /// Print the events after this number; default: all that are kept
        #[arg(long, value_name = "NUMBER", default_value_t = 0)]
        after: u64,
        /// Go on with later events until Ctrl-C
        #[arg(long)]
        follow: bool,
    },
    /// An everyday command in words.
    #[command(external_subcommand)]
    Words(Vec<String>),
}

/// Returns the end of the help: the everyday commands, and examples.
pub(in crate::app) fn ctl_help() -> String {
    let mut text = "Everyday commands (TIME is 90s, 10min, 2h, tomorrow or forever):\n".to_owned();
    for (usage, meaning) in PHRASES {
        text.push_str(&format!("  {usage:<16} {meaning}\n"));
    }
    text + "\nExample: shoal ctl status\n\
            Example: shoal ctl scene reef\n\
            Example: shoal ctl dark 10min\n\
            Example: shoal ctl events --follow"
}

pub(in crate::app) fn ctl(arguments: CtlArguments) -> anyhow::Result<ExitCode> {
    let connect = || {
        let path = arguments.socket.map_or_else(find_instance, Ok)?;
        CtlClient::connect(&path)
    };
    match arguments.action {
        CtlAction::Status { json } => status(&mut connect()?, json),
        CtlAction::Send { command, json } => send(&mut connect()?, &command, json),
        CtlAction::List => list(&mut connect()?),
        CtlAction::Events { after, follow } => events(&mut connect()?, after, follow),
        CtlAction::Words(words) => {
            let command = command_of(&words)?;
            let mut client = connect()?;
            client.expect_replies()?;
            let is_applied = send_one(&mut client, (1, command), "the command", false)?;
            Ok(ExitCode::from(u8::from(!is_applied)))
        }
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

fn send(client: &mut CtlClient, text: &str, json: bool) -> anyhow::Result<ExitCode> {
    client.expect_replies()?;
    let mut all_applied = true;
    let mut send = |id: u64, command: Command, place: &str| {
        all_applied &= send_one(client, (id, command), place, json)?;
        anyhow::Ok(())
    };
    let path = Path::new(text);
    if text.trim_start().starts_with('{') {
        let command = serde_json::from_str(text).context("this is no command")?;
        send(1, command, "the command")?;
    } else if is_standard_stream(path) || path.exists() {
        let mut lines = JsonLinesReader::open(path, MAX_LINE_BYTES)?;
        let mut id = 0;
        while let Some(command) = lines.next("command")? {
            id += 1;
            send(id, command, &lines.place())?;
        }
    } else {
        bail!("{text}: this is neither a command (a JSON object) nor a file of commands");
    }
    Ok(match all_applied {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Returns the command that is meant by words.
fn command_of(words: &[String]) -> anyhow::Result<Command> {
    if let Some(option) = words.iter().find(|word| word.starts_with("--")) {
        bail!("{option}: options stand before the words: `shoal ctl --socket PATH scene reef`");
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Command::from_words(&words).map_err(anyhow::Error::msg)
}

/// Prints the names of the scenes and events.
fn list(client: &mut CtlClient) -> anyhow::Result<ExitCode> {
    client.send(&CtlRequest::Names)?;
    let names = match client.next_answer()? {
        Some(CtlAnswer::Names(names)) => names,
        Some(CtlAnswer::Error(message)) => bail!("{message}"),
        _ => bail!("the instance sent no names"),
    };
    for (verb, names) in [("scene", names.scenes), ("event", names.events)] {
        for name in names {
            print_line(&format!("{verb} {}", quoted(&name)))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns a name as one word of a shell.
fn quoted(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    match name.chars().all(is_plain) {
        true => name.to_owned(),
        false => format!("'{}'", name.replace('\'', r"'\''")),
    }
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
            Outcome::Applied { notes, unsaved, .. } => {
                let done = match is_passed_on {
                    true => "passed on; `shoal ctl status` shows the effect",
                    false => "applied",
                };
                print_line(&format!("{done}, revision {}", reply.revision))?;
                for note in notes.iter().chain(unsaved) {
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
