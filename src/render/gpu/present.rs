//! Where finished pictures go: onto a window, or nowhere. The seam between what keeps a picture on the screen (`app`)
//! and what a graphics driver may do to it.
//!
//! In: snapshots, one picture at a time. Out: the picture on the screen, or what kept it from there, in words that say
//! what to do next. Must not: wait, try again, or decide what becomes of a failure.

use wgpu::util::{TextureBlitter, TextureBlitterBuilder};
use wgpu::{CurrentSurfaceTexture, SurfaceConfiguration, TextureFormat, TextureUsages};

use super::{Gpu, Renderer, Setup};
use crate::render::error::RenderError;
use crate::render::flash::Seen;
use crate::render::governor::Quality;
use crate::world::Snapshot;

/// What a screen says when it is asked for room for the next picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acquired {
    /// There is room: draw.
    Ready,
    /// There is room, but the screen has changed: draw, then configure it anew.
    Suboptimal,
    /// Not in time: leave this picture out.
    Timeout,
    /// Nobody can see it: leave this picture out, and do not hurry.
    Occluded,
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
pub trait Screen {
    /// Asks for room for the next picture; waits for the display where that is its way of keeping time.
    ///
    /// # Errors
    /// [`RenderError::Device`] when the device is lost.
    fn acquire(&mut self) -> Result<Acquired, RenderError>;

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

    /// Writes what the flash limiters know, one a projector. Known even when the device is lost.
    fn seen(&self, into: &mut Vec<Seen>);

    /// Goes on where another screen of the same projectors stopped.
    fn resume(&mut self, seen: &[Seen]);

