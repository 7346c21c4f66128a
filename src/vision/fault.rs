//! Faults of the picture that vision detects. Plain data with a readable sentence.

use glam::{DVec2, UVec2};

/// Share of the floor above which an unreliable picture is the stronger fault.
pub(super) const LARGE_SHARE: f32 = 0.25;

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
}

impl VisionFault {
    /// All names, in the order of their severity. A fault has at most one occurrence at a time.
    pub const NAMES: [&'static str; 3] = ["unreliable_floor", "unreliable_area", "rolling_bands"];

    /// Returns the name for logs, metrics and the control panel.
    pub fn name(&self) -> &'static str {
        match self {
            Self::UnreliableFloor(_) => Self::NAMES[0],
            Self::UnreliableArea(_) => Self::NAMES[1],
            Self::RollingBands(_) => Self::NAMES[2],
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
                 or moves before it",
                place(area),
                percent(area.share)
            ),
            Self::UnreliableFloor(area) => format!(
                "the picture is unreliable on {} of the floor, most of all near {}: visitors there may not be detected; keep \
                 moving sunlight, dust and snow out of the light of the lamps, and clean the lens",
                percent(area.share),
                place(area)
            ),
            Self::RollingBands(depth) => format!(
                "bands of ± {} roll over the picture, because the lamps flicker with the mains power; set the exposure time \
                 to a multiple of 10 ms (50 Hz mains) or 8.33 ms (60 Hz), or use lamps that do not flicker",
                percent(*depth)
            ),
        }
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
