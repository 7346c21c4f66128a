//! Parameters of a species' body, motion, perception and flocking: one struct per table of a species file. The functions
//! `problems` check the rules between several fields, which the range of a single field cannot express.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::terrace::LeapParams;

/// Size of one individual.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BodyParams {
    /// Length from nose to tail, for the simulation. The picture shows `look.length_m`. Higher: swims farther out of sight before
    /// it comes back at an edge, and bends more slowly in a fast start. Lower: comes back sooner and starts faster.
    #[schemars(range(min = 0.01, max = 20.0))]
    pub length_m: f32,
    /// Radius of the sphere that represents the body in distances and contacts. Higher: keeps a larger gap to stones and other
    /// agents. Lower: comes closer; far below half of the width of the model, bodies overlap in the picture.
    #[schemars(range(min = 0.005, max = 5.0))]
    pub radius_m: f32,
    /// Width from left to right, for a body that is wider than its sphere, such as a ray: the gap between the tips of its wings.
    /// If absent: twice the radius. Higher: keeps its wings clear of stones, of other agents and of shadows, and comes through
    /// wide gaps only. Lower: comes closer, and its wings may overlap them in the picture.
    #[schemars(range(min = 0.01, max = 40.0))]
    pub width_m: Option<f32>,
    /// Mass. Higher: the same force turns and accelerates the fish less, it looks heavy. Lower: it is nimble.
    #[schemars(range(min = 0.01, max = 1000.0))]
    pub mass_kg: f32,
    /// Maximum difference of an individual's size from the species' size, as a share: with 0.1, an individual has 0.9 to 1.1 times
    /// this length and radius. Higher: small ones are clearly nimbler than large ones. Lower: all move alike. The picture shows
    /// `look.length_variation`.
    #[schemars(range(min = 0.0, max = 0.5))]
    pub size_spread: f32,
}

impl Default for BodyParams {
    fn default() -> Self {
        Self {
            length_m: 0.3,
            radius_m: 0.08,
            width_m: None,
            mass_kg: 1.0,
            size_spread: 0.1,
        }
    }
}

impl BodyParams {
    /// Half of the width of the body.
    pub fn half_width_m(&self) -> f32 {
        self.width_m
            .map_or(self.radius_m, |m| (m / 2.0).max(self.radius_m))
    }

    /// The larger of length and width: how far the body must be from the edge of the picture to be out of sight.
    pub fn span_m(&self) -> f32 {
        self.length_m.max(self.width_m.unwrap_or(0.0))
    }

    /// Multiplies length, radius and width.
    pub fn scale(&mut self, factor: f32) {
        self.length_m *= factor;
        self.radius_m *= factor;
        self.width_m = self.width_m.map(|width_m| width_m * factor);
    }
}

