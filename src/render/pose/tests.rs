//! Tests of the animator with the built-in models.

use super::*;
use shoal_testing::assert_near;

fn body(name: &str) -> Body {
    let shipped = crate::render::model::SHIPPED_MODELS;
    let (_, bytes) = shipped.iter().find(|(n, _)| *n == name).unwrap();
    let look = SpeciesLook {
        length_m: 1.0,
        length_variation: 0.0,
        max_beat_hz: 4.0,
        ..SpeciesLook::default()
    };
    Body::new(Model::from_glb(name, bytes).unwrap(), look)
}

fn agent(speed_mps: f32, turn_rate_rps: f32) -> AgentPose {
    AgentPose {
        id: 3,
        species: 0,
        position_m: Vec3::new(1.0, -0.5, 2.0),
        forward: Vec3::X,
        up: Vec3::Y,
        velocity_mps: Vec3::X * speed_mps,
        turn_rate_rps,
        acceleration_mps2: 0.0,
        boost: 0.0,
        start_phase: crate::world::FastStart::OVER,
        start_bend_rad: 0.0,
        radius_m: 0.2,
        teleported: false,
        swallowed: 0.0,
    }
}

/// Returns the two sideways extremes of the tail during `seconds` of constant motion, positive to the left.
fn tail(body: &Body, agent: &AgentPose, seconds: f32) -> (f32, f32) {
    let mut animator = Animator::default();
    let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
    // The joints are body, head and five of the tail; the fins follow.
    let tail_joint = 6;
    for step in 0..(seconds * 60.0) as usize {
        animator.advance(
            1.0 / 60.0,
            std::slice::from_ref(agent),
            std::slice::from_ref(body),
        );
        let mut matrices = Vec::new();
        animator.pose(0, agent, body, &mut matrices);
        if step > 60 {
            // For a fish that swims along +x with its back up, left is −z.
            let z = matrices[tail_joint]
                .transform_point3(Vec3::new(0.0, 0.0, -0.48))
                .z
                - agent.position_m.z;
            low = low.min(-z);
            high = high.max(-z);
        }
    }
    (low, high)
}

#[test]
fn every_built_in_fish_beats_with_its_tail() {
    for name in ["shark", "salmon", "trout", "herring", "pike", "koi"] {
        let body = body(name);
        let (low, high) = tail(&body, &agent(1.0, 0.0), 6.0);
        assert!(high > 0.04 && low < -0.04, "{name} reaches {low} to {high}");
        assert!(high < 0.2 && low > -0.2, "{name} reaches {low} to {high}");
    }
}

#[test]
fn a_body_bends_into_the_turn() {
    for name in ["shark", "herring"] {
        let body = body(name);
        let middle = |(low, high): (f32, f32)| (low + high) / 2.0;
        let left = middle(tail(&body, &agent(1.0, 0.9), 6.0));
        let right = middle(tail(&body, &agent(1.0, -0.9), 6.0));
        assert!(
            left > 0.03 && right < -0.03,
            "{name}: tail at {left} in a left turn, {right} in a right one"
        );
    }
}

/// The distance from nose to tail stays above 90 % of the length.
#[test]
fn a_fish_in_a_tight_turn_stays_slender() {
    let body = body("salmon");
    let agent = agent(0.3, 4.0);
    let mut animator = Animator::default();
    let mut least = f32::INFINITY;
    for _ in 0..300 {
        animator.advance(1.0 / 60.0, &[agent], std::slice::from_ref(&body));
        let mut matrices = Vec::new();
        animator.pose(0, &agent, &body, &mut matrices);
        let nose = matrices[1].transform_point3(Vec3::Z * 0.5);
        let tail = matrices[6].transform_point3(Vec3::Z * -0.48);
        least = least.min(nose.distance(tail) / 0.98);
    }
    assert!(
        least > 0.90,
        "smallest distance from nose to tail: {least} of the length"
    );
}

#[test]
fn the_tail_beat_does_not_depend_on_the_picture_rate() {
    let body = body("salmon");
    let phase_after = |steps: usize, agent: AgentPose| {
        let mut animator = Animator::default();
        for _ in 0..steps {
            animator.advance(2.0 / steps as f32, &[agent], std::slice::from_ref(&body));
        }
        animator.swimmers[0].phase
    };
    let coarse = phase_after(20, agent(1.3, 0.0));
    let fine = phase_after(400, agent(1.3, 0.0));
    assert!((coarse - fine).abs() < 1e-3, "{coarse} {fine}");
}

