//! Tests of vision from frames to tracks, with synthetic floors with a known truth and with recordings of other projects.

use crate::recordings;
use crate::rooms::{SHADOW_FPS as FPS, ShadowRoom as Room};
use shoal_testing::assert_near;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use glam::DVec2;
use shoal::app::{TrackOptions, TrackerConfig, track};
use shoal::camera::{Frame, Luma};
use shoal::control::TrackLine;
use shoal::geometry::{Surface, Visitor};
use shoal::vision::{LightState, VisionParams};

/// Returns the shadow (center and radius in meters) of a visitor who entered from the left `secs` seconds ago, walks at 0.8 m/s
/// and stops at x = 0.
fn walked_in(secs: f64) -> (DVec2, f64) {
    (DVec2::new((-2.5 + 0.8 * secs).min(0.0), 0.1), 0.2)
}

#[test]
fn a_standing_visitor_never_becomes_background() {
    let mut room = Room::new();
    let (mut id, mut first_area) = (None, 0.0);
    for i in 0..1800 {
        let secs = f64::from(i) / FPS;
        let tracks = room.show(&[walked_in(secs - 2.0)]);
        if secs < 6.0 {
            continue;
        }
        let [visitor] = tracks.as_slice() else {
            panic!("{secs} s: {} tracks", tracks.len())
        };
        if id.is_none() {
            first_area = visitor.area_m2;
        }
        assert_eq!(*id.get_or_insert(visitor.id), visitor.id);
        assert!(
            visitor.area_m2 > 0.95 * first_area,
            "{secs} s: {}",
            visitor.area_m2
        );
        assert_near(visitor.centroid_m.as_dvec2(), walked_in(secs - 2.0).0, 0.02);
    }
    assert!((first_area - 0.1257).abs() < 0.02, "{first_area}");
}

#[test]
fn an_object_becomes_background_and_a_standing_visitor_does_not() {
    let mut room = Room::with(&VisionParams {
        scenery_secs: 10.0,
        ..VisionParams::default()
    });
    let bag = (DVec2::new(1.2, 0.9), 0.2);
    for i in 0..500 {
        let secs = f64::from(i) / FPS;
        let mut shadows = vec![walked_in(secs - 2.0)];
        if (10.0..32.0).contains(&secs) {
            shadows.push(bag);
        }
        let tracks = room.show(&shadows);
        let on_bag = tracks
            .iter()
            .any(|t| t.centroid_m.as_dvec2().distance(bag.0) < 0.3);
        match secs {
            11.0..19.5 => assert!(on_bag, "{secs} s"),
            21.0.. => assert!(!on_bag, "{secs} s"),
            _ => {}
        }
        if secs > 6.0 {
            let visitor =
                |t: &&Visitor| t.centroid_m.as_dvec2().distance(walked_in(secs - 2.0).0) < 0.05;
            assert_eq!(tracks.iter().filter(visitor).count(), 1, "{secs} s");
        }
    }
    // The bag has become part of the background and was then taken away. A bag at the same point is detected again.
    for _ in 0..10 {
        room.show(&[walked_in(60.0), bag]);
    }
    assert_eq!(room.show(&[walked_in(60.0), bag]).len(), 2);
}

#[test]
fn size_position_and_velocity_match_the_truth() {
    let mut room = Room::new();
    let mut last = Vec::new();
    for i in 0..40 {
        last = room.show(&[walked_in(f64::from(i) / FPS - 1.0)]);
    }
    let [visitor] = last.as_slice() else {
        panic!("{} tracks", last.len())
    };
    let truth = walked_in(2.9).0;
    assert_near(visitor.centroid_m.as_dvec2(), truth, 0.02);
    assert_near(visitor.velocity_mps.as_dvec2(), DVec2::new(0.8, 0.0), 0.15);
    assert!((visitor.radius_m - 0.2).abs() < 0.02);
    assert!(visitor.still_secs < 0.3 && visitor.age_secs > 1.0 && visitor.on_surface);
    assert!((8..=64).contains(&visitor.outline_m.len()));
    for corner in &visitor.outline_m {
        let radius = corner.as_dvec2().distance(truth);
        assert!((0.16..0.24).contains(&radius), "{radius}");
    }
    for _ in 0..60 {
        last = room.show(&[walked_in(10.0)]);
    }
    assert!(last[0].still_secs > 4.0, "{}", last[0].still_secs);
    assert!(last[0].velocity_mps.length() < 0.05);
}

