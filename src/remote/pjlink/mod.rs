//! Projectors by PJLink, class 1 and 2, over TCP. **Source**: JBMIA 2017, "PJLink Specifications, Class 2"; the datagram that wakes a
//! machine: AMD 1995, "Magic Packet Technology".

mod codec;
mod endpoint;
mod keeper;
#[cfg(test)]
mod tests;

pub use endpoint::ProjectorEndpoint;
