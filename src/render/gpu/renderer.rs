//! Draws the pictures of a scene. Owns the draw data on the CPU and everything that the GPU keeps for it.

use std::sync::Arc;

use wgpu::BindGroup;

use super::bloom::Bloom;
use super::bodies::{Bodies, BodyKind, BodyTextures};
use super::body_targets::BodyTargets;
use super::costs::{self, PassCost};
use super::device::Gpu;
use super::ground::Ground;
use super::ground_shadow::GroundShadows;
use super::meshes::Meshes;
use super::output::OutputPass;
use super::output_pipelines::{OutputKind, OutputPipelines, OutputTextures};
use super::pass_timer::{Edge, PassGroup, PassTimer, PassTimes};
use super::pipelines::Pipelines;
use super::scene::SceneBuffer;
use super::skins::skins;
use super::small_bodies::{LEAVES, SPECKS, SmallBodies};
use super::traces::TraceTexture;
use super::water::Water;
use crate::render::calibration_pattern::{CalibrationPattern, FloorNotice};
use crate::render::detail::Detail;
use crate::render::draw_data::DrawData;
use crate::render::error::RenderError;
use crate::render::flash::FlashState;
use crate::render::governor::Quality;
use crate::render::model::{LEVELS, STATIC_MODEL_COUNT, drawn_influences};
use crate::render::overlay::{Overlay, OverlayOptions};
use crate::render::setup::RenderSetup;
use crate::render::uniforms::SceneUniforms;
use crate::render::view::View;
use crate::world::{Light, Snapshot};

