//! Tracks the visitors in several cameras of one floor, and writes one line for each time at which a frame was taken. This is
//! `shoal track` for a site with `[[cameras]]`.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;

use super::frame_tracker::{CAMERA_LOST_AFTER, FrameTracker};
use super::live::{DISAGREE_M, DriftMonitor, PictureFaults};
use super::track::{TrackOptions, TrackSummary, cannot_be_written, open_feed};
use crate::camera::ReadOutcome;
use crate::control::{Journal, TrackLine};
use crate::files::{OutputKind, check_output};
use crate::records::{JsonLinesWriter, is_standard_output};
use crate::runtime::print_message;
use crate::vision::{CameraTracks, Fusion, WatchedFloor};

/// Largest difference between the times of frames that are fused into one line, in seconds. Recordings of one moment have the same time.
const SAME_TIME_SECS: f64 = 1e-3;

/// One camera with its tracker.
struct Tracked {
    name: String,
    tracker: FrameTracker,
    /// Whether the tracker holds a frame that was not tracked yet.
    is_pending: bool,
    is_over: bool,
    is_watched_known: bool,
    faults: PictureFaults,
    drift: DriftMonitor,
    levels: Vec<u8>,
}

/// Reads all sources until they end, `stop` is set or the requested time is over. Each camera has a name and options of its own;
/// output and duration are those of the first.
///
/// # Errors
/// As for [`super::track`].
pub fn track_cameras(
    cameras: &[(String, TrackOptions)],
    stop: &AtomicBool,
) -> anyhow::Result<TrackSummary> {
    let (_, options) = cameras.first().context("there is no camera")?;
    if !is_standard_output(&options.out) {
        check_output(&options.out, OutputKind::Stream)
            .with_context(|| cannot_be_written(&options.out))?;
    }
    let journal = Journal::default();
    let mut tracked: Vec<Tracked> = cameras
        .iter()
        .map(|(name, options)| Tracked::open(name, options, &journal))
        .collect::<anyhow::Result<_>>()?;
    let surface = &options.tracker.surface;
    let mut fusion = Fusion::new(surface, tracked.len(), DISAGREE_M);
    let mut out = JsonLinesWriter::create(&options.out)?;
    let mut summary = TrackSummary::default();
    let mut has_drift = false;
    while !stop.load(Ordering::Relaxed) && !tracked.iter().all(|camera| camera.is_over) {
        for camera in tracked.iter_mut().filter(|camera| !camera.is_pending) {
            camera.read()?;
        }
        // A recording that is read slowly must not be fused later than the others.
        let is_late =
            |camera: &Tracked| !camera.is_pending && !camera.is_over && camera.tracker.feed.ends();
        if tracked.iter().any(is_late) {
            continue;
        }
        let pending = tracked.iter().filter(|camera| camera.is_pending);
        let times = pending.map(|camera| camera.tracker.frame.time_secs);
        let Some(now_secs) = times.min_by(f64::total_cmp) else {
            continue;
        };
        if options.seconds.is_some_and(|end_secs| now_secs >= end_secs) {
            break;
        }
        for (index, camera) in tracked.iter_mut().enumerate() {
            let is_due = camera.tracker.frame.time_secs <= now_secs + SAME_TIME_SECS;
            if camera.is_pending && is_due {
                camera.track(
                    index,
                    &mut fusion,
                    cameras[index].1.drift_max_m,
                    &mut summary,
                )?;
            }
        }
        let line = TrackLine::new(summary.frames, now_secs, fusion.visitors());
        summary.add_line(&line);
        out.write(&line)?;
        let drift = fusion.agreements().find(|found| found.is_drift);
        if let Some(found) = drift.filter(|_| !std::mem::replace(&mut has_drift, true)) {
            let [one, other] = found.cameras.map(|camera| &tracked[camera].name);
            print_message(&format!(
                "warning: the cameras \"{one}\" and \"{other}\" see the same visitors {:.0} mm apart; one of them was moved or is \
                 calibrated wrongly",
                found.offset_m.length() * 1e3
            ));
        }
    }
    out.finish()?;
    for found in fusion.agreements() {
        let [one, other] = found.cameras.map(|camera| &tracked[camera].name);
        print_message(&format!(
            "{one} and {other}: the same visitors {:.0} mm apart (median of {})",
            found.distance_m * 1e3,
            found.samples
        ));
    }
    let names: Vec<&str> = tracked.iter().map(|camera| camera.name.as_str()).collect();
    print_message(&summary.sentence(&names.join(", ")));
    Ok(summary)
}

impl Tracked {
    fn open(name: &str, options: &TrackOptions, journal: &Journal) -> anyhow::Result<Self> {
        let journal = journal.about(&format!("camera \"{name}\""));
        let calibration = options.tracker.calibration.as_ref();
        Ok(Self {
            name: name.to_owned(),
            tracker: FrameTracker::new(open_feed(options)?, options.tracker.clone()),
            is_pending: false,
            is_over: false,
            is_watched_known: false,
            faults: PictureFaults::new(calibration.is_some(), &journal),
            drift: DriftMonitor::new(calibration, &journal),
            levels: Vec::new(),
        })
    }

    /// Reads the next frame.
    fn read(&mut self) -> anyhow::Result<()> {
        if self.is_over {
            return Ok(());
        }
        let outcome = self.tracker.read();
        match outcome.with_context(|| format!("camera \"{}\"", self.name))? {
            ReadOutcome::Frame => self.is_pending = true,
            ReadOutcome::End => self.is_over = true,
            ReadOutcome::Timeout => {}
        }
        Ok(())
    }

    /// Tracks the visitors in the frame, and adds them to the fusion.
    fn track(
        &mut self,
        index: usize,
        fusion: &mut Fusion,
        drift_max_m: f64,
        summary: &mut TrackSummary,
    ) -> anyhow::Result<()> {
        self.is_pending = false;
        self.tracker.track()?;
        let (frame, Some(vision)) = (&self.tracker.frame, self.tracker.vision()) else {
            return Ok(());
        };
        let config = self.tracker.config();
        if !std::mem::replace(&mut self.is_watched_known, true) {
            let size = (frame.width_px, frame.height_px);
            fusion.set_watched(
                index,
                WatchedFloor::new(vision.view(), &config.vision, size),
            );
        }
        if self.tracker.feed.repeated_for() > CAMERA_LOST_AFTER {
            fusion.lose(index, frame.time_secs);
        } else {
            fusion.observe(&CameraTracks {
                camera: index,
                time_secs: frame.time_secs,
                tracks: vision.tracks(),
                covariances_m2: vision.covariances_m2(),
            });
        }
        self.faults.observe(vision);
        summary.add_light(vision);
        if let Some(calibration) = &config.calibration {
            let seen = (frame, Some(vision));
            (self.drift).observe(seen, calibration, &mut self.levels, drift_max_m);
            if summary.moved_secs.is_none() && self.drift.status().is_some_and(|d| d.is_alarm) {
                summary.moved_secs = Some(frame.time_secs);
            }
        }
        Ok(())
    }
}
