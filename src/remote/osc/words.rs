//! Messages to everyday commands: `/shoal/scene reef`, `/shoal/dark/10min`.

use rosc::{OscMessage, OscType};

use super::super::commands::{check_operator, command_of};
use super::report::REPLY;
use crate::control::Command;

/// Start of all addresses.
const PREFIX: &str = "/shoal/";
/// Address of a subscription, without the start.
pub(super) const SUBSCRIBE: &str = "subscribe";

/// What a message asks for.
#[derive(Debug, PartialEq)]
pub(super) enum Wish {
    /// A command, with its words.
    Command(Box<Command>, String),
    /// Messages to the sender for a while, at this port; `None`: at the one that it sends from.
    Subscribe(Option<u16>),
    /// Nothing: a button was released.
    Nothing,
}

/// Returns what a message asks for. The parts of the address and the arguments are the words of the command. If the address alone is
/// a command, a number or a truth value behind it is the state of a button: 0 and false ask for nothing.
///
/// # Errors
/// When the address or an argument is unknown, or the command needs more than the rights of an operator.
pub(super) fn wish_of(message: &OscMessage) -> Result<Wish, String> {
    let address = message.addr.strip_prefix(PREFIX);
    let address = address.ok_or_else(|| format!("the address does not begin with {PREFIX}"))?;
    // Another Shoal answers what it does not understand. Without this, both would answer each other forever.
    if address == REPLY {
        return Ok(Wish::Nothing);
    }
    if address == SUBSCRIBE {
        return match message.args.as_slice() {
            [] => Ok(Wish::Subscribe(None)),
            [OscType::Int(port @ 1..=65535)] => Ok(Wish::Subscribe(u16::try_from(*port).ok())),
            _ => Err("subscribe takes no argument, or a port from 1 to 65535".to_owned()),
        };
    }
    let mut words: Vec<String> = address.split('/').map(str::to_owned).collect();
    let command = match (button_of(&message.args), command_of(&words)) {
        (Some(false), Ok(_)) => return Ok(Wish::Nothing),
        (Some(true), Ok(command)) => command,
        _ => {
            for argument in &message.args {
                words.push(word_of(argument)?);
            }
            command_of(&words)?
        }
    };
    check_operator(&command, &words)?;
    Ok(Wish::Command(Box::new(command), words.join(" ")))
}

/// Returns whether a button is pressed, if the arguments are the state of a button.
fn button_of(arguments: &[OscType]) -> Option<bool> {
    match arguments {
        [OscType::Int(value)] => Some(*value != 0),
        [OscType::Float(value)] => Some(*value != 0.0),
        [OscType::Bool(value)] => Some(*value),
        _ => None,
    }
}

fn word_of(argument: &OscType) -> Result<String, String> {
    match argument {
        OscType::String(text) => Ok(text.clone()),
        OscType::Int(value) => Ok(value.to_string()),
        OscType::Long(value) => Ok(value.to_string()),
        OscType::Float(value) if value.is_finite() => Ok(value.to_string()),
        OscType::Double(value) if value.is_finite() => Ok(value.to_string()),
        _ => Err("an argument is neither a text nor a number".to_owned()),
    }
}
