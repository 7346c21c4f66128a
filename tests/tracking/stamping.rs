//! Agitation of visitors in rendered infrared scenes: one who stamps on the spot is felt, one who stands and sways is not.

use glam::{DVec2, DVec3};

use crate::recordings::report_figure;
use crate::rooms::{Walker, WatchedRoom};

/// Time at which the visitor arrives.
const ARRIVES_SECS: f64 = 2.0;
/// Time after the arrival from which frames are judged.
const SETTLES_SECS: f64 = 1.0;

/// One scene: frames per second, lamp, place and height of the visitor, and stamps per second.
struct Scene {
    fps: f64,
    lamp_m: DVec3,
    place_m: DVec2,
    height_m: f64,
    hz: f64,
}

const fn scene(fps: f64, lamp_m: [f64; 3], place_m: [f64; 2], height_m: f64, hz: f64) -> Scene {
    Scene {
        fps,
        lamp_m: DVec3::from_array(lamp_m),
        place_m: DVec2::from_array(place_m),
        height_m,
        hz,
    }
}

/// Different places, lamps, statures, cameras and rhythms. The pixels are 3 cm wide, so the legs of the child in the fifth scene
/// come and go in the mask, also while the child stands.
const SCENES: [Scene; 6] = [
    scene(30.0, [0.2, 4.2, -0.3], [0.6, 0.4], 1.75, 2.5),
    scene(30.0, [-1.3, 3.9, -0.6], [0.2, -0.3], 1.2, 3.0),
    scene(25.0, [0.9, 3.6, 1.1], [-0.8, 0.5], 1.6, 2.0),
    scene(15.0, [0.2, 4.2, -0.3], [-0.5, -0.6], 1.85, 2.5),
    scene(15.0, [-0.9, 3.6, 1.0], [0.9, 0.1], 1.1, 3.5),
    scene(10.0, [0.5, 4.4, 0.6], [-0.4, 0.2], 1.7, 2.2),
];

/// What the tracks of a scene say about the visitor after the arrival.
#[derive(Debug, Default)]
struct Seen {
    frames: u32,
    agitated: u32,
    least_mps: f32,
    most_mps: f32,
    longest_still_secs: f64,
}

/// Shows a visitor who walks in and then stamps, or stands and sways.
fn watch(scene: &Scene, stamps: bool) -> Seen {
    let mut room = WatchedRoom::new(scene.fps, scene.lamp_m);
    let mut seen = Seen {
        least_mps: f32::INFINITY,
        ..Seen::default()
    };
    let from_m = scene.place_m + DVec2::new(-2.4, 0.0);
    let velocity_mps = (scene.place_m - from_m) / ARRIVES_SECS;
    let limit_mps = shoal::vision::TrackingParams::default().still_agitation_mps;
    // The background is learned before the visitor comes.
    for _ in 0..(3.0 * scene.fps) as u32 {
        room.show(&[]);
    }
    let start_secs = room.now_secs();
    while room.now_secs() < start_secs + ARRIVES_SECS + 7.0 {
        let secs = room.now_secs() - start_secs;
        let stands_secs = secs - ARRIVES_SECS;
        let walker = if stands_secs < 0.0 {
            let at_m = from_m + velocity_mps * secs;
            Walker::walking(at_m, scene.height_m, velocity_mps, 6.2 * secs)
        } else if stamps {
            Walker::stamping(scene.place_m, scene.height_m, scene.hz, stands_secs)
        } else {
            Walker::swaying(scene.place_m, scene.height_m, stands_secs)
        };
        let tracks = room.show(&[walker]);
        if stands_secs > SETTLES_SECS {
            for track in tracks {
                seen.frames += 1;
                seen.agitated += u32::from(track.agitation_mps > limit_mps);
                seen.least_mps = seen.least_mps.min(track.agitation_mps);
                seen.most_mps = seen.most_mps.max(track.agitation_mps);
                seen.longest_still_secs = seen.longest_still_secs.max(track.still_secs);
            }
        }
    }
    seen
}

#[test]
fn a_stamping_visitor_is_agitated_and_a_standing_one_is_still() {
    let (mut stamped, mut felt, mut stood, mut alarms) = (0, 0, 0, 0);
    for (number, scene) in SCENES.iter().enumerate() {
        let (stamping, standing) = (watch(scene, true), watch(scene, false));
        println!("scene {number}: stamps {stamping:?}, stands {standing:?}");
        stamped += stamping.frames;
        felt += stamping.agitated;
        stood += standing.frames;
        alarms += standing.agitated;
        assert!(stamping.longest_still_secs < 1.0, "scene {number}");
        assert!(standing.longest_still_secs > 2.5, "scene {number}");
    }
    let share = |part: u32, of: u32| f64::from(part) / f64::from(of);
    let (recall, false_share) = (share(felt, stamped), share(alarms, stood));
    let misses: Vec<String> = [
        report_figure(
            "share of the frames in which a stamping visitor is felt",
            recall,
            0.95,
            true,
        ),
        report_figure(
            "share of the frames in which a standing visitor is felt",
            false_share,
            0.03,
            false,
        ),
    ]
    .into_iter()
    .flatten()
    .collect();
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}
