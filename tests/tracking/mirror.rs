//! Tests of cameras that are turned by any angle, and of cameras whose picture is mirrored by a mirror in the light path or by
//! their driver. The room is calibrated; then a visitor walks through it, and the foot points are compared with the truth.

use crate::rooms::{Camera, Room, Thing, Wired, error, grid};
use glam::{DVec2, DVec3};
use shoal::calibration::Calibration;
use shoal::control::{CalibrationStep, MarkerPoint};
use shoal::geometry::Surface;
use shoal::vision::{FloorView, Vision, VisionParams};

/// Returns a room whose camera sees the whole surface at any angle.
fn room(degrees: f64, is_mirrored: bool) -> Room {
    let camera = Camera::wide((320, 300), DVec3::new(0.6, 4.0, 1.4), 92.0);
    Room::new(camera.turned(degrees, is_mirrored))
}

/// Calibrates a room with 4 × 4 exact markers. Returns the calibration and the sentence for the technician.
fn calibrated(room: &mut Room) -> (Calibration, String) {
    let mut wired = Wired::new(None);
    wired.calibration.observe(&room.frame(), None);
    let marker = |floor_m: DVec2| MarkerPoint {
        camera_px: room.camera.pixel_from_floor(floor_m).to_array(),
        floor_m: floor_m.to_array(),
    };
    let points = grid(4, 0.9).into_iter().map(marker).collect();
    wired.send(CalibrationStep::Markers { points });
    let sentence = wired.status().sentence;
    assert!(wired.send(CalibrationStep::Accept), "{sentence}");
    let position_m = room.lamp_m.to_array();
    assert!(wired.send(CalibrationStep::Lamp { position_m }));
    let calibration = wired.calibration.current().cloned();
    (calibration.unwrap(), sentence)
}

#[test]
fn a_camera_is_calibrated_at_any_angle_mirrored_or_not() {
    for (degrees, is_mirrored) in [
        (0.0, true),
        (90.0, false),
        (90.0, true),
        (180.0, true),
        (-127.0, false),
        (33.0, true),
    ] {
        let mut room = room(degrees, is_mirrored);
        let (calibration, sentence) = calibrated(&mut room);
        let (rms, _) = error(&room.camera, &calibration);
        let camera = DVec3::from_array(calibration.camera_m.unwrap());
        let off_m = camera.distance(room.camera.eye_m);
        eprintln!(
            "{degrees}° {is_mirrored}: floor {:.2} mm, camera {off_m:.3} m",
            rms * 1e3
        );
        assert!(rms < 0.002, "{degrees}° {is_mirrored}: {rms}");
        assert!(off_m < 0.1, "{degrees}° {is_mirrored}: {camera}");
        assert_eq!(
            sentence.contains("picture is mirrored"),
            is_mirrored,
            "{sentence}"
        );
    }
}

/// Lets a visitor walk through the room. Returns the median error of the foot points in meters, over the frames in which the
/// visitor is inside the surface. In each frame, the track that is nearest to the visitor counts.
fn median_foot_error(mut room: Room) -> f64 {
    let (calibration, _) = calibrated(&mut room);
    let view = FloorView {
        map: calibration
            .floor_from_camera(room.camera.size_px.0, room.camera.size_px.1)
            .unwrap(),
        lamp_m: calibration.lamp_m.map(DVec3::from_array),
        camera_m: calibration.camera_m.map(DVec3::from_array),
        surface: Surface::default(),
    };
    let mut vision = Vision::new(&VisionParams::default(), view);
    let mut errors = Vec::new();
    for number in 0..100 {
        let walked_m = 1.1 * (f64::from(number) / room.fps - 2.2);
        let foot_m = DVec2::new(walked_m - 2.9, 0.35 * walked_m - 0.9);
        room.things.clear();
        if walked_m > 0.0 {
            room.things.push(Thing::person(foot_m));
        }
        let frame = room.frame();
        let found = vision.observe(&frame).iter();
        let nearest = found.map(|track| track.foot_m.as_dvec2().distance(foot_m));
        if foot_m.abs().cmplt(DVec2::new(1.9, 1.4)).all() {
            errors.push(nearest.fold(f64::INFINITY, f64::min));
        }
    }
    errors.sort_by(f64::total_cmp);
    assert!(errors.len() > 30, "{}", errors.len());
    errors[errors.len() / 2]
}

#[test]
fn feet_are_found_in_a_mirrored_picture_as_in_a_plain_one() {
    let plain_m = median_foot_error(room(0.0, false));
    assert!(plain_m < 0.06, "{plain_m}");
    for (degrees, is_mirrored) in [(0.0, true), (180.0, true), (90.0, true)] {
        let foot_m = median_foot_error(room(degrees, is_mirrored));
        eprintln!("{degrees}° {is_mirrored}: foot {foot_m:.3} m, plain {plain_m:.3} m");
        assert!(
            (foot_m - plain_m).abs() < 0.015,
            "{degrees}° {is_mirrored}: {foot_m}, plain {plain_m}"
        );
    }
}
