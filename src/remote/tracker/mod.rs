//! Visitors from trackers outside of Shoal: TUIO 1.1 and 2.0, Augmenta. In: datagrams of configured machines. Out: [`Sighting`]s in
//! floor meters. `vision` turns them into tracks.
//!
//! [`Sighting`]: crate::geometry::Sighting

mod augmenta;
mod receiver;
mod report;
#[cfg(test)]
mod tests;
mod tuio;

pub use receiver::{TrackReceiver, TrackerProtocol};
