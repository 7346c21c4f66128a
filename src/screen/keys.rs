//! Keys of the window that control the camera calibration.
//!
//! In: a key, and the state of the calibration. Out: the calibration step for the key. Must not: execute the step.

use winit::keyboard::{Key, NamedKey};

use crate::control::{CalibrationStatus, CalibrationStep, TouchMark};

/// Returns the calibration step for a key in the current state; `None` if the key does nothing.
pub fn calibration_step_for_key(key: &Key, status: &CalibrationStatus) -> Option<CalibrationStep> {
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
