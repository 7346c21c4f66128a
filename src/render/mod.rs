//! The picture: draw data from snapshots, the GPU, and the output of finished pictures to windows and files.
//!
//! In: snapshots, the looks of the scene and of the species, models. Out: pictures. This module reads `world` only as plain
//! data. It knows the appearance and the motion of a fish's body, but nothing about the fish's decisions.
//!
//! A *picture* is one finished image of the pool; a *texture* is an image on the GPU; a *frame* is an image of the camera and
//! does not occur in this module. The stages: [`RenderSetup`] → scenery, bodies, water and overlay as plain data on the CPU →
//! `gpu` → one picture per output.

mod blossoms;
mod calibration_pattern;
mod color;
mod detail;
mod draw_data;
mod draw_list;
mod drift;
mod dust;
mod error;
mod flash;
mod floating;
mod governor;
mod gpu;
mod ground_contact;
mod ground_shadow;
mod labels;
mod lettering;
mod light;
mod look;
mod model;
mod noise;
mod output_params;
mod overlay;
mod pose;
mod scenery;
mod setup;
mod shadow_mask;
mod static_bodies;
mod static_shape;
mod touch_target;
mod traces;
mod uniforms;
mod vegetation;
mod view;
mod warp;
mod water;
mod waterfalls;
mod waterside;
mod writer;

pub use calibration_pattern::{
    CalibrationPattern, FloorNotice, FloorStripes, FloorTarget, QrModules, StripeAxis,
};
pub use color::Tint;
pub use draw_list::DrawList;
pub use error::RenderError;
pub use flash::FlashState;
pub use governor::{Governor, Quality};
pub use gpu::{
    Acquired, Gpu, GpuPresenter, PassCost, PassGroup, PassTimes, Presenter, Renderer,
    ThumbnailPixels, WindowTarget, WindowTargets,
};
pub use look::{IndividualLook, Markings, SceneLook, SpeciesLook};
pub use model::{
    Model, ModelError, ModelProblem, ModelVertex, SHIPPED_MODELS, shipped_static_models,
};
pub use output_params::{Corner, Corners, Mask, OutputParams};
pub use overlay::{OutputCorner, Overlay, OverlayOptions, Pattern};
pub use pose::{Body, Individual};
pub use scenery::Scenery;
pub use setup::{PictureParams, PictureQuality, RenderSetup};
pub use static_shape::{StaticForm, StaticShape};
pub use view::View;
pub use water::WaterPressure;
pub use waterfalls::{FallPlace, fall_places};
pub use writer::PictureWriter;
