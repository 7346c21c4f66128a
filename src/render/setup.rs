//! The description of a scene that a renderer needs before the first picture.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::look::{SceneLook, SpeciesLook};
use super::model::Model;
use super::output_params::OutputParams;
use super::overlay::OverlayOptions;
use super::static_shape::StaticShape;
use crate::geometry::Surface;
use crate::world::TerraceParams;

/// The scene of a renderer; it is constant for the lifetime of the renderer.
#[derive(Clone, Debug)]
pub struct RenderSetup {
    /// Name of the scene.
    pub scene: String,
    /// Time in which the last picture of another scene fades into this one; see [`PictureParams::fade_secs`].
    pub fade_secs: f32,
    /// The surface that fills the picture.
    pub surface: Surface,
    /// The outputs, at least one.
    pub outputs: Vec<OutputParams>,
    /// Light, water and ground.
    pub look: SceneLook,
    /// Depth of the ground below the surface.
    pub depth_m: f32,
    /// Look and model of every species, followed by those of named individuals with a look of their own, in the order of the numbers in
    /// the snapshots.
    pub species: Vec<(SpeciesLook, Model)>,
    /// Models of static bodies, as [`shipped_static_models`](super::shipped_static_models) returns them. If there are fewer
    /// models, no static body is drawn.
    pub static_models: Vec<Model>,
    /// Stones and trunks.
    pub static_shapes: Vec<StaticShape>,
    /// Terraces: waters at different heights.
    pub terraces: Vec<TerraceParams>,
    /// The parts of the overlay that are drawn in addition to the annotations of the snapshots.
    pub overlay_options: OverlayOptions,
    /// Resolution and samples of water and bodies.
    pub quality: PictureQuality,
}

/// Table `[picture]` of a site: properties of the picture that depend on the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PictureParams {
    /// Resolution and samples of the picture.
    pub quality: PictureQuality,
    /// Time in which the picture fades from one scene to the next: the last picture of the old scene fades out over the new one.
    /// Higher: a slow dissolve. Lower: a quick change; 0: at once.
    #[schemars(range(min = 0.0, max = 60.0))]
    pub fade_secs: f32,
}

impl Default for PictureParams {
    fn default() -> Self {
        Self {
            quality: PictureQuality::default(),
            fade_secs: 4.0,
        }
    }
}

/// Resolution and samples of the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PictureQuality {
    /// `high` on a graphics card, `low` on a machine without one.
    #[default]
    Auto,
    /// Up to 1024 cells of water along a side, four samples per pixel, the finest meshes. Needs a graphics card for a live picture.
    High,
    /// At most 128 cells of water along a side, one sample per pixel, meshes of medium detail, for machines without a graphics card.
    Low,
}
