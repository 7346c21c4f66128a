//! The users, the remembered devices and the API tokens: what the file of accounts holds. It contains hashes only.
//!
//! Every name in it is the one of an account, never the text of a request, and every list has a limit, so that the file is far
//! smaller than what its reader accepts. Must not: compute a slow hash, read a clock.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::devices::{Device, Devices};
use super::names::{account_key, check_name, is_lookalike};
use super::role::Role;
use super::secrets::{NoSecret, SecretHash, from_hex, hash_of_random, hex, random, random_text};
use crate::runtime::is_hidden;

/// Version of the file of accounts.
const VERSION: u32 = 1;
/// Largest number of users.
const USERS_MAX: usize = 100;
/// Largest number of API tokens.
const TOKENS_MAX: usize = 50;
/// Text at the beginning of every API token, so that a token that was published by mistake can be found.
const TOKEN_PREFIX: &str = "shoal_";

/// The content of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Accounts {
    version: u32,
    /// Salt of all PINs, in hexadecimal digits.
    pin_salt: String,
    users: Vec<User>,
    devices: Devices,
    tokens: Vec<Token>,
}

/// A user.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct User {
    /// Name of the user.
    pub(crate) name: String,
    /// Role of the user.
    pub(crate) role: Role,
    /// Hash of the password; `None` if the user has only a PIN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) password: Option<String>,
    /// Hash of the PIN, in hexadecimal digits; `None` if the user has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pin: Option<String>,
    /// Date and time at which the user was created.
    pub(crate) created: String,
    /// Random text that sessions repeat. A change that ends the sessions of the user replaces it, so that they end with the write
    /// of this file alone, also if the program is killed before it writes the file of sessions.
    #[serde(default)]
    pub(crate) stamp: String,
}

/// An API token, for example of show control.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Token {
    /// Name for lists and for its removal.
    pub(crate) id: String,
    /// What the token is for.
    pub(crate) label: String,
    /// Role of the token.
    pub(crate) role: Role,
    /// Date and time at which the token was made.
    pub(crate) created: String,
    /// Hash of the token, in hexadecimal digits.
    hash: String,
}

/// A change of a user. An absent value stays.
#[derive(Clone, Debug, Default)]
pub(crate) struct UserChange {
    /// The role; a new user gets the role `view`.
    pub(crate) role: Option<Role>,
    /// Hash of the new password.
    pub(crate) password: Option<String>,
    /// Hash of the new PIN; `Some(None)` removes the PIN.
    pub(crate) pin: Option<Option<SecretHash>>,
}

impl Accounts {
    /// Returns the accounts of a site without a password.
    ///
    /// # Errors
    /// When the machine has no randomness.
    pub(crate) fn new() -> Result<Self, NoSecret> {
        Ok(Self {
            version: VERSION,
            pin_salt: hex(&random::<16>()?),
            users: Vec::new(),
            devices: Devices::default(),
            tokens: Vec::new(),
        })
    }

    /// Returns a text that belongs to these accounts only, for as long as their file exists.
    pub(crate) fn name(&self) -> String {
        hash_of_random(&self.pin_salt).map_or_else(|_| String::new(), |hash| hex(&hash))
    }

    /// Reads the content of the file.
    ///
    /// # Errors
    /// A description of the damage.
    pub(crate) fn read(text: &[u8]) -> Result<Self, String> {
        let mut accounts: Self = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        if accounts.version != VERSION {
            return Err(format!(
                "it has version {}, this program knows version {VERSION}",
                accounts.version
            ));
        }
        let names: BTreeSet<&str> = accounts.users.iter().map(|u| u.name.as_str()).collect();
        accounts
            .devices
            .retain(|device| names.contains(device.user.as_str()));
        Ok(accounts)
    }

    /// Returns the content for the file.
    pub(crate) fn text(&self) -> Vec<u8> {
        // This structure has only texts and numbers, so it can always be written.
        serde_json::to_vec_pretty(self).unwrap_or_default()
    }

    /// Whether no administrator has a password yet.
    pub(crate) fn needs_setup(&self) -> bool {
        !self.users.iter().any(User::is_owner)
    }

    /// Returns the users, in the order in which they were created.
    pub(crate) fn users(&self) -> &[User] {
        &self.users
    }

    /// Returns the tokens, in the order in which they were created.
    pub(crate) fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// Returns the salt of all PINs.
    pub(crate) fn pin_salt(&self) -> [u8; 16] {
        from_hex(&self.pin_salt).unwrap_or_default()
    }

    /// Returns a user. The case of the letters makes no difference.
    pub(crate) fn user(&self, name: &str) -> Option<&User> {
        let name = account_key(name);
        self.users
            .iter()
            .find(|user| account_key(&user.name) == name)
    }

