//! The simple school: one destination at a time, chosen by rules that override each other, and a heading shared with the near.
//!
//! **Source**: 'KI-Programmierung Teil 12: Flocking' (seed 002), `CBoid`, with three corrections. Two of 5-navigation.md D: keeping
//! apart leads to a place beside oneself instead of beside the world's origin, and the centroid is taken over a circle wide
//! enough that one can be too far from it. One of ours: who keeps apart
//! averages no headings, or a knot of three shares one heading and never parts. All headings are those of before the step, whereas the source averages in place.

use glam::Vec3;

/// The numbers of the rules. The source gives squares of distances, here are the distances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimpleRules {
    /// Farther than this from the centroid one turns to it.
    pub cohesion_m: f32,
    /// Others within this count for the centroid; infinite: all.
    pub centroid_radius_m: f32,
    /// Nearer than this to the nearest one turns away from it.
    pub separation_m: f32,
    /// How many times its distance one then goes off.
    pub separation_reach: f32,
    /// Headings of others within this are averaged.
    pub alignment_radius_m: f32,
    /// Cosine of the angle to the wanted heading from which on one goes straight on.
    pub aligned_cos: f32,
    /// Within this of its destination one stops.
    pub stop_m: f32,
}

/// Another one of the school.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mate {
    /// Its place, seen from one's own.
    pub offset_m: Vec3,
    /// Unit vector to where its rules send it.
    pub heading: Vec3,
}

/// What the rules want.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimpleWish {
    /// Where the rules send it before headings are averaged: what others average.
    pub heading: Vec3,
    /// Unit vector that it is to swim along now.
    pub course: Vec3,
    /// Whether it is there already.
    pub stops: bool,
}

impl SimpleRules {
    /// Applies the rules to one that swims along `forward` and whose goal is at `goal_m` from its place.
    pub fn apply(
        &self,
        forward: Vec3,
        goal_m: Vec3,
        mates: impl Iterator<Item = Mate> + Clone,
    ) -> SimpleWish {
        let (destination, keeps_apart) = self.destination(goal_m, mates.clone());
        let heading = destination.normalize_or(forward);
        let near = self.alignment_radius_m * self.alignment_radius_m;
        let sum: Vec3 = mates
            .filter(|_| !keeps_apart)
            .filter(|mate| mate.offset_m.length_squared() < near)
            .map(|mate| mate.heading)
            .sum();
        let mean = (sum + heading).normalize_or(heading);
        SimpleWish {
            heading,
            course: if mean.dot(forward) > self.aligned_cos {
                forward
            } else {
                mean
            },
            stops: destination.length() < self.stop_m,
        }
    }

