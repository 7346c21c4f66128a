//! The vision stage of a source that reports visitors instead of frames: it passes what a tracker outside of Shoal sees to the pool.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::rig::{FrameTracks, Outlet};
use crate::control::Journal;
use crate::geometry::{Sighting, Surface};
use crate::remote::TrackReceiver;
use crate::runtime::{Fault, SETTLE_TIME};
use crate::vision::{SightedTracks, TrackingParams, WatchedFloor};

/// Pause after the address could not be used.
const ADDRESS_PAUSE: Duration = Duration::from_millis(500);

/// Time without a report after which it is a fault.
const SILENCE_MAX: Duration = Duration::from_secs(5);

/// When visitors were passed on.
pub(super) struct Followed {
    /// Time of the report.
    pub(super) taken_at: Instant,
    /// The same, since the source was opened.
    pub(super) time_secs: f64,
    /// Number of times that visitors were passed on.
    pub(super) number: u64,
}

/// Follows the visitors of one tracker.
pub(super) struct TrackerFollower {
    camera: usize,
    outlet: Arc<Outlet>,
    tracks: SightedTracks,
    surface: Surface,
    begun: Instant,
    /// Whether there are no visitors because the tracker is silent.
    is_lost: bool,
    number: u64,
    address: Fault,
    silence: Fault,
    /// Reused memory.
    sightings: Vec<Sighting>,
}

impl TrackerFollower {
    pub(super) fn new(
        (camera, outlet): (usize, &Arc<Outlet>),
        params: &TrackingParams,
        surface: &Surface,
        journal: &Journal,
    ) -> Self {
        Self {
            camera,
            outlet: Arc::clone(outlet),
            tracks: SightedTracks::new(params, surface),
            surface: surface.clone(),
            begun: Instant::now(),
            is_lost: true,
            number: 0,
            address: journal.fault("tracker_address"),
            silence: journal.fault("tracker_silent").settling(SETTLE_TIME),
            sightings: Vec::new(),
        }
    }

    /// Uses other settings. Tracks and ids stay.
    pub(super) fn change(&mut self, params: &TrackingParams, surface: &Surface) {
        self.tracks.change(params, surface);
        self.surface = surface.clone();
    }

    /// Forgets the visitors, because frames are read instead.
    pub(super) fn leave(&mut self) {
        if !std::mem::replace(&mut self.is_lost, true) {
            self.outlet.restart(self.camera);
            self.outlet.lose(self.camera);
        }
        self.address.clear();
        self.silence.clear();
    }

    /// Waits up to `wait` for a report and passes the visitors on; returns `None` if there is no tracker. Visitors of whom a tracker says
    /// nothing new are where they were.
    pub(super) fn follow(
        &mut self,
        tracker: &mut TrackReceiver,
        wait: Duration,
        latency_secs: f32,
    ) -> Option<Followed> {
        match tracker.receive(wait) {
            Ok(()) => self.address.clear(),
            Err(error) => {
                self.address.raise(&format_args!(
                    "visitors cannot be received ({error}); close the other program that uses this address, or correct camera.source"
                ));
                std::thread::sleep(ADDRESS_PAUSE);
            }
        }
        let is_silent = tracker.silent_for() > SILENCE_MAX;
        if is_silent && !self.silence.is_present() {
            self.silence.raise(&tracker.advice());
        } else if !is_silent {
            self.silence.clear();
        }
        if tracker.is_silent() {
            if !std::mem::replace(&mut self.is_lost, true) {
                self.outlet.lose(self.camera);
            }
            return None;
        }
        if std::mem::replace(&mut self.is_lost, false) {
            self.outlet.restart(self.camera);
            // A tracker says nothing about where it sees nobody, so it counts as one that sees everything.
            self.outlet
                .set_watched(self.camera, WatchedFloor::default());
        }
        let taken_at = Instant::now();
        let time_secs = taken_at.duration_since(self.begun).as_secs_f64();
        tracker.write(&self.surface, &mut self.sightings);
        self.tracks.observe(&self.sightings, time_secs);
        self.outlet.observe(
            self.camera,
            &FrameTracks {
                tracks: self.tracks.tracks(),
                covariances_m2: self.tracks.covariances_m2(),
                time_secs,
                taken_at,
                latency_secs,
            },
        );
        self.number += 1;
        Some(Followed {
            taken_at,
            time_secs,
            number: self.number,
        })
    }
}
