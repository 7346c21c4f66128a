//! The text that a technician reads on the floor while touch targets are shown: short, because the letters are large.
//!
//! In: the state of a procedure, and the language of the site. Out: what is waited for, in one or two sentences.

use crate::calibration::{SpotFault, TargetObject, TouchProcedure, WaitReason};
use crate::control::CalibrationWait;
use crate::site::Language;

/// Returns what a procedure waits for, or its result.
pub(super) fn floor_text(touch: &TouchProcedure, language: Language) -> String {
    let (report, rejection) = (touch.fitted().map(|(_, report)| report), touch.rejection());
    match (touch.shown_target(), report, rejection) {
        (Some(target), _, rejection) => {
            let head = match language {
                Language::En => format!("Cross {} of {}.", target.number, target.of),
                Language::De => format!("Kreuz {} von {}.", target.number, target.of),
            };
            let again = match rejection {
                Some(_) => language.choose(
                    " It does not fit the others. Once again:",
                    " Es passt nicht zu den anderen. Noch einmal:",
                ),
                None => "",
            };
            format!("{head}{again} {}", step_text(touch, language))
        }
        (None, Some(report), _) => {
            let (mean_mm, worst_mm) = (
                report.errors.predicted_rms_m * 1e3,
                report.errors.predicted_worst_m * 1e3,
            );
            match language {
                Language::En => format!(
                    "Done: {} crosses, error {mean_mm:.0} mm, at most {worst_mm:.0} mm.",
                    report.points
                ),
                Language::De => format!(
                    "Fertig: {} Kreuze, Fehler {mean_mm:.0} mm, höchstens {worst_mm:.0} mm.",
                    report.points
                ),
            }
        }
        (None, None, _) if touch.is_stuck() => language
            .choose(
                "The crosses do not fit each other. Start again, and follow the numbers.",
                "Die Kreuze passen nicht zueinander. Neu beginnen, der Reihe nach.",
            )
            .to_owned(),
        (None, None, _) => language
            .choose(
                "Rejected: the measurement is not exact enough. The old calibration stays.",
                "Abgelehnt: die Messung ist nicht genau genug. Die alte Kalibrierung bleibt.",
            )
            .to_owned(),
    }
}

/// Returns what is wrong with the camera.
pub(super) fn camera_text(wait: CalibrationWait, language: Language) -> &'static str {
    match wait {
        CalibrationWait::CameraBlack => language.choose(
            "The camera's picture is black. Lens covered, or lamp off?",
            "Das Bild der Kamera ist schwarz. Objektiv verdeckt oder Lampe aus?",
        ),
        CalibrationWait::CameraSaturated => language.choose(
            "The camera's picture is far too bright.",
            "Das Bild der Kamera ist viel zu hell.",
        ),
        CalibrationWait::CameraFrozen => language.choose(
            "The camera's picture is frozen.",
            "Das Bild der Kamera steht still.",
        ),
        _ => language.choose(
            "The camera sends no pictures. Check its cable.",
            "Die Kamera sendet keine Bilder. Kabel prüfen.",
        ),
    }
}

fn step_text(touch: &TouchProcedure, language: Language) -> String {
    let say = |english, german| language.choose(english, german).to_owned();
    let put = match touch.target_object() {
        TargetObject::Disc => say(
            "Put the disc on the cross and step away.",
            "Scheibe auf das Kreuz legen und weggehen.",
        ),
        TargetObject::Pole => say(
            "Put the pole on the cross and step away.",
            "Stab auf das Kreuz stellen und weggehen.",
        ),
    };
    match touch.wait_reason() {
        WaitReason::Floor => say("Step out of the light.", "Bitte aus dem Licht gehen."),
        WaitReason::Light => say(
            "The light is changing. Wait.",
            "Das Licht ändert sich. Warten.",
        ),
        WaitReason::Object => put,
        WaitReason::Unseen => match touch.target_object() {
            TargetObject::Disc => say(
                "No dark disc is visible. Is it dark for the camera?",
                "Keine dunkle Scheibe zu sehen. Ist sie für die Kamera dunkel?",
            ),
            TargetObject::Pole => say(
                "No dark pole is visible. Is it dark for the camera?",
                "Kein dunkler Stab zu sehen. Ist er für die Kamera dunkel?",
            ),
        },
        WaitReason::Removal => match language {
            Language::En => format!("Lift it first. {put}"),
            Language::De => format!("Erst hochheben. {put}"),
        },
        WaitReason::Stillness { left_secs } => match language {
            Language::En => format!("Do not move it for {left_secs:.0} s."),
            Language::De => format!("{left_secs:.0} s nicht bewegen."),
        },
        WaitReason::SingleSpot { .. } => say(
            "More than one dark spot. Step out of the light.",
            "Mehr als ein dunkler Fleck. Bitte aus dem Licht gehen.",
        ),
        WaitReason::Faulty(SpotFault::CutOff) => say(
            "The camera does not see all of it. Turn the camera, or skip.",
            "Die Kamera sieht es nicht ganz. Kamera drehen oder überspringen.",
        ),
        WaitReason::Faulty(SpotFault::TooLarge) => say(
            "The dark spot is too large. Step out of the light.",
            "Der dunkle Fleck ist zu groß. Bitte aus dem Licht gehen.",
        ),
        WaitReason::Faulty(SpotFault::NotElliptic) => say(
            "This is not the disc. Step away.",
            "Das ist nicht die Scheibe. Bitte weggehen.",
        ),
        WaitReason::Faulty(SpotFault::OneStripe) => say(
            "Pole and shadow look alike here. Use the disc, or skip.",
            "Stab und Schatten sind hier eins. Scheibe nehmen oder überspringen.",
        ),
    }
}
