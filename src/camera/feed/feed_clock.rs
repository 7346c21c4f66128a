//! Converts the timestamps of a source to the clock of its feed, across restarts, gaps and jumps. The module reads no clock
//! itself.
//!
//! Input: the timestamp of a frame, and the current time of the feed. Output: the time of the frame, and how long to wait
//! until it is due.

use super::setup::FeedMode;

/// Largest delay after which the feed still tries to catch up, in seconds. If a frame is later than this, playback continues
/// from the current time, without catching up.
const MAX_LAG_SECS: f64 = 1.0;
/// Largest forward step of timestamps that is accepted as a gap, in seconds. A larger step is a jump, for example because a
/// camera's clock was set.
const MAX_STEP_SECS: f64 = 10.0;
/// The same limit, in frame intervals. It applies to recordings with very few frames per second, where it is longer than
/// `MAX_STEP_SECS`.
const MAX_STEP_FRAMES: f64 = 20.0;

/// Lowest rate of a flood, in multiples of the frame rate in the header. Programs state half the rate of their camera, but hardly
/// less.
const FLOOD_FACTOR: f64 = 2.5;
/// A header with at most this frame rate is probably wrong, in frames per second.
const DOUBTFUL_FPS: f64 = 5.0;
/// Lowest rate of a flood if the header is doubtful, in frames per second; cameras for this purpose have at most 120.
const FLOOD_FPS: f64 = 150.0;
/// Duration of the check for a flood, in seconds. A live program that starts with the frames of a buffer floods for less.
const FLOOD_SECS: u32 = 3;

/// The clock of a feed.
#[derive(Debug, Default)]
pub(super) struct FeedClock {
    /// Whether the source delivers frames as they happen, and not as they were recorded.
    is_live: bool,
    /// Whether the time of a frame is the timestamp of the source. Otherwise it is the time when the frame is due.
    keeps_timestamps: bool,
    /// Whether the time of a frame includes the jumps of the timestamps.
    follows_jumps: bool,
    /// The check whether a live program delivers its frames in real time. Such frames are due when they arrive: the timestamps and
    /// the frame rate may run slower or faster than the real time, and a feed that followed them would show what happened long ago.
    /// `None` for other sources and modes.
    probe: Option<FloodProbe>,
    /// Difference between due time and timestamp since the last start of the source; `None` before the first frame of that
    /// start.
    offset_secs: Option<f64>,
    /// Difference between the time of a frame and its timestamp, if timestamps are kept. It is 0 until the first restart or
    /// jump.
    shift_secs: f64,
    /// Timestamp of the last frame.
    last_stamp_secs: f64,
    /// Due time of the last frame, in seconds on the clock of the feed; `None` before the first frame.
    last_due_secs: Option<f64>,
    /// Time of the last frame.
    last_secs: f64,
}

/// A frame of the source, before its time is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamp {
    /// Timestamp, or number of the frame divided by the frame rate, in seconds.
    pub(super) secs: f64,
    /// Whether the source has set the timestamp.
    pub(super) is_given: bool,
    /// Time between two frames of the source, in seconds.
    pub(super) interval_secs: f64,
}

/// The time of a frame on the clock of the feed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Placed {
    /// Time of the frame, in seconds.
    pub(super) secs: f64,
    /// Time until the frame is due, in seconds.
    pub(super) wait_secs: f64,
    /// Size of the jump of the timestamps at this frame, in seconds; `None` if there was no jump.
    pub(super) jump_secs: Option<f64>,
}

impl FeedClock {
    /// Creates a clock for one source. `is_live` means that the source delivers frames as they happen.
    pub(super) fn new(is_live: bool, mode: FeedMode) -> Self {
        Self {
            is_live,
            keeps_timestamps: !is_live || mode != FeedMode::Live,
            follows_jumps: mode != FeedMode::Live,
            probe: (is_live && mode == FeedMode::Live).then(FloodProbe::default),
            ..Self::default()
        }
    }

    /// Prepares for a new start of the source, after which its timestamps start again too.
    pub(super) fn restart(&mut self) {
        self.offset_secs = None;
        self.probe = self.probe.as_ref().map(|_| FloodProbe::default());
    }