#[test]
fn an_exposure_step_does_not_affect_tracks() {
    let mut room = Room::new();
    for i in 0..150 {
        let secs = f64::from(i) / FPS;
        room.light = match i {
            60..90 => 1.25,
            90..120 => 0.75,
            _ => 1.0,
        };
        let tracks = room.show(&[walked_in(secs - 1.0)]);
        assert_eq!(room.vision.light(), LightState::Steady);
        if secs > 3.0 {
            assert_eq!(tracks.len(), 1, "{secs} s");
            assert_eq!(tracks[0].id, 1);
        }
    }
}

#[test]
fn tracks_are_kept_while_the_lamp_is_off() {
    let mut room = Room::new();
    for i in 0..100 {
        room.light = if (60..66).contains(&i) { 0.02 } else { 1.0 };
        let tracks = room.show(&[walked_in(f64::from(i) / FPS - 1.0)]);
        if i > 40 {
            assert_eq!(tracks.len(), 1, "frame {i}");
            assert_eq!(tracks[0].id, 1, "frame {i}");
            assert!((tracks[0].area_m2 - 0.1257).abs() < 0.03, "frame {i}");
        }
        assert_eq!(
            room.vision.light() == LightState::Changed,
            (60..66).contains(&i),
            "frame {i}"
        );
    }
}

#[test]
fn a_visitor_present_in_the_first_frame_is_detected_once_walking() {
    let mut room = Room::new();
    let mut seen = 0;
    for i in 0..40 {
        let center = DVec2::new(-1.5 + 0.8 * f64::from(i) / FPS, 0.0);
        let tracks = room.show(&[(center, 0.2)]);
        if i >= 10 {
            assert_eq!(tracks.len(), 1, "frame {i}");
            seen += u32::from(tracks[0].centroid_m.as_dvec2().distance(center) < 0.1);
        }
    }
    assert!(seen > 25, "{seen}");
}

/// Cameras use different bits of a sample: all 12 bits, or the upper, lower or middle bits of 16 bits.
#[test]
fn frames_of_16_bits_give_the_same_tracks_as_8_bits() {
    for (bits, shift) in [(12, 4), (16, 8), (16, 0), (16, 2)] {
        let (mut eight, mut sixteen) = (Room::new(), Room::new());
        let mut seen = 0;
        for i in 0..50 {
            let shadows = [walked_in(f64::from(i) / FPS - 1.0)];
            let expected = eight.show(&shadows);
            seen += expected.len();
            sixteen.draw(&shadows);
            let Luma::U8(levels) = &sixteen.frame.luma else {
                panic!("draw writes 8-bit levels");
            };
            let below = (1 << shift) / 2;
            let deep = |&v: &u8| u16::from(v) << shift | below;
            let frame = Frame {
                luma: Luma::U16 {
                    bits,
                    levels: levels.iter().map(deep).collect(),
                },
                ..sixteen.frame.clone()
            };
            assert_eq!(
                sixteen.vision.observe(&frame),
                expected,
                "{bits} bits from bit {shift} on"
            );
            sixteen.frame.sequence = frame.sequence + 1;
            sixteen.frame.time_secs = sixteen.frame.sequence as f64 / FPS;
        }
        assert!(seen > 30, "{seen}");
    }
}

#[test]
fn a_changed_parameter_of_the_tracker_keeps_tracks_and_ids() {
    let mut room = Room::new();
    let mut ids = Vec::new();
    for i in 0..150 {
        if i == 75 {
            let mut params = VisionParams::default();
            params.tracking.gate_m = 0.6;
            params.tracking.tallest_m = 1.9;
            room.vision.change_params(&params);
        }
        let tracks = room.show(&[walked_in(f64::from(i) / FPS - 2.0)]);
        ids.extend(tracks.iter().map(|track| track.id));
        assert!(i < 75 || tracks.len() == 1, "frame {i}: {tracks:?}");
    }
    assert_eq!(ids.iter().max(), Some(&1));
}

