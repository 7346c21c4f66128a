//! Permissions: users, roles, sessions, remembered devices, tokens, the setup code, and limits of wrong attempts.
//!
//! In: what a request says about its sender, and the time. Out: an identity with a role, or none. A slow hash gives a [`Proof`],
//! which is worth something only while the account still has the secret that was checked. Must not: know HTTP, read a clock, compute
//! a slow hash while others wait.

mod accounts;
mod devices;
mod kept_file;
mod names;
mod passwords;
mod role;
mod secrets;
mod sessions;
mod setup_code;
mod throttle;

pub(crate) use accounts::{Accounts, Token, User, UserChange};
pub(crate) use devices::Device;
pub(crate) use kept_file::KeptFile;
pub(crate) use names::{account_key, bounded_name};
pub(crate) use passwords::{check_password, check_pin, is_bounded_secret, is_pin};
pub use role::Role;
pub(crate) use secrets::{
    NoSecret, SecretHash, hash_of_password, hash_of_pin, hash_of_random, is_equal, is_password,
    random_text,
};
pub(crate) use sessions::{AGE_MAX, Session, Sessions};
pub(crate) use setup_code::SetupCode;
pub(crate) use throttle::{Attempt, Throttle};

use std::time::Instant;

/// The sender of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Name of the user, or label of the token. A token can have the name of a user.
    pub(crate) name: String,
    /// What the sender may do.
    pub(crate) role: Role,
    /// Secret that every change has to repeat in a header; `None` for a token, which no browser sends by itself.
    pub(crate) csrf: Option<String>,
}

impl Identity {
    /// Returns the name of the user; `None` for a token.
    pub(crate) fn user(&self) -> Option<&str> {
        self.csrf.is_some().then_some(self.name.as_str())
    }

    /// Returns the name for the audit trail and for events. No user name contains a colon, so a token is never taken for a user.
    pub(crate) fn shown(&self) -> String {
        match self.user() {
            Some(user) => user.to_owned(),
            None => format!("token:{}", self.name),
        }
    }
}

/// A secret that was right when its hash was computed. Others may have changed the account meanwhile.
#[derive(Clone, Debug)]
pub(crate) enum Proof {
    /// The password of a user.
    Password {
        /// Name of the user.
        user: String,
        /// The stored hash that the password belongs to.
        stored: String,
    },
    /// A PIN on a device.
    Pin {
        /// Hash of the PIN.
        hash: SecretHash,
        /// Secret in the cookie of the device.
        device: String,
    },
}

/// What is known about the client that logs in. The password, the PIN or another proof is separate.
pub(crate) struct LoginClient<'a> {
    /// Address of the client.
    pub(crate) address: String,
    /// Secret in the cookie of the session that it had.
    pub(crate) session: Option<&'a str>,
    /// Secret in the cookie of its device.
    pub(crate) device: Option<&'a str>,
    /// Whether the device is remembered for PINs.
    pub(crate) remembers: bool,
}

/// A session that has begun.
pub(crate) struct LoggedIn {
    /// Secret for the cookie of the session.
    pub(crate) secret: String,
    /// Secret for the cookie of the device; `None` leaves the cookie as it is.
    pub(crate) device: Option<String>,
    /// The user.
    pub(crate) identity: Identity,
}

/// All state of the access.
#[derive(Debug)]
pub(crate) struct Access {
    accounts: Accounts,
    /// Sessions of users.
    pub(crate) sessions: Sessions,
    /// Limits of wrong attempts.
    pub(crate) throttle: Throttle,
    /// The setup code.
    pub(crate) code: SetupCode,
    /// Number of changes of the accounts.
    changes: u64,
}

impl Access {
    /// Returns the access with the accounts and the sessions of the files.
    pub(crate) fn new(accounts: Accounts, sessions: Sessions) -> Self {
        let mut access = Self {
            accounts,
            sessions,
            throttle: Throttle::default(),
            code: SetupCode::default(),
            changes: 0,
        };
        access.end_stale_sessions();
        access
    }

    /// Returns users, devices and tokens.
    pub(crate) fn accounts(&self) -> &Accounts {
        &self.accounts
    }

    /// Changes users, devices or tokens. Sessions of users that the change concerns end.
    ///
    /// # Errors
    /// Why the change is impossible. Then there is nothing to write.
    pub(crate) fn change_accounts<T>(
        &mut self,
        change: impl FnOnce(&mut Accounts) -> Result<T, String>,
    ) -> Result<T, String> {
        let changed = change(&mut self.accounts)?;
        self.changes += 1;
        self.end_stale_sessions();
        Ok(changed)
    }

    fn end_stale_sessions(&mut self) {
        let accounts = &self.accounts;
        self.sessions.end_stale(|name| accounts.user(name));
    }

    /// Returns the number of changes of the accounts.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns the user whom a proof stands for; `None` if the account has changed since.
    pub(crate) fn user_of_proof(&self, proof: &Proof) -> Option<&User> {
        match proof {
            Proof::Password { user, stored } => {
                let user = self.accounts.user(user)?;
                (user.password.as_ref() == Some(stored)).then_some(user)
            }
            Proof::Pin { hash, device } => {
                self.accounts.pin_device(device)?;
                self.accounts.user_of_pin(hash)
            }
        }
    }