    /// How often a flash limiter slowed a picture down.
    fn dimmed(&self) -> u64;

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

/// What a picture in a window needs to know of it.
pub struct WindowTarget {
    /// The window.
    pub window: wgpu::SurfaceTarget<'static>,
    /// The connection to the display that it is on.
    pub display: Box<dyn wgpu::wgt::WgpuHasDisplayHandle>,
    /// Width and height of the window's inside in pixels, as they are now.
    pub size_px: Box<dyn Fn() -> [u32; 2]>,
    /// Called when the first picture is ready to be seen: a window is not shown black.
    pub before_first: Box<dyn FnOnce()>,
}

/// A window's picture, scaled from the output's size to the window's.
pub struct WindowScreen {
    // Dropped in this order: the picture before the surface that it is of, the surface before its device.
    held: Option<wgpu::SurfaceTexture>,
    surface: wgpu::Surface<'static>,
    config: SurfaceConfiguration,
    view_format: TextureFormat,
    blitter: TextureBlitter,
    renderer: Renderer,
    size_px: Box<dyn Fn() -> [u32; 2]>,
    before_first: Option<Box<dyn FnOnce()>>,
}

impl WindowScreen {
    /// Opens a device that can draw on the window, and makes everything that the scene needs on it.
    ///
    /// # Errors
    /// When there is no adapter or device for this window, or the scene is beyond it.
    pub fn open(target: WindowTarget, setup: Setup) -> Result<Self, RenderError> {
        let descriptor = wgpu::InstanceDescriptor::new_with_display_handle_from_env(target.display);
        let instance = wgpu::Instance::new(descriptor);
        let surface = instance
            .create_surface(target.window)
            .map_err(|error| RenderError::Surface(error.to_string()))?;
        let (gpu, adapter) = Gpu::open(&instance, Some(&surface))?;
        let offered = surface.get_capabilities(&adapter);
        let formats = &offered.formats;
        // The picture is read as linear light: what it goes into must encode it again.
        let format = formats
            .iter()
            .find(|format| format.is_srgb())
            .or(formats.first())
            .ok_or_else(|| RenderError::Surface("it offers no picture format".to_owned()))?;
        let view_format = format.add_srgb_suffix();
        let opaque = wgpu::CompositeAlphaMode::Opaque;
        let [width, height] = within(&gpu, (target.size_px)());
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
        let renderer = Renderer::new(gpu, setup)?;
        surface.configure(&renderer.gpu.device, &config);
        renderer.gpu.check()?;
        Ok(Self {
            held: None,
            surface,
            config,
            view_format,
            blitter,
            renderer,
            size_px: target.size_px,
            before_first: Some(target.before_first),
        })
    }
}

/// Width and height of the first projector's picture.
fn size_of_first(renderer: &Renderer) -> [u32; 2] {
    renderer.views().next().map_or([0; 2], |view| view.size_px)
}

/// A size that the device can make, at least one pixel.
fn within(gpu: &Gpu, size_px: [u32; 2]) -> [u32; 2] {
    let most = gpu.device.limits().max_texture_dimension_2d;
    size_px.map(|side| side.clamp(1, most))
}

impl Screen for WindowScreen {
    fn acquire(&mut self) -> Result<Acquired, RenderError> {
        self.renderer.gpu.poll()?;
        if self.held.is_some() {
            return Ok(Acquired::Ready);
        }
        let size = (self.size_px)();
        if size.contains(&0) {
            return Ok(Acquired::Occluded);
        }
        if within(&self.renderer.gpu, size) != [self.config.width, self.config.height] {
            self.configure()?;
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
        self.held = texture;
        Ok(acquired)
    }

    fn show(
        &mut self,
        previous: &Snapshot,
        next: &Snapshot,
        alpha: f32,
    ) -> Result<(), RenderError> {
        self.renderer.draw(previous, next, alpha)?;
        let Some(texture) = self.held.take() else {
            return Ok(());
        };
        let gpu = &self.renderer.gpu;
        let onto = texture.texture.create_view(&wgpu::TextureViewDescriptor {
            format: Some(self.view_format),
            ..wgpu::TextureViewDescriptor::default()
        });
        let mut encoder = gpu
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        if let Some(head) = self.renderer.heads.first() {
            let drawn = &head.finished.view;
            self.blitter.copy(&gpu.device, &mut encoder, drawn, &onto);
        }
        gpu.queue.submit([encoder.finish()]);
        if let Some(make_visible) = self.before_first.take() {
            gpu.wait()?;
            make_visible();
        }
        gpu.queue.present(texture);
        gpu.check()
    }

    fn finish(&mut self) -> Result<(), RenderError> {
        self.renderer.gpu.wait()
    }

    fn set_quality(&mut self, quality: Quality) {
        self.renderer.set_quality(quality);
    }

    fn seen(&self, into: &mut Vec<Seen>) {
        into.clear();
        into.extend(self.renderer.seen().cloned());
    }

    fn resume(&mut self, seen: &[Seen]) {
        self.renderer.resume(seen);
    }

    fn dimmed(&self) -> u64 {
        self.renderer.dimmed()
    }

    fn configure(&mut self) -> Result<(), RenderError> {
        self.held = None;
        let gpu = &self.renderer.gpu;
        [self.config.width, self.config.height] = within(gpu, (self.size_px)());
        self.surface.configure(&gpu.device, &self.config);
        gpu.check()
    }

    fn describe(&self) -> String {
        let [width, height] = size_of_first(&self.renderer);
        format!(
            "{width}x{height} px in a window of {}x{} px, drawn by {}",
            self.config.width,
            self.config.height,
            self.renderer.gpu.name()
        )
    }

    fn lose_device(&mut self) {
        self.renderer.gpu.destroy();
    }
}

/// A picture that nobody sees, drawn as if somebody did.
pub struct Offscreen {
    renderer: Renderer,
}

impl Offscreen {
    /// Opens a device without a window, and makes everything that the scene needs on it.
    ///
    /// # Errors
    /// When there is no adapter or device, or the scene is beyond it.
    pub fn open(setup: Setup) -> Result<Self, RenderError> {
        let renderer = Renderer::new(Gpu::headless()?, setup)?;
        Ok(Self { renderer })
    }
}

impl Screen for Offscreen {
    fn acquire(&mut self) -> Result<Acquired, RenderError> {
        // A display would keep the pictures from running ahead of the device; here waiting for the device does.
        self.renderer.gpu.wait()?;
        Ok(Acquired::Ready)
    }

    fn show(
        &mut self,
        previous: &Snapshot,
        next: &Snapshot,
        alpha: f32,
    ) -> Result<(), RenderError> {
        self.renderer.draw(previous, next, alpha)
    }

    fn finish(&mut self) -> Result<(), RenderError> {
        self.renderer.gpu.wait()
    }

    fn set_quality(&mut self, quality: Quality) {
        self.renderer.set_quality(quality);
    }

    fn seen(&self, into: &mut Vec<Seen>) {
        into.clear();
        into.extend(self.renderer.seen().cloned());
    }

    fn resume(&mut self, seen: &[Seen]) {
        self.renderer.resume(seen);
    }

    fn dimmed(&self) -> u64 {
        self.renderer.dimmed()
    }

    fn configure(&mut self) -> Result<(), RenderError> {
        self.renderer.gpu.check()
    }

    fn describe(&self) -> String {
        let [width, height] = size_of_first(&self.renderer);
        let adapter = self.renderer.gpu.name();
        format!("{width}x{height} px without a window, drawn by {adapter}")
    }

    fn lose_device(&mut self) {
        self.renderer.gpu.destroy();
    }
}