/// Abilities and limits of the motion. **Source**: Reynolds 1999, "The vehicle model".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MotionParams {
    /// Maximum speed without a boost. Higher: a lively pool. Lower: a calm one.
    #[schemars(range(min = 0.0, max = 50.0))]
    pub cruise_mps: f32,
    /// Maximum speed with a full boost. Must not be below the cruise speed. Higher: sudden, far sprints when it flees or hunts.
    /// Lower: its flight hardly differs from cruising.
    #[schemars(range(min = 0.0, max = 50.0))]
    pub boost_mps: f32,
    /// Minimum speed. With a value above 0, the fish never stands still. Higher: always on the move, and turns in wide curves where
    /// it would wait. Lower: can hover almost at rest; 0: can stand still.
    #[schemars(range(min = 0.0, max = 50.0))]
    pub min_speed_mps: f32,
    /// Maximum steering force. Larger forces are reduced to this value. Higher: quick turns, starts and stops. Lower: wide curves,
    /// and slow to get going.
    #[schemars(range(min = 0.0, max = 10000.0))]
    pub max_force_n: f32,
    /// Time constant with which the steering force follows the force that the actions request. Not applied to a turn in place.
    /// Higher: slow to react, soft curves. Lower: agile, and may jitter.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub response_secs: f32,
    /// Maximum turn rate. Not applied in a tick in which an action turns the fish in place. Higher: turns on the spot. Lower: large
    /// arcs, like a shark.
    #[schemars(range(min = 0.0, max = 100000.0))]
    pub max_turn_rate_dps: f32,
    /// Maximum angle of climbing and diving against the horizontal. Higher: swims steeply up and down. Lower: stays level; 0: never
    /// changes its depth by itself.
    #[schemars(range(min = 0.0, max = 90.0))]
    pub max_climb_deg: f32,
    /// Time constant with which the body returns to horizontal swimming after a climb or dive. Higher: holds a climb or dive for
    /// long. Lower: swims level again at once; but with 0, the body does not return on its own.
    #[schemars(range(min = 0.0, max = 600.0))]
    pub level_secs: f32,
    /// Strength with which the body leans into a curve, per m/s² of sideways acceleration. Higher: leans far into curves. Lower:
    /// stays upright; 0: always.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub lean_gain: f32,
    /// Strength with which the body returns to upright. The ratio of `lean_gain` to `right_gain` determines the tilt in a curve.
    /// Higher: stays upright in curves. Lower: leans far over.
    #[schemars(range(min = 0.001, max = 100.0))]
    pub right_gain: f32,
    /// Time constant with which the tilt follows the curve. Higher: tilts slowly, looks heavy. Lower: tilts at once, looks nervous.
    #[schemars(range(min = 0.0, max = 60.0))]
    pub blend_secs: f32,
    /// Response of the motion to a contact with an obstacle.
    pub collision: CollisionResponse,
    /// Speed away from the obstacle after a bounce, as a share of the speed towards the obstacle before. Used if `collision` is
    /// `bounce`. Higher: bounces back from stones. Lower: stays near them; 0: loses its speed towards the stone.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub restitution: f32,
    /// Loss of speed along the obstacle at a contact, as a share of the speed towards the obstacle. Higher: a touched stone brakes
    /// the fish. Lower: it slides along the stone without a loss.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub friction: f32,
    /// Limits while the agent cruises: while it neither flees nor is hurried by a boost.
    #[schemars(title = "Limits when cruising")]
    pub cruise: CruiseParams,
    /// Bursts and glides of a cruising agent.
    pub glide: GlideParams,
    /// The fast start of a flight.
    pub start: StartParams,
    /// Ability to leap between terraces.
    pub leap: LeapParams,
    /// Walking on the ground.
    pub walk: WalkParams,
    /// Limits of the motion that `shoal life` checks. They do not change the motion.
    #[schemars(title = "Checked by shoal life")]
    pub wanted: WantedMotion,
}

/// Limits of the motion of a species without visitors, in figures that can be compared with real fish. `shoal life` reports a
/// species that violates them, unless it leaps between terraces. An absent limit is not checked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WantedMotion {
    /// Smallest share of straight sections, if the path is judged in sections of 2 s. Higher: also a fish that curves a little is reported. Lower: only one
    /// that hardly ever swims straight on.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub straight_share_min: Option<f32>,
    /// Largest turn rate, exceeded only in a tenth of the time. Higher: sharp turns are allowed. Lower: also wide ones are reported.
    #[schemars(range(min = 0.0, max = 100000.0))]
    pub turn_90_dps_max: Option<f32>,
    /// Largest number of changes of the turning side per second: more looks like trembling. Higher: a restless course is allowed.
    /// Lower: only a calm one.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub flips_per_sec_max: Option<f32>,
    /// Smallest number of bursts per second. Higher: a fish that swims steadily is reported. Lower: it is allowed.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub bursts_per_sec_min: Option<f32>,
    /// Smallest share of the time in which an agent becomes slower: it glides. Higher: a fish without long glides is reported. Lower:
    /// it is allowed.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub slowing_share_min: Option<f32>,
    /// Smallest median polarization: 1 if all agents swim in the same direction. Higher: only a strict school is allowed. Lower: also
    /// a loose one.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub polarization_min: Option<f32>,
    /// Largest median angle between the heading of an agent and that of its three nearest mates. Higher: a loose cloud is allowed.
    /// Lower: only a strict school.
    #[schemars(range(min = 0.0, max = 180.0))]
    pub local_heading_deg_max: Option<f32>,
}

