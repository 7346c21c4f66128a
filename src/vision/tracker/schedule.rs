//! Schedule of expensive work and of evidence.
//!
//! Consecutive frames of a fast camera show nearly the same image and the same errors, so they are not independent
//! evidence. The schedule therefore depends on time stamps, not on the number of frames.

use super::TrackKey;

/// Interval between two pieces of expensive work of the same kind for the same track, in seconds. At 30 frames per second
/// it is 4 frames. If the frame rate is lower than one frame per interval, the work is done in every frame.
const MEASUREMENT_SECS: f64 = 4.0 / 30.0;
/// Number of phases within an interval. Work with different phases is done in different frames, which limits the work per
/// frame.
const PHASES: usize = 4;
/// Shortest interval between two frames that count as separate evidence for a new track, in seconds.
const EVIDENCE_SECS: f64 = 1.0 / 30.0;
/// Shift of all intervals, as a share of an interval. No interval starts at a time stamp of a common frame rate, where
/// rounding errors would vary its length.
const SHIFT: f64 = 9.0 / 32.0;

/// Kinds of expensive work. For one track, each kind has another phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Height and tone of a visitor.
    Appearance = 0,
    /// Search for a visitor without a track, in the blob of a track.
    Search = 1,
    /// Test whether a track is a fragment of another one.
    Merge = 2,
    /// Test whether two tracks have exchanged their ids.
    Swap = 3,
}

/// Decides which work is due in the current frame.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Schedule {
    /// Time stamps of the previous and the current frame, in seconds.
    times_secs: [f64; 2],
    dt_secs: f32,
}

impl Schedule {
    /// Advances to the frame with this time stamp. `dt_secs` is the time step since the previous frame.
    pub(super) fn advance(&mut self, time_secs: f64, dt_secs: f32) {
        self.times_secs = [self.times_secs[1], time_secs];
        self.dt_secs = dt_secs;
    }

    /// Returns whether a kind of work for a track is due in this frame. The phase depends on nothing but the track and the
    /// kind of work, so the frames in which a visitor is measured do not depend on other visitors who come or leave.
    pub(super) fn is_due(&self, work: Work, track: TrackKey) -> bool {
        let phase = (track.0 as usize + work as usize) % PHASES;
        self.begins_interval(MEASUREMENT_SECS, phase as f64 / PHASES as f64)
    }

    /// Returns the time that one piece of expensive work represents, in seconds.
    pub(super) fn measured_secs(&self) -> f32 {
        self.dt_secs.max(MEASUREMENT_SECS as f32)
    }

    /// Returns whether a detection in this frame counts as separate evidence.
    pub(super) fn is_evidence(&self) -> bool {
        self.begins_interval(EVIDENCE_SECS, 0.5)
    }

    /// Returns whether an interval has begun since the previous frame. The intervals start at multiples of `secs`,
    /// shifted by the share `phase` of an interval.
    fn begins_interval(&self, secs: f64, phase: f64) -> bool {
        let [previous, current] = (self.times_secs).map(|t| (t / secs + phase + SHIFT).floor());
        current > previous
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frame rates of cameras, in frames per second.
    const RATES_FPS: [f64; 9] = [5.0, 6.0, 7.5, 12.0, 15.0, 25.0, 30.0, 60.0, 120.0];

    /// Returns the number of frames of a minute for which `is_counted` is true.
    fn frames_of_a_minute(fps: f64, is_counted: &dyn Fn(&Schedule) -> bool) -> f64 {
        let mut schedule = Schedule::default();
        schedule.advance(1000.0, 0.0);
        let frames = (1..=(60.0 * fps) as u32).filter(|&frame| {
            schedule.advance(1000.0 + f64::from(frame) / fps, (1.0 / fps) as f32);
            is_counted(&schedule)
        });
        frames.count() as f64
    }

    #[test]
    fn measurements_per_second_do_not_depend_on_the_frame_rate() {
        for fps in RATES_FPS {
            for key in 0..5 {
                let is_due = |schedule: &Schedule| schedule.is_due(Work::Appearance, TrackKey(key));
                let measured = frames_of_a_minute(fps, &is_due);
                let wanted = (60.0 * fps).min(450.0);
                assert!((measured - wanted).abs() <= 1.0, "{fps} fps: {measured}");
            }
            let mut schedule = Schedule::default();
            schedule.advance(0.0, (1.0 / fps) as f32);
            let wanted_secs = (1.0 / fps).max(MEASUREMENT_SECS) as f32;
            assert!((schedule.measured_secs() - wanted_secs).abs() < 1e-6);
        }
    }

    #[test]
    fn no_interval_starts_at_a_time_stamp_of_a_common_frame_rate() {
        for fps in RATES_FPS {
            for frame in 0..(60.0 * fps) as u32 {
                let time_secs = f64::from(frame) / fps;
                let phases = (0..PHASES).map(|n| (MEASUREMENT_SECS, n as f64 / PHASES as f64));
                for (secs, phase) in phases.chain([(EVIDENCE_SECS, 0.5)]) {
                    let place = time_secs / secs + phase + SHIFT;
                    let margin_secs = (place - place.round()).abs() * secs;
                    assert!(margin_secs > 5e-4, "{fps} fps, frame {frame}");
                }
            }
        }
    }

    #[test]
    fn work_is_spread_over_the_frames_of_a_fast_camera() {
        for fps in [30.0, 60.0, 120.0] {
            let [one, next] = [TrackKey(5), TrackKey(6)];
            for (work, other, track) in [
                (Work::Appearance, Work::Appearance, next),
                (Work::Appearance, Work::Search, one),
                (Work::Search, Work::Merge, one),
                (Work::Merge, Work::Swap, one),
            ] {
                let both = |due: &Schedule| due.is_due(work, one) && due.is_due(other, track);
                assert_eq!(frames_of_a_minute(fps, &both), 0.0, "{fps} fps: {work:?}");
            }
        }
    }

    #[test]
    fn a_fast_camera_gives_no_more_evidence_per_second() {
        for fps in RATES_FPS {
            let counted = frames_of_a_minute(fps, &Schedule::is_evidence);
            let wanted = (60.0 * fps).min(1800.0);
            assert!((counted - wanted).abs() <= 1.0, "{fps} fps: {counted}");
        }
    }
}
