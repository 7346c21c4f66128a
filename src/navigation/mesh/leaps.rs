//! Construction of links: leaps up and drops down between terraces. A link is a ballistic trajectory that starts at the
//! border of the mesh and hits no obstacle.
//!
//! In: terraces, solids, abilities. Out: links, each with a start line and a landing line. **Source**: Lischka 2014,
//! §7.2. Trajectories ignore drag.

use glam::{Vec2, Vec3};
use serde::{Deserialize, Serialize};

use super::links::{Abilities, DROP_M, MeshLink, MeshLinks};
use super::search::{MeshOutcome, MeshPath, MeshPoint, MeshQuery, MeshSearch};
use super::surface::{NO_POLYGON, NavMesh};
use crate::geometry::Solid;

/// Gravitational acceleration, in m/s².
pub const GRAVITY_MPS2: f32 = 9.81;
/// Approximate length of the border pieces from which links start. Tuned by eye, 2026-11-21.
const PIECE_M: f32 = 0.5;
/// Distances from the border at which links start: one directly at the edge, one farther inside the terrace. Tuned by
/// eye, 2026-11-21.
const INWARD_M: [f32; 2] = [0.02, 0.5];
/// Step by which the horizontal length of a flight is increased until its end is on the mesh.
const WIDTH_STEP_M: f32 = 0.1;
/// Number of equal intervals into which a trajectory is divided to test it against obstacles.
const SAMPLES: usize = 32;
/// Step by which the highest point of a drop is raised until it clears the edge.
const HEADROOM_STEP_M: f32 = 0.02;
/// Free distance around a planned trajectory, as a share of the body radius: a body is narrower than its radius, which is a distance
/// for swimming.
const PLANNED_GAP: f32 = 0.5;
/// Free distance around a trajectory at take-off. It is smaller than the planned one, because a body takes off beside the line that
/// was planned.
const TAKE_OFF_GAP: f32 = 0.25;

/// Inputs for all links of a mesh.
#[derive(Clone, Copy, Debug)]
pub struct LeapInput<'a> {
    /// Height y of the water surface of each terrace.
    pub heights_m: &'a [f32],
    /// Solids in and between the terraces.
    pub solids: &'a [Solid],
    /// Smallest distance between the body and the higher of the two water surfaces at the top of a leap. A drop needs none.
    pub clearance_m: f32,
    /// Largest horizontal length of a flight.
    pub reach_m: f32,
    /// Largest angle between the heading of an agent and the heading of the flight at take-off.
    pub heading_rad: f32,
}

impl LeapInput<'_> {
    /// Height of the surface of one terrace above that of another.
    fn rise_m(&self, from: u16, to: u16) -> f32 {
        let height = |of: u16| self.heights_m.get(usize::from(of)).copied().unwrap_or(0.0);
        height(to) - height(from)
    }
}

/// A ballistic trajectory between two heights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flight {
    /// Upward speed at take-off.
    pub up_mps: f32,
    /// Duration of the flight.
    pub secs: f32,
}

impl Flight {
    /// Returns the trajectory that ends `rise_m` above its start (negative: below its start). Its highest point is
    /// `clearance_m` above the higher of its two ends.
    pub fn over(rise_m: f32, clearance_m: f32) -> Self {
        let up_m = rise_m.max(0.0) + clearance_m.max(0.0);
        let down_m = (up_m - rise_m).max(0.0);
        let up_mps = (2.0 * GRAVITY_MPS2 * up_m).sqrt();
        Self {
            up_mps,
            secs: up_mps / GRAVITY_MPS2 + (2.0 * down_m / GRAVITY_MPS2).sqrt(),
        }
    }

