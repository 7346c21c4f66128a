//! The cameras of the running pool: for each a source, a calibration and a vision stage of its own. Their tracks are fused here.
//!
//! In: the tracks of each frame of each camera. Out: observations of all visitors for the simulation, and the visitors for the count.
//! The vision stage that has finished a frame fuses its tracks with the last ones of the other cameras, so no stage waits for another
//! camera. One camera is chosen by operators: its picture and its calibration are shown.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::camera_link::CameraLink;
use super::drawn_areas::SeenAreas;
use super::live_calibration::CalibrationCommand;
use crate::calibration::Calibration;
use crate::camera::{CameraParams, SourceSpec};
use crate::control::{AgreementStatus, CalibrationStatus, Journal};
use crate::geometry::{Surface, Visitor};
use crate::runtime::{Fault, Latest};
use crate::vision::{Agreement, CameraTracks, Fusion, VisionParams, WatchedFloor};
use crate::world::Observation;

/// Distance by which two cameras may disagree about the place of visitors before it is a fault, in meters. The side from which a camera
/// sees a body shifts the foot point by less.
pub(crate) const DISAGREE_M: f32 = 0.2;

/// Configuration of one camera.
#[derive(Clone, Debug)]
pub struct LiveCamera {
    /// Name of the camera; empty if the site has only one.
    pub name: String,
    /// Camera source.
    pub source: SourceSpec,
    /// Folder from which relative paths in the camera source of the site file start; `None` if the source comes from the command line, so that an
    /// edit of the site does not replace it.
    pub folder: Option<std::path::PathBuf>,
    /// Settings of a live camera, and the frame rate of a recording that does not contain one.
    pub params: CameraParams,
    /// Parameters of detection and tracking.
    pub vision: VisionParams,
    /// Calibration of the camera. With `None` the whole picture is mapped onto the surface.
    pub calibration: Option<Calibration>,
}

/// Settings of the site that a vision stage uses.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct VisionSettings {
    /// Parameters of detection and tracking.
    pub(crate) vision: VisionParams,
    /// The projected surface.
    pub(crate) surface: Surface,
    /// The camera.
    pub(crate) camera: CameraParams,
    /// Digest of the geometry of the outputs.
    pub(crate) projection: String,
}

/// An observation, and the time of arrival of its camera frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct TimedObservation {
    /// The visitors on the surface.
    pub(crate) observation: Observation,
    /// Time of arrival of the frame; `None` if the observation does not come from a frame.
    pub(crate) frame_at: Option<Instant>,
}

/// One camera of the rig, as the desk sees it.
pub(crate) struct RigCamera {
    /// Name of the camera; empty if there is only one.
    pub(crate) name: String,
    /// The source.
    pub(crate) link: Arc<CameraLink>,
    /// Settings that the desk has changed and the vision stage has not applied yet.
    pub(crate) settings: Arc<Mutex<Option<VisionSettings>>>,
    /// Commands for the calibration.
    pub(crate) commands: SyncSender<CalibrationCommand>,
    /// Status of the calibration.
    pub(crate) calibration: Arc<Mutex<CalibrationStatus>>,
    /// Its areas, in its picture; `None` before the first frame.
    pub(crate) seen: Arc<Mutex<Option<SeenAreas>>>,
}

/// All cameras.
pub(crate) struct Rig {
    pub(crate) cameras: Vec<RigCamera>,
    chosen: AtomicUsize,
    outlet: Arc<Outlet>,
}

impl Rig {
    pub(crate) fn new(cameras: Vec<RigCamera>, outlet: &Arc<Outlet>) -> Self {
        Self {
            cameras,
            chosen: AtomicUsize::new(0),
            outlet: Arc::clone(outlet),
        }
    }

    /// Returns the index of the chosen camera.
    pub(crate) fn chosen_index(&self) -> usize {
        self.chosen.load(Ordering::Relaxed)
    }

    /// Returns the chosen camera.
    pub(crate) fn chosen(&self) -> &RigCamera {
        &self.cameras[self.chosen_index()]
    }

