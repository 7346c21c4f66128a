//! Effects of the director: changes that a rule of a scene, or a command, makes to the agents of some species.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::light::{LightEffect, SeasonEffect};

/// Change that the director makes to the agents of some species.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum Effect {
    /// Switches the needs that hunt on or off. On: the variable of each such need is set beyond its limit. Off: the
    /// variable is set to its value after a catch.
    Hunting(HuntingEffect),
    /// Lets species gather at a point while the effect lasts. Only species with an action `seek` or `navigate` whose
    /// target is `director` react.
    Gather(GatherEffect),
    /// Lets some agents of each species gather around the visitor who has stood still longest, while the effect lasts. They
    /// stay outside the visitor's shadow. Only species with an action `seek` or `navigate` whose target is `director` react. Those that
    /// come hesitate first and tire (`attraction` of the action); a need above, such as to survive or to hunt, keeps them away, and
    /// `make_room` lets some leave again.
    GatherAtShadow(GatherAtShadowEffect),
    /// Sends species from the side where most of them are to the other side, while the effect lasts.
    SendAcross(SendAcrossEffect),
    /// Sends species out of the picture while the effect lasts. Only species that `pool.margins_m` lets out of the picture, and that
    /// have an action `seek` or `navigate` whose target is `director`, react.
    Leave(CrossEdgeEffect),
    /// Lets species come into the picture from one side. A fish that is in sight swims out of the picture first, and then comes from that
    /// side. The fish swim to the middle while the effect lasts: for `hold_secs` from the last entrance on. The same species react as for
    /// `leave`.
    Enter(CrossEdgeEffect),
    /// Ends all boosts: agents want to swim at cruise speed, and slow down to it in the time `calm_secs` of the action that
    /// hurried them.
    Calm(CalmEffect),
    /// Sets the variable of a `limit_based` need, or the drive that the need reads.
    SetNeed(SetNeedEffect),
    /// Makes species faster or slower while the effect lasts. Several such effects on a species are multiplied.
    Speed(SpeedEffect),
    /// Adds a relation of species while the effect lasts, or takes it away: which fish fears, hunts or follows which.
    Relation(RelationEffect),
    /// Gives species the mind of another species while the effect lasts, for example of fish that let themselves be caught. They keep
    /// body, relations and memories. Of several such effects, the one that began last applies, whatever its priority, and after it their
    /// own mind.
    Mind(MindEffect),
    /// Gives the picture the light of another time of day while the effect lasts. The direction of the sunlight stays. Of several such
    /// effects, that of the rule with the highest priority applies, and of these the one that began last.
    Light(LightEffect),
    /// Gives plants, and what floats on the water, another season while the effect lasts: leaf by leaf. The leaves on the ground and the
    /// colors of the fish stay those of the scene.
    Season(SeasonEffect),
    /// Lets a sound of the water be heard once, when the rule begins: a cue for the visitors. It needs `[sound]` with `on = true` in the
    /// site.
    Sound(SoundEffect),
}

/// The species whose hunting is switched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HuntingEffect {
    /// Names of species, groups or individuals; empty: all.
    pub species: Vec<String>,
    /// Whether these species hunt.
    pub on: bool,
}

impl Default for HuntingEffect {
    fn default() -> Self {
        Self {
            species: Vec::new(),
            on: true,
        }
    }
}

/// The species that gather, and the point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GatherEffect {
    /// Names of species, groups or individuals; empty: all.
    pub species: Vec<String>,
    /// Point in world space, `[x, y, z]`.
    pub point_m: [f32; 3],
    /// Lowest weight of the action `seek` of these species while the effect lasts. Higher: they swim there, whatever else
    /// the need with `seek` does; a need above it, such as to survive or to hunt, still comes first. Lower: they pass it as other actions
    /// allow; below the weight of `seek` itself, no effect.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
}

impl Default for GatherEffect {
    fn default() -> Self {
        Self {
            species: Vec::new(),
            point_m: [0.0, -0.7, 0.0],
            weight: 2.0,
        }
    }
}

/// The species that gather around a visitor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GatherAtShadowEffect {
    /// Names of species, groups or individuals; empty: all.
    pub species: Vec<String>,
    /// Lowest weight of the action `seek` of these species while the effect lasts. Higher: they swim there, whatever else
    /// the need with `seek` does; a need above it, such as to survive or to hunt, still comes first. Lower: they pass it as other actions
    /// allow; below the weight of `seek` itself, no effect.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Largest share of a species that attends visitors at a time, including agents that came by themselves. Higher: a crowd around
    /// the visitor. Lower: a few guests, the others swim on.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f32,
}

impl Default for GatherAtShadowEffect {
    fn default() -> Self {
        Self {
            species: Vec::new(),
            weight: 1.5,
            share: 0.35,
        }
    }
}

/// The species that cross the pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SendAcrossEffect {
    /// Names of species, groups or individuals; empty: all.
    pub species: Vec<String>,
    /// Lowest weight of the action `seek` of these species while the effect lasts. Higher: they swim there, whatever else
    /// the need with `seek` does; a need above it, such as to survive or to hunt, still comes first. Lower: they pass it as other actions
    /// allow; below the weight of `seek` itself, no effect.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
}

impl Default for SendAcrossEffect {
    fn default() -> Self {
        Self {
            species: Vec::new(),
            weight: 2.0,
        }
    }
}

/// A side of the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PictureSide {
    /// The side that is nearest to the species.
    #[default]
    Nearest,
    /// The left side.
    Left,
    /// The right side.
    Right,
}