    /// Begins a session for the user of a proof, instead of the session that the client may have had, and remembers the device of a
    /// user with a password. `None` if the proof holds no longer.
    ///
    /// # Errors
    /// When the machine has no randomness.
    pub(crate) fn log_in(
        &mut self,
        proof: &Proof,
        client: &LoginClient<'_>,
        (time, now): (&str, Instant),
    ) -> Result<Option<LoggedIn>, NoSecret> {
        let Some(user) = self.user_of_proof(proof).cloned() else {
            return Ok(None);
        };
        let is_of_pin = matches!(proof, Proof::Pin { .. });
        let device = if is_of_pin {
            None
        } else {
            let known = client.device;
            let is_known = known.is_some_and(|known| {
                self.accounts.known_device(known, &user.name).is_some()
                    && (!client.remembers || self.accounts.pin_device(known).is_some())
            });
            // Nothing has to be saved for a device that is known already.
            self.changes += u64::from(!is_known);
            let known = (known, user.name.as_str());
            self.accounts
                .remember_device(known, client.remembers, time)?
        };
        if let Some(old) = client.session {
            self.sessions.end(old);
        }
        let address = client.address.clone();
        let (secret, session) = self.sessions.begin(&user, is_of_pin, address, now)?;
        Ok(self.identity_of(session).map(|identity| LoggedIn {
            secret,
            device,
            identity,
        }))
    }

    /// Returns the sender of a request with this token or this session; `None` if it has neither, or they are not valid. A
    /// request with a token never uses its session.
    pub(crate) fn identify(
        &mut self,
        token: Option<&str>,
        session: Option<&str>,
        is_use: bool,
        now: Instant,
    ) -> Option<Identity> {
        if let Some(text) = token {
            let token = self.accounts.token(text)?;
            return Some(Identity {
                name: token.label.clone(),
                role: token.role,
                csrf: None,
            });
        }
        let session = self.sessions.find(session?, is_use, now)?;
        self.identity_of(session)
    }

    /// Returns the identity of a session; `None` if its user was removed.
    fn identity_of(&self, session: Session) -> Option<Identity> {
        let user = self.accounts.user(&session.user)?;
        let most = if session.is_of_pin {
            Role::Operate
        } else {
            Role::Admin
        };
        Some(Identity {
            name: user.name.clone(),
            role: user.role.min(most),
            csrf: Some(session.csrf),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: &str = "2026-01-01T00:00:00Z";

    fn access() -> Access {
        let mut accounts = Accounts::new().unwrap();
        for (name, role) in [("ada", Role::Admin), ("vera", Role::View)] {
            let change = UserChange {
                role: Some(role),
                password: Some(format!("old hash of {name}")),
                pin: None,
            };
            accounts.change_user(name, change, TIME).unwrap();
        }
        Access::new(accounts, Sessions::default())
    }

    fn client(device: Option<&str>) -> LoginClient<'_> {
        LoginClient {
            address: "10.0.0.1".to_owned(),
            session: None,
            device,
            remembers: true,
        }
    }

    fn password(user: &str) -> Proof {
        Proof::Password {
            user: user.to_owned(),
            stored: format!("old hash of {user}"),
        }
    }

    /// A fixed bug: a login that waited for its hash while the password was changed began a session with the old password.
    #[test]
    fn a_proof_is_worth_nothing_after_the_secret_has_changed() {
        let now = Instant::now();
        let mut access = access();
        let log_in = |access: &mut Access, proof: &Proof, device: Option<&str>| {
            access.log_in(proof, &client(device), (TIME, now)).unwrap()
        };
        let before = log_in(&mut access, &password("vera"), None).unwrap();
        let device = before.device.unwrap();
        let pin = Proof::Pin {
            hash: [7; 32],
            device: device.clone(),
        };
        assert!(log_in(&mut access, &pin, None).is_none());
        let with_pin = UserChange {
            pin: Some(Some([7; 32])),
            ..UserChange::default()
        };
        access
            .change_accounts(|accounts| accounts.change_user("Vera", with_pin, TIME))
            .unwrap();
        assert!(log_in(&mut access, &pin, None).is_some());
        let changed = UserChange {
            password: Some("new hash".to_owned()),
            ..UserChange::default()
        };
        access
            .change_accounts(|accounts| accounts.change_user("vera", changed, TIME))
            .unwrap();
        assert!(log_in(&mut access, &password("vera"), None).is_none());
        assert!(
            log_in(&mut access, &pin, None).is_none(),
            "the device is forgotten"
        );
        assert_eq!(access.accounts().devices().len(), 0);
        assert!(
            access
                .identify(None, Some(&before.secret), true, now)
                .is_none()
        );
        assert!(
            log_in(&mut access, &password("ada"), None).is_some(),
            "another user"
        );
    }

    /// A fixed bug: sessions were in a file of their own, so a kill right after a changed password let the old ones live on.
    #[test]
    fn an_old_file_of_sessions_gives_no_access_after_a_changed_password() {
        let now = Instant::now();
        let mut access = access();
        let session = access.log_in(&password("vera"), &client(None), (TIME, now));
        let secret = session.unwrap().unwrap().secret;
        let name = access.accounts().name();
        let kept = access.sessions.text(&name, now, 1000);
        let restarted = |accounts: &Accounts| {
            let sessions = Sessions::read(&kept, &name, now, 1000).unwrap();
            let mut access = Access::new(accounts.clone(), sessions);
            access.identify(None, Some(&secret), true, now)
        };
        assert!(restarted(access.accounts()).is_some());
        for change in [
            UserChange {
                password: Some("new".to_owned()),
                ..UserChange::default()
            },
            UserChange {
                role: Some(Role::Operate),
                ..UserChange::default()
            },
        ] {
            let mut accounts = access.accounts().clone();
            accounts.change_user("vera", change, TIME).unwrap();
            assert!(restarted(&accounts).is_none());
            accounts.remove_user("vera").unwrap();
            assert!(restarted(&accounts).is_none());
        }
    }
}
