//! One swimmer in a cascade of two waters.

use super::*;
use crate::navigation::Footprints;
use crate::navigation::mesh::{LeapGround, TerraceGround, build, find_links};

const SALMON: Abilities = Abilities {
    leap_height_m: 0.5,
    leap_speed_mps: 5.0,
    leap_cooldown_secs: 2.0,
    radius_m: 0.05,
};

fn cascade(abilities: &[Abilities]) -> (NavMesh, Links) {
    let square = |low: f32, high: f32| {
        [
            Vec2::new(low, -1.0),
            Vec2::new(high, -1.0),
            Vec2::new(high, 1.0),
            Vec2::new(low, 1.0),
        ]
    };
    let none = Footprints::default();
    let outlines = [square(0.0, 2.0), square(2.1, 4.1)];
    let terraces = outlines.each_ref().map(|outline| TerraceGround {
        outline_m: outline,
        obstacles: &none,
        grow_m: 0.0,
    });
    let mesh = build(&terraces).unwrap();
    let ground = LeapGround {
        heights_m: &[-1.0, -0.6],
        solids: &[],
        clearance_m: 0.05,
        reach_m: 1.0,
        heading_rad: 0.6,
    };
    let links = find_links(&mesh, &ground, abilities);
    (mesh, links)
}

/// Plans at once where a way is wanted, and goes a step on.
fn go(climber: &mut Climber, climb: &Climb, near: &[Near], grounds: Grounds<'_>) -> Step {
    if climber.wants_way(climb, 1.0 / 60.0) {
        let (query, mut path) = (climb.query(), MeshPath::default());
        let mut search = MeshSearch::default();
        let outcome = search.find(grounds.mesh, grounds.links, &query, &mut path);
        climber.hear(climb, (&query, outcome), &mut path, grounds);
    }
    climber.step(climb, (near, &mut Surroundings::default()), grounds)
}

fn climb(at: Vec2, goal: Place) -> Climb {
    Climb {
        at: Place {
            terrace: 0,
            at_m: at,
        },
        heading: Vec2::NEG_X,
        speed_mps: 1.0,
        goal,
        cruise_mps: 0.5,
        run_up_mps: 0.8,
        radius_m: 0.05,
        abilities: SALMON,
        cooldown_left_secs: 0.0,
    }
}

#[test]
fn a_swimmer_turns_in_before_it_leaps_and_goes_on_above() {
    let (mesh, links) = cascade(&[SALMON]);
    let grounds = Grounds {
        mesh: &mesh,
        links: &links,
    };
    let goal = Place {
        terrace: 1,
        at_m: Vec2::new(3.5, 0.5),
    };
    let mut climber = Climber::default();
    let mut swimmer = climb(Vec2::new(1.6, -0.9), goal);
    let mut leaps = 0;
    for tick in 0..1200 {
        match go(&mut climber, &swimmer, &[], grounds) {
            Step::Swim(to) | Step::RunUp(to) => {
                let way = (to - swimmer.at.at_m).normalize_or_zero();
                // It turns by 4 degrees a tick at most.
                let angle = swimmer.heading.angle_to(way).clamp(-0.07, 0.07);
                swimmer.heading = Vec2::from_angle(angle).rotate(swimmer.heading);
                let to = swimmer.at.at_m + swimmer.heading * (0.6 / 60.0);
                if mesh.find(swimmer.at.terrace, to).is_some() {
                    swimmer.at.at_m = to;
                }
            }
            Step::TakeOff(number, landing) => {
                let link = links.get(number).unwrap();
                assert!(swimmer.heading.dot(link.heading) >= link.heading_cos);
                swimmer.at = Place {
                    terrace: 1,
                    at_m: landing,
                };
                climber.landed();
                leaps += 1;
            }
            Step::There => {
                assert_eq!(leaps, 1);
                return;
            }
            other => panic!("{other:?} at tick {tick}"),
        }
    }
    panic!("it never came there; it is at {:?}", swimmer.at);
}

