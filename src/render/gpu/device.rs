//! The device: finding an adapter, hearing its errors, reading pictures back.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::render::error::RenderError;

/// How long a picture may take before the device counts as lost.
const PATIENCE: Duration = Duration::from_secs(20);

/// A graphics device and what it complained about.
pub struct Gpu {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    adapter: wgpu::AdapterInfo,
    complaint: Arc<Mutex<Option<String>>>,
}

/// Bytes of a row in a buffer that a picture is copied to.
pub(super) fn padded_row(width_px: u32) -> u32 {
    (width_px * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT)
}

impl Gpu {
    /// Opens the best adapter that there is, software if need be. `WGPU_BACKEND` and `VK_DRIVER_FILES` are heeded.
    ///
    /// # Errors
    /// [`RenderError::NoAdapter`] says what to install; [`RenderError::NoDevice`] when the adapter refuses.
    pub fn headless() -> Result<Self, RenderError> {
        // Looking for GL without a display makes Mesa complain on standard error, so only where Vulkan has nothing.
        let asked = wgpu::InstanceDescriptor::new_without_display_handle_from_env().backends;
        let open = |backends| {
            let mut wanted = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
            wanted.backends = backends;
            Self::open(&wgpu::Instance::new(wanted), None)
        };
        let found = open(asked & wgpu::Backends::VULKAN).or_else(|_| open(asked))?;
        Ok(found.0)
    }

    /// Opens the best adapter, of those that can show on `surface` where there is one.
    pub(super) fn open(
        instance: &wgpu::Instance,
        surface: Option<&wgpu::Surface<'_>>,
    ) -> Result<(Self, wgpu::Adapter), RenderError> {
        let options = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            compatible_surface: surface,
            ..wgpu::RequestAdapterOptions::default()
        };
        let adapter = pollster::block_on(instance.request_adapter(&options))
            .map_err(|error| RenderError::NoAdapter(error.to_string()))?;
        let about = adapter.get_info();
        let wanted = wgpu::DeviceDescriptor {
            label: Some("shoal"),
            required_limits: wgpu::Limits::downlevel_defaults().using_resolution(adapter.limits()),
            ..wgpu::DeviceDescriptor::default()
        };
        let (device, queue) =
            pollster::block_on(adapter.request_device(&wanted)).map_err(|error| {
                RenderError::NoDevice {
                    adapter: about.name.clone(),
                    reason: error.to_string(),
                }
            })?;
        let complaint = Arc::new(Mutex::new(None::<String>));
        let heard = Arc::clone(&complaint);
        // wgpu panics on validation errors unless somebody listens. The first complaint is the cause; later ones follow.
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            heard
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .get_or_insert_with(|| error.to_string());
        }));
        let heard = Arc::clone(&complaint);
        device.set_device_lost_callback(move |_, reason| {
            heard
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .get_or_insert_with(|| format!("lost: {reason}"));
        });
        let gpu = Self {
            device,
            queue,
            adapter: about,
            complaint,
        };
        Ok((gpu, adapter))
    }

    /// Lets the device tell what happened to it. A lost device says so here only.
    pub(super) fn poll(&self) -> Result<(), RenderError> {
        self.device
            .poll(wgpu::PollType::Poll)
            .map_err(|error| RenderError::Device(error.to_string()))?;
        self.check()
    }

    /// Gives the device up, as a driver does that fails: everything on it is lost. For tests of what comes then.
    pub fn destroy(&self) {
        self.device.destroy();
    }

    /// Whether the adapter is this machine's processor.
    pub fn is_software(&self) -> bool {
        self.adapter.device_type == wgpu::DeviceType::Cpu
    }

    /// Adapter, driver and backend in one line.
    pub fn name(&self) -> String {
        let wgpu::AdapterInfo {
            name,
            driver,
            driver_info,
            backend,
            ..
        } = &self.adapter;
        format!("{name} ({driver} {driver_info}, {backend})")
    }

    /// The first error since the device was opened.
    pub(super) fn check(&self) -> Result<(), RenderError> {
        let complaint = self
            .complaint
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        complaint
            .clone()
            .map_or(Ok(()), |text| Err(RenderError::Device(text)))
    }

    pub(super) fn check_size(&self, [width_px, height_px]: [u32; 2]) -> Result<(), RenderError> {
        let most_px = self.device.limits().max_texture_dimension_2d;
        if width_px == 0 || height_px == 0 || width_px > most_px || height_px > most_px {
            return Err(RenderError::Size {
                width_px,
                height_px,
                most_px,
            });
        }
        Ok(())
    }

    /// Waits until everything submitted is done.
    ///
    /// # Errors
    /// [`RenderError::Device`] when it takes too long or the device failed.
    pub fn wait(&self) -> Result<(), RenderError> {
        self.device
            .poll(wgpu::PollType::Wait {
                submission_index: None,
                timeout: Some(PATIENCE),
            })
            .map_err(|error| RenderError::Device(error.to_string()))?;
        self.check()
    }

    pub(super) fn read(
        &self,
        texture: &wgpu::Texture,
        through: &wgpu::Buffer,
        size: [u32; 2],
        rgba: &mut Vec<u8>,
    ) -> Result<(), RenderError> {
        let padded = padded_row(size[0]);
        let mut encoder = self
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_texture_to_buffer(
            texture.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: through,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(padded),
                    rows_per_image: None,
                },
            },
            wgpu::Extent3d {
                width: size[0],
                height: size[1],
                depth_or_array_layers: 1,
            },
        );
        self.queue.submit([encoder.finish()]);
        let slice = through.slice(..);
        let failed = Arc::clone(&self.complaint);
        slice.map_async(wgpu::MapMode::Read, move |outcome| {
            if let Err(error) = outcome {
                failed
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .get_or_insert_with(|| error.to_string());
            }
        });
        self.wait()?;
        let mapped = slice
            .get_mapped_range()
            .map_err(|error| RenderError::Device(error.to_string()))?;
        rgba.clear();
        for row in mapped.chunks_exact(padded as usize).take(size[1] as usize) {
            rgba.extend_from_slice(row.get(..size[0] as usize * 4).unwrap_or_default());
        }
        drop(mapped);
        through.unmap();
        Ok(())
    }
}
