//! Keys of the window: they control the camera calibration, and what is drawn over the pool.
//!
//! In: a key, and what is shown. Out: the command for the key. Must not: execute the command.

use winit::keyboard::{Key, NamedKey};

use crate::control::{
    CalibrationStatus, CalibrationStep, Command, OverlayChoice, OverlayPart, ShowCommand,
    TouchMark, VisionCommand,
};

/// What the key O draws over the pool, one after the other.
const OVERLAYS: [&[OverlayPart]; 4] = [
    &[OverlayPart::Why],
    &[OverlayPart::Forces],
    &[OverlayPart::Flock, OverlayPart::Sight],
    &[OverlayPart::Shadows, OverlayPart::Vectors],
];

/// Returns the command for a key: the key O draws the next overlay over the pool, or none after the last one; other keys calibrate
/// the camera. `None` if the key does nothing.
pub fn command_for_key(
    key: &Key,
    status: &CalibrationStatus,
    overlay: Option<&OverlayChoice>,
) -> Option<Command> {
    if !status.is_running && letter(key) == Some('o') {
        let shown = overlay.map(|choice| choice.show.as_slice());
        let number = shown.map_or(0, |shown| {
            let found = OVERLAYS.iter().position(|parts| *parts == shown);
            found.map_or(OVERLAYS.len(), |number| number + 1)
        });
        return Some(Command::Show(ShowCommand::Overlay {
            show: OVERLAYS
                .get(number)
                .map_or_else(Vec::new, |parts| parts.to_vec()),
            fish: None,
            secs: None,
        }));
    }
    let step = calibration_step_for_key(key, status)?;
    Some(Command::Vision(VisionCommand::Calibrate { step }))
}

/// Returns the calibration step for a key in the current state; `None` if the key does nothing.
fn calibration_step_for_key(key: &Key, status: &CalibrationStatus) -> Option<CalibrationStep> {
    if !status.is_running {
        let start = |mark| CalibrationStep::Start {
            columns: 4,
            rows: 4,
            mark,
        };
        return match letter(key)? {
            'c' => Some(start(TouchMark::Disc)),
            'p' => Some(start(TouchMark::Pole)),
            'g' => Some(CalibrationStep::GrayCode),
            _ => None,
        };
    }
    match key {
        Key::Named(NamedKey::Escape) => Some(CalibrationStep::Cancel),
        Key::Named(NamedKey::ArrowLeft | NamedKey::Backspace) => Some(CalibrationStep::Back),
        Key::Named(NamedKey::ArrowRight) => Some(CalibrationStep::Skip),
        Key::Named(NamedKey::Enter) if status.is_proven => Some(CalibrationStep::Accept),
        _ if letter(key) == Some('r') => Some(CalibrationStep::Repeat { target: None }),
        _ => None,
    }
}

fn letter(key: &Key) -> Option<char> {
    match key {
        Key::Character(text) => text.chars().next().map(|c| c.to_ascii_lowercase()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_o_shows_one_overlay_after_the_other_and_none_at_last() {
        let idle = CalibrationStatus::default();
        let key = Key::Character("o".into());
        let mut shown = OverlayChoice::default();
        let mut seen = Vec::new();
        for _ in 0..=OVERLAYS.len() {
            let now = Some(&shown).filter(|shown| !shown.show.is_empty());
            let Some(Command::Show(ShowCommand::Overlay { show, .. })) =
                command_for_key(&key, &idle, now)
            else {
                panic!("no overlay");
            };
            shown.show.clone_from(&show);
            seen.push(show);
        }
        assert_eq!(seen[..OVERLAYS.len()], OVERLAYS.map(<[_]>::to_vec));
        assert!(seen[OVERLAYS.len()].is_empty());
        // One that the panel has chosen ends.
        shown.show = vec![OverlayPart::Mesh];
        let command = command_for_key(&key, &idle, Some(&shown));
        assert!(
            matches!(command, Some(Command::Show(ShowCommand::Overlay { show, .. })) if show.is_empty())
        );
        let running = CalibrationStatus {
            is_running: true,
            ..CalibrationStatus::default()
        };
        assert_eq!(command_for_key(&key, &running, None), None);
    }

    #[test]
    fn keys_depend_on_the_state_of_the_calibration() {
        let idle = CalibrationStatus::default();
        let running = CalibrationStatus {
            is_running: true,
            ..CalibrationStatus::default()
        };
        let proven = CalibrationStatus {
            is_proven: true,
            ..running.clone()
        };
        let named = |key| Key::Named(key);
        let letter = |text: &str| Key::Character(text.into());
        let step = calibration_step_for_key;
        let escape = named(NamedKey::Escape);
        // Escape asks whether the program ends.
        assert_eq!(step(&escape, &idle), None);
        assert_eq!(step(&escape, &running), Some(CalibrationStep::Cancel));
        for key in ["c", "C"] {
            let start = step(&letter(key), &idle);
            assert!(
                matches!(start, Some(CalibrationStep::Start { .. })),
                "{start:?}"
            );
            assert_eq!(step(&letter(key), &running), None);
        }
        assert_eq!(step(&letter("g"), &idle), Some(CalibrationStep::GrayCode));
        let enter = named(NamedKey::Enter);
        assert_eq!(step(&enter, &running), None);
        assert_eq!(step(&enter, &proven), Some(CalibrationStep::Accept));
        let (left, right) = (named(NamedKey::ArrowLeft), named(NamedKey::ArrowRight));
        assert_eq!(step(&left, &running), Some(CalibrationStep::Back));
        assert_eq!(step(&right, &running), Some(CalibrationStep::Skip));
        assert_eq!(step(&right, &idle), None);
        assert!(step(&letter("r"), &running).is_some());
    }
}
