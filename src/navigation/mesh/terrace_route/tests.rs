//! Tests with one agent in a cascade of two terraces.

use super::*;
use crate::navigation::Footprints;
use crate::navigation::mesh::{LeapInput, TerraceInput, build_mesh, find_links};

const SALMON: Abilities = Abilities {
    leap_height_m: 0.5,
    leap_speed_mps: 5.0,
    leap_cooldown_secs: 2.0,
    radius_m: 0.05,
};

fn cascade(abilities: &[Abilities]) -> (NavMesh, MeshLinks) {
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
    let terraces = outlines.each_ref().map(|outline| TerraceInput {
        outline_m: outline,
        obstacles: &none,
        grow_m: 0.0,
    });
    let mesh = build_mesh(&terraces).unwrap();
    let ground = LeapInput {
        heights_m: &[-1.0, -0.6],
        solids: &[],
        clearance_m: 0.05,
        reach_m: 1.0,
        heading_rad: 0.6,
    };
    let links = find_links(&mesh, &ground, abilities);
    (mesh, links)
}

/// Runs a search without interruption if one is needed, and returns the guidance.
fn go(
    route: &mut TerraceRoute,
    request: &TerraceRequest,
    neighbors: &[NeighborPull],
    graph: NavGraph<'_>,
) -> Guidance {
    if route.needs_search(request, 1.0 / 60.0) {
        let (query, mut path) = (request.query(), MeshPath::default());
        let mut search = MeshSearch::default();
        let outcome = search.find_path(graph.mesh, graph.links, &query, &mut path);
        route.accept(request, (&query, outcome), &mut path, graph);
    }
    route.guide(request, (neighbors, &mut NeighborScratch::default()), graph)
}

