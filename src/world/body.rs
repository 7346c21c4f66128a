//! Parameters of one species' body, motion, perception and flock: plain numbers, one struct per table of a species file.
//! Nothing is computed here but the rules between fields that a range cannot say.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::terrace::LeapParams;

/// Size of one individual.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BodyParams {
    /// From nose to tail.
    #[schemars(range(min = 0.01, max = 20.0))]
    pub length_m: f32,
    /// Radius of the sphere that stands for the body wherever distances and contacts count.
    #[schemars(range(min = 0.005, max = 5.0))]
    pub radius_m: f32,
    /// Mass: the same force turns and speeds up a heavier body less.
    #[schemars(range(min = 0.01, max = 1000.0))]
    pub mass_kg: f32,
    /// How much individuals differ in size, as a share of it: 0.1 gives 0.9 to 1.1 of length and radius.
    #[schemars(range(min = 0.0, max = 0.5))]
    pub size_spread: f32,
}

impl Default for BodyParams {
    fn default() -> Self {
        Self {
            length_m: 0.3,
            radius_m: 0.08,
            mass_kg: 1.0,
            size_spread: 0.1,
        }
    }
}

/// What the vehicle can do. **Source**: Reynolds 1999; boost, agility and banking 2-behavior.md section 2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MotionParams {
    /// Speed that is allowed when nothing asks for more.
    #[schemars(range(min = 0.0, max = 50.0))]
    pub cruise_mps: f32,
    /// Speed that a full boost allows; at least the cruise speed.
    #[schemars(range(min = 0.0, max = 50.0))]
    pub boost_mps: f32,
    /// Speed below which it never falls: a fish glides, it does not stand. 0 lets it stand.
    #[schemars(range(min = 0.0, max = 50.0))]
    pub min_speed_mps: f32,
    /// Largest steering force; what an action asks for beyond it is cut off.
    #[schemars(range(min = 0.0, max = 10000.0))]
    pub max_force_n: f32,
    /// Time constant with which the body answers its wishes; short is nimble and may tremble, long is sluggish. A turn in
    /// place answers at once.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub response_secs: f32,
    /// Agility: how fast the direction may change. Lifted for the step in which an action turns in place.
    #[schemars(range(min = 0.0, max = 100000.0))]
    pub max_turn_rate_dps: f32,
    /// Steepest climb and dive, against the horizontal.
    #[schemars(range(min = 0.0, max = 90.0))]
    pub max_climb_deg: f32,
    /// Time constant with which climbing and diving fade into level swimming; 0: it keeps its slope.
    #[schemars(range(min = 0.0, max = 600.0))]
    pub level_secs: f32,
    /// How far it leans into a curve, per unit of sideways acceleration.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub lean_gain: f32,
    /// How strongly it rights itself; against `lean_gain` it decides how far a curve tilts it.
    #[schemars(range(min = 0.001, max = 100.0))]
    pub right_gain: f32,
    /// Time constant with which leaning follows the curve; short is nervous, long is sluggish.
    #[schemars(range(min = 0.0, max = 60.0))]
    pub blend_secs: f32,
    /// What touching an obstacle does to the motion.
    pub collision: CollisionResponse,
    /// Share of the speed into the obstacle that a bounce gives back.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub restitution: f32,
    /// How much of the speed along the obstacle a contact takes away, as a share of the speed into it.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub friction: f32,
    /// Leaping from terrace to terrace.
    pub leap: LeapParams,
}

impl Default for MotionParams {
    fn default() -> Self {
        Self {
            cruise_mps: 0.35,
            boost_mps: 1.4,
            min_speed_mps: 0.08,
            max_force_n: 4.0,
            response_secs: 0.08,
            max_turn_rate_dps: 220.0,
            max_climb_deg: 25.0,
            level_secs: 1.5,
            lean_gain: 0.3,
            right_gain: 1.0,
            blend_secs: 0.3,
            collision: CollisionResponse::Slide,
            restitution: 0.4,
            friction: 0.05,
            leap: LeapParams::default(),
        }
    }
}

impl MotionParams {
    /// Rules between fields, as (path inside this table, sentence).
    pub fn problems(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        if self.boost_mps < self.cruise_mps {
            found.push((
                "boost_mps".into(),
                format!(
                    "boost_mps = {} is slower than cruise_mps = {}; raise it to at least the cruise speed",
                    self.boost_mps, self.cruise_mps
                ),
            ));
        }
        if self.min_speed_mps > self.cruise_mps {
            found.push((
                "min_speed_mps".into(),
                format!(
                    "min_speed_mps = {} is faster than cruise_mps = {}; lower it",
                    self.min_speed_mps, self.cruise_mps
                ),
            ));
        }
        found
    }
}

/// What touching an obstacle does to the motion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CollisionResponse {
    /// The part of the motion into the obstacle is lost, the rest goes on along it.
    #[default]
    Slide,
    /// The part of the motion into the obstacle is thrown back, by the restitution.
    Bounce,
    /// It stops at the obstacle and starts anew, along it.
    PushOut,
}