    /// Chooses the camera whose picture and calibration are shown.
    ///
    /// # Errors
    /// When there is no such camera, or the chosen one is being calibrated.
    pub(crate) fn choose(&self, name: &str) -> Result<(), String> {
        let named = self.cameras.iter().position(|camera| camera.name == name);
        let index = named.ok_or_else(|| {
            let names: Vec<&str> = self.cameras.iter().map(|c| c.name.as_str()).collect();
            format!(
                "there is no camera \"{name}\"; the cameras are: {}",
                names.join(", ")
            )
        })?;
        let chosen = self.chosen();
        if index != self.chosen_index() && chosen.calibration.lock().is_running {
            return Err(format!(
                "the camera \"{}\" is being calibrated; finish or cancel this first",
                chosen.name
            ));
        }
        self.chosen.store(index, Ordering::Relaxed);
        Ok(())
    }

    /// Returns how well the cameras agree.
    pub(crate) fn agreements(&self) -> Vec<AgreementStatus> {
        let state = self.outlet.state.lock();
        let status = |found: Agreement| AgreementStatus {
            cameras: found
                .cameras
                .map(|camera| self.cameras[camera].name.clone()),
            distance_mm: (found.distance_m * 1e3).round(),
            offset_mm: (found.offset_m.length() * 1e3).round(),
            samples: found.samples,
        };
        state.fusion.agreements().map(status).collect()
    }
}

/// Fuses the tracks of all cameras and passes the visitors on.
pub(crate) struct Outlet {
    names: Vec<String>,
    begun: Instant,
    /// Observations for the simulation stage.
    observations: Arc<Latest<TimedObservation>>,
    /// The visitors on the surface, for the counting stage.
    visitors: Arc<Latest<Vec<Visitor>>>,
    /// The visitors on the surface, for other machines.
    shared: Arc<Latest<Vec<Visitor>>>,
    state: Mutex<OutletState>,
}

struct OutletState {
    fusion: Fusion,
    latest: TimedObservation,
    /// Reused memory.
    seen: Vec<Visitor>,
    disagree: Fault,
}

/// The tracks of one frame.
pub(crate) struct FrameTracks<'a> {
    pub(crate) tracks: &'a [Visitor],
    pub(crate) covariances_m2: &'a [glam::Mat2],
    /// Time stamp of the frame, on the clock of its camera.
    pub(crate) time_secs: f64,
    /// Time of its arrival.
    pub(crate) taken_at: Instant,
    /// Time from the frame until its effect is visible, in seconds. Positions are extrapolated by this time.
    pub(crate) latency_secs: f32,
}

impl Outlet {
    pub(crate) fn new(
        names: Vec<String>,
        surface: &Surface,
        journal: &Journal,
        observations: Arc<Latest<TimedObservation>>,
        [visitors, shared]: [Arc<Latest<Vec<Visitor>>>; 2],
    ) -> Self {
        Self {
            shared,
            state: Mutex::new(OutletState {
                fusion: Fusion::new(surface, names.len(), DISAGREE_M),
                latest: TimedObservation::default(),
                seen: Vec::new(),
                disagree: journal.fault("cameras_disagree"),
            }),
            names,
            begun: Instant::now(),
            observations,
            visitors,
        }
    }

    /// Whether several cameras are fused.
    pub(crate) fn is_fusing(&self) -> bool {
        self.names.len() > 1
    }

    /// Sets the floor that a camera watches.
    pub(crate) fn set_watched(&self, camera: usize, watched: WatchedFloor) {
        self.state.lock().fusion.set_watched(camera, watched);
    }

    /// Forgets the tracks of a camera whose tracker starts again.
    pub(crate) fn restart(&self, camera: usize) {
        self.state.lock().fusion.restart(camera);
    }

    /// Uses another surface.
    pub(crate) fn set_surface(&self, surface: &Surface) {
        self.state.lock().fusion.set_surface(surface);
    }

    /// Removes the tracks of a camera that cannot be used, and passes the other visitors on.
    pub(crate) fn lose(&self, camera: usize) {
        let mut state = self.state.lock();
        state
            .fusion
            .lose(camera, self.begun.elapsed().as_secs_f64());
        state.latest.frame_at = None;
        let time_secs = state.latest.observation.time_secs;
        self.publish(&mut state, time_secs, 0.0);
    }

