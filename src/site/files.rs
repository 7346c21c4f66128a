//! The three kinds of configuration files, and the tables in each. The rooms (top-level modules) define the tables.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cameras::CameraEntry;
use super::language::Language;
use crate::behavior::{ActionParams, Combine, DrivesParams, MindParams, NeedParams};
use crate::calibration::CalibrationParams;
use crate::camera::CameraParams;
use crate::cluster::ClusterParams;
use crate::geometry::{Surface, SurfaceKind};
use crate::navigation::FieldParams;
use crate::operation::{AlertParams, CountingParams, ScheduleParams};
use crate::panel::PanelParams;
use crate::remote::RemoteParams;
use crate::render::{IndividualLook, OutputParams, PictureParams, SceneLook, SpeciesLook};
use crate::simulation::SimulationParams;
use crate::sound::SoundParams;
use crate::vision::VisionParams;
use crate::world::{
    BarrierParams, BodyParams, FishParams, FlockParams, MotionParams, ObstacleParams, PathParams,
    PerceptionParams, PoolParams, RelationParams, RuleParams,
};

/// Species name of the visitors' shadows.
pub(super) const VISITOR: &str = "visitor";

/// A site file: the hardware of one installation, and the scene that it shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SiteFile {
    /// The shown scene: the name (without `.toml`) of a file in the folder `scenes` beside this file, or the name of
    /// a built-in scene.
    pub scene: String,
    /// Language of the texts on the floor, for example while the camera is calibrated: `en` (English) or `de` (German).
    pub language: Language,
    /// The projected surface.
    pub surface: Surface,
    /// The infrared camera.
    pub camera: CameraParams,
    /// The infrared cameras of a site with several. They replace `camera`, `calibration.file`, `vision.ignore` and `vision.include`.
    #[schemars(length(max = 8), extend("x-restart" = "length"))]
    pub cameras: Vec<CameraEntry>,
    /// Detection of shadows and tracking of visitors.
    pub vision: VisionParams,
    /// The file that maps camera pixels to the floor, and the limits of its error.
    pub calibration: CalibrationParams,
    /// The simulation.
    #[schemars(extend("x-restart" = true))]
    pub simulation: SimulationParams,
    /// Factors on all fish, for this room.
    pub fish: FishParams,
    /// The picture.
    pub picture: PictureParams,
    /// Opening hours: what the installation shows at which time.
    pub schedule: ScheduleParams,
    /// Messages about faults, and about their ends.
    pub alerts: AlertParams,
    /// Anonymous counts of visitors.
    #[schemars(extend("x-restart" = true))]
    pub counting: CountingParams,
    /// The sound of the pool.
    pub sound: SoundParams,
    /// The projectors. If this list is empty, one output of the default size is used.
    #[schemars(length(max = 16))]
    pub outputs: Vec<OutputParams>,
    /// The operator's panel.
    #[schemars(extend("x-restart" = true))]
    pub panel: PanelParams,
    /// Other machines that control the pool or follow it.
    #[schemars(extend("x-restart" = true))]
    pub remote: RemoteParams,
    /// A hall: one pool on several machines.
    #[schemars(extend("x-restart" = true))]
    pub cluster: ClusterParams,
}

impl Default for SiteFile {
    fn default() -> Self {
        Self {
            scene: "pool".into(),
            language: Language::default(),
            surface: Surface::default(),
            camera: CameraParams::default(),
            cameras: Vec::new(),
            vision: VisionParams::default(),
            calibration: CalibrationParams::default(),
            simulation: SimulationParams::default(),
            fish: FishParams::default(),
            picture: PictureParams::default(),
            schedule: ScheduleParams::default(),
            alerts: AlertParams::default(),
            counting: CountingParams::default(),
            sound: SoundParams::default(),
            outputs: Vec::new(),
            panel: PanelParams::default(),
            remote: RemoteParams::default(),
            cluster: ClusterParams::default(),
        }
    }
}

impl SiteFile {
    /// Returns all cameras, at least one.
    pub fn all_cameras(&self) -> Vec<CameraEntry> {
        match self.cameras.as_slice() {
            [] => vec![CameraEntry::single(
                self.camera.clone(),
                self.calibration.file.clone(),
                &self.vision,
            )],
            cameras => cameras.to_vec(),
        }
    }

    /// Returns the path of the source of a camera.
    pub fn source_path(&self, camera: usize) -> String {
        match self.cameras.is_empty() {
            true => "camera.source".to_owned(),
            false => format!("cameras[{camera}].source"),
        }
    }

