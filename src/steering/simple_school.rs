//! The simple school. Each member chooses one destination by rules with a fixed priority. The member then averages its
//! heading to this destination with the headings of near schoolmates.
//!
//! **Source**: Flocking tutorial, class `CBoid`, with three corrections. Separation leads away from the nearest
//! schoolmate instead of from the world's origin. The centroid is computed over a circle that is wide enough for a
//! member to be too far from the centroid. A member that separates does not average headings; otherwise three members
//! close together share one heading and never separate. Headings are averaged from the state before the tick, whereas
//! the source updates them in place.

use glam::Vec3;

/// Parameters of the rules. The source gives squared distances; the distances here are not squared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimpleSchoolRules {
    /// If a member is farther than this from the centroid, it turns to the centroid.
    pub cohesion_m: f32,
    /// Radius within which schoolmates count for the centroid. If it is infinite, all schoolmates count.
    pub centroid_radius_m: f32,
    /// If the nearest schoolmate is nearer than this, a member turns away from it.
    pub separation_m: f32,
    /// Distance to the destination of a separation, as a multiple of the distance to the nearest schoolmate.
    pub separation_reach: f32,
    /// Radius within which a member averages the headings of schoolmates.
    pub alignment_radius_m: f32,
    /// If the cosine of the angle to the desired heading is above this, the member swims straight on.
    pub aligned_cos: f32,
    /// Distance to the destination within which a member stops.
    pub stop_m: f32,
}

/// Another member of the school.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schoolmate {
    /// Position relative to the steering member.
    pub offset_m: Vec3,
    /// Unit vector to the schoolmate's destination.
    pub heading: Vec3,
    /// Whether it has the same goal as the steering member. The centroid and the mean heading count only such mates, so
    /// that a school of equals can split. Every mate counts for separation.
    pub is_in_school: bool,
}

/// Result of the rules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimpleDecision {
    /// Unit vector to the destination, before headings are averaged. Schoolmates use this vector for their averages.
    pub heading: Vec3,
    /// Direction in which the member swims now, as a unit vector.
    pub course: Vec3,
    /// Whether the member stops, because the destination is nearer than `stop_m`.
    pub stops: bool,
}

impl SimpleSchoolRules {
    /// Applies the rules to a member that moves in direction `forward`. `goal_m` is the goal relative to the member.
    pub fn apply(
        &self,
        forward: Vec3,
        goal_m: Vec3,
        schoolmates: impl Iterator<Item = Schoolmate> + Clone,
    ) -> SimpleDecision {
        let (destination, is_separation) = self.destination(goal_m, schoolmates.clone());
        let heading = destination.normalize_or(forward);
        let near = self.alignment_radius_m * self.alignment_radius_m;
        let sum: Vec3 = schoolmates
            .filter(|schoolmate| !is_separation && schoolmate.is_in_school)
            .filter(|schoolmate| schoolmate.offset_m.length_squared() < near)
            .map(|schoolmate| schoolmate.heading)
            .sum();
        let mean = (sum + heading).normalize_or(heading);
        SimpleDecision {
            heading,
            course: if mean.dot(forward) > self.aligned_cos {
                forward
            } else {
                mean
            },
            stops: destination.length() < self.stop_m,
        }
    }

