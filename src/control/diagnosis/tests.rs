use super::*;
use crate::control::{ByHandStatus, CalibrationKnown, PreviewRule};
use crate::runtime::StageStatus;

/// An open pool with a calibrated camera.
fn usual() -> Status {
    let mut status = Status::default();
    status.camera.kind = CameraKind::Live;
    status.calibration.current = Some(CalibrationKnown::default());
    status
}

fn fault(name: &str) -> FaultStatus {
    FaultStatus {
        name: name.to_owned(),
        detail: "plug it in".to_owned(),
        since: "2026-01-01T00:00:00Z".to_owned(),
        ..FaultStatus::default()
    }
}

/// Completes a status, and returns its sentence and colour.
fn said(status: &Status) -> (String, HealthLevel) {
    let mut status = status.clone();
    complete(&mut status);
    (status.sentence, status.health.level)
}

fn assert_said(status: &Status, sentence: &str, level: HealthLevel) {
    assert_eq!(said(status), (sentence.to_owned(), level));
}

#[test]
fn a_usual_pool_is_well_and_a_fault_is_named_with_the_number_of_others() {
    let mut status = usual();
    assert_said(&status, "All is well.", HealthLevel::Well);
    status.faults.push(fault("camera.unplugged"));
    let sentence = "camera.unplugged since 2026-01-01T00:00:00Z: plug it in";
    assert_said(&status, sentence, HealthLevel::Fault);
    status.stages.push(StageStatus {
        name: "vision".into(),
        state: "does not answer".into(),
        for_secs: 7.2,
        ..StageStatus::default()
    });
    let sentence = "stage vision: does not answer for 7 s (and 1 more)";
    assert_said(&status, sentence, HealthLevel::Fault);
    complete(&mut status);
    assert!(!status.is_healthy);
}

/// A fixed bug: simulated visitors were a healthy installation, green everywhere.
#[test]
fn simulated_visitors_and_recordings_are_an_amber_demonstration() {
    let mut status = usual();
    status.camera.kind = CameraKind::Simulated;
    let sentence = "Demonstration: simulated visitors. Choose a camera.";
    assert_said(&status, sentence, HealthLevel::Attention);
    complete(&mut status);
    assert!(status.is_healthy, "it is no fault");
    status.camera.kind = CameraKind::Recording;
    assert_eq!(said(&status).1, HealthLevel::Attention);
    status.camera.kind = CameraKind::Live;
    status.calibration.current = None;
    assert!(said(&status).0.contains("not calibrated"));
    status.calibration.is_running = true;
    assert!(
        said(&status)
            .0
            .starts_with("The camera is being calibrated")
    );
}

/// A fixed bug: over a black floor the sentence was only "All is well."
#[test]
fn a_black_or_still_pool_says_until_when() {
    let mut status = usual();
    status.schedule.is_planned = true;
    status.schedule.is_clock_trusted = true;
    status.schedule.state = ShowState::Closed;
    // The plan has a change before that, from closed to dark.
    status.schedule.until = Some("2026-11-28T09:00:00+01:00".to_owned());
    status.schedule.lit_again = Some("2026-11-28T10:00:00+01:00".to_owned());
    let sentence = "All is well. The pool is closed until 2026-11-28 10:00.";
    assert_said(&status, sentence, HealthLevel::Well);
    status.schedule.lit_again = None;
    let sentence = "The pool is closed and no opening is planned.";
    assert_said(&status, sentence, HealthLevel::Attention);
    status.schedule.by_hand = Some(ByHandStatus {
        state: ShowState::Closed,
        until: None,
        then: None,
    });
    let sentence = "The pool is closed until somebody ends this: it was set by hand without an end (shoal ctl plan).";
    assert_said(&status, sentence, HealthLevel::Attention);
    // A fixed fault: without a plan, the missing plan was said to be the reason.
    status.schedule.is_planned = false;
    assert_said(&status, sentence, HealthLevel::Attention);
    status.schedule.by_hand = None;
    let sentence = "The pool is closed until somebody ends this: no hours are planned.";
    assert_said(&status, sentence, HealthLevel::Attention);
    status.schedule.state = ShowState::Dark;
    status.schedule.by_hand = Some(ByHandStatus {
        state: ShowState::Dark,
        until: Some("2026-11-27T14:00:00+01:00".to_owned()),
        then: None,
    });
    status.schedule.lit_again = Some("2026-11-27T14:10:00+01:00".to_owned());
    let sentence = "All is well. The picture is dark until 2026-11-27 14:10.";
    assert_said(&status, sentence, HealthLevel::Well);
    // The reason of the black floor comes first, whatever else is wrong.
    status.faults.push(fault("camera.unplugged"));
    let (sentence, level) = said(&status);
    assert!(
        sentence.starts_with("The picture is dark until 2026-11-27 14:10. camera.unplugged"),
        "{sentence}"
    );
    assert_eq!(level, HealthLevel::Fault);
    let mut paused = usual();
    paused.paused_secs = Some(3.0);
    assert_eq!(said(&paused).1, HealthLevel::Attention);
    paused.schedule.paused_until = Some("2026-11-27T14:10:00+01:00".to_owned());
    let sentence = "All is well. The fish stand still until 2026-11-27 14:10.";
    assert_said(&paused, sentence, HealthLevel::Well);
}

/// A fixed fault: the note that the camera was never calibrated hid a port that another program uses.
#[test]
fn a_fault_comes_before_a_note_of_the_same_colour() {
    let mut status = usual();
    status.calibration.current = None;
    status.faults.push(fault("remote.osc"));
    let (sentence, level) = said(&status);
    assert!(
        sentence.starts_with("remote.osc") && sentence.ends_with("(and 1 more)"),
        "{sentence}"
    );
    assert_eq!(level, HealthLevel::Attention);
}

