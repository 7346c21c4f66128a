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
    /// The newest list that other nodes sent since the last look, with its number.
    heard: Arc<Mutex<Option<(u64, String)>>>,
    /// Whether the link has to be opened with the present list.
    is_outdated: bool,
}

/// Why the newest list is not in use.
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
        let heard = Arc::new(Mutex::new(None::<(u64, String)>));
        let (of_others, version_of) = (Arc::clone(&heard), keyring.version_of_list());
        // Checked at once, so that a node that sends nonsense cannot hide the list with its own revocation. Only kept here: the link
        // cannot be opened again on one of its own threads.
        let keep = move |_: &str, payload: &[u8]| {
            let text = String::from_utf8_lossy(payload);
            let Some(version) = version_of(&text) else {
                tracing::debug!("hall: a list of members is not from the authority");
                return;
            };
            let mut newest = of_others.lock();
            if newest.as_ref().is_none_or(|(own, _)| version > *own) {
                *newest = Some((version, text.into_owned()));
            }
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
    /// If the list on the disk is damaged or cannot be saved, or the link cannot be opened again. The next call tries again.
    pub fn watch(&mut self) -> Result<bool, GuardError> {
        let heard = self.heard.lock().take();
        let of_disk = self.keyring.refresh();
        let of_others = heard.map_or(Ok(false), |(_, text)| self.keyring.accept(&text));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::keyring::{KeyFolder, NewKey};
    use crate::cluster::link::{LinkSecurity, Receive};

    /// A link that notes its calls.
    #[derive(Default)]
    struct NotingLink {
        receive: Mutex<Option<Receive>>,
        published: Mutex<Vec<String>>,
        renewed: Mutex<Vec<Vec<String>>>,
        is_broken: Mutex<bool>,
    }

    impl Link for NotingLink {
        fn publish(&self, _key: &str, payload: &[u8]) -> Result<(), LinkError> {
            let text = String::from_utf8_lossy(payload).into_owned();
            self.published.lock().push(text);
            Ok(())
        }

        fn subscribe(&self, _pattern: &str, receive: Receive) -> Result<(), LinkError> {
            *self.receive.lock() = Some(receive);
            Ok(())
        }

        fn renew(&self, security: &LinkSecurity) -> Result<(), LinkError> {
            if *self.is_broken.lock() {
                return Err(LinkError::Open("the port is in use".to_owned()));
            }
            self.renewed.lock().push(security.allowed.clone());
            Ok(())
        }
    }

    impl NotingLink {
        fn hear(&self, list: &str) {
            let receive = self.receive.lock();
            receive.as_ref().unwrap()("members", list.as_bytes());
        }
    }

    /// The folders of the authority and of a second node, and the guard of that node.
    fn hall() -> ([tempfile::TempDir; 2], KeyFolder, Arc<NotingLink>, Guard) {
        let state = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [left, right] = [state[0].path(), state[1].path()].map(KeyFolder::new);
        left.create_hall("hall", "left", 0).unwrap();
        let key = NewKey::make().unwrap();
        let admission = left.admit("right", &key.public_text(), 0).unwrap();
        right.save_admission(&admission, &key).unwrap();
        let link = Arc::new(NotingLink::default());
        let guard = Guard::new(right.open().unwrap(), link.clone()).unwrap();
        (state, left, link, guard)
    }

    #[test]
    fn a_newer_list_of_another_node_opens_the_link_again_and_is_passed_on() {
        let (_state, left, link, mut guard) = hall();
        assert!(!guard.watch().unwrap());
        assert!(link.renewed.lock().is_empty());
        left.revoke("right", 1).unwrap();
        let newer = left.open().unwrap().signed_list();
        link.hear(&newer);
        assert!(guard.watch().unwrap());
        assert_eq!(*link.renewed.lock(), [["left/1"]]);
        assert_eq!(link.published.lock().last(), Some(&newer));
        assert!(!guard.keyring().is_member());
        assert!(!guard.watch().unwrap());
        assert_eq!(link.renewed.lock().len(), 1);
    }

    #[test]
    fn a_list_of_another_authority_changes_nothing() {
        let (_state, _left, link, mut guard) = hall();
        let (_other_state, other, ..) = hall();
        other.revoke("right", 1).unwrap();
        link.hear(&other.open().unwrap().signed_list());
        assert!(!guard.watch().unwrap());
        assert!(link.renewed.lock().is_empty() && guard.keyring().is_member());
    }

    /// A member that is to be revoked sends nonsense and old lists after the new one.
    #[test]
    fn nonsense_and_old_lists_do_not_hide_a_revocation() {
        let (_state, left, link, mut guard) = hall();
        let old = left.open().unwrap().signed_list();
        left.revoke("right", 1).unwrap();
        link.hear(&left.open().unwrap().signed_list());
        for hiding in ["", "{}", &old] {
            link.hear(hiding);
        }
        assert!(guard.watch().unwrap());
        assert!(!guard.keyring().is_member());
    }

    #[test]
    fn a_link_that_cannot_be_opened_again_is_tried_again() {
        let (_state, left, link, mut guard) = hall();
        left.revoke("right", 1).unwrap();
        link.hear(&left.open().unwrap().signed_list());
        *link.is_broken.lock() = true;
        for _ in 0..2 {
            assert!(matches!(guard.watch(), Err(GuardError::Link(_))));
        }
        *link.is_broken.lock() = false;
        guard.watch().unwrap();
        assert_eq!(*link.renewed.lock(), [["left/1"]]);
    }
}
