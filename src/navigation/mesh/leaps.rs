//! Where one can leap up or drop down between terraces: ballistic curves from the mesh's border, tested against obstacles.
//!
//! In: terraces, solids, swimmers. Out: links, each with a start and a landing line. **Source**: 004 section 7.2; the curve
//! is a throw without drag.

use glam::{Vec2, Vec3};
use serde::{Deserialize, Serialize};

use super::links::{Abilities, Link, Links};
use super::search::{MeshPath, MeshSearch, Outcome, Place, Query};
use super::surface::{NOWHERE, NavMesh};
use crate::geometry::Solid;

/// Acceleration of falling.
pub const GRAVITY_MPS2: f32 = 9.81;
/// Links start from pieces of the border about this long. Tuned by eye, 2026-11-21.
const PIECE_M: f32 = 0.5;
/// Distances from the border at which a link may start: at the edge, and inside the area. Tuned by eye, 2026-11-21.
const INWARD_M: [f32; 2] = [0.02, 0.5];
/// Steps in which the width of a flight is tried.
const WIDTH_STEP_M: f32 = 0.1;
/// Points at which a curve is held against obstacles.
const SAMPLES: usize = 16;

/// What all links of a mesh are made from.
#[derive(Clone, Copy, Debug)]
pub struct LeapGround<'a> {
    /// Height y of each terrace's water.
    pub heights_m: &'a [f32],
    /// What lies in and between them.
    pub solids: &'a [Solid],
    /// How far above the higher water the lowest point of a body goes.
    pub clearance_m: f32,
    /// Widest flight.
    pub reach_m: f32,
    /// Largest angle between a swimmer's heading and the flight's.
    pub heading_rad: f32,
}

/// A throw from one height to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flight {
    /// Speed upwards at the take-off.
    pub up_mps: f32,
    /// Time in the air.
    pub secs: f32,
}

impl Flight {
    /// The throw that rises by `rise_m` (negative: falls) and goes `clearance_m` above the higher end.
    pub fn over(rise_m: f32, clearance_m: f32) -> Self {
        let up_m = rise_m.max(0.0) + clearance_m.max(0.0);
        let down_m = (up_m - rise_m).max(0.0);
        let up_mps = (2.0 * GRAVITY_MPS2 * up_m).sqrt();
        Self {
            up_mps,
            secs: up_mps / GRAVITY_MPS2 + (2.0 * down_m / GRAVITY_MPS2).sqrt(),
        }
    }

    /// Whether it is one; its numbers may have been damaged.
    pub fn is_sound(&self) -> bool {
        self.up_mps.is_finite() && self.secs.is_finite() && self.secs >= 0.0
    }

    /// Height above the take-off after a time.
    pub fn height_m(&self, secs: f32) -> f32 {
        self.up_mps * secs - GRAVITY_MPS2 * secs * secs / 2.0
    }
}

/// All links between terraces of a mesh, and within one where that saves way, by the curves of every size of body. Those that
/// nobody can take are left out.
pub fn find_links(mesh: &NavMesh, ground: &LeapGround<'_>, swimmers: &[Abilities]) -> Links {
    let mut links = Vec::new();
    let mut radii_m: Vec<f32> = swimmers.iter().map(|swimmer| swimmer.radius_m).collect();
    radii_m.sort_by(f32::total_cmp);
    radii_m.dedup();
    for place in 0..mesh.len() as u32 {
        for (a, b, across) in mesh.edges(place) {
            if across != NOWHERE {
                continue;
            }
            let pieces = (a.distance(b) / PIECE_M).ceil().max(1.0);
            for piece in 0..pieces as u32 {
                let at = |n: u32| a.lerp(b, n as f32 / pieces);
                let border = (place, at(piece), at(piece + 1));
                for &radius_m in &radii_m {
                    from_piece(mesh, ground, border, radius_m, &mut links);
                }
            }
        }
    }
    links.retain(|link| swimmers.iter().any(|swimmer| link.is_possible(swimmer)));
    let links = keep_cheaper(mesh, links);
    Links::new(mesh, links, swimmers)
}

