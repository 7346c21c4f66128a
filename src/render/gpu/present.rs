//! Where finished pictures go: onto windows, one for each projector, or nowhere. The seam between what keeps a picture
//! on the screen (`app`) and what a graphics driver may do to it.
//!
//! In: snapshots, one moment at a time. Out: its pictures on the screen, or what kept them from there, in words that say
//! what to do next. All projectors share one device and one picture of the world; each has a last pass of its own, in its
//! window's size. Must not: wait, try again, or decide what becomes of a failure.

use wgpu::util::{TextureBlitter, TextureBlitterBuilder};
use wgpu::{CurrentSurfaceTexture, SurfaceConfiguration, TextureFormat, TextureUsages};

use super::device::Gpu;
use super::renderer::Renderer;
use crate::render::calibration_pattern::CalibrationPattern;
use crate::render::error::RenderError;
use crate::render::flash::FlashState;
use crate::render::governor::Quality;
use crate::render::output_params::OutputParams;
use crate::render::setup::RenderSetup;
use crate::render::view::View;
use crate::world::Snapshot;

/// What a screen says when it is asked for room for the next picture. Of several windows the one that comes last here
/// speaks for all: one that nobody sees keeps no other from being drawn on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Acquired {
    /// Nobody can see it: leave this picture out, and do not hurry.
    Occluded,
    /// Not in time: leave this picture out.
    Timeout,
    /// There is room: draw.
    Ready,
    /// There is room, but the screen has changed: draw, then configure it anew.
    Suboptimal,
    /// Windows came, went or have another size than what is drawn: make it anew. Nothing has failed.
    WindowsChanged,
    /// The screen has changed: configure it anew, then ask again.
    Outdated,
    /// The screen is gone: make it anew.
    Lost,
    /// The driver refused: make it anew.
    Validation,
}

/// Something that pictures are shown on, with the device that draws them.
///
/// After an error nothing more comes of it: it is to be dropped and made anew from what the CPU knows.
pub trait Presenter {
    /// Asks for room for the next picture; waits for the display where that is its way of keeping time.
    ///
    /// # Errors
    /// [`RenderError::Device`] when the device is lost.
    fn acquire(&mut self) -> Result<Acquired, RenderError>;

    /// Sets the pattern that the camera calibration shows from the next picture on; `None` shows nothing.
    fn set_calibration_pattern(&mut self, pattern: Option<CalibrationPattern>);

    /// Draws the moment `alpha` (0..1) between two snapshots into the room acquired before, and shows it.
    ///
    /// # Errors
    /// [`RenderError::Device`] when the device failed.
    fn show(&mut self, previous: &Snapshot, next: &Snapshot, alpha: f32)
    -> Result<(), RenderError>;

    /// Waits until what was shown last is drawn, so that what it took can be told.
    ///
    /// # Errors
    /// [`RenderError::Device`] when the device failed.
    fn finish(&mut self) -> Result<(), RenderError>;

    /// Draws the next pictures as finely as this.
    fn set_quality(&mut self, quality: Quality);

    /// Writes what the flash limiters know, at the numbers of their outputs. Known even when the device is lost.
    fn flash_states(&self, into: &mut Vec<FlashState>);

    /// Goes on where another screen of the same outputs stopped.
    fn resume_flash_states(&mut self, seen: &[FlashState]);

    /// How often a flash limiter slowed a picture down.
    fn flash_limit_count(&self) -> u64;

    /// Takes over the screen's present size.
    ///
    /// # Errors
    /// [`RenderError::Device`] when the device failed.
    fn configure(&mut self) -> Result<(), RenderError>;

    /// Adapter, driver and what is drawn on, in one line.
    fn describe(&self) -> String;

    /// Loses the device, as a driver does that fails. For tests of what comes then.
    fn lose_device(&mut self);
}

/// What the picture in a window needs to know of it.
pub struct WindowTarget {
    /// Which of the outputs it shows, from 0.
    pub output: usize,
    /// Width and height of the window's inside in pixels, as they are now.
    pub size_px: Box<dyn Fn() -> [u32; 2]>,
    /// Called when the first picture is ready to be seen: a window is not shown black.
    pub before_first: Box<dyn FnOnce()>,
}

