//! What is shown, what happens, and faults, as messages.

use rosc::{OscMessage, OscType};

use crate::control::{EventKind, FloorPlace, HealthLevel, Status};

/// Address of an answer, after the common beginning of all addresses.
pub(super) const REPLY: &str = "reply";

fn message(address: &str, args: Vec<OscType>) -> OscMessage {
    OscMessage {
        addr: format!("/shoal/{address}"),
        args,
    }
}

/// Returns the message about an event; `None` if other machines do not need it, or learn it from [`state_messages`].
pub(super) fn event_message(event: &EventKind) -> Option<OscMessage> {
    let id_of = |id: u32| OscType::Int(i32::try_from(id).unwrap_or(i32::MAX));
    let secs = |secs: f64| OscType::Double(secs);
    match event {
        EventKind::VisitorArrived { id } => Some(message("visitor/arrived", vec![id_of(*id)])),
        EventKind::VisitorLeft { id, stayed_secs } => Some(message(
            "visitor/left",
            vec![id_of(*id), secs(*stayed_secs)],
        )),
        EventKind::VisitorStands { id, at } => {
            Some(message("visitor/stands", with_place(vec![id_of(*id)], *at)))
        }
        EventKind::VisitorStamps { id, at } => {
            Some(message("visitor/stamps", with_place(vec![id_of(*id)], *at)))
        }
        EventKind::HuntBegan { id, species, at } => {
            let args = vec![species.as_str().into(), id_of(*id)];
            Some(message("fish/hunts", with_place(args, *at)))
        }
        EventKind::FishLeapt { id, species, at } => {
            let args = vec![species.as_str().into(), id_of(*id)];
            Some(message("fish/leaps", with_place(args, *at)))
        }
        EventKind::PreyCaught {
            id,
            species,
            prey,
            prey_species,
            at,
        } => {
            let hunter = [species.as_str().into(), id_of(*id)];
            let prey = [prey_species.as_str().into(), id_of(*prey)];
            let args = hunter.into_iter().chain(prey).collect();
            Some(message("fish/catches", with_place(args, *at)))
        }
        EventKind::RuleBegan { rule } => Some(message("rule/began", vec![rule.as_str().into()])),
        EventKind::RuleEnded { rule, lasted_secs } => Some(message(
            "rule/ended",
            vec![rule.as_str().into(), secs(*lasted_secs)],
        )),
        EventKind::Test => Some(message("test", vec!["Shoal".into()])),
        EventKind::FaultBegan { fault, detail } => {
            let args = vec![fault.as_str().into(), detail.as_str().into()];
            Some(message("fault/began", args))
        }
        EventKind::FaultEnded {
            fault, lasted_secs, ..
        } => Some(message(
            "fault/ended",
            vec![fault.as_str().into(), secs(*lasted_secs)],
        )),
        _ => None,
    }
}

/// Adds a place to arguments, as two numbers of the usual length.
fn with_place(mut args: Vec<OscType>, at: FloorPlace) -> Vec<OscType> {
    args.extend([at.x_m, at.z_m].map(|meters| OscType::Float(meters as f32)));
    args
}

fn level_name(level: HealthLevel) -> &'static str {
    match level {
        HealthLevel::Well => "well",
        HealthLevel::Attention => "attention",
        HealthLevel::Fault => "fault",
    }
}

/// Returns the messages about the state of the pool.
pub(super) fn state_messages(status: &Status) -> Vec<OscMessage> {
    let visitors = i32::try_from(status.visitors.now).unwrap_or(i32::MAX);
    let health = vec![
        level_name(status.health.level).into(),
        status.sentence.as_str().into(),
    ];
    let mut messages = vec![
        message("state", vec![status.schedule.state.name().into()]),
        message("scene", vec![status.scene.as_str().into()]),
        message("paused", vec![status.paused_secs.is_some().into()]),
        message("visitors", vec![visitors.into()]),
        message("health", health),
    ];
    for rule in &status.director {
        let args = vec![rule.name.as_str().into(), rule.is_active.into()];
        messages.push(message("event", args));
    }
    messages
}

/// Returns the answer to a command.
pub(super) fn reply_message(words: &str, result: &str) -> OscMessage {
    message(REPLY, vec![words.into(), result.into()])
}
