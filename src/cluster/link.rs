//! What a hall needs from a network.

use std::path::PathBuf;

/// Keys of this node, for a link that only the nodes of the hall can use. All files are PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkSecurity {
    /// Certificate of the hall's authority.
    pub authority: PathBuf,
    /// Certificate of this node, signed by the authority.
    pub certificate: PathBuf,
    /// Private key of this node.
    pub key: PathBuf,
}

/// Why a link does not work.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The link cannot be opened.
    #[error("the network of the hall cannot be opened: {0}")]
    Open(String),
    /// A message cannot be sent.
    #[error("a message to the hall was not sent: {0}")]
    Send(String),
}

/// Answers a request of another node: key and payload → reply.
pub type Answer = Box<dyn Fn(&str, &[u8]) -> Vec<u8> + Send + Sync>;

/// Receives a message of another node: key and payload.
pub type Receive = Box<dyn Fn(&str, &[u8]) + Send + Sync>;

/// The network between the nodes of a hall. Keys are paths below `shoal/<hall>/`; the link adds that part. Receivers run on
/// threads of the link and must return at once.
pub trait Link: Send + Sync {
    /// Publishes `payload` under `key` to all subscribers.
    ///
    /// # Errors
    /// If the link is closed.
    fn publish(&self, key: &str, payload: &[u8]) -> Result<(), LinkError>;

    /// Passes every message whose key matches `pattern` (`*`: any one name) to `receive`, until the link is dropped.
    ///
    /// # Errors
    /// If the link is closed.
    fn subscribe(&self, pattern: &str, receive: Receive) -> Result<(), LinkError>;

    /// Asks the node that answers `key`. Passes the reply to `receive` when it arrives; without one, nothing.
    ///
    /// # Errors
    /// If the link is closed.
    fn ask(&self, key: &str, payload: &[u8], receive: Receive) -> Result<(), LinkError>;

    /// Answers requests whose key matches `pattern`, until the link is dropped.
    ///
    /// # Errors
    /// If the link is closed.
    fn answer(&self, pattern: &str, answer: Answer) -> Result<(), LinkError>;
}