#[test]
fn a_friend_pulls_and_an_enemy_pushes_but_neither_out_of_the_mesh() {
    let (mesh, links) = cascade(&[SALMON]);
    let grounds = Grounds {
        mesh: &mesh,
        links: &links,
    };
    let place = |x, y| Place {
        terrace: 0,
        at_m: Vec2::new(x, y),
    };
    let swimmer = climb(Vec2::new(0.3, 0.0), place(1.7, 0.0));
    let heads = |near: &[Near]| {
        let mut climber = Climber::default();
        match go(&mut climber, &swimmer, near, grounds) {
            Step::Swim(to) => to,
            other => panic!("{other:?}"),
        }
    };
    let near = |y: f32, pull: f32| Near {
        at: place(0.35, y),
        pull,
    };
    assert_eq!(heads(&[]).y, 0.0);
    let (close, far) = (heads(&[near(0.05, 1.0)]), heads(&[near(0.6, 1.0)]));
    assert!(close.y > far.y && far.y > 0.0, "{close} {far}");
    assert!(heads(&[near(0.05, -1.0)]).y < 0.0);
    let elsewhere = Near {
        at: Place {
            terrace: 1,
            at_m: Vec2::new(2.2, 0.9),
        },
        pull: 5.0,
    };
    assert_eq!(heads(&[elsewhere]).y, 0.0);
}

#[test]
fn another_speed_or_a_clearly_cheaper_way_is_taken_and_one_as_good_is_not() {
    let (mesh, links) = cascade(&[SALMON]);
    let grounds = Grounds {
        mesh: &mesh,
        links: &links,
    };
    let goal = Place {
        terrace: 0,
        at_m: Vec2::new(1.7, 0.5),
    };
    let slow = climb(Vec2::new(0.2, 0.0), goal);
    let mut search = MeshSearch::default();
    let mut is_taken = |climber: &mut Climber, climb: &Climb, cost: f32| {
        let (query, mut found) = (climb.query(), MeshPath::default());
        let outcome = search.find(&mesh, &links, &query, &mut found);
        // A mark by which the path is known again.
        found.cost *= cost;
        let mark = found.cost;
        climber.hear(climb, (&query, outcome), &mut found, grounds);
        found.cost != mark
    };
    let mut climber = Climber::default();
    assert!(is_taken(&mut climber, &slow, 1.1));
    assert!(!is_taken(&mut climber, &slow, 0.9));
    let fast = Climb {
        cruise_mps: 0.9,
        ..slow
    };
    assert!(is_taken(&mut climber, &fast, 1.01));
    assert!(!is_taken(&mut climber, &fast, 0.9));
    assert!(is_taken(&mut climber, &fast, 0.8));
}

#[test]
fn behind_a_wall_a_friend_pulls_along_the_way_to_be_swum() {
    let outline = [
        Vec2::new(-1.0, -1.0),
        Vec2::new(1.0, -1.0),
        Vec2::new(1.0, 1.0),
        Vec2::new(-1.0, 1.0),
    ];
    let drawn_to = |wall: Option<f32>| {
        let mut obstacles = Footprints::default();
        if let Some(half) = wall {
            obstacles.push_box(Vec2::new(0.0, 0.1), Vec2::new(half, 0.02), Vec2::X);
        }
        let ground = TerraceGround {
            outline_m: &outline,
            obstacles: &obstacles,
            grow_m: 0.02,
        };
        let mesh = build(&[ground]).unwrap();
        let place = |x, y| Place {
            terrace: 0,
            at_m: Vec2::new(x, y),
        };
        let friend = Near {
            at: place(0.05, 0.2),
            pull: 1.0,
        };
        let swimmer = climb(Vec2::ZERO, place(0.9, 0.0));
        let around = (&[friend][..], &mut Surroundings::default());
        let to = drawn(&swimmer, Vec2::new(0.9, 0.0), around, &mesh);
        assert!(mesh.sees(0, Vec2::ZERO, to));
        to.normalize().y
    };
    let (open, short, long) = (drawn_to(None), drawn_to(Some(0.1)), drawn_to(Some(0.6)));
    assert!(open > 0.05, "{open}");
    assert!(short > 0.0 && short < open, "{short} {open}");
    // The way round is longer than anybody is drawn by.
    assert_eq!(long, 0.0);
}
