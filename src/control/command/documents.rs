//! Changes of documents: what is changed, and the names of the documents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One change of one value in a document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// The document.
    pub document: DocumentName,
    /// Path of the value, such as `actions.evade_shadow.flee_distance_m` or `needs[2].actions[0]`.
    pub path: String,
    /// The change of the value.
    pub change: EditChange,
}

/// A change of a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum EditChange {
    /// Sets the value, or adds it if it is missing.
    Set {
        /// The new value.
        value: Value,
    },
    /// Inserts an item into the list at the path.
    Insert {
        /// Index of the new item, counted from 0. If absent, the new item becomes the last one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        index: Option<usize>,
        /// The item.
        value: Value,
    },
    /// Removes the value. A list item is deleted from its list; for any other value, the default applies again.
    Remove,
    /// Moves an item of a list.
    Move {
        /// New index, counted from 0.
        to: usize,
    },
}

/// Name of a document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum DocumentName {
    /// The site file.
    Site,
    /// A scene.
    Scene {
        /// Name of the file without `.toml`.
        name: String,
    },
    /// A species.
    Species {
        /// Name of the file without `.toml`.
        name: String,
    },
}

impl std::fmt::Display for DocumentName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Site => f.write_str("site"),
            Self::Scene { name } => write!(f, "scenes/{name}"),
            Self::Species { name } => write!(f, "species/{name}"),
        }
    }
}

/// The content of a document on the disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DocumentText {
    /// Name of the document.
    pub document: DocumentName,
    /// Text of the file; absent if the file was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}
