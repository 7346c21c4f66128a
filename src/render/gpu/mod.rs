//! The GPU: turns draw data into pixels. Knows triangles and light, no fish and no visitors.
//!
//! One frame: shadows darken the light that the water bends to the ground,
//! stones and fish are drawn over nothing, and for every projector a last pass looks through the moving surface at them
//! and at the ground that was painted once, through film and warp, onto the projector's pixels.

mod bodies;
mod device;
mod groups;
mod head;
mod passes;
mod pipelines;
mod present;
mod targets;
mod watch;

use wgpu::BufferUsages;

pub use device::Gpu;
pub use pipelines::SHADERS;
pub use present::{Acquired, OutputScreen, Screen, WindowTarget, WindowTargets};

use self::bodies::{Mesh, upload};
use self::groups::{Given, Groups, Samplers};
use self::head::Head;
use self::pipelines::{Layouts, Pipelines};
use self::targets::{Fixed, Growing, Targets, buffer};
use super::caustics::Caustics;
use super::draw::DrawList;
use super::dust::Dust;
use super::error::RenderError;
use super::falls::{drops, falls};
use super::flash::Seen;
use super::frame::{self, Frame, Scenery};
use super::governor::Quality;
use super::light::{self, Season};
use super::model::Model;
use super::overlay::{Overlay, OverlayWish};
use super::params::{SceneLook, SpeciesLook};
use super::pose::Body;
use super::projector::OutputParams;
use super::ripples::Ripples;
use super::rock::RockShape;
use super::still::{STILL_MODELS, StillLife};
use super::view::View;
use super::water::Stir;
use crate::geometry::Surface;
use crate::world::{Snapshot, TerraceParams};

/// What a renderer shows: fixed as long as it lives.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The surface that fills the picture.
    pub surface: Surface,
    /// The projectors, one at least.
    pub outputs: Vec<OutputParams>,
    /// Light, water and ground.
    pub look: SceneLook,
    /// Depth of the ground below the surface.
    pub depth_m: f32,
    /// Looks and models, in the order that the snapshots number species.
    pub species: Vec<(SpeciesLook, Model)>,
    /// Models of still things, [`STILL_MODELS`] of them; with fewer, none are drawn.
    pub stones: Vec<Model>,
    /// The stones.
    pub rocks: Vec<RockShape>,
    /// Waters at different heights.
    pub terraces: Vec<TerraceParams>,
    /// What is drawn over the picture, beside the marks of the snapshots.
    pub wish: OverlayWish,
    /// How the edges of bodies are drawn; `None` leaves it to the adapter.
    pub edges: Option<Edges>,
}

/// How smooth the edges of bodies are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edges {
    /// With stairs: the cheapest.
    Hard,
    /// Looked up at four places in the last pass: what suits where there is no graphics card. Leaves thinner than a pixel
    /// are seen as faint dots.
    Softened,
    /// Four samples a pixel: what suits a graphics card.
    Sampled,
}

impl Edges {
    fn suiting(gpu: &Gpu) -> Self {
        if gpu.is_software() {
            Self::Softened
        } else {
            Self::Sampled
        }
    }
}

/// Numbers that the CPU writes.
const WRITTEN: BufferUsages = BufferUsages::UNIFORM.union(BufferUsages::COPY_DST);

/// Draws frames of one scene on one device.
pub struct Renderer {
    gpu: Gpu,
    layouts: Layouts,
    pipelines: Pipelines,
    targets: Targets,
    samplers: Samplers,
    fixed: Fixed,
    frame_buffer: wgpu::Buffer,
    vertices: wgpu::Buffer,
    indices: wgpu::Buffer,
    shade_indices: Growing,
    shade: Growing,
    instances: Growing,
    joints: Growing,
    groups: Groups,
    meshes: Vec<Mesh>,
    heads: Vec<Head>,
    bodies: Vec<Body>,
    surface: Surface,
    scenery: Scenery,
    look: SceneLook,
    frame: Frame,
    list: DrawList,
    overlay: Overlay,
    stir: Stir,
    ripples: Ripples,
    caustics: Caustics,
    /// Where white water falls.
    falls: Vec<RockShape>,
    stones: StillLife,
    dust: Dust,
    specks: Growing,
    quality: Quality,
    /// What is drawn over the picture, beside the marks of the snapshots.
    pub wish: OverlayWish,
}

