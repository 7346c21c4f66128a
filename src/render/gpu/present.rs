//! Draws snapshots and presents the pictures in windows, one window per output. It can also draw without windows. The render
//! stage in `app` decides how to recover from failures; this file only reports failures and never retries.
//!
//! In: snapshots. Out: pictures in the windows, or the reason why there is no picture ([`Acquired`], [`RenderError`]). All
//! outputs share one device and all passes except the output pass. The output pass runs once per window, at the size of the
//! window.

use std::sync::Arc;

use wgpu::util::{TextureBlitter, TextureBlitterBuilder};
use wgpu::{CurrentSurfaceTexture, SurfaceConfiguration, TextureFormat, TextureUsages};

use super::device::Gpu;
use super::pass_timer::PassTimes;
use super::renderer::Renderer;
use super::thumbnail::{Thumbnail, ThumbnailPixels};
use crate::render::calibration_pattern::{CalibrationPattern, FloorNotice};
use crate::render::error::RenderError;
use crate::render::flash::FlashState;
use crate::render::governor::Quality;
use crate::render::output_params::OutputParams;
use crate::render::overlay::{OutputCorner, Pattern};
use crate::render::setup::RenderSetup;
use crate::render::view::View;
use crate::world::Snapshot;

/// The result of acquiring the next picture. If several windows have different results, the result that is last in this list
/// applies to all. So an occluded window does not prevent drawing to the other windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Acquired {
    /// The window is not visible. The caller skips this picture and tries again later.
    Occluded,
    /// The display provided no texture in time. The caller skips this picture.
    Timeout,
    /// The picture can be drawn.
    Ready,
    /// The picture can be drawn, but a surface has changed. After drawing, the caller configures the presenter again.
    Suboptimal,
    /// Windows were opened, closed or resized. This is not a failure. The caller creates the presenter again.
    WindowsChanged,
    /// A surface has changed. The caller configures the presenter, then acquires again.
    Outdated,
    /// A surface is lost. The caller creates the presenter again.
    Lost,
    /// The driver reported a validation error. The caller creates the presenter again.
    Validation,
}

/// Draws pictures and presents them. [`GpuPresenter`] does so on the GPU; tests of the render stage use a fake presenter.
///
/// After an error, a presenter must not be used again. Drop it and create a new presenter.
pub trait Presenter {
    /// Acquires the next picture of every window. May block until the display provides it.
    ///
    /// # Errors
    /// [`RenderError::Device`] if the device is lost.
    fn acquire(&mut self) -> Result<Acquired, RenderError>;

    /// Sets the calibration pattern that is drawn from the next picture on; with `None`, no pattern is drawn.
    fn set_calibration_pattern(&mut self, pattern: Option<CalibrationPattern>);

    /// Sets the pattern for adjusting projectors that is drawn instead of the pool from the next picture on, and the corner that
    /// it marks.
    fn set_test_pattern(&mut self, pattern: Option<Pattern>, corner: Option<OutputCorner>);

    /// Sets the text that is drawn at an edge of the surface from the next picture on.
    fn set_notice(&mut self, notice: Option<Arc<FloorNotice>>);

    /// Sets the light of all following pictures without patterns and texts, from 0 (black) to 1.
    fn set_level(&mut self, level: f32);

    /// Sets the weight of the last picture of the old scene from the next picture on, from 1 to 0.
    fn set_old_share(&mut self, share: f32);

    /// Draws another scene, or the same scene with other outputs, from the next picture on. Returns false if this needs a new
    /// presenter.
    ///
    /// # Errors
    /// [`RenderError`] if the setup cannot be drawn.
    fn change_setup(
        &mut self,
        setup: RenderSetup,
        is_same_scene: bool,
    ) -> Result<bool, RenderError>;

    /// Draws the interpolated state between two snapshots to the acquired pictures and presents them. `alpha` is 0 at
    /// `previous` and 1 at `next`.
    ///
    /// # Errors
    /// [`RenderError::Device`] if the device failed.
    fn show(&mut self, previous: &Snapshot, next: &Snapshot, alpha: f32)
    -> Result<(), RenderError>;

    /// Waits until the last picture is drawn, so that the caller can measure its duration.
    ///
    /// # Errors
    /// [`RenderError::Device`] if the device failed.
    fn finish(&mut self) -> Result<(), RenderError>;

    /// Takes the times that the device measured for a picture; `None` if no picture was measured since the last call.
    fn take_pass_times(&mut self) -> Option<PassTimes>;

