//! Ways on a grid of free and blocked cells. **Source**: 5-navigation.md part B, 001.

pub mod local;
pub mod map;
pub mod open;
pub mod search;
mod steps;

pub use local::{Area, Fill, Ground, LocalGrid};
pub use map::{Components, GridMap};
pub use open::OpenKind;
pub use search::{Effort, Progress, Search, SearchRules, quick_path};
pub use steps::{Connectivity, Corners};
