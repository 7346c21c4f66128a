//! Ways on a mesh of convex polygons on terraces, with leaps and drops between them. **Source**: 5-navigation.md part C, 004.

pub mod build;
pub mod climber;
pub mod funnel;
pub mod leaps;
pub mod links;
pub mod rounding;
pub mod search;
pub mod surface;
pub mod turns;

pub use build::{TerraceGround, build};
pub use climber::{Climb, Climber, Grounds, NEAR_M, Near, Step, Surroundings};
pub use leaps::{Flight, LeapGround, find_links};
pub use links::{Abilities, Link, Links};
pub use rounding::round_corners;
pub use search::{Leg, MeshPath, MeshSearch, Outcome, Place, Query};
pub use surface::{MeshError, NavMesh};
pub use turns::Turns;