    /// Makes small copies of pictures without waiting for them. Passes the copies that have arrived to `put`, with the index of
    /// their output. Begins a copy of each output for which `is_wanted` returns true.
    fn copy_thumbnails(
        &mut self,
        is_wanted: &mut dyn FnMut(usize) -> bool,
        put: &mut dyn FnMut(usize, ThumbnailPixels<'_>),
    );

    /// Sets the quality of all following pictures.
    fn set_quality(&mut self, quality: Quality);

    /// Writes the states of the flash limiters to `into`, indexed by output. Also works if the device is lost.
    fn flash_states(&self, into: &mut Vec<FlashState>);

    /// Continues from the flash states of another presenter of the same outputs.
    fn resume_flash_states(&mut self, seen: &[FlashState]);

    /// Number of times that a flash limiter slowed a picture down.
    fn flash_limit_count(&self) -> u64;

    /// Configures the surfaces that have changed.
    ///
    /// # Errors
    /// [`RenderError::Device`] if the device failed.
    fn configure(&mut self) -> Result<(), RenderError>;

    /// Returns the outputs with their sizes, the adapter and the driver, in one line.
    fn describe(&self) -> String;

    /// Destroys the device, as a failing driver does. For tests of the recovery from a lost device.
    fn lose_device(&mut self);
}

/// The output that a window shows, and callbacks of the window.
pub struct WindowTarget {
    /// Index of the output that the window shows.
    pub output: usize,
    /// Returns the current inner width and height of the window in pixels.
    pub size_px: Box<dyn Fn() -> [u32; 2]>,
    /// Makes the window visible. Called when the first picture is ready, so that the window is never visible without a picture.
    pub before_first: Box<dyn FnOnce()>,
}

/// All open windows, at most one per output.
pub struct WindowTargets {
    /// The windows, at least one.
    pub windows: Vec<(wgpu::SurfaceTarget<'static>, WindowTarget)>,
    /// The connection to the display of the windows.
    pub display: Box<dyn wgpu::wgt::WgpuHasDisplayHandle>,
    /// Returns whether windows were opened or closed after this value was created.
    pub have_changed: Box<dyn Fn() -> bool>,
}

/// Number of pictures after which a new window size counts as final. Until then, the picture is stretched to the new size.
/// After that, the presenter is created again.
const SETTLED_AFTER: u32 = 20;
/// Number of pictures for which a window is skipped after a timeout, so that this window does not delay the other windows.
const SKIPPED_AFTER_TIMEOUT: u32 = 60;

/// The window of an output.
struct OutputWindow {
    // Fields are dropped in this order: the texture before its surface.
    acquired: Option<wgpu::SurfaceTexture>,
    surface: wgpu::Surface<'static>,
    config: SurfaceConfiguration,
    view_format: TextureFormat,
    blitter: TextureBlitter,
    output: usize,
    size_px: Box<dyn Fn() -> [u32; 2]>,
    before_first: Option<Box<dyn FnOnce()>>,
    /// Whether the surface must be configured again.
    is_stale: bool,
    /// Number of pictures since the size of the window last changed.
    since_resized: u32,
    /// Number of further pictures for which the window is skipped.
    skipped: u32,
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
        // Sampling the picture gives linear light, so the target must encode it as sRGB.
        let format = formats
            .iter()
            .find(|format| format.is_srgb())
            .or(formats.first())
            .ok_or_else(|| RenderError::Surface("it supports no texture format".to_owned()))?;
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
            acquired: None,
            surface,
            config,
            view_format,
            blitter,
            output: target.output,
            size_px: target.size_px,
            before_first: Some(target.before_first),
            is_stale: false,
            since_resized: 0,
            skipped: 0,
        })
    }

    /// Acquires the next picture of this window. `drawn_px` is the size at which the output is drawn.
    fn acquire(&mut self, gpu: &Gpu, drawn_px: [u32; 2]) -> Acquired {
        if self.acquired.is_some() {
            return Acquired::Ready;
        }
        if self.skipped > 0 {
            self.skipped -= 1;
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
        if drawn_px != within(gpu, size) && self.since_resized > SETTLED_AFTER {
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
            self.skipped = SKIPPED_AFTER_TIMEOUT;
        }
        self.acquired = texture;
        acquired
    }

    /// Encodes the copy of the finished picture to the acquired texture.
    fn copy(&self, gpu: &Gpu, encoder: &mut wgpu::CommandEncoder, drawn: &wgpu::TextureView) {
        let Some(texture) = &self.acquired else {
            return;
        };
        let onto = texture.texture.create_view(&wgpu::TextureViewDescriptor {
            format: Some(self.view_format),
            ..wgpu::TextureViewDescriptor::default()
        });
        self.blitter.copy(&gpu.device, encoder, drawn, &onto);
    }

    /// Configures the surface for the current size of the window.
    fn configure(&mut self, gpu: &Gpu) {
        self.acquired = None;
        self.is_stale = false;
        [self.config.width, self.config.height] = within(gpu, (self.size_px)());
        self.surface.configure(&gpu.device, &self.config);
    }
}

/// Returns the size clamped to the limits of the device and to at least one pixel per side.
fn within(gpu: &Gpu, size_px: [u32; 2]) -> [u32; 2] {
    let most = gpu.device.limits().max_texture_dimension_2d;
    size_px.map(|side| side.clamp(1, most))
}