    /// Returns the path of the calibration file of a camera.
    pub fn calibration_path(&self, camera: usize) -> String {
        match self.cameras.is_empty() {
            true => "calibration.file".to_owned(),
            false => format!("cameras[{camera}].calibration"),
        }
    }
}

/// Adaptation of a scene to a surface of another size than that for which it was designed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fit {
    /// The scene stays as it is, in the middle of the surface.
    #[default]
    Fixed,
    /// Positions and horizontal sizes are multiplied by the ratios of the new to the designed width and height of the surface. A round
    /// obstacle is scaled by the smaller of the two ratios, so that it stays round, and its top stays below the water surface.
    Scale,
}

/// A scene file: a pool with its obstacles and its fish.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SceneFile {
    /// Name of another scene that this one extends: everything that this file does not contain is inherited, key by key. A rule with the
    /// name of an inherited rule changes that rule; another rule is inserted before the rule that follows it in this file, or at the end.
    /// Other lists replace the inherited list. With `look.light` or `look.season`, the numbers that it sets are not inherited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extends: Option<String>,
    /// Whether the rules of this file replace all inherited rules. Otherwise they are combined with them by name.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub own_director: bool,
    /// Names of inherited rules that this scene does not have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub without_rules: Vec<String>,
    /// Name of the scene in the control panel.
    pub title: String,
    /// Adaptation of positions and sizes to a surface of another size than `designed_for_m`.
    pub fit: Fit,
    /// Width and height of the picture for which the positions in this file were chosen. Used if `fit` is `scale`. Higher:
    /// positions move closer together on the same floor. Lower: they move apart.
    #[schemars(inner(range(min = 0.2, max = 100.0)))]
    pub designed_for_m: [f32; 2],
    /// Kinds of surfaces that the scene suits; empty: all.
    pub surfaces: Vec<SurfaceKind>,
    /// The water.
    pub pool: PoolParams,
    /// Obstacles in the pool.
    pub obstacles: Vec<ObstacleParams>,
    /// Paths. Species with the action `follow_path` or `stay_on_path` use them.
    pub paths: Vec<PathParams>,
    /// Invisible barriers. Species with the action `avoid_barriers` turn away from them.
    pub barriers: Vec<BarrierParams>,
    /// Flow fields. Species with the action `follow_flow_field` follow them.
    pub fields: Vec<FieldParams>,
    /// Number of individuals of each species, by species name. The name is that of a file in the folder `species`, or of a built-in
    /// species. Higher: a lively, crowded pool that needs more computing time. Lower: a quiet one; 0: none of the species.
    pub population: BTreeMap<String, u32>,
    /// Factors on the fish of a species in this scene, by species name.
    pub fish: BTreeMap<String, FishParams>,
    /// Named individuals of the population, with their differences from their species.
    pub individuals: Vec<IndividualParams>,
    /// Rules of the director, each with a condition, an effect and their durations.
    pub director: Vec<RuleParams>,
    /// Appearance of light, water and ground.
    pub look: SceneLook,
}

impl Default for SceneFile {
    fn default() -> Self {
        let Surface {
            width_m, height_m, ..
        } = Surface::default();
        Self {
            extends: None,
            own_director: false,
            without_rules: Vec::new(),
            title: String::new(),
            fit: Fit::default(),
            designed_for_m: [width_m, height_m],
            surfaces: Vec::new(),
            pool: PoolParams::default(),
            obstacles: Vec::new(),
            paths: Vec::new(),
            barriers: Vec::new(),
            fields: Vec::new(),
            population: BTreeMap::new(),
            fish: BTreeMap::new(),
            individuals: Vec::new(),
            director: Vec::new(),
            look: SceneLook::default(),
        }
    }
}

impl SceneFile {
    /// Returns the factors on a species in this scene, with those of the site.
    pub(super) fn factors(&self, of_site: &FishParams, species: &str) -> FishParams {
        (self.fish.get(species)).map_or_else(|| of_site.clone(), |own| of_site.and(own))
    }
}

