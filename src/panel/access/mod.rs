//! Permissions: users, roles, sessions, remembered devices, tokens, the setup code, and limits of wrong attempts.
//!
//! In: what a request says about its sender, and the time. Out: an identity with a role, or none. Must not: know HTTP, read a
//! clock, compute a slow hash while others wait.

mod accounts;
mod role;
mod secrets;
mod sessions;
mod setup_code;
mod store;
mod throttle;

pub(crate) use accounts::{Accounts, UserChange, account_key};
pub use role::Role;
pub(crate) use secrets::{
    NoSecret, hash_of_password, hash_of_pin, is_equal, is_password, random_text,
};
pub(crate) use sessions::{AGE_MAX, Session, Sessions};
pub(crate) use setup_code::SetupCode;
pub(crate) use store::{SessionFile, Store};
pub(crate) use throttle::{Attempt, Throttle};

use std::time::Instant;

/// The sender of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Name of the user, or label of the token.
    pub(crate) name: String,
    /// What the sender may do.
    pub(crate) role: Role,
    /// Secret that every change has to repeat in a header; `None` for a token, which no browser sends by itself.
    pub(crate) csrf: Option<String>,
}

/// All state of the access.
#[derive(Debug)]
pub(crate) struct Access {
    /// Users, devices and tokens.
    pub(crate) accounts: Accounts,
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
    /// Returns the access with the accounts of the file.
    pub(crate) fn new(accounts: Accounts, sessions: Sessions) -> Self {
        Self {
            accounts,
            sessions,
            throttle: Throttle::default(),
            code: SetupCode::default(),
            changes: 0,
        }
    }

    /// Returns the content for the file of accounts, and its number.
    pub(crate) fn content_to_write(&mut self) -> (u64, Vec<u8>) {
        self.changes += 1;
        (self.changes, self.accounts.text())
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
    pub(crate) fn identity_of(&self, session: Session) -> Option<Identity> {
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
