//! What the desk and its clients exchange: a request with its source, and the reply.
//!
//! Plain data that can be written as JSON. Must not: decide whether a command is valid.

use serde::{Deserialize, Serialize};

use super::command::Command;

/// A command for the desk, with the client that sent it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Number that the client chose. The reply repeats it.
    pub id: u64,
    /// The client that sent the command.
    pub source: Source,
    /// The command.
    pub command: Command,
    /// What the command may change beyond the role of its sender.
    #[serde(default)]
    pub trust: Trust,
}

/// What a command may change beyond the role of its sender. Each level includes those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// Nothing: a token, or a session whose password was entered some time ago.
    #[default]
    Role,
    /// Who may use Shoal: the user has entered the password lately.
    Confirmed,
    /// Also what Shoal runs, and which files outside of the site's folder it uses.
    Programs,
}

impl Trust {
    /// Returns why a change that needs this trust is rejected without it.
    pub fn refusal(self) -> &'static str {
        match self {
            Self::Role | Self::Confirmed => {
                "this decides who may use Shoal, so the password is needed once more; a token cannot change it"
            }
            Self::Programs => {
                "a program, or a file outside of the site's folder, can be named only in the site file or with `shoal ctl`, or in a \
                 panel that may (panel.may_name_programs)"
            }
        }
    }
}

/// Returns the name of the reason with this message, for clients that say it in another language; empty if it has none.
pub fn reason_code(message: &str) -> &'static str {
    let names = [
        (Trust::Programs, "programs"),
        (Trust::Confirmed, "password"),
    ];
    let is_refusal = |(needs, _): &(Trust, &str)| message.ends_with(needs.refusal());
    let found = names.into_iter().find(is_refusal);
    found.map_or("", |(_, name)| name)
}

/// The client that sent a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Kind of the client.
    pub kind: SourceKind,
    /// Name of the user or device; empty if there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
}

impl Source {
    /// Returns a source without a name.
    pub fn of(kind: SourceKind) -> Self {
        Self {
            kind,
            name: String::new(),
        }
    }
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.kind.name())?;
        if !self.name.is_empty() {
            write!(f, " {}", self.name)?;
        }
        Ok(())
    }
}

/// A change that can be undone or redone: who made it, and what it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeNote {
    /// Number of the change, which `undo` and `redo` can name.
    pub number: u64,
    /// Who made it; `None` if that is not known.
    pub author: Option<Source>,
    /// Name of the command.
    pub command: String,
    /// What the command concerns.
    pub summary: String,
}

impl ChangeNote {
    /// Returns the change in a line, with who made it.
    pub fn line(&self) -> String {
        let Self {
            author,
            command,
            summary,
            ..
        } = self;
        let author = author.as_ref().map(|author| format!(" ({author})"));
        format!("{command} {summary}{}", author.unwrap_or_default())
    }
}

/// Kind of a client of the desk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// The watcher of the site's files.
    Files,
    /// The keys of a window.
    Keys,
    /// `shoal ctl`.
    Ctl,
    /// The operator's panel.
    Panel,
    /// Another machine, for example by OSC.
    Remote,
    /// The schedule.
    Schedule,
    /// The desk itself, for example when it saves an accepted calibration.
    Desk,
}

impl SourceKind {
    /// Returns the name in logs and events.
    pub fn name(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Keys => "keys",
            Self::Ctl => "ctl",
            Self::Panel => "panel",
            Self::Remote => "remote",
            Self::Schedule => "schedule",
            Self::Desk => "desk",
        }
    }
}

/// The answer to a request. Every request that the desk received is answered exactly once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// Number of the request.
    pub id: u64,
    /// Number of commands that the desk has applied since the start, with this one.
    pub revision: u64,
    /// What became of the command.
    pub result: Outcome,
}

/// What became of a command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case", deny_unknown_fields)]
pub enum Outcome {
    /// The command was applied completely.
    Applied {
        /// Number of ticks that the pool had completed. The next tick shows the change, or the tick after it.
        tick: u64,
        /// What the client should know, for example values that take effect only after a restart.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notes: Vec<String>,
        /// Why the change is not on the disk, if the disk refuses it: a restart would lose it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unsaved: Option<String>,
    },
    /// The command was rejected and changed nothing.
    Rejected {
        /// All reasons.
        problems: Vec<Reason>,
    },
}

