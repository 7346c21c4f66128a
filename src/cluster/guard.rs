//! Keeps the door of a hall closed: takes newer lists of members from the disk and from other nodes, and opens the link again with them.
//!
//! A revocation holds on a node as soon as [`Guard::watch`] has seen its list there.

use std::sync::Arc;

use parking_lot::Mutex;

use super::key_error::KeyError;
use super::keyring::Keyring;
use super::link::{Link, LinkError};

/// Key of the list of members.
const MEMBERS_KEY: &str = "members";

/// The keys of this node, its link, and what other nodes sent about the members.
pub struct Guard {
    keyring: Keyring,
    link: Arc<dyn Link>,
    heard: Arc<Mutex<Option<String>>>,
    /// Whether the link has to be opened with the present list.
    is_outdated: bool,
}

/// Why a newer list is not in use.
#[derive(Debug, thiserror::Error)]
pub enum GuardError {
    /// The list cannot be read, or is not from the authority.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The link cannot be opened again.
    #[error(transparent)]
    Link(#[from] LinkError),
}

impl Guard {
    /// Watches over a link that was opened with the keys of `keyring`.
    ///
    /// # Errors
    /// If the link is closed.
    pub fn new(keyring: Keyring, link: Arc<dyn Link>) -> Result<Self, LinkError> {
        let heard = Arc::new(Mutex::new(None));
        let of_others = Arc::clone(&heard);
        // Only kept here: the link cannot be opened again on one of its own threads.
        let keep = move |_: &str, payload: &[u8]| {
            *of_others.lock() = Some(String::from_utf8_lossy(payload).into_owned());
        };
        link.subscribe(MEMBERS_KEY, Box::new(keep))?;
        Ok(Self {
            keyring,
            link,
            heard,
            is_outdated: false,
        })
    }

    /// Looks for a newer list, uses it, and publishes the present one for nodes that were away. To be called once a second. Returns
    /// whether the members changed.
    ///
    /// # Errors
    /// If a list is not from the authority, or the link cannot be opened again. The next call tries again.
    pub fn watch(&mut self) -> Result<bool, GuardError> {
        let heard = self.heard.lock().take();
        let of_disk = self.keyring.refresh();
        let of_others = heard.map_or(Ok(false), |text| self.keyring.accept(&text));
        let has_changed = matches!(of_disk, Ok(true)) || matches!(of_others, Ok(true));
        self.is_outdated |= has_changed;
        // Before the link closes, so that nodes hear it at once.
        let published = self
            .link
            .publish(MEMBERS_KEY, self.keyring.signed_list().as_bytes());
        if self.is_outdated {
            self.link.renew(&self.keyring.security())?;
            self.is_outdated = false;
        }
        of_disk?;
        of_others?;
        published?;
        Ok(has_changed)
    }

    /// The keys of this node.
    #[must_use]
    pub fn keyring(&self) -> &Keyring {
        &self.keyring
    }
}