    /// Returns the lowest trajectory of a body between two places that hits no solid: over the planned line of a link, or, for a
    /// take-off, from where the body is. A leap rises `clearance_m` above the higher water. A drop begins level at the edge, and
    /// rises only as far as it must. `None` if every trajectory hits a solid.
    pub fn between(
        (from, to): (Vec3, Vec3),
        body: &FlyingBody,
        is_take_off: bool,
        solids: &[Solid],
    ) -> Option<Self> {
        let rise_m = to.y - from.y;
        let most_m = body.clearance_m + 2.0 * body.radius_m;
        let first_m = if rise_m > -DROP_M { most_m } else { 0.0 };
        let gap = if is_take_off {
            TAKE_OFF_GAP
        } else {
            PLANNED_GAP
        };
        let gap_m = gap * body.radius_m;
        let steps = ((most_m - first_m) / HEADROOM_STEP_M).ceil() as u32;
        let mut tries = (0..=steps).map(|n| {
            let headroom_m = (first_m + n as f32 * HEADROOM_STEP_M).min(most_m);
            Self::over(rise_m, headroom_m)
        });
        tries.find(|flight| {
            (0..=SAMPLES).all(|n| {
                let at = flight.position(from, to, flight.secs * n as f32 / SAMPLES as f32);
                solids
                    .iter()
                    .all(|solid| solid.signed_distance_m(at) > gap_m)
            })
        })
    }

    /// Position of a body `secs` after it took off at `from` for a landing at `to`.
    pub fn position(&self, from: Vec3, to: Vec3, secs: f32) -> Vec3 {
        let secs = secs.clamp(0.0, self.secs);
        let at = from.lerp(to, secs / self.secs.max(1e-3));
        at.with_y(from.y + self.height_m(secs))
    }

    /// Whether the numbers are valid. They may come from a damaged file.
    pub fn is_sound(&self) -> bool {
        self.up_mps.is_finite() && self.secs.is_finite() && self.secs >= 0.0
    }

    /// Height above the take-off point, `secs` after the take-off.
    pub fn height_m(&self, secs: f32) -> f32 {
        self.up_mps * secs - GRAVITY_MPS2 * secs * secs / 2.0
    }
}

/// What a trajectory depends on, apart from its two ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlyingBody {
    /// Radius of the body.
    pub radius_m: f32,
    /// See [`LeapInput::clearance_m`].
    pub clearance_m: f32,
}

/// Finds all links between the terraces of a mesh, and the links within a terrace that are a shortcut. Computes
/// separate links for every body radius in `swimmers`. Omits links that no agent can take.
pub fn find_links(mesh: &NavMesh, input: &LeapInput<'_>, swimmers: &[Abilities]) -> MeshLinks {
    let mut links = Vec::new();
    let mut radii_m: Vec<f32> = swimmers.iter().map(|swimmer| swimmer.radius_m).collect();
    radii_m.sort_by(f32::total_cmp);
    radii_m.dedup();
    for polygon in 0..mesh.len() as u32 {
        for (a, b, across) in mesh.edges(polygon) {
            if across != NO_POLYGON {
                continue;
            }
            let pieces = (a.distance(b) / PIECE_M).ceil().max(1.0);
            for piece in 0..pieces as u32 {
                let at = |n: u32| a.lerp(b, n as f32 / pieces);
                let border = (polygon, at(piece), at(piece + 1));
                for &radius_m in &radii_m {
                    links_from_piece(mesh, input, border, radius_m, &mut links);
                }
            }
        }
    }
    links.retain(|link| swimmers.iter().any(|swimmer| link.is_possible(swimmer)));
    let links = keep_shortcuts(mesh, links);
    MeshLinks::new(mesh, links, swimmers)
}

