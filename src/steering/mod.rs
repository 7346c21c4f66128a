//! Pure functions from motion to force, each a well-known steering behavior. No state, no world.

pub mod avoidance;
pub mod barriers;
pub mod crowd;
pub mod flocking;
pub mod motion;
pub mod orca;
pub mod path;
pub mod pursuit;
pub mod reynolds;
pub mod simple_school;

pub use avoidance::{Corridor, HeldSide, avoid_solids, stay_between, stay_inside};
pub use barriers::{Barrier, SeenFrom, avoid_barrier, contain};
pub use crowd::{Following, avoid_neighbors, follow_leader, queue, shadow};
pub use flocking::{FlockForces, FlockRules, FlockSums, Neighborhood, Others};
pub use motion::{Motion, arrive, flee, head, led_position, seek, target_speed, wander};
pub use orca::{Disc, avoid_reciprocally};
pub use path::{Tube, follow_flow, follow_path, follow_wall, spline, stay_on_path};
pub use pursuit::{Quarry, evade, hide, hiding_place_m, interpose, offset_pursue, pursue};
pub use reynolds::avoid_most_dangerous;
pub use simple_school::{Mate, SimpleRules, SimpleWish};
