//! The keys of this node on disk, and the authority if this machine has it.
//!
//! A folder with `keys.json` (key and certificate of the node), `members.json` (the signed list) and, on one machine of the hall,
//! `authority.json`. Only the owner can read the files.

use std::fs::File;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::KeyPair;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::authority::{Authority, PublicAuthority, SavedAuthority, SignedList};
use super::key_error::KeyError;
use super::link::LinkSecurity;
use super::members::{MemberList, check_name};
use crate::files::{read_file, write_private};

/// Folder below the state folder.
const FOLDER: &str = "hall";
const AUTHORITY_FILE: &str = "authority.json";
const KEYS_FILE: &str = "keys.json";
const MEMBERS_FILE: &str = "members.json";
/// Largest file that is read, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Where a machine keeps its keys of a hall.
#[derive(Clone, Debug)]
pub struct KeyFolder(PathBuf);

/// The keys of a node with the list of members.
pub struct Keyring {
    folder: KeyFolder,
    keys: NodeKeys,
    signed: SignedList,
    members: MemberList,
}

/// What a node needs in order to be a member: the contents of `keys.json`.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeKeys {
    hall: String,
    name: String,
    serial: u64,
    authority: PublicAuthority,
    certificate: String,
    key: String,
}

/// A new private key that waits for its certificate.
pub struct NewKey(KeyPair);

/// What the authority gives to a node that joins.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Admission {
    hall: String,
    name: String,
    serial: u64,
    authority: PublicAuthority,
    certificate: String,
    members: SignedList,
}

impl NewKey {
    /// Makes a key.
    ///
    /// # Errors
    /// If the machine can make none.
    pub fn make() -> Result<Self, KeyError> {
        let key = KeyPair::generate().map_err(|error| KeyError::crypto(&error))?;
        Ok(Self(key))
    }

    /// The public key in base64.
    pub(super) fn public_text(&self) -> String {
        STANDARD.encode(self.0.public_key_raw())
    }
}

impl Admission {
    /// Name of the node.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Name of the hall.
    #[must_use]
    pub fn hall(&self) -> &str {
        &self.hall
    }
}

impl KeyFolder {
    /// The folder of the keys in a state folder.
    #[must_use]
    pub fn new(state: &Path) -> Self {
        Self(state.join(FOLDER))
    }

    /// Makes a new hall: its authority, and a key of this machine as its first node.
    ///
    /// # Errors
    /// If this machine already has a key, the names cannot be used, or the files cannot be written.
    pub fn create_hall(&self, hall: &str, node: &str, unix_secs: i64) -> Result<(), KeyError> {
        check_name(node)?;
        self.check_free()?;
        if self.has_authority() {
            return Err(KeyError::AuthorityExists(self.path(AUTHORITY_FILE)));
        }
        let authority = Authority::create(hall)?;
        let mut list = MemberList::new(hall);
        let key = NewKey::make()?;
        let public_key = key.0.public_key_raw().to_vec();
        let admission = admit(&authority, &mut list, node, (&public_key, unix_secs))?;
        self.save_admission(&admission, &key)?;
        self.save(AUTHORITY_FILE, authority.saved())
    }

    /// Whether this machine can join a hall.
    ///
    /// # Errors
    /// If it already has a key.
    pub fn check_free(&self) -> Result<(), KeyError> {
        let path = self.path(KEYS_FILE);
        if !path.exists() {
            return Ok(());
        }
        let keys: NodeKeys = self.read(KEYS_FILE)?;
        Err(KeyError::Exists {
            path,
            name: keys.name,
            hall: keys.hall,
        })
    }

    /// Whether a node can be invited under this name.
    ///
    /// # Errors
    /// If this machine has no authority, or the name cannot be used.
    pub fn check_invitation(&self, name: &str) -> Result<(), KeyError> {
        let authority = self.authority()?;
        self.list(&authority.public())?.1.check_new(name)
    }