#[test]
fn invalid_frames_are_ignored() {
    let mut room = Room::new();
    for i in 0..30 {
        room.show(&[walked_in(f64::from(i) / FPS)]);
    }
    let broken = [
        Frame::default(),
        Frame {
            width_px: 7,
            height_px: 9,
            luma: Luma::U8(vec![1; 5]),
            ..Frame::default()
        },
        Frame {
            width_px: 1,
            height_px: 1,
            luma: Luma::U8(vec![255]),
            ..Frame::default()
        },
        Frame {
            width_px: 5,
            height_px: 1,
            luma: Luma::U8(vec![0; 5]),
            time_secs: f64::NAN,
            ..Frame::default()
        },
        Frame {
            time_secs: f64::NAN,
            ..room.frame.clone()
        },
        Frame {
            time_secs: -1e300,
            ..room.frame.clone()
        },
    ];
    for frame in &broken {
        room.vision.observe(frame);
    }
    for _ in 0..30 {
        room.show(&[]);
    }
    let tracks = room.show(&[]);
    assert!(tracks.is_empty(), "{tracks:?}");
}

#[test]
fn a_steady_frame_allocates_nothing() {
    let mut room = Room::new();
    for i in 0..120 {
        room.show(&[walked_in(f64::from(i) / FPS), (DVec2::new(1.0, 1.0), 0.15)]);
    }
    room.draw(&[walked_in(10.0), (DVec2::new(1.0, 1.0), 0.15)]);
    let mut published = 0;
    let allocated = allocation_counter::measure(|| {
        for _ in 0..20 {
            room.frame.time_secs += 0.1;
            published = room.vision.observe(&room.frame).len();
        }
    });
    assert!(published > 0);
    assert_eq!(allocated.count_total, 0);
}

fn track_to(out: &Path, source: &str, seconds: Option<f64>) -> Vec<TrackLine> {
    track_with(&options(out, source, seconds))
}

fn options(out: &Path, source: &str, seconds: Option<f64>) -> TrackOptions {
    TrackOptions {
        source: source.to_owned(),
        folder: std::path::PathBuf::new(),
        camera: shoal::camera::CameraParams::default(),
        fast: true,
        fps: None,
        program: Some(env!("CARGO_BIN_EXE_shoal").into()),
        seconds,
        tracker: TrackerConfig {
            vision: VisionParams::default(),
            calibration: None,
            surface: Surface::default(),
        },
        drift_max_m: 0.03,
        out: out.to_owned(),
        why: false,
        debug: None,
    }
}

fn track_with(options: &TrackOptions) -> Vec<TrackLine> {
    track(options, &AtomicBool::new(false)).unwrap();
    let text = std::fs::read_to_string(&options.out).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn the_start_of_a_recording_alone_gives_the_same_tracks() {
    let folder = tempfile::tempdir().unwrap();
    let source = "synthetic:2?fps=15&size=240x180";
    let whole = track_to(&folder.path().join("a"), source, Some(30.0));
    assert_eq!(whole.len(), 450);
    assert!(whole.iter().any(|l| l.shadows.len() > 1));
    for seconds in [1.0, 7.0, 20.0] {
        let part = track_to(&folder.path().join("b"), source, Some(seconds));
        assert_eq!(part.len(), (seconds * 15.0) as usize);
        assert_eq!(part, whole[..part.len()]);
    }
}

#[test]
fn every_new_id_has_an_event_that_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let source = "synthetic:2?fps=15&size=240x180";
    let plain = track_to(&folder.path().join("a"), source, Some(30.0));
    let lines = track_with(&TrackOptions {
        why: true,
        ..options(&folder.path().join("b"), source, Some(30.0))
    });
    let mut known = BTreeSet::new();
    for (line, plain) in lines.iter().zip(&plain) {
        assert_eq!(line.shadows, plain.shadows);
        assert!(plain.events.is_empty());
        for shadow in line.shadows.iter().filter(|shadow| known.insert(shadow.id)) {
            let mut of_id = (line.events.iter()).filter(|event| event.id == Some(shadow.id));
            let event = of_id.find(|event| ["published", "returned"].contains(&&*event.event));
            let event = event.unwrap_or_else(|| panic!("{line:?}"));
            assert!(event.measured >= event.limit, "{event:?}");
            assert_eq!(event.reason, "number of frames with a detection");
        }
        let mut of_known = line.events.iter().filter_map(|event| event.id);
        assert!(of_known.all(|id| known.contains(&id)), "{line:?}");
    }
    assert!(known.len() > 1);
}

