//! `shoal demo` where there is no display: a camera's frames become shadows, fish that react, and a picture, frame by
//! frame on one clock, drawn into a folder.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Context;

use crate::calibration::Calibration;
use crate::camera::{Frame, Playback, ReadOutcome, Source, SourceSpec};
use crate::geometry::Surface;
use crate::render::RenderSetup;
use crate::simulation::Simulation;
use crate::vision::{Vision, VisionParams};
use crate::world::{Observation, Snapshot};

use super::observe::observation_from_tracks;
use super::render::{Picture, RenderOptions, render};
use super::tell;
use super::track::floor_view;

/// Frames a second of the video.
const FPS: f64 = 30.0;
/// How long a live camera is waited for.
const LONGEST_WAIT: Duration = Duration::from_millis(100);
/// A picture in so many is written as a still beside the video.
const STILL_EVERY: u64 = 15;

/// Height of the picture, unless it is told.
const HEIGHT_PX: u32 = 720;

/// The picture of a surface without black sides; videos want even numbers.
pub fn size_px(surface: &Surface) -> (u32, u32) {
    let aspect = surface.width_m / surface.height_m;
    let half = (HEIGHT_PX as f32 * aspect / 2.0).round().clamp(8.0, 2048.0);
    (2 * half as u32, HEIGHT_PX)
}

/// What the headless demo is made of.
pub struct Demo {
    /// The camera source, as text.
    pub source: String,
    /// Folder that relative paths in `source` start from.
    pub folder: PathBuf,
    /// How shadows are found.
    pub vision: VisionParams,
    /// How the camera sees the floor; without it the whole picture is the surface.
    pub calibration: Option<Calibration>,
    /// The projected surface.
    pub surface: Surface,
    /// The fish.
    pub simulation: Simulation,
    /// The picture.
    pub setup: RenderSetup,
    /// How long.
    pub seconds: f64,
    /// Folder for stills and video.
    pub out: PathBuf,
}

/// Draws the demo and says where it is.
///
/// # Errors
/// When the camera source, the graphics adapter or the folder cannot be used.
pub fn demo(demo: Demo, stop: &AtomicBool) -> anyhow::Result<()> {
    let spec = SourceSpec::parse(&demo.source)?.relative_to(&demo.folder);
    let playback = Playback {
        fps: None,
        fast: true,
    };
    let mut visitors = Visitors {
        source: Some(Source::open(&spec, playback)?),
        frame: Frame::default(),
        pending: false,
        vision: None,
        params: demo.vision,
        calibration: demo.calibration,
        surface: demo.surface,
        observation: Observation::default(),
    };
    let mut simulation = demo.simulation;
    let (stills, video) = (demo.out.join("frames"), demo.out.join("pool.y4m"));
    let options = RenderOptions {
        fps: FPS,
        seconds: demo.seconds,
        pictures: vec![
            Picture {
                path: stills.clone(),
                every: STILL_EVERY,
            },
            Picture {
                path: video.clone(),
                every: 1,
            },
        ],
    };
    let advance = |snapshot: &mut Snapshot| {
        visitors.observe_until(simulation.time_secs() + simulation.dt_secs())?;
        simulation.run_tick(&visitors.observation);
        simulation.snapshot(snapshot);
        Ok(())
    };
    let rendered = render(&options, demo.setup, advance, stop)?;
    let video = smaller_video(&video).unwrap_or(video);
    tell(&format!(
        "{} frames drawn on {}\nstills: {}\nvideo:  {}",
        rendered.frames,
        rendered.adapter,
        stills.display(),
        video.display()
    ));
    Ok(())
}

/// The camera's side of the demo: frames of the source until a moment, and what vision makes of them.
struct Visitors {
    /// `None` after its end.
    source: Option<Source>,
    frame: Frame,
    /// `frame` is read, but its time has not come yet.
    pending: bool,
    vision: Option<Vision>,
    params: VisionParams,
    calibration: Option<Calibration>,
    surface: Surface,
    observation: Observation,
}

impl Visitors {
    fn observe_until(&mut self, time_secs: f64) -> anyhow::Result<()> {
        while let Some(source) = &mut self.source {
            if !self.pending {
                match source.read_within(&mut self.frame, LONGEST_WAIT)? {
                    ReadOutcome::Frame => {}
                    // A live camera that is not there: the fish are alone.
                    ReadOutcome::Timeout => break,
                    ReadOutcome::End => {
                        self.source = None;
                        self.observation.shadows.clear();
                        break;
                    }
                }
            }
            self.pending = self.frame.time_secs > time_secs;
            if self.pending {
                break;
            }
            let vision = match &mut self.vision {
                Some(vision) => vision,
                None => {
                    let floor = floor_view(self.calibration.as_ref(), &self.surface, &self.frame)?;
                    self.vision.insert(Vision::new(&self.params, floor))
                }
            };
            let tracks = vision.observe(&self.frame);
            self.observation = observation_from_tracks(self.frame.time_secs, tracks);
        }
        Ok(())
    }
}

/// An mp4 beside the raw video, which is then removed; `None` where there is no ffmpeg or it fails.
fn smaller_video(raw: &Path) -> Option<PathBuf> {
    let small = raw.with_extension("mp4");
    let done = Command::new("ffmpeg")
        .args(["-v", "error", "-y", "-i"])
        .arg(raw)
        .args(["-pix_fmt", "yuv420p", "-crf", "20"])
        .arg(&small)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !done {
        return None;
    }
    std::fs::remove_file(raw)
        .with_context(|| format!("{} cannot be removed", raw.display()))
        .inspect_err(|error| tracing::warn!("{error:#}"))
        .ok()?;
    Some(small)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The demo's stills once showed a floor of 4 m by 3 m with black sides.
    #[test]
    fn the_demo_is_drawn_in_the_proportions_of_its_surface() {
        let of = |width_m, height_m| {
            size_px(&Surface {
                width_m,
                height_m,
                ..Surface::default()
            })
        };
        assert_eq!(of(4.0, 3.0), (960, 720));
        assert_eq!(of(4.0, 2.25), (1280, 720));
        assert_eq!(
            of(100.0, 0.1),
            (4096, 720),
            "no picture is beyond what devices draw"
        );
    }
}
