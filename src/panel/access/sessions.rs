//! The sessions of logged-in users. A file keeps them during a restart of the program, with hashes of their secrets only.
//!
//! A session belongs to a user and to the stamp of the account at the login: if the stamp changes, the session is over. Each user
//! has places of its own, so that the logins of one user never end a session of another one. Must not: read a clock.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::accounts::User;
use super::secrets::{NoSecret, SecretHash, from_hex, hash_of_random, hex, random_text};

/// Time without a request after which a session ends.
pub(crate) const IDLE_MAX: Duration = Duration::from_secs(12 * 3600);
/// Time after the login at which a session ends in any case.
pub(crate) const AGE_MAX: Duration = Duration::from_secs(7 * 24 * 3600);
/// Largest number of sessions of a user. The session that was idle for the longest time ends.
const SESSIONS_PER_USER: usize = 20;
/// Largest number of sessions that are read from the file.
const SESSIONS_READ_MAX: usize = 5000;
/// Time after a login or a repeated password in which the session may change users, tokens, programs and the whole site.
const CONFIRMED_FOR: Duration = Duration::from_secs(600);
/// Number of digits of the name of a session in lists.
const ID_DIGITS: usize = 16;

/// A session.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    /// Name of the user, as in the account.
    pub(crate) user: String,
    /// Stamp of the account at the login.
    pub(crate) stamp: String,
    /// Whether the user logged in with a PIN. Such a session never has the role `admin`.
    pub(crate) is_of_pin: bool,
    /// Secret that every change has to repeat in a header.
    pub(crate) csrf: String,
    /// Address from which the user logged in.
    pub(crate) address: String,
    /// Time at which the user last entered the password; `None` if that was before a restart.
    confirmed: Option<Instant>,
    created: Instant,
    used: Instant,
    /// Age at `created`, of a session from before a restart.
    age_before: Duration,
    /// Idle time at `used`, of a session from before a restart.
    idle_before: Duration,
}

impl Session {
    /// Time since the login.
    pub(crate) fn age(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.created) + self.age_before
    }

    /// Time since the last request.
    pub(crate) fn idle(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.used) + self.idle_before
    }

    fn belongs_to(&self, user: &User) -> bool {
        self.user == user.name && self.stamp == user.stamp
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
    #[serde(default)]
    stamp: String,
    is_of_pin: bool,
    #[serde(default)]
    address: String,
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
    /// Number of changes that the file has to contain.
    changes: u64,
}

