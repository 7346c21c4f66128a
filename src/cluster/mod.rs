//! A hall: one pool on several machines, called nodes.
//!
//! The simulation is deterministic, so a hall is a session that is streamed: the node that leads publishes what its session log
//! contains, with a mark for every tick, and every other node that simulates or draws runs the same ticks. In: messages of other
//! nodes through a [`Link`], the local clock as an argument. Out: what to publish, who leads, which tick is due. Must not: know what
//! the entries of a tick contain, run a tick.

mod authority;
mod clock;
mod election;
mod guard;
mod join;
mod key_error;
mod keyring;
mod link;
mod members;
mod open_link;
mod pake;
mod params;
mod sealed;
mod stream;
#[cfg(feature = "zenoh")]
mod zenoh_link;
#[cfg(feature = "zenoh")]
mod zenoh_settings;

pub use clock::{ClockOffset, LeaderClock, Ping};
pub use election::{BEAT_SECS, Beat, Election, SILENCE_SECS, Stand};
pub use guard::{Guard, GuardError};
pub use join::{CODE_LIFETIME, Invitation, JoinCode, JoinError, Refusal, join};
pub use key_error::KeyError;
pub use keyring::{Admission, KeyFolder, Keyring, NewKey};
pub use link::{Link, LinkError, LinkPlace, LinkSecurity, Receive};
pub use members::{Member, MemberList};
pub use open_link::open_link;
pub use params::{ClusterParams, NodeParams, Role};
pub use stream::{Received, TickMessage, TickStream};
#[cfg(feature = "zenoh")]
pub use zenoh_link::ZenohLink;

/// Whether this Shoal was built with the network between the machines of a hall.
pub const IS_BUILT: bool = cfg!(feature = "zenoh");
