//! Tracks the visitors in a camera source and writes one line of tracks per frame. This is `shoal track`.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;

use crate::camera::{
    CameraParams, Feed, FeedMode, FeedSetup, Frame, ReadOutcome, SourceSpec, WorkerCommand,
};
use crate::control::{Journal, TrackEventLine, TrackLine, rounded};
use crate::files::{OutputKind, check_output, output_target};
use crate::vision::{LightState, TrackEvent, Vision};

use super::frame_tracker::{FrameTracker, TrackerConfig};
use super::live::{DriftMonitor, PictureFaults};
use crate::records::{JsonLinesWriter, is_standard_output};
use crate::runtime::print_message;

/// Time between two progress messages.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(2);

/// Longest wait for the first frame between two checks of the stop flag.
const READY_WAIT: Duration = Duration::from_millis(100);

/// Options of [`track`].
#[derive(Clone, Debug)]
pub struct TrackOptions {
    /// Camera source, as text.
    pub source: String,
    /// Folder to which relative paths in `source` refer.
    pub folder: PathBuf,
    /// Whether a recording is read as fast as possible instead of at its own frame rate.
    pub fast: bool,
    /// Frame rate of sources that do not report one, in frames per second.
    pub fps: Option<f64>,
    /// Settings of a live camera.
    pub camera: CameraParams,
    /// Timestamp of the source, in seconds, at which tracking stops; `None` for no limit.
    pub seconds: Option<f64>,
    /// Shoal's own program file, which is started to read live cameras and to guard camera programs; `None` for the running
    /// program.
    pub program: Option<PathBuf>,
    /// Parameters, calibration and surface for tracking the visitors.
    pub tracker: TrackerConfig,
    /// Shift of the floor since the calibration, in meters, above which a warning is logged.
    pub drift_max_m: f64,
    /// Output file; `-` is standard output.
    pub out: PathBuf,
    /// Whether the lines contain the decisions of the tracker with their reasons.
    pub why: bool,
    /// Folder for pictures of each processing step, one set per second of the source; `None` if none are written.
    pub debug: Option<PathBuf>,
}

/// Result of [`track`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrackSummary {
    /// Number of frames.
    pub frames: u64,
    /// Number of frames with at least one track.
    pub with_shadow: u64,
    /// Number of frames after a change of the light during which no new tracks can appear.
    pub light_changes: u64,
    /// Highest track id; ids are counted from 1.
    pub highest_id: u32,
    /// Timestamp of the first frame in which the camera was found to have moved, in seconds; `None` if it has not moved.
    pub moved_secs: Option<f64>,
}

/// Reads the source until it ends, `stop` is set or the requested time is over. Writes one line per frame.
///
/// Messages for the user go to standard error: the mapping to the floor, warnings and progress.
///
/// # Errors
/// When the source cannot be read, the calibration belongs to another picture size, or the file cannot be written. Lines
/// that were written before an error stay.
pub fn track(options: &TrackOptions, stop: &AtomicBool) -> anyhow::Result<TrackSummary> {
    if !is_standard_output(&options.out) {
        check_output(&options.out, OutputKind::Stream)
            .with_context(|| cannot_be_written(&options.out))?;
    }
    if let Some(folder) = &options.debug {
        check_output(folder, OutputKind::Folder).with_context(|| cannot_be_written(folder))?;
    }
    let feed = open_feed(options)?;
    // If the source cannot be read, this loop returns the error before the output file is created. It does not wait for a live
    // camera, which may deliver its first frame much later.
    while feed.ends() && !stop.load(Ordering::Relaxed) && !feed.wait_until_ready(READY_WAIT)? {}
    let mut tracker = FrameTracker::new(feed, options.tracker.clone());
    let mut out = JsonLinesWriter::create(&options.out)?;
    if let Some(folder) = &options.debug {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("{}: the folder cannot be created", folder.display()))?;
    }
    let result = track_frames(options, &mut tracker, &mut out, stop);
    out.finish()?;
    while let Some(warning) = tracker.feed.take_warning() {
        print_message(&format!("warning: {warning}"));
    }
    result
}

/// Returns the message for an output that cannot be written.
pub(super) fn cannot_be_written(path: &Path) -> String {
    format!("{}: cannot be written", path.display())
}

/// Opens the camera source. A live camera returns only its newest frame, any other source returns every frame.
pub(super) fn open_feed(options: &TrackOptions) -> anyhow::Result<Feed> {
    let spec = SourceSpec::parse(&options.source)?.relative_to(&options.folder);
    let params = CameraParams {
        fps: options.fps,
        ..options.camera.clone()
    };
    let worker = match &options.program {
        Some(program) => WorkerCommand::new(program),
        None => WorkerCommand::own()?,
    };
    let mode = FeedMode::EveryFrame { fast: options.fast };
    let setup = FeedSetup::new(spec, &params, worker).with_mode(mode);
    Ok(Feed::open(setup, None)?)
}

