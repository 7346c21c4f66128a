//! The sessions of logged-in users. A file keeps them during a restart of the program, with hashes of their secrets only.
//! Must not: read a clock.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::accounts::account_key;
use super::secrets::{NoSecret, SecretHash, from_hex, hash_of_random, hex, random_text};

/// Time without a request after which a session ends.
pub(crate) const IDLE_MAX: Duration = Duration::from_secs(12 * 3600);
/// Time after the login at which a session ends in any case.
pub(crate) const AGE_MAX: Duration = Duration::from_secs(7 * 24 * 3600);
/// Largest number of sessions. The session that was idle for the longest time ends.
const SESSIONS_MAX: usize = 1000;

/// A session.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    /// Name of the user.
    pub(crate) user: String,
    /// Whether the user logged in with a PIN. Such a session never has the role `admin`.
    pub(crate) is_of_pin: bool,
    /// Secret that every change has to repeat in a header.
    pub(crate) csrf: String,
    created: Instant,
    used: Instant,
    /// Age at `created`, of a session from before a restart.
    age_before: Duration,
    /// Idle time at `used`, of a session from before a restart.
    idle_before: Duration,
}

impl Session {
    fn age(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.created) + self.age_before
    }

    fn idle(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.used) + self.idle_before
    }

    fn is_over(&self, now: Instant) -> bool {
        self.idle(now) > IDLE_MAX || self.age(now) > AGE_MAX
    }
}

/// A session as its file holds it: with the hash of its secret. Its secret for changes is made again after a restart.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptSession {
    hash: String,
    user: String,
    is_of_pin: bool,
    created_unix_secs: u64,
    used_unix_secs: u64,
}

/// The content of the file of sessions.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptSessions {
    version: u32,
    /// Name of the accounts to which the sessions belong. If an administrator removed the file of accounts, the sessions end.
    accounts: String,
    sessions: Vec<KeptSession>,
}

/// Version of the file of sessions.
const VERSION: u32 = 1;

/// All sessions.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    by_hash: HashMap<SecretHash, Session>,
    /// Number of sessions that began or ended.
    changes: u64,
}

impl Sessions {
    /// Begins a session. Returns the secret for the cookie, and the session.
    ///
    /// # Errors
    /// When the machine has no randomness.
    pub(crate) fn begin(
        &mut self,
        user: &str,
        is_of_pin: bool,
        now: Instant,
    ) -> Result<(String, Session), NoSecret> {
        self.by_hash.retain(|_, session| !session.is_over(now));
        if self.by_hash.len() >= SESSIONS_MAX {
            let oldest = self.by_hash.iter().min_by_key(|(_, session)| session.used);
            if let Some(oldest) = oldest.map(|(hash, _)| *hash) {
                self.by_hash.remove(&oldest);
            }
        }
        let session = Session {
            user: user.to_owned(),
            is_of_pin,
            csrf: random_text()?,
            created: now,
            used: now,
            age_before: Duration::ZERO,
            idle_before: Duration::ZERO,
        };
        self.changes += 1;
        let secret = random_text()?;
        self.by_hash
            .insert(hash_of_random(&secret)?, session.clone());
        Ok((secret, session))
    }

    /// Returns the session of a cookie; `None` if it does not exist or is over. `is_use` says whether this is a request of the
    /// user, which begins the idle time again.
    pub(crate) fn find(&mut self, secret: &str, is_use: bool, now: Instant) -> Option<Session> {
        let hash = hash_of_random(secret).ok()?;
        let session = self.by_hash.get_mut(&hash)?;
        if session.is_over(now) {
            self.by_hash.remove(&hash);
            return None;
        }
        if is_use {
            (session.used, session.idle_before) = (now, Duration::ZERO);
        }
        Some(session.clone())
    }

    /// Ends a session.
    pub(crate) fn end(&mut self, secret: &str) {
        if let Ok(hash) = hash_of_random(secret) {
            self.by_hash.remove(&hash);
            self.changes += 1;
        }
    }

    /// Ends all sessions of a user.
    pub(crate) fn end_all_of(&mut self, user: &str) {
        let user = account_key(user);
        self.changes += 1;
        self.by_hash
            .retain(|_, session| account_key(&session.user) != user);
    }

    /// Whether there is no session, and there was none since the start.
    pub(crate) fn is_untouched(&self) -> bool {
        self.by_hash.is_empty() && self.changes == 0
    }

    /// Returns the number of sessions that began or ended.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns the content for the file of sessions. `unix_secs` is the time of day at `now`.
    pub(crate) fn text(&self, accounts: &str, now: Instant, unix_secs: u64) -> Vec<u8> {
        let kept = self
            .by_hash
            .iter()
            .filter(|(_, session)| !session.is_over(now));
        let kept = kept.map(|(hash, session)| KeptSession {
            hash: hex(hash),
            user: session.user.clone(),
            is_of_pin: session.is_of_pin,
            created_unix_secs: unix_secs.saturating_sub(session.age(now).as_secs()),
            used_unix_secs: unix_secs.saturating_sub(session.idle(now).as_secs()),
        });
        let kept = KeptSessions {
            version: VERSION,
            accounts: accounts.to_owned(),
            sessions: kept.collect(),
        };
        serde_json::to_vec(&kept).unwrap_or_default()
    }

