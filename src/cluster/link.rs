//! What a hall needs from a network.

/// Keys of this node, for a link that only the members of the hall can use. Certificates and keys are PEM texts.
#[derive(Clone, PartialEq, Eq)]
pub struct LinkSecurity {
    /// Certificate of the hall's authority.
    pub authority: String,
    /// Certificate of this node, signed by the authority.
    pub certificate: String,
    /// Private key of this node.
    pub key: String,
    /// Common names of the certificates of all members.
    pub allowed: Vec<String>,
}

/// Where a node listens and whom it connects to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkPlace {
    /// Name of the hall.
    pub hall: String,
    /// Own address with port, for example `0.0.0.0:7447`.
    pub listen: String,
    /// Addresses of the other nodes, with ports.
    pub connect: Vec<String>,
    /// Whether nodes also look for each other by multicast.
    pub discovery: bool,
}

/// Why a link does not work.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// This program cannot be a node of a hall.
    #[error("this Shoal was built without clusters; install the package shoal-cluster")]
    NotBuilt,
    /// The link cannot be opened.
    #[error("the network of the hall cannot be opened: {0}")]
    Open(String),
    /// A message cannot be sent.
    #[error("a message to the hall was not sent: {0}")]
    Send(String),
}

/// Receives a message of another node: key and payload.
pub type Receive = Box<dyn Fn(&str, &[u8]) + Send + Sync>;

/// The network between the nodes of a hall. Keys are paths below `shoal/<hall>/`; the link adds that part. Receivers run on
/// threads of the link and must return at once.
pub trait Link: Send + Sync {
    /// Publishes `payload` under `key` to all other nodes that subscribe to it. It may be lost.
    ///
    /// # Errors
    /// If the link is closed.
    fn publish(&self, key: &str, payload: &[u8]) -> Result<(), LinkError>;

    /// Passes every message whose key matches `pattern` (`*`: any one name) to `receive`, until the link is dropped.
    ///
    /// # Errors
    /// If the link is closed.
    fn subscribe(&self, pattern: &str, receive: Receive) -> Result<(), LinkError>;

    /// Uses other keys, or another list of members, from now on: connections to machines that are not on it end. Subscriptions
    /// stay. Not to be called on a thread of the link.
    ///
    /// # Errors
    /// If the link cannot be opened again. It is then closed, until a later call succeeds.
    fn renew(&self, security: &LinkSecurity) -> Result<(), LinkError>;
}