    /// Adds the tracks of one frame, and passes all visitors on: to the counting stage where they are, and to the simulation where they
    /// will be when its picture is visible.
    pub(crate) fn observe(&self, camera: usize, frame: &FrameTracks<'_>) {
        let latency = Duration::from_secs_f32(frame.latency_secs);
        // The clocks of the cameras differ. What is visible at one time in all pictures happened at one time on the floor.
        let shared = (frame.taken_at.checked_sub(latency)).unwrap_or(frame.taken_at);
        let shared_secs = shared.saturating_duration_since(self.begun).as_secs_f64();
        let time_secs = if self.is_fusing() {
            shared_secs
        } else {
            frame.time_secs
        };
        let mut state = self.state.lock();
        state.fusion.observe(&CameraTracks {
            camera,
            time_secs,
            tracks: frame.tracks,
            covariances_m2: frame.covariances_m2,
        });
        state.latest.frame_at = Some(frame.taken_at);
        self.publish(&mut state, time_secs, frame.latency_secs);
        self.report_drift(&mut state);
    }

    /// Gives the id of the visitor to a track of a camera. Returns false if the track belongs to no visitor yet.
    pub(crate) fn rename(&self, camera: usize, track: &mut u32) -> bool {
        if !self.is_fusing() {
            return true;
        }
        let visitor = self.state.lock().fusion.visitor_of(camera, *track);
        visitor.inspect(|id| *track = *id).is_some()
    }

    /// Writes the visitors of the last frame to `to`.
    pub(crate) fn copy_visitors(&self, to: &mut Vec<Visitor>) {
        Visitor::copy_all(to, self.state.lock().fusion.visitors());
    }

    fn publish(&self, state: &mut OutletState, time_secs: f64, latency_secs: f32) {
        let OutletState {
            fusion,
            latest,
            seen,
            ..
        } = state;
        latest.observation.update(time_secs, fusion.visitors());
        seen.clone_from(&latest.observation.shadows);
        self.shared.fill(|shared| shared.clone_from(seen));
        self.visitors.put(seen);
        latest.observation.extrapolate(latency_secs);
        self.observations.put(latest);
    }

    /// Reports two cameras that find the same visitors at different places.
    fn report_drift(&self, state: &mut OutletState) {
        let drift = state.fusion.agreements().find(|found| found.is_drift);
        match drift {
            Some(found) if !state.disagree.is_present() => {
                let [one, other] = found.cameras.map(|camera| &self.names[camera]);
                state.disagree.raise(&format!(
                    "the cameras \"{one}\" and \"{other}\" see the same visitors {:.0} mm apart, so one of them was moved or is \
                     calibrated wrongly; calibrate the one whose picture has changed",
                    found.offset_m.length() * 1e3
                ));
            }
            Some(_) => {}
            None => state.disagree.clear(),
        }
    }
}

#[cfg(test)]
impl Rig {
    /// Returns cameras with synthetic sources, named `1`, `2` and so on.
    pub(crate) fn synthetic(count: usize) -> Self {
        let params = CameraParams::default();
        let camera = |number: usize| {
            let source = SourceSpec::parse(&params.source).unwrap();
            let folder = Some(std::path::PathBuf::new());
            let at_end = crate::camera::AtEnd::Repeat;
            let context = super::camera_link::LinkContext::alone();
            let link = CameraLink::open((source, &params), folder, at_end, context);
            RigCamera {
                name: number.to_string(),
                link: Arc::new(link.unwrap()),
                settings: Arc::default(),
                commands: std::sync::mpsc::sync_channel(1).0,
                calibration: Arc::default(),
                seen: Arc::default(),
            }
        };
        let cameras: Vec<RigCamera> = (1..=count).map(camera).collect();
        let names = cameras.iter().map(|camera| camera.name.clone()).collect();
        let outlet = Outlet::new(
            names,
            &Surface::default(),
            &Journal::default(),
            Arc::default(),
            Default::default(),
        );
        Self::new(cameras, &Arc::new(outlet))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_camera_is_chosen_by_its_name_unless_another_one_is_calibrated() {
        let rig = Rig::synthetic(2);
        rig.choose("2").unwrap();
        assert_eq!(rig.chosen_index(), 1);
        let reason = rig.choose("3").unwrap_err();
        assert!(reason.contains("the cameras are: 1, 2"), "{reason}");
        rig.chosen().calibration.lock().is_running = true;
        assert!(rig.choose("1").is_err());
        rig.choose("2").unwrap();
    }
}
