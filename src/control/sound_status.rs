//! What the status says of the sound.

use serde::{Deserialize, Serialize};

/// The sound of the pool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SoundStatus {
    /// Whether the site wants sound.
    pub is_on: bool,
    /// Whether sound is switched off by hand.
    pub is_muted: bool,
    /// Whether the pool is heard now: it is not while the picture is dark or stands still, and without a device.
    pub is_heard: bool,
    /// Volume in decibels, as the site says it.
    pub volume_db: f32,
    /// Name of the device that plays; empty if none does.
    pub device: String,
    /// Why no device plays; empty if one does, or if the site wants no sound.
    pub problem: String,
    /// Largest sample of the last moment in decibels below full scale; −120 for silence.
    pub peak_db: f32,
    /// Names of the loudspeakers in the order of the channels.
    pub speakers: Vec<String>,
    /// Number of events that were not heard, because too many came at once.
    pub rejected: u64,
}
