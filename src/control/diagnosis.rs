//! Whether all is well: the one function that turns the facts of a status into findings with a colour, and into one sentence. Panel,
//! `shoal ctl status`, its exit code, the service manager and the messages about faults all use its result.
//!
//! In: a status. Out: findings, the most important first. Must not: look anywhere else.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::health::{Finding, HealthLevel, HealthStatus};
use super::schedule::ShowState;
use super::status::{CameraKind, Status};
use crate::runtime::FaultStatus;

/// Age from which a status says nothing about the present. The desk publishes four a second.
pub(super) const STALE_SECS: f64 = 5.0;
/// Durations of ticks (99th percentile) below this are not the reason why a simulation is late.
const QUICK_TICK_MS: f64 = 8.0;

/// Faults that do not spoil what visitors see.
const MILD: &[&str] = &[
    "alerts",
    "bright_floor",
    "calibration_projection",
    "camera.damaged_frames",
    "camera.short_frames",
    "camera.timestamp_jump",
    "computer_busy",
    "counting",
    "log",
    "panel",
    "picture_by_processor",
    "picture_slow",
    "recording_failed",
    "recording_late",
    "remote.mqtt",
    "remote.osc",
    "remote.projector_parts",
    "remote.sacn",
    "remote.webhooks",
    "rolling_bands",
    "simulation_late",
    "site_files",
    "site_unsaved",
    "sound",
    "strobing_light",
    "unreliable_area",
];

/// Faults because of which a calibration does not hold any more, although it is in use.
const SPOIL_CALIBRATION: &[&str] = &[
    "calibration_projection",
    "calibration_surface",
    "camera_moved",
    "camera_size",
    "cameras_disagree",
];

/// Returns the active faults because of which the calibrations in use do not hold.
pub(super) fn calibration_doubts(status: &Status) -> Vec<String> {
    let names = status.faults.iter().map(|fault| &fault.name);
    let mut doubts: Vec<String> = names
        .filter(|name| SPOIL_CALIBRATION.contains(&name.as_str()))
        .cloned()
        .collect();
    doubts.dedup();
    doubts
}

impl HealthStatus {
    /// Returns the health that the facts of a status show.
    pub fn of(status: &Status) -> Self {
        let mut findings: Vec<Finding> = Vec::new();
        findings.extend(show(status));
        findings.extend(stages(status));
        findings.extend(chosen(status));
        // The newest fault is the most important. What the installation was never taken out of comes after the faults of its colour: a
        // camera that was never calibrated must not hide a full disk.
        let newest_first = status.faults.iter().rev();
        findings.extend(newest_first.map(|fault| of_fault(fault, status)));
        findings.extend(left(status));
        // What is not there at the moment comes after what is.
        findings.sort_by_key(|finding| {
            let (is_show, is_away) = (finding.is_show, finding.away_secs.is_some());
            (!is_show, std::cmp::Reverse(finding.level), is_away)
        });
        Self {
            level: findings
                .iter()
                .map(|finding| finding.level)
                .max()
                .unwrap_or_default(),
            findings,
        }
    }
}

/// Changes a status that is older than [`STALE_SECS`]: the desk has not published another one.
pub(super) fn make_stale(status: &mut Status, age_secs: f64) {
    status.faults.push(FaultStatus {
        name: "desk".to_owned(),
        detail: format!(
            "the control desk has not answered for {age_secs:.0} s, so everything else here is old; restart Shoal"
        ),
        for_secs: age_secs,
        count: 1,
        ..FaultStatus::default()
    });
    complete(status);
}

/// Computes the health of a status from its facts.
pub fn complete(status: &mut Status) {
    status.calibration.doubts = calibration_doubts(status);
    status.health = HealthStatus::of(status);
    status.sentence = status.health.sentence();
    status.is_healthy = status.faults.is_empty() && status.stages.iter().all(|stage| stage.is_well);
}

fn attention(name: &str, sentence: impl Into<String>) -> Finding {
    Finding {
        name: name.to_owned(),
        level: HealthLevel::Attention,
        sentence: sentence.into(),
        ..Finding::default()
    }
}

/// Says why the picture is black or stands still. What ends by itself is well.
fn show(status: &Status) -> Option<Finding> {
    let schedule = &status.schedule;
    let is_by_hand = schedule.by_hand.is_some();
    let (name, what, until) = match (schedule.state, status.paused_secs) {
        (ShowState::Open | ShowState::Attract, None) => return None,
        (ShowState::Open | ShowState::Attract, Some(_)) => (
            "paused",
            "The fish stand still",
            status.schedule.paused_until.clone(),
        ),
        (ShowState::Dark, _) => ("dark", "The picture is dark", schedule.lit_again.clone()),
        (ShowState::Closed, _) => ("closed", "The pool is closed", schedule.lit_again.clone()),
    };
    let end = match &until {
        Some(until) => format!("until {}", minutes(until)),
        None if name == "paused" => "until somebody ends this (shoal ctl resume)".to_owned(),
        None if is_by_hand => {
            "until somebody ends this: it was set by hand without an end (shoal ctl plan)"
                .to_owned()
        }
        None if !schedule.is_planned => "until somebody ends this: no hours are planned".to_owned(),
        None => "and no opening is planned".to_owned(),
    };
    let level = match until {
        Some(_) => HealthLevel::Well,
        None => HealthLevel::Attention,
    };
    Some(Finding {
        level,
        is_show: true,
        until,
        ..attention(name, format!("{what} {end}."))
    })
}