    /// Computes the time of the next frame, which arrived at `now_secs`.
    pub(super) fn place(&mut self, stamp: Stamp, now_secs: f64) -> Placed {
        let next_due = self.last_due_secs.map(|last| last + stamp.interval_secs);
        let mut jump_secs = None;
        let mut offset_secs = match (self.offset_secs, next_due) {
            (Some(offset), Some(next_due)) => {
                let step = stamp.secs - self.last_stamp_secs;
                // After a pause of a live source, or of this program, a step as long as the pause is no jump.
                let paused_secs = if self.is_live {
                    now_secs - next_due
                } else {
                    0.0
                };
                let longest_secs = MAX_STEP_SECS.max(MAX_STEP_FRAMES * stamp.interval_secs);
                if step > longest_secs + paused_secs.max(0.0) {
                    jump_secs = Some(step);
                    if !self.follows_jumps {
                        self.shift_secs = self.last_secs + stamp.interval_secs - stamp.secs;
                    }
                    next_due - stamp.secs
                } else {
                    offset
                }
            }
            (_, None) => now_secs - stamp.secs,
            (None, Some(next_due)) => {
                // A recording continues without a gap. A camera program that was restarted leaves a gap.
                let (mut first, mut follows) = (next_due, self.last_secs + stamp.interval_secs);
                if self.is_live {
                    first = first.max(now_secs);
                    follows = follows.max(first);
                }
                self.shift_secs = follows - stamp.secs;
                first - stamp.secs
            }
        };
        if stamp.secs + offset_secs < now_secs - MAX_LAG_SECS {
            offset_secs = now_secs - stamp.secs;
        }
        let mut due_secs = stamp.secs + offset_secs;
        if self.is_live && !stamp.is_given {
            // If a program delivers fewer frames than its header states, the due time must not fall behind the current time.
            due_secs = due_secs.max(now_secs);
        }
        if let Some(probe) = &mut self.probe
            && !probe.is_flood(stamp.interval_secs, now_secs)
        {
            due_secs = now_secs;
            offset_secs = now_secs - stamp.secs;
        }
        self.offset_secs = Some(offset_secs);
        self.last_stamp_secs = stamp.secs;
        self.last_due_secs = Some(due_secs);
        self.last_secs = if self.keeps_timestamps {
            stamp.secs + self.shift_secs
        } else {
            due_secs
        };
        Placed {
            secs: self.last_secs,
            wait_secs: (due_secs - now_secs).max(0.0),
            jump_secs,
        }
    }
}

/// Detects a program that delivers its frames much faster than a camera, because it plays a file as fast as it is read. The feed
/// then plays the frames in real time, by their timestamps or their frame rate.
#[derive(Debug, Default)]
struct FloodProbe {
    /// Start of the current second of the check.
    begun_secs: Option<f64>,
    /// Number of frames in the current second.
    frames: u32,
    /// Number of seconds with too many frames.
    floods: u32,
    /// The result; `None` until it is known.
    is_flood: Option<bool>,
}

