//! The list of members of a hall: the allow-list of all nodes, signed by the authority.
//!
//! Pure data. A node is a member from its join to its revocation. Its common name is `NAME/SERIAL`: a name can be used again after a
//! revocation, a common name cannot. The slash also keeps out every public web authority, which may sign host names only.

use serde::{Deserialize, Serialize};

use super::key_error::KeyError;

/// Longest name of a hall or a node, in characters.
const NAME_LETTERS_MAX: usize = 40;

/// A node that has or had a key of the hall.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Name of the node.
    pub name: String,
    /// Number of its key, unique in the hall.
    pub serial: u64,
    /// When it joined, by the clock of the authority's machine, in seconds since 1970.
    pub joined_unix_secs: i64,
    /// When its key was revoked; `None` for a member.
    pub revoked_unix_secs: Option<i64>,
}

impl Member {
    /// Whether the node may take part.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        self.revoked_unix_secs.is_none()
    }

    /// Common name of the node's certificate.
    #[must_use]
    pub fn common_name(&self) -> String {
        common_name(&self.name, self.serial)
    }
}

/// Returns the common name of the certificate with the number `serial`.
pub(super) fn common_name(name: &str, serial: u64) -> String {
    format!("{name}/{serial}")
}

/// All nodes that have or had a key of the hall.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberList {
    /// Name of the hall.
    pub hall: String,
    /// Number of this list. Each change adds 1; nodes keep the list with the highest number.
    pub version: u64,
    /// The nodes in the order in which they joined.
    pub members: Vec<Member>,
}

impl MemberList {
    /// Returns an empty list.
    pub(super) fn new(hall: &str) -> Self {
        Self {
            hall: hall.to_owned(),
            version: 0,
            members: Vec::new(),
        }
    }

    /// Returns the common names of all members.
    #[must_use]
    pub fn allowed(&self) -> Vec<String> {
        let members = self.members.iter().filter(|member| member.is_allowed());
        members.map(Member::common_name).collect()
    }

    /// Whether the key with this number may be used.
    #[must_use]
    pub fn allows(&self, serial: u64) -> bool {
        let mut members = self.members.iter();
        members.any(|member| member.serial == serial && member.is_allowed())
    }

    /// Whether a node with this name can be added.
    pub(super) fn check_new(&self, name: &str) -> Result<(), KeyError> {
        check_name(name)?;
        if self.find(name).is_some() {
            return Err(KeyError::NameInUse(name.to_owned()));
        }
        Ok(())
    }

    /// Adds a member. Returns the number of its key.
    pub(super) fn add(&mut self, name: &str, unix_secs: i64) -> Result<u64, KeyError> {
        self.check_new(name)?;
        let highest = self.members.iter().map(|member| member.serial).max();
        let serial = highest.unwrap_or(0).saturating_add(1);
        self.members.push(Member {
            name: name.to_owned(),
            serial,
            joined_unix_secs: unix_secs,
            revoked_unix_secs: None,
        });
        self.version = self.version.saturating_add(1);
        Ok(serial)
    }

    /// Revokes the key of a member.
    pub(super) fn revoke(&mut self, name: &str, unix_secs: i64) -> Result<(), KeyError> {
        let allowed = self.members.iter_mut().filter(|member| member.is_allowed());
        let mut names = Vec::new();
        for member in allowed {
            if member.name == name {
                member.revoked_unix_secs = Some(unix_secs);
                self.version = self.version.saturating_add(1);
                return Ok(());
            }
            names.push(member.name.clone());
        }
        Err(KeyError::NoMember {
            name: name.to_owned(),
            members: names,
        })
    }

    fn find(&self, name: &str) -> Option<&Member> {
        let mut members = self.members.iter();
        members.find(|member| member.is_allowed() && member.name == name)
    }
}

/// Whether a text can name a hall or a node.
pub(super) fn check_name(name: &str) -> Result<(), KeyError> {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if name.is_empty() || name.len() > NAME_LETTERS_MAX || !name.chars().all(is_letter) {
        return Err(KeyError::Name(name.to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_can_be_used_again_after_its_revocation_with_another_common_name() {
        let mut list = MemberList::new("hall");
        assert_eq!(list.add("left", 10).unwrap(), 1);
        assert_eq!(list.add("right", 20).unwrap(), 2);
        assert!(matches!(list.add("left", 30), Err(KeyError::NameInUse(_))));
        list.revoke("left", 40).unwrap();
        assert_eq!(list.allowed(), ["right/2"]);
        assert!(!list.allows(1));
        assert_eq!(list.add("left", 50).unwrap(), 3);
        assert_eq!(list.allowed(), ["right/2", "left/3"]);
        assert_eq!(list.version, 4);
    }

    #[test]
    fn a_revocation_of_an_unknown_name_lists_the_members_and_changes_nothing() {
        let mut list = MemberList::new("hall");
        list.add("left", 0).unwrap();
        let before = list.clone();
        let error = list.revoke("lefd", 1).unwrap_err().to_string();
        assert_eq!(error, "`lefd`: no member of the hall. Members: left");
        assert_eq!(list, before);
    }

    #[test]
    fn names_have_letters_digits_and_hyphens_only() {
        for name in ["a", "wall-left", "Node7", &"a".repeat(40)] {
            check_name(name).unwrap();
        }
        for name in ["", "a b", "a/1", "ü", "a.b", &"a".repeat(41)] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }
}