    /// Adds a node to the list of members and signs its key.
    ///
    /// # Errors
    /// If this machine has no authority, the name cannot be used, or the list cannot be saved.
    pub(super) fn admit(
        &self,
        name: &str,
        public_text: &str,
        unix_secs: i64,
    ) -> Result<Admission, KeyError> {
        let key = STANDARD.decode(public_text);
        let key = key.map_err(|_| KeyError::crypto(&"the node sent no public key"))?;
        let authority = self.authority()?;
        let _alone = self.lock()?;
        let mut list = self.list(&authority.public())?.1;
        let admission = admit(&authority, &mut list, name, (&key, unix_secs))?;
        self.save(MEMBERS_FILE, &admission.members)?;
        Ok(admission)
    }

    /// Revokes the key of a node.
    ///
    /// # Errors
    /// If this machine has no authority, no member has this name, or the list cannot be saved.
    pub fn revoke(&self, name: &str, unix_secs: i64) -> Result<(), KeyError> {
        let authority = self.authority()?;
        let _alone = self.lock()?;
        let mut list = self.list(&authority.public())?.1;
        list.revoke(name, unix_secs)?;
        self.save(MEMBERS_FILE, &authority.sign_list(&list)?)
    }

    /// Saves the keys of a node that has joined.
    ///
    /// # Errors
    /// If the list of members is not signed by the authority, or a file cannot be written.
    pub fn save_admission(&self, admission: &Admission, key: &NewKey) -> Result<(), KeyError> {
        admission.authority.verify(&admission.members)?;
        self.save(MEMBERS_FILE, &admission.members)?;
        // Last, because this file makes the machine a node.
        self.save(
            KEYS_FILE,
            &NodeKeys {
                hall: admission.hall.clone(),
                name: admission.name.clone(),
                serial: admission.serial,
                authority: admission.authority.clone(),
                certificate: admission.certificate.clone(),
                key: key.0.serialize_pem(),
            },
        )
    }

    /// Removes the keys of a node whose join was not confirmed.
    pub(super) fn forget(&self) -> Result<(), KeyError> {
        let path = self.path(KEYS_FILE);
        std::fs::remove_file(&path).map_err(|error| KeyError::file(&path, &error))
    }

    /// Opens the keys of this node.
    ///
    /// # Errors
    /// If this machine has not joined a hall, or a file is damaged.
    pub fn open(&self) -> Result<Keyring, KeyError> {
        if !self.path(KEYS_FILE).exists() {
            return Err(KeyError::NoKeys(self.0.clone()));
        }
        let keys: NodeKeys = self.read(KEYS_FILE)?;
        let (signed, members) = self.list(&keys.authority)?;
        let folder = self.clone();
        Ok(Keyring {
            folder,
            keys,
            signed,
            members,
        })
    }

    /// Whether this machine has the authority of the hall.
    #[must_use]
    pub fn has_authority(&self) -> bool {
        self.path(AUTHORITY_FILE).exists()
    }

    fn authority(&self) -> Result<Authority, KeyError> {
        if !self.has_authority() {
            return Err(KeyError::NoAuthority(self.0.clone()));
        }
        let saved: SavedAuthority = self.read(AUTHORITY_FILE)?;
        Authority::restore(saved)
            .map_err(|error| KeyError::damaged(&self.path(AUTHORITY_FILE), &error))
    }

    fn list(&self, authority: &PublicAuthority) -> Result<(SignedList, MemberList), KeyError> {
        let signed: SignedList = self.read(MEMBERS_FILE)?;
        let list = authority.verify(&signed);
        let list = list.map_err(|error| KeyError::damaged(&self.path(MEMBERS_FILE), &error))?;
        Ok((signed, list))
    }

    /// Waits until no other command changes the list of members. The lock ends with the returned file.
    fn lock(&self) -> Result<File, KeyError> {
        let path = self.path(AUTHORITY_FILE);
        let file = File::open(&path).map_err(|error| KeyError::file(&path, &error))?;
        file.lock().map_err(|error| KeyError::file(&path, &error))?;
        Ok(file)
    }

