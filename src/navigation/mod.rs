//! Path planning: flow fields, grids, navigation meshes, and the searches on them.
//!
//! In: geometry and requests. Out: forces, paths and guidance. Must not: know a species, move an agent, read a clock.

mod fields;
mod footprint;
mod grid;
mod mesh;
mod planner;
mod request;
mod route;

pub use fields::{
    Falloff, FieldFileError, FieldGrids, FieldParams, FieldShape, FlowFields, PredictiveRepulsion,
    Repulsion, VectorGrid, braking_force, read_field_file,
};
pub use footprint::{Footprint, Footprints};
pub use grid::{
    Connectivity, CornerRule, FloorRect, GridComponents, GridInput, GridMap, GridSearch, LocalGrid,
    ObstacleFill, OpenListKind, SearchEffort, SearchProgress, SearchRules,
};
pub use mesh::{
    Abilities, Flight, GRAVITY_MPS2, Guidance, LeapInput, MeshError, MeshLink, MeshLinks,
    MeshOutcome, MeshPath, MeshPlanner, MeshPoint, MeshQuery, MeshSearch, NEIGHBOR_RANGE_M,
    NavGraph, NavMesh, NeighborPull, NeighborScratch, PathLeg, Polygon, TerraceInput,
    TerraceRequest, TerraceRoute, build_mesh, find_links,
};
pub use planner::GridPlanner;
pub use request::{
    PathAnswer, PathGoal, PathMemory, PathRequest, PathStatus, SearchParams, WaypointKind,
};
pub use route::Environment;