#[test]
fn a_hand_on_a_real_recording() {
    let Some(clip) = recordings::test_data("data/ir/fingers_shadow.mov") else {
        return;
    };
    if !recordings::has_program("ffmpeg") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let source = format!(
        "command:ffmpeg -v error -i '{}' -pix_fmt gray -f yuv4mpegpipe -",
        clip.display()
    );
    let lines = track_to(&folder.path().join("t"), &source, None);
    assert_eq!(lines.len(), 701);
    let there = |l: &&TrackLine| (39..=617).contains(&l.frame);
    let one = lines
        .iter()
        .filter(there)
        .filter(|l| l.shadows.len() == 1)
        .count();
    let beside = lines
        .iter()
        .filter(|l| !there(l))
        .filter(|l| !l.shadows.is_empty())
        .count();
    let misses = [
        recordings::report_figure(
            "a hand: frames of 579 with exactly one shadow",
            one as f64,
            570.0,
            true,
        ),
        recordings::report_figure(
            "a hand: frames of the 122 others with a shadow",
            beside as f64,
            5.0,
            false,
        ),
    ];
    assert_eq!(misses, [None, None]);
}

#[test]
fn an_object_placed_during_the_settling_time_becomes_background() {
    let mut room = Room::new();
    let chair = (DVec2::new(1.2, 0.9), 0.2);
    for i in 0..200 {
        let secs = f64::from(i) / FPS;
        let mut shadows = vec![walked_in(secs - 2.0)];
        if secs > 5.0 {
            shadows.push(chair);
        }
        let tracks = room.show(&shadows);
        let on_chair = tracks
            .iter()
            .any(|t| t.centroid_m.as_dvec2().distance(chair.0) < 0.3);
        match secs {
            6.0..8.5 => assert!(on_chair, "{secs} s"),
            10.0.. => assert!(!on_chair && tracks.len() == 1, "{secs} s"),
            _ => {}
        }
    }
}

/// In this recording, an animal is visible from the first frame. During the first nine seconds, a person arranges the cloth
/// around the arena of the animal.
#[test]
fn an_animal_present_in_the_first_frame() {
    let (Some(clip), Some(reference)) = (
        recordings::test_data("data/ir/mouse_video.mp4"),
        recordings::test_data("data/ir/mouse_video_tracked.csv"),
    ) else {
        return;
    };
    if !recordings::has_program("ffmpeg") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let source = format!(
        "command:ffmpeg -v error -i '{}' -t 25 -pix_fmt gray -f yuv4mpegpipe -",
        clip.display()
    );
    let lines = track_to(&folder.path().join("t"), &source, None);
    let late = lines.iter().filter(|l| l.time_secs >= 10.0);
    let one = late.clone().filter(|l| l.shadows.len() == 1).count();
    let share = one as f64 / late.clone().count().max(1) as f64;
    // The reference file counts frames from 1. The test treats the whole image of 640 × 480 pixels as a surface of 4 × 3 m.
    let reference = std::fs::read_to_string(reference).unwrap();
    let positions: Vec<DVec2> = reference
        .lines()
        .skip(1)
        .map(|line| {
            line.split(',')
                .map(|v| v.parse().unwrap())
                .collect::<Vec<f64>>()
        })
        .map(|v| DVec2::new(v[2], v[3]))
        .collect();
    let mut off: Vec<f64> = late
        .filter(|l| l.shadows.len() == 1)
        .map(|l| {
            let seen = DVec2::new(l.shadows[0].x_m, l.shadows[0].z_m) + DVec2::new(2.0, 1.5);
            (seen * 160.0 - 0.5).distance(positions[l.frame as usize])
        })
        .collect();
    off.sort_by(f64::total_cmp);
    let misses = [
        recordings::report_figure(
            "an animal: share of frames with exactly one shadow",
            share,
            0.995,
            true,
        ),
        recordings::report_figure(
            "an animal: median distance from the reference, px",
            off[off.len() / 2],
            0.6,
            false,
        ),
    ];
    assert_eq!(misses, [None, None]);
}
