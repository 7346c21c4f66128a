//! `shoal track`: a camera source in, a line of shadows for every frame out.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use glam::DVec3;

use crate::calibration::Calibration;
use crate::camera::{
    CameraParams, Frame, LiveSetup, Playback, ReadOutcome, Source, SourceKind, SourceSpec,
    WorkerCommand,
};
use crate::geometry::{FloorFromCamera, Surface};
use crate::vision::{FloorView, LightState, Vision, VisionParams};

use super::lines::LinesOut;
use super::live::drifting::DriftRounds;
use super::observe::track_line;
use super::tell;

/// How long a live camera is waited for before `stop` and the time are looked at again.
const WAIT: Duration = Duration::from_millis(100);
/// How often progress is told.
const PROGRESS_EVERY: Duration = Duration::from_secs(2);

/// What `shoal track` is asked for.
#[derive(Clone, Debug)]
pub struct TrackOptions {
    /// The camera source, as text.
    pub source: String,
    /// Folder that relative paths in `source` start from.
    pub folder: PathBuf,
    /// As fast as possible instead of at the source's own rate.
    pub fast: bool,
    /// Frames a second, for sources that do not say theirs.
    pub fps: Option<f64>,
    /// What a live camera is set to.
    pub camera: CameraParams,
    /// Stop after so much of the source's time.
    pub seconds: Option<f64>,
    /// How the camera sees the floor; without it the whole picture is the surface.
    pub calibration: Option<Calibration>,
    /// The projected surface.
    pub surface: Surface,
    /// How shadows are found and followed.
    pub vision: VisionParams,
    /// A calibrated floor that is seen farther from its place than this, meters, is told: the camera was knocked.
    pub drift_max_m: f64,
    /// Where the lines go; `-` is standard output.
    pub out: PathBuf,
    /// Folder that pictures of every stage go to, a set for each second of the source.
    pub debug: Option<PathBuf>,
}

/// What has come of a source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tracked {
    /// Frames read.
    pub frames: u64,
    /// Those in which anybody was seen.
    pub with_shadow: u64,
    /// Those in which the light had changed, so that nobody new could be seen.
    pub light_changes: u64,
    /// Visitors so far.
    pub highest_id: u32,
    /// The first frame's time at which the camera was seen to have moved.
    pub moved_secs: Option<f64>,
}

/// Reads the source to its end, until `stop` is set or the time asked for is over, and writes a line a frame.
///
/// What a person should know goes to standard error: the view used, warnings, progress.
///
/// # Errors
/// When the source cannot be read, the calibration belongs to another picture size, or the file cannot be written.
/// Lines of the frames read before stay.
pub fn track(options: &TrackOptions, stop: &AtomicBool) -> anyhow::Result<Tracked> {
    let spec = SourceSpec::parse(&options.source)?.relative_to(&options.folder);
    let playback = Playback {
        fps: options.fps,
        fast: options.fast,
    };
    let mut source = match &spec.kind {
        SourceKind::Live { .. } => {
            let params = CameraParams {
                fps: options.fps,
                ..options.camera.clone()
            };
            Source::live(LiveSetup::new(spec, &params, WorkerCommand::own()?))?
        }
        _ => Source::open(&spec, playback)?,
    };
    let mut out = LinesOut::create(&options.out)?;
    if let Some(folder) = &options.debug {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("the folder {} cannot be made", folder.display()))?;
    }
    let result = run(options, &mut source, &mut out, stop);
    out.finish()?;
    while let Some(warning) = source.take_warning() {
        tell(&format!("warning: {warning}"));
    }
    result
}

