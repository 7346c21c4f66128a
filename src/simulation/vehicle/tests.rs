//! Tests of boosting, turning and banking of one body.

use super::*;
use crate::behavior::{BoostRequest, Proposal};
use crate::geometry::Surface;
use crate::world::{BoostState, FastStart, PoolParams, Stroke};

fn water() -> Water {
    Water {
        surface: Surface::default(),
        params: PoolParams::default(),
    }
}

fn boost_request(scale: f32, hold_secs: f32, calm_secs: f32) -> BoostRequest {
    BoostRequest {
        scale,
        hold_secs,
        calm_secs,
    }
}

/// Returns the boost state of a body with this speed that can brake at once, after a tick of this length.
fn next(
    state: &BoostState,
    boost: Option<BoostRequest>,
    motion: &MotionParams,
    (speed_mps, dt_secs): (f32, f32),
) -> BoostState {
    let asked = Proposal {
        boost,
        ..Proposal::default()
    };
    let pace = Pace {
        speed_mps,
        brake_mps: speed_mps,
        dt_secs,
    };
    next_boost(state, &asked, motion, pace)
}

/// Returns the speed limit after each of `steps` ticks of 1/64 s, for a body that always swims at its limit. The boost is
/// requested only in the first tick.
fn allowed_after(request: BoostRequest, steps: usize) -> Vec<f32> {
    let motion = MotionParams {
        cruise_mps: 1.0,
        boost_mps: 3.0,
        ..MotionParams::default()
    };
    let mut state = BoostState {
        allowed_mps: 1.0,
        ..BoostState::default()
    };
    (0..steps)
        .map(|step| {
            let asked = (step == 0).then_some(request);
            state = next(&state, asked, &motion, (state.allowed_mps, 1.0 / 64.0));
            state.allowed_mps
        })
        .collect()
}

#[test]
fn a_boost_holds_and_falls_off_in_exactly_its_times() {
    let speeds = allowed_after(boost_request(1.0, 0.25, 0.5), 60);
    assert_eq!(&speeds[..17], &[3.0; 17], "the first tick and 16 more");
    assert!((speeds[17] - (3.0 - 4.0 / 64.0)).abs() < 1e-5);
    assert!(speeds[16 + 31] > 1.0);
    assert!((speeds[16 + 32] - 1.0).abs() < 1e-5, "32 ticks are 0.5 s");
    assert_eq!(speeds[59], 1.0);
}

#[test]
fn half_a_boost_falls_off_in_half_the_time_and_without_calm_time_at_once() {
    let speeds = allowed_after(boost_request(0.5, 0.0, 0.5), 40);
    assert_eq!(speeds[0], 2.0);
    assert!(speeds[15] > 1.0 && (speeds[16] - 1.0).abs() < 1e-5);
    let speeds = allowed_after(boost_request(1.0, 0.0, 0.0), 3);
    assert_eq!(speeds, [3.0, 1.0, 1.0]);
}

#[test]
fn the_limit_falls_from_the_actual_speed_and_a_weaker_request_does_not_lower_it() {
    let motion = MotionParams {
        cruise_mps: 1.0,
        boost_mps: 3.0,
        ..MotionParams::default()
    };
    let state = BoostState {
        allowed_mps: 3.0,
        calm_secs: 1.0,
        ..BoostState::default()
    };
    let slower = next(&state, None, &motion, (1.5, 0.1));
    assert!((slower.allowed_mps - 1.3).abs() < 1e-6);
    let request = boost_request(0.5, 0.0, 0.3);
    let weaker = next(&state, Some(request), &motion, (3.0, 0.1));
    assert!(
        (weaker.allowed_mps - 2.8).abs() < 1e-6,
        "a weaker request lowered the limit: {}",
        weaker.allowed_mps
    );
}

#[test]
fn a_boost_without_calm_time_ends_as_fast_as_the_body_can_brake() {
    let motion = MotionParams {
        cruise_mps: 1.0,
        boost_mps: 3.0,
        ..MotionParams::default()
    };
    let state = BoostState {
        allowed_mps: 3.0,
        flees: true,
        ..BoostState::default()
    };
    let mut pace = Pace {
        speed_mps: 3.0,
        brake_mps: 0.5,
        dt_secs: 0.1,
    };
    let calmer = next_boost(&state, &Proposal::default(), &motion, pace);
    assert_eq!((calmer.allowed_mps, calmer.flees), (2.5, true));
    pace.speed_mps = 1.2;
    let calm = next_boost(&calmer, &Proposal::default(), &motion, pace);
    assert_eq!((calm.allowed_mps, calm.flees), (1.0, false));
}

