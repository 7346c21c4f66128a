//! The face of a sound device, so that the stage runs with a real one, with none, and in tests with a simulated one.

use super::link::Player;

/// The wanted device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WantedOutput {
    /// Its name; empty for the device that the system uses.
    pub device: String,
    /// Number of channels.
    pub channels: usize,
}

/// A device that is open. It is closed when it is dropped.
pub trait OpenOutput {
    /// Name of the device.
    fn name(&self) -> &str;

    /// Returns why the device does not play any more; `None` while it plays.
    fn problem(&self) -> Option<String>;
}

/// Opens sound devices.
pub trait SoundOutput: Send {
    /// Opens a device. `player` makes the player for its rate of samples in Hz.
    ///
    /// # Errors
    /// When there is no such device, or it does not play as wanted.
    fn open(
        &self,
        wanted: &WantedOutput,
        player: &mut dyn FnMut(u32) -> Player,
    ) -> Result<Box<dyn OpenOutput>, OutputError>;
}

/// Why no device is open.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutputError {
    /// The program was built without sound devices.
    #[error("this program was built without sound devices (the feature `sound` of cargo)")]
    NotBuilt,
    /// There is none.
    #[error("there is no sound device{0}")]
    NoDevice(String),
    /// The device has too few channels.
    #[error(
        "the sound device {device} plays {most} channels, and the site names {wanted} loudspeakers; name fewer in sound.speakers, or another sound.device"
    )]
    Channels {
        /// Name of the device.
        device: String,
        /// Most channels that it plays.
        most: usize,
        /// Channels that are wanted.
        wanted: usize,
    },
    /// The device does not work.
    #[error("the sound device {device} does not play: {reason}")]
    Device {
        /// Name of the device.
        device: String,
        /// Reason of the system.
        reason: String,
    },
}
