//! Opens the cameras and starts a vision stage for each.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};

use parking_lot::Mutex;

use super::camera_link::{CameraLink, LinkContext};
use super::live_calibration::{CALIBRATION_COMMANDS_MAX, CalibrationCommand, LiveCalibration};
use super::rig::{LiveCamera, Outlet, Rig, RigCamera};
use super::vision_stage::VisionStage;
use crate::camera::AtEnd;
use crate::control::{DeskClient, Journal};
use crate::geometry::Surface;
use crate::panel::LiveViews;
use crate::records::RecordingDeck;
use crate::remote::OscVisitors;
use crate::render::CalibrationPattern;
use crate::runtime::{DurationMeter, HangPolicy, Supervisor};
use crate::screen::NoticeBoard;

/// What all cameras share when they start.
pub(super) struct RigStart {
    pub(super) surface: Surface,
    /// Digest of the geometry of the outputs.
    pub(super) projection: String,
    pub(super) at_end: AtEnd,
    /// How a tracker is read that speaks OSC in its own way.
    pub(super) mapping: OscVisitors,
    pub(super) deck: Arc<RecordingDeck>,
    pub(super) client: DeskClient,
    pub(super) journal: Journal,
    pub(super) notices: NoticeBoard,
    pub(super) views: LiveViews,
    pub(super) pattern: Arc<Mutex<Option<CalibrationPattern>>>,
    pub(super) observation_latency: Arc<DurationMeter>,
    pub(super) outlet: Arc<Outlet>,
    /// Whether cameras are opened: a node of a hall may do without.
    pub(super) tracks: bool,
}

impl RigStart {
    /// Opens all cameras and starts their stages.
    pub(super) fn cameras(
        &self,
        cameras: Vec<LiveCamera>,
        supervisor: &mut Supervisor,
    ) -> anyhow::Result<Arc<Rig>> {
        let opened: Vec<(RigCamera, Receiver<CalibrationCommand>)> = cameras
            .iter()
            .enumerate()
            .map(|(index, camera)| self.open(index, camera))
            .collect::<anyhow::Result<_>>()?;
        let (links, received): (Vec<_>, Vec<_>) = opened.into_iter().unzip();
        let rig = Arc::new(Rig::new(links, &self.outlet));
        let started = cameras.into_iter().zip(received).filter(|_| self.tracks);
        for (index, (camera, commands)) in started.enumerate() {
            let mut stage = self.stage(&rig, index, (camera, commands));
            supervisor.start("vision", HangPolicy::EndProgram, move |heartbeat| {
                stage.run(heartbeat);
            })?;
        }
        Ok(rig)
    }

    /// Returns the journal to which a camera reports its faults.
    fn journal(&self, camera: &LiveCamera) -> Journal {
        match camera.name.as_str() {
            "" => self.journal.clone(),
            name => self.journal.about(&format!("camera \"{name}\"")),
        }
    }

    fn open(
        &self,
        index: usize,
        camera: &LiveCamera,
    ) -> anyhow::Result<(RigCamera, Receiver<CalibrationCommand>)> {
        let context = LinkContext {
            recorder: Some((Arc::clone(&self.deck), index)),
            mapping: self.mapping.clone(),
            faults: self.journal(camera).ledger().clone(),
            is_off: !self.tracks,
        };
        let link = CameraLink::open(
            (camera.source.clone(), &camera.params),
            camera.folder.clone(),
            self.at_end,
            context,
        )?;
        let (commands, received) = sync_channel(CALIBRATION_COMMANDS_MAX);
        let opened = RigCamera {
            name: camera.name.clone(),
            link: Arc::new(link),
            settings: Arc::default(),
            commands,
            calibration: Arc::default(),
            seen: Arc::default(),
        };
        Ok((opened, received))
    }

    fn stage(
        &self,
        rig: &Arc<Rig>,
        index: usize,
        (camera, commands): (LiveCamera, Receiver<CalibrationCommand>),
    ) -> VisionStage {
        let journal = self.journal(&camera);
        let mut calibration = LiveCalibration::new(
            commands,
            self.client.clone(),
            Arc::clone(&rig.cameras[index].calibration),
            (camera.vision.clone(), self.surface.clone()),
            camera.calibration,
        );
        calibration.set_projection(self.projection.clone());
        VisionStage {
            camera_index: index,
            rig: Arc::clone(rig),
            outlet: Arc::clone(&self.outlet),
            calibration: calibration.with_boards(index, &journal, &self.notices),
            params: camera.vision,
            surface: self.surface.clone(),
            latency_secs: camera.params.latency_ms / 1000.0,
            pattern: Arc::clone(&self.pattern),
            observation_latency: Arc::clone(&self.observation_latency),
            journal,
            views: self.views.clone(),
        }
    }
}
