//! A hall: one pool on several machines, called nodes.
//!
//! The simulation is deterministic, so a hall is a session that is streamed: the node that leads publishes what its session log
//! contains, with a mark for every tick, and every other node that simulates or draws runs the same ticks. In: messages of other
//! nodes through a [`Link`], the local clock as an argument. Out: what to publish, who leads, which tick is due. Must not: know what
//! the entries of a tick contain, run a tick.

mod clock;
mod election;
mod link;
mod params;
mod stream;

pub use clock::{ClockOffset, LeaderClock, Ping};
pub use election::{BEAT_SECS, Beat, Election, SILENCE_SECS, Stand};
pub use link::{Answer, Link, LinkError, LinkSecurity, Receive};
pub use params::{ClusterParams, NodeParams, Role};
pub use stream::{Received, TickMessage, TickStream};
