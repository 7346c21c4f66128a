//! The language of a site.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Language of the texts on the floor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// English.
    #[default]
    En,
    /// German.
    De,
}

impl Language {
    /// Returns the text in this language.
    pub fn choose(self, english: &'static str, german: &'static str) -> &'static str {
        match self {
            Self::En => english,
            Self::De => german,
        }
    }
}
