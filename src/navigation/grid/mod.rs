//! Path planning on grids of free and blocked cells. **Source**: Dahlberg & Viktorsson 2002.

mod local;
mod map;
mod open;
mod planner;
mod query;
mod route;
mod search;
mod steps;

pub use local::{FloorRect, GridInput, LocalGrid};
pub use map::{GridComponents, GridMap};
pub use planner::GridPlanner;
pub use query::GridQuery;
pub use route::Environment;
pub use search::{GridSearch, SearchEffort, SearchProgress, SearchRules};