fn run(
    options: &TrackOptions,
    source: &mut Source,
    out: &mut LinesOut,
    stop: &AtomicBool,
) -> anyhow::Result<Tracked> {
    let mut frame = Frame::default();
    let mut vision = None;
    let (mut started, mut told) = (Instant::now(), Instant::now());
    let mut tally = Tracked::default();
    let mut drift = DriftRounds::of(options.calibration.as_ref());
    let mut levels = Vec::new();
    let mut next_views_secs = f64::NEG_INFINITY;
    let opened = Instant::now();
    while !stop.load(Ordering::Relaxed) {
        match source.read_within(&mut frame, WAIT)? {
            ReadOutcome::Frame => {}
            ReadOutcome::End => break,
            ReadOutcome::Timeout => {
                let now_secs = opened.elapsed().as_secs_f64();
                if options.seconds.is_some_and(|seconds| now_secs >= seconds) {
                    break;
                }
                continue;
            }
        }
        if options
            .seconds
            .is_some_and(|seconds| frame.time_secs >= seconds)
        {
            break;
        }
        let vision = match &mut vision {
            Some(vision) => vision,
            None => {
                started = Instant::now();
                vision.insert(Vision::new(
                    &options.vision,
                    floor_view(options.calibration.as_ref(), &options.surface, &frame)?,
                ))
            }
        };
        let tracks = vision.observe(&frame);
        let line = track_line(frame.sequence, frame.time_secs, tracks);
        if let Some(folder) = &options.debug
            && frame.time_secs >= next_views_secs
        {
            next_views_secs = frame.time_secs.floor() + 1.0;
            write_views(folder, vision, &frame)?;
        }
        tally.frames += 1;
        tally.with_shadow += u64::from(!line.shadows.is_empty());
        tally.highest_id = line
            .shadows
            .iter()
            .map(|s| s.id)
            .fold(tally.highest_id, u32::max);
        out.write(&line)?;
        if let Some(calibration) = &options.calibration {
            let seen = (&frame, Some(&*vision));
            drift.observe(seen, calibration, &mut levels, options.drift_max_m);
            if tally.moved_secs.is_none() && drift.status().is_some_and(|d| d.is_alarm) {
                tally.moved_secs = Some(frame.time_secs);
            }
        }
        tally.light_changes += u64::from(vision.light() == LightState::Changed);
        if told.elapsed() >= PROGRESS_EVERY {
            told = Instant::now();
            tell(&format!(
                "{} frames, {:.1} s of the source, {:.0} frames a second",
                tally.frames,
                frame.time_secs,
                tally.frames as f64 / started.elapsed().as_secs_f64().max(1e-3)
            ));
        }
    }
    if tally.frames == 0 && !stop.load(Ordering::Relaxed) {
        if let Some(camera) = source.live_camera() {
            let faults = camera.health().faults;
            let faults: Vec<&str> = faults.iter().map(|fault| fault.detail.as_str()).collect();
            bail!("{}: no frame came: {}", source.name(), faults.join("; "));
        }
        bail!("{}: there is no frame in it", source.name());
    }
    tell(&tally.sentence(source.name()));
    Ok(tally)
}

/// Writes the pictures of a frame's stages as `FOLDER/FRAME-STAGE.png`.
fn write_views(folder: &Path, vision: &Vision, frame: &Frame) -> anyhow::Result<()> {
    let Some(views) = vision.debug_views(frame) else {
        return Ok(());
    };
    for (stage, picture) in views.named() {
        let path = folder.join(format!("{:06}-{stage}.png", frame.sequence));
        picture
            .save(&path)
            .with_context(|| format!("{} cannot be written", path.display()))?;
    }
    Ok(())
}

impl Tracked {
    fn sentence(&self, source: &str) -> String {
        let light = if self.light_changes > 0 {
            format!("; the light had changed in {} of them", self.light_changes)
        } else {
            String::new()
        };
        let moved = self.moved_secs.map_or(String::new(), |secs| {
            format!("; the camera has moved, as was seen at {secs:.1} s: calibrate anew")
        });
        format!(
            "{source}: {} frames, {} with a shadow, {} visitors{light}{moved}",
            self.frames, self.with_shadow, self.highest_id
        )
    }
}

/// How a camera's pictures lie on the floor: as calibrated, or the whole picture on the whole surface, which is told.
///
/// # Errors
/// When the calibration was made with pictures of another size.
pub fn floor_view(
    calibration: Option<&Calibration>,
    surface: &Surface,
    frame: &Frame,
) -> anyhow::Result<FloorView> {
    let surface = surface.clone();
    let Some(calibration) = calibration else {
        tell(&format!(
            "no calibration: the whole picture is mapped onto the surface of {} x {} m, and a visitor's foot is the \
             middle of their shadow",
            surface.width_m, surface.height_m
        ));
        return Ok(FloorView {
            map: FloorFromCamera::whole_picture(frame.width_px, frame.height_px, &surface),
            lamp_m: None,
            camera_m: None,
            surface,
        });
    };
    let map = calibration.floor_from_camera(frame.width_px, frame.height_px)?;
    if calibration.lamp_m.is_none() {
        tell(
            "the calibration has no lamp position: a visitor's foot is the middle of their shadow",
        );
    }
    Ok(FloorView {
        map,
        lamp_m: calibration.lamp_m.map(DVec3::from_array),
        camera_m: calibration.camera_m.map(DVec3::from_array),
        surface,
    })
}
