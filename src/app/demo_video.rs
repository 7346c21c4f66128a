//! The demo without a display: tracks visitors, simulates the fish and renders the pool into a folder. Everything runs in one
//! thread and on one clock, so the same options give the same pictures.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;

use crate::camera::{
    CameraParams, Feed, FeedMode, FeedSetup, ReadOutcome, SourceSpec, WorkerCommand,
};
use crate::files::{OutputKind, check_output};
use crate::geometry::Surface;
use crate::render::RenderSetup;
use crate::simulation::Simulation;
use crate::world::{Observation, Snapshot};

use super::frame_tracker::{FrameTracker, TrackerConfig};
use super::offscreen::{PictureOutput, RenderOptions, render_offscreen};
use crate::runtime::print_message;

/// Frames per second of the video.
const FPS: f64 = 30.0;
/// Every n-th picture of the video is also written as a still.
const STILL_EVERY: u64 = 15;
/// Height of the picture in pixels, if no size is given.
const HEIGHT_PX: u32 = 720;
/// Largest width of the picture, in pixels. All graphics devices can render this width.
const MAX_WIDTH_PX: u32 = 4096;

/// Returns a picture size with the proportions of the surface. Both numbers are even, as video encoders require.
pub(super) fn size_px(surface: &Surface) -> (u32, u32) {
    let aspect = surface.width_m / surface.height_m;
    let half = (HEIGHT_PX as f32 * aspect / 2.0)
        .round()
        .clamp(8.0, MAX_WIDTH_PX as f32 / 2.0);
    (2 * half as u32, HEIGHT_PX)
}

/// Options of [`render_demo`].
pub(super) struct DemoOptions {
    /// Camera source, as text.
    pub(super) source: String,
    /// Folder to which relative paths in `source` refer.
    pub(super) folder: PathBuf,
    /// Parameters, calibration and surface for tracking the visitors.
    pub(super) tracker: TrackerConfig,
    /// The simulated pool.
    pub(super) simulation: Simulation,
    /// The render setup, with the picture size.
    pub(super) setup: RenderSetup,
    /// Duration in seconds.
    pub(super) seconds: f64,
    /// Folder for stills and video.
    pub(super) out: PathBuf,
}

/// Renders the demo and prints the paths of the pictures.
///
/// # Errors
/// When the camera source, the graphics adapter or the folder cannot be used.
pub(super) fn render_demo(options: DemoOptions, stop: &AtomicBool) -> anyhow::Result<()> {
    let spec = SourceSpec::parse(&options.source)?.relative_to(&options.folder);
    let setup = FeedSetup::new(spec, &CameraParams::default(), WorkerCommand::own()?);
    let feed = Feed::open(setup.with_mode(FeedMode::EveryFrame { fast: true }), None)?;
    let mut visitors = Visitors {
        tracker: FrameTracker::new(feed, options.tracker),
        has_ended: false,
        is_pending: false,
        observation: Observation::default(),
    };
    let mut simulation = options.simulation;
    let (stills, video) = (options.out.join("frames"), options.out.join("pool.y4m"));
    let render_options = RenderOptions {
        fps: FPS,
        seconds: options.seconds,
        outputs: vec![
            PictureOutput {
                path: stills.clone(),
                every: STILL_EVERY,
            },
            PictureOutput {
                path: video.clone(),
                every: 1,
            },
        ],
    };
    let advance = |snapshot: &mut Snapshot| {
        visitors.observe_until(simulation.time_secs() + simulation.dt_secs(), stop)?;
        simulation.run_tick(&visitors.observation);
        simulation.snapshot(snapshot);
        Ok(())
    };
    let rendered = render_offscreen(&render_options, options.setup, advance, stop)?;
    let video = compress_video(&video).unwrap_or(video);
    print_message(&format!(
        "{} frames rendered on {}\nstills: {}\nvideo:  {}",
        rendered.frames,
        rendered.adapter,
        stills.display(),
        video.display()
    ));
    Ok(())
}

/// The visitors in front of the camera, in step with the simulation's clock.
struct Visitors {
    tracker: FrameTracker,
    /// Whether the source has no further frames.
    has_ended: bool,
    /// Whether the tracker's latest frame is later than the simulation. Such a frame is not tracked yet.
    is_pending: bool,
    observation: Observation,
}

impl Visitors {
    /// Tracks all frames up to `time_secs`, or until `stop` is set.
    fn observe_until(&mut self, time_secs: f64, stop: &AtomicBool) -> anyhow::Result<()> {
        while !self.has_ended {
            if !self.is_pending {
                match self.tracker.read()? {
                    ReadOutcome::Frame => {}
                    // The next frame belongs to this tick even if it arrives late, so wait for it.
                    ReadOutcome::Timeout
                        if self.tracker.feed.ends() && !stop.load(Ordering::Relaxed) =>
                    {
                        continue;
                    }
                    // There is no new frame from a live camera, or `stop` is set: the observation is not changed.
                    ReadOutcome::Timeout => break,
                    ReadOutcome::End => {
                        self.has_ended = true;
                        self.observation.shadows.clear();
                        break;
                    }
                }
            }
            let frame_secs = self.tracker.frame.time_secs;
            self.is_pending = frame_secs > time_secs;
            if self.is_pending {
                break;
            }
            self.observation.update(frame_secs, self.tracker.track()?);
        }
        Ok(())
    }
}

/// Compresses the raw video to an mp4 file and removes the raw file. Returns `None` if ffmpeg is missing or fails.
fn compress_video(raw: &Path) -> Option<PathBuf> {
    let compressed = raw.with_extension("mp4");
    check_output(&compressed, OutputKind::File).ok()?;
    let is_done = Command::new("ffmpeg")
        .args(["-v", "error", "-y", "-i"])
        .arg(raw)
        .args(["-pix_fmt", "yuv420p", "-crf", "20"])
        .arg(&compressed)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !is_done {
        return None;
    }
    std::fs::remove_file(raw)
        .with_context(|| format!("{}: cannot be removed", raw.display()))
        .inspect_err(|error| tracing::warn!("{error:#}"))
        .ok()?;
    Some(compressed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The stills once showed a floor of 4 m by 3 m with black bars at the sides.
    #[test]
    fn the_picture_has_the_proportions_of_the_surface() {
        let size_of = |width_m, height_m| {
            size_px(&Surface {
                width_m,
                height_m,
                ..Surface::default()
            })
        };
        assert_eq!(size_of(4.0, 3.0), (960, 720));
        assert_eq!(size_of(4.0, 2.25), (1280, 720));
        // The width is limited to what graphics devices can render.
        assert_eq!(size_of(100.0, 0.1), (4096, 720));
    }
}
