//! The vision stage: the newest frame in, an observation of the visitors out.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::geometry::Surface;
use crate::vision::{Vision, VisionParams};
use crate::world::{FloorStripes, FloorTarget, Observation};

use super::super::observe::{look_ahead, observe_tracks};
use super::super::track::floor_view;
use super::calibrating::Calibrating;
use super::capture::Arrival;
use super::meter::Meter;
use super::slot::Slot;
use super::supervise::{Pulse, Trouble};

/// How long a frame is waited for before signs of life are given.
const WAIT: Duration = Duration::from_millis(100);
/// Without a frame for this long nobody is there: the camera is gone, and shadows must not stay for ever.
const LET_GO_AFTER: Duration = Duration::from_secs(1);

/// What the pool is told, and the frame's arrival that it goes back to.
#[derive(Clone, Debug, Default)]
pub struct Sighting {
    /// Who is there.
    pub observation: Observation,
    /// When its frame came; `None` when there was none.
    pub arrived: Option<Instant>,
    /// The cross to show over the pool, while somebody calibrates the camera.
    pub target: Option<FloorTarget>,
    /// The stripes to show instead of the pool, while somebody calibrates a camera for visible light.
    pub stripes: Option<FloorStripes>,
}

/// What the vision stage is made of; its floor and its tracks are made anew when it starts again.
pub struct Watching {
    /// How shadows are found.
    pub params: VisionParams,
    /// How the camera sees the floor, and how it comes to be known; without it the whole picture is the surface.
    pub calibrating: Calibrating,
    /// The projected surface.
    pub surface: Surface,
    /// How long after its frame what is told will be seen.
    pub latency_secs: f32,
    /// Where frames come from.
    pub frames: Arc<Slot<Arrival>>,
    /// Where observations go.
    pub sightings: Arc<Slot<Sighting>>,
    /// From a frame's arrival to the hand-over.
    pub observed: Arc<Meter>,
}

impl Watching {
    /// Watches until the program ends.
    pub fn run(&mut self, pulse: &Pulse) {
        let mut vision: Option<(u32, u32, Vision)> = None;
        let mut misfit = Trouble::new("camera_size");
        let mut arrival = Arrival::default();
        let mut sighting = Sighting::default();
        let mut last_frame: Option<Instant> = None;
        while pulse.goes_on() {
            if self.calibrating.obey() {
                // The floor lies elsewhere in the picture from now on.
                vision = None;
                tracing::info!("another calibration counts from now on");
            }
            sighting.target = self.calibrating.target();
            sighting.stripes = self.calibrating.stripes();
            if !self.frames.take(&mut arrival, WAIT) {
                if last_frame.is_some_and(|at| at.elapsed() > LET_GO_AFTER) {
                    last_frame = None;
                    sighting.observation.shadows.clear();
                    sighting.arrived = None;
                    self.sightings.put(&mut sighting);
                }
                continue;
            }
            let frame = &arrival.frame;
            let size = (frame.width_px, frame.height_px);
            if !matches!(&vision, Some((width, height, _)) if (*width, *height) == size) {
                // A camera that comes back with another size is seen with other eyes, or not at all.
                match floor_view(self.calibrating.current(), &self.surface, frame) {
                    Ok(view) => {
                        misfit.over();
                        vision = Some((size.0, size.1, Vision::new(&self.params, view)));
                    }
                    Err(error) => {
                        misfit.happened(&error);
                        vision = None;
                    }
                }
            }
            let Some((_, _, vision)) = &mut vision else {
                // Nobody can be seen with the calibration of another picture; but it can be calibrated anew.
                self.calibrating.observe(frame, None);
                sighting.observation.shadows.clear();
                self.sightings.put(&mut sighting);
                continue;
            };
            let tracks = vision.observe(frame);
            observe_tracks(frame.time_secs, tracks, &mut sighting.observation);
            look_ahead(&mut sighting.observation, self.latency_secs);
            sighting.arrived = Some(arrival.at);
            last_frame = Some(arrival.at);
            self.sightings.put(&mut sighting);
            self.observed.note(arrival.at.elapsed());
            self.calibrating.observe(frame, Some(&*vision));
        }
    }
}