#[test]
fn turning_respects_the_limits_of_turn_and_climb() {
    let water = water();
    let (most, climb) = (0.05, 0.4);
    let mut forward = Vec3::new(1.0, 0.3, 0.0).normalize();
    for step in 0..400 {
        let t = step as f32;
        let wanted = Vec3::new((t * 0.7).sin(), (t * 1.3).cos() * 2.0, (t * 0.3).cos()).normalize();
        let next = turn_towards(&water, forward, wanted, TurnLimits::new(most, climb));
        assert!((next.length() - 1.0).abs() < 1e-5);
        assert!(next.angle_between(forward) < most + 2e-3, "step {step}");
        assert!(next.y.abs() < climb.sin() + 1e-4);
        forward = next;
    }
    let back = turn_towards(
        &water,
        Vec3::X,
        Vec3::NEG_X,
        TurnLimits::new(0.0, climb).unlimited(),
    );
    // Without a limit the body turns in place.
    assert!(back.distance(Vec3::NEG_X) < 1e-6);
    assert_eq!(
        turn_towards(&water, Vec3::X, Vec3::Z, TurnLimits::new(0.0, climb)).distance(Vec3::X),
        0.0
    );
}

#[test]
fn a_reversal_passes_through_all_headings_without_climbing() {
    let water = water();
    let mut forward = Vec3::X;
    for _ in 0..63 {
        forward = turn_towards(&water, forward, Vec3::NEG_X, TurnLimits::new(0.05, 1.0));
        assert!(forward.y.abs() < 1e-6);
    }
    assert!(forward.distance(Vec3::NEG_X) < 0.05);
}

#[test]
fn a_body_leans_into_its_curve_and_returns_upright() {
    let water = water();
    let motion = MotionParams {
        blend_secs: 0.1,
        ..MotionParams::default()
    };
    let dt = 1.0 / 60.0;
    let share = TickRates::new(&motion, dt).banking;
    let mut before = Body::new(Vec3::NEG_Y, Vec3::X, 1.0);
    before.teleported = false;
    let mut after = before;
    after.velocity_mps = Vec3::new(1.0, 0.0, 0.05);
    for _ in 0..60 {
        before.up = bank(&water, &before, &after, (&motion, share), dt);
    }
    assert!(
        before.up.z > 0.3,
        "the body does not lean to the right: {}",
        before.up
    );
    after.velocity_mps = before.velocity_mps;
    for _ in 0..60 {
        before.up = bank(&water, &before, &after, (&motion, share), dt);
    }
    assert!(before.up.distance(Vec3::Y) < 0.01);
}

/// A fixed bug: in a pocket between two steep rocks, the way along both was steeper than the shark can climb, so its heading never
/// changed and it stayed there.
#[test]
fn a_body_in_a_pocket_between_steep_rocks_turns_to_one_side_until_it_no_longer_swims_into_it() {
    let limits = TurnLimits::new(70.0_f32.to_radians() / 60.0, 12.0_f32.to_radians());
    for (residual, force) in [
        (Vec3::new(0.0, -0.04, 0.0), Vec3::ZERO),
        (Vec3::new(0.001, -0.04, 0.0), Vec3::new(-0.02, 0.01, 0.0)),
        (Vec3::new(0.0, 0.05, 0.0), Vec3::new(0.001, 0.0, 0.0)),
        (Vec3::ZERO, Vec3::ZERO),
    ] {
        let ahead = Vec3::NEG_Z;
        let mut body = Body::new(Vec3::ZERO, ahead, 0.15);
        let mut turned_deg = 0.0_f32;
        for tick in 0..240 {
            // Both rocks together stop the body, except for a slow slide up or down.
            body.pushed_mps = residual - body.forward * 0.15;
            // The forces of two rocks point to opposite sides in turn.
            let sign = if tick % 2 == 0 { 1.0 } else { -1.0 };
            let wanted = ahead * 0.05 + force * sign;
            let slid = slide_along(&water(), &body, wanted, (0.15, limits.climb_rad));
            let forward = turn_towards(&water(), body.forward, slid.normalize(), limits);
            body.turn_rate_rps = body
                .forward
                .cross(forward)
                .dot(Vec3::Y)
                .atan2(body.forward.dot(forward))
                * 60.0;
            body.forward = forward;
            turned_deg = turned_deg.max(forward.dot(ahead).acos().to_degrees());
        }
        assert!(
            turned_deg > 60.0,
            "{residual} {force}: turned by {turned_deg:.1} degrees"
        );
    }
}

fn gait<'a>(motion: &'a MotionParams, flees: bool, dt: f32) -> Gait<'a> {
    let proposal = Proposal {
        flees,
        ..Proposal::default()
    };
    let boost = BoostState::default();
    Gait::new(motion, &TickRates::new(motion, dt), &boost, &proposal, dt)
}

#[test]
fn a_cruising_body_has_its_own_limits_and_a_flight_those_of_the_species() {
    let mut motion = MotionParams::default();
    motion.cruise.max_force_n = Some(0.5);
    motion.cruise.max_turn_rate_dps = Some(60.0);
    let calm = gait(&motion, false, 0.1);
    assert_eq!(calm.force_n, 0.5);
    assert!((calm.limits.turn_rad - 6.0_f32.to_radians()).abs() < 1e-6);
    let flight = gait(&motion, true, 0.1);
    assert_eq!(flight.force_n, motion.max_force_n);
    assert!((flight.limits.turn_rad - 22.0_f32.to_radians()).abs() < 1e-6);
}

