//! Path planning on navigation meshes: convex polygons on terraces, connected by leaps and drops. **Source**: Lischka 2014.

mod build;
mod funnel;
mod leaps;
mod links;
mod planner;
mod search;
mod smoothing;
mod surface;
mod terrace_route;

pub use build::{TerraceInput, build_mesh};
pub use leaps::{Flight, FlyingBody, GRAVITY_MPS2, LeapInput, find_links};
pub use links::{Abilities, MeshLink, MeshLinks};
pub use planner::MeshPlanner;
pub use search::{MeshOutcome, MeshPath, MeshPoint, MeshQuery, MeshSearch, PathLeg};
pub use surface::{MeshError, NavMesh, Polygon};
pub use terrace_route::{
    NEIGHBOR_RANGE_M, NavGraph, NeighborPull, NeighborScratch, TerraceRoute, Traveler,
};