    /// Returns the user of a PIN.
    pub(crate) fn user_of_pin(&self, hash: &SecretHash) -> Option<&User> {
        let hash = hex(hash);
        let is_user = |user: &&User| user.pin.as_ref() == Some(&hash);
        self.users.iter().find(is_user)
    }

    /// Whether any user has a PIN.
    pub(crate) fn has_pins(&self) -> bool {
        self.users.iter().any(|user| user.pin.is_some())
    }

    /// Creates a user or changes one.
    ///
    /// # Errors
    /// Why the change is impossible.
    pub(crate) fn change_user(
        &mut self,
        name: &str,
        change: UserChange,
        time: &str,
    ) -> Result<(), String> {
        let mut after = self.clone();
        after.apply(name, change, time)?;
        after.check_owner(self)?;
        *self = after;
        Ok(())
    }

    fn apply(&mut self, name: &str, change: UserChange, time: &str) -> Result<(), String> {
        let pin = change.pin.map(|pin| pin.map(|hash| hex(&hash)));
        if let Some(Some(pin)) = &pin {
            let is_same = |user: &User| account_key(&user.name) == account_key(name);
            let has_pin = |user: &User| user.pin.as_ref() == Some(pin);
            if self
                .users
                .iter()
                .any(|user| has_pin(user) && !is_same(user))
            {
                return Err("this PIN cannot be used; choose another one".to_owned());
            }
        }
        if self.user(name).is_none() {
            check_name(name)?;
            if let Some(other) = self.users.iter().find(|u| is_lookalike(&u.name, name)) {
                return Err(format!(
                    "this name looks like \"{}\"; choose another one",
                    other.name
                ));
            }
            if self.users.len() >= USERS_MAX {
                return Err(format!("{USERS_MAX} users are the most; remove one first"));
            }
            self.users.push(User {
                name: name.trim().to_owned(),
                role: Role::View,
                password: None,
                pin: None,
                created: time.to_owned(),
                stamp: String::new(),
            });
        }
        let stamp = random_text().map_err(|error| error.to_string())?;
        let key = account_key(name);
        let user = self
            .users
            .iter_mut()
            .find(|user| account_key(&user.name) == key);
        let user = user.ok_or("there is no such user")?;
        user.stamp = stamp;
        user.role = change.role.unwrap_or(user.role);
        if change.password.is_some() {
            user.password = change.password;
            // A person who knew the old password may have remembered a device.
            self.devices.retain(|device| device.user != user.name);
        }
        if let Some(pin) = pin {
            user.pin = pin;
        }
        if user.role == Role::Admin && user.pin.is_some() {
            return Err(
                "an administrator cannot have a PIN; a PIN is easily seen by others".into(),
            );
        }
        if user.password.is_none() && user.pin.is_none() {
            return Err("a user needs a password or a PIN".to_owned());
        }
        Ok(())
    }

    /// Removes a user.
    ///
    /// # Errors
    /// Why it is impossible.
    pub(crate) fn remove_user(&mut self, name: &str) -> Result<(), String> {
        let mut after = self.clone();
        let key = account_key(name);
        after.users.retain(|user| account_key(&user.name) != key);
        (after.devices).retain(|device| account_key(&device.user) != key);
        if after.users.len() == self.users.len() {
            return Err("there is no such user".to_owned());
        }
        after.check_owner(self)?;
        *self = after;
        Ok(())
    }

    fn check_owner(&self, before: &Self) -> Result<(), String> {
        if self.needs_setup() && !before.needs_setup() {
            return Err(
                "this is the last administrator with a password; create another one first".into(),
            );
        }
        Ok(())
    }

    /// Remembers the device of a user. `known` is the secret in the cookie of the device. Returns the secret for its cookie.
    ///
    /// # Errors
    /// When the machine has no randomness.
    pub(crate) fn remember_device(
        &mut self,
        (known, user): (Option<&str>, &str),
        may_use_pin: bool,
        time: &str,
    ) -> Result<Option<String>, NoSecret> {
        let Some(name) = self.user(user).map(|user| user.name.clone()) else {
            return Ok(None);
        };
        let secret = self.devices.remember(known, &name, may_use_pin, time)?;
        Ok(Some(secret))
    }

    /// Returns the hash of a device on which the user has logged in with a password before.
    pub(crate) fn known_device(&self, secret: &str, user: &str) -> Option<SecretHash> {
        let (device, hash) = self.devices.find(secret)?;
        (account_key(&device.user) == account_key(user)).then_some(hash)
    }

    /// Returns the device with this secret, if it is remembered for PINs.
    pub(crate) fn pin_device(&self, secret: &str) -> Option<&Device> {
        let (device, _) = self.devices.find(secret)?;
        device.may_use_pin.then_some(device)
    }

