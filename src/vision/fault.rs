//! Faults of the picture that vision detects. Plain data with a readable sentence.

use glam::{DVec2, UVec2};

/// Share of the floor above which an unreliable picture is the stronger fault.
pub(super) const LARGE_SHARE: f32 = 0.25;

/// Factor above which no longer exposure is advised: something covers the lens, or the lamp is off.
const FACTOR_MAX: f32 = 16.0;

/// How the camera exposes the surface. Data of the set-up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exposure {
    /// Share of the surface that is too dark for shadows, from 0 to 1.
    pub dark_share: f32,
    /// Share of the surface at the maximum level, from 0 to 1.
    pub saturated_share: f32,
    /// Factor by which exposure time or gain should be multiplied.
    pub factor: f32,
}

/// A part of the picture that cannot be trusted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnreliableArea {
    /// Middle of the largest connected place, in camera pixels.
    pub place_px: UVec2,
    /// The same place on the floor, in meters.
    pub place_m: DVec2,
    /// Share of the visible floor that cannot be trusted, from 0 to 1, in all places together.
    pub share: f32,
}

/// A fault of the picture. It lasts as long as [`Vision::faults`](super::Vision::faults) returns it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VisionFault {
    /// Something bright moves before a part of the picture again and again.
    UnreliableArea(UnreliableArea),
    /// The same as [`Self::UnreliableArea`], for a large part of the floor.
    UnreliableFloor(UnreliableArea),
    /// Bands of flickering lamps roll over the picture. The value is their depth as a share of the brightness.
    RollingBands(f32),
    /// The lamp of the camera is off in a share of the pictures, which are skipped.
    StrobingLight(f32),
    /// A large part of the surface is too dark for shadows.
    DarkFloor(Exposure),
    /// A large part of the surface is at the maximum level.
    BrightFloor(Exposure),
}

impl VisionFault {
    /// All names, in the order of their severity. A fault has at most one occurrence at a time.
    pub const NAMES: [&'static str; 6] = [
        "dark_floor",
        "bright_floor",
        "unreliable_floor",
        "unreliable_area",
        "strobing_light",
        "rolling_bands",
    ];

    /// Returns the name for logs, metrics and the control panel.
    pub fn name(&self) -> &'static str {
        match self {
            Self::DarkFloor(_) => Self::NAMES[0],
            Self::BrightFloor(_) => Self::NAMES[1],
            Self::UnreliableFloor(_) => Self::NAMES[2],
            Self::UnreliableArea(_) => Self::NAMES[3],
            Self::StrobingLight(_) => Self::NAMES[4],
            Self::RollingBands(_) => Self::NAMES[5],
        }
    }

    /// Returns a sentence: what is wrong, where, and what to do. Places are also given in floor meters if the camera is
    /// calibrated.
    pub fn sentence(&self, is_calibrated: bool) -> String {
        let place = |area: &UnreliableArea| {
            let UnreliableArea {
                place_px, place_m, ..
            } = area;
            let pixel = format!("pixel ({}, {})", place_px.x, place_px.y);
            if is_calibrated {
                format!("({:.1}, {:.1}) m, {pixel}", place_m.x, place_m.y)
            } else {
                pixel
            }
        };
        match self {
            Self::UnreliableArea(area) => format!(
                "the picture is unreliable near {}: {} of the floor; clean the lens, and look for something bright that hangs \
                 or moves before it; switch off a clock or text that the camera writes into its picture",
                place(area),
                percent(area.share)
            ),
            Self::UnreliableFloor(area) => format!(
                "the picture is unreliable on {} of the floor, most of all near {}: visitors there may not be detected; keep \
                 moving sunlight, dust and snow out of the light of the lamps, and clean the lens",
                percent(area.share),
                place(area)
            ),
            Self::StrobingLight(share) => format!(
                "the lamp of the camera strobes: about {} of its pictures are dark and are skipped; switch the strobe off, or use \
                 a camera whose lamp is always on",
                percent(*share)
            ),
            Self::DarkFloor(exposure) => format!(
                "{} of the surface is so dark in infrared that shadows on it cannot be detected; {} or add infrared lamps",
                percent(exposure.dark_share),
                exposure.advice()
            ),
            Self::BrightFloor(exposure) => format!(
                "{} of the surface is at the maximum level of the camera, where shadows are weak; {} or keep daylight out",
                percent(exposure.saturated_share),
                exposure.advice()
            ),
            Self::RollingBands(depth) => format!(
                "bands of ± {} roll over the picture, because the lamps flicker with the mains power; set the exposure time \
                 to a multiple of 10 ms (50 Hz mains) or 8.33 ms (60 Hz), or use lamps that do not flicker",
                percent(*depth)
            ),
        }
    }
}

impl Exposure {
    /// Returns what to do with the exposure of the camera.
    fn advice(&self) -> String {
        if self.saturated_share > self.dark_share {
            // A level at the maximum does not say how much brighter the floor is.
            return "halve the exposure time or the gain, and look again,".to_owned();
        }
        // No camera has so much to spare.
        if self.factor > FACTOR_MAX {
            return "check that the lens is not covered and the infrared lamp is on,".to_owned();
        }
        format!(
            "multiply the exposure time or the gain by {:.1},",
            self.factor
        )
    }
}

/// Returns a share as text. Small shares have one decimal place.
fn percent(share: f32) -> String {
    let percent = 100.0 * share;
    if percent < 9.95 {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.0} %")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shoal_testing::assert_message;

    #[test]
    fn a_sentence_names_the_place() {
        let area = UnreliableArea {
            place_px: UVec2::new(120, 80),
            place_m: DVec2::new(1.21, -0.4),
            share: 0.03,
        };
        let fault = VisionFault::UnreliableArea(area);
        let sentence = fault.sentence(true);
        assert_message(
            &sentence,
            &["near (1.2, -0.4) m, pixel (120, 80): 3.0 % of the floor"],
        );
        assert!(!fault.sentence(false).contains(" m,"));
        assert_eq!(VisionFault::RollingBands(0.2).name(), "rolling_bands");
    }
}