/// Finds the links that start from one piece of the border.
fn links_from_piece(
    mesh: &NavMesh,
    input: &LeapInput<'_>,
    (polygon, a, b): (u32, Vec2, Vec2),
    radius_m: f32,
    links: &mut Vec<MeshLink>,
) {
    // Corners are counterclockwise, so the outside is to the right of an edge.
    let heading = -(b - a).perp().normalize_or_zero();
    let terrace = mesh.polygon(polygon).terrace;
    let steps = (input.reach_m / WIDTH_STEP_M) as u32;
    for inward_m in INWARD_M {
        let start = (a - heading * inward_m, b - heading * inward_m);
        let middle = (start.0 + start.1) / 2.0;
        let Some(from) = mesh.polygon_at(terrace, middle) else {
            continue;
        };
        for other in 0..input.heights_m.len() as u16 {
            // The nearest landing position on each terrace gives the cheapest link. A drop lands a little farther off if it then need
            // not rise as high over the edge.
            let found = (1..=steps).filter_map(|step| {
                let width_m = step as f32 * WIDTH_STEP_M;
                if other == terrace && width_m < 2.0 * inward_m.max(WIDTH_STEP_M) {
                    return None;
                }
                // A drop starts at the edge.
                let is_drop = input.rise_m(terrace, other) <= -DROP_M;
                if is_drop && inward_m > INWARD_M[0] {
                    return None;
                }
                flight_link(
                    mesh,
                    input,
                    (from, other, radius_m),
                    start,
                    heading * width_m,
                )
            });
            links.extend(found.min_by(|a, b| a.flight_secs.total_cmp(&b.flight_secs)));
        }
    }
}

fn flight_link(
    mesh: &NavMesh,
    input: &LeapInput<'_>,
    (from, terrace, radius_m): (u32, u16, f32),
    start: (Vec2, Vec2),
    flight_m: Vec2,
) -> Option<MeshLink> {
    let landing = (start.0 + flight_m, start.1 + flight_m);
    let to = mesh.polygon_at(terrace, (landing.0 + landing.1) / 2.0)?;
    mesh.polygon_at(terrace, landing.0)?;
    mesh.polygon_at(terrace, landing.1)?;
    let home = mesh.polygon(from).terrace;
    let rise_m = input.rise_m(home, terrace);
    // A body takes off and lands just below the surface.
    let y = input.heights_m.get(usize::from(home))? - radius_m;
    let body = FlyingBody {
        radius_m,
        clearance_m: input.clearance_m,
    };
    let flight_from = |start: Vec2| {
        let end = start + flight_m;
        let from = Vec3::new(start.x, y, start.y);
        let to = Vec3::new(end.x, y + rise_m, end.y);
        Flight::between((from, to), &body, false, input.solids)
    };
    // The highest of three trajectories along the line is clear of the obstacles at all three.
    let mut flight = Flight::default();
    for start in [start.0, (start.0 + start.1) / 2.0, start.1] {
        let found = flight_from(start)?;
        if found.up_mps >= flight.up_mps {
            flight = found;
        }
    }
    Some(MeshLink {
        from,
        to,
        start,
        landing,
        heading: flight_m.normalize_or_zero(),
        heading_cos: input.heading_rad.cos(),
        rise_m,
        take_off_mps: flight
            .up_mps
            .hypot(flight_m.length() / flight.secs.max(1e-3)),
        flight_secs: flight.secs,
        radius_m,
    })
}