    /// Returns the devices.
    pub(crate) fn devices(&self) -> &[Device] {
        self.devices.all()
    }

    /// Forgets a device. With `owner`, only one of this user. Returns its user.
    ///
    /// # Errors
    /// When there is none with this id.
    pub(crate) fn forget_device(
        &mut self,
        id: &str,
        owner: Option<&str>,
    ) -> Result<String, String> {
        let is_it =
            |device: &&Device| device.id() == id && owner.is_none_or(|owner| owner == device.user);
        let found = self.devices.all().iter().find(is_it);
        let user = found.map(|device| device.user.clone());
        let user = user.ok_or("there is no such device")?;
        self.devices
            .retain(|device| device.id() != id || device.user != user);
        Ok(user)
    }

    /// Makes a token. Returns its text, which is shown once and not kept.
    ///
    /// # Errors
    /// Why it is impossible.
    pub(crate) fn add_token(
        &mut self,
        label: &str,
        role: Role,
        time: &str,
    ) -> Result<String, String> {
        let label = label.trim();
        if label.is_empty() || label.chars().count() > 60 || label.chars().any(is_hidden) {
            return Err("a token needs a label of 1 to 60 characters: what it is for".to_owned());
        }
        let is_same = |token: &Token| account_key(&token.label) == account_key(label);
        if self.tokens.iter().any(is_same) {
            return Err("there is a token with this label; choose another one".to_owned());
        }
        if self.tokens.len() >= TOKENS_MAX {
            return Err(format!(
                "{TOKENS_MAX} tokens are the most; remove one first"
            ));
        }
        let used: BTreeSet<&str> = self.tokens.iter().map(|token| token.id.as_str()).collect();
        let free = (1..=TOKENS_MAX + 1).map(|n| format!("t{n}"));
        let id = free.into_iter().find(|id| !used.contains(id.as_str()));
        let made = || -> Result<(String, SecretHash), NoSecret> {
            let text = format!("{TOKEN_PREFIX}{}", random_text()?);
            let hash = hash_of_random(&text)?;
            Ok((text, hash))
        };
        let (text, hash) = made().map_err(|error| error.to_string())?;
        self.tokens.push(Token {
            id: id.unwrap_or_default(),
            label: label.to_owned(),
            role,
            created: time.to_owned(),
            hash: hex(&hash),
        });
        Ok(text)
    }

    /// Removes a token.
    ///
    /// # Errors
    /// When there is none with this id.
    pub(crate) fn remove_token(&mut self, id: &str) -> Result<(), String> {
        let before = self.tokens.len();
        self.tokens.retain(|token| token.id != id);
        if self.tokens.len() == before {
            return Err("there is no such token".to_owned());
        }
        Ok(())
    }

    /// Returns the token with this text.
    pub(crate) fn token(&self, text: &str) -> Option<&Token> {
        if !text.starts_with(TOKEN_PREFIX) {
            return None;
        }
        let hash = hex(&hash_of_random(text).ok()?);
        self.tokens.iter().find(|token| token.hash == hash)
    }
}