/// A named individual of the population. For each absent value, the value of its species applies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IndividualParams {
    /// Name of the individual. Relations can refer to it.
    pub name: String,
    /// Species of the individual; must be in the population.
    pub species: String,
    /// Groups that the individual belongs to, in addition to its species' groups. Relations can refer to these
    /// groups.
    #[serde(default)]
    pub groups: Vec<String>,
    /// Relations of the individual. Each replaces the species' relation of the same type.
    #[serde(default)]
    #[schemars(extend("maxProperties" = 64))]
    pub relations: RelationParams,
    /// Additional actions of the individual. Each replaces the species' action of the same name.
    #[serde(default)]
    #[schemars(extend("maxProperties" = 128))]
    pub actions: BTreeMap<String, ActionParams>,
    /// Needs that replace all needs of the species. If this list is empty, the species' needs apply.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub needs: Vec<NeedParams>,
    /// Factor on the size that the species has. Without it, chance decides, as for other fish. Higher: the large one that visitors
    /// remember. Lower: a young one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.2, max = 5.0))]
    pub size: Option<f32>,
    /// Courage. Without it, chance decides. Higher: comes to visitors sooner and flees from them later; 1: at half the distance.
    /// Lower: keeps away; 0: flees at twice the distance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub boldness: Option<f32>,
    /// Appearance of the individual.
    #[serde(default)]
    pub look: IndividualLook,
    /// Start position `[x, y, z]` in world space. Without it, the position is random.
    #[serde(default)]
    #[schemars(inner(range(min = -100.0, max = 100.0)))]
    pub position_m: Option<[f32; 3]>,
}

impl IndividualParams {
    /// Returns the look of the individual; `None` if it looks like the others of its species.
    pub fn own_look(&self, species: &SpeciesLook) -> Option<SpeciesLook> {
        let is_own = self.look != IndividualLook::default() || self.size.is_some();
        is_own.then(|| self.look.of(species, self.size))
    }

    /// Returns the mind of the individual: the mind of its species with the individual's own actions and needs.
    pub fn mind(&self, species: &SpeciesFile) -> MindParams {
        let mut mind = species.mind();
        mind.actions.extend(self.actions.clone());
        if !self.needs.is_empty() {
            mind.needs.clone_from(&self.needs);
        }
        mind
    }

    /// Returns the relations of the individual: the relations of its species, in which the individual's own relations
    /// replace those of the same type.
    pub fn all_relations(&self, species: &SpeciesFile) -> RelationParams {
        let mut relations = species.relations.clone();
        relations.extend(self.relations.clone());
        relations
    }
}

/// A species file: body, motion, perception and mind. The name of the species is the name of the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SpeciesFile {
    /// Name of another species that this one extends: everything that this file does not contain is inherited, key by key. A need
    /// with the name of an inherited need changes that need; another need is inserted before the need that follows it in this
    /// file, or at the end. Other lists replace the inherited list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extends: Option<String>,
    /// Whether the needs of this file replace all inherited needs. Otherwise they are combined with them by name.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub own_needs: bool,
    /// Names of inherited needs that this species does not have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub without_needs: Vec<String>,
    /// Groups that all individuals of the species belong to. Relations can refer to these groups.
    #[schemars(length(max = 64))]
    pub groups: Vec<String>,
    /// Size of the body.
    pub body: BodyParams,
    /// Speeds, forces and turn rates of the body.
    pub motion: MotionParams,
    /// Perception of other agents.
    pub perception: PerceptionParams,
    /// Schooling.
    pub flock: FlockParams,
    /// Relations to other agents: for each relation, the names of species, groups or individuals. Visitors' shadows
    /// have the name `visitor`: with `enemy = ["visitor"]`, it also hides from visitors. Relations are `enemy`, `prey`, `friend`, `food`,
    /// `mother`, `child`, `partner` or a name of your own, for actions with the key `relations`.
    #[schemars(extend("maxProperties" = 64))]
    pub relations: RelationParams,
    /// Actions by name. Needs refer to these names.
    #[schemars(extend("maxProperties" = 128))]
    pub actions: BTreeMap<String, ActionParams>,
    /// The standard need. It acts in every tick, in addition to the active need.
    pub standard: NeedParams,
    /// Needs, most important first. The first need that is not satisfied is active.
    #[schemars(length(max = 64))]
    pub needs: Vec<NeedParams>,
    /// Method by which the forces of the standard need and the active need are combined.
    pub combine: Combine,
    /// Change of hunger, fear and libido over time. All three are off by default.
    pub drives: DrivesParams,
    /// The 3D model, and the variation between individuals.
    pub look: SpeciesLook,
}

impl SpeciesFile {
    /// Returns the mind of the species.
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