/// Keeps only links that cost less than the path without links between the same positions.
fn keep_shortcuts(mesh: &NavMesh, links: Vec<MeshLink>) -> Vec<MeshLink> {
    let none = MeshLinks::new(mesh, Vec::new(), &[]);
    let (mut search, mut path) = (MeshSearch::default(), MeshPath::default());
    let mut is_shortcut = |link: &MeshLink| {
        let point = |polygon: u32, line: (Vec2, Vec2)| MeshPoint {
            terrace: mesh.polygon(polygon).terrace,
            at_m: (line.0 + line.1) / 2.0,
        };
        let query = MeshQuery {
            start: point(link.from, link.start),
            goal: point(link.to, link.landing),
            speed_mps: 1.0,
            ..MeshQuery::default()
        };
        // The speed is assumed to be 1 m/s, so one second of flight costs as much as one meter. A flight costs at least
        // its horizontal length.
        let flight_cost = link.flight_secs.max(link.start.0.distance(link.landing.0));
        search.find_path(mesh, &none, &query, &mut path) != MeshOutcome::Found
            || flight_cost < path.cost
    };
    links.into_iter().filter(|link| is_shortcut(link)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::navigation::mesh::{TerraceInput, build_mesh};
    use crate::navigation::{CostLayer, Footprints};

    fn square(low_x: f32, high_x: f32) -> [Vec2; 4] {
        [
            Vec2::new(low_x, -1.0),
            Vec2::new(high_x, -1.0),
            Vec2::new(high_x, 1.0),
            Vec2::new(low_x, 1.0),
        ]
    }

    /// Builds three terraces side by side. Each is 0.4 m higher than the one before. Sills of 0.2 m width separate
    /// them.
    fn cascade(solids: &[Solid], swimmers: &[Abilities]) -> (NavMesh, MeshLinks) {
        let none = Footprints::default();
        let outlines = [square(0.0, 2.0), square(2.2, 4.2), square(4.4, 6.4)];
        let terraces = outlines.each_ref().map(|outline| TerraceInput {
            outline_m: outline,
            obstacles: &none,
            grow_m: 0.0,
            piece_m: f32::INFINITY,
        });
        let mesh = build_mesh(&terraces).unwrap();
        let input = LeapInput {
            heights_m: &[-1.2, -0.8, -0.4],
            solids,
            clearance_m: 0.05,
            reach_m: 1.2,
            heading_rad: 0.6,
        };
        let links = find_links(&mesh, &input, swimmers);
        (mesh, links)
    }

    const SALMON: Abilities = Abilities {
        leap_height_m: 0.5,
        leap_speed_mps: 5.0,
        leap_cooldown_secs: 4.0,
        radius_m: 0.05,
    };
    const HERRING: Abilities = Abilities {
        leap_height_m: 0.0,
        leap_speed_mps: 0.0,
        leap_cooldown_secs: 0.0,
        radius_m: 0.02,
    };

    fn find(
        (mesh, links): &(NavMesh, MeshLinks),
        (from, to): ((u16, f32), (u16, f32)),
        abilities: Abilities,
        cooldown_left_secs: f32,
    ) -> (MeshOutcome, MeshPath, u32) {
        let point = |(terrace, x): (u16, f32)| MeshPoint {
            terrace,
            at_m: Vec2::new(x, 0.1),
        };
        let query = MeshQuery {
            start: point(from),
            goal: point(to),
            abilities,
            cooldown_left_secs,
            speed_mps: 0.5,
            ..MeshQuery::default()
        };
        let (mut search, mut path) = (MeshSearch::default(), MeshPath::default());
        let outcome = search.find_path(mesh, links, &query, &mut path);
        (outcome, path, search.expanded())
    }

    #[test]
    fn a_flight_clears_the_higher_end_and_lands_at_the_right_height() {
        for rise in [-0.7, -0.1, 0.0, 0.3, 0.9] {
            let flight = Flight::over(rise, 0.15);
            let top = (0..=1000).map(|n| flight.height_m(flight.secs * n as f32 / 1000.0));
            let top = top.fold(0.0, f32::max);
            assert!((top - (rise.max(0.0) + 0.15)).abs() < 1e-3);
            assert!((flight.height_m(flight.secs) - rise).abs() < 1e-3);
        }
    }

    #[test]
    fn salmon_can_leap_herrings_cannot_and_both_can_drop() {
        let water = cascade(&[], &[SALMON, HERRING]);
        let up = ((0, 1.0), (2, 5.4));
        let down = ((2, 5.4), (0, 1.0));
        let (outcome, path, _) = find(&water, up, SALMON, 0.0);
        assert_eq!(outcome, MeshOutcome::Found);
        assert_eq!(path.legs.iter().filter(|leg| leg.link.is_some()).count(), 2);
        let (outcome, _, expanded) = find(&water, up, HERRING, 0.0);
        // A herring cannot leap, so its way up is rejected without an expansion.
        assert_eq!((outcome, expanded), (MeshOutcome::Unreachable, 0));
        for swimmer in [SALMON, HERRING] {
            assert_eq!(find(&water, down, swimmer, 0.0).0, MeshOutcome::Found);
        }
        // The result is also correct for abilities that were not given to `find_links`.
        let weak = Abilities {
            leap_height_m: 0.3,
            ..SALMON
        };
        assert_eq!(find(&water, up, weak, 0.0).0, MeshOutcome::Unreachable);
    }

    #[test]
    fn a_link_over_a_wall_at_equal_height_is_a_leap() {
        let none = Footprints::default();
        let outlines = [square(0.0, 2.0), square(2.2, 4.2)];
        let terraces = outlines.each_ref().map(|outline| TerraceInput {
            outline_m: outline,
            obstacles: &none,
            grow_m: 0.0,
            piece_m: f32::INFINITY,
        });
        let mesh = build_mesh(&terraces).unwrap();
        let input = LeapInput {
            heights_m: &[-0.8, -0.8],
            solids: &[],
            clearance_m: 0.05,
            reach_m: 1.2,
            heading_rad: 0.6,
        };
        let links = find_links(&mesh, &input, &[SALMON, HERRING]);
        let water = (mesh, links);
        let over = ((0, 1.0), (1, 3.2));
        assert_eq!(find(&water, over, SALMON, 0.0).0, MeshOutcome::Found);
        assert_eq!(find(&water, over, HERRING, 0.0).0, MeshOutcome::Unreachable);
    }

    #[test]
    fn a_leap_that_is_not_ready_costs_the_time_until_it_is() {
        let water = cascade(&[], &[SALMON]);
        // The sill is 1 m away, and the agent swims at 0.5 m/s.
        let up = ((0, 1.0), (1, 3.2));
        let cost = |of, abilities, left_secs| {
            let (outcome, path, _) = find(&water, of, abilities, left_secs);
            assert_eq!(outcome, MeshOutcome::Found);
            path.cost
        };
        assert_eq!(cost(up, SALMON, 0.5), cost(up, SALMON, 0.0));
        // It waits for about 29 s, in which it swims 14.5 m.
        let waiting = cost(up, SALMON, 30.0) - cost(up, SALMON, 0.0);
        assert!((13.9..14.6).contains(&waiting), "{waiting}");
        // Between two leaps the agent swims 2 m on the middle terrace, which takes 4 s: enough for a cooldown of 4 s. With one of
        // 9 s, it waits for 5 s under the second fall.
        let slow = Abilities {
            leap_cooldown_secs: 9.0,
            ..SALMON
        };
        let both = ((0, 1.0), (2, 5.4));
        let waiting = cost(both, slow, 0.0) - cost(both, SALMON, 0.0);
        assert!((2.0..3.0).contains(&waiting), "{waiting}");
    }

    #[test]
    fn a_drop_starts_at_the_edge_and_rises_no_more_than_it_must() {
        // The sill ends 0.02 m below the higher water.
        let sill = Solid::Box {
            center_m: Vec3::new(2.1, -0.92, 0.0),
            half_m: Vec3::new(0.05, 0.1, 3.0),
            axis: Vec2::X,
        };
        let top_m = |solids: &[Solid]| {
            let (_, links) = cascade(solids, &[SALMON]);
            let drops = links
                .iter()
                .filter(|link| !link.is_leap() && link.landing.0.x < 2.2 && link.start.0.x < 4.2);
            let tops = drops.map(|link| {
                assert!((link.start.0.x - 2.22).abs() < 1e-3, "{link:?}");
                let ground_m = link.start.0.distance(link.landing.0);
                let up_mps =
                    (link.take_off_mps.powi(2) - (ground_m / link.flight_secs).powi(2)).max(0.0);
                up_mps / (2.0 * GRAVITY_MPS2)
            });
            tops.fold(f32::NEG_INFINITY, f32::max)
        };
        assert!((0.0..1e-4).contains(&top_m(&[])), "{}", top_m(&[]));
        // The body starts 0.03 m below the top of the sill, and rises until its center is at least half of its radius above it.
        assert!((0.05..0.13).contains(&top_m(&[sill])), "{}", top_m(&[sill]));
    }

    #[test]
    fn small_agents_leap_lower_and_under_roofs_too_low_for_large_ones() {
        let small = Abilities {
            radius_m: 0.02,
            ..SALMON
        };
        let (mesh, links) = cascade(&[], &[SALMON, small]);
        let of = |radius_m: f32| links.iter().filter(move |l| l.radius_m == radius_m);
        assert_eq!(of(0.05).count(), of(0.02).count());
        for (large, small) in of(0.05).zip(of(0.02)) {
            let link_is_leap = large.is_leap();
            // A drop over no edge is the same for all.
            let is_lower = |small: f32, large: f32| {
                if link_is_leap {
                    small < large
                } else {
                    (small - large).abs() < 1e-4
                }
            };
            assert!(
                is_lower(small.take_off_mps, large.take_off_mps),
                "{small:?} {large:?}"
            );
            assert!(is_lower(small.flight_secs, large.flight_secs));
        }
        // A roof just above the trajectory of the small agent.
        let highest = Flight::over(0.4, 0.07).up_mps.powi(2) / (2.0 * GRAVITY_MPS2);
        let roof = Solid::Box {
            center_m: Vec3::new(2.1, -1.2 + highest + 0.025 + 0.2, 0.0),
            half_m: Vec3::new(1.5, 0.2, 3.0),
            axis: Vec2::X,
        };
        let water = (mesh, links);
        let roofed = cascade(&[roof], &[SALMON, small]);
        let up = ((0, 1.0), (1, 3.2));
        for (abilities, below) in [
            (SALMON, MeshOutcome::Unreachable),
            (small, MeshOutcome::Found),
        ] {
            assert_eq!(find(&water, up, abilities, 0.0).0, MeshOutcome::Found);
            assert_eq!(find(&roofed, up, abilities, 0.0).0, below);
        }
    }

    #[test]
    fn no_leap_passes_through_a_roof() {
        let roof = Solid::Box {
            center_m: Vec3::new(2.1, -0.55, 0.0),
            half_m: Vec3::new(0.4, 0.2, 3.0),
            axis: Vec2::X,
        };
        let water = cascade(&[roof], &[SALMON]);
        assert_eq!(
            find(&water, ((0, 1.0), (1, 3.2)), SALMON, 0.0).0,
            MeshOutcome::Unreachable
        );
        assert_eq!(
            find(&water, ((1, 3.2), (2, 5.4)), SALMON, 0.0).0,
            MeshOutcome::Found
        );
    }

    #[test]
    fn paths_avoid_high_costs_and_are_cheapest_with_costs_below_one() {
        let mut obstacles = Footprints::default();
        obstacles.push_box(Vec2::new(1.0, 0.0), Vec2::new(0.2, 0.4), Vec2::X);
        let outline = square(0.0, 2.0);
        let mesh = build_mesh(&[TerraceInput {
            outline_m: &outline,
            obstacles: &obstacles,
            grow_m: 0.0,
            piece_m: f32::INFINITY,
        }])
        .unwrap();
        let links = MeshLinks::new(&mesh, Vec::new(), &[]);
        let side = |costs: &CostLayer| {
            let point = |x| MeshPoint {
                terrace: 0,
                at_m: Vec2::new(x, 0.05),
            };
            let query = MeshQuery {
                start: point(0.2),
                goal: point(1.8),
                abilities: HERRING,
                speed_mps: 1.0,
                costs,
                ..MeshQuery::default()
            };
            let (mut search, mut path) = (MeshSearch::default(), MeshPath::default());
            assert_eq!(
                search.find_path(&mesh, &links, &query, &mut path),
                MeshOutcome::Found
            );
            path.points_m[0].y
        };
        assert!(side(<&CostLayer>::default()) > 0.0);
        let layer = |cost: fn(f32) -> f32| {
            let mut layer = CostLayer::default();
            layer.reset(Vec2::new(0.0, -1.0), Vec2::new(2.0, 1.0));
            layer.add((Vec2::X, Vec2::X), 2.0, |at| cost(at.y));
            layer
        };
        let danger = layer(|y| if y > 0.0 { 8.0 } else { 0.0 });
        let desire = layer(|y| if y > 0.0 { 0.0 } else { -0.5 });
        assert!(side(&danger) < 0.0 && side(&desire) < 0.0);
    }
}
