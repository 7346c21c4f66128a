//! The table `[counting]` of the site file.

use std::ffi::OsStr;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Endings of the name of a file with counts.
const ENDINGS: [&str; 3] = ["sqlite", "sqlite3", "db"];

/// Anonymous counts of visitors. They come from tracks only, never from pictures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CountingParams {
    /// Whether visitors are counted.
    pub on: bool,
    /// File with the counts. Empty: `visitors.sqlite` in the state folder of the service (`$STATE_DIRECTORY`), or in the folder
    /// `.shoal` beside the site file. Its name ends in `.sqlite`, `.sqlite3` or `.db`.
    pub file: String,
    /// Number of days after which counts are deleted.
    #[schemars(range(min = 1, max = 4000))]
    pub keep_days: u32,
    /// Exports show a number of visitors below this one as `<5` (with this number), so that no single visitor can be recognized in a
    /// quiet quarter of an hour. 0 or 1: every number is shown.
    #[schemars(range(min = 0, max = 100))]
    pub hide_below: u32,
}

impl Default for CountingParams {
    fn default() -> Self {
        Self {
            on: false,
            file: String::new(),
            keep_days: 400,
            hide_below: 0,
        }
    }
}

impl CountingParams {
    /// Returns the problems of the table, each with the path of its value.
    pub fn problems(&self) -> Vec<(String, String)> {
        let ending = Path::new(&self.file).extension().and_then(OsStr::to_str);
        let is_database = ending.is_some_and(|ending| ENDINGS.contains(&ending));
        if self.file.is_empty() || is_database {
            return Vec::new();
        }
        let message = "the name of the file with the counts ends in .sqlite, .sqlite3 or .db, so that it is no other file by mistake: a file \
                       that is no database would be moved aside";
        vec![("file".to_owned(), message.to_owned())]
    }
}
