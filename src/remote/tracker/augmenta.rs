//! Messages of Augmenta in the version 2 to reports. **Source**: Augmenta, "Augmenta OSC Protocol v2.0", in the public description of the
//! company.

use glam::Vec2;
use rosc::{OscMessage, OscType};

use super::report::{Report, Seen};

/// Number of values of a message about a visitor.
const VALUES: usize = 15;

/// Returns the report of the messages of a datagram.
///
/// # Errors
/// When a message about a visitor does not have the 15 values that it should have, or no message is one of Augmenta.
pub(super) fn reports_of(messages: &[OscMessage]) -> Result<Vec<Report>, String> {
    let mut report = Report::default();
    let mut is_known = false;
    for message in messages {
        match message.addr.as_str() {
            "/object/enter" | "/object/update" => {
                let (frame, seen) = seen_of(message)?;
                report.frame = Some(frame);
                report.seen.push(seen);
            }
            "/object/leave" => {
                let (frame, seen) = seen_of(message)?;
                report.frame = Some(frame);
                report.gone.push(seen.id);
            }
            // The size of the scene, joints and outlines are not used.
            other => is_known |= other.starts_with("/scene") || other.starts_with("/object/"),
        }
    }
    let is_empty = report.seen.is_empty() && report.gone.is_empty();
    match (is_empty, messages.first()) {
        (true, Some(message)) if !is_known => {
            Err(format!("{:.40} is no message of Augmenta", message.addr))
        }
        (true, _) => Ok(vec![Report::default()]),
        _ => Ok(vec![report]),
    }
}

fn seen_of(message: &OscMessage) -> Result<(i32, Seen), String> {
    let wrong = || format!("{} without its {VALUES} values", message.addr);
    let [OscType::Int(frame), OscType::Int(id), _, _, values @ ..] = message.args.as_slice() else {
        return Err(wrong());
    };
    let number = |index: usize| match values.get(index) {
        Some(OscType::Float(value)) => Ok(*value),
        Some(OscType::Int(value)) => Ok(*value as f32),
        _ => Err(wrong()),
    };
    let numbers: Vec<f32> = (0..VALUES - 4).map(number).collect::<Result<_, _>>()?;
    // The box turns counter-clockwise.
    let shape = Some((Vec2::new(numbers[7], numbers[8]), -numbers[9].to_radians()));
    let seen = Seen {
        id: *id,
        at: Vec2::new(numbers[0], numbers[1]),
        shape,
    };
    match seen.is_plausible() {
        true => Ok((*frame, seen)),
        false => Err("a visitor with numbers that no place has".to_owned()),
    }
}
