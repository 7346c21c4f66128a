//! Commands of other machines: what they may say, how often, and what they are told.

use std::time::{Duration, Instant};

use crate::control::{Command, DirectorEvent, Outcome, PoolCommand, PoolEdit, Reply, ShowCommand};

/// Largest number of commands in a second, over all machines of a protocol.
const COMMANDS_PER_SECOND: u32 = 50;
/// Largest part of an answer, in characters.
const ANSWER_CHARS: usize = 500;

/// Returns the command that is meant by words.
///
/// # Errors
/// When they mean none.
pub(super) fn command_of(words: &[String]) -> Result<Command, String> {
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    Command::from_words(&words)
}

/// Checks that an operator may send the command. These protocols have no users.
///
/// # Errors
/// When the command needs more rights.
pub(super) fn check_operator(command: &Command, words: &[String]) -> Result<(), String> {
    let is_of_operator = match command {
        Command::Show(ShowCommand::Schedule { .. } | ShowCommand::Pause { .. }) => true,
        Command::Pool(PoolCommand::Edit(PoolEdit::SwitchScene { .. })) => true,
        Command::Pool(PoolCommand::Edit(PoolEdit::Director { event })) => {
            matches!(
                event,
                DirectorEvent::Start { .. } | DirectorEvent::Stop { .. } | DirectorEvent::Calm
            )
        }
        _ => false,
    };
    match is_of_operator {
        true => Ok(()),
        false => Err(format!(
            "`{}` needs an administrator; use the panel or `shoal ctl`",
            words.join(" ")
        )),
    }
}

/// Says what became of a command.
pub(super) fn result_of(reply: &Reply) -> String {
    match &reply.result {
        Outcome::Applied { .. } => "applied".to_owned(),
        Outcome::Rejected { problems } => {
            let problems: Vec<_> = problems
                .iter()
                .map(|problem| problem.message.as_str())
                .collect();
            format!("rejected: {}", problems.join("; "))
                .chars()
                .take(ANSWER_CHARS)
                .collect()
        }
    }
}

/// Counts commands and says when there are too many.
#[derive(Debug)]
pub(super) struct CommandLimit {
    /// Start of the current second.
    begun: Instant,
    count: u32,
}

impl Default for CommandLimit {
    fn default() -> Self {
        Self {
            begun: Instant::now(),
            count: 0,
        }
    }
}

impl CommandLimit {
    /// Counts a command.
    ///
    /// # Errors
    /// When there were too many in this second.
    pub(super) fn take(&mut self) -> Result<(), &'static str> {
        if self.begun.elapsed() >= Duration::from_secs(1) {
            *self = Self::default();
        }
        self.count += 1;
        match self.count <= COMMANDS_PER_SECOND {
            true => Ok(()),
            false => Err("too many commands in a second"),
        }
    }
}
