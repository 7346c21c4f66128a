//! The time of patterns that drift: noise, caustics, plants and foam.

/// Period after which the time of drifting patterns restarts. The angular rates of their sines, here and in `shaders/`, are
/// multiples of 0.002 rad/s. Every sine therefore has the same value before and after the restart, and the patterns do not
/// jump. Noise repeats and drifts by whole repetitions in this period.
pub(super) const DRIFT_PERIOD_SECS: f64 = 1000.0 * std::f64::consts::PI;

/// Returns the time for drifting patterns. It restarts after [`DRIFT_PERIOD_SECS`], so that an `f32` stays precise over months.
pub(super) fn drifting_secs(time_secs: f64) -> f32 {
    time_secs.rem_euclid(DRIFT_PERIOD_SECS) as f32
}
