//! Steering by where another vehicle will be: pursuit, evasion, offset pursuit, interpose, hide.
//!
//! Each returns the wanted velocity minus the present one; `None` where there is nowhere to steer.
//! **Source**: Reynolds 1999; the nine cases of pursuit as OpenSteer 0.8.2 has them (`steerForPursuit`).

use glam::Vec3;

use super::motion::{Motion, arrive, flee, seek};

/// Another vehicle, as far as it has to be foretold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quarry {
    /// Center.
    pub position_m: Vec3,
    /// Velocity.
    pub velocity_mps: Vec3,
    /// Unit vector ahead.
    pub forward: Vec3,
}

impl Quarry {
    /// Where it will be after a time, if it goes straight on.
    pub fn position_after_m(&self, secs: f32) -> Vec3 {
        self.position_m + self.velocity_mps * secs
    }
}

/// Cosine from which on two directions count as parallel: 45 degrees. **Source**: OpenSteer.
const PARALLEL: f32 = 0.707;

/// How many times the straight way's time it takes to meet, by where the quarry is (row: behind, aside, ahead) and where
/// it heads (column: against us, across, our way). **Source**: OpenSteer, `steerForPursuit`.
const TIME_FACTORS: [[f32; 3]; 3] = [[2.0, 2.0, 0.5], [4.0, 0.8, 1.0], [0.85, 1.8, 4.0]];

/// Seeks the place where the quarry can be met, foretold by at most `most_secs`.
pub fn pursue(motion: &Motion, quarry: &Quarry, speed_mps: f32, most_secs: f32) -> Option<Vec3> {
    let secs = meeting_secs(motion, quarry, most_secs);
    seek(motion, quarry.position_after_m(secs), speed_mps)
}

/// Time in which the quarry may be met, by OpenSteer's nine cases, at most `most_secs`.
pub fn meeting_secs(motion: &Motion, quarry: &Quarry, most_secs: f32) -> f32 {
    let offset = quarry.position_m - motion.position_m;
    let distance = offset.length();
    let speed = motion.velocity_mps.length();
    if speed < 1e-6 || distance < 1e-6 {
        return if distance < 1e-6 { 0.0 } else { most_secs };
    }
    let case = |cos: f32| usize::from(cos >= -PARALLEL) + usize::from(cos > PARALLEL);
    let row = case(motion.forward.dot(offset / distance));
    let column = case(motion.forward.dot(quarry.forward));
    (distance / speed * TIME_FACTORS[row][column]).min(most_secs)
}

/// Flees from the place where the menace will be when it could be here, foretold by at most `most_secs`.
pub fn evade(motion: &Motion, menace: &Quarry, speed_mps: f32, most_secs: f32) -> Option<Vec3> {
    let distance = motion.position_m.distance(menace.position_m);
    let secs = (distance / menace.velocity_mps.length().max(1e-6)).min(most_secs);
    flee(motion, menace.position_after_m(secs), speed_mps)
}

/// Keeps a place beside another: `offset_m` in the leader's own frame (right, up, ahead). Arrives at where that place will be.
pub fn offset_pursue(
    motion: &Motion,
    leader: &Quarry,
    offset_m: Vec3,
    speed_mps: f32,
    slowing_m: f32,
) -> Option<Vec3> {
    let right = leader.forward.cross(Vec3::Y).normalize_or(Vec3::Z);
    let up = right.cross(leader.forward);
    let place =
        leader.position_m + right * offset_m.x + up * offset_m.y + leader.forward * offset_m.z;
    let leader_speed = leader.velocity_mps.length();
    // **Source**: Buckland 2005, offset pursuit: the time to get there at the speeds of both together.
    let secs = motion.position_m.distance(place) / (speed_mps + leader_speed).max(1e-3);
    let aim = place + leader.velocity_mps * secs;
    let slowed = arrive(motion, aim, speed_mps, slowing_m)?;
    // Having arrived it keeps the leader's pace instead of stopping.
    let nearness = 1.0 - (motion.position_m.distance(place) / slowing_m.max(1e-3)).min(1.0);
    Some(slowed + leader.velocity_mps * nearness)
}

/// Between two others: arrives at the middle of where they will be.
pub fn interpose(
    motion: &Motion,
    one: &Quarry,
    other: &Quarry,
    speed_mps: f32,
    slowing_m: f32,
) -> Option<Vec3> {
    let middle = (one.position_m + other.position_m) / 2.0;
    let secs = motion.position_m.distance(middle) / speed_mps.max(1e-3);
    let aim = (one.position_after_m(secs) + other.position_after_m(secs)) / 2.0;
    arrive(motion, aim, speed_mps, slowing_m)
}

/// The place behind a ball, seen from a menace: `gap_m` beyond it.
pub fn hiding_place_m(menace_m: Vec3, center_m: Vec3, radius_m: f32, gap_m: f32) -> Vec3 {
    let direction = (center_m - menace_m).normalize_or(Vec3::X);
    center_m + direction * (radius_m + gap_m)
}