    /// Reads the sessions of these accounts that are not over. A session from the future is over: the clock of the machine is
    /// wrong, so its age is unknown.
    ///
    /// # Errors
    /// A description of the damage.
    pub(crate) fn read(
        text: &[u8],
        accounts: &str,
        now: Instant,
        unix_secs: u64,
    ) -> Result<Self, String> {
        let kept: KeptSessions = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        let mut sessions = Self::default();
        if kept.version != VERSION || kept.accounts != accounts {
            return Ok(sessions);
        }
        for kept in kept.sessions.into_iter().take(SESSIONS_MAX) {
            let age = unix_secs.checked_sub(kept.created_unix_secs);
            let idle = unix_secs.checked_sub(kept.used_unix_secs);
            let (Some(age), Some(idle), Some(hash)) = (age, idle, from_hex(&kept.hash)) else {
                continue;
            };
            let session = Session {
                user: kept.user,
                is_of_pin: kept.is_of_pin,
                csrf: random_text().map_err(|error| error.to_string())?,
                created: now,
                used: now,
                age_before: Duration::from_secs(age),
                idle_before: Duration::from_secs(idle),
            };
            if !session.is_over(now) {
                sessions.by_hash.insert(hash, session);
            }
        }
        Ok(sessions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_end_when_idle_when_old_and_when_told() {
        let mut sessions = Sessions::default();
        let start = Instant::now();
        let (secret, session) = sessions.begin("ada", false, start).unwrap();
        let (other, _) = sessions.begin("ada", true, start).unwrap();
        assert!(secret != other && session.csrf != secret);
        let mut now = start;
        while now + IDLE_MAX < start + AGE_MAX {
            now += IDLE_MAX;
            assert!(sessions.find(&secret, true, now).is_some());
        }
        assert!(sessions.find(&secret, true, start + AGE_MAX).is_some());
        let late = start + AGE_MAX + Duration::from_secs(1);
        assert!(sessions.find(&secret, true, late).is_none(), "too old");
        assert!(sessions.find(&other, true, late).is_none(), "idle");

        let (secret, _) = sessions.begin("ada", false, start).unwrap();
        let watching = start + IDLE_MAX;
        assert!(sessions.find(&secret, false, watching).is_some());
        let later = watching + Duration::from_secs(1);
        // Watching is no use.
        assert!(sessions.find(&secret, false, later).is_none());

        let (first, _) = sessions.begin("ada", false, start).unwrap();
        let (second, _) = sessions.begin("bob", false, start).unwrap();
        sessions.end_all_of("ada");
        assert!(sessions.find(&first, true, start).is_none());
        assert!(sessions.find(&second, true, start).is_some());
        sessions.end(&second);
        assert!(sessions.find(&second, true, start).is_none());
        assert!(sessions.find("", true, start).is_none());
    }

    #[test]
    fn a_restart_neither_ends_a_session_nor_makes_it_younger() {
        let start = Instant::now();
        let mut sessions = Sessions::default();
        let (secret, before) = sessions.begin("ada", true, start).unwrap();
        let hour = Duration::from_secs(3600);
        let text = sessions.text("accounts", start + hour, 1_000_000);
        assert!(!String::from_utf8_lossy(&text).contains(&secret));
        let read =
            |accounts: &str, unix_secs| Sessions::read(&text, accounts, start, unix_secs).unwrap();
        let session = read("accounts", 1_000_060)
            .find(&secret, false, start)
            .unwrap();
        assert_eq!((session.user.as_str(), session.is_of_pin), ("ada", true));
        assert_ne!(session.csrf, before.csrf);
        // One hour and one minute are over, so eleven hours remain.
        let mut late = read("accounts", 1_000_060);
        assert!(late.find(&secret, false, start + 10 * hour).is_some());
        assert!(late.find(&secret, false, start + 11 * hour).is_none());
        // A use begins the idle time again, but not the age.
        let mut used = read("accounts", 1_000_060);
        assert!(used.find(&secret, true, start).is_some());
        assert!(used.find(&secret, false, start + 12 * hour).is_some());

        for (accounts, unix_secs) in [
            ("others", 1_000_060),
            ("accounts", 900_000),
            ("accounts", 2_000_000),
        ] {
            let mut other = read(accounts, unix_secs);
            assert!(
                other.find(&secret, true, start).is_none(),
                "{accounts} {unix_secs}"
            );
        }
        assert!(Sessions::read(b"{", "accounts", start, 0).is_err());
    }

    #[test]
    fn the_number_of_sessions_is_bounded() {
        let mut sessions = Sessions::default();
        let start = Instant::now();
        let (secret, _) = sessions.begin("ada", false, start).unwrap();
        for n in 0..SESSIONS_MAX as u64 {
            let now = start + Duration::from_millis(n + 1);
            sessions.begin("bob", false, now).unwrap();
        }
        assert_eq!(sessions.by_hash.len(), SESSIONS_MAX);
        assert!(sessions.find(&secret, true, start).is_none());
    }
}