fn request(at: Vec2, goal: MeshPoint) -> TerraceRequest {
    TerraceRequest {
        at: MeshPoint {
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
fn an_agent_turns_before_it_leaps_and_continues_on_the_upper_terrace() {
    let (mesh, links) = cascade(&[SALMON]);
    let graph = NavGraph {
        mesh: &mesh,
        links: &links,
    };
    let goal = MeshPoint {
        terrace: 1,
        at_m: Vec2::new(3.5, 0.5),
    };
    let mut route = TerraceRoute::default();
    let mut swimmer = request(Vec2::new(1.6, -0.9), goal);
    let mut leaps = 0;
    for tick in 0..1200 {
        match go(&mut route, &swimmer, &[], graph) {
            Guidance::Swim(to) | Guidance::RunUp(to) => {
                let direction = (to - swimmer.at.at_m).normalize_or_zero();
                // The agent turns by at most 4 degrees per tick.
                let angle = swimmer.heading.angle_to(direction).clamp(-0.07, 0.07);
                swimmer.heading = Vec2::from_angle(angle).rotate(swimmer.heading);
                let to = swimmer.at.at_m + swimmer.heading * (0.6 / 60.0);
                if mesh.polygon_at(swimmer.at.terrace, to).is_some() {
                    swimmer.at.at_m = to;
                }
            }
            Guidance::TakeOff(link_index, landing) => {
                let link = links.get(link_index).unwrap();
                assert!(swimmer.heading.dot(link.heading) >= link.heading_cos);
                swimmer.at = MeshPoint {
                    terrace: 1,
                    at_m: landing,
                };
                route.reset();
                leaps += 1;
            }
            Guidance::Arrived => {
                assert_eq!(leaps, 1);
                return;
            }
            other => panic!("{other:?} at tick {tick}"),
        }
    }
    panic!("the agent did not arrive; it is at {:?}", swimmer.at);
}

#[test]
fn friends_attract_and_enemies_repel_within_the_mesh() {
    let (mesh, links) = cascade(&[SALMON]);
    let graph = NavGraph {
        mesh: &mesh,
        links: &links,
    };
    let point = |x, y| MeshPoint {
        terrace: 0,
        at_m: Vec2::new(x, y),
    };
    let swimmer = request(Vec2::new(0.3, 0.0), point(1.7, 0.0));
    let heads = |neighbors: &[NeighborPull]| {
        let mut route = TerraceRoute::default();
        match go(&mut route, &swimmer, neighbors, graph) {
            Guidance::Swim(to) => to,
            other => panic!("{other:?}"),
        }
    };
    let neighbors = |y: f32, pull: f32| NeighborPull {
        at: point(0.35, y),
        pull,
    };
    assert_eq!(heads(&[]).y, 0.0);
    let (close, far) = (
        heads(&[neighbors(0.05, 1.0)]),
        heads(&[neighbors(0.6, 1.0)]),
    );
    assert!(close.y > far.y && far.y > 0.0, "{close} {far}");
    assert!(heads(&[neighbors(0.05, -1.0)]).y < 0.0);
    let elsewhere = NeighborPull {
        at: MeshPoint {
            terrace: 1,
            at_m: Vec2::new(2.2, 0.9),
        },
        pull: 5.0,
    };
    assert_eq!(heads(&[elsewhere]).y, 0.0);
}

#[test]
fn a_path_is_replaced_after_a_change_of_speed_or_by_a_clearly_cheaper_one() {
    let (mesh, links) = cascade(&[SALMON]);
    let graph = NavGraph {
        mesh: &mesh,
        links: &links,
    };
    let goal = MeshPoint {
        terrace: 0,
        at_m: Vec2::new(1.7, 0.5),
    };
    let slow = request(Vec2::new(0.2, 0.0), goal);
    let mut search = MeshSearch::default();
    let mut is_taken = |route: &mut TerraceRoute, request: &TerraceRequest, cost: f32| {
        let (query, mut found) = (request.query(), MeshPath::default());
        let outcome = search.find_path(&mesh, &links, &query, &mut found);
        // The changed cost identifies this path in the checks below.
        found.cost *= cost;
        let mark = found.cost;
        route.accept(request, (&query, outcome), &mut found, graph);
        found.cost != mark
    };
    let mut route = TerraceRoute::default();
    assert!(is_taken(&mut route, &slow, 1.1));
    assert!(!is_taken(&mut route, &slow, 0.9));
    let fast = TerraceRequest {
        cruise_mps: 0.9,
        ..slow
    };
    assert!(is_taken(&mut route, &fast, 1.01));
    assert!(!is_taken(&mut route, &fast, 0.9));
    assert!(is_taken(&mut route, &fast, 0.8));
}

#[test]
fn a_friend_behind_a_wall_attracts_along_the_detour() {
    let outline = [
        Vec2::new(-1.0, -1.0),
        Vec2::new(1.0, -1.0),
        Vec2::new(1.0, 1.0),
        Vec2::new(-1.0, 1.0),
    ];
    let target_beside = |wall: Option<f32>| {
        let mut obstacles = Footprints::default();
        if let Some(half) = wall {
            obstacles.push_box(Vec2::new(0.0, 0.1), Vec2::new(half, 0.02), Vec2::X);
        }
        let ground = TerraceInput {
            outline_m: &outline,
            obstacles: &obstacles,
            grow_m: 0.02,
        };
        let mesh = build_mesh(&[ground]).unwrap();
        let point = |x, y| MeshPoint {
            terrace: 0,
            at_m: Vec2::new(x, y),
        };
        let friend = NeighborPull {
            at: point(0.05, 0.2),
            pull: 1.0,
        };
        let swimmer = request(Vec2::ZERO, point(0.9, 0.0));
        let around = (&[friend][..], &mut NeighborScratch::default());
        let to = pulled_target(&swimmer, Vec2::new(0.9, 0.0), around, &mesh);
        assert!(mesh.has_line_of_sight(0, Vec2::ZERO, to));
        to.normalize().y
    };
    let (open, short, long) = (
        target_beside(None),
        target_beside(Some(0.1)),
        target_beside(Some(0.6)),
    );
    assert!(open > 0.05, "{open}");
    assert!(short > 0.0 && short < open, "{short} {open}");
    // The swimming path to the neighbor is longer than the range of attraction.
    assert_eq!(long, 0.0);
}
