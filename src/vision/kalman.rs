//! Kalman filter for the foot point of one track (Kalman 1960). The motion model is constant velocity with white-noise
//! acceleration.

use glam::{Mat2, Vec2};

/// Initial standard deviation of the velocity of a new track, in m/s.
const FIRST_SPEED_MPS: f32 = 1.0;

/// State of the filter: position and velocity in floor space, with their covariance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Kalman {
    pub(super) position_m: Vec2,
    pub(super) velocity_mps: Vec2,
    /// Covariance of the position.
    pp: Mat2,
    /// Covariance between position (rows) and velocity (columns).
    pv: Mat2,
    /// Covariance of the velocity.
    vv: Mat2,
}

/// One measured position and its covariance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Measurement {
    pub(super) position_m: Vec2,
    pub(super) covariance_m2: Mat2,
}

impl Kalman {
    pub(super) fn new(first: &Measurement) -> Self {
        Self {
            position_m: first.position_m,
            velocity_mps: Vec2::ZERO,
            pp: first.covariance_m2,
            pv: Mat2::ZERO,
            vv: Mat2::from_diagonal(Vec2::splat(FIRST_SPEED_MPS * FIRST_SPEED_MPS)),
        }
    }

    /// Replaces the state by its prediction `dt_secs` later.
    pub(super) fn predict(&mut self, dt_secs: f32, acceleration_mps2: f32) {
        let dt = dt_secs;
        // The noise is scaled so that the noise added over one second does not depend on the frame rate.
        let q = acceleration_mps2 * acceleration_mps2;
        self.position_m += self.velocity_mps * dt;
        self.pp += (self.pv + self.pv.transpose()) * dt
            + self.vv * (dt * dt)
            + diagonal(q * dt * dt * dt / 3.0);
        self.pv += self.vv * dt + diagonal(q * dt * dt / 2.0);
        self.vv += diagonal(q * dt);
    }

    /// Corrects the state with a measurement.
    pub(super) fn update(&mut self, measured: &Measurement) {
        let total = self.pp + measured.covariance_m2;
        if total.determinant().abs() < 1e-12 {
            return;
        }
        let inverse = total.inverse();
        let innovation = measured.position_m - self.position_m;
        let gain_p = self.pp * inverse;
        let gain_v = self.pv.transpose() * inverse;
        self.position_m += gain_p * innovation;
        self.velocity_mps += gain_v * innovation;
        let (pp, pv) = (self.pp, self.pv);
        self.pp = symmetric(pp - gain_p * pp);
        self.pv = pv - gain_p * pv;
        self.vv = symmetric(self.vv - gain_v * pv);
    }

    /// Returns the covariance of the position.
    pub(super) fn covariance_m2(&self) -> Mat2 {
        self.pp
    }

    /// Reduces the velocity exponentially. Used for a track that gets no measurements.
    pub(super) fn slow_down(&mut self, dt_secs: f32, time_constant_secs: f32) {
        self.velocity_mps *= (-dt_secs / time_constant_secs).exp();
    }
}

fn diagonal(value: f32) -> Mat2 {
    Mat2::from_diagonal(Vec2::splat(value))
}

fn symmetric(m: Mat2) -> Mat2 {
    (m + m.transpose()) * 0.5
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(position_m: Vec2) -> Measurement {
        Measurement {
            position_m,
            covariance_m2: diagonal(0.01),
        }
    }

    #[test]
    fn finds_a_constant_velocity() {
        let velocity = Vec2::new(1.2, -0.4);
        let mut state = Kalman::new(&measured(Vec2::ZERO));
        for i in 1..200 {
            state.predict(0.04, 0.5);
            state.update(&measured(velocity * 0.04 * i as f32));
        }
        assert!(state.velocity_mps.distance(velocity) < 0.01);
        assert!(state.position_m.distance(velocity * 0.04 * 199.0) < 0.01);
    }

    #[test]
    fn smooths_the_noise_of_a_standing_visitor() {
        let mut state = Kalman::new(&measured(Vec2::ONE));
        let mut worst: f32 = 0.0;
        for i in 0..400 {
            state.predict(0.04, 1.0);
            let sway = Vec2::new(0.1, -0.1) * if i % 2 == 0 { 1.0 } else { -1.0 };
            state.update(&measured(Vec2::ONE + sway));
            if i > 100 {
                worst = worst.max(state.position_m.distance(Vec2::ONE));
            }
        }
        assert!(worst < 0.05, "{worst}");
    }

    #[test]
    fn an_uncertain_direction_is_barely_corrected() {
        let mut state = Kalman::new(&measured(Vec2::ZERO));
        for _ in 0..10 {
            state.predict(0.04, 1.0);
            state.update(&Measurement {
                position_m: Vec2::ONE,
                covariance_m2: Mat2::from_diagonal(Vec2::new(0.001, 100.0)),
            });
        }
        assert!(
            state.position_m.x > 0.9 && state.position_m.y < 0.1,
            "{}",
            state.position_m
        );
    }
}
