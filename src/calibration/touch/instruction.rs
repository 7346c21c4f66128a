//! The instruction that a technician reads in the status and on the panel while touch targets are measured.

use std::fmt::Write as _;

use super::{TouchProcedure, WaitReason};
use crate::calibration::spot::{SpotFault, TargetObject};

impl TouchProcedure {
    /// Returns the current instruction for the technician.
    pub fn instruction(&self) -> String {
        let mut text = String::new();
        if let Some(rejection) = self.rejection() {
            text = rejection.text();
            text.push(' ');
        }
        // Writing to a String cannot fail.
        let _ = match (self.shown_target(), self.fitted()) {
            (Some(target), _) => write!(
                text,
                "Cross {} of {}: {}",
                target.number,
                target.of,
                self.step_instruction()
            ),
            (None, Some((_, report))) => write!(
                text,
                "{} crosses are measured. The predicted floor error is {:.0} mm (at most {:.0} mm). {}Accept the calibration, or \
                 cancel to keep the old one.",
                report.points,
                report.errors.predicted_rms_m * 1e3,
                report.errors.predicted_worst_m * 1e3,
                report.mirror_sentence()
            ),
            (None, None) => write!(
                text,
                "The old calibration stays in use. {}",
                if self.is_stuck() {
                    "Measuring the same cross again does not help, so other crosses are wrong. Start again, and follow the numbers; \
                     or repeat another cross by its number, or cancel."
                } else {
                    "Repeat a cross by its number, or cancel."
                }
            ),
        };
        text
    }

    /// Returns the instruction for the shown target.
    fn step_instruction(&self) -> String {
        let (put, object) = match self.options.object {
            TargetObject::Disc => (
                "put the center of the disc on the cross and step away",
                "disc",
            ),
            TargetObject::Pole => ("put the pole on the cross and step away", "pole"),
        };
        match self.waiting {
            WaitReason::Floor => "the empty floor is being learned. Step out of the light.".to_owned(),
            WaitReason::Light => "the light is changing. Wait a moment.".to_owned(),
            WaitReason::Object => format!("{put}."),
            WaitReason::Unseen => format!(
                "{put}. No dark spot is visible: is the {object} dark in the camera's picture? Some black materials are bright in infrared."
            ),
            WaitReason::Removal => format!(
                "{put}. First lift the object: what was there before the cross appeared is ignored."
            ),
            WaitReason::Stillness { left_secs } => format!("do not move the object for {left_secs:.1} s."),
            WaitReason::SingleSpot { spots } => format!(
                "{spots} dark spots are still, but only the one on the cross is allowed. Step out of the light."
            ),
            WaitReason::Faulty(SpotFault::CutOff) => {
                "the spot is cut off by the edge of the camera frame. Turn the camera so that it sees this cross completely, or skip it."
                    .to_owned()
            }
            WaitReason::Faulty(SpotFault::TooLarge) => {
                format!("the dark spot is too large for a {object}. Step out of the light.")
            }
            WaitReason::Faulty(SpotFault::NotElliptic) => {
                "the dark spot is not a disc. Step away, so that only the disc is dark.".to_owned()
            }
            WaitReason::Faulty(SpotFault::OneStripe) => {
                "the camera cannot distinguish the pole from its shadow here. Use the disc for this cross, or skip it."
                    .to_owned()
            }
        }
    }
}