/// Draws the pictures of one scene on one device.
pub struct Renderer {
    pub(super) gpu: Gpu,
    pub(super) pipelines: Pipelines,
    pub(super) data: DrawData,
    overlay: Overlay,
    /// Name of the scene.
    pub(super) scene_name: String,
    /// Whether the last picture of an old scene fades into this scene.
    pub(super) fades: bool,
    // The drawables, each with its data on the GPU.
    pub(super) scene: SceneBuffer,
    pub(super) water: Water,
    ground: Ground,
    ground_shadows: GroundShadows,
    pub(super) body_targets: BodyTargets,
    bodies: Bodies,
    leaves: SmallBodies,
    specks: SmallBodies,
    traces: TraceTexture,
    bloom: Bloom,
    pub(super) outputs: Vec<OutputPass>,
    output_textures: BindGroup,
    /// Bytes of the textures that each output reads.
    seen_bytes: u64,
    timer: PassTimer,
    detail: Detail,
    /// Whether the first picture of a scene may have a coarse ground.
    is_live: bool,
    pub(super) quality: Quality,
    /// Options for drawings over the picture, apart from the overlay items of the snapshots.
    pub overlay_options: OverlayOptions,
    /// Index in the site of each output, if they are not all outputs of the site in their order.
    pub output_indexes: Vec<usize>,
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
        Self::build(gpu, setup, None, false)
    }

    /// Does the same as [`Self::new`], but the first picture is ready sooner: without a graphics card, a scene begins with a coarse ground,
    /// and the following pictures paint the fine one.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn live(gpu: Gpu, setup: RenderSetup) -> Result<Self, RenderError> {
        Self::build(gpu, setup, None, true)
    }

    /// Does the same as [`Self::new`] for the same kind of pictures as those of this renderer, and uses its compiled pipelines where
    /// they fit.
    pub(super) fn next(&self, setup: RenderSetup) -> Result<Self, RenderError> {
        Self::build(self.gpu.clone(), setup, Some(self), self.is_live)
    }

    fn build(
        gpu: Gpu,
        mut setup: RenderSetup,
        like: Option<&Self>,
        is_live: bool,
    ) -> Result<Self, RenderError> {
        let device = &gpu.device;
        let detail = Detail::of(setup.quality, gpu.is_software());
        let kind = body_kind(&setup, detail);
        let pipelines = match like {
            Some(like) => like.pipelines.for_kind(&gpu, kind),
            None => Pipelines::new(&gpu, kind),
        };
        let known = like.map_or(&[][..], |like| &like.outputs[..]);
        let outputs = outputs(&gpu, &pipelines, &setup, known)?;
        let picture_px = picture_px(&gpu, outputs.iter().map(OutputPass::view));
        let data = DrawData::new(&mut setup, picture_px);
        let uniforms = SceneUniforms::new(&data.look, &data.surface, &data.scenery);
        let lights = Light::ALL.map(|light| {
            let look = data.look.in_light(light);
            SceneUniforms::new(&look, &data.surface, &data.scenery)
        });
        let scene = SceneBuffer::new(device, &pipelines.scene, (uniforms, lights));
        let contacts = &data.static_bodies.contacts;
        let ground = Ground::new(
            &gpu,
            &pipelines.ground,
            (&scene, &data.scenery, contacts),
            picture_px,
            is_live && gpu.is_software(),
        );
        let water = Water::new(&gpu, &pipelines.water, &data, detail);
        let models = || data.bodies.iter().map(|body| &body.model);
        let ground_shadows = GroundShadows::new(
            &gpu,
            &pipelines.ground_shadow,
            &pipelines.samplers,
            models(),
            (picture_px, data.surface.kind),
        );
        let body_targets = BodyTargets::new(device, picture_px, detail.samples);
        let static_models = setup.static_models.get(..STATIC_MODEL_COUNT);
        let all_models = static_models.unwrap_or_default().iter().chain(models());
        let textures = BodyTextures {
            sunlight: water.sunlight().clone(),
            skins: skins(&gpu, models()),
            weathering: pipelines.weathering.clone(),
            samplers: pipelines.samplers.clone(),
        };
        let meshes = Meshes::upload(&gpu, all_models);
        let bodies = Bodies::new(&gpu, &pipelines.bodies, meshes, textures);
        let traces = TraceTexture::new(&gpu, &data.traces);
        let shining = (data.look.bloom > 0.0).then_some(&body_targets.light);
        let samplers = &pipelines.samplers;
        let bloom = Bloom::new(&gpu, &pipelines.bloom, samplers, shining, &data.surface);
        let seen = seen(
            (&body_targets, &water, &ground, &ground_shadows),
            (&traces, &bloom),
            &pipelines,
        );
        let mut renderer = Self {
            output_textures: pipelines.outputs.bound(device, &pipelines.samplers, &seen),
            seen_bytes: seen.bytes(),
            timer: PassTimer::new(&gpu),
            leaves: SmallBodies::new(device, &LEAVES),
            specks: SmallBodies::new(device, &SPECKS),
            overlay: Overlay::default(),
            detail,
            is_live,
            quality: Quality::FULL,
            scene_name: setup.scene.clone(),
            fades: setup.fade_secs > 0.0,
            overlay_options: setup.overlay_options,
            calibration_pattern: None,
            output_indexes: Vec::new(),
            notice: None,
            level: 1.0,
            gpu,
            pipelines,
            scene,
            water,
            ground,
            ground_shadows,
            body_targets,
            bodies,
            traces,
            bloom,
            outputs,
            data,
        };
        renderer.set_quality(Quality::FULL);
        renderer.gpu.check()?;
        Ok(renderer)
    }

    /// The device that draws the pictures.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// The mapping from the world to each output's pixels, in the order of the outputs.
    pub fn views(&self) -> impl Iterator<Item = &View> {
        self.outputs.iter().map(OutputPass::view)
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
        self.data.advance(previous, next, alpha);
        self.build_overlay(next);
        self.pipelines.overlay.upload(&self.gpu, &mut self.overlay);
        self.upload();
        let time_secs = self.data.time_secs;
        for output in &mut self.outputs {
            output.upload(&self.gpu, &self.overlay, self.level);
            output.limit_flash(&self.gpu, time_secs)?;
        }
        self.timer.begin()?;
        let device = &self.gpu.device;
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        if self
            .ground
            .refine(&mut encoder, &self.pipelines.ground, &self.scene)
        {
            let drawn = (
                &self.body_targets,
                &self.water,
                &self.ground,
                &self.ground_shadows,
            );
            let seen = seen(drawn, (&self.traces, &self.bloom), &self.pipelines);
            let samplers = &self.pipelines.samplers;
            self.output_textures = self.pipelines.outputs.bound(device, samplers, &seen);
            self.seen_bytes = seen.bytes();
        }
        let timer = &self.timer;
        let (pipelines, scene, scale) = (&self.pipelines, &self.scene, self.quality.scale);
        self.water.encode(&mut encoder, &pipelines.water, timer);
        let shadows = &pipelines.ground_shadow;
        self.ground_shadows
            .encode(&mut encoder, shadows, scene, (scale, timer));
        self.draw_bodies(&mut encoder);
        self.bloom.encode(&mut encoder, &pipelines.bloom, scene);
        let last = self.outputs.len().saturating_sub(1);
        for (index, output) in self.outputs.iter().enumerate() {
            let stamp = |edge| timer.around(PassGroup::Outputs, edge);
            let first = (index == 0).then(|| stamp(Edge::First)).flatten();
            let last = (index == last).then(|| stamp(Edge::Last)).flatten();
            let (stamps, textures) = ([first, last], &self.output_textures);
            output.encode(&mut encoder, pipelines, scene, textures, stamps);
        }
        self.timer.copy(&mut encoder);
        self.gpu.queue.submit([encoder.finish()]);
        for output in &mut self.outputs {
            output.request_readback(time_secs);
        }
        self.timer.request();
        self.gpu.check()
    }

    /// Uploads the data of this picture.
    fn upload(&mut self) {
        let Self { gpu, data, .. } = self;
        self.scene.uniforms.set_time(data.time_secs);
        self.scene.uniforms.has_traces = u32::from(!data.traces.is_blank);
        self.scene
            .upload(&gpu.queue, data.light, data.foliage().rust);
        self.water.update(gpu, data, self.quality);
        let fixed = &data.static_bodies;
        let shadows = &data.list.ground_shadows;
        self.ground_shadows
            .upload(gpu, &fixed.ground_shadows, shadows);
        let bodies = &self.pipelines.bodies;
        self.bodies.upload(gpu, bodies, fixed, &mut data.list);
        let blossoms = &data.blossoms.open;
        self.leaves.upload(gpu, [&data.floating.leaves, blossoms]);
        self.traces.upload(gpu, &data.traces);
        let specks = if self.quality.is_reduced {
            &[][..]
        } else {
            &data.dust.specks
        };
        self.specks.upload(gpu, [specks, &[]]);
    }

    /// Encodes the pass of the bodies: static bodies, fish and waterfalls, then floating leaves, then specks.
    fn draw_bodies(&self, encoder: &mut wgpu::CommandEncoder) {
        let Self {
            pipelines, data, ..
        } = self;
        let stamps = self.timer.around(PassGroup::Bodies, Edge::Only);
        let scale = self.quality.scale;
        let mut pass = self.body_targets.begin(encoder, scale, stamps);
        pass.set_bind_group(0, &self.scene.group, &[]);
        let (fixed, moving) = (&data.static_bodies, &data.list);
        self.bodies
            .draw(&mut pass, &pipelines.bodies, fixed, moving);
        self.leaves.draw(&mut pass, &pipelines.leaves);
        self.specks.draw(&mut pass, &pipelines.specks);
    }

    /// Returns the work of every pass of the last picture, in the order in which the passes are drawn.
    #[must_use]
    pub fn pass_costs(&self) -> Vec<PassCost> {
        let (fixed, moving) = (&self.data.static_bodies, &self.data.list);
        let (triangles, read_bytes) = self.bodies.cost(fixed, moving);
        let bodies = PassCost {
            name: "bodies",
            pixels: costs::pixels(&self.body_targets.light),
            triangles: triangles + self.leaves.triangles() + self.specks.triangles(),
            read_bytes,
            written_bytes: self.body_targets.written_bytes(),
        };
        let mut all = self.water.pass_costs();
        all.extend([self.ground_shadows.cost(), bodies]);
        all.extend(self.bloom.pass_costs());
        let outputs = self.outputs.iter();
        all.extend(outputs.flat_map(|output| output.pass_costs(self.seen_bytes)));
        all
    }

    /// Takes the times that the device measured for a picture; `None` if no picture was measured since the last call. A device
    /// without timestamps measures none.
    pub fn take_pass_times(&mut self) -> Option<PassTimes> {
        self.timer.take()
    }

    /// Sets the quality of all following pictures.
    pub fn set_quality(&mut self, quality: Quality) {
        self.quality = quality;
        self.data.list.finest_level = if quality.is_reduced {
            LEVELS - 1
        } else {
            self.detail.finest_level
        };
        self.scene.uniforms.target_scale = quality.scale;
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
        self.scene.uniforms.exposure = exposure;
    }

    /// Collects all items that are drawn over the picture.
    fn build_overlay(&mut self, next: &Snapshot) {
        self.overlay.clear(&self.data.surface);
        // While the camera is calibrated, its crosses are more important.
        if let (Some(pattern), None) = (self.overlay_options.pattern, self.calibration_pattern) {
            let views = self.outputs.iter().map(OutputPass::view).enumerate();
            let indexes = &self.output_indexes;
            let views = views.map(|(i, view)| (indexes.get(i).copied().unwrap_or(i), view));
            let corner = self.overlay_options.corner;
            self.overlay.pattern(pattern, corner, views);
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
        if next.marks_shadows {
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

    /// Copies the finished picture of the output with index `output` into `rgba`: rows from the top, 4 bytes per pixel, sRGB.
    ///
    /// # Errors
    /// [`RenderError::Device`] if the device does not answer; [`RenderError::Output`] if the output does not exist.
    pub fn read(&mut self, output: usize, rgba: &mut Vec<u8>) -> Result<(), RenderError> {
        let count = self.outputs.len();
        let output = self.outputs.get_mut(output).ok_or_else(|| {
            let message = format!("output {output} does not exist; there are {count}");
            RenderError::Output(message)
        })?;
        output.read(&self.gpu, rgba)
    }
}

/// Returns the textures that the outputs read.
fn seen<'a>(
    (bodies, water, ground, ground_shadows): (
        &'a BodyTargets,
        &'a Water,
        &'a Ground,
        &'a GroundShadows,
    ),
    (traces, bloom): (&'a TraceTexture, &'a Bloom),
    pipelines: &'a Pipelines,
) -> OutputTextures<'a> {
    OutputTextures {
        bodies: &bodies.light,
        body_depth: &bodies.depth,
        slopes: water.slopes(),
        sunlight: water.sunlight(),
        ground: &ground.view,
        ground_shadow: &ground_shadows.target,
        noise: &pipelines.noise,
        traces: &traces.view,
        bloom: &bloom.light,
    }
}

