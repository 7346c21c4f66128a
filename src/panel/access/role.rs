//! The roles of users and tokens.

use serde::{Deserialize, Serialize};

/// What a user or a token may do. Each role may do everything that the roles before it may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Look at everything, change nothing.
    View,
    /// What staff does in a day: scenes, events, opening hours.
    Operate,
    /// Everything.
    Admin,
}

impl Role {
    /// Returns the name, as in JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::View => "view",
            Self::Operate => "operate",
            Self::Admin => "admin",
        }
    }
}
