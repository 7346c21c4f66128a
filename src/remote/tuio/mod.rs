//! Visitors as TUIO 1.1 over UDP, for programs that follow people on a floor or fingers on a table. **Source**: Kaltenbrunner et al.
//! 2005, "TUIO: A Protocol for Table-Top Tangible User Interfaces"; the numbers are those of version 1.1.

mod codec;
mod endpoint;
#[cfg(test)]
mod tests;

pub use endpoint::TuioSender;