/// Returns the properties of a scene for which the pipelines of bodies are compiled.
fn body_kind(setup: &RenderSetup, detail: Detail) -> BodyKind {
    let species = || setup.species.iter();
    let models = setup.static_models.iter();
    let all_models = models.chain(species().map(|(_, model)| model));
    BodyKind {
        surface: setup.surface.kind,
        samples: detail.samples,
        influences: all_models.map(drawn_influences).max().unwrap_or(1),
        has_varieties: species().any(|(look, _)| !look.varieties.is_empty()),
        has_markings: species().any(|(look, _)| look.markings.is_set()),
    }
}

/// Creates the passes of the outputs. Uses the compiled pipelines of `known` passes on the same device where they fit.
fn outputs(
    gpu: &Gpu,
    pipelines: &Pipelines,
    setup: &RenderSetup,
    known: &[OutputPass],
) -> Result<Vec<OutputPass>, RenderError> {
    let surface = &setup.surface;
    let mut passes: Vec<OutputPass> = Vec::with_capacity(setup.outputs.len());
    for output in &setup.outputs {
        let kind = OutputKind::new(surface.kind, &setup.look, output);
        let mut compiled = known.iter().chain(&passes).map(|pass| &pass.pipelines);
        let compiled = compiled.find(|known| known.compiled_for == kind).cloned();
        let layouts = &pipelines.outputs;
        let compile = || OutputPipelines::new(&gpu.device, layouts, kind);
        let compiled = compiled.unwrap_or_else(compile);
        passes.push(OutputPass::new(gpu, pipelines, surface, output, compiled)?);
    }
    Ok(passes)
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