/// Draws and presents the pictures of all outputs that have a window. If there are no windows, draws all outputs off screen.
pub struct GpuPresenter {
    // Fields are dropped in this order: the surfaces before their device.
    windows: Vec<OutputWindow>,
    /// Small copies of the outputs in `outputs`, made when a client first watches.
    thumbnails: Vec<Option<Thumbnail>>,
    renderer: Renderer,
    /// Indices of the outputs that are drawn. If there are windows, these are the outputs of the windows, in the same order.
    outputs: Vec<usize>,
    have_changed: Box<dyn Fn() -> bool>,
}

impl GpuPresenter {
    /// Whether the processor draws the pictures, because there is no graphics driver.
    pub fn is_by_processor(&self) -> bool {
        self.renderer.gpu.is_software()
    }

    /// Opens a device that can draw to the windows, and creates all GPU resources of the scene. Outputs without a window are
    /// not drawn. All other outputs are drawn at the sizes of their windows.
    ///
    /// # Errors
    /// If no adapter or device supports these windows, or if the scene exceeds the limits of the device.
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
            thumbnails: Vec::new(),
            renderer: Renderer::live(gpu, setup)?,
            have_changed: targets.have_changed,
        })
    }

    /// Opens a device without windows. All outputs are drawn off screen, each at the size in its parameters.
    ///
    /// # Errors
    /// If there is no adapter or device, or if the scene exceeds the limits of the device.
    pub fn offscreen(setup: RenderSetup) -> Result<Self, RenderError> {
        Ok(Self {
            windows: Vec::new(),
            thumbnails: Vec::new(),
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
            // No display limits the rate of pictures, so the CPU waits here until the device has drawn the picture.
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

    fn set_test_pattern(&mut self, pattern: Option<Pattern>, corner: Option<OutputCorner>) {
        self.renderer.output_indexes.clone_from(&self.outputs);
        let options = &mut self.renderer.overlay_options;
        (options.pattern, options.corner) = (pattern, corner);
    }

    fn set_notice(&mut self, notice: Option<Arc<FloorNotice>>) {
        self.renderer.notice = notice;
    }

    fn set_old_share(&mut self, share: f32) {
        self.renderer.set_old_share(share);
    }

    fn set_level(&mut self, level: f32) {
        self.renderer.level = level.clamp(0.0, 1.0);
    }

    fn change_setup(
        &mut self,
        mut setup: RenderSetup,
        is_same_scene: bool,
    ) -> Result<bool, RenderError> {
        if !self.windows.is_empty() {
            let known = setup.outputs.len();
            if self.windows.iter().any(|window| window.output >= known) {
                return Ok(false);
            }
            // A window keeps the size in which it is drawn at present, even if it is being resized.
            let sizes = self.renderer.views().map(|view| view.size_px);
            let in_its_window =
                |(window, [width_px, height_px]): (&OutputWindow, [u32; 2])| OutputParams {
                    width_px,
                    height_px,
                    ..setup
                        .outputs
                        .get(window.output)
                        .cloned()
                        .unwrap_or_default()
                };
            setup.outputs = self.windows.iter().zip(sizes).map(in_its_window).collect();
        }
        if is_same_scene && self.renderer.change_outputs(&setup.outputs)? {
            return Ok(true);
        }
        self.renderer.change_scene(setup)?;
        Ok(true)
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
            let Some(texture) = window.acquired.take() else {
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

    fn take_pass_times(&mut self) -> Option<PassTimes> {
        self.renderer.take_pass_times()
    }

    fn copy_thumbnails(
        &mut self,
        is_wanted: &mut dyn FnMut(usize) -> bool,
        put: &mut dyn FnMut(usize, ThumbnailPixels<'_>),
    ) {
        let gpu = &self.renderer.gpu;
        self.thumbnails.resize_with(self.outputs.len(), || None);
        let passes = self.outputs.iter().zip(&self.renderer.outputs);
        for ((&output, pass), thumbnail) in passes.zip(&mut self.thumbnails) {
            if let Some(thumbnail) = thumbnail {
                thumbnail.take(|pixels| put(output, pixels));
            }
            if !is_wanted(output) || thumbnail.as_ref().is_some_and(Thumbnail::is_requested) {
                continue;
            }
            let drawn_px = pass.view().size_px;
            if !thumbnail.as_ref().is_some_and(|own| own.is_of(drawn_px)) {
                *thumbnail = None;
            }
            thumbnail
                .get_or_insert_with(|| Thumbnail::new(gpu, drawn_px))
                .request(gpu, &pass.finished.view);
        }
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
        let off_screen = if self.windows.is_empty() {
            " off screen"
        } else {
            ""
        };
        format!(
            "{outputs}{off_screen}, drawn by {}",
            self.renderer.gpu.name()
        )
    }

    fn lose_device(&mut self) {
        self.renderer.gpu.destroy();
    }
}
