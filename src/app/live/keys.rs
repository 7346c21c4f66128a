//! Keys of the pool's window that calibrate the camera: for whoever has no panel at hand.
//!
//! In: a key, how the camera is calibrated. Out: the step that it stands for. Must not: do it.

use winit::keyboard::{Key, NamedKey};

use crate::control::{CalibrationStatus, CalibrationStep, TouchMark};

/// The step that a key stands for now; `None` for a key that has no meaning here.
pub fn step_of_key(key: &Key, status: &CalibrationStatus) -> Option<CalibrationStep> {
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
    fn keys_mean_what_the_state_allows() {
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
        let escape = named(NamedKey::Escape);
        assert_eq!(step_of_key(&escape, &idle), None, "Escape ends the program");
        assert_eq!(
            step_of_key(&escape, &running),
            Some(CalibrationStep::Cancel)
        );
        for key in ["c", "C"] {
            let start = step_of_key(&letter(key), &idle);
            assert!(
                matches!(start, Some(CalibrationStep::Start { .. })),
                "{start:?}"
            );
            assert_eq!(step_of_key(&letter(key), &running), None);
        }
        assert_eq!(
            step_of_key(&letter("g"), &idle),
            Some(CalibrationStep::GrayCode)
        );
        let enter = named(NamedKey::Enter);
        assert_eq!(step_of_key(&enter, &running), None);
        assert_eq!(step_of_key(&enter, &proven), Some(CalibrationStep::Accept));
        let (left, right) = (named(NamedKey::ArrowLeft), named(NamedKey::ArrowRight));
        assert_eq!(step_of_key(&left, &running), Some(CalibrationStep::Back));
        assert_eq!(step_of_key(&right, &running), Some(CalibrationStep::Skip));
        assert_eq!(step_of_key(&right, &idle), None);
        assert!(step_of_key(&letter("r"), &running).is_some());
    }
}
