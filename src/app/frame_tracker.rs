//! The frame loop of commands that need no live pool: reads the frames of a camera source one by one, and tracks the visitors
//! in them.

use std::time::Duration;

use super::floor_view::floor_view;
use crate::calibration::Calibration;
use crate::camera::{CameraError, Feed, Frame, ReadOutcome};
use crate::geometry::{Surface, Visitor};
use crate::vision::{Vision, VisionParams};

/// Longest wait for a frame. Afterwards the caller can check the time and the stop flag.
const FRAME_WAIT: Duration = Duration::from_millis(100);

/// Time without a frame, or with a repeated one, after which a camera counts as lost, and its visitors are removed.
pub(super) const CAMERA_LOST_AFTER: Duration = Duration::from_secs(1);

/// Configuration of the tracker.
#[derive(Clone, Debug)]
pub struct TrackerConfig {
    /// Parameters of detection and tracking.
    pub vision: VisionParams,
    /// Calibration of the camera. With `None` the whole picture is mapped onto the surface.
    pub calibration: Option<Calibration>,
    /// The projected surface.
    pub surface: Surface,
}

/// A camera source with its tracker.
pub(super) struct FrameTracker {
    /// The camera source.
    pub(super) feed: Feed,
    /// The latest frame.
    pub(super) frame: Frame,
    config: TrackerConfig,
    vision: Option<Vision>,
}

impl FrameTracker {
    /// Returns a tracker that has not read a frame yet.
    pub(super) fn new(feed: Feed, config: TrackerConfig) -> Self {
        Self {
            feed,
            frame: Frame::default(),
            config,
            vision: None,
        }
    }

    /// Reads the next frame.
    ///
    /// # Errors
    /// When the source cannot be read.
    pub(super) fn read(&mut self) -> Result<ReadOutcome, CameraError> {
        self.feed.take(&mut self.frame, FRAME_WAIT)
    }

    /// Tracks the visitors in the latest frame. Each frame must be tracked exactly once.
    ///
    /// # Errors
    /// When the calibration was made with pictures of another size. Only the first frame can cause this.
    pub(super) fn track(&mut self) -> anyhow::Result<&[Visitor]> {
        let vision = match self.vision.take() {
            Some(vision) => vision,
            None => {
                let TrackerConfig {
                    vision,
                    calibration,
                    surface,
                } = &self.config;
                let view = floor_view(calibration.as_ref(), surface, &self.frame)?;
                Vision::new(vision, view)
            }
        };
        Ok(self.vision.insert(vision).observe(&self.frame))
    }

    /// Returns the tracker; `None` before the first frame.
    pub(super) fn vision(&self) -> Option<&Vision> {
        self.vision.as_ref()
    }

    /// Returns the configuration of the tracker.
    pub(super) fn config(&self) -> &TrackerConfig {
        &self.config
    }
}
