//! The lines of the control socket.

use serde::{Deserialize, Serialize};

use crate::control::{Command, Event, NamesInUse, Reply, Status};

/// A line from the client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum CtlRequest {
    /// Asks for the status.
    Status,
    /// Asks for the names of scenes and events. The answer is [`CtlAnswer::Names`].
    Names,
    /// Sends a command. The answer is [`CtlAnswer::Reply`].
    Send {
        /// Number that the reply repeats.
        #[serde(default)]
        id: u64,
        /// Name of the user, for events and the log.
        #[serde(default)]
        name: String,
        /// The command.
        command: Command,
    },
    /// Asks for the events after a number. The answer is one [`CtlAnswer::Event`] per event and then [`CtlAnswer::End`].
    Events {
        /// Number of the last event that the client knows; 0 for all.
        #[serde(default)]
        after: u64,
        /// Whether later events are sent too, until the client closes the connection.
        #[serde(default)]
        follow: bool,
    },
}

/// A line to the client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CtlAnswer {
    /// The newest status.
    Status(Box<Status>),
    /// The names of scenes and events.
    Names(NamesInUse),
    /// The reply to a command.
    Reply(Reply),
    /// An event.
    Event(Box<Event>),
    /// Number of requested events that are no longer kept. Comes before the events, and only if there are any.
    Lost(u64),
    /// The end of the events. The number is that of the newest event.
    End(u64),
    /// The request was not understood, or the command did not reach the desk.
    Error(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::EditorStep;

    #[test]
    fn lines_have_short_names() {
        let read = |text| serde_json::from_str::<CtlRequest>(text);
        assert_eq!(read(r#"{"do":"status"}"#).unwrap(), CtlRequest::Status);
        let send = CtlRequest::Send {
            id: 0,
            name: String::new(),
            command: Command::Pool(EditorStep::UNDO.into()),
        };
        assert_eq!(
            read(r#"{"do":"send","command":{"command":"undo"}}"#).unwrap(),
            send
        );
        assert!(read(r#"{"do":"explode"}"#).is_err());
        let end = serde_json::to_string(&CtlAnswer::End(7)).unwrap();
        assert_eq!(end, r#"{"end":7}"#);
    }
}
