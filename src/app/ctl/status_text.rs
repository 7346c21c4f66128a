//! The status as text for a terminal.

use std::fmt::Write as _;

use crate::config::visible;
use crate::control::{
    CameraStatus, Finding, HallStatus, ProjectorPower, ProjectorStatus, ShowControlStatus,
    SoundStatus, SpeciesStatus, Status,
};
use crate::runtime::DurationStatus;

/// Largest number of needs that the line of a species names.
const NEEDS_MAX: usize = 4;

/// Returns the status in lines of about 100 characters, the most important first.
pub(crate) fn status_text(status: &Status) -> String {
    let mut text = format!("{}\n", visible(&status.sentence));
    let mut line = |name: &str, content: &str| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{name:<12}{}", visible(content));
    };
    for fault in &status.faults {
        let since = time_text(fault.for_secs);
        let times = match fault.count {
            0 | 1 => String::new(),
            count => format!(", reported {count} times"),
        };
        let content = format!("{} for {since}{times}: {}", fault.name, fault.detail);
        line("fault", &content);
    }
    let is_state = |finding: &&Finding| finding.since.is_empty() && finding.for_secs <= 0.0;
    for finding in status.health.findings.iter().filter(is_state) {
        line("note", &finding.sentence);
    }
    let site = match status.site.as_str() {
        "" => "built-in demo",
        site => site,
    };
    line(
        "site",
        &format!(
            "{site}, scene {}, running for {}, tick {}, revision {}",
            status.scene,
            time_text(status.uptime_secs),
            status.tick,
            status.revision
        ),
    );
    if let Some(hall) = &status.hall {
        line("hall", &hall_text(hall));
    }
    if !status.unsaved.is_empty() {
        let names: Vec<String> = status.unsaved.iter().map(ToString::to_string).collect();
        line("unsaved", &names.join(", "));
    }
    if !status.restart_needed.is_empty() {
        line("restart for", &status.restart_needed.join(", "));
    }
    line("schedule", &schedule(status));
    for camera in cameras(status) {
        line("camera", &camera);
    }
    let visitors = status.visitors;
    let content = format!("{} now, {} today", visitors.now, visitors.today);
    line("visitors", &content);
    for (name, species) in &status.species {
        line("fish", &fish(name, species));
    }
    let active: Vec<&str> = status
        .director
        .iter()
        .filter(|rule| rule.is_active)
        .map(|rule| rule.name.as_str())
        .collect();
    if !active.is_empty() {
        line("director", &active.join(", "));
    }
    let timing = &status.timing;
    for (name, durations) in [
        ("tick", timing.tick),
        ("draw", timing.draw),
        ("latency", timing.frame_to_picture),
        ("reply", timing.command_to_reply),
        ("effect", timing.command_to_snapshot),
    ] {
        if durations.count > 0 {
            line(name, &durations_text(durations));
        }
    }
    if !status.gpu.sentence.is_empty() {
        line("gpu", &status.gpu.sentence);
    }
    for output in &status.outputs {
        let [width, height] = output.size_px;
        let content = match output.monitor.as_str() {
            "" => "no monitor".to_owned(),
            monitor => format!("{monitor}, {width}x{height} px, {:.1} fps", output.fps),
        };
        line("output", &content);
    }
    line("calibration", &calibration(status));
    line("sound", &sound(&status.sound));
    let stages = status.stages.iter().map(|stage| match stage.restarts {
        0 => format!("{} {}", stage.name, stage.state),
        restarts => format!("{} {} ({restarts} restarts)", stage.name, stage.state),
    });
    remote(status, &mut line);
    line("stages", &stages.collect::<Vec<_>>().join(", "));
    line("machine", &machine(status));
    text
}

fn hall_text(hall: &HallStatus) -> String {
    let living = hall.nodes.iter().filter(|node| node.is_living).count();
    let stand = match (hall.stand.as_str(), hall.is_adrift) {
        ("leads", _) => "leads".to_owned(),
        ("follows", false) => format!("follows {}", hall.leader),
        ("follows", true) => format!("follows {}, waits for its state", hall.leader),
        _ => "hears no leader".to_owned(),
    };
    let mut text = format!(
        "{}, node {} {stand}, {living} of {} nodes live, hash {} at tick {}",
        hall.hall,
        hall.node,
        hall.nodes.len(),
        hall.hash,
        hall.hash_tick
    );
    if let (Some(offset), Some(error)) = (hall.offset_ms, hall.error_ms) {
        let _ = write!(text, ", clock {offset:+.1} ms ± {error:.1} ms");
    }
    text
}

