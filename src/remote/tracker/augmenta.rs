//! Messages of Augmenta in the versions 2 and 3 to reports. **Source**: Augmenta, "Augmenta OSC Protocol v2.0" and "Augmenta OSCv3 protocol",
//! in the public description of the company.

use glam::Vec2;
use rosc::{OscMessage, OscType};

use super::report::{Report, Seen, Spot};

/// Number of values of a message about a visitor in version 2.
const VALUES: usize = 15;
/// Start of all addresses of version 3.
const PREFIX_3: &str = "/au/";
/// Detail of version 3.
const DETAIL_3: u8 = 1;

/// Returns the report of the messages of a datagram.
///
/// # Errors
/// When a message about a visitor does not have the 15 values that it should have, or no message is one of Augmenta.
pub(super) fn reports_of(messages: &[OscMessage]) -> Result<Vec<Report>, String> {
    if messages
        .iter()
        .any(|message| message.addr.starts_with(PREFIX_3))
    {
        return Ok(vec![report_3(messages)?]);
    }
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
    let size = Spot::of_picture(Vec2::new(numbers[7], numbers[8]));
    let seen = Seen {
        id: *id,
        at: Spot::from_corner(Vec2::new(numbers[0], numbers[1])),
        shape: Some((size, -numbers[9].to_radians())),
    };
    Ok((*frame, seen.checked()?))
}

/// Version 3: a message for each value of a visitor. Places are in meters from the left lower corner of the picture, y points up from the
/// floor, and z away from the viewer. The list of ids ends a frame.
fn report_3(messages: &[OscMessage]) -> Result<Report, String> {
    let mut report = Report {
        detail: DETAIL_3,
        ..Report::default()
    };
    let mut sizes = Vec::new();
    for OscMessage { addr, args } in messages {
        let Some(path) = addr.strip_prefix(PREFIX_3) else {
            continue;
        };
        let wrong = || format!("{addr:.40} with other values than Augmenta has");
        let int = |value: &OscType| value.clone().int().ok_or_else(wrong);
        let point = || match args.as_slice() {
            [OscType::Float(x), OscType::Float(_), OscType::Float(z)] => Ok(Vec2::new(*x, *z)),
            _ => Err(wrong()),
        };
        match path.split_once('/') {
            Some(("frame", "id")) => {
                report.frame = Some(int(args.first().ok_or_else(wrong)?)?);
            }
            Some(("frame", "objList")) => {
                report.alive = Some(args.iter().map(int).collect::<Result<_, _>>()?);
            }
            // The size of the scene and the number of visitors are not used.
            Some(("frame" | "scene", _)) => {}
            Some((id, part)) => {
                let id = id.parse::<i32>().map_err(|_| wrong())?;
                match part {
                    "pos" => {
                        let at = point()?;
                        let corner = Spot::of_picture(Vec2::new(-0.5, 0.5));
                        report.seen.push(Seen {
                            id,
                            at: corner + Spot::of_meters(Vec2::new(at.x, -at.y)),
                            shape: None,
                        });
                    }
                    "box/size" => sizes.push((id, Spot::of_meters(point()?))),
                    "pos/x" => {
                        return Err("split coordinates; switch them off in Augmenta".to_owned());
                    }
                    _ => {}
                }
            }
            None => return Err(wrong()),
        }
    }
    for seen in &mut report.seen {
        let size = sizes.iter().find(|(id, _)| *id == seen.id);
        seen.shape = size.map(|(_, size)| (*size, 0.0));
        *seen = seen.checked()?;
    }
    Ok(report)
}
