//! Commands of lighting desks by sACN: three DMX channels choose the state, the scene and an event. In: datagrams of configured machines.
//! Out: everyday commands to the desk.
//!
//! **Source**: ANSI E1.31-2018, "Lightweight streaming protocol for transport of DMX512 using ACN". The crate `sacn` panics when the lengths
//! of a datagram contradict each other, so the few fields are read here.

mod codec;
mod endpoint;
mod fixture;
#[cfg(test)]
mod tests;

pub use endpoint::SacnEndpoint;