#[test]
fn a_glide_loses_its_share_of_speed_in_its_time_and_a_burst_regains_it() {
    let mut motion = MotionParams::default();
    (motion.cruise_mps, motion.min_speed_mps) = (1.0, 0.0);
    (
        motion.glide.slowdown_share,
        motion.glide.burst_secs,
        motion.glide.glide_secs,
    ) = (0.4, 0.3, 0.6);
    let dt = 0.01;
    let gait = gait(&motion, false, dt);
    let mut body = Body::new(Vec3::ZERO, Vec3::X, 1.0);
    let mut stroke = Stroke::default();
    let mut glides = Vec::new();
    for _ in 0..360 {
        let drive = Drive {
            // The force of an action that wants 1 m/s.
            wish: Vec3::X * (1.0 - body.velocity_mps.x) * 2.0,
            largest: 4.0,
            allowed_mps: 1.0,
            draw: 0.0,
            dt_secs: dt,
        };
        body.velocity_mps += gait.accelerate(&body, drive, &mut stroke) * dt;
        glides.push(stroke.glides);
        assert!(
            (0.57..1.02).contains(&body.velocity_mps.x),
            "{}",
            body.velocity_mps.x
        );
    }
    let bursts = glides.windows(2).filter(|two| two[0] && !two[1]).count();
    assert_eq!(bursts, 4, "one in 0.9 s");
}

#[test]
fn a_cruising_body_keeps_its_course_until_it_clearly_wants_another_one() {
    let mut motion = MotionParams::default();
    motion.cruise.hold_course_deg = 15.0;
    let dt = 0.02;
    let gait = gait(&motion, false, dt);
    let heading_after = |wish: Vec3, secs: f32| {
        let (mut body, mut stroke) = (Body::new(Vec3::ZERO, Vec3::X, 0.3), Stroke::default());
        for _ in 0..(secs / dt) as u32 {
            let drive = Drive {
                wish,
                largest: 4.0,
                allowed_mps: 0.35,
                draw: 0.0,
                dt_secs: dt,
            };
            let ahead = gait.hold_course(&water(), &body, body.forward, (drive, 0.2), &mut stroke);
            body.turn_rate_rps = body.forward.cross(ahead).y.asin() / dt;
            (body.forward, body.velocity_mps) = (ahead, ahead * 0.3);
        }
        body.forward
    };
    assert!(heading_after(Vec3::Z * 0.1, 2.0).distance(Vec3::X) < 1e-5);
    let turned = heading_after(Vec3::Z * 0.4, 1.0);
    assert!(turned.z > 0.3, "{turned}");
}

#[test]
fn a_fast_start_turns_a_body_within_its_time_and_begins_again_only_after_a_rest() {
    let mut species = crate::world::Species::default();
    species.motion.start.angle_deg = 120.0;
    let (dt, length_m) = (1.0 / 60.0, 0.16);
    let rates = TickRates::new(&species.motion, dt);
    let own = Properties {
        species: &species,
        rates: &rates,
        radius_m: 0.035,
        half_width_m: 0.035,
        span_m: length_m,
        length_m,
        mass_kg: 1.0,
        id: 1,
    };
    let mut body = Body::new(Vec3::ZERO, Vec3::X, 0.3);
    let mut frightened = Proposal {
        force: Vec3::new(-3.0, 0.0, -6.0),
        flees: true,
        fright: 1.0,
        ..Proposal::default()
    };
    let mut starts = 0;
    for tick in 0..120 {
        body.start = next_start(&water(), &body, &frightened, &own, dt);
        starts += u32::from(body.start.is_new());
        if tick == 0 {
            assert!(
                (1.8..2.1).contains(&body.start.bend_rad),
                "{:?}",
                body.start
            );
        }
        // Bend and stroke of a fish of 16 cm take 60 ms each.
        let secs = tick as f32 * dt;
        assert_eq!(body.start.bends(), secs < 0.059, "{secs} s");
        assert_eq!(
            body.start.phase >= FastStart::OVER,
            secs > 0.118,
            "{secs} s"
        );
    }
    frightened.fright = 0.0;
    for rest in [0.5, 0.4] {
        for _ in 0..(rest / dt) as u32 {
            body.start = next_start(&water(), &body, &frightened, &own, dt);
        }
        frightened.fright = 1.0;
        body.start = next_start(&water(), &body, &frightened, &own, dt);
        starts += u32::from(body.start.is_new());
        frightened.fright = 0.0;
        assert_eq!(starts, 1, "within 0.8 s");
    }
    for _ in 0..60 {
        body.start = next_start(&water(), &body, &frightened, &own, dt);
    }
    frightened.fright = 0.6;
    body.start = next_start(&water(), &body, &frightened, &own, dt);
    assert!(body.start.is_new() && body.start.fright == 0.6);
    // The force of a body limits how fast it turns its velocity.
    let limit = |speed_mps| bend_limit_rad(&species.motion, (speed_mps, length_m, 1.0), dt);
    assert!(limit(0.3) / dt > 30.0 && (limit(2.0) / dt - 6.0).abs() < 1e-3);
}
