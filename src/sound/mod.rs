//! The sound of the pool: water from physics, not from recordings.
//!
//! In: events (a kind, a place on the floor, a strength, a size), the wind and the falls of a scene, levels. Out: samples for one to
//! eight loudspeakers, in a device or in a WAV file. The same seed and the same events give the same samples. Must not: know a fish or
//! a visitor, allocate memory or wait while it makes samples.
//!
//! **Source**: van den Doel 2005 (bubbles), Minnaert 1933 (their pitch), Lossius 2009 (loudspeakers at any place).

mod bed;
mod block;
mod bubble;
mod burst;
#[cfg(feature = "device")]
mod device;
mod devices;
mod engine;
mod event;
mod gesture;
mod level;
mod limiter;
mod link;
mod noise;
mod output;
mod params;
mod shower;
mod speakers;
mod voices;
mod wav;

pub use devices::device_output;
pub use engine::Engine;
pub use event::{Fall, SoundEvent, SoundKind, Waters};
pub use level::{Levels, db_from_gain, gain_from_db};
pub use link::{Order, Orders, Player, SoundMeter, sound_link};
pub use output::{OpenOutput, OutputError, SoundOutput, WantedOutput};
pub use params::{SPEAKERS_MAX, SoundParams, SpeakerParams};
pub use wav::WavWriter;