/// Limits of a cruising agent. A flight has the limits of the species.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CruiseParams {
    /// Maximum steering force while the agent cruises. If absent: `max_force_n`. Higher: quick turns also without danger. Lower:
    /// calm, wide curves until it flees.
    #[schemars(range(min = 0.0, max = 10000.0))]
    pub max_force_n: Option<f32>,
    /// Maximum turn rate while the agent cruises. If absent: `max_turn_rate_dps`. Higher: turns fast also without danger. Lower:
    /// calm, wide curves until it flees.
    #[schemars(range(min = 0.0, max = 100000.0))]
    pub max_turn_rate_dps: Option<f32>,
    /// Angle between heading and wanted course at which the agent begins to turn. Below it, the agent swims straight on. Higher:
    /// long straight ways between clear turns. Lower: small corrections all the time; 0: follows every change of its wanted course
    /// at once.
    #[schemars(range(min = 0.0, max = 90.0))]
    pub hold_course_deg: f32,
}

/// Bursts and glides of a cruising agent: in a burst it accelerates to the speed that it wants, in a glide the water slows it down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GlideParams {
    /// Mean share of its speed that the agent loses in a glide. Higher: clear bursts and glides. Lower: a nearly even speed; 0:
    /// swims steadily.
    #[schemars(range(min = 0.0, max = 0.9))]
    pub slowdown_share: f32,
    /// Mean duration of a burst from the slowest to the cruise speed. Higher: gathers speed softly. Lower: a short, strong kick.
    #[schemars(range(min = 0.02, max = 60.0))]
    pub burst_secs: f32,
    /// Mean duration of a glide. Together with the share it gives the drag of the water. Higher: long, quiet glides. Lower: slows
    /// down soon and kicks often.
    #[schemars(range(min = 0.02, max = 60.0))]
    pub glide_secs: f32,
}

impl Default for GlideParams {
    fn default() -> Self {
        Self {
            slowdown_share: 0.0,
            burst_secs: 0.3,
            glide_secs: 0.6,
        }
    }
}

/// The fast start with which a flight begins: a bend to a C towards the new heading, one stroke back, then the sprint. Bend and
/// stroke take 50 to 120 ms each, longer for a longer body. **Source**: Domenici & Blake 1997.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StartParams {
    /// Maximum angle by which the bend turns the agent. Higher: a flight begins with a clear C bend, also to the side or back.
    /// Lower: it begins nearly straight ahead; 0: without a fast start.
    #[schemars(range(min = 0.0, max = 180.0))]
    pub angle_deg: f32,
    /// Maximum force in bend and stroke, as a multiple of `max_force_n`. Higher: shoots away. Lower: its start looks like a strong
    /// tail beat.
    #[schemars(range(min = 1.0, max = 100.0))]
    pub force_factor: f32,
}

impl Default for StartParams {
    fn default() -> Self {
        Self {
            angle_deg: 0.0,
            force_factor: 3.0,
        }
    }
}

/// Walking on the ground, like a crab or an octopus, instead of swimming. A walking animal starts on the ground. It climbs over low
/// stones and goes round high ones; a force that points up or down has no effect on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WalkParams {
    /// Speed with which the animal sinks to the ground, for example from the edge of a stone. 0: it swims, and does not walk.
    /// Higher: drops from stones like a pebble. Lower: floats down slowly.
    #[schemars(range(min = 0.0, max = 50.0))]
    pub sink_mps: f32,
    /// Height of stones, above the ground, up to which the animal climbs over them. Higher: walks straight over large stones. Lower:
    /// goes round them; 0: goes round all.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub climb_m: f32,
}