fn sound(sound: &SoundStatus) -> String {
    if !sound.is_on {
        return "off".to_owned();
    }
    if sound.device.is_empty() {
        return match sound.problem.as_str() {
            "" => "no device".to_owned(),
            problem => problem.to_owned(),
        };
    }
    let mut text = format!(
        "{}, {} loudspeakers, {:.0} dB",
        sound.device,
        sound.speakers.len(),
        sound.volume_db
    );
    if sound.is_muted {
        text.push_str(", muted");
    } else if sound.is_heard {
        let _ = write!(text, ", peak {:.0} dB", sound.peak_db);
    }
    if sound.rejected > 0 {
        let _ = write!(text, ", {} events not heard", sound.rejected);
    }
    text
}

fn remote(status: &Status, line: &mut impl FnMut(&str, &str)) {
    for (name, link) in [("osc", &status.osc), ("sacn", &status.sacn)] {
        if link.received + link.sent > 0 || !link.listen.is_empty() {
            line(name, &show_control_text(link));
        }
    }
    for projector in &status.projectors {
        line("projector", &projector_text(projector));
    }
}

fn show_control_text(link: &ShowControlStatus) -> String {
    let mut text = format!(
        "{} commands, {} refused, {} sent",
        link.commands, link.refused, link.sent
    );
    if !link.listen.is_empty() {
        let _ = write!(text, ", listening on {}", link.listen);
    }
    if !link.last_problem.is_empty() {
        let _ = write!(text, "; last problem: {}", link.last_problem);
    }
    text
}

fn projector_text(projector: &ProjectorStatus) -> String {
    let power = match projector.power {
        ProjectorPower::Unknown => "not known",
        ProjectorPower::Off => "off",
        ProjectorPower::On => "on",
        ProjectorPower::Cooling => "cooling down",
        ProjectorPower::Warming => "warming up",
    };
    let wanted = if projector.is_wanted_on { "on" } else { "off" };
    let mut text = format!("{}: {power}, wanted {wanted}", projector.name);
    if let Some(hours) = projector.lamp_hours {
        let _ = write!(text, ", lamp {hours} h");
    }
    for (what, parts) in [
        ("error", &projector.errors),
        ("warning", &projector.warnings),
    ] {
        if !parts.is_empty() {
            let _ = write!(text, ", {what}: {}", parts.join(", "));
        }
    }
    if !projector.problem.is_empty() {
        let _ = write!(text, "; {}", projector.problem);
    }
    text
}

/// Returns a line for each camera, and for each pair of cameras that see the same visitors.
fn cameras(status: &Status) -> impl Iterator<Item = String> {
    let agreements = status.agreements.iter().map(|agreement| {
        let [one, other] = &agreement.cameras;
        format!(
            "{one} and {other} see the same visitors {:.0} mm apart",
            agreement.distance_mm
        )
    });
    let cameras = status.all_cameras().iter().map(camera_text);
    cameras.chain(agreements)
}

fn fish(name: &str, species: &SpeciesStatus) -> String {
    let mut needs: Vec<(&String, &u32)> = species.needs.iter().collect();
    needs.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let named = needs.iter().filter(|(need, _)| !need.is_empty());
    let shown: Vec<String> = named
        .take(NEEDS_MAX)
        .map(|(need, count)| format!("{need} {count}"))
        .collect();
    format!("{} {name} ({})", species.count, shown.join(", "))
}

fn camera_text(camera: &CameraStatus) -> String {
    let name = match camera.name.as_str() {
        "" => String::new(),
        name => format!("{name}: "),
    };
    if let Some(tracker) = &camera.tracker {
        let peer = match tracker.last_peer.as_str() {
            "" => "nobody yet".to_owned(),
            peer => peer.to_owned(),
        };
        return format!(
            "{name}{}, {:.1} reports per second, last from {peer}, {} late, {} refused",
            camera.source, tracker.rate_hz, tracker.late, tracker.refused
        );
    }
    let age = camera.age_secs.map_or("no frame yet".to_owned(), |secs| {
        format!("newest frame {:.0} ms old", secs * 1e3)
    });
    format!(
        "{name}{}, {:.1} fps, {age}, {} dropped, {} skipped, {} restarts",
        camera.source, camera.fps, camera.dropped, camera.skipped, camera.restarts
    )
}

