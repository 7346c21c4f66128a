//! The devices on which users have logged in with a password. Each user has places of its own, so that the logins of one user
//! never cost another one a device.

use serde::{Deserialize, Serialize};

use super::secrets::{NoSecret, SecretHash, hash_of_random, hex, random_text};

/// Largest number of known devices of a user. A device that is not remembered for PINs makes room first, then the oldest one.
pub(super) const DEVICES_PER_USER: usize = 20;
/// Number of digits of the name of a device in lists.
const ID_DIGITS: usize = 16;

/// A device on which a user has logged in with a password.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Device {
    /// Hash of the secret in its cookie, in hexadecimal digits.
    hash: String,
    /// Name of the user, as in the account.
    pub(crate) user: String,
    /// Whether the device is remembered for PINs.
    pub(crate) may_use_pin: bool,
    /// Date and time of the first login.
    pub(crate) created: String,
}

impl Device {
    /// Returns the name of the device in lists. It is no secret.
    pub(crate) fn id(&self) -> &str {
        self.hash.get(..ID_DIGITS).unwrap_or(&self.hash)
    }

    /// Whether the device has this secret in its cookie.
    pub(crate) fn has_secret(&self, secret: &str) -> bool {
        hash_of_random(secret).is_ok_and(|hash| hex(&hash) == self.hash)
    }
}

/// The devices, in the order in which they were added.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Devices(Vec<Device>);

impl Devices {
    /// Remembers the device of a user. `known` is the secret in the cookie of the device. Returns the secret for its cookie.
    ///
    /// # Errors
    /// When the machine has no randomness.
    pub(super) fn remember(
        &mut self,
        known: Option<&str>,
        user: &str,
        may_use_pin: bool,
        time: &str,
    ) -> Result<String, NoSecret> {
        if let Some(known) = known
            && let Some(index) = self.position(known)
            && let Some(device) = self.0.get_mut(index)
            && device.user == user
        {
            device.may_use_pin |= may_use_pin;
            return Ok(known.to_owned());
        }
        let secret = random_text()?;
        let device = Device {
            hash: hex(&hash_of_random(&secret)?),
            user: user.to_owned(),
            may_use_pin,
            created: time.to_owned(),
        };
        while self.of(user).count() >= DEVICES_PER_USER {
            let is_plain = |device: &Device| device.user == user && !device.may_use_pin;
            let plain = self.0.iter().position(is_plain);
            let oldest = self.0.iter().position(|device| device.user == user);
            let Some(index) = plain.or(oldest) else {
                break;
            };
            self.0.remove(index);
        }
        self.0.push(device);
        Ok(secret)
    }

    /// Returns the devices of a user.
    fn of(&self, user: &str) -> impl Iterator<Item = &Device> {
        self.0.iter().filter(move |device| device.user == user)
    }

    fn position(&self, secret: &str) -> Option<usize> {
        let hash = hex(&hash_of_random(secret).ok()?);
        self.0.iter().position(|device| device.hash == hash)
    }

    /// Returns the device with this secret in its cookie, and the hash of the secret.
    pub(super) fn find(&self, secret: &str) -> Option<(&Device, SecretHash)> {
        let hash = hash_of_random(secret).ok()?;
        let text = hex(&hash);
        let device = self.0.iter().find(|device| device.hash == text)?;
        Some((device, hash))
    }

    /// Returns all devices.
    pub(crate) fn all(&self) -> &[Device] {
        &self.0
    }

    /// Keeps the devices for which `keep` is true. Returns whether any was removed.
    pub(super) fn retain(&mut self, keep: impl FnMut(&Device) -> bool) -> bool {
        let before = self.0.len();
        self.0.retain(keep);
        self.0.len() < before
    }
}