/// The windows there are, one an output at most.
pub struct WindowTargets {
    /// The windows, at least one, and what is to be known of them.
    pub windows: Vec<(wgpu::SurfaceTarget<'static>, WindowTarget)>,
    /// The connection to the display that they are on.
    pub display: Box<dyn wgpu::wgt::WgpuHasDisplayHandle>,
    /// Whether windows were opened or closed since.
    pub have_changed: Box<dyn Fn() -> bool>,
}

/// So many pictures a window's new size must last before the output is drawn in it; until then it is stretched.
const SIZE_SETTLED: u32 = 20;
/// So many pictures a window is left alone that had no room in time, so that it does not keep the others waiting.
const LEFT_ALONE: u32 = 60;

/// One output's window.
struct OutputWindow {
    // Dropped in this order: the picture before the surface that it is of.
    held: Option<wgpu::SurfaceTexture>,
    surface: wgpu::Surface<'static>,
    config: SurfaceConfiguration,
    view_format: TextureFormat,
    blitter: TextureBlitter,
    output: usize,
    size_px: Box<dyn Fn() -> [u32; 2]>,
    before_first: Option<Box<dyn FnOnce()>>,
    /// To be configured anew.
    is_stale: bool,
    /// Pictures since the window has this size.
    since_resized: u32,
    left_alone: u32,
}

impl OutputWindow {
    fn new(
        gpu: &Gpu,
        adapter: &wgpu::Adapter,
        surface: wgpu::Surface<'static>,
        target: WindowTarget,
    ) -> Result<Self, RenderError> {
        let offered = surface.get_capabilities(adapter);
        let formats = &offered.formats;
        // The picture is read as linear light: what it goes into must encode it again.
        let format = formats
            .iter()
            .find(|format| format.is_srgb())
            .or(formats.first())
            .ok_or_else(|| RenderError::Surface("it offers no picture format".to_owned()))?;
        let view_format = format.add_srgb_suffix();
        let opaque = wgpu::CompositeAlphaMode::Opaque;
        let [width, height] = within(gpu, (target.size_px)());
        let config = SurfaceConfiguration {
            usage: TextureUsages::RENDER_ATTACHMENT,
            format: *format,
            color_space: wgpu::SurfaceColorSpace::Auto,
            width,
            height,
            present_mode: wgpu::PresentMode::Fifo,
            desired_maximum_frame_latency: 1,
            alpha_mode: if offered.alpha_modes.contains(&opaque) {
                opaque
            } else {
                wgpu::CompositeAlphaMode::Auto
            },
            view_formats: if view_format == *format {
                Vec::new()
            } else {
                vec![view_format]
            },
        };
        let blitter = TextureBlitterBuilder::new(&gpu.device, view_format)
            .sample_type(wgpu::FilterMode::Linear)
            .build();
        surface.configure(&gpu.device, &config);
        Ok(Self {
            held: None,
            surface,
            config,
            view_format,
            blitter,
            output: target.output,
            size_px: target.size_px,
            before_first: Some(target.before_first),
            is_stale: false,
            since_resized: 0,
            left_alone: 0,
        })
    }