/// Links that start from a piece of the border.
fn from_piece(
    mesh: &NavMesh,
    ground: &LeapGround<'_>,
    (place, a, b): (u32, Vec2, Vec2),
    radius_m: f32,
    links: &mut Vec<Link>,
) {
    // Corners run counterclockwise: outwards is to the right.
    let heading = -(b - a).perp().normalize_or_zero();
    let terrace = mesh.polygon(place).terrace;
    let steps = (ground.reach_m / WIDTH_STEP_M) as u32;
    for inward_m in INWARD_M {
        let start = (a - heading * inward_m, b - heading * inward_m);
        let middle = (start.0 + start.1) / 2.0;
        let Some(from) = mesh.find(terrace, middle) else {
            continue;
        };
        for other in 0..ground.heights_m.len() as u16 {
            // The nearest landing on each terrace is the cheapest.
            let link = (1..=steps).find_map(|step| {
                let width_m = step as f32 * WIDTH_STEP_M;
                if other == terrace && width_m < 2.0 * inward_m.max(WIDTH_STEP_M) {
                    return None;
                }
                flight_link(
                    mesh,
                    ground,
                    (from, other, radius_m),
                    start,
                    heading * width_m,
                )
            });
            links.extend(link);
        }
    }
}

fn flight_link(
    mesh: &NavMesh,
    ground: &LeapGround<'_>,
    (from, terrace, radius_m): (u32, u16, f32),
    start: (Vec2, Vec2),
    way: Vec2,
) -> Option<Link> {
    let landing = (start.0 + way, start.1 + way);
    let to = mesh.find(terrace, (landing.0 + landing.1) / 2.0)?;
    mesh.find(terrace, landing.0)?;
    mesh.find(terrace, landing.1)?;
    let low_y = *ground
        .heights_m
        .get(usize::from(mesh.polygon(from).terrace))?;
    let high_y = *ground.heights_m.get(usize::from(terrace))?;
    let flight = Flight::over(high_y - low_y, ground.clearance_m + radius_m);
    let is_clear = |start: Vec2| {
        (0..=SAMPLES).all(|n| {
            let share = n as f32 / SAMPLES as f32;
            let at = start + way * share;
            let y = low_y + flight.height_m(flight.secs * share);
            let at = Vec3::new(at.x, y, at.y);
            // Where it leaves and enters the water its way is in the mesh.
            let is_end = n == 0 || n == SAMPLES;
            is_end
                || ground
                    .solids
                    .iter()
                    .all(|solid| solid.signed_distance_m(at) > radius_m)
        })
    };
    let is_free = [start.0, (start.0 + start.1) / 2.0, start.1]
        .into_iter()
        .all(is_clear);
    is_free.then(|| Link {
        from,
        to,
        start,
        landing,
        heading: way.normalize_or_zero(),
        heading_cos: ground.heading_rad.cos(),
        rise_m: high_y - low_y,
        take_off_mps: flight.up_mps.hypot(way.length() / flight.secs.max(1e-3)),
        flight_secs: flight.secs,
        radius_m,
    })
}