/// Returns a local time without seconds and offset.
fn minutes(local: &str) -> String {
    local.get(..16).unwrap_or(local).replace('T', " ")
}

/// Returns a time in the zone of the pool, as the other times of the sentence; the time itself if the zone is not known.
fn local(time: &str, zone: &str) -> String {
    let read = || -> Option<String> {
        let zone = TimeZone::get(zone).ok()?;
        let time: Timestamp = time.parse().ok()?;
        Some(minutes(&zone.to_datetime(time).to_string()))
    };
    read().unwrap_or_else(|| time.to_owned())
}

fn stages(status: &Status) -> impl Iterator<Item = Finding> {
    let unwell = status.stages.iter().filter(|stage| !stage.is_well);
    unwell.map(|stage| Finding {
        name: format!("stage.{}", stage.name),
        level: HealthLevel::Fault,
        sentence: format!(
            "stage {}: {} for {:.0} s",
            stage.name, stage.state, stage.for_secs
        ),
        detail: stage.state.clone(),
        for_secs: stage.for_secs,
        ..Finding::default()
    })
}

fn of_fault(fault: &FaultStatus, status: &Status) -> Finding {
    let name = match fault.name.as_str() {
        // Only a recording ends; a camera program is started again.
        "camera.ended" if status.camera.kind == CameraKind::Live => "camera.program_ended",
        "simulation_late" if status.timing.tick.p99_ms < QUICK_TICK_MS => "computer_busy",
        name => name,
    };
    let since = match fault.since.as_str() {
        "" => String::new(),
        since => format!(" since {}", local(since, &status.schedule.time_zone)),
    };
    Finding {
        // What is not there at the moment spoils nothing.
        level: match MILD.contains(&name) || fault.away_secs.is_some() {
            true => HealthLevel::Attention,
            false => HealthLevel::Fault,
        },
        sentence: format!("{name}{since}: {}{}", fault.detail, away(fault)),
        detail: fault.detail.clone(),
        since: fault.since.clone(),
        for_secs: fault.for_secs,
        away_secs: fault.away_secs,
        name: name.to_owned(),
        ..Finding::default()
    }
}

/// Says that a fault is not present at the moment; empty if it is.
fn away(fault: &FaultStatus) -> String {
    fault.away_secs.map_or(String::new(), |[away, quiet]| {
        format!(
            " (it comes and goes: away for {away:.0} s, over when it has stayed away for {quiet:.0} s)"
        )
    })
}

/// States that somebody chose, in which visitors are not seen.
fn chosen(status: &Status) -> Vec<Finding> {
    let mut found = Vec::new();
    if status.rehearsal.is_some() {
        let end = match &status.schedule.rehearsal_until {
            Some(until) => format!("until {}", minutes(until)),
            None => "until somebody ends this".to_owned(),
        };
        let sentence = format!(
            "Rehearsal: a recording is replayed instead of the camera {end}. Visitors are not seen."
        );
        found.push(Finding {
            until: status.schedule.rehearsal_until.clone(),
            ..attention("rehearsal", sentence)
        });
    }
    if status.calibration.is_running {
        let sentence = "The camera is being calibrated: the floor shows crosses or stripes.";
        found.push(attention("calibrating", sentence));
    }
    found
}

/// States that the installation was never taken out of.
fn left(status: &Status) -> Vec<Finding> {
    let mut found = Vec::new();
    let is_one = |kind: CameraKind| {
        status
            .all_cameras()
            .iter()
            .any(|camera| camera.kind == kind)
    };
    let of_several = status.cameras.iter().find(|camera| !camera.is_calibrated);
    let is_calibrated = match status.cameras.is_empty() {
        true => status.calibration.current.is_some(),
        false => of_several.is_none(),
    };
    let kinds = [
        CameraKind::Simulated,
        CameraKind::Recording,
        CameraKind::Live,
    ];
    match kinds.into_iter().find(|&kind| is_one(kind)).unwrap_or_default() {
        _ if status.rehearsal.is_some() => {}
        CameraKind::Simulated => found.push(attention(
            "demonstration",
            "Demonstration: simulated visitors. Choose a camera.",
        )),
        CameraKind::Recording => found.push(attention(
            "recording",
            "Demonstration: a recording is shown instead of a camera. Choose a camera.",
        )),
        // While it is calibrated, the other sentence says enough.
        CameraKind::Live if !is_calibrated && !status.calibration.is_running => found.push(attention(
            "uncalibrated",
            "The camera is not calibrated: fish may react beside the visitors. Calibrate the camera.",
        )),
        CameraKind::Live | CameraKind::Tracker | CameraKind::Unknown => {}
    }
    let needs_clock = status.schedule.is_planned || status.schedule.next_event.is_some();
    if needs_clock && !status.schedule.is_clock_trusted {
        found.push(attention(
            "clock",
            "The clock of the computer is not set, so the opening hours and the events of the plan do not apply yet.",
        ));
    }
    found
}

#[cfg(test)]
mod tests;
