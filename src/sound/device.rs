//! The sound devices of this machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cpal::traits::{DeviceTrait as _, HostTrait as _, StreamTrait as _};
use cpal::{
    BufferSize, Device, Error, ErrorKind, FromSample, SampleFormat, SizedSample, Stream,
    StreamConfig, SupportedStreamConfigRange,
};
use parking_lot::Mutex;

use super::link::Player;
use super::output::{OpenOutput, OutputError, SoundOutput, WantedOutput};
use super::params::SPEAKERS_MAX;

/// Rates of samples, the best first.
const RATES_HZ: [u32; 2] = [48_000, 44_100];
/// Formats of samples, the best first.
const FORMATS: [SampleFormat; 4] = [
    SampleFormat::F32,
    SampleFormat::I32,
    SampleFormat::I24,
    SampleFormat::I16,
];
/// Most frames that the player makes at once.
const CHUNK_FRAMES: usize = 256;
/// Longest wait of the device's thread for its device.
const TIMEOUT: std::time::Duration = std::time::Duration::from_secs(2);

/// The sound devices of this machine.
pub(super) struct Devices;

impl SoundOutput for Devices {
    fn open(
        &self,
        wanted: &WantedOutput,
        player: &mut dyn FnMut(u32) -> Player,
    ) -> Result<Box<dyn OpenOutput>, OutputError> {
        quiet_library();
        let device = find(&wanted.device)?;
        let name = match device.description() {
            Ok(description) => description.name().to_owned(),
            Err(_) => wanted.device.clone(),
        };
        let failed = |error: Error| match error.kind() {
            ErrorKind::DeviceNotAvailable | ErrorKind::HostUnavailable => {
                OutputError::NoDevice(String::new())
            }
            _ => OutputError::Device {
                device: name.clone(),
                reason: error.to_string(),
            },
        };
        let offered: Vec<_> = device.supported_output_configs().map_err(failed)?.collect();
        let Some((config, format)) = choose(&offered, wanted.channels) else {
            let most = offered.iter().map(|offer| usize::from(offer.channels()));
            return Err(OutputError::Channels {
                device: name,
                most: most.max().unwrap_or(0),
                wanted: wanted.channels,
            });
        };
        let lost = Lost::default();
        let player = player(config.sample_rate);
        let on_lost = lost.clone();
        let stream = match format {
            SampleFormat::F32 => start::<f32>(&device, config, player, on_lost),
            SampleFormat::I32 => start::<i32>(&device, config, player, on_lost),
            SampleFormat::I24 => start::<cpal::I24>(&device, config, player, on_lost),
            _ => start::<i16>(&device, config, player, on_lost),
        };
        let stream = stream.map_err(failed)?;
        stream.play().map_err(failed)?;
        Ok(Box::new(OpenDevice {
            name,
            lost,
            _stream: stream,
        }))
    }
}

/// Why a device does not play any more.
#[derive(Clone, Default)]
struct Lost {
    is_lost: Arc<AtomicBool>,
    reason: Arc<Mutex<String>>,
}

impl Lost {
    fn report(&self, error: &Error) {
        // The device goes on after these.
        if matches!(
            error.kind(),
            ErrorKind::Xrun | ErrorKind::DeviceChanged | ErrorKind::RealtimeDenied
        ) {
            return;
        }
        if !self.is_lost.swap(true, Ordering::AcqRel)
            && let Some(mut reason) = self.reason.try_lock()
        {
            *reason = error.to_string();
        }
    }
}

struct OpenDevice {
    name: String,
    lost: Lost,
    _stream: Stream,
}

impl OpenOutput for OpenDevice {
    fn name(&self) -> &str {
        &self.name
    }

    fn problem(&self) -> Option<String> {
        let is_lost = self.lost.is_lost.load(Ordering::Acquire);
        is_lost.then(|| self.lost.reason.lock().clone())
    }
}

/// Keeps ALSA from printing on standard error what every error already says.
fn quiet_library() {
    #[cfg(target_os = "linux")]
    if let Err(error) = alsa::Output::local_error_handler() {
        let _ = error;
    }
}

fn find(name: &str) -> Result<Device, OutputError> {
    let host = cpal::available_hosts().first().copied();
    let host = host.and_then(|id| cpal::host_from_id(id).ok());
    let host =
        host.ok_or_else(|| OutputError::NoDevice(": this system has no sound".to_owned()))?;
    if name.is_empty() {
        return (host.default_output_device()).ok_or_else(|| OutputError::NoDevice(String::new()));
    }
    let id = cpal::DeviceId::new(host.id(), name);
    host.device_by_id(&id).ok_or_else(|| {
        let found = host.devices().into_iter().flatten();
        let outputs = found.filter(cpal::traits::DeviceTrait::supports_output);
        let names: Vec<String> = outputs
            .filter_map(|device| Some(device.id().ok()?.id().to_owned()))
            .take(12)
            .collect();
        OutputError::NoDevice(match names.as_slice() {
            [] => format!(" \"{name}\", and no other one"),
            names => format!(" \"{name}\"; there are {}", names.join(", ")),
        })
    })
}

/// Returns the configuration with the fewest channels that are enough, and of these the best format and rate.
fn choose(
    offered: &[SupportedStreamConfigRange],
    channels: usize,
) -> Option<(StreamConfig, SampleFormat)> {
    let mut found: Vec<(usize, usize, usize, StreamConfig, SampleFormat)> = Vec::new();
    for offer in offered {
        let format = offer.sample_format();
        let has_channels = usize::from(offer.channels()) >= channels;
        let Some(nth) = FORMATS.iter().position(|known| *known == format) else {
            continue;
        };
        for (rate_nth, rate_hz) in RATES_HZ.iter().enumerate() {
            let rates = offer.min_sample_rate()..=offer.max_sample_rate();
            if has_channels && rates.contains(rate_hz) {
                let config = StreamConfig {
                    channels: offer.channels(),
                    sample_rate: *rate_hz,
                    buffer_size: BufferSize::Default,
                };
                found.push((usize::from(offer.channels()), nth, rate_nth, config, format));
            }
        }
    }
    found.sort_by_key(|(channels, format, rate, ..)| (*channels, *format, *rate));
    let (.., config, format) = found.into_iter().next()?;
    Some((config, format))
}

fn start<T: SizedSample + FromSample<f32>>(
    device: &Device,
    config: StreamConfig,
    mut player: Player,
    lost: Lost,
) -> Result<Stream, Error> {
    let (own, all) = (player.channels(), usize::from(config.channels));
    let mut made = [0.0_f32; CHUNK_FRAMES * SPEAKERS_MAX];
    device.build_output_stream(
        config,
        move |data: &mut [T], _| {
            for chunk in data.chunks_mut(CHUNK_FRAMES * all) {
                let frames = chunk.len() / all;
                let made = &mut made[..frames * own];
                player.fill(made);
                for (out, frame) in chunk.chunks_mut(all).zip(made.chunks(own)) {
                    let frame = frame.iter().copied().chain(std::iter::repeat(0.0));
                    for (out, sample) in out.iter_mut().zip(frame) {
                        *out = T::from_sample(sample);
                    }
                }
            }
        },
        move |error| lost.report(&error),
        Some(TIMEOUT),
    )
}
