//! Positions of the visitors for other machines, over UDP: TUIO 1.1, PosiStageNet 2 and Augmenta 3. In: the visitors of each frame of the
//! camera. Out: datagrams. Each protocol is a function from the places of a frame to datagrams.

mod augmenta;
mod endpoint;
mod place;
mod psn;
#[cfg(test)]
mod tests;
mod tuio;

pub use endpoint::PositionSender;