impl Sessions {
    /// Begins a session. Returns the secret for the cookie, and the session.
    ///
    /// # Errors
    /// When the machine has no randomness.
    pub(crate) fn begin(
        &mut self,
        user: &User,
        is_of_pin: bool,
        address: String,
        now: Instant,
    ) -> Result<(String, Session), NoSecret> {
        self.by_hash.retain(|_, session| !session.is_over(now));
        loop {
            let own = self.by_hash.iter().filter(|(_, s)| s.user == user.name);
            let (count, oldest) =
                own.fold((0, None::<(&SecretHash, &Session)>), |(n, old), own| {
                    let is_older = old.is_none_or(|old| own.1.used < old.1.used);
                    (n + 1, if is_older { Some(own) } else { old })
                });
            let Some(oldest) = oldest.map(|(hash, _)| *hash) else {
                break;
            };
            if count < SESSIONS_PER_USER {
                break;
            }
            self.by_hash.remove(&oldest);
        }
        let session = Session {
            user: user.name.clone(),
            stamp: user.stamp.clone(),
            is_of_pin,
            csrf: random_text()?,
            address,
            confirmed: (!is_of_pin).then_some(now),
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

    /// Ends a session. Returns whether it existed.
    pub(crate) fn end(&mut self, secret: &str) -> bool {
        let hash = hash_of_random(secret).ok();
        let is_ended = hash.is_some_and(|hash| self.by_hash.remove(&hash).is_some());
        self.changes += u64::from(is_ended);
        is_ended
    }

    /// Removes the sessions of users that were removed, or whose stamp was replaced.
    pub(crate) fn end_stale<'a>(&mut self, find: impl Fn(&str) -> Option<&'a User>) {
        let before = self.by_hash.len();
        self.by_hash
            .retain(|_, session| find(&session.user).is_some_and(|user| session.belongs_to(user)));
        self.changes += u64::from(self.by_hash.len() < before);
    }

    /// Ends the session with this id. With `owner`, only one of this user. Returns its user.
    ///
    /// # Errors
    /// When there is none.
    pub(crate) fn end_by_id(&mut self, id: &str, owner: Option<&str>) -> Result<String, String> {
        let is_it = |(hash, session): &(&SecretHash, &Session)| {
            hex(*hash).get(..ID_DIGITS) == Some(id)
                && owner.is_none_or(|owner| owner == session.user)
        };
        let found = self.by_hash.iter().find(is_it).map(|(hash, _)| *hash);
        let ended = found.and_then(|hash| self.by_hash.remove(&hash));
        let ended = ended.ok_or("there is no such session")?;
        self.changes += 1;
        Ok(ended.user)
    }

    /// Returns the sessions that are not over, each with its id for lists, the one that was used last first.
    pub(crate) fn list(&self, now: Instant) -> Vec<(String, &Session)> {
        let alive = self.by_hash.iter().filter(|(_, s)| !s.is_over(now));
        let id = |hash: &SecretHash| hex(hash).chars().take(ID_DIGITS).collect();
        let mut listed: Vec<(String, &Session)> = alive.map(|(h, s)| (id(h), s)).collect();
        listed.sort_by_key(|(id, session)| (session.idle(now), id.clone()));
        listed
    }

    /// Returns the id of the session with this secret.
    pub(crate) fn id_of(secret: &str) -> Option<String> {
        let hash = hash_of_random(secret).ok()?;
        Some(hex(&hash).chars().take(ID_DIGITS).collect())
    }

    /// Notes that the user of a session has entered the password again.
    pub(crate) fn confirm(&mut self, secret: &str, now: Instant) {
        if let Ok(hash) = hash_of_random(secret)
            && let Some(session) = self.by_hash.get_mut(&hash)
        {
            session.confirmed = Some(now);
        }
    }

    /// Whether the user of a session has entered the password lately.
    pub(crate) fn is_confirmed(&self, secret: &str, now: Instant) -> bool {
        let session = hash_of_random(secret)
            .ok()
            .and_then(|hash| self.by_hash.get(&hash));
        session
            .and_then(|session| session.confirmed)
            .is_some_and(|at| now.saturating_duration_since(at) < CONFIRMED_FOR)
    }

    /// Lets the next check write the times of the last use.
    pub(crate) fn write_uses(&mut self) {
        self.changes += u64::from(!self.by_hash.is_empty());
    }

    /// Returns the number of changes.
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
            stamp: session.stamp.clone(),
            is_of_pin: session.is_of_pin,
            address: session.address.clone(),
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
        for kept in kept.sessions.into_iter().take(SESSIONS_READ_MAX) {
            let age = unix_secs.checked_sub(kept.created_unix_secs);
            let idle = unix_secs.checked_sub(kept.used_unix_secs);
            let (Some(age), Some(idle), Some(hash)) = (age, idle, from_hex(&kept.hash)) else {
                continue;
            };
            let session = Session {
                user: kept.user,
                stamp: kept.stamp,
                is_of_pin: kept.is_of_pin,
                address: kept.address,
                confirmed: None,
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
    use super::super::role::Role;
    use super::*;

    fn user(name: &str) -> User {
        User {
            name: name.to_owned(),
            role: Role::View,
            password: None,
            pin: None,
            created: String::new(),
            stamp: "1".to_owned(),
        }
    }

    fn begin(
        sessions: &mut Sessions,
        name: &str,
        is_of_pin: bool,
        now: Instant,
    ) -> (String, Session) {
        let address = "10.0.0.1".to_owned();
        sessions
            .begin(&user(name), is_of_pin, address, now)
            .unwrap()
    }

    #[test]
    fn sessions_end_when_idle_when_old_and_when_told() {
        let mut sessions = Sessions::default();
        let start = Instant::now();
        let (secret, session) = begin(&mut sessions, "ada", false, start);
        let (other, _) = begin(&mut sessions, "ada", true, start);
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

        let (secret, _) = begin(&mut sessions, "ada", false, start);
        let watching = start + IDLE_MAX;
        assert!(sessions.find(&secret, false, watching).is_some());
        let later = watching + Duration::from_secs(1);
        // Watching is no use.
        assert!(sessions.find(&secret, false, later).is_none());

        let (first, _) = begin(&mut sessions, "ada", false, start);
        let (second, _) = begin(&mut sessions, "bob", false, start);
        let after = User {
            stamp: "2".to_owned(),
            ..user("ada")
        };
        let bob = user("bob");
        sessions.end_stale(|name| [&after, &bob].into_iter().find(|user| user.name == name));
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
        let (secret, before) = begin(&mut sessions, "ada", true, start);
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

    /// A fixed bug: whoever sent a cookie without a session could have the file of sessions written, as often as it liked.
    #[test]
    fn the_end_of_no_session_is_nothing_to_write() {
        let mut sessions = Sessions::default();
        let (secret, _) = begin(&mut sessions, "ada", false, Instant::now());
        let before = sessions.changes();
        for other in ["", "f", &"f".repeat(64)] {
            assert!(!sessions.end(other));
        }
        assert_eq!(sessions.changes(), before);
        assert!(sessions.end(&secret) && !sessions.end(&secret));
        assert_eq!(sessions.changes(), before + 1);
    }

    /// A fixed bug: the sessions of all users had a common limit, so that a thousand logins of one user ended those of all others.
    #[test]
    fn the_logins_of_one_user_end_only_its_own_sessions() {
        let mut sessions = Sessions::default();
        let start = Instant::now();
        let (owner, _) = begin(&mut sessions, "ada", false, start);
        let (first, _) = begin(&mut sessions, "bob", false, start);
        for n in 0..1000 {
            let now = start + Duration::from_millis(n + 1);
            begin(&mut sessions, "bob", false, now);
        }
        assert_eq!(sessions.by_hash.len(), 1 + SESSIONS_PER_USER);
        assert!(sessions.find(&owner, true, start).is_some());
        assert!(sessions.find(&first, true, start).is_none());
    }

    #[test]
    fn a_password_is_confirmed_for_a_while_and_not_by_a_pin() {
        let mut sessions = Sessions::default();
        let now = Instant::now();
        let (secret, _) = begin(&mut sessions, "ada", false, now);
        let (pin, _) = begin(&mut sessions, "ada", true, now);
        assert!(sessions.is_confirmed(&secret, now) && !sessions.is_confirmed(&pin, now));
        assert!(!sessions.is_confirmed("", now));
        let late = now + CONFIRMED_FOR;
        assert!(!sessions.is_confirmed(&secret, late));
        sessions.confirm(&secret, late);
        assert!(sessions.is_confirmed(&secret, late));
        let id = Sessions::id_of(&secret).unwrap();
        assert!(sessions.end_by_id(&id, Some("bob")).is_err());
        sessions.end_by_id(&id, Some("ada")).unwrap();
        assert!(sessions.find(&secret, false, late).is_none());
    }
}