/// A fixed fault: the sentence named `camera.ended`, which is the end of a recording, for a camera program that is started again.
#[test]
fn the_sentence_has_the_name_under_which_the_book_has_the_remedy() {
    let mut status = usual();
    status.faults.push(fault("camera.ended"));
    assert!(said(&status).0.starts_with("camera.program_ended since"));
}

/// A fixed bug: without opening hours, an event that waited for the clock looked as if it would start.
#[test]
fn an_event_that_waits_for_the_clock_is_said() {
    let mut status = usual();
    status.schedule.next_event = Some(PreviewRule::default());
    let sentence = "The clock of the computer is not set, so the opening hours and the events of the plan do not apply yet.";
    assert_said(&status, sentence, HealthLevel::Attention);
    status.schedule.is_clock_trusted = true;
    assert_eq!(said(&status).1, HealthLevel::Well);
}

#[test]
fn a_fault_has_the_same_colour_everywhere_and_its_advice_fits_the_cause() {
    for name in MILD.iter().copied() {
        let mut status = usual();
        status.faults.push(fault(name));
        // Ticks that take long are the reason.
        status.timing.tick.p99_ms = 20.0;
        complete(&mut status);
        assert_eq!(status.health.level, HealthLevel::Attention, "{name}");
        assert!(!status.is_healthy, "{name}: it is a fault");
        assert_eq!(status.health.findings[0].name, name);
    }
    let name_of = |fault_name: &str, kind: CameraKind, tick_ms: f64| {
        let mut status = usual();
        status.camera.kind = kind;
        status.timing.tick.p99_ms = tick_ms;
        status.faults.push(fault(fault_name));
        let health = HealthStatus::of(&status);
        health.findings[0].name.clone()
    };
    let ended = |kind| name_of("camera.ended", kind, 1.0);
    assert_eq!(ended(CameraKind::Recording), "camera.ended");
    assert_eq!(ended(CameraKind::Live), "camera.program_ended");
    let late = |tick_ms| name_of("simulation_late", CameraKind::Live, tick_ms);
    assert_eq!(late(20.0), "simulation_late");
    assert_eq!(late(1.7), "computer_busy");
}

/// A fixed bug: a desk that stood still left the last status, which said that all was well.
#[test]
fn an_old_status_is_a_fault() {
    let mut status = usual();
    complete(&mut status);
    make_stale(&mut status, 14.2);
    assert!(!status.is_healthy);
    assert_eq!(status.health.level, HealthLevel::Fault);
    assert!(
        status.sentence.contains("not answered for 14 s"),
        "{}",
        status.sentence
    );
}

/// A fixed bug: a green step said "calibrated" although the camera had been moved since.
#[test]
fn a_calibration_in_use_names_the_faults_because_of_which_it_does_not_hold() {
    let mut status = usual();
    status
        .faults
        .extend(["counting", "camera_moved", "calibration_projection"].map(fault));
    complete(&mut status);
    assert_eq!(
        status.calibration.doubts,
        ["camera_moved", "calibration_projection"]
    );
    status.faults.clear();
    complete(&mut status);
    assert!(status.calibration.doubts.is_empty());
}

/// A fixed bug: "the picture is far too bright" stood in red for half a minute after it had ended.
#[test]
fn a_fault_that_is_away_is_amber_and_says_so() {
    let mut status = usual();
    status.faults.push(FaultStatus {
        away_secs: Some([12.0, 40.0]),
        ..fault("camera.saturated")
    });
    let (sentence, level) = said(&status);
    assert!(
        sentence
            .ends_with("(it comes and goes: away for 12 s, over when it has stayed away for 40 s)")
    );
    assert_eq!(level, HealthLevel::Attention);
}

/// A fixed bug: "Not at this moment" stood above what was wrong at this moment.
#[test]
fn a_fault_that_is_away_comes_after_one_that_is_present() {
    let mut status = usual();
    status.faults.push(fault("counting"));
    status.faults.push(FaultStatus {
        away_secs: Some([12.0, 40.0]),
        ..fault("camera.saturated")
    });
    complete(&mut status);
    let names: Vec<&str> = status
        .health
        .findings
        .iter()
        .map(|f| f.name.as_str())
        .collect();
    let place = |name: &str| names.iter().position(|own| *own == name).unwrap();
    assert!(place("counting") < place("camera.saturated"), "{names:?}");
}

/// A fixed bug: the page said that the camera is being calibrated, and beside it that it is not calibrated.
#[test]
fn a_camera_that_is_being_calibrated_is_not_called_uncalibrated() {
    let mut status = usual();
    status.calibration.current = None;
    complete(&mut status);
    assert!(
        status.sentence.contains("not calibrated"),
        "{}",
        status.sentence
    );
    status.calibration.is_running = true;
    complete(&mut status);
    assert!(
        !status.sentence.contains("not calibrated"),
        "{}",
        status.sentence
    );
}

/// A fixed bug: one sentence had the start of a fault in UTC and the next opening in the time of the pool.
#[test]
fn the_begin_of_a_fault_is_in_the_time_of_the_pool() {
    let mut status = usual();
    status.schedule.time_zone = "Asia/Tokyo".to_owned();
    status.faults.push(fault("monitor"));
    complete(&mut status);
    assert!(
        status
            .sentence
            .contains("monitor since 2026-01-01 09:00: plug"),
        "{}",
        status.sentence
    );
}