    /// Where it goes, from its place, and whether that is to keep apart: which comes before keeping together, that before the goal.
    fn destination(&self, goal_m: Vec3, mates: impl Iterator<Item = Mate> + Clone) -> (Vec3, bool) {
        let nearest = mates
            .clone()
            .map(|mate| mate.offset_m)
            .min_by(|a, b| a.length_squared().total_cmp(&b.length_squared()));
        if let Some(nearest) = nearest
            && nearest.length() < self.separation_m
        {
            return (-nearest * self.separation_reach, true);
        }
        let within = self.centroid_radius_m * self.centroid_radius_m;
        // Oneself is one of them, at no distance.
        let (sum, count) = mates
            .map(|mate| mate.offset_m)
            .filter(|offset| offset.length_squared() < within)
            .fold((Vec3::ZERO, 1.0), |(sum, count), offset| {
                (sum + offset, count + 1.0)
            });
        let centroid = sum / count;
        if centroid.length() > self.cohesion_m {
            return (centroid, false);
        }
        (goal_m, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The source's own numbers, but for the circle of the centroid.
    fn rules() -> SimpleRules {
        SimpleRules {
            cohesion_m: 100f32.sqrt(),
            centroid_radius_m: f32::INFINITY,
            separation_m: 20f32.sqrt(),
            separation_reach: 50.0,
            alignment_radius_m: 10f32.sqrt(),
            aligned_cos: 0.95,
            stop_m: 0.3f32.sqrt(),
        }
    }

    fn mate(offset_m: Vec3, heading: Vec3) -> Mate {
        Mate { offset_m, heading }
    }

    fn wish(rules: &SimpleRules, goal_m: Vec3, mates: &[Mate]) -> SimpleWish {
        rules.apply(Vec3::X, goal_m, mates.iter().copied())
    }

    #[test]
    fn alone_it_turns_to_its_goal_and_stops_there() {
        let rules = rules();
        let far = wish(&rules, Vec3::Z * 9.0, &[]);
        assert_eq!(
            (far.heading, far.course, far.stops),
            (Vec3::Z, Vec3::Z, false)
        );
        assert!(wish(&rules, Vec3::Z * 0.54, &[]).stops, "0.54² < 0.3");
        assert!(!wish(&rules, Vec3::Z * 0.55, &[]).stops, "0.55² > 0.3");
        let there = wish(&rules, Vec3::ZERO, &[]);
        assert_eq!(
            there.course,
            Vec3::X,
            "on the goal itself it keeps its heading"
        );
    }

    #[test]
    fn it_turns_until_the_cosine_is_reached() {
        let at = |deg: f32| {
            let (sin, cos) = deg.to_radians().sin_cos();
            wish(&rules(), Vec3::new(cos, 0.0, sin) * 9.0, &[]).course
        };
        assert_eq!(at(18.0), Vec3::X, "cos 18° = 0.951");
        assert!(at(18.4).z > 0.3, "cos 18.4° = 0.949");
    }

    #[test]
    fn the_centroid_calls_only_who_is_too_far_from_it() {
        let rules = rules();
        // Of three, oneself included, the centroid is two thirds of the others' way off.
        let others = |x: f32| [mate(Vec3::X * -x, Vec3::X); 2];
        assert_eq!(wish(&rules, Vec3::X * 9.0, &others(14.9)).heading, Vec3::X);
        assert_eq!(
            wish(&rules, Vec3::X * 9.0, &others(15.1)).heading,
            Vec3::NEG_X
        );
        // As the source has it, over those within 5, it never can.
        let source = SimpleRules {
            centroid_radius_m: 5.0,
            ..rules
        };
        for x in [4.9, 5.1, 15.1, 500.0] {
            assert_eq!(wish(&source, Vec3::X * 9.0, &others(x)).heading, Vec3::X);
        }
    }

    #[test]
    fn keeping_apart_comes_first_and_leads_to_a_place_beside_oneself() {
        let rules = rules();
        let crowd = [
            mate(Vec3::new(0.0, 0.0, 4.4), Vec3::X),
            mate(Vec3::X * -40.0, Vec3::X),
        ];
        let away = wish(&rules, Vec3::X, &crowd).heading;
        assert!(away.distance(Vec3::NEG_Z) < 1e-6, "4.4² < 20: {away}");
        let wider = [mate(Vec3::new(0.0, 0.0, 4.5), Vec3::X), crowd[1]];
        let (to_middle, _) = rules.destination(Vec3::X, wider.into_iter());
        assert_eq!(to_middle.x, -40.0 / 3.0);
        let apart = rules.destination(Vec3::X, crowd.into_iter());
        assert_eq!(apart, (Vec3::Z * -220.0, true), "50 times as far");
    }

    #[test]
    fn headings_of_the_near_and_the_own_are_averaged() {
        let rules = SimpleRules {
            separation_m: 1.0,
            ..rules()
        };
        let near = mate(Vec3::new(3.1, 0.0, 0.0), Vec3::Z);
        let far = mate(Vec3::new(0.0, 0.0, 3.2), Vec3::NEG_Z);
        let found = wish(&rules, Vec3::NEG_X * 99.0, &[near, far]);
        let wanted = (Vec3::Z + Vec3::NEG_X).normalize();
        assert!(found.course.distance(wanted) < 1e-6, "{}", found.course);
        assert_eq!(
            found.heading,
            Vec3::NEG_X,
            "others average what it was before"
        );
    }

    #[test]
    fn a_knot_of_three_parts() {
        let rules = rules();
        let mut places = [
            Vec3::ZERO,
            Vec3::new(0.5, 0.0, 0.0),
            Vec3::new(0.0, 0.0, 0.6),
        ];
        let mut forwards = [Vec3::X; 3];
        for _ in 0..200 {
            let before = (places, forwards);
            for me in 0..3 {
                let others = (0..3).filter(|&other| other != me);
                let mates =
                    others.map(|other| mate(before.0[other] - before.0[me], before.1[other]));
                let wish = rules.apply(before.1[me], Vec3::X * 99.0, mates);
                forwards[me] = wish.course;
                places[me] += wish.course * 0.05;
            }
        }
        let nearest = places[0]
            .distance(places[1])
            .min(places[1].distance(places[2]))
            .min(places[2].distance(places[0]));
        assert!(nearest > 3.0, "{nearest}");
    }
}
