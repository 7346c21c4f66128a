//! Show control by OSC 1.0 over UDP. **Source**: Wright 2002, "The Open Sound Control 1.0 Specification".

mod endpoint;
mod report;
#[cfg(test)]
mod tests;
mod words;

pub use endpoint::OscEndpoint;