/// What an individual notices of others. **Source**: Tu 1996 as the main source tells it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PerceptionParams {
    /// How far it sees others. Costs time with its square where it is crowded.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub sight_radius_m: f32,
    /// How far it sees its prey; at least the sight radius.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub prey_sight_radius_m: f32,
    /// Whole angle it sees, around straight ahead; it is blind behind.
    #[schemars(range(min = 0.0, max = 360.0))]
    pub field_of_view_deg: f32,
    /// How much earlier larger ones are seen: the radius grows by this share for each time the other's radius exceeds
    /// its own. 0 switches it off.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub size_gain: f32,
}

impl Default for PerceptionParams {
    fn default() -> Self {
        Self {
            sight_radius_m: 1.5,
            prey_sight_radius_m: 2.0,
            field_of_view_deg: 300.0,
            size_gain: 0.0,
        }
    }
}

impl PerceptionParams {
    /// Rules between fields, as (path inside this table, sentence).
    pub fn problems(&self) -> Vec<(String, String)> {
        if self.prey_sight_radius_m >= self.sight_radius_m {
            return Vec::new();
        }
        vec![(
            "prey_sight_radius_m".into(),
            format!(
                "prey_sight_radius_m = {} is shorter than sight_radius_m = {}; raise it to at least the sight radius",
                self.prey_sight_radius_m, self.sight_radius_m
            ),
        )]
    }
}

/// How a species schools. **Source**: Reynolds 1987; factors of table 1 of the main source.
///
/// Each part's radius and weight follow from `radius_m` and `weight` unless it sets its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FlockParams {
    /// Flock radius r: separation acts within r, alignment within 1.5 r, cohesion within 2 r.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub radius_m: f32,
    /// Flock weight g: separation weighs 1.5 g, alignment and cohesion g.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Neighbors nearer than this count at any angle. Absent: three times the body's radius.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub always_radius_m: Option<f32>,
    /// Each part is stretched to its full force, except where there is hardly a wish: in full order it fades. Larger
    /// is calmer; 0 stretches all, as the sources do, and lets a school that is nearly in order tremble.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub soften: f32,
    /// Keeping apart.
    pub separation: SeparationParams,
    /// Swimming the same way.
    pub alignment: AlignmentParams,
    /// Keeping together.
    pub cohesion: CohesionParams,
}

impl Default for FlockParams {
    fn default() -> Self {
        Self {
            radius_m: 0.4,
            weight: 1.0,
            always_radius_m: None,
            soften: 0.5,
            separation: SeparationParams::default(),
            alignment: AlignmentParams::default(),
            cohesion: CohesionParams::default(),
        }
    }
}

macro_rules! flock_part {
    ($(#[$doc:meta])* $name:ident, $angle:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            /// How far it reaches. Absent: follows from the flock radius.
            #[schemars(range(min = 0.0, max = 100.0))]
            pub radius_m: Option<f32>,
            /// Angle from straight ahead to each side within which others count.
            #[schemars(range(min = 0.0, max = 180.0))]
            pub angle_deg: f32,
            /// Force of this part. Absent: follows from the flock weight.
            #[schemars(range(min = 0.0, max = 1000.0))]
            pub weight: Option<f32>,
        }

        impl Default for $name {
            fn default() -> Self {
                Self { radius_m: None, angle_deg: $angle, weight: None }
            }
        }
    };
}
flock_part!(
    /// Keeping apart: by default within the flock radius, 135° to each side, 1.5 times the flock weight.
    SeparationParams,
    135.0
);
flock_part!(
    /// Swimming the same way: by default within 1.5 flock radii, 45° to each side, the flock weight.
    AlignmentParams,
    45.0
);
flock_part!(
    /// Keeping together: by default within 2 flock radii, 99° to each side, the flock weight.
    CohesionParams,
    99.0
);

impl FlockParams {
    /// Radius, angle and weight of separation, alignment and cohesion, with what is absent filled in.
    pub fn parts(&self) -> [FlockPart; 3] {
        let part = |radius: Option<f32>, factor, angle_deg, weight: Option<f32>, share| FlockPart {
            radius_m: radius.unwrap_or(self.radius_m * factor),
            angle_deg,
            weight: weight.unwrap_or(self.weight * share),
        };
        let (s, a, c) = (&self.separation, &self.alignment, &self.cohesion);
        [
            part(s.radius_m, 1.0, s.angle_deg, s.weight, 1.5),
            part(a.radius_m, 1.5, a.angle_deg, a.weight, 1.0),
            part(c.radius_m, 2.0, c.angle_deg, c.weight, 1.0),
        ]
    }

    /// Radii that reach farther than the eye, as (path inside this table, sentence).
    pub fn warnings(&self, sight_radius_m: f32) -> Vec<(String, String)> {
        ["separation", "alignment", "cohesion"]
            .into_iter()
            .zip(self.parts())
            .filter(|(_, part)| part.weight > 0.0 && part.radius_m > sight_radius_m)
            .map(|(name, part)| {
                (
                    name.to_owned(),
                    format!(
                        "the {name} radius of {} m is beyond sight_radius_m = {sight_radius_m}: nobody farther than that counts; \
                         raise the sight radius or lower this one",
                        part.radius_m
                    ),
                )
            })
            .collect()
    }
}

/// One of the three parts of flocking, with everything filled in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlockPart {
    /// How far it reaches.
    pub radius_m: f32,
    /// Angle from straight ahead to each side.
    pub angle_deg: f32,
    /// Force of this part.
    pub weight: f32,
}