/// Behind the nearest of several balls (center, radius), seen from a menace. Not applicable where there is none.
pub fn hide(
    motion: &Motion,
    menace_m: Vec3,
    balls: impl Iterator<Item = (Vec3, f32)>,
    gap_m: f32,
    speed_mps: f32,
    slowing_m: f32,
) -> Option<Vec3> {
    let place = balls
        .map(|(center, radius)| hiding_place_m(menace_m, center, radius, gap_m))
        .min_by(|a, b| {
            let distance = |place: &Vec3| place.distance_squared(motion.position_m);
            distance(a).total_cmp(&distance(b))
        })?;
    arrive(motion, place, speed_mps, slowing_m)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOTION: Motion = Motion {
        position_m: Vec3::ZERO,
        velocity_mps: Vec3::X,
        forward: Vec3::X,
        up: Vec3::Y,
    };

    fn quarry(position_m: Vec3, velocity_mps: Vec3) -> Quarry {
        Quarry {
            position_m,
            velocity_mps,
            forward: velocity_mps.normalize_or(Vec3::X),
        }
    }

    #[test]
    fn the_nine_cases_have_opensteers_factors() {
        let (ahead, aside, behind) = (Vec3::X, Vec3::Z, Vec3::NEG_X);
        for (at, heading, factor) in [
            (ahead, ahead, 4.0),
            (ahead, aside, 1.8),
            (ahead, behind, 0.85),
            (aside, ahead, 1.0),
            (aside, aside, 0.8),
            (aside, behind, 4.0),
            (behind, ahead, 0.5),
            (behind, aside, 2.0),
            (behind, behind, 2.0),
        ] {
            // 3 m away at 1 m/s: 3 s times the factor.
            let secs = meeting_secs(&MOTION, &quarry(at * 3.0, heading), 100.0);
            assert!((secs - 3.0 * factor).abs() < 1e-5, "{at} {heading}: {secs}");
        }
        let capped = meeting_secs(&MOTION, &quarry(Vec3::X * 3.0, Vec3::X), 2.0);
        assert_eq!(capped, 2.0);
    }

    #[test]
    fn pursuit_aims_ahead_of_the_quarry_and_evasion_away_from_there() {
        // Ahead and across: 2 m at 1 m/s, factor 1.8: it will be 3.6 m aside.
        let fish = quarry(Vec3::X * 2.0, Vec3::Z);
        let aim = Vec3::new(2.0, 0.0, 3.6).normalize() * 2.0 - Vec3::X;
        assert!(pursue(&MOTION, &fish, 2.0, 10.0).unwrap().distance(aim) < 1e-5);
        // It could be here in 2 s, when it would be 2 m aside.
        let away = -Vec3::new(2.0, 0.0, 2.0).normalize() * 2.0 - Vec3::X;
        assert!(evade(&MOTION, &fish, 2.0, 10.0).unwrap().distance(away) < 1e-5);
    }

    #[test]
    fn a_companion_arrives_at_its_place_and_keeps_pace() {
        let leader = quarry(Vec3::new(5.0, 0.0, 0.0), Vec3::X);
        let place = Vec3::new(4.0, 0.0, 1.0);
        let there = Motion {
            position_m: place,
            ..MOTION
        };
        // One to the right and one behind.
        let force = offset_pursue(&there, &leader, Vec3::new(1.0, 0.0, -1.0), 2.0, 0.5).unwrap();
        assert!(
            force.length() < 1e-5,
            "keeps the leader's velocity: {force}"
        );
        let far = Motion {
            position_m: place - Vec3::X * 6.0,
            ..MOTION
        };
        let force = offset_pursue(&far, &leader, Vec3::new(1.0, 0.0, -1.0), 2.0, 0.5).unwrap();
        assert!(force.distance(Vec3::X) < 1e-5, "full speed ahead: {force}");
    }

    #[test]
    fn interpose_meets_in_the_middle_of_the_future() {
        let one = quarry(Vec3::new(2.0, 0.0, 2.0), Vec3::X);
        let other = quarry(Vec3::new(2.0, 0.0, -2.0), Vec3::X);
        // 2 m at 2 m/s: a second, in which both go a meter on.
        let force = interpose(&MOTION, &one, &other, 2.0, 0.1).unwrap();
        assert!(force.distance(Vec3::X) < 1e-5, "{force}");
        let moved = interpose(
            &MOTION,
            &one,
            &quarry(Vec3::new(2.0, 0.0, -2.0), Vec3::Z),
            2.0,
            0.1,
        );
        let aim = Vec3::new(2.5, 0.0, 0.5);
        assert!(moved.unwrap().distance(aim.normalize() * 2.0 - Vec3::X) < 1e-5);
    }

    #[test]
    fn hiding_is_behind_the_nearest_ball_seen_from_the_menace() {
        let menace = Vec3::new(0.0, 0.0, -10.0);
        assert_eq!(
            hiding_place_m(menace, Vec3::new(0.0, 0.0, -5.0), 1.0, 0.5),
            Vec3::new(0.0, 0.0, -3.5)
        );
        let balls = [
            (Vec3::new(0.0, 0.0, -5.0), 1.0),
            (Vec3::new(0.0, 0.0, 20.0), 1.0),
        ];
        let force = hide(&MOTION, menace, balls.into_iter(), 0.5, 2.0, 0.1).unwrap();
        assert!(force.distance(Vec3::new(-1.0, 0.0, -2.0)) < 1e-5, "{force}");
        assert_eq!(hide(&MOTION, menace, [].into_iter(), 0.5, 2.0, 0.1), None);
    }

    #[test]
    fn coincident_ones_give_finite_forces() {
        let here = quarry(Vec3::ZERO, Vec3::ZERO);
        let still = Motion {
            velocity_mps: Vec3::ZERO,
            ..MOTION
        };
        for force in [
            pursue(&still, &here, 1.0, 1.0),
            evade(&still, &here, 1.0, 1.0),
            offset_pursue(&still, &here, Vec3::ZERO, 1.0, 0.0),
            interpose(&still, &here, &here, 1.0, 0.0),
            hide(
                &still,
                Vec3::ZERO,
                [(Vec3::ZERO, 0.0)].into_iter(),
                0.0,
                1.0,
                0.0,
            ),
        ] {
            assert!(force.is_none_or(Vec3::is_finite), "{force:?}");
        }
    }
}