    /// Asks for room for the next picture, which is drawn in a size of `drawn_px`.
    fn acquire(&mut self, gpu: &Gpu, drawn_px: [u32; 2]) -> Acquired {
        if self.held.is_some() {
            return Acquired::Ready;
        }
        if self.left_alone > 0 {
            self.left_alone -= 1;
            return Acquired::Timeout;
        }
        let size = (self.size_px)();
        if size.contains(&0) {
            return Acquired::Occluded;
        }
        if within(gpu, size) != [self.config.width, self.config.height] {
            self.configure(gpu);
            self.since_resized = 0;
        }
        self.since_resized = self.since_resized.saturating_add(1);
        if drawn_px != within(gpu, size) && self.since_resized > SIZE_SETTLED {
            return Acquired::WindowsChanged;
        }
        let (texture, acquired) = match self.surface.get_current_texture() {
            CurrentSurfaceTexture::Success(texture) => (Some(texture), Acquired::Ready),
            CurrentSurfaceTexture::Suboptimal(texture) => (Some(texture), Acquired::Suboptimal),
            CurrentSurfaceTexture::Timeout => (None, Acquired::Timeout),
            CurrentSurfaceTexture::Occluded => (None, Acquired::Occluded),
            CurrentSurfaceTexture::Outdated => (None, Acquired::Outdated),
            CurrentSurfaceTexture::Lost => (None, Acquired::Lost),
            CurrentSurfaceTexture::Validation => (None, Acquired::Validation),
        };
        self.is_stale = matches!(acquired, Acquired::Suboptimal | Acquired::Outdated);
        if acquired == Acquired::Timeout {
            self.left_alone = LEFT_ALONE;
        }
        self.held = texture;
        acquired
    }

    /// Has the finished picture copied onto what is held.
    fn copy(&self, gpu: &Gpu, encoder: &mut wgpu::CommandEncoder, drawn: &wgpu::TextureView) {
        let Some(texture) = &self.held else { return };
        let onto = texture.texture.create_view(&wgpu::TextureViewDescriptor {
            format: Some(self.view_format),
            ..wgpu::TextureViewDescriptor::default()
        });
        self.blitter.copy(&gpu.device, encoder, drawn, &onto);
    }

    fn configure(&mut self, gpu: &Gpu) {
        self.held = None;
        self.is_stale = false;
        [self.config.width, self.config.height] = within(gpu, (self.size_px)());
        self.surface.configure(&gpu.device, &self.config);
    }
}

/// A size that the device can make, at least one pixel.
fn within(gpu: &Gpu, size_px: [u32; 2]) -> [u32; 2] {
    let most = gpu.device.limits().max_texture_dimension_2d;
    size_px.map(|side| side.clamp(1, most))
}

/// The pictures of all outputs that have a window, or pictures that nobody sees, drawn as if somebody did.
pub struct GpuPresenter {
    // Dropped in this order: the surfaces before their device.
    windows: Vec<OutputWindow>,
    renderer: Renderer,
    /// Numbers of the outputs that are drawn; those of the windows, where there are any.
    outputs: Vec<usize>,
    have_changed: Box<dyn Fn() -> bool>,
}

impl GpuPresenter {
    /// Opens a device that can draw on the windows, and makes everything that the scene needs on it. Outputs without a
    /// window are not drawn; the others are drawn in their windows' sizes.
    ///
    /// # Errors
    /// When there is no adapter or device for these windows, or the scene is beyond it.
    pub fn open(targets: WindowTargets, mut setup: RenderSetup) -> Result<Self, RenderError> {
        let descriptor =
            wgpu::InstanceDescriptor::new_with_display_handle_from_env(targets.display);
        let instance = wgpu::Instance::new(descriptor);
        let mut surfaces = Vec::new();
        for (window, target) in targets.windows {
            let surface = instance
                .create_surface(window)
                .map_err(|error| RenderError::Surface(error.to_string()))?;
            surfaces.push((surface, target));
        }
        let first = surfaces.first().map(|(surface, _)| surface);
        let (gpu, adapter) = Gpu::open(&instance, first)?;
        let mut windows = Vec::new();
        for (surface, target) in surfaces {
            windows.push(OutputWindow::new(&gpu, &adapter, surface, target)?);
        }
        let in_its_window = |window: &OutputWindow| OutputParams {
            width_px: window.config.width,
            height_px: window.config.height,
            ..setup
                .outputs
                .get(window.output)
                .cloned()
                .unwrap_or_default()
        };
        setup.outputs = windows.iter().map(in_its_window).collect();
        Ok(Self {
            outputs: windows.iter().map(|window| window.output).collect(),
            windows,
            renderer: Renderer::new(gpu, setup)?,
            have_changed: targets.have_changed,
        })
    }

