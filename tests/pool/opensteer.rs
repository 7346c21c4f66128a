//! Tests of separation, alignment and cohesion against the forces that OpenSteer computed for recorded states.

use crate::boids;
use crate::boids::Boids;

#[test]
fn forces_equal_those_of_opensteer_within_a_thousandth() {
    for count in [300, 3000] {
        let (state, force) = boids::files(count);
        if !state.exists() {
            eprintln!(
                "SKIPPED: {} is missing; set SHOAL_TEST_DATA to the folder of test data",
                state.display()
            );
            continue;
        }
        let mut flock = Boids::read(&state).unwrap();
        assert_eq!(flock.position.len(), count);
        let error = flock.largest_error(&force).unwrap();
        assert!(error <= 1e-3, "largest error for {count} boids: {error}");
    }
}
