//! Messages of TUIO 1.1 (`2Dcur`, `25Dcur`, `2Dblb`) and TUIO 2.0 (`ptr`, `tok`, `bnd`) to reports. **Source**: Kaltenbrunner et al. 2005,
//! "TUIO: A Protocol for Table-Top Tangible User Interfaces", in the version 1.1; Kaltenbrunner and Echtler 2018, "The TUIO 2.0 Protocol".

use glam::Vec2;
use rosc::{OscMessage, OscType};

use super::report::{Report, Seen, Spot};

/// Profiles of TUIO 1.1 with their detail, and whether a message of them has a size.
const PROFILES: [(&str, u8, bool); 3] = [
    ("/tuio/2Dcur", 1, false),
    ("/tuio/25Dcur", 2, false),
    ("/tuio/2Dblb", 3, true),
];
/// Detail of TUIO 2.0.
const DETAIL_2: u8 = 4;

/// Returns the reports of the messages of a datagram: one for each profile in it.
///
/// # Errors
/// When a message of TUIO does not have the values that it should have, or no message is one of TUIO.
pub(super) fn reports_of(messages: &[OscMessage]) -> Result<Vec<Report>, String> {
    let mut reports = Vec::new();
    for (address, detail, is_sized) in PROFILES {
        let of_profile: Vec<&OscMessage> = messages
            .iter()
            .filter(|message| message.addr == address)
            .collect();
        if !of_profile.is_empty() {
            reports.push(report_1(&of_profile, detail, is_sized)?);
        }
    }
    if messages
        .iter()
        .any(|message| message.addr.starts_with("/tuio2/"))
    {
        reports.push(report_2(messages)?);
    }
    // Trackers also send what Shoal does not use, such as objects with marks.
    match messages
        .iter()
        .find(|message| !message.addr.starts_with("/tuio"))
    {
        Some(message) if reports.is_empty() => {
            Err(format!("{:.40} is no message of TUIO", message.addr))
        }
        _ => Ok(reports),
    }
}

fn report_1(messages: &[&OscMessage], detail: u8, is_sized: bool) -> Result<Report, String> {
    let mut report = Report {
        detail,
        ..Report::default()
    };
    for message in messages {
        let Some((OscType::String(word), args)) = message.args.split_first() else {
            return Err(format!("{} without a word", message.addr));
        };
        match (word.as_str(), args) {
            ("source", [OscType::String(name), ..]) => report.source.clone_from(name),
            ("alive", ids) => report.alive = Some(ids_of(ids)?),
            // The frame -1 does not count.
            ("fseq", [OscType::Int(frame), ..]) => report.frame = (*frame > 0).then_some(*frame),
            ("set", [OscType::Int(id), values @ ..]) => {
                report.seen.push(seen_of(*id, values, is_sized)?);
            }
            _ => return Err(format!("{} with other values than TUIO has", message.addr)),
        }
    }
    Ok(report)
}

fn report_2(messages: &[OscMessage]) -> Result<Report, String> {
    let mut report = Report {
        detail: DETAIL_2,
        ..Report::default()
    };
    for message in messages {
        let kind = message.addr.strip_prefix("/tuio2/").unwrap_or_default();
        match (kind, message.args.as_slice()) {
            ("frm", [OscType::Int(frame), rest @ ..]) => {
                report.frame = (*frame > 0).then_some(*frame);
                if let Some(OscType::String(name)) = rest.last() {
                    report.source.clone_from(name);
                }
            }
            ("alv", ids) => report.alive = Some(ids_of(ids)?),
            // Type, user and component come before the position.
            ("ptr" | "tok", [OscType::Int(id), _, _, values @ ..]) => {
                report.seen.push(seen_of(*id, values, false)?);
            }
            ("bnd", [OscType::Int(id), values @ ..]) => {
                report.seen.push(seen_of(*id, values, true)?);
            }
            ("frm" | "ptr" | "tok" | "bnd", _) => {
                return Err(format!("{} with other values than TUIO has", message.addr));
            }
            _ => {}
        }
    }
    Ok(report)
}

fn ids_of(values: &[OscType]) -> Result<Vec<i32>, String> {
    let id = |value: &OscType| match value {
        OscType::Int(id) => Ok(*id),
        _ => Err("a list of visitors with something else than numbers".to_owned()),
    };
    values.iter().map(id).collect()
}

/// Reads the position, and with `is_sized` the angle and the size behind it. The speeds behind them are not used: Shoal measures them
/// itself, because their units differ from tracker to tracker.
fn seen_of(id: i32, values: &[OscType], is_sized: bool) -> Result<Seen, String> {
    let number = |index: usize| match values.get(index) {
        Some(OscType::Float(value)) => Ok(*value),
        Some(OscType::Double(value)) => Ok(*value as f32),
        Some(OscType::Int(value)) => Ok(*value as f32),
        _ => Err("a visitor without its numbers".to_owned()),
    };
    let shape = match is_sized {
        true => {
            let size = Spot::of_picture(Vec2::new(number(3)?, number(4)?));
            Some((size, number(2)?))
        }
        false => None,
    };
    let at = Spot::from_corner(Vec2::new(number(0)?, number(1)?));
    Seen { id, at, shape }.checked()
}
