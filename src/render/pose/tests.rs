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
    let tips: Vec<Vec3> = (0..agents.len())
        .map(|index| {
            let mut matrices = Vec::new();
            animator.pose(index, &agents[index], &body, &mut matrices);
            matrices[6].transform_point3(Vec3::Z * -0.5)
        })
        .collect();
    let span = |of: fn(&Vec3) -> f32| {
        let (low, high) = tips
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
        "the tails of {tips:?} are at {sideways} sideways and {upright} up"
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
