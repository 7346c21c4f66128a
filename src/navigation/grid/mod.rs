//! Path planning on grids of free and blocked cells. **Source**: Dahlberg & Viktorsson 2002.

mod local;
mod map;
mod open;
mod search;
mod steps;

pub use local::{FloorRect, GridInput, LocalGrid, ObstacleFill};
pub use map::{GridComponents, GridMap};
pub use open::OpenListKind;
pub(super) use search::quick_path;
pub use search::{GridSearch, SearchEffort, SearchProgress, SearchRules};
pub use steps::{Connectivity, CornerRule};