    fn path(&self, file: &str) -> PathBuf {
        self.0.join(file)
    }

    fn read<T: DeserializeOwned>(&self, file: &str) -> Result<T, KeyError> {
        let path = self.path(file);
        let bytes = read_file(&path, FILE_BYTES_MAX, "a file of keys")
            .map_err(|error| KeyError::file(&path, &error))?;
        serde_json::from_slice(&bytes).map_err(|error| KeyError::damaged(&path, &error))
    }

    fn save(&self, file: &str, contents: &impl Serialize) -> Result<(), KeyError> {
        let path = self.path(file);
        let text = serde_json::to_vec_pretty(contents);
        let text = text.map_err(|error| KeyError::file(&path, &error))?;
        write_private(&path, &text).map_err(|error| KeyError::file(&path, &error))
    }
}

/// Adds a node to the list, and signs its public key and the list. `joins`: public key, time.
fn admit(
    authority: &Authority,
    list: &mut MemberList,
    name: &str,
    joins: (&[u8], i64),
) -> Result<Admission, KeyError> {
    let (public_key, unix_secs) = joins;
    let serial = list.add(name, unix_secs)?;
    Ok(Admission {
        hall: authority.hall().to_owned(),
        name: name.to_owned(),
        serial,
        authority: authority.public(),
        certificate: authority.sign_node(name, serial, public_key)?,
        members: authority.sign_list(list)?,
    })
}

impl Keyring {
    /// Name of the hall.
    #[must_use]
    pub fn hall(&self) -> &str {
        &self.keys.hall
    }

    /// Name of this node.
    #[must_use]
    pub fn node(&self) -> &str {
        &self.keys.name
    }

    /// The members.
    #[must_use]
    pub fn members(&self) -> &MemberList {
        &self.members
    }

    /// Whether the key of this node is on the list.
    #[must_use]
    pub fn is_member(&self) -> bool {
        self.members.allows(self.keys.serial)
    }

    /// What the link needs: the keys and the allow-list.
    #[must_use]
    pub fn security(&self) -> LinkSecurity {
        LinkSecurity {
            authority: self.keys.authority.certificate.clone(),
            certificate: self.keys.certificate.clone(),
            key: self.keys.key.clone(),
            allowed: self.members.allowed(),
        }
    }

    /// The signed list of members, for other nodes.
    #[must_use]
    pub fn signed_list(&self) -> String {
        // Two strings are always valid JSON.
        serde_json::to_string(&self.signed).unwrap_or_default()
    }

    /// Returns a check that returns the number of a list; `None` if it is not signed by the authority of this hall.
    pub(super) fn version_of_list(&self) -> impl Fn(&str) -> Option<u64> + Send + Sync + use<> {
        let authority = self.keys.authority.clone();
        move |text| {
            let signed: SignedList = serde_json::from_str(text).ok()?;
            Some(authority.verify(&signed).ok()?.version)
        }
    }

    /// Takes the list of another node if the authority signed it and it is newer. Returns whether the list changed: the link must then
    /// be opened again.
    ///
    /// # Errors
    /// If the text is not a list of this hall's authority, or cannot be saved.
    pub fn accept(&mut self, text: &str) -> Result<bool, KeyError> {
        let signed: SignedList = serde_json::from_str(text).map_err(|_| KeyError::Signature)?;
        let members = self.keys.authority.verify(&signed)?;
        if members.version <= self.members.version {
            return Ok(false);
        }
        self.folder.save(MEMBERS_FILE, &signed)?;
        (self.signed, self.members) = (signed, members);
        Ok(true)
    }

