//! The sound devices of this machine, or none if the program was built without them.

#[cfg(not(feature = "device"))]
use super::link::Player;
use super::output::SoundOutput;
#[cfg(not(feature = "device"))]
use super::output::{OpenOutput, OutputError, WantedOutput};

/// Returns the sound devices of this machine; an output without devices if the program was built without them.
#[must_use]
pub fn device_output() -> Box<dyn SoundOutput> {
    #[cfg(feature = "device")]
    return Box::new(super::device::Devices);
    #[cfg(not(feature = "device"))]
    Box::new(NoDevices)
}

/// No devices.
#[cfg(not(feature = "device"))]
struct NoDevices;

#[cfg(not(feature = "device"))]
impl SoundOutput for NoDevices {
    fn open(
        &self,
        _: &WantedOutput,
        _: &mut dyn FnMut(u32) -> Player,
    ) -> Result<Box<dyn OpenOutput>, OutputError> {
        Err(OutputError::NotBuilt)
    }
}
