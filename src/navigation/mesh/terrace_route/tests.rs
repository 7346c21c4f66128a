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
        piece_m: f32::INFINITY,
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

fn flat(at: Vec3) -> Vec2 {
    Vec2::new(at.x, at.z)
}

/// Runs a search without interruption if one is needed, and returns the answer.
fn go(
    route: &mut TerraceRoute,
    traveler: &Traveler,
    neighbors: &[NeighborPull],
    graph: NavGraph<'_>,
) -> PathAnswer {
    if let Some(query) = route.needed_search(traveler, 1.0 / 60.0) {
        let mut path = MeshPath::default();
        let mut search = MeshSearch::default();
        let outcome = search.find_path(graph.mesh, graph.links, &query, &mut path);
        let free = <&CostLayer>::default();
        route.accept(traveler, (&query, outcome), &mut path, (graph, free));
    }
    route.guide(
        traveler,
        (neighbors, &mut NeighborScratch::default()),
        graph,
    )
}

fn traveler(at: Vec2, goal: MeshPoint) -> Traveler {
    Traveler {
        at: MeshPoint {
            terrace: 0,
            at_m: at,
        },
        heading: Vec2::NEG_X,
        speed_mps: 1.0,
        goal,
        swim_y_m: -1.3,
        top_y_m: -1.05,
        cruise_mps: 0.5,
        run_up_mps: 0.8,
        radius_m: 0.05,
        abilities: SALMON,
        cooldown_left_secs: 0.0,
        caution: 1.0,
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
    let mut swimmer = traveler(Vec2::new(1.6, -0.9), goal);
    let mut leaps = 0;
    for tick in 0..1200 {
        match go(&mut route, &swimmer, &[], graph) {
            PathAnswer::Swim(to) | PathAnswer::SwimToEnd(to) | PathAnswer::RunUp(to) => {
                let direction = (flat(to) - swimmer.at.at_m).normalize_or_zero();
                // The agent turns by at most 4 degrees per tick.
                let angle = swimmer.heading.angle_to(direction).clamp(-0.07, 0.07);
                swimmer.heading = Vec2::from_angle(angle).rotate(swimmer.heading);
                let to = swimmer.at.at_m + swimmer.heading * (0.6 / 60.0);
                if mesh.polygon_at(swimmer.at.terrace, to).is_some() {
                    swimmer.at.at_m = to;
                }
            }
            PathAnswer::TakeOff(link_index, landing) => {
                assert_eq!(landing.y, swimmer.top_y_m);
                let link = links.get(link_index).unwrap();
                assert!(swimmer.heading.dot(link.heading) >= link.heading_cos);
                swimmer.at = MeshPoint {
                    terrace: 1,
                    at_m: flat(landing),
                };
                route.reset();
                leaps += 1;
            }
            PathAnswer::Arrived(at) => {
                assert_eq!(at, Vec3::new(3.5, swimmer.swim_y_m, 0.5));
                assert_eq!(leaps, 1);
                return;
            }
            other => panic!("{other:?} at tick {tick}"),
        }
    }
    panic!("the agent did not arrive; it is at {:?}", swimmer.at);
}

#[test]
fn a_refused_take_off_has_a_reason_and_leads_to_another_link() {
    let (mesh, links) = cascade(&[SALMON]);
    let graph = NavGraph {
        mesh: &mesh,
        links: &links,
    };
    let goal = MeshPoint {
        terrace: 1,
        at_m: Vec2::new(3.5, 0.5),
    };
    let swimmer = traveler(Vec2::new(1.0, 0.4), goal);
    let mut route = TerraceRoute::default();
    let link = |route: &mut TerraceRoute| {
        go(route, &swimmer, &[], graph);
        route.path.legs[0].link.unwrap().0
    };
    let first = link(&mut route);
    let answer = route.refuse(first, Refusal::Blocked);
    assert_eq!(answer, PathAnswer::Refused(Refusal::Blocked));
    assert_ne!(link(&mut route), first);
    // The obstacle may be gone some time later.
    route.needed_search(&swimmer, REFUSED_SECS + 1.0);
    route.reset();
    assert_eq!(link(&mut route), first);
}

#[test]
fn an_agent_that_comes_no_further_takes_another_way() {
    let mesh = two_ways();
    let links = &MeshLinks::default();
    let graph = NavGraph { mesh: &mesh, links };
    let mut swimmer = across(0.5);
    swimmer.at.at_m = Vec2::new(-0.4, -0.2);
    let mut route = TerraceRoute::default();
    let side = |route: &mut TerraceRoute| {
        go(route, &swimmer, &[], graph);
        route.remaining_leg()[0].y.signum()
    };
    assert_eq!(side(&mut route), -1.0);
    let after: Vec<f32> = (0..120).map(|_| side(&mut route)).collect();
    assert_eq!((after[60], after[119]), (-1.0, 1.0));
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
    let swimmer = traveler(Vec2::new(0.3, 0.0), point(1.7, 0.0));
    let heads = |neighbors: &[NeighborPull]| {
        let mut route = TerraceRoute::default();
        match go(&mut route, &swimmer, neighbors, graph) {
            PathAnswer::SwimToEnd(to) => flat(to),
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

/// A basin with a box in its middle. The way on one side of the box is slightly shorter.
fn two_ways() -> NavMesh {
    let outline = [
        Vec2::new(-2.0, -1.0),
        Vec2::new(2.0, -1.0),
        Vec2::new(2.0, 1.0),
        Vec2::new(-2.0, 1.0),
    ];
    let mut obstacles = Footprints::default();
    obstacles.push_box(Vec2::new(0.0, 0.02), Vec2::new(0.3, 0.4), Vec2::X);
    let ground = TerraceInput {
        outline_m: &outline,
        obstacles: &obstacles,
        grow_m: 0.05,
        piece_m: f32::INFINITY,
    };
    build_mesh(&[ground]).unwrap()
}

fn across(speed_mps: f32) -> Traveler {
    let goal = MeshPoint {
        terrace: 0,
        at_m: Vec2::new(1.5, 0.0),
    };
    Traveler {
        cruise_mps: speed_mps,
        ..traveler(Vec2::new(-1.5, 0.0), goal)
    }
}

/// Lets the agent search at its position, with these costs, and returns the side on which it passes the box.
fn side(route: &mut TerraceRoute, traveler: &Traveler, mesh: &NavMesh, costs: &CostLayer) -> f32 {
    let links = &MeshLinks::default();
    let query = MeshQuery {
        costs,
        ..TerraceRoute::default()
            .needed_search(traveler, 0.0)
            .unwrap()
    };
    let (mut search, mut path) = (MeshSearch::default(), MeshPath::default());
    let outcome = search.find_path(mesh, links, &query, &mut path);
    let graph = NavGraph { mesh, links };
    route.accept(traveler, (&query, outcome), &mut path, (graph, costs));
    route.remaining_leg()[0].y.signum()
}

/// Costs of the water on the side on which the way is shorter.
fn danger(cost: f32) -> CostLayer {
    let mut layer = CostLayer::default();
    layer.reset(Vec2::new(-2.0, -1.0), Vec2::new(2.0, 1.0));
    layer.add((Vec2::ZERO, Vec2::ZERO), 2.0, |at| {
        if at.y < 0.0 { cost } else { 0.0 }
    });
    layer
}

#[test]
fn danger_that_appears_after_planning_counts_for_the_old_way() {
    let mesh = two_ways();
    let mut route = TerraceRoute::default();
    let swimmer = across(0.5);
    assert_eq!(side(&mut route, &swimmer, &mesh, &danger(0.0)), -1.0);
    // A detour that saves less than 15 % is not taken: the agent would turn back and forth between two equal ways.
    assert_eq!(side(&mut route, &swimmer, &mesh, &danger(0.05)), -1.0);
    assert_eq!(side(&mut route, &swimmer, &mesh, &danger(8.0)), 1.0);
    assert_eq!(side(&mut route, &swimmer, &mesh, &danger(0.0)), 1.0);
}

#[test]
fn a_change_of_speed_replaces_the_path() {
    let mesh = two_ways();
    let mut route = TerraceRoute::default();
    let slightly = danger(0.05);
    assert_eq!(side(&mut route, &across(0.5), &mesh, &danger(0.0)), -1.0);
    let before = route.path.cost;
    side(&mut route, &across(0.5), &mesh, &slightly);
    assert_eq!(route.path.cost, before);
    side(&mut route, &across(0.9), &mesh, &slightly);
    assert!(route.path.cost > before);
}

#[test]
fn a_goal_off_the_mesh_is_replaced_by_the_nearest_point_that_can_be_reached() {
    let (mesh, links) = cascade(&[SALMON]);
    let graph = NavGraph {
        mesh: &mesh,
        links: &links,
    };
    let at = |terrace, x, y| MeshPoint {
        terrace,
        at_m: Vec2::new(x, y),
    };
    let place = |from: MeshPoint, wanted: (Option<u16>, Vec2), abilities: &Abilities| {
        TerraceRoute::default().place_goal(from, wanted, abilities, graph)
    };
    // Beside the upper basin, for an agent that stands outside the lower basin.
    let (start, goal) = place(at(0, 1.0, 1.2), (Some(1), Vec2::new(3.0, 5.0)), &SALMON).unwrap();
    assert_eq!((start, goal), (at(0, 1.0, 1.0), at(1, 3.0, 1.0)));
    let unable = Abilities {
        leap_height_m: 0.0,
        ..SALMON
    };
    let up = (Some(1), Vec2::new(3.0, 0.0));
    assert_eq!(place(at(0, 1.0, 0.0), up, &unable), None);
    // On the sill, nearer to the upper basin. Any basin will do.
    let any = (None, Vec2::new(2.08, 0.0));
    let goal_of = |abilities| place(at(0, 1.0, 0.0), any, abilities).unwrap().1;
    assert_eq!(goal_of(&SALMON), at(1, 2.1, 0.0));
    assert_eq!(goal_of(&unable), at(0, 2.0, 0.0));
}

#[test]
fn the_swimmer_keeps_the_distance_of_the_drawn_course_from_a_corner() {
    let mesh = two_ways();
    let links = &MeshLinks::default();
    let graph = NavGraph { mesh: &mesh, links };
    let mut swimmer = across(0.5);
    let mut route = TerraceRoute::default();
    go(&mut route, &swimmer, &[], graph);
    let drawn: Vec<Vec2> = route.remaining_leg().to_vec();
    let mut track = Vec::new();
    for _ in 0..600 {
        let (PathAnswer::Swim(to) | PathAnswer::SwimToEnd(to)) =
            go(&mut route, &swimmer, &[], graph)
        else {
            break;
        };
        let way = flat(to) - swimmer.at.at_m;
        swimmer.at.at_m += way.clamp_length_max(0.5 / 60.0);
        track.push(swimmer.at.at_m);
    }
    // Behind a corner, the drawn course first goes on in the old direction, away from the box.
    for &at in &drawn {
        let nearest = track.iter().map(|swum| swum.distance(at));
        let off_m = nearest.fold(f32::INFINITY, f32::min);
        assert!(
            off_m < 0.015 || at == drawn[drawn.len() - 1],
            "the swimmer passes {at} at {off_m} m\ndrawn {drawn:?}\nswum {track:?}"
        );
    }
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
            piece_m: f32::INFINITY,
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
        let swimmer = traveler(Vec2::ZERO, point(0.9, 0.0));
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
