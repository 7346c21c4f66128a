//! The sender of a request, and what a route needs of it.

use std::net::IpAddr;
use std::time::Instant;

use super::access::{Access, Identity, Role, hash_of_random};
use super::cookies::Cookies;
use super::error::ApiError;
use super::hashing::HashClient;

/// The permission that a route needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// Everybody, also before a password is set.
    Open,
    /// Users and tokens with at least this role.
    Role(Role),
}

/// The sender of a request, as the handlers get it.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// The user or token; `None` if the sender has not logged in.
    pub(crate) identity: Option<Identity>,
    /// What the route needs.
    pub(super) need: Need,
    /// Address of the sender; behind a trusted proxy the one that the proxy names.
    pub(crate) address: IpAddr,
    /// The names of the cookies, and whether they are sent over encrypted connections only.
    pub(crate) cookies: Cookies,
    /// Text of the API token.
    pub(crate) token: Option<String>,
    /// Secret in the cookie of the session.
    pub(crate) session: Option<String>,
    /// Secret in the cookie of the device.
    pub(crate) device: Option<String>,
}

impl Identity {
    fn need(&self, role: Role) -> Result<(), ApiError> {
        if self.role >= role {
            return Ok(());
        }
        let message = format!("this needs the role {}", role.name());
        Err(ApiError::forbidden(message))
    }
}

impl Caller {
    /// Returns the user or token.
    ///
    /// # Errors
    /// When the sender has not logged in.
    pub(crate) fn identity(&self) -> Result<&Identity, ApiError> {
        self.identity.as_ref().ok_or_else(ApiError::not_logged_in)
    }

    /// Returns an error if the role of the sender is lower than `role`.
    ///
    /// # Errors
    /// See above.
    pub(crate) fn need(&self, role: Role) -> Result<(), ApiError> {
        self.identity()?.need(role)
    }

    /// Returns an error if the sender may no longer use the route. Every handler that has waited, for example for the body of the
    /// request or for a hash, asks this before it changes anything: the session may have ended meanwhile.
    ///
    /// # Errors
    /// See above.
    pub(crate) fn check_again(&self, access: &mut Access) -> Result<(), ApiError> {
        let Need::Role(role) = self.need else {
            return Ok(());
        };
        let (token, session) = (self.token.as_deref(), self.session.as_deref());
        let identity = access.identify(token, session, false, Instant::now());
        let is_same = |identity: &Identity| {
            Some(&identity.name) == self.identity.as_ref().map(|own| &own.name)
        };
        let identity = identity.filter(is_same);
        let identity = identity.ok_or_else(ApiError::not_logged_in)?;
        identity.need(role)
    }

    /// Returns the client of a slow hash for a user who has logged in.
    ///
    /// # Errors
    /// When the sender has not, or is a token.
    pub(crate) fn hash_client(&self) -> Result<HashClient, ApiError> {
        let user = self.identity()?.user();
        let user = user.ok_or_else(|| ApiError::forbidden("a token has no password"))?;
        let session = hash_of_random(self.session.as_deref().unwrap_or_default())?;
        Ok(HashClient::session_of(user, session))
    }

    /// Returns an error if the user has not entered the password lately. A token has none.
    ///
    /// # Errors
    /// See above.
    pub(crate) fn need_password(&self, access: &Access) -> Result<(), ApiError> {
        if self.identity()?.user().is_none() {
            return Err(ApiError::forbidden(
                "a token may not do this; log in with a password",
            ));
        }
        let session = self.session.as_deref().unwrap_or_default();
        if access.sessions.is_confirmed(session, Instant::now()) {
            return Ok(());
        }
        Err(ApiError::password_needed())
    }
}
