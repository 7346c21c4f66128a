//! The three kinds of configuration files: which tables each holds. The tables themselves belong to the rooms.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::{ActionParams, Combine, DrivesParams, MindParams, NeedParams, RuleParams};
use crate::calibration::CalibrationParams;
use crate::camera::CameraParams;
use crate::geometry::Surface;
use crate::navigation::FieldParams;
use crate::render::{OutputParams, SceneLook, SpeciesLook};
use crate::simulation::SimulationParams;
use crate::vision::VisionParams;
use crate::world::{
    Avoidance, BodyParams, FlockParams, MotionParams, ObstacleParams, PerceptionParams, PoolParams,
    RelationParams,
};

/// A site file: what is mounted here, and which scene it shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SiteFile {
    /// The scene that is shown: the name of a file in the folder `scenes` beside this one, without `.toml`, or a built-in one.
    pub scene: String,
    /// The projected surface.
    #[schemars(extend("x-restart" = true))]
    pub surface: Surface,
    /// The infrared camera.
    #[schemars(extend("x-restart" = true))]
    pub camera: CameraParams,
    /// How shadows are told from floor, and visitors followed.
    #[schemars(extend("x-restart" = true))]
    pub vision: VisionParams,
    /// How the camera sees the floor.
    pub calibration: CalibrationParams,
    /// The tick.
    #[schemars(extend("x-restart" = true))]
    pub simulation: SimulationParams,
    /// The projectors; one of the default size when none is named.
    #[schemars(extend("x-restart" = true))]
    pub outputs: Vec<OutputParams>,
}

impl Default for SiteFile {
    fn default() -> Self {
        Self {
            scene: "pool".into(),
            surface: Surface::default(),
            camera: CameraParams::default(),
            vision: VisionParams::default(),
            calibration: CalibrationParams::default(),
            simulation: SimulationParams::default(),
            outputs: Vec::new(),
        }
    }
}

/// A scene file: a pool, what lies in it, and who lives in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SceneFile {
    /// What it is called in the panel.
    pub title: String,
    /// The water.
    pub pool: PoolParams,
    /// What lies in it.
    pub obstacles: Vec<ObstacleParams>,
    /// Flow fields, followed by species with the action `follow_flow_field`.
    pub fields: Vec<FieldParams>,
    /// How many of each species: names of files in the folder `species`, or built-in ones.
    pub population: BTreeMap<String, u32>,
    /// Those of the population that have a name of their own, and in what they differ from their species.
    pub individuals: Vec<IndividualParams>,
    /// What the installation wants of the fish: condition → effect, each with its hold times.
    pub director: Vec<RuleParams>,
    /// Light, water and ground.
    pub look: SceneLook,
}

/// One of the population that has a name of its own. What is left out is as its species has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IndividualParams {
    /// Its name; relations can go to it.
    pub name: String,
    /// Its species, one of the population.
    pub species: String,
    /// Further names that it bears.
    #[serde(default)]
    pub groups: Vec<String>,
    /// Relations that take the place of those of the same type.
    #[serde(default)]
    pub relations: RelationParams,
    /// Actions that come in addition, or take the place of those of the same name.
    #[serde(default)]
    pub actions: BTreeMap<String, ActionParams>,
    /// Needs in place of all of its species' needs; the species' own where there are none.
    #[serde(default)]
    pub needs: Vec<NeedParams>,
    /// Where it starts, in world space, `[x, y, z]`. Absent: where chance says.
    #[serde(default)]
    #[schemars(inner(range(min = -100.0, max = 100.0)))]
    pub position_m: Option<[f32; 3]>,
}

impl IndividualParams {
    /// Its mind: its species' with what it has of its own.
    pub fn mind(&self, species: &SpeciesFile) -> MindParams {
        let mut mind = species.mind();
        mind.actions.extend(self.actions.clone());
        if !self.needs.is_empty() {
            mind.needs.clone_from(&self.needs);
        }
        mind
    }

    /// Its relations: its species' with its own in place of those of the same type.
    pub fn all_relations(&self, species: &SpeciesFile) -> RelationParams {
        let mut relations = species.relations.clone();
        relations.extend(self.relations.clone());
        relations
    }
}

/// A species file: its body, its motion, what it sees and what it wants. Its name is that of the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SpeciesFile {
    /// Further names that all its individuals bear, for relations.
    pub groups: Vec<String>,
    /// Size.
    pub body: BodyParams,
    /// What the vehicle can do.
    pub motion: MotionParams,
    /// What it notices of others.
    pub perception: PerceptionParams,
    /// How it schools.
    pub flock: FlockParams,
    /// Whose enemy, prey or friend it is: relation → names of species, groups or individuals; shadows are `visitor`.
    pub relations: RelationParams,
    /// How it keeps clear of others and of obstacles.
    pub avoidance: Avoidance,
    /// Its actions, by names that its needs use.
    pub actions: BTreeMap<String, ActionParams>,
    /// The need that acts in every step besides the active one.
    pub standard: NeedParams,
    /// Its needs, most important first; the first that is not satisfied acts.
    pub needs: Vec<NeedParams>,
    /// How the forces of the standard and the active need are put together.
    pub combine: Combine,
    /// How hunger, fear and libido grow and fade; off unless it says so.
    pub drives: DrivesParams,
    /// Its model and how individuals differ.
    pub look: SpeciesLook,
}

impl SpeciesFile {
    /// The tables that make its mind.
    pub fn mind(&self) -> MindParams {
        MindParams {
            actions: self.actions.clone(),
            standard: self.standard.clone(),
            needs: self.needs.clone(),
            combine: self.combine,
            drives: self.drives.clone(),
        }
    }
}
