//! Visitors from trackers outside of Shoal: TUIO 1.1 and 2.0, Augmenta 2 and 3, and OSC by a mapping in the site file. In: datagrams of configured machines. Out: [`Sighting`]s in
//! floor meters. `vision` turns them into tracks.
//!
//! [`Sighting`]: crate::geometry::Sighting

mod augmenta;
mod mapping;
mod receiver;
mod report;
#[cfg(test)]
mod tests;
mod tuio;

pub use mapping::{OscUnit, OscVisitors};
pub use receiver::{TrackReceiver, TrackerProtocol};