#[test]
fn a_fish_at_rest_is_at_its_position() {
    let body = body("trout");
    let mut animator = Animator::default();
    let agent = agent(0.0, 0.0);
    let mut matrices = Vec::new();
    animator.advance(0.01, &[agent], std::slice::from_ref(&body));
    animator.pose(0, &agent, &body, &mut matrices);
    let head = matrices[1].transform_point3(Vec3::Z * 0.5);
    assert_near(head, agent.position_m + Vec3::X * 0.5, 0.06);
}

#[test]
fn individuals_differ_and_are_deterministic() {
    let look = SpeciesLook::default();
    let lengths: Vec<f32> = (0..200)
        .map(|id| Individual::new(id, &look).length_m)
        .collect();
    assert!(
        lengths
            .iter()
            .all(|l| (l / look.length_m - 1.0).abs() <= look.length_variation)
    );
    let spread = lengths.iter().fold(0.0f32, |a, &l| a.max(l))
        - lengths.iter().fold(9.0f32, |a, &l| a.min(l));
    assert!(spread > 1.8 * look.length_variation * look.length_m);
    assert_eq!(Individual::new(7, &look), Individual::new(7, &look));
}

/// Returns the share of 500 individuals that show a flank at a moment.
fn flashing(look: &SpeciesLook, age_secs: f32) -> f32 {
    let shows_flank = |id: &u32| {
        let swimmer = SwimState {
            age_secs: age_secs + 10.0 * unit_hash(*id, 6),
            ..SwimState::default()
        };
        let up = swimmer.sway(&Individual::new(*id, look), look) * Vec3::Y;
        up.y < (0.5 * MAX_FLASH_RAD).cos()
    };
    (0..500).filter(shows_flank).count() as f32 / 500.0
}

#[test]
fn one_shiny_fish_in_ten_flashes_at_any_moment_and_a_dull_one_never() {
    let look = |shine: f32| SpeciesLook {
        shine,
        ..SpeciesLook::default()
    };
    for moment in [0.0, 7.3, 41.0] {
        let share = flashing(&look(0.95), moment);
        assert!((0.06..0.14).contains(&share), "{share} at {moment} s");
        assert_eq!(flashing(&look(0.1), moment), 0.0);
    }
}

/// Fish that stay at their place were all drawn in one pose.
#[test]
fn fish_at_rest_hold_themselves_differently() {
    let body = body("trout");
    let mut animator = Animator::default();
    let agents: Vec<AgentPose> = (1..7)
        .map(|id| AgentPose {
            id,
            ..agent(0.0, 0.0)
        })
        .collect();
    for _ in 0..60 {
        animator.advance(1.0 / 30.0, &agents, std::slice::from_ref(&body));
    }
    let found: Vec<Vec3> = (0..agents.len())
        .map(|index| {
            let mut matrices = Vec::new();
            animator.pose(index, &agents[index], &body, &mut matrices);
            matrices[6].transform_point3(Vec3::Z * -0.5)
        })
        .collect();
    let span = |of: fn(&Vec3) -> f32| {
        let (low, high) = found
            .iter()
            .map(of)
            .fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), v| {
                (low.min(v), high.max(v))
            });
        high - low
    };
    let (sideways, upright) = (span(|tip| tip.z), span(|tip| tip.y));
    assert!(
        sideways > 0.03 && upright > 0.01,
        "the tails of {found:?} are at {sideways} sideways and {upright} up"
    );
}

#[test]
fn states_follow_their_agents_when_others_appear_and_disappear() {
    let body = body("herring");
    let mut animator = Animator::default();
    let with_id = |id: u32| AgentPose {
        id,
        ..agent(1.0, 0.0)
    };
    let bodies = std::slice::from_ref(&body);
    animator.advance(0.1, &[with_id(1), with_id(5), with_id(9)], bodies);
    let phase = animator.swimmers[1].phase;
    animator.advance(0.0, &[with_id(5), with_id(7)], bodies);
    // The state of agent 5 is kept.
    assert_eq!(animator.swimmers[0].phase, phase);
    assert_eq!(
        animator.swimmers.iter().map(|s| s.id).collect::<Vec<_>>(),
        [5, 7]
    );
}