    /// Opens a device without a window; all outputs are drawn, each in its own size.
    ///
    /// # Errors
    /// When there is no adapter or device, or the scene is beyond it.
    pub fn offscreen(setup: RenderSetup) -> Result<Self, RenderError> {
        Ok(Self {
            windows: Vec::new(),
            outputs: (0..setup.outputs.len()).collect(),
            renderer: Renderer::new(Gpu::headless()?, setup)?,
            have_changed: Box::new(|| false),
        })
    }
}

impl Presenter for GpuPresenter {
    fn acquire(&mut self) -> Result<Acquired, RenderError> {
        let gpu = &self.renderer.gpu;
        gpu.poll()?;
        if self.windows.is_empty() {
            // A display would keep the pictures from running ahead of the device; here waiting for the device does.
            gpu.wait()?;
            return Ok(Acquired::Ready);
        }
        if (self.have_changed)() {
            return Ok(Acquired::WindowsChanged);
        }
        let windows = self.windows.iter_mut().zip(self.renderer.views());
        let states = windows.map(|(window, view)| window.acquire(gpu, view.size_px));
        Ok(states.max().unwrap_or(Acquired::Occluded))
    }

    fn set_calibration_pattern(&mut self, pattern: Option<CalibrationPattern>) {
        self.renderer.calibration_pattern = pattern;
    }

    fn show(
        &mut self,
        previous: &Snapshot,
        next: &Snapshot,
        alpha: f32,
    ) -> Result<(), RenderError> {
        self.renderer.draw(previous, next, alpha)?;
        let gpu = &self.renderer.gpu;
        if self.windows.is_empty() {
            return Ok(());
        }
        let mut encoder = gpu
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        for (window, output) in self.windows.iter().zip(&self.renderer.outputs) {
            window.copy(gpu, &mut encoder, &output.finished.view);
        }
        gpu.queue.submit([encoder.finish()]);
        let mut has_waited = false;
        for window in &mut self.windows {
            let Some(texture) = window.held.take() else {
                continue;
            };
            if let Some(make_visible) = window.before_first.take() {
                if !std::mem::replace(&mut has_waited, true) {
                    gpu.wait()?;
                }
                make_visible();
            }
            gpu.queue.present(texture);
        }
        gpu.check()
    }

    fn finish(&mut self) -> Result<(), RenderError> {
        self.renderer.gpu.wait()
    }

    fn set_quality(&mut self, quality: Quality) {
        self.renderer.set_quality(quality);
    }

    fn flash_states(&self, into: &mut Vec<FlashState>) {
        for (&output, seen) in self.outputs.iter().zip(self.renderer.flash_states()) {
            if into.len() <= output {
                into.resize_with(output + 1, FlashState::default);
            }
            if let Some(into) = into.get_mut(output) {
                into.clone_from(seen);
            }
        }
    }

    fn resume_flash_states(&mut self, seen: &[FlashState]) {
        let of = |&output: &usize| seen.get(output).cloned().unwrap_or_default();
        let seen: Vec<FlashState> = self.outputs.iter().map(of).collect();
        self.renderer.resume_flash_states(&seen);
    }

    fn flash_limit_count(&self) -> u64 {
        self.renderer.flash_limit_count()
    }

    fn configure(&mut self) -> Result<(), RenderError> {
        let gpu = &self.renderer.gpu;
        for window in self.windows.iter_mut().filter(|window| window.is_stale) {
            window.configure(gpu);
        }
        gpu.check()
    }

    fn describe(&self) -> String {
        let of = |(output, view): (&usize, &View)| {
            let [width, height] = view.size_px;
            format!("outputs[{output}] {width}x{height} px")
        };
        let outputs = self.outputs.iter().zip(self.renderer.views()).map(of);
        let outputs = outputs.collect::<Vec<_>>().join(", ");
        let unseen = if self.windows.is_empty() {
            " without a window"
        } else {
            ""
        };
        format!("{outputs}{unseen}, drawn by {}", self.renderer.gpu.name())
    }

    fn lose_device(&mut self) {
        self.renderer.gpu.destroy();
    }
}
