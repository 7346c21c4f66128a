//! The control socket: `shoal ctl` asks a running instance for its status, sends commands, and reads events.
//!
//! In: JSON lines over a Unix socket that only its owner can open. Out: JSON lines. A slow, silent or hostile client costs one of
//! a bounded number of threads for a bounded time, and the pool nothing.

mod client;
mod protocol;
mod server;
mod socket;
mod status_text;

pub(super) use client::{CtlClient, find_instance};
pub use protocol::{CtlAnswer, CtlRequest};
pub use server::CtlServer;
pub(super) use socket::new_socket_path;
pub(super) use status_text::status_text;
