//! The sessions of logged-in users. They are in memory only: after a restart of the program, all users log in again.
//! Must not: read a clock.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::accounts::account_key;
use super::secrets::{NoSecret, SecretHash, hash_of_random, random_text};

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
}

impl Session {
    fn is_over(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.used) > IDLE_MAX
            || now.saturating_duration_since(self.created) > AGE_MAX
    }
}

/// All sessions.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    by_hash: HashMap<SecretHash, Session>,
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
        };
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
            session.used = now;
        }
        Some(session.clone())
    }

    /// Ends a session.
    pub(crate) fn end(&mut self, secret: &str) {
        if let Ok(hash) = hash_of_random(secret) {
            self.by_hash.remove(&hash);
        }
    }

    /// Ends all sessions of a user.
    pub(crate) fn end_all_of(&mut self, user: &str) {
        let user = account_key(user);
        self.by_hash
            .retain(|_, session| account_key(&session.user) != user);
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
        assert!(
            sessions.find(&secret, false, later).is_none(),
            "watching is no use"
        );

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