impl Renderer {
    /// Makes everything that lives as long as the scene, on a device without a window.
    ///
    /// # Errors
    /// When the picture is beyond the device's limits, an output's parameters make no picture, or the device reports an
    /// error.
    pub fn new(gpu: Gpu, setup: Setup) -> Result<Self, RenderError> {
        let Setup {
            surface,
            outputs,
            look,
            depth_m,
            species,
            stones,
            rocks,
            terraces,
            wish,
            edges,
        } = setup;
        let device = &gpu.device;
        let edges = edges.unwrap_or_else(|| Edges::suiting(&gpu));
        let samples = if edges == Edges::Sampled { 4 } else { 1 };
        let bodies = bodies(species, look.season);
        let models = || bodies.iter().map(|body| &body.model);
        let layouts = Layouts::new(device);
        let influences = stones
            .iter()
            .chain(models())
            .map(Model::influences)
            .max()
            .unwrap_or(1);
        let pipelines = Pipelines::new(device, &layouts, surface.kind, samples, influences);
        let samplers = Samplers::new(device);
        let softens = edges == Edges::Softened;
        let heads = heads(&gpu, &layouts, &samplers, &surface, &outputs, softens)?;
        let size = picture_px(&gpu, &heads);
        let scenery =
            Scenery::new(&look, &surface, size, depth_m).with_terraces(&terraces, &surface);
        let targets = Targets::new(device, size, &scenery.grid, samples);
        let fixed = Fixed::new(device, &gpu.queue, models());
        let (meshes, vertices, indices) =
            upload(&gpu, stones.iter().take(STILL_MODELS).chain(models()));
        let make = |label, usage, bytes| buffer(device, label, usage, bytes);
        let frame_buffer = make("frame", WRITTEN, size_of::<Frame>() as u64);
        let grow = |label, usage, bytes| Growing::new(device, label, usage, bytes);
        let instances = grow("instances", BufferUsages::STORAGE, 4096);
        let joints = grow("joints", BufferUsages::STORAGE, 65536);
        let has_stones = stones.len() >= STILL_MODELS;
        let falls = falls(&terraces);
        let rocks: Vec<_> = rocks.into_iter().chain(falls.iter().copied()).collect();
        let lie = || StillLife::new(&rocks, &surface, &look, &scenery);
        let stones = has_stones.then(lie).unwrap_or_default();
        let frame = frame::still_frame(&look, &surface, &scenery);
        let groups = Groups::new(&Given {
            device,
            layouts: &layouts,
            targets: &targets,
            samplers: &samplers,
            fixed: &fixed,
            frame: &frame_buffer,
            instances: &instances,
            joints: &joints,
        });
        let renderer = Self {
            shade_indices: grow("shade indices", BufferUsages::INDEX, 65536),
            shade: grow("shade", BufferUsages::VERTEX, 65536),
            stir: Stir::new(scenery.grid),
            ripples: Ripples::new(scenery.grid),
            caustics: Caustics::new(scenery.grid),
            falls,
            dust: Dust::new(&look, &surface, depth_m),
            specks: grow("specks", BufferUsages::VERTEX, 4096),
            list: DrawList::default(),
            overlay: Overlay::default(),
            quality: Quality::FULL,
            wish,
            gpu,
            layouts,
            pipelines,
            targets,
            samplers,
            fixed,
            frame_buffer,
            vertices,
            indices,
            instances,
            joints,
            groups,
            meshes,
            heads,
            bodies,
            surface,
            scenery,
            look,
            frame,
            stones,
        };
        renderer.paint_ground();
        renderer.gpu.check()?;
        Ok(renderer)
    }

    /// The device it draws on.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// The way from the world to each projector's pixels.
    pub fn views(&self) -> impl Iterator<Item = &View> {
        self.heads.iter().map(|head| &head.view)
    }

    /// Draws the moment `alpha` (0..1) between two snapshots. The pictures stay on the GPU until [`Self::read`].
    ///
    /// # Errors
    /// [`RenderError::Device`] when the device reported an error or is lost.
    pub fn draw(
        &mut self,
        previous: &Snapshot,
        next: &Snapshot,
        alpha: f32,
    ) -> Result<(), RenderError> {
        let (time_secs, since_secs) =
            self.list
                .lay_out(previous, next, alpha, &self.bodies, &self.scenery);
        let drops = drops(&self.falls, time_secs, &self.surface);
        self.stir.splash(&next.splashes, drops, &self.surface);
        let steps = self.stir.advance(since_secs, &next.shadows);
        self.dust.advance(since_secs, time_secs, &next.shadows);
        self.lay_marks(next);
        frame::set_time(&mut self.frame, time_secs);
        self.move_water(steps, time_secs);
        self.upload_frame();
        for head in &mut self.heads {
            head.upload(&self.gpu, &self.overlay);
            head.limit(&self.gpu, time_secs)?;
        }
        let mut encoder = self
            .gpu
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        self.light_ground(&mut encoder);
        self.draw_bodies(&mut encoder);
        for head in &self.heads {
            head.show(&mut encoder, &self.pipelines, &self.groups);
        }
        self.gpu.queue.submit([encoder.finish()]);
        for head in &mut self.heads {
            head.submitted(time_secs);
        }
        self.gpu.check()
    }

