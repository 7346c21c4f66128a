//! The graphics device: selects an adapter, collects the device's errors, reads textures back.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::render::error::RenderError;

/// Format of the slopes of the water and of its sunlight. A device without it is not opened.
pub(super) const WATER: wgpu::TextureFormat = wgpu::TextureFormat::Rgba16Float;
/// Sizes of the blocks that small textures and buffers share on the device. Larger ones have a block of their own, so that the memory
/// of a scene is free when the scene is gone: textures are created only when a scene begins, so few blocks are as fast as one.
const MEMORY_BLOCK_BYTES: std::ops::Range<u64> = 4 << 20..8 << 20;
/// Number of waits for the device after which it counts as failed, after 20 s.
const WAIT_STEPS: u32 = 20;
/// Duration of one wait for the device. The waits are short, so that a program that was stopped for longer than 20 s does not
/// count the device as failed.
const WAIT_STEP: Duration = Duration::from_secs(1);

/// A graphics device and its first error. Copies share the device.
#[derive(Clone)]
pub struct Gpu {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    adapter: wgpu::AdapterInfo,
    first_error: Arc<Mutex<Option<String>>>,
}

/// Returns whether an adapter has what the water needs: compute shaders, and textures of half floats in which it can add up light
/// with several samples.
fn can_compute_water(adapter: &wgpu::Adapter) -> bool {
    let light = adapter.get_texture_format_features(WATER);
    let needed = wgpu::TextureFormatFeatureFlags::MULTISAMPLE_X4
        | wgpu::TextureFormatFeatureFlags::MULTISAMPLE_RESOLVE
        | wgpu::TextureFormatFeatureFlags::BLENDABLE
        | wgpu::TextureFormatFeatureFlags::FILTERABLE;
    let downlevel = adapter.get_downlevel_capabilities().flags;
    downlevel.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS)
        && light.flags.contains(needed)
        && light
            .allowed_usages
            .contains(wgpu::TextureUsages::RENDER_ATTACHMENT)
}

impl Gpu {
    /// Opens a device on the best adapter. A software adapter is used only if there is no other adapter. The environment
    /// variables `WGPU_BACKEND` and `VK_DRIVER_FILES` restrict the choice.
    ///
    /// # Errors
    /// [`RenderError::NoAdapter`] if there is no adapter; [`RenderError::NoDevice`] if the adapter cannot open a
    /// device or cannot compute the water.
    pub fn headless() -> Result<Self, RenderError> {
        // Without a display, the driver Mesa prints an error if GL is tried. So GL is tried only if Vulkan has no adapter.
        let asked = wgpu::InstanceDescriptor::new_without_display_handle_from_env().backends;
        let open = |backends| {
            let mut wanted = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
            wanted.backends = backends;
            Self::open(&wgpu::Instance::new(wanted), None)
        };
        let found = open(asked & wgpu::Backends::VULKAN).or_else(|_| open(asked))?;
        Ok(found.0)
    }

    /// Opens a device on the best adapter; if `surface` is given, on the best adapter that can present to this surface.
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
        if !can_compute_water(&adapter) {
            return Err(RenderError::NoDevice {
                adapter: about.name,
                reason: "it has no compute shaders or no half floats, which the water needs"
                    .to_owned(),
            });
        }
        let wanted = wgpu::DeviceDescriptor {
            label: Some("shoal"),
            // Only to measure the passes.
            required_features: adapter.features() & wgpu::Features::TIMESTAMP_QUERY,
            required_limits: wgpu::Limits::downlevel_defaults().using_resolution(adapter.limits()),
            memory_hints: wgpu::MemoryHints::Manual {
                suballocated_device_memory_block_size: MEMORY_BLOCK_BYTES,
            },
            ..wgpu::DeviceDescriptor::default()
        };
        let (device, queue) =
            pollster::block_on(adapter.request_device(&wanted)).map_err(|error| {
                RenderError::NoDevice {
                    adapter: about.name.clone(),
                    reason: error.to_string(),
                }
            })?;
        let first_error = Arc::new(Mutex::new(None::<String>));
        let slot = Arc::clone(&first_error);
        // Without a handler, wgpu panics on errors. Only the first error is kept, because it usually causes the
        // later errors.
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            slot.lock().get_or_insert_with(|| error.to_string());
        }));
        let slot = Arc::clone(&first_error);
        device.set_device_lost_callback(move |_, reason| {
            slot.lock().get_or_insert_with(|| format!("lost: {reason}"));
        });
        let gpu = Self {
            device,
            queue,
            adapter: about,
            first_error,
        };
        Ok((gpu, adapter))
    }

    /// Processes events of the device and returns its first error. Only this call detects a lost device.
    pub(super) fn poll(&self) -> Result<(), RenderError> {
        self.device
            .poll(wgpu::PollType::Poll)
            .map_err(|error| RenderError::Device(error.to_string()))?;
        self.check()
    }

    /// Destroys the device, as a failing driver does. For tests of the recovery from a lost device.
    pub fn destroy(&self) {
        self.device.destroy();
    }

    /// Whether the adapter is a software implementation on the CPU.
    pub fn is_software(&self) -> bool {
        self.adapter.device_type == wgpu::DeviceType::Cpu
    }

    /// Returns the memory of all textures and buffers on the device, in bytes; `None` if the backend does not count it.
    pub fn allocated_bytes(&self) -> Option<u64> {
        let report = self.device.generate_allocator_report()?;
        Some(report.total_allocated_bytes)
    }

    /// Returns the names of adapter, driver and backend in one line.
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

    /// Returns the first error since the device was opened as `Err`; `Ok` if there was none.
    pub(super) fn check(&self) -> Result<(), RenderError> {
        let first_error = self.first_error.lock();
        first_error
            .clone()
            .map_or(Ok(()), |text| Err(RenderError::Device(text)))
    }

    /// Checks the size of a texture against the limits of the device.
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

    /// Waits until all submitted work is done.
    ///
    /// # Errors
    /// [`RenderError::Device`] if the work takes longer than 20 s or the device failed.
    pub fn wait(&self) -> Result<(), RenderError> {
        let mut waits = 0;
        let waited = loop {
            let waited = self.device.poll(wgpu::PollType::Wait {
                submission_index: None,
                timeout: Some(WAIT_STEP),
            });
            waits += 1;
            if !(matches!(waited, Err(wgpu::PollError::Timeout)) && waits < WAIT_STEPS) {
                break waited;
            }
        };
        waited.map_err(|error| RenderError::Device(error.to_string()))?;
        self.check()
    }
}
