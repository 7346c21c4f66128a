//! Finding the way: fields, grids, meshes and the searches on them. Plain geometry in, paths and forces out; knows no
//! fish, moves nobody, asks no clock.

pub mod fields;
pub mod footprint;
pub mod grid;
pub mod mesh;
pub mod planner;
mod route;
pub mod trip;

pub use footprint::{Footprint, Footprints};
pub use planner::Planner;
pub use route::Waters;
pub use trip::{Answer, Call, Goal, SearchParams, Status, Trip, Waypoint};