/// Swims along a path and returns the bend of the body behind its middle in each picture, positive to the left. `path` gives speed and
/// turn rate at a time; `start` gives the time and the angle of a fast start, whose bend and stroke last 0.1 s each.
fn bends(
    body: &Body,
    (secs, hz): (f32, f32),
    path: impl Fn(f32) -> (f32, f32),
    start: Option<(f32, f32)>,
) -> Vec<f32> {
    let mut animator = Animator::default();
    let mut fish = agent(0.0, 0.0);
    let mut found = Vec::new();
    for step in 0..(secs * hz) as usize {
        let time = step as f32 / hz;
        let (speed, turn_rps) = path(time);
        fish.forward = Quat::from_axis_angle(fish.up, turn_rps / hz) * fish.forward;
        fish.velocity_mps = fish.forward * speed;
        fish.turn_rate_rps = turn_rps;
        fish.position_m += fish.velocity_mps / hz;
        if let Some((begins, bend_rad)) = start {
            fish.start_phase = ((time - begins) * 10.0).clamp(0.0, 2.0);
            fish.start_bend_rad = bend_rad;
            if time < begins {
                fish.start_phase = 2.0;
            }
        }
        animator.advance(1.0 / hz, &[fish], std::slice::from_ref(body));
        found.push(animator.swimmers[0].spine.total_rad(&body.spine));
    }
    found
}

#[test]
fn the_body_lies_on_the_arc_that_it_has_swum_and_on_both_sides_of_an_s() {
    let body = body("koi");
    let arc = bends(&body, (6.0, 60.0), |_| (1.0, 0.8), None);
    // Half of the body on an arc of 0.8 rad per length.
    let last = arc[arc.len() - 1];
    assert!((0.2..0.5).contains(&last), "{last}");
    // At the end of the turn, the tail is still on the arc; a body length later it is straight.
    let turn = |time: f32| (1.0, if time < 2.0 { 0.8 } else { 0.0 });
    let after = bends(&body, (4.0, 60.0), turn, None);
    assert!(
        after[126] > 0.1 && after[239].abs() < 0.01,
        "{} {}",
        after[126],
        after[239]
    );
}

#[test]
fn a_spine_does_not_depend_on_the_picture_rate_and_never_jerks() {
    let body = body("herring");
    let path = |time: f32| (1.5 + time.sin(), 4.0 * (2.0 * time).sin());
    let [coarse, fine] = [30.0, 240.0].map(|hz| bends(&body, (4.0, hz), path, Some((2.0, 1.6))));
    for (number, &bend) in coarse.iter().enumerate().skip(30) {
        // Outside of the start itself, whose strokes last three pictures each.
        if !(58..80).contains(&number) {
            let same = fine[number * 8 + 7];
            assert!(
                (bend - same).abs() < 0.12,
                "picture {number}: {bend} and {same}"
            );
        }
    }
    let most = fine
        .windows(2)
        .map(|two| (two[1] - two[0]).abs())
        .fold(0.0, f32::max);
    assert!(most < 0.2, "a jump of {most} rad within 1/240 s");
}

#[test]
fn a_fast_start_bends_the_body_to_a_c_and_strikes_to_the_other_side() {
    for (name, side) in [("herring", 1.0), ("koi", -1.0), ("shark", 1.0)] {
        let body = body(name);
        // The nose turns by 1.6 rad within 0.1 s, and the fish sprints away.
        let path = |time: f32| match time {
            t if t < 2.0 => (0.5, 0.0),
            t if t < 2.1 => (0.3, side * 16.0),
            _ => (4.0, 0.0),
        };
        let bends = bends(&body, (4.0, 120.0), path, Some((2.0, side * 1.6)));
        let at = |secs: f32| bends[(secs * 120.0) as usize] * side;
        let (c, stroke, later) = (at(2.11), at(2.19), at(3.9));
        assert!(c > 0.5, "{name}: {c} rad after the bend");
        assert!(stroke < -0.1, "{name}: {stroke} rad in the stroke");
        assert!(later.abs() < 0.05, "{name}: {later} rad later");
    }
}