impl Default for WalkParams {
    fn default() -> Self {
        Self {
            sink_mps: 0.0,
            climb_m: 0.2,
        }
    }
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
            cruise: CruiseParams::default(),
            glide: GlideParams::default(),
            start: StartParams::default(),
            leap: LeapParams::default(),
            walk: WalkParams::default(),
            wanted: WantedMotion::default(),
        }
    }
}

impl MotionParams {
    /// Whether the animal walks on the ground instead of swimming.
    pub fn walks(&self) -> bool {
        self.walk.sink_mps > 0.0
    }

    /// Multiplies all speeds.
    pub fn hurry(&mut self, factor: f32) {
        for speed in [
            &mut self.cruise_mps,
            &mut self.boost_mps,
            &mut self.min_speed_mps,
        ] {
            *speed *= factor;
        }
    }

    /// Returns the violated rules, each as (path inside this table, message).
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

/// Response of the motion to a contact with an obstacle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CollisionResponse {
    /// The body loses the part of its velocity that points towards the obstacle and slides along the obstacle with the rest.
    #[default]
    Slide,
    /// The part of the velocity that points towards the obstacle is reversed and multiplied by `restitution`.
    Bounce,
    /// The body stops at the obstacle for the rest of this tick, and continues along the obstacle in the next tick.
    PushOut,
}

/// Range and angle of sight. **Source**: Tu 1996, as described in Jockel 2005.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PerceptionParams {
    /// Sight radius for other agents. In crowds the computing time grows with its square. Higher: reacts early, and schools find
    /// together from far away. Lower: notices others only when they are near.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub sight_radius_m: f32,
    /// Sight radius for prey. Must not be below the sight radius for other agents. Higher: finds prey in the whole pool. Lower:
    /// hunts only what is near.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub prey_sight_radius_m: f32,
    /// Full opening angle of the field of view, which is a cone around the forward direction. With 360, the fish sees in all
    /// directions. Higher: is hard to surprise. Lower: does not see what comes from behind.
    #[schemars(range(min = 0.0, max = 360.0))]
    pub field_of_view_deg: f32,
    /// Increase of the sight radius for larger agents. For an agent of a larger radius r, the sight radius is multiplied by 1 +
    /// size_gain · (r / own radius − 1). With 0, size has no effect. Higher: sees a large enemy from far away. Lower: sees large
    /// and small agents at the same distance.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub size_gain: f32,
    /// Caution towards an enemy that does not hunt, as a share of the caution towards one that hunts. The distances at which the
    /// agent flees, hides and feels fear are multiplied by it. Higher: keeps away from every enemy; 1: fears all alike. Lower:
    /// swims calmly beside a sated enemy; 0: ignores enemies that do not hunt.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub calm_enemy_share: f32,
}

impl Default for PerceptionParams {
    fn default() -> Self {
        Self {
            sight_radius_m: 1.5,
            prey_sight_radius_m: 2.0,
            field_of_view_deg: 300.0,
            size_gain: 0.0,
            calm_enemy_share: 1.0,
        }
    }
}