    /// Returns the destination relative to the member, and whether the separation rule chose it. Separation has
    /// priority over cohesion, and cohesion over the goal.
    fn destination(
        &self,
        goal_m: Vec3,
        schoolmates: impl Iterator<Item = Schoolmate> + Clone,
    ) -> (Vec3, bool) {
        let nearest = schoolmates
            .clone()
            .map(|schoolmate| schoolmate.offset_m)
            .min_by(|a, b| a.length_squared().total_cmp(&b.length_squared()));
        if let Some(nearest) = nearest
            && nearest.length() < self.separation_m
        {
            return (-nearest * self.separation_reach, true);
        }
        let radius_sq = self.centroid_radius_m * self.centroid_radius_m;
        // The member itself also counts for the centroid.
        let (sum, count) = schoolmates
            .filter(|schoolmate| schoolmate.is_in_school)
            .map(|schoolmate| schoolmate.offset_m)
            .filter(|offset| offset.length_squared() < radius_sq)
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

    /// Returns the parameters of the source, except for the radius of the centroid.
    fn rules() -> SimpleSchoolRules {
        SimpleSchoolRules {
            cohesion_m: 100f32.sqrt(),
            centroid_radius_m: f32::INFINITY,
            separation_m: 20f32.sqrt(),
            separation_reach: 50.0,
            alignment_radius_m: 10f32.sqrt(),
            aligned_cos: 0.95,
            stop_m: 0.3f32.sqrt(),
        }
    }

    fn schoolmate(offset_m: Vec3, heading: Vec3) -> Schoolmate {
        Schoolmate {
            offset_m,
            heading,
            is_in_school: true,
        }
    }

    fn decide(
        rules: &SimpleSchoolRules,
        goal_m: Vec3,
        schoolmates: &[Schoolmate],
    ) -> SimpleDecision {
        rules.apply(Vec3::X, goal_m, schoolmates.iter().copied())
    }

    #[test]
    fn a_single_member_turns_to_its_goal_and_stops_there() {
        let rules = rules();
        let far = decide(&rules, Vec3::Z * 9.0, &[]);
        assert_eq!(
            (far.heading, far.course, far.stops),
            (Vec3::Z, Vec3::Z, false)
        );
        assert!(decide(&rules, Vec3::Z * 0.54, &[]).stops, "0.54² < 0.3");
        assert!(!decide(&rules, Vec3::Z * 0.55, &[]).stops, "0.55² > 0.3");
        let there = decide(&rules, Vec3::ZERO, &[]);
        assert_eq!(there.course, Vec3::X, "at the goal it keeps its heading");
    }

    #[test]
    fn a_member_turns_until_the_cosine_is_reached() {
        let at = |deg: f32| {
            let (sin, cos) = deg.to_radians().sin_cos();
            decide(&rules(), Vec3::new(cos, 0.0, sin) * 9.0, &[]).course
        };
        assert_eq!(at(18.0), Vec3::X, "cos 18° = 0.951");
        assert!(at(18.4).z > 0.3, "cos 18.4° = 0.949");
    }

    #[test]
    fn cohesion_acts_only_far_from_the_centroid() {
        let rules = rules();
        // The member and two others at one position: the centroid is at two thirds of the distance to the others.
        let others = |x: f32| [schoolmate(Vec3::X * -x, Vec3::X); 2];
        assert_eq!(
            decide(&rules, Vec3::X * 9.0, &others(14.9)).heading,
            Vec3::X
        );
        assert_eq!(
            decide(&rules, Vec3::X * 9.0, &others(15.1)).heading,
            Vec3::NEG_X
        );
        // With the radius of the source, 5 m, the centroid is always nearer than `cohesion_m`, so cohesion never acts.
        let source = SimpleSchoolRules {
            centroid_radius_m: 5.0,
            ..rules
        };
        for x in [4.9, 5.1, 15.1, 500.0] {
            assert_eq!(decide(&source, Vec3::X * 9.0, &others(x)).heading, Vec3::X);
        }
    }

    #[test]
    fn separation_comes_first_and_leads_away_from_the_nearest() {
        let rules = rules();
        let crowd = [
            schoolmate(Vec3::new(0.0, 0.0, 4.4), Vec3::X),
            schoolmate(Vec3::X * -40.0, Vec3::X),
        ];
        let away = decide(&rules, Vec3::X, &crowd).heading;
        assert!(away.distance(Vec3::NEG_Z) < 1e-6, "4.4² < 20: {away}");
        let wider = [schoolmate(Vec3::new(0.0, 0.0, 4.5), Vec3::X), crowd[1]];
        let (to_middle, _) = rules.destination(Vec3::X, wider.into_iter());
        assert_eq!(to_middle.x, -40.0 / 3.0);
        let apart = rules.destination(Vec3::X, crowd.into_iter());
        assert_eq!(apart, (Vec3::Z * -220.0, true), "50 times as far");
    }

    #[test]
    fn own_and_near_headings_are_averaged() {
        let rules = SimpleSchoolRules {
            separation_m: 1.0,
            ..rules()
        };
        let near = schoolmate(Vec3::new(3.1, 0.0, 0.0), Vec3::Z);
        let far = schoolmate(Vec3::new(0.0, 0.0, 3.2), Vec3::NEG_Z);
        let found = decide(&rules, Vec3::NEG_X * 99.0, &[near, far]);
        let wanted = (Vec3::Z + Vec3::NEG_X).normalize();
        assert!(found.course.distance(wanted) < 1e-6, "{}", found.course);
        // Schoolmates average the heading before averaging.
        assert_eq!(found.heading, Vec3::NEG_X);
    }

    #[test]
    fn three_members_close_together_separate() {
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
                let schoolmates =
                    others.map(|other| schoolmate(before.0[other] - before.0[me], before.1[other]));
                let decide = rules.apply(before.1[me], Vec3::X * 99.0, schoolmates);
                forwards[me] = decide.course;
                places[me] += decide.course * 0.05;
            }
        }
        let nearest = places[0]
            .distance(places[1])
            .min(places[1].distance(places[2]))
            .min(places[2].distance(places[0]));
        assert!(nearest > 3.0, "{nearest}");
    }
}