/// Keeps the links that are shorter than the way that there is without any.
fn keep_cheaper(mesh: &NavMesh, links: Vec<Link>) -> Vec<Link> {
    let none = Links::new(mesh, Vec::new(), &[]);
    let (mut search, mut path) = (MeshSearch::default(), MeshPath::default());
    let mut is_cheaper = |link: &Link| {
        let place = |polygon: u32, line: (Vec2, Vec2)| Place {
            terrace: mesh.polygon(polygon).terrace,
            at_m: (line.0 + line.1) / 2.0,
        };
        let query = Query {
            start: place(link.from, link.start),
            goal: place(link.to, link.landing),
            speed_mps: 1.0,
            ..Query::default()
        };
        // A flight's second costs a meter at one meter a second; one through the air is as long as on the ground at least.
        let flown = link.flight_secs.max(link.start.0.distance(link.landing.0));
        search.find(mesh, &none, &query, &mut path) != Outcome::Found || flown < path.cost
    };
    links.into_iter().filter(|link| is_cheaper(link)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::navigation::Footprints;
    use crate::navigation::mesh::{TerraceGround, build};

    fn square(low_x: f32, high_x: f32) -> [Vec2; 4] {
        [
            Vec2::new(low_x, -1.0),
            Vec2::new(high_x, -1.0),
            Vec2::new(high_x, 1.0),
            Vec2::new(low_x, 1.0),
        ]
    }

    /// Three terraces side by side, each 0.4 m above the one before, a sill of 0.2 m between them.
    fn cascade(solids: &[Solid], swimmers: &[Abilities]) -> (NavMesh, Links) {
        let none = Footprints::default();
        let outlines = [square(0.0, 2.0), square(2.2, 4.2), square(4.4, 6.4)];
        let terraces = outlines.each_ref().map(|outline| TerraceGround {
            outline_m: outline,
            obstacles: &none,
            grow_m: 0.0,
        });
        let mesh = build(&terraces).unwrap();
        let ground = LeapGround {
            heights_m: &[-1.2, -0.8, -0.4],
            solids,
            clearance_m: 0.05,
            reach_m: 1.2,
            heading_rad: 0.6,
        };
        let links = find_links(&mesh, &ground, swimmers);
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
        (mesh, links): &(NavMesh, Links),
        (from, to): ((u16, f32), (u16, f32)),
        abilities: Abilities,
        cooldown_left_secs: f32,
    ) -> (Outcome, MeshPath, u32) {
        let place = |(terrace, x): (u16, f32)| Place {
            terrace,
            at_m: Vec2::new(x, 0.1),
        };
        let query = Query {
            start: place(from),
            goal: place(to),
            abilities,
            cooldown_left_secs,
            speed_mps: 0.5,
            costs: &[],
        };
        let (mut search, mut path) = (MeshSearch::default(), MeshPath::default());
        let outcome = search.find(mesh, links, &query, &mut path);
        (outcome, path, search.expanded())
    }

    #[test]
    fn a_throw_rises_as_high_as_it_must_and_lands_as_high_as_it_should() {
        for rise in [-0.7, -0.1, 0.0, 0.3, 0.9] {
            let flight = Flight::over(rise, 0.15);
            let top = (0..=1000).map(|n| flight.height_m(flight.secs * n as f32 / 1000.0));
            let top = top.fold(0.0, f32::max);
            assert!((top - (rise.max(0.0) + 0.15)).abs() < 1e-3);
            assert!((flight.height_m(flight.secs) - rise).abs() < 1e-3);
        }
    }

    #[test]
    fn salmon_climb_herrings_cannot_and_all_drop() {
        let water = cascade(&[], &[SALMON, HERRING]);
        let up = ((0, 1.0), (2, 5.4));
        let down = ((2, 5.4), (0, 1.0));
        let (outcome, path, _) = find(&water, up, SALMON, 0.0);
        assert_eq!(outcome, Outcome::Found);
        assert_eq!(path.legs.iter().filter(|leg| leg.link.is_some()).count(), 2);
        let (outcome, _, expanded) = find(&water, up, HERRING, 0.0);
        // The one-way drop is known as such without a search.
        assert_eq!((outcome, expanded), (Outcome::Unreachable, 0));
        for swimmer in [SALMON, HERRING] {
            assert_eq!(find(&water, down, swimmer, 0.0).0, Outcome::Found);
        }
        // A swimmer that was not named beforehand is judged all the same.
        let weak = Abilities {
            leap_height_m: 0.3,
            ..SALMON
        };
        assert_eq!(find(&water, up, weak, 0.0).0, Outcome::Unreachable);
    }

    #[test]
    fn a_hop_over_a_wall_in_the_same_water_takes_a_leap() {
        let none = Footprints::default();
        let outlines = [square(0.0, 2.0), square(2.2, 4.2)];
        let terraces = outlines.each_ref().map(|outline| TerraceGround {
            outline_m: outline,
            obstacles: &none,
            grow_m: 0.0,
        });
        let mesh = build(&terraces).unwrap();
        let ground = LeapGround {
            heights_m: &[-0.8, -0.8],
            solids: &[],
            clearance_m: 0.05,
            reach_m: 1.2,
            heading_rad: 0.6,
        };
        let links = find_links(&mesh, &ground, &[SALMON, HERRING]);
        let water = (mesh, links);
        let over = ((0, 1.0), (1, 3.2));
        assert_eq!(find(&water, over, SALMON, 0.0).0, Outcome::Found);
        assert_eq!(find(&water, over, HERRING, 0.0).0, Outcome::Unreachable);
    }

    #[test]
    fn a_leap_that_is_not_ready_on_arrival_is_not_planned() {
        let water = cascade(&[], &[SALMON]);
        // One meter to the sill at half a meter a second.
        let up = ((0, 1.0), (1, 3.2));
        assert_eq!(find(&water, up, SALMON, 1.5).0, Outcome::Found);
        assert_eq!(find(&water, up, SALMON, 30.0).0, Outcome::NotNow);
        // Two leaps: the next terrace takes 2 m, that is 4 s, which the cooldown of 4 s allows, one of 9 s does not.
        let slow = Abilities {
            leap_cooldown_secs: 9.0,
            ..SALMON
        };
        let both = ((0, 1.0), (2, 5.4));
        assert_eq!(find(&water, both, SALMON, 0.0).0, Outcome::Found);
        assert_eq!(find(&water, both, slow, 0.0).0, Outcome::NotNow);
    }

    #[test]
    fn the_small_leap_lower_and_where_the_large_have_no_room() {
        let small = Abilities {
            radius_m: 0.02,
            ..SALMON
        };
        let (mesh, links) = cascade(&[], &[SALMON, small]);
        let of = |radius_m: f32| links.iter().filter(move |l| l.radius_m == radius_m);
        assert_eq!(of(0.05).count(), of(0.02).count());
        for (large, small) in of(0.05).zip(of(0.02)) {
            assert!(
                small.take_off_mps < large.take_off_mps,
                "{small:?} {large:?}"
            );
            assert!(small.flight_secs < large.flight_secs);
        }
        // A roof just above the curve of the small.
        let highest = Flight::over(0.4, 0.07).up_mps.powi(2) / (2.0 * GRAVITY_MPS2);
        let roof = Solid::Box {
            center_m: Vec3::new(2.1, -1.2 + highest + 0.025 + 0.2, 0.0),
            half_m: Vec3::new(1.5, 0.2, 3.0),
            axis: Vec2::X,
        };
        let water = (mesh, links);
        let roofed = cascade(&[roof], &[SALMON, small]);
        let up = ((0, 1.0), (1, 3.2));
        for (abilities, below) in [(SALMON, Outcome::Unreachable), (small, Outcome::Found)] {
            assert_eq!(find(&water, up, abilities, 0.0).0, Outcome::Found);
            assert_eq!(find(&roofed, up, abilities, 0.0).0, below);
        }
    }

    #[test]
    fn no_leap_goes_through_a_roof() {
        let roof = Solid::Box {
            center_m: Vec3::new(2.1, -0.55, 0.0),
            half_m: Vec3::new(0.4, 0.2, 3.0),
            axis: Vec2::X,
        };
        let water = cascade(&[roof], &[SALMON]);
        assert_eq!(
            find(&water, ((0, 1.0), (1, 3.2)), SALMON, 0.0).0,
            Outcome::Unreachable
        );
        assert_eq!(
            find(&water, ((1, 3.2), (2, 5.4)), SALMON, 0.0).0,
            Outcome::Found
        );
    }

    #[test]
    fn danger_is_gone_round_and_a_price_below_one_still_finds_the_cheapest() {
        let mut obstacles = Footprints::default();
        obstacles.push_box(Vec2::new(1.0, 0.0), Vec2::new(0.2, 0.4), Vec2::X);
        let outline = square(0.0, 2.0);
        let mesh = build(&[TerraceGround {
            outline_m: &outline,
            obstacles: &obstacles,
            grow_m: 0.0,
        }])
        .unwrap();
        let links = Links::new(&mesh, Vec::new(), &[]);
        let side = |costs: &[f32]| {
            let place = |x| Place {
                terrace: 0,
                at_m: Vec2::new(x, 0.05),
            };
            let query = Query {
                start: place(0.2),
                goal: place(1.8),
                abilities: HERRING,
                cooldown_left_secs: 0.0,
                speed_mps: 1.0,
                costs,
            };
            let (mut search, mut path) = (MeshSearch::default(), MeshPath::default());
            assert_eq!(
                search.find(&mesh, &links, &query, &mut path),
                Outcome::Found
            );
            path.points_m[0].y
        };
        assert!(side(&[]) > 0.0);
        let middles = || (0..mesh.len() as u32).map(|place| mesh.polygon(place).middle.y);
        let danger: Vec<f32> = middles().map(|y| if y > 0.0 { 9.0 } else { 1.0 }).collect();
        let desire: Vec<f32> = middles().map(|y| if y > 0.0 { 1.0 } else { 0.3 }).collect();
        assert!(side(&danger) < 0.0 && side(&desire) < 0.0);
    }
}