impl PerceptionParams {
    /// Returns the violated rules, each as (path inside this table, message).
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

/// Parameters with which a species forms schools. **Source**: Reynolds 1987; factors from Jockel 2005, table 1.
///
/// The parts are separation, alignment and cohesion. If a part sets no radius or weight of its own, its value is derived from
/// `radius_m` or `weight`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FlockParams {
    /// Flock radius r: separation acts within r, alignment within 1.5 r, cohesion within 2 r. Higher: a wide school with gaps.
    /// Lower: a dense school of close neighbors.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub radius_m: f32,
    /// Flock weight g: separation has the weight 1.5 g; alignment and cohesion have the weight g. Higher: the school holds together
    /// and turns as one. Lower: it breaks up easily, and its members follow other actions.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Neighbors closer than this distance are included at any angle. If absent: three times the body's radius. Higher: reacts also
    /// to neighbors behind its back. Lower: the angles of the parts decide alone, so that a leader swims ahead undisturbed.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub always_radius_m: Option<f32>,
    /// Each part has its full force. Only if the part is nearly satisfied, its force falls to zero. Higher: the force starts to
    /// fall earlier, and the school is calm and loose. Lower: the school is strict and jitters; 0: the force is always full, as in
    /// Reynolds 1987.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub soften: f32,
    /// Keeping distance from neighbors.
    pub separation: SeparationParams,
    /// Swimming in the same direction as neighbors.
    pub alignment: AlignmentParams,
    /// Staying close to neighbors.
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
            /// Radius within which neighbors are included. If absent: derived from the flock radius. Higher: also far neighbors
            /// count; larger groups, wider gaps. Lower: only the nearest ones; small, dense groups.
            #[schemars(range(min = 0.0, max = 100.0))]
            pub radius_m: Option<f32>,
            /// Maximum angle between the forward direction and an included neighbor. Higher: also neighbors beside and behind
            /// count. Lower: only those ahead; the school becomes long and follows its leaders.
            #[schemars(range(min = 0.0, max = 180.0))]
            pub angle_deg: f32,
            /// Weight of this part. If absent: derived from the flock weight. Higher: wider gaps (separation), more parallel
            /// courses (alignment) or a denser school (cohesion). Lower: the other two parts prevail; 0 switches this part off.
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
    /// Separation: keeping distance. Default: the flock radius, 135° to each side, 1.5 times the flock weight.
    SeparationParams,
    135.0
);
flock_part!(
    /// Alignment: swimming in the same direction. Default: 1.5 flock radii, 45° to each side, the flock weight.
    AlignmentParams,
    45.0
);
flock_part!(
    /// Cohesion: staying together. Default: 2 flock radii, 99° to each side, the flock weight.
    CohesionParams,
    99.0
);

/// Values of one action that replace those of a part of the species' `[flock]` table. Absent values stay those of the species.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FlockPartChange {
    /// Radius within which neighbors are included. Higher: also far neighbors count; larger groups, wider gaps. Lower: only the
    /// nearest ones; small, dense groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 100.0))]
    pub radius_m: Option<f32>,
    /// Maximum angle between the forward direction and an included neighbor. Higher: also neighbors beside and behind
    /// count. Lower: only those ahead; the school becomes long and follows its leaders.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 180.0))]
    pub angle_deg: Option<f32>,
    /// Weight of this part. Higher: wider gaps (separation), more parallel courses (alignment) or a denser school (cohesion).
    /// Lower: the other two parts prevail; 0 switches this part off.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: Option<f32>,
}

impl FlockPart {
    /// Returns this part with the values that a change replaces.
    #[must_use]
    pub fn changed(self, change: &FlockPartChange) -> Self {
        Self {
            radius_m: change.radius_m.unwrap_or(self.radius_m),
            angle_deg: change.angle_deg.unwrap_or(self.angle_deg),
            weight: change.weight.unwrap_or(self.weight),
        }
    }
}

impl FlockParams {
    /// Returns separation, alignment and cohesion in this order, with absent values filled in.
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

    /// Returns a warning for each part whose radius exceeds the sight radius, as (path inside this table, sentence).
    pub fn warnings(&self, sight_radius_m: f32) -> Vec<(String, String)> {
        ["separation", "alignment", "cohesion"]
            .into_iter()
            .zip(self.parts())
            .filter(|(_, part)| part.weight > 0.0 && part.radius_m > sight_radius_m)
            .map(|(name, part)| {
                (
                    name.to_owned(),
                    format!(
                        "the {name} radius of {} m is larger than sight_radius_m = {sight_radius_m}: agents beyond the sight radius are \
                         not seen; raise the sight radius or lower this one",
                        part.radius_m
                    ),
                )
            })
            .collect()
    }
}

/// One of the three parts of flocking, with all values filled in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlockPart {
    /// Radius within which neighbors are included.
    pub radius_m: f32,
    /// Maximum angle between the forward direction and an included neighbor.
    pub angle_deg: f32,
    /// Weight of this part.
    pub weight: f32,
}