fn schedule(status: &Status) -> String {
    let schedule = &status.schedule;
    let mut text = format!("{} ({})", schedule.state.name(), schedule.reason);
    let until = match &schedule.by_hand {
        Some(by_hand) => by_hand.until.as_ref(),
        None => schedule.until.as_ref(),
    };
    if let Some(until) = until {
        let _ = write!(text, " until {until}");
    }
    if let Some(then) = schedule
        .by_hand
        .as_ref()
        .and_then(|by_hand| by_hand.then.as_ref())
    {
        let why = if then.is_by_hand {
            "set by hand"
        } else {
            "plan"
        };
        let _ = write!(text, ", then {} ({why})", then.state.name());
    }
    if schedule.is_unkept {
        text.push_str("; not saved, so after a restart what was saved last applies");
    }
    if let Some(next) = &schedule.next_event {
        let condition = if schedule.is_clock_trusted {
            ""
        } else {
            ", if the clock is set by then"
        };
        let _ = write!(
            text,
            "; next event {:?} at {}{condition}",
            next.rule, next.at
        );
    }
    let needs_clock = schedule.is_planned || schedule.next_event.is_some();
    if needs_clock && !schedule.is_clock_trusted {
        let _ = write!(text, "; {}", schedule.clock);
    }
    text
}

fn calibration(status: &Status) -> String {
    let calibration = &status.calibration;
    let mut text = match &calibration.current {
        Some(known) => format!(
            "made {}, error {:.0} mm (RMS), {:.0} mm (maximum)",
            known.date,
            known.predicted_rms_m * 1e3,
            known.predicted_worst_m * 1e3
        ),
        None => "none, the whole picture is the surface".to_owned(),
    };
    if let Some(drift) = calibration.drift {
        let _ = write!(text, ", moved by {:.0} mm since", drift.shift_m * 1e3);
    }
    if !calibration.doubts.is_empty() {
        let _ = write!(
            text,
            "; it does not hold: {}",
            calibration.doubts.join(", ")
        );
    }
    if calibration.is_running {
        let _ = write!(text, "; running: {}", calibration.sentence);
    }
    text
}

fn machine(status: &Status) -> String {
    let mib =
        |bytes: Option<u64>| bytes.map_or("unknown".to_owned(), |b| format!("{} MiB", b >> 20));
    let machine = &status.machine;
    let mut text = format!(
        "process {}, memory {} (most {}), free disk {}, shoal {}, kernel {}",
        machine.process,
        mib(machine.memory_bytes),
        mib(machine.memory_max_bytes),
        mib(machine.disk_free_bytes),
        status.versions.shoal,
        status.versions.kernel
    );
    if !status.versions.picture.is_empty() {
        let _ = write!(text, ", {}", status.versions.picture);
    }
    text
}

fn durations_text(durations: DurationStatus) -> String {
    format!(
        "median {:.1} ms, 99th percentile {:.1} ms",
        durations.p50_ms, durations.p99_ms
    )
}

/// Returns a duration with its two largest units.
fn time_text(secs: f64) -> String {
    let secs = secs.max(0.0) as u64;
    let (days, hours, minutes) = (secs / 86_400, secs / 3600 % 24, secs / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{secs} s"),
        (0, 0, _) => format!("{minutes} min {} s", secs % 60),
        (0, ..) => format!("{hours} h {minutes} min"),
        _ => format!("{days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::SpeciesStatus;
    use crate::runtime::FaultStatus;

    /// A fixed bug: the name of a rule or of a date forged a line of the status.
    #[test]
    fn no_text_of_the_status_is_a_line_of_its_own() {
        let mut status = Status {
            sentence: "well\nfault       camera".into(),
            scene: "pool\nfault       camera".into(),
            ..Status::default()
        };
        status.schedule.reason = "date \"x\nfault       camera\"".into();
        let text = status_text(&status);
        assert!(!text.contains("\nfault"), "{text}");
    }

    #[test]
    fn the_text_begins_with_the_sentence_and_the_faults() {
        let mut status = Status {
            sentence: "camera.unplugged: plug it in".into(),
            scene: "pool".into(),
            uptime_secs: 93_784.0,
            ..Status::default()
        };
        status.faults.push(FaultStatus {
            name: "camera.unplugged".into(),
            detail: "plug it in".into(),
            for_secs: 75.0,
            count: 3,
            ..FaultStatus::default()
        });
        let mut trout = SpeciesStatus {
            count: 6,
            ..SpeciesStatus::default()
        };
        trout
            .needs
            .extend([("hunger".to_owned(), 2), (String::new(), 4)]);
        status.species.insert("trout".into(), trout);
        let text = status_text(&status);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "camera.unplugged: plug it in");
        assert_eq!(
            lines[1],
            "fault       camera.unplugged for 1 min 15 s, reported 3 times: plug it in"
        );
        assert!(
            lines[2].contains("built-in demo, scene pool, running for 1 d 2 h"),
            "{text}"
        );
        assert!(text.contains("fish        6 trout (hunger 2)"), "{text}");
    }
}
