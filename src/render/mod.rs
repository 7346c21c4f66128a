//! The picture: draw data from snapshots, the GPU, and what becomes of the finished frames.
//!
//! In: snapshots, scene and species looks, models. Out: frames. Reads `world` only as plain data; decides nothing
//! about a fish but how it looks and how its body moves.

mod captions;
pub mod caustics;
pub mod draw;
pub mod dust;
pub mod error;
pub mod falls;
pub mod flash;
pub mod footing;
pub mod frame;
pub mod governor;
pub mod gpu;
pub mod growth;
pub mod letters;
pub mod light;
pub mod model;
pub mod output;
pub mod overlay;
pub mod params;
pub mod pose;
pub mod projector;
pub mod ripples;
pub mod rock;
pub mod shade;
pub mod silhouette;
pub mod still;
pub mod target;
pub mod view;
pub mod warp;
pub mod water;

pub use error::RenderError;
pub use flash::Seen;
pub use governor::{Governor, Quality};
pub use gpu::{
    Acquired, Edges, Gpu, OutputScreen, Renderer, Screen, Setup, WindowTarget, WindowTargets,
};
pub use light::{Light, Lighting, Season};
pub use model::{Model, ModelError, ModelProblem};
pub use output::{FrameFormat, FrameWriter};
pub use overlay::{OverlayWish, Pattern};
pub use params::{SceneLook, SpeciesLook, Tint};
pub use projector::{Corner, Corners, OutputParams};
pub use view::View;

pub use rock::{Form, RockShape};
