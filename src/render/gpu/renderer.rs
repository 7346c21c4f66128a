//! Owns all data that exists as long as a scene, on the CPU and on the GPU, and draws the pictures of the scene.

use std::sync::Arc;

use wgpu::BufferUsages;

use super::bind_groups::{BindGroupInputs, BindGroups, Samplers};
use super::device::Gpu;
use super::meshes::{MeshRange, upload};
use super::output::OutputPass;
use super::passes::PASSES;
use super::pipelines::{
    BindGroupLayouts, OutputKind, OutputPipelines, PipelineKind, Pipelines, output_features,
};
use super::targets::{FixedTextures, GrowingBuffer, Targets, buffer};
use super::water::{Water, WaterInputs};
use crate::geometry::Surface;
use crate::render::calibration_pattern::{CalibrationPattern, FloorNotice};
use crate::render::detail::Detail;
use crate::render::draw_list::DrawList;
use crate::render::dust::Dust;
use crate::render::error::RenderError;
use crate::render::flash::FlashState;
use crate::render::floating::Floating;
use crate::render::governor::Quality;
use crate::render::light::{Season, apply_run_color};
use crate::render::look::{SceneLook, SpeciesLook};
use crate::render::model::{LEVELS, Model, STATIC_MODEL_COUNT};
use crate::render::overlay::{Overlay, OverlayOptions};
use crate::render::pose::Body;
use crate::render::scenery::Scenery;
use crate::render::setup::RenderSetup;
use crate::render::static_bodies::StaticBodies;
use crate::render::static_shape::StaticShape;
use crate::render::uniforms::SceneUniforms;
use crate::render::view::View;
use crate::render::water::WaterPressure;
use crate::render::waterfalls::{drops, waterfalls};
use crate::world::Snapshot;

/// Usage of a uniform buffer that the CPU writes.
const WRITTEN_UNIFORM: BufferUsages = BufferUsages::UNIFORM.union(BufferUsages::COPY_DST);

/// Draws the pictures of one scene on one device.
pub struct Renderer {
    // Data on the GPU.
    pub(super) gpu: Gpu,
    pub(super) layouts: BindGroupLayouts,
    pub(super) pipelines: Pipelines,
    /// The properties for which the pipelines are compiled.
    compiled_for: PipelineKind,
    pub(super) targets: Targets,
    samplers: Samplers,
    pub(super) fixed: FixedTextures,
    pub(super) uniform_buffer: wgpu::Buffer,
    pub(super) vertex_buffer: wgpu::Buffer,
    pub(super) index_buffer: wgpu::Buffer,
    pub(super) ground_shadow_indices: GrowingBuffer,
    pub(super) ground_shadow_vertices: GrowingBuffer,
    pub(super) instance_buffer: GrowingBuffer,
    pub(super) joint_buffer: GrowingBuffer,
    pub(super) speck_buffer: GrowingBuffer,
    pub(super) leaf_buffer: GrowingBuffer,
    pub(super) bind_groups: BindGroups,
    /// The meshes of every model, [`LEVELS`] each: static models first, then the models of species.
    pub(super) meshes: Vec<MeshRange>,
    pub(super) outputs: Vec<OutputPass>,
    // Data on the CPU.
    bodies: Vec<Body>,
    pub(super) surface: Surface,
    pub(super) scenery: Scenery,
    pub(super) look: SceneLook,
    pub(super) uniforms: SceneUniforms,
    pub(super) draw_list: DrawList,
    overlay: Overlay,
    pub(super) pressure: WaterPressure,
    pub(super) water: Water,
    /// Waterfalls between terraces.
    waterfalls: Vec<StaticShape>,
    pub(super) static_bodies: StaticBodies,
    pub(super) dust: Dust,
    pub(super) floating: Floating,
    pub(super) quality: Quality,
    detail: Detail,
    /// Options for drawings over the picture, apart from the overlay items of the snapshots.
    pub overlay_options: OverlayOptions,
    /// The pattern for the camera calibration that is drawn over the picture; `None` if no pattern is drawn.
    pub calibration_pattern: Option<CalibrationPattern>,
    /// The text that is drawn at an edge of the surface; `None` if none is drawn.
    pub notice: Option<Arc<FloorNotice>>,
    /// Light of the picture without patterns and texts, from 0 (black) to 1.
    pub level: f32,
}

