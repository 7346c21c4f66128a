//! The table `[sound]` of the site file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::level::{Levels, gain_from_db};

/// Largest number of loudspeakers.
pub const SPEAKERS_MAX: usize = 8;

/// The sound of the pool: wind, falls, bubbles, splashes, steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SoundParams {
    /// Whether the pool sounds. A machine without a sound device runs without sound and tries again every minute.
    pub on: bool,
    /// Whether the pool must sound: no sound device is then a fault from the start on. Otherwise only a device that is lost is one.
    pub required: bool,
    /// Name of the sound device, as `aplay -L` prints it, for example `hw:CARD=USB,DEV=0`. Empty: the device that the system uses.
    pub device: String,
    /// Volume of everything in decibels. Higher: louder, 0 is the loudest. Lower: quieter.
    #[schemars(range(min = -60.0, max = 0.0))]
    pub volume_db: f32,
    /// Change of the volume in decibels in the state `attract` of the opening hours, for a window at night. Higher: as loud as when
    /// the pool is open; 0: no change. Lower: quieter.
    #[schemars(range(min = -60.0, max = 0.0))]
    pub attract_db: f32,
    /// Whether sound is switched off by hand.
    pub mute: bool,
    /// Level in decibels below full scale that no sample exceeds, whatever happens at once. Higher: splashes stand out, 0 uses the whole
    /// range of the device. Lower: a limit that protects ears and loudspeakers.
    #[schemars(range(min = -40.0, max = 0.0))]
    pub limit_db: f32,
    /// Level in decibels of wind and falls, relative to splashes, steps and bubbles. Higher: rushing water. Lower: only events are
    /// heard; -60: no wind and no falls.
    #[schemars(range(min = -60.0, max = 12.0))]
    pub bed_db: f32,
    /// The loudspeakers in the order of the device's channels. Empty: two, in the middle of the left and of the right edge.
    #[schemars(length(max = 8))]
    pub speakers: Vec<SpeakerParams>,
}

impl Default for SoundParams {
    fn default() -> Self {
        Self {
            on: true,
            required: false,
            device: String::new(),
            volume_db: -12.0,
            attract_db: -10.0,
            mute: false,
            limit_db: -6.0,
            bed_db: 0.0,
            speakers: Vec::new(),
        }
    }
}

/// A loudspeaker.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpeakerParams {
    /// Name in panel and status, for example `front left`.
    pub name: String,
    /// Place in floor meters, `[x, z]`: x to the right, z towards the lower edge of the picture. It may be beside the surface.
    #[schemars(inner(range(min = -100.0, max = 100.0)))]
    pub at_m: [f32; 2],
}

impl SoundParams {
    /// Returns the loudspeakers for a surface with these half extents in meters: those of the site, or two.
    #[must_use]
    pub fn all_speakers(&self, half_m: [f32; 2]) -> Vec<SpeakerParams> {
        if !self.speakers.is_empty() {
            return self.speakers.iter().take(SPEAKERS_MAX).cloned().collect();
        }
        let speaker = |name: &str, x: f32| SpeakerParams {
            name: name.to_owned(),
            at_m: [x, 0.0],
        };
        vec![speaker("left", -half_m[0]), speaker("right", half_m[0])]
    }

    /// Returns the levels. `change_db` is the change of the volume now.
    #[must_use]
    pub fn levels(&self, is_heard: bool, change_db: f32) -> Levels {
        // The lowest level of the bed is silence.
        let bed = if self.bed_db <= -60.0 {
            0.0
        } else {
            gain_from_db(self.bed_db)
        };
        Levels {
            volume: gain_from_db(self.volume_db + change_db),
            bed,
            limit: gain_from_db(self.limit_db),
            is_heard: is_heard && self.on,
            is_muted: self.mute,
        }
    }

    /// Returns the problems of the table, each with the path of its value.
    #[must_use]
    pub fn problems(&self) -> Vec<(String, String)> {
        let mut problems = Vec::new();
        for (i, speaker) in self.speakers.iter().enumerate() {
            let is_same = |other: &SpeakerParams| other.name == speaker.name;
            if speaker.name.trim().is_empty() || self.speakers[..i].iter().any(is_same) {
                let message = format!(
                    "the name \"{}\" is empty or already used; give each loudspeaker a name of its own",
                    speaker.name
                );
                problems.push((format!("speakers[{i}].name"), message));
            }
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_list_there_are_two_loudspeakers_at_the_edges() {
        let speakers = SoundParams::default().all_speakers([2.0, 1.5]);
        let found: Vec<_> = speakers.iter().map(|s| (s.name.as_str(), s.at_m)).collect();
        assert_eq!(found, [("left", [-2.0, 0.0]), ("right", [2.0, 0.0])]);
    }

    #[test]
    fn levels_follow_volume_state_and_switch() {
        let params = SoundParams {
            volume_db: -6.0,
            bed_db: -60.0,
            ..SoundParams::default()
        };
        let levels = params.levels(true, -14.0);
        assert!((levels.volume - 0.1).abs() < 1e-6 && levels.bed == 0.0 && levels.is_heard);
        let off = SoundParams {
            on: false,
            ..params
        };
        assert!(!off.levels(true, 0.0).is_heard);
    }

    #[test]
    fn names_of_loudspeakers_differ() {
        let named = |name: &str| SpeakerParams {
            name: name.to_owned(),
            ..SpeakerParams::default()
        };
        let params = SoundParams {
            speakers: vec![named("a"), named("a"), named(" ")],
            ..SoundParams::default()
        };
        let paths: Vec<String> = params
            .problems()
            .into_iter()
            .map(|(path, _)| path)
            .collect();
        assert_eq!(paths, ["speakers[1].name", "speakers[2].name"]);
    }
}