    /// Reads the list on disk again, which `shoal cluster invite` and `revoke` change. Returns whether a newer one was found.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn refresh(&mut self) -> Result<bool, KeyError> {
        let (signed, members) = self.folder.list(&self.keys.authority)?;
        let is_newer = members.version > self.members.version;
        if is_newer {
            (self.signed, self.members) = (signed, members);
        }
        Ok(is_newer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_nodes(state: [&Path; 2]) -> [KeyFolder; 2] {
        let folders = state.map(KeyFolder::new);
        folders[0].create_hall("aquarium", "left", 10).unwrap();
        let key = NewKey::make().unwrap();
        let admission = folders[0].admit("right", &key.public_text(), 20).unwrap();
        folders[1].save_admission(&admission, &key).unwrap();
        folders
    }

    #[test]
    fn a_revocation_reaches_a_node_that_takes_the_newer_list() {
        let state = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [left, right] = two_nodes([state[0].path(), state[1].path()]);
        let mut of_left = left.open().unwrap();
        let mut of_right = right.open().unwrap();
        assert_eq!((of_right.hall(), of_right.node()), ("aquarium", "right"));
        assert_eq!(of_left.security().allowed, of_right.security().allowed);
        let old = of_left.signed_list();
        left.revoke("right", 30).unwrap();
        assert!(of_left.refresh().unwrap());
        assert!(!of_left.refresh().unwrap());
        assert_eq!(of_left.security().allowed, ["left/1"]);
        assert!(of_right.accept(&of_left.signed_list()).unwrap());
        assert!(!of_right.is_member());
        // An older list does not bring a revoked node back, not even after a restart.
        assert!(!of_right.accept(&old).unwrap());
        assert!(!right.open().unwrap().is_member());
    }

    #[test]
    fn a_list_of_another_hall_is_refused() {
        let state = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [left, right] = [state[0].path(), state[1].path()].map(KeyFolder::new);
        left.create_hall("aquarium", "left", 0).unwrap();
        right.create_hall("aquarium", "left", 0).unwrap();
        right.revoke("left", 1).unwrap();
        let foreign = right.open().unwrap().signed_list();
        let mut own = left.open().unwrap();
        assert!(matches!(own.accept(&foreign), Err(KeyError::Signature)));
        assert!(matches!(own.accept("{}"), Err(KeyError::Signature)));
        assert!(own.is_member());
    }

    #[test]
    fn only_the_machine_with_the_authority_changes_the_members() {
        let state = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [left, right] = two_nodes([state[0].path(), state[1].path()]);
        assert!(matches!(
            right.revoke("left", 30),
            Err(KeyError::NoAuthority(_))
        ));
        assert!(matches!(
            right.check_invitation("third"),
            Err(KeyError::NoAuthority(_))
        ));
        assert!(matches!(
            left.check_invitation("right"),
            Err(KeyError::NameInUse(_))
        ));
        let again = left.create_hall("aquarium", "left", 40);
        assert!(matches!(again, Err(KeyError::Exists { .. })));
        std::fs::remove_file(left.path(KEYS_FILE)).unwrap();
        let again = left.create_hall("aquarium", "left", 40);
        assert!(matches!(again, Err(KeyError::AuthorityExists(_))));
        let none = KeyFolder::new(&state[0].path().join("other")).open();
        assert!(matches!(none, Err(KeyError::NoKeys(_))));
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read_the_keys() {
        use std::os::unix::fs::PermissionsExt as _;
        let state = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [left, _right] = two_nodes([state[0].path(), state[1].path()]);
        for file in [AUTHORITY_FILE, KEYS_FILE, MEMBERS_FILE] {
            let mode = left.path(file).metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{file}");
        }
        assert_eq!(
            left.0.metadata().unwrap().permissions().mode() & 0o777,
            0o700
        );
    }

    #[test]
    fn a_damaged_file_is_reported_with_its_path() {
        let state = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [left, _right] = two_nodes([state[0].path(), state[1].path()]);
        std::fs::write(left.path(MEMBERS_FILE), "{").unwrap();
        let error = left.open().err().unwrap().to_string();
        assert!(
            error.contains("members.json: the file is damaged"),
            "{error}"
        );
    }
}