impl Renderer {
    /// Creates all data that exists as long as the scene, on a device that needs no window.
    ///
    /// # Errors
    /// If the picture exceeds the device's limits, an output's parameters describe no valid warp, or the device reports
    /// an error.
    pub fn new(gpu: Gpu, setup: RenderSetup) -> Result<Self, RenderError> {
        Self::build(gpu, setup, None)
    }

    /// Does the same as [`Self::new`], but uses the compiled pipelines of `like`, a renderer on the same device, where they fit.
    #[expect(
        clippy::too_many_lines,
        reason = "a list of all data of a scene, in the order in which it is created"
    )]
    pub(super) fn build(
        gpu: Gpu,
        setup: RenderSetup,
        like: Option<&Self>,
    ) -> Result<Self, RenderError> {
        let RenderSetup {
            surface,
            outputs,
            look,
            depth_m,
            species,
            static_models,
            static_shapes,
            terraces,
            overlay_options,
            quality,
        } = setup;
        let device = &gpu.device;
        let detail = Detail::of(quality, gpu.is_software());
        let bodies = bodies(species, look.season);
        let models = || bodies.iter().map(|body| &body.model);
        let layouts = like.map_or_else(|| BindGroupLayouts::new(device), |l| l.layouts.clone());
        let all_models = static_models.iter().chain(models());
        let influences = all_models.map(Model::influences).max().unwrap_or(1);
        let compiled_for = PipelineKind {
            surface: surface.kind,
            samples: detail.samples,
            influences,
            has_varieties: bodies.iter().any(|body| !body.look.varieties.is_empty()),
            has_markings: bodies.iter().any(|body| body.look.markings.is_set()),
        };
        let samplers = like.map_or_else(|| Samplers::new(device), |l| l.samplers.clone());
        let pipelines = match like {
            Some(like) if like.compiled_for == compiled_for => like.pipelines.clone(),
            _ => Pipelines::new(device, &layouts, compiled_for),
        };
        let mut passes: Vec<OutputPass> = Vec::with_capacity(outputs.len());
        for output in &outputs {
            let kind = OutputKind {
                surface: surface.kind,
                own: output_features(output),
            };
            let known = like.into_iter().flat_map(|like| &like.outputs);
            let mut known = known.chain(&passes).map(|pass| &pass.pipelines);
            let compiled = known.find(|known| known.compiled_for == kind).cloned();
            let compiled = compiled.unwrap_or_else(|| OutputPipelines::new(device, &layouts, kind));
            let flat = &samplers.flat;
            passes.push(OutputPass::new(
                &gpu, &layouts, flat, &surface, output, compiled,
            )?);
        }
        let outputs = passes;
        let size = picture_px(&gpu, outputs.iter().map(|output| &output.view));
        let scenery =
            Scenery::new(&look, &surface, size, depth_m).with_terraces(&terraces, &surface);
        let targets = Targets::new(device, size, detail.samples);
        let fixed = FixedTextures::new(&gpu, models(), like.map(|like| &like.fixed));
        let drawn = static_models.get(..STATIC_MODEL_COUNT).unwrap_or_default();
        let (meshes, vertex_buffer, index_buffer) = upload(&gpu, drawn.iter().chain(models()));
        let bytes = size_of::<SceneUniforms>() as u64;
        let uniform_buffer = buffer(device, "scene uniforms", WRITTEN_UNIFORM, bytes);
        let grow = |label, usage, bytes| GrowingBuffer::new(device, label, usage, bytes);
        let instance_buffer = grow("instances", BufferUsages::STORAGE, 4096);
        let joint_buffer = grow("joints", BufferUsages::STORAGE, 65536);
        let waterfalls = waterfalls(&terraces);
        let mut shapes = static_shapes;
        shapes.extend_from_slice(&waterfalls);
        let place = || StaticBodies::new(&shapes, &surface, &look, &scenery);
        let static_bodies = (!drawn.is_empty()).then(place).unwrap_or_default();
        let uniforms = SceneUniforms::new(&look, &surface, &scenery);
        let inputs = WaterInputs {
            scenery: &scenery,
            detail,
            swell: look.swell,
            shapes: &shapes,
            lengths_m: bodies.iter().map(|body| body.look.length_m).collect(),
        };
        let water = Water::new((device, &gpu.queue), inputs, like.map(|like| &like.water));
        let bind_groups = BindGroups::new(&BindGroupInputs {
            device,
            layouts: &layouts,
            targets: &targets,
            water: &water,
            samplers: &samplers,
            fixed: &fixed,
            uniforms: &uniform_buffer,
            instances: &instance_buffer,
            joints: &joint_buffer,
        });
        let renderer = Self {
            ground_shadow_indices: grow("ground shadow indices", BufferUsages::INDEX, 65536),
            ground_shadow_vertices: grow("ground shadow vertices", BufferUsages::VERTEX, 65536),
            pressure: WaterPressure::new(scenery.grid),
            water,
            waterfalls,
            dust: Dust::new(&look, &surface, depth_m),
            speck_buffer: grow("specks", BufferUsages::VERTEX, 4096),
            floating: Floating::new(&look, &surface, &shapes),
            leaf_buffer: grow("floating leaves", BufferUsages::VERTEX, 4096),
            draw_list: DrawList::default(),
            overlay: Overlay::default(),
            quality: Quality::FULL,
            detail,
            overlay_options,
            calibration_pattern: None,
            notice: None,
            level: 1.0,
            gpu,
            layouts,
            pipelines,
            compiled_for,
            targets,
            samplers,
            fixed,
            uniform_buffer,
            vertex_buffer,
            index_buffer,
            instance_buffer,
            joint_buffer,
            bind_groups,
            meshes,
            outputs,
            bodies,
            surface,
            scenery,
            look,
            uniforms,
            static_bodies,
        };
        renderer.prepared()
    }

    /// Selects the full quality and paints the ground.
    fn prepared(mut self) -> Result<Self, RenderError> {
        self.set_quality(Quality::FULL);
        self.paint_ground();
        self.gpu.check()?;
        Ok(self)
    }

    /// The device that draws the pictures.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// The mapping from the world to each output's pixels, in the order of the outputs.
    pub fn views(&self) -> impl Iterator<Item = &View> {
        self.outputs.iter().map(|output| &output.view)
    }

    /// Draws the interpolated state between two snapshots; `alpha` is 0 at the first and 1 at the second. The pictures stay on
    /// the GPU; [`Self::read`] copies them to the CPU.
    ///
    /// # Errors
    /// [`RenderError::Device`] if the device reported an error or is lost.
    pub fn draw(
        &mut self,
        previous: &Snapshot,
        next: &Snapshot,
        alpha: f32,
    ) -> Result<(), RenderError> {
        let (time_secs, since_secs) =
            self.draw_list
                .update(previous, next, alpha, &self.bodies, &self.scenery);
        let drops = drops(&self.waterfalls, time_secs, &self.surface);
        self.pressure
            .set_splashes(&next.splashes, drops, &self.surface);
        self.pressure.advance(since_secs, &next.shadows);
        self.dust.advance(since_secs, time_secs, &next.shadows);
        self.dust.burst(&next.catches);
        self.floating.advance(
            since_secs,
            time_secs,
            &next.shadows,
            self.draw_list.agents(),
        );
        self.floating
            .cast_shadows(&self.scenery, &mut self.draw_list.ground_shadows);
        self.build_overlay(next);
        self.uniforms.set_time(time_secs);
        self.update_water(since_secs, time_secs);
        self.upload_draw_data();
        for output in &mut self.outputs {
            output.upload(&self.gpu, &self.overlay, self.level);
            output.limit_flash(&self.gpu, time_secs)?;
        }
        let mut encoder = self
            .gpu
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        for pass in &PASSES {
            (pass.encode)(self, &mut encoder);
        }
        self.gpu.queue.submit([encoder.finish()]);
        for output in &mut self.outputs {
            output.request_readback(time_secs);
        }
        self.gpu.check()
    }

    /// Sets the quality of all following pictures.
    pub fn set_quality(&mut self, quality: Quality) {
        self.quality = quality;
        self.draw_list.finest_level = if quality.is_reduced {
            LEVELS - 1
        } else {
            self.detail.finest_level
        };
        self.uniforms.target_scale = quality.scale;
    }

    /// State of the flash limiters, one per output.
    pub fn flash_states(&self) -> impl Iterator<Item = &FlashState> {
        self.outputs.iter().map(OutputPass::flash_state)
    }

    /// Continues from the flash states of another renderer of the same outputs. So the flash limiter also limits the change
    /// from the last pictures of that renderer to the first pictures of this renderer.
    pub fn resume_flash_states(&mut self, states: &[FlashState]) {
        for (output, state) in self.outputs.iter_mut().zip(states) {
            output.resume_flash_state(&self.gpu, state);
        }
    }

    /// Number of times that a flash limiter slowed an output's picture down.
    pub fn flash_limit_count(&self) -> u64 {
        self.outputs.iter().map(OutputPass::flash_limit_count).sum()
    }

    /// Sets the factor by which the light of the scene is multiplied. Tests change this factor to make the picture flash.
    pub fn set_exposure(&mut self, exposure: f32) {
        self.uniforms.exposure = exposure;
    }

    /// Collects all items that are drawn over the picture.
    fn build_overlay(&mut self, next: &Snapshot) {
        self.overlay.clear(&self.surface);
        if let Some(pattern) = self.overlay_options.pattern {
            self.overlay
                .pattern(pattern, self.outputs.iter().map(|output| &output.view));
            self.draw_notice();
            return;
        }
        match &self.calibration_pattern {
            Some(CalibrationPattern::Stripes(stripes)) => {
                self.overlay.stripes(stripes);
                return;
            }
            Some(CalibrationPattern::Target(target)) => self.overlay.target(target),
            None => {}
        }
        if self.overlay_options.vectors {
            self.overlay.vectors(self.draw_list.agents());
        }
        if self.overlay_options.shadows {
            self.overlay.shadows(&next.shadows);
        }
        self.overlay.items(&next.overlay);
        self.draw_notice();
    }

    fn draw_notice(&mut self) {
        if let Some(notice) = &self.notice {
            self.overlay.notice(notice);
        }
    }

    /// Creates the bind groups again after a buffer was replaced by a larger one.
    pub(super) fn rebind(&mut self) {
        self.bind_groups = BindGroups::new(&BindGroupInputs {
            device: &self.gpu.device,
            layouts: &self.layouts,
            targets: &self.targets,
            water: &self.water,
            samplers: &self.samplers,
            fixed: &self.fixed,
            uniforms: &self.uniform_buffer,
            instances: &self.instance_buffer,
            joints: &self.joint_buffer,
        });
    }

    /// Copies the finished picture of the output with index `output` into `rgba`: rows from the top, 4 bytes per pixel, sRGB.
    ///
    /// # Errors
    /// [`RenderError::Device`] if the device does not answer; [`RenderError::Output`] if the output does not exist.
    pub fn read(&mut self, output: usize, rgba: &mut Vec<u8>) -> Result<(), RenderError> {
        let output = self.outputs.get(output).ok_or_else(|| {
            RenderError::Output(format!(
                "output {output} does not exist; there are {}",
                self.outputs.len()
            ))
        })?;
        output.read(&self.gpu, rgba)
    }
}

/// Returns the bodies of all species, with the colors of a season.
fn bodies(species: Vec<(SpeciesLook, Model)>, season: Season) -> Vec<Body> {
    let body = |(look, mut model): (SpeciesLook, Model)| {
        if season == Season::Run {
            apply_run_color(&mut model, look.run_pink);
        }
        Body::new(model, look)
    };
    species.into_iter().map(body).collect()
}

/// Returns the size in pixels of the picture of the whole surface. Within the limits of the device, the picture is so
/// large that no output has to enlarge its part of the picture.
pub(super) fn picture_px<'a>(gpu: &Gpu, views: impl Iterator<Item = &'a View>) -> [u32; 2] {
    // The ground texture is larger than the picture, and it must not exceed the device's limit.
    let most = f64::from(gpu.device.limits().max_texture_dimension_2d) / 1.5;
    let wanted = views.fold([16.0f64; 2], |size, view| {
        let [width, height] = view.warp.picture_px(view.size_px);
        [size[0].max(width), size[1].max(height)]
    });
    wanted.map(|side| side.round().min(most) as u32)
}