    /// Draws the next pictures as finely as this.
    pub fn set_quality(&mut self, quality: Quality) {
        self.quality = quality;
        self.list.all_light = quality.is_plain;
        self.frame.set_scale(quality.scale);
    }

    /// What the flash limiters know, one a projector.
    pub fn seen(&self) -> impl Iterator<Item = &Seen> {
        self.heads.iter().map(Head::seen)
    }

    /// Goes on where another renderer of the same projectors stopped: its last pictures are what must not flash into the
    /// first ones of this.
    pub fn resume(&mut self, seen: &[Seen]) {
        for (head, seen) in self.heads.iter_mut().zip(seen) {
            head.resume(&self.gpu, seen);
        }
    }

    /// How often the flash limiter slowed a projector's picture down.
    pub fn dimmed(&self) -> u64 {
        self.heads.iter().map(Head::dimmed).sum()
    }

    /// Multiplies the light of the scene from now on: a director's dusk, and what tests flash with.
    pub fn set_exposure(&mut self, exposure: f32) {
        self.frame.set_exposure(exposure);
    }

    /// Lays the marks that are wished for over the picture.
    fn lay_marks(&mut self, next: &Snapshot) {
        self.overlay.clear(&self.surface);
        if let Some(pattern) = self.wish.pattern {
            self.overlay
                .pattern(pattern, self.heads.iter().map(|head| &head.view));
            return;
        }
        if let Some(stripes) = &next.stripes {
            self.overlay.stripes(stripes);
            return;
        }
        if let Some(target) = &next.target {
            self.overlay.target(target);
        }
        if self.wish.vectors {
            self.overlay.vectors(self.list.agents());
        }
        if self.wish.shadows {
            self.overlay.shadows(&next.shadows);
        }
        self.overlay.annotations(&next.marks);
    }

    /// Binds anew what the shaders are given, after something was made anew.
    fn regroup(&mut self) {
        self.groups = Groups::new(&Given {
            device: &self.gpu.device,
            layouts: &self.layouts,
            targets: &self.targets,
            samplers: &self.samplers,
            fixed: &self.fixed,
            frame: &self.frame_buffer,
            instances: &self.instances,
            joints: &self.joints,
        });
    }

    /// Copies the finished picture of a projector (from 0) into `rgba`: rows from the top, 4 bytes a pixel, sRGB.
    ///
    /// # Errors
    /// [`RenderError::Device`] when the device does not answer; [`RenderError::Output`] when there is no such projector.
    pub fn read(&mut self, output: usize, rgba: &mut Vec<u8>) -> Result<(), RenderError> {
        let head = self
            .heads
            .get(output)
            .ok_or_else(|| RenderError::Output(format!("there is no output {output}")))?;
        head.read(&self.gpu, rgba)
    }
}

/// The bodies of all species, as they look in a season.
fn bodies(species: Vec<(SpeciesLook, Model)>, season: Season) -> Vec<Body> {
    let body = |(look, mut model): (SpeciesLook, Model)| {
        if season == Season::Run {
            light::blush(&mut model, look.run_pink);
        }
        Body::new(model, look)
    };
    species.into_iter().map(body).collect()
}

/// The ends of all projectors.
fn heads(
    gpu: &Gpu,
    layouts: &Layouts,
    samplers: &Samplers,
    surface: &Surface,
    outputs: &[OutputParams],
    softens: bool,
) -> Result<Vec<Head>, RenderError> {
    let make = |output| Head::new(gpu, layouts, &samplers.flat, surface, output, softens);
    outputs.iter().map(make).collect()
}

/// Pixels of the whole surface's picture, so that every projector shows its part of it one to one.
fn picture_px(gpu: &Gpu, heads: &[Head]) -> [u32; 2] {
    let most = f64::from(gpu.device.limits().max_texture_dimension_2d) / 1.5;
    let wanted = heads.iter().fold([16.0f64; 2], |size, head| {
        let [width, height] = head.view.warp.picture_px(head.view.size_px);
        [size[0].max(width), size[1].max(height)]
    });
    wanted.map(|side| side.round().min(most) as u32)
}
