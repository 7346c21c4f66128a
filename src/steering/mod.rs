//! Steering behaviors: pure functions that compute a force from the motion of a vehicle. They have no state and do not
//! know the world.

mod avoidance;
mod barriers;
mod crowd;
mod flocking;
mod motion;
mod outline;
mod path;
mod pursuit;
mod simple_school;

pub use avoidance::{
    Corridor, EdgeCrossing, PassingSide, avoid_solids, cross_edges, stay_in_depth_band,
    stay_inside_walls,
};
pub use barriers::{Barrier, SeenFrom, avoid_barrier, contain};
pub use crowd::{LeaderFollowing, avoid_neighbors, follow_leader, queue, shadow};
pub use flocking::{FlockForces, FlockRules, FlockSums, NeighborArrays, Neighborhood};
pub use motion::{Motion, arrive, flee, predicted_target, seek, steer_along, target_speed, wander};
pub use outline::{EdgeGuide, open_water_m, stay_inside_outline};
pub use path::{Tube, follow_path, follow_wall, stay_on_path};
pub use pursuit::{OtherVehicle, evade, interpose, offset_pursue, pursue};
pub use simple_school::{Schoolmate, SimpleDecision, SimpleSchoolRules};
