//! Path planning: flow fields, grids, navigation meshes, and the searches on them.
//!
//! In: geometry and requests. Out: forces, paths and answers. Must not: know a species, move an agent, read a clock.

mod costs;
mod fields;
mod footprint;
mod grid;
mod mesh;
mod progress;
mod request;

pub use costs::{CostLayer, Outlook, Prices};
pub use fields::{
    Falloff, FieldParams, FieldShape, FlowFields, PredictiveRepulsion, Repulsion, braking_force,
};
pub use footprint::{Footprint, Footprints};
pub use grid::{
    Environment, FloorRect, GridComponents, GridInput, GridMap, GridPlanner, GridQuery, GridSearch,
    LocalGrid, SearchEffort, SearchProgress, SearchRules,
};
pub use mesh::{
    Abilities, Flight, FlyingBody, GRAVITY_MPS2, LeapInput, MeshError, MeshLink, MeshLinks,
    MeshOutcome, MeshPath, MeshPlanner, MeshPoint, MeshQuery, MeshSearch, NEIGHBOR_RANGE_M,
    NavGraph, NavMesh, NeighborPull, NeighborScratch, PathLeg, Polygon, TerraceInput, TerraceRoute,
    Traveler, build_mesh, find_links,
};
pub use request::{PathAnswer, PathGoal, PathMemory, PathRequest, Refusal, SearchParams, path_id};