impl User {
    fn is_owner(&self) -> bool {
        self.role == Role::Admin && self.password.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::super::devices::DEVICES_PER_USER;
    use super::*;
    use shoal_testing::assert_message;

    const TIME: &str = "2026-01-01T00:00:00Z";

    fn with_password(role: Role) -> UserChange {
        UserChange {
            role: Some(role),
            password: Some("hash".into()),
            pin: None,
        }
    }

    #[test]
    fn the_last_administrator_stays() {
        let mut accounts = Accounts::new().unwrap();
        assert!(accounts.needs_setup());
        accounts
            .change_user("Ada", with_password(Role::Admin), TIME)
            .unwrap();
        assert!(!accounts.needs_setup());
        assert_message(
            accounts.remove_user("ada").unwrap_err(),
            &["last administrator"],
        );
        assert!(
            accounts
                .change_user("ADA", with_password(Role::View), TIME)
                .is_err()
        );
        accounts
            .change_user("Bob", with_password(Role::Admin), TIME)
            .unwrap();
        accounts.remove_user("ada").unwrap();
        assert!(accounts.remove_user("ada").is_err());
        let read = Accounts::read(&accounts.text()).unwrap();
        assert_eq!(read.user("bob").map(|user| user.role), Some(Role::Admin));
    }

    #[test]
    fn a_pin_belongs_to_one_user_who_is_no_administrator() {
        let mut accounts = Accounts::new().unwrap();
        let pin = |role, pin| UserChange {
            role: Some(role),
            password: None,
            pin: Some(pin),
        };
        accounts
            .change_user("Desk", pin(Role::Operate, Some([1; 32])), TIME)
            .unwrap();
        assert_eq!(accounts.user_of_pin(&[1; 32]).unwrap().name, "Desk");
        assert!(
            accounts
                .change_user("Eve", pin(Role::View, Some([1; 32])), TIME)
                .is_err()
        );
        assert!(
            accounts
                .change_user("Eve", pin(Role::Admin, Some([2; 32])), TIME)
                .is_err()
        );
        assert!(
            accounts
                .change_user("Desk", pin(Role::View, None), TIME)
                .is_err()
        );
        // A refused change leaves nothing.
        assert!(accounts.user("Eve").is_none());
        for name in ["", "  ", "a\nb", &"x".repeat(33), "<b>"] {
            assert!(
                accounts
                    .change_user(name, with_password(Role::View), TIME)
                    .is_err()
            );
        }
    }

    #[test]
    fn devices_are_known_for_their_user_only_and_forgotten_with_the_password() {
        let mut accounts = Accounts::new().unwrap();
        accounts
            .change_user("ada", with_password(Role::Admin), TIME)
            .unwrap();
        let remember = |accounts: &mut Accounts, known: Option<&str>, user, may_use_pin| {
            let known = accounts.remember_device((known, user), may_use_pin, TIME);
            known.unwrap().unwrap()
        };
        accounts
            .change_user("bob", with_password(Role::View), TIME)
            .unwrap();
        let device = remember(&mut accounts, None, " ADA", false);
        assert_eq!(accounts.devices()[0].user, "ada", "the name of the account");
        assert!(accounts.known_device(&device, "ADA").is_some());
        assert!(accounts.known_device(&device, "bob").is_none());
        assert!(accounts.pin_device(&device).is_none());
        let again = remember(&mut accounts, Some(&device), "ada", true);
        assert_eq!(again, device);
        assert!(accounts.pin_device(&device).is_some());
        for _ in 0..DEVICES_PER_USER + 5 {
            remember(&mut accounts, None, "bob", true);
            remember(&mut accounts, None, "ada", false);
        }
        assert_eq!(accounts.devices().len(), 2 * DEVICES_PER_USER);
        assert!(
            accounts.pin_device(&device).is_some(),
            "devices that are not remembered make room first"
        );
        accounts
            .change_user("ada", with_password(Role::Admin), TIME)
            .unwrap();
        assert!(accounts.known_device(&device, "ada").is_none());
    }

    #[test]
    fn tokens_are_shown_once_and_kept_as_hashes() {
        let mut accounts = Accounts::new().unwrap();
        let text = accounts
            .add_token("show control", Role::Operate, TIME)
            .unwrap();
        assert!(!String::from_utf8(accounts.text()).unwrap().contains(&text));
        assert_eq!(accounts.token(&text).unwrap().role, Role::Operate);
        assert!(accounts.token(&text.to_uppercase()).is_none());
        assert!(accounts.add_token(" ", Role::View, TIME).is_err());
        let id = accounts.tokens()[0].id.clone();
        accounts.remove_token(&id).unwrap();
        assert!(accounts.token(&text).is_none() && accounts.remove_token(&id).is_err());
    }

    /// A fixed bug: a name with a megabyte of spaces made the file larger than what is read, so that the panel was not served.
    #[test]
    fn the_fullest_file_is_smaller_than_what_is_read() {
        let mut accounts = Accounts::new().unwrap();
        let hash = "h".repeat(128);
        for n in 0..USERS_MAX {
            let user = format!(
                "{n:02}{}",
                "\u{1f41f}".repeat(super::super::names::NAME_CHARS_MAX - 2)
            );
            accounts.users.push(User {
                name: user.clone(),
                role: Role::Operate,
                password: Some(hash.clone()),
                pin: Some(hash.clone()),
                created: TIME.to_owned(),
                stamp: "s".repeat(64),
            });
            for _ in 0..DEVICES_PER_USER + 1 {
                accounts.devices.remember(None, &user, true, TIME).unwrap();
            }
        }
        for n in 0..TOKENS_MAX {
            let label = format!("{n:02}{}", "\u{1f41f}".repeat(58));
            accounts.add_token(&label, Role::View, TIME).unwrap();
        }
        let text = accounts.text();
        assert!(
            (text.len() as u64) < super::super::kept_file::FILE_BYTES_MAX / 2,
            "{}",
            text.len()
        );
        assert_eq!(Accounts::read(&text).unwrap().text(), text);
    }

    #[test]
    fn a_damaged_file_is_refused() {
        let accounts = Accounts::new().unwrap();
        let text = String::from_utf8(accounts.text()).unwrap();
        let other = text.replace("\"version\": 1", "\"version\": 2");
        assert!(
            Accounts::read(other.as_bytes())
                .unwrap_err()
                .contains("version 2")
        );
        assert!(Accounts::read(&text.as_bytes()[..text.len() / 2]).is_err());
    }
}