/// The species that cross the edge of the picture, and where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CrossEdgeEffect {
    /// Names of species, groups or individuals; empty: all.
    pub species: Vec<String>,
    /// Side of the picture.
    pub side: PictureSide,
    /// Lowest weight of the action `seek` of these species while the effect lasts. Higher: they swim there, whatever else
    /// the need with `seek` does; a need above it, such as to survive or to hunt, still comes first. Lower: they pass it as other actions
    /// allow; below the weight of `seek` itself, no effect.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
}

impl Default for CrossEdgeEffect {
    fn default() -> Self {
        Self {
            species: Vec::new(),
            side: PictureSide::Nearest,
            weight: 2.0,
        }
    }
}

/// The species that calm down.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CalmEffect {
    /// Names of species, groups or individuals; empty: all.
    pub species: Vec<String>,
}

/// The need whose variable is set, and its new value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SetNeedEffect {
    /// Names of species, groups or individuals; empty: all that have a need with this name.
    pub species: Vec<String>,
    /// Name of the need.
    pub need: String,
    /// New value of the need's variable. Higher: beyond a limit with `side` `upper`, the agents act on the need at once. Lower:
    /// below it, they are satisfied. With `side` `lower` the other way round.
    #[schemars(range(min = -1000000.0, max = 1000000.0))]
    pub value: f32,
}

impl Default for SetNeedEffect {
    fn default() -> Self {
        Self {
            species: Vec::new(),
            need: "hunt".into(),
            value: 2.0,
        }
    }
}

/// The species whose speed changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SpeedEffect {
    /// Names of species, groups or individuals; empty: all.
    pub species: Vec<String>,
    /// Factor on cruise speed, boost speed and minimum speed. Higher: hurried fish. Lower: slow, sleepy ones; 1: no effect.
    #[schemars(range(min = 0.25, max = 4.0))]
    pub factor: f32,
}

impl Default for SpeedEffect {
    fn default() -> Self {
        Self {
            species: Vec::new(),
            factor: 0.5,
        }
    }
}

/// The species whose relation changes, and to which species.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RelationEffect {
    /// Names of species, groups or individuals whose relation changes; empty: all.
    pub species: Vec<String>,
    /// The relation: `enemy`, `prey`, `friend`, `food`, `mother`, `child`, `partner` or a name of your own.
    pub relation: String,
    /// Names of species, groups or individuals to which they have the relation; `visitor` is all visitors. To take a relation away, write
    /// the name that is in `[relations]`, for example the group.
    pub to: Vec<String>,
    /// Whether they have the relation while the effect lasts. `false` takes it away.
    pub on: bool,
}

impl Default for RelationEffect {
    fn default() -> Self {
        Self {
            species: Vec::new(),
            relation: "enemy".into(),
            to: Vec::new(),
            on: true,
        }
    }
}

/// The species that get another mind, and whose mind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MindEffect {
    /// Names of species, groups or individuals; empty: all.
    #[serde(default)]
    pub species: Vec<String>,
    /// Name of the species whose mind they get. It must be in `population`; a population of 0 is enough.
    pub like: String,
}

/// A sound of the water.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WaterSound {
    /// A body breaks through the water: a slap, a plop, drops that fall back.
    #[default]
    Splash,
    /// A gulp of two bubbles, under water.
    Gulp,
    /// Water that rushes, as when a school starts.
    Swish,
    /// A soft, deep ring, as of a foot that touches the water.
    Step,
}

/// The sound that is heard, and where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SoundEffect {
    /// The sound.
    pub play: WaterSound,
    /// Place on the surface, `[x, z]`, from the middle of the picture: x to the right, z down. The loudspeakers near it play it.
    pub at_m: [f32; 2],
    /// Strength. Higher: loud, like a large leap. Lower: hardly louder than the wind; 0: not heard.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub strength: f32,
    /// Radius of the body that would make this sound. Higher: a deep sound, of a large animal. Lower: a high one, of a small animal.
    #[schemars(range(min = 0.005, max = 1.0))]
    pub size_m: f32,
}

impl Default for SoundEffect {
    fn default() -> Self {
        Self {
            play: WaterSound::Splash,
            at_m: [0.0, 0.0],
            strength: 0.7,
            size_m: 0.08,
        }
    }
}

impl Effect {
    /// Returns the names of the species, groups and individuals to which the effect applies; empty: all.
    pub fn species(&self) -> &[String] {
        match self {
            Self::Hunting(effect) => &effect.species,
            Self::Gather(effect) => &effect.species,
            Self::GatherAtShadow(effect) => &effect.species,
            Self::SendAcross(effect) => &effect.species,
            Self::Leave(effect) | Self::Enter(effect) => &effect.species,
            Self::Calm(effect) => &effect.species,
            Self::SetNeed(effect) => &effect.species,
            Self::Speed(effect) => &effect.species,
            Self::Relation(effect) => &effect.species,
            Self::Mind(effect) => &effect.species,
            Self::Light(_) | Self::Season(_) | Self::Sound(_) => &[],
        }
    }

    /// Whether the effect changes species while it lasts.
    pub fn changes_species(&self) -> bool {
        matches!(self, Self::Speed(_) | Self::Relation(_))
    }

    /// Whether the effect lasts as long as its rule. Other effects act once, at the start of the rule.
    pub fn lasts(&self) -> bool {
        let is_other = matches!(self, Self::Mind(_) | Self::Light(_) | Self::Season(_));
        self.gathers() || self.changes_species() || is_other
    }

    /// Whether the effect gives species a gathering point.
    pub fn gathers(&self) -> bool {
        matches!(
            self,
            Self::Gather(_)
                | Self::GatherAtShadow(_)
                | Self::SendAcross(_)
                | Self::Leave(_)
                | Self::Enter(_)
        )
    }
}