impl FloodProbe {
    /// Counts a frame that arrived at `now_secs`. Returns false until the program is known to flood.
    fn is_flood(&mut self, interval_secs: f64, now_secs: f64) -> bool {
        if let Some(is_flood) = self.is_flood {
            return is_flood;
        }
        let begun = *self.begun_secs.get_or_insert(now_secs);
        if now_secs - begun >= 1.0 {
            let stated_fps = 1.0 / interval_secs;
            let most = if stated_fps > DOUBTFUL_FPS {
                FLOOD_FACTOR * stated_fps
            } else {
                FLOOD_FPS
            };
            if f64::from(self.frames) / (now_secs - begun) <= most {
                self.is_flood = Some(false);
            } else {
                self.floods += 1;
                self.is_flood = (self.floods == FLOOD_SECS).then_some(true);
            }
            self.begun_secs = Some(now_secs);
            self.frames = 0;
        }
        self.frames += 1;
        self.is_flood.unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL_SECS: f64 = 0.04;

    fn stamp(secs: f64, is_given: bool) -> Stamp {
        Stamp {
            secs,
            is_given,
            interval_secs: INTERVAL_SECS,
        }
    }

    /// Places frames with these timestamps, and advances `now` like a reader that waits until each frame is due.
    fn play(clock: &mut FeedClock, now: &mut f64, stamps: &[f64], is_given: bool) -> Vec<Placed> {
        let place = |secs: &f64| {
            let placed = clock.place(stamp(*secs, is_given), *now);
            *now += placed.wait_secs;
            placed
        };
        stamps.iter().map(place).collect()
    }

    #[test]
    fn a_repeated_recording_continues_one_interval_later() {
        let (mut clock, mut now) = (FeedClock::new(false, FeedMode::Live), 5.0);
        let first = play(&mut clock, &mut now, &[0.0, 0.04, 0.08], false);
        assert_eq!((first[0].secs, first[2].secs), (0.0, 0.08));
        clock.restart();
        let second = play(&mut clock, &mut now, &[0.0, 0.04], false);
        assert!((second[0].secs - first[2].secs - 0.04).abs() < 1e-9);
        assert!((second[1].secs - second[0].secs - 0.04).abs() < 1e-9);
    }

    #[test]
    fn a_program_that_was_away_leaves_a_gap() {
        let (mut clock, mut now) = (FeedClock::new(true, FeedMode::Live), 1.0);
        play(&mut clock, &mut now, &[0.0, 0.04], true);
        clock.restart();
        now += 7.0;
        let back = play(&mut clock, &mut now, &[0.0], true);
        assert_eq!((back[0].secs, back[0].wait_secs), (now, 0.0));
    }

    #[test]
    fn a_program_slower_than_its_header_does_not_fall_behind() {
        let mut clock = FeedClock::new(true, FeedMode::Live);
        for n in 0..1000 {
            let now = f64::from(n) * 0.05;
            let placed = clock.place(stamp(f64::from(n) * INTERVAL_SECS, false), now);
            assert_eq!((placed.secs, placed.wait_secs), (now, 0.0));
        }
    }

    /// A fixed bug: frames of a live program whose time stamps or header ran at another speed than the real time came late, with a
    /// delay that grew, or never.
    #[test]
    fn frames_of_a_live_program_are_due_when_they_arrive() {
        for header_fps in [0.01, 1.0, 5.0, 12.5, 25.0, 1000.0] {
            for speed in [0.001, 0.5, 1.0, 1.02, 3.0, 200.0] {
                for is_given in [true, false] {
                    let mut clock = FeedClock::new(true, FeedMode::Live);
                    for n in 0..500 {
                        let now = 7.0 + f64::from(n) * INTERVAL_SECS;
                        let secs = match is_given {
                            true => f64::from(n) * INTERVAL_SECS * speed,
                            false => f64::from(n) / header_fps,
                        };
                        let stamp = Stamp {
                            secs,
                            is_given,
                            interval_secs: 1.0 / header_fps,
                        };
                        let placed = clock.place(stamp, now);
                        assert_eq!((placed.secs, placed.wait_secs), (now, 0.0));
                    }
                }
            }
        }
    }

    /// Plays a program that delivers a frame as soon as it is asked for, and returns the number of frames that were due in a second.
    fn frames_in_second(clock: &mut FeedClock, now: &mut f64, n: &mut u32) -> u32 {
        let (first, end) = (*n, *now + 1.0);
        while *now < end {
            let placed = clock.place(stamp(f64::from(*n) * INTERVAL_SECS, false), *now);
            *now += placed.wait_secs + 0.002;
            *n += 1;
        }
        *n - first
    }

    #[test]
    fn a_program_that_floods_is_paced_after_a_check() {
        let (mut clock, mut now, mut n) = (FeedClock::new(true, FeedMode::Live), 5.0, 0);
        for _start in 0..2 {
            let fast: Vec<u32> = (0..3)
                .map(|_| frames_in_second(&mut clock, &mut now, &mut n))
                .collect();
            assert!(fast.iter().all(|frames| *frames > 400), "{fast:?}");
            frames_in_second(&mut clock, &mut now, &mut n);
            let paced = frames_in_second(&mut clock, &mut now, &mut n);
            assert!((24..=26).contains(&paced), "{paced}");
            clock.restart();
        }
    }

    /// A decoder of a network stream first delivers what it has buffered.
    /// Without `-re`, ffmpeg decodes a recording several times faster than it was recorded.
    #[test]
    fn a_recording_that_a_program_decodes_quickly_is_paced() {
        for decoded_fps in [70.0, 120.0, 1000.0] {
            let (mut clock, mut now) = (FeedClock::new(true, FeedMode::Live), 5.0);
            let mut waits = 0;
            for n in 0..5000 {
                now += 1.0 / decoded_fps;
                let placed = clock.place(stamp(f64::from(n) * INTERVAL_SECS, false), now);
                now += placed.wait_secs;
                waits += u32::from(placed.wait_secs > 0.0);
            }
            assert!(waits > 1900, "{decoded_fps}: {waits}");
        }
    }

    #[test]
    fn a_live_program_that_starts_with_a_burst_is_not_late() {
        let mut clock = FeedClock::new(true, FeedMode::Live);
        let mut place = |n: u32, now: f64| {
            let placed = clock.place(stamp(f64::from(n) * INTERVAL_SECS, false), now);
            assert_eq!((placed.secs, placed.wait_secs), (now, 0.0), "{n}");
        };
        for n in 0..500 {
            place(n, 1.0 + f64::from(n) * 0.003);
        }
        for n in 500..1000 {
            place(n, 2.5 + f64::from(n - 500) * INTERVAL_SECS);
        }
    }

    #[test]
    fn time_stamps_that_jump_forward_are_reported_and_do_not_stop_the_clock() {
        for jump in [11.0, 3600.0, 1e8, 9.9e8] {
            for is_live in [false, true] {
                let (mut clock, mut now) = (FeedClock::new(is_live, FeedMode::Live), 0.0);
                let stamps = [0.0, 0.04, jump, jump + 0.04, 2.0 * jump + 0.04];
                let placed = play(&mut clock, &mut now, &stamps, true);
                let jumps: Vec<bool> = placed.iter().map(|p| p.jump_secs.is_some()).collect();
                assert_eq!(jumps, [false, false, true, false, true], "{jump}");
                let expected = if is_live { 0.0 } else { 0.16 };
                assert!((now - expected).abs() < 1e-6, "{jump}: {now}");
                assert!((placed[4].secs - expected).abs() < 1e-6, "{jump}");
            }
        }
    }

    #[test]
    fn ordinary_gaps_and_slow_recordings_are_no_jumps() {
        let (mut clock, mut now) = (FeedClock::new(false, FeedMode::Live), 0.0);
        let placed = play(&mut clock, &mut now, &[0.0, 5.0, 14.9], true);
        assert!(placed.iter().all(|p| p.jump_secs.is_none()));
        let mut clock = FeedClock::new(false, FeedMode::Live);
        for n in 0..4 {
            let slow = Stamp {
                secs: f64::from(n) * 60.0,
                is_given: false,
                interval_secs: 60.0,
            };
            assert_eq!(clock.place(slow, f64::from(n) * 60.0).jump_secs, None);
        }
    }

    #[test]
    fn after_a_pause_the_time_stamps_of_a_live_source_are_no_jump() {
        for pause in [11.0, 66.0, 86_400.0] {
            let (mut clock, mut now) = (FeedClock::new(true, FeedMode::Live), 0.0);
            play(&mut clock, &mut now, &[0.0, 0.04], true);
            now += pause;
            let placed = play(&mut clock, &mut now, &[pause + 0.04, pause + 0.08], true);
            assert!(placed.iter().all(|p| p.jump_secs.is_none()), "{pause}");
            assert!((placed[1].secs - now).abs() < 1e-6, "{pause}: {placed:?}");
            // A jump after the pause is still one.
            let placed = play(&mut clock, &mut now, &[2.0 * pause + 1.0], true);
            assert!(placed[0].jump_secs.is_some() && placed[0].wait_secs < 0.1);
        }
    }

    #[test]
    fn kept_time_stamps_are_exact_until_a_restart() {
        let (mut clock, mut now) = (
            FeedClock::new(true, FeedMode::EveryFrame { fast: false }),
            3.0,
        );
        let stamps = [0.1, 0.2, 0.7, 1e8];
        let placed = play(&mut clock, &mut now, &stamps, true);
        for (placed, stamp) in placed.iter().zip(stamps) {
            assert_eq!(placed.secs, stamp);
        }
        assert!(placed[3].jump_secs.is_some() && placed[3].wait_secs < 0.1);
        clock.restart();
        let placed = play(&mut clock, &mut now, &[0.0, 0.04], true);
        assert_eq!(placed[0].secs, 1e8 + INTERVAL_SECS);
    }

    #[test]
    fn a_late_recording_continues_from_the_current_time() {
        let mut clock = FeedClock::new(false, FeedMode::Live);
        clock.place(stamp(0.0, false), 0.0);
        assert_eq!(clock.place(stamp(0.04, false), 0.5).secs, 0.04);
        let late = clock.place(stamp(0.08, false), 9.0);
        assert_eq!((late.secs, late.wait_secs), (0.08, 0.0));
        let next = clock.place(stamp(0.12, false), 9.0);
        assert!((next.wait_secs - 0.04).abs() < 1e-9);
    }
}