impl Outcome {
    /// Returns that a command was applied after a number of ticks, and that there is nothing to say about it.
    pub fn applied(tick: u64) -> Self {
        Self::Applied {
            tick,
            notes: Vec::new(),
            unsaved: None,
        }
    }

    /// Returns a rejection with one reason that belongs to no document.
    pub fn rejected(message: impl Into<String>) -> Self {
        Self::rejected_as("", message)
    }

    /// Returns a rejection with one reason that belongs to no document and has a name.
    pub fn rejected_as(code: &str, message: impl Into<String>) -> Self {
        Self::Rejected {
            problems: vec![Reason {
                message: message.into(),
                code: code.to_owned(),
                ..Reason::default()
            }],
        }
    }

    /// Whether the command was applied.
    pub fn is_applied(&self) -> bool {
        matches!(self, Self::Applied { .. })
    }
}

/// One reason for a rejection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reason {
    /// Name of the document; empty if the reason belongs to no document.
    pub file: String,
    /// Line in the rejected text, counted from 1; 0 for the whole document.
    pub line: usize,
    /// Path of the value; empty for the whole document.
    pub path: String,
    /// The value, what is wrong with it, and what is allowed.
    pub message: String,
    /// Name of the reason for clients that say it in another language; empty if it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub code: String,
}

/// Longest text of a reason that is kept, in bytes.
const TEXT_BYTES_MAX: usize = 1000;
/// Largest number of bytes that are kept of the reasons of one rejection, beside the first reason.
const KEPT_BYTES_MAX: usize = 4000;

impl Reason {
    /// Returns the first reasons with short texts, for lists that are kept: a client can send anything.
    pub fn kept(reasons: &[Self]) -> Vec<Self> {
        let short = |text: &str| text[..text.floor_char_boundary(TEXT_BYTES_MAX)].to_owned();
        let kept = reasons.iter().map(|reason| Self {
            file: short(&reason.file),
            line: reason.line,
            path: short(&reason.path),
            message: short(&reason.message),
            code: short(&reason.code),
        });
        let mut bytes = 0;
        let fits = |reason: &Self| {
            let is_first = bytes == 0;
            bytes += 1 + reason.file.len() + reason.path.len() + reason.message.len();
            is_first || bytes <= KEPT_BYTES_MAX
        };
        kept.take_while(fits).collect()
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = match (self.file.as_str(), self.line) {
            (file, 0) => file.to_owned(),
            ("", line) => format!("line {line}"),
            (file, line) => format!("{file}:{line}"),
        };
        for part in [&place, &self.path] {
            if !part.is_empty() {
                write!(f, "{part}: ")?;
            }
        }
        f.write_str(&self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_kept_of_a_rejection_is_bounded() {
        for letter in ["x", "\u{1f41f}"] {
            for length in [1_usize, 100, 1 << 20] {
                let long = letter.repeat(length);
                let reason = Reason {
                    file: long.clone(),
                    line: 1,
                    path: long.clone(),
                    message: long,
                    code: String::new(),
                };
                let kept = Reason::kept(&vec![reason; 100]);
                assert!(!kept.is_empty());
                let kept = serde_json::to_string(&kept).unwrap();
                assert!(kept.len() < 25_000, "{}", kept.len());
            }
        }
    }

    #[test]
    fn requests_and_replies_are_read_and_written_as_json() {
        let text = json!({"id": 3, "source": {"kind": "panel", "name": "ada"}, "command": {"command": "undo"}, "trust": "confirmed"});
        let request: Request = serde_json::from_value(text.clone()).unwrap();
        assert_eq!(request.source.to_string(), "panel ada");
        assert_eq!(serde_json::to_value(&request).unwrap(), text);
        for text in [
            json!({"id": 3, "revision": 8, "result": {"outcome": "applied", "tick": 120}}),
            json!({"id": 3, "revision": 8, "result": {"outcome": "rejected", "problems": [
                {"file": "site", "line": 2, "path": "scene", "message": "unknown"}]}}),
        ] {
            let reply: Reply = serde_json::from_value(text.clone()).unwrap();
            assert_eq!(serde_json::to_value(&reply).unwrap(), text);
        }
    }
}