fn track_frames(
    options: &TrackOptions,
    tracker: &mut FrameTracker,
    out: &mut JsonLinesWriter,
    stop: &AtomicBool,
) -> anyhow::Result<TrackSummary> {
    let opened = Instant::now();
    let mut progress = Progress::default();
    let mut summary = TrackSummary::default();
    let journal = Journal::default();
    let mut drift = DriftMonitor::new(options.tracker.calibration.as_ref(), &journal);
    let mut picture_faults = PictureFaults::new(options.tracker.calibration.is_some(), &journal);
    let mut levels = Vec::new();
    let mut next_debug_secs = f64::NEG_INFINITY;
    let is_over = |secs: f64| options.seconds.is_some_and(|end_secs| secs >= end_secs);
    while !stop.load(Ordering::Relaxed) {
        match tracker.read()? {
            ReadOutcome::Frame if is_over(tracker.frame.time_secs) => break,
            ReadOutcome::Frame => {}
            ReadOutcome::End => break,
            ReadOutcome::Timeout if is_over(opened.elapsed().as_secs_f64()) => break,
            ReadOutcome::Timeout => continue,
        }
        let (number, time_secs) = (tracker.frame.sequence, tracker.frame.time_secs);
        progress.start();
        let mut line = TrackLine::new(number, time_secs, tracker.track()?);
        let (frame, Some(vision)) = (&tracker.frame, tracker.vision()) else {
            continue;
        };
        if let Some(folder) = &options.debug
            && time_secs >= next_debug_secs
        {
            next_debug_secs = time_secs.floor() + 1.0;
            write_debug_pictures(folder, vision, frame)?;
        }
        if options.why {
            line.events = vision.events().iter().map(event_line).collect();
        }
        picture_faults.observe(vision);
        summary.add_line(&line);
        summary.add_light(vision);
        out.write(&line)?;
        if let Some(calibration) = &tracker.config().calibration {
            let seen = (frame, Some(vision));
            drift.observe(seen, calibration, &mut levels, options.drift_max_m);
            if summary.moved_secs.is_none() && drift.status().is_some_and(|d| d.is_alarm) {
                summary.moved_secs = Some(time_secs);
            }
        }
        progress.report(summary.frames, time_secs);
    }
    if summary.frames == 0 && !stop.load(Ordering::Relaxed) {
        return Err(no_frames(&tracker.feed));
    }
    print_message(&summary.sentence(tracker.feed.name()));
    Ok(summary)
}

/// Returns a decision of the tracker as it is written.
fn event_line(event: &TrackEvent) -> TrackEventLine {
    let value = |value: f32| rounded(f64::from(value));
    TrackEventLine {
        event: event.decision.name().to_owned(),
        body: event.body,
        id: event.id,
        other_id: event.other_id,
        foot_m: event.position_m.to_array().map(value),
        reason: event.decision.reason().to_owned(),
        measured: event.measured.map(value),
        limit: event.limit.map(value),
        unit: event.decision.unit().to_owned(),
        blob: event.blob,
        shared: event.is_shared,
        cost_m: event.cost_m.map(value),
        explained_m2: event.explained_m2.map(value),
        off_m: event.off_m.map(value),
        from_m: event.from_m.map(|from_m| from_m.to_array().map(value)),
        from_explained_m2: event.from_explained_m2.map(value),
        other_explained_m2: event.other_explained_m2.map(value),
    }
}

/// Returns the error that a source delivered no frame. The error contains the active faults of the source.
fn no_frames(feed: &Feed) -> anyhow::Error {
    let name = feed.name();
    let faults = feed.health().faults;
    if faults.is_empty() {
        return anyhow::anyhow!("{name}: the source contains no frame");
    }
    let faults: Vec<&str> = faults.iter().map(|fault| fault.detail.as_str()).collect();
    anyhow::anyhow!("{name}: the camera sent no frame: {}", faults.join("; "))
}

/// Prints the progress every [`PROGRESS_INTERVAL`].
#[derive(Default)]
struct Progress {
    started: Option<Instant>,
    reported: Option<Instant>,
}

impl Progress {
    /// Starts the clock at the first frame.
    fn start(&mut self) {
        self.started.get_or_insert_with(Instant::now);
        self.reported.get_or_insert_with(Instant::now);
    }

    fn report(&mut self, frames: u64, time_secs: f64) {
        let (Some(started), Some(reported)) = (self.started, &mut self.reported) else {
            return;
        };
        if reported.elapsed() < PROGRESS_INTERVAL {
            return;
        }
        *reported = Instant::now();
        let secs = started.elapsed().as_secs_f64().max(1e-3);
        print_message(&format!(
            "{frames} frames, {time_secs:.1} s of the source, {:.0} frames per second",
            frames as f64 / secs
        ));
    }
}

/// Writes the pictures of all processing steps of a frame as `FOLDER/FRAME-STEP.png`.
fn write_debug_pictures(folder: &Path, vision: &Vision, frame: &Frame) -> anyhow::Result<()> {
    let Some(views) = vision.debug_views(frame) else {
        return Ok(());
    };
    for (step, picture) in views.named() {
        let path = folder.join(format!("{:06}-{step}.png", frame.sequence));
        output_target(&path)
            .map_err(anyhow::Error::from)
            .and_then(|path| Ok(picture.save(path)?))
            .with_context(|| format!("{}: cannot be written", path.display()))?;
    }
    Ok(())
}

impl TrackSummary {
    /// Counts the frames and visitors of a line.
    pub(super) fn add_line(&mut self, line: &TrackLine) {
        self.frames += 1;
        self.with_shadow += u64::from(!line.shadows.is_empty());
        let ids = line.shadows.iter().map(|shadow| shadow.id);
        self.highest_id = ids.fold(self.highest_id, u32::max);
    }

    /// Counts the frames of changed light.
    pub(super) fn add_light(&mut self, vision: &Vision) {
        self.light_changes += u64::from(vision.light() == LightState::Changed);
    }

    /// Returns what was found, in a sentence.
    pub(super) fn sentence(&self, source: &str) -> String {
        let light = if self.light_changes > 0 {
            format!(
                "; the light had changed in {} of the frames",
                self.light_changes
            )
        } else {
            String::new()
        };
        let moved = self.moved_secs.map_or(String::new(), |secs| {
            format!("; the camera has moved, found at {secs:.1} s: calibrate it again")
        });
        format!(
            "{source}: {} frames, {} with a shadow, {} visitors{light}{moved}",
            self.frames, self.with_shadow, self.highest_id
        )
    }
}
