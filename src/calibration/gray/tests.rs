use super::*;
use crate::calibration::sample::view;
use crate::calibration::{CalibrationParams, CalibrationSetup, calibrate};
use crate::geometry::FloorFromCamera;

const SIZE_PX: (u32, u32) = (640, 480);
const CAMERA: (usize, usize) = (640, 480);

/// Returns the map from the projected image, which is 4 m × 3 m large, to the floor.
fn floor_from_image() -> Homography {
    let corners = [(-0.5, -0.5), (639.5, -0.5), (639.5, 479.5), (-0.5, 479.5)];
    let floor = [(-2.0, -1.5), (2.0, -1.5), (2.0, 1.5), (-2.0, 1.5)];
    let pairs: Vec<_> = corners
        .into_iter()
        .zip(floor)
        .map(|((x, y), (u, v))| (DVec2::new(x, y), DVec2::new(u, v)))
        .collect();
    Homography::from_pairs(&pairs).unwrap()
}

/// Returns the frames of all patterns from a camera with this view of the floor. They contain uneven albedo, ambient light,
/// blur and noise.
fn frames(code: &GrayCode, map: &FloorFromCamera, light: f64, noise: f64) -> Vec<Vec<u8>> {
    let image_from_floor = floor_from_image().inverse().unwrap();
    let places: Vec<[DVec2; 4]> = (0..CAMERA.0 * CAMERA.1)
        .map(|i| {
            // Four rays per pixel, so that a pixel at the edge between stripes is gray.
            [(-0.25, -0.25), (0.25, -0.25), (0.25, 0.25), (-0.25, 0.25)].map(|(x, y)| {
                let at = DVec2::new((i % CAMERA.0) as f64 + x, (i / CAMERA.0) as f64 + y);
                image_from_floor.apply(map.floor_from_camera(at))
            })
        })
        .collect();
    let mut state = 1_u64;
    code.patterns()
        .into_iter()
        .map(|pattern| {
            let shade = |(i, rays): (usize, &[DVec2; 4])| {
                let albedo = 0.5 + 0.4 * ((i % 97) as f64 / 97.0);
                let bright = rays
                    .iter()
                    .filter(|p| {
                        let (x, y) = (p.x.round(), p.y.round());
                        let inside = x >= 0.0
                            && y >= 0.0
                            && x < f64::from(SIZE_PX.0)
                            && y < f64::from(SIZE_PX.1);
                        inside && code.is_bright(pattern, x as u32, y as u32)
                    })
                    .count();
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let chance = ((state >> 33) as f64 / f64::from(1_u32 << 31) - 0.5) * 3.46;
                (15.0 + albedo * light * bright as f64 / 4.0 + chance * noise).clamp(0.0, 255.0)
                    as u8
            };
            places.iter().enumerate().map(shade).collect()
        })
        .collect()
}

#[test]
fn patterns_identify_every_position() {
    let code = GrayCode::new((20, 12), 1).unwrap();
    let patterns = code.patterns();
    assert_eq!(patterns.len(), 2 + 2 * (5 + 4));
    let mut names = std::collections::BTreeSet::new();
    for y in 0..12 {
        for x in 0..20 {
            let name: Vec<bool> = patterns.iter().map(|p| code.is_bright(*p, x, y)).collect();
            for pair in name[2..].chunks(2) {
                assert_ne!(pair[0], pair[1]);
            }
            assert!(names.insert(name), "{x} {y}");
        }
    }
    // The codes of neighbors differ only in one pattern and its inverse.
    let differ = |a: (u32, u32), b: (u32, u32)| {
        let differs =
            |p: &&GrayPattern| code.is_bright(**p, a.0, a.1) != code.is_bright(**p, b.0, b.1);
        patterns.iter().filter(differs).count()
    };
    assert!((0..19).all(|x| differ((x, 3), (x + 1, 3)) == 2));
}

#[test]
fn impossible_codes_are_rejected() {
    for (size, stripe) in [
        ((0, 10), 1),
        ((10, 0), 1),
        ((100, 100), 0),
        ((100, 100), 101),
        ((9000, 10), 1),
    ] {
        assert_eq!(GrayCode::new(size, stripe), None);
    }
}

#[test]
fn a_warped_view_is_decoded_and_calibrated() {
    let truth = view(-0.2, 0.05);
    let code = GrayCode::new(SIZE_PX, 4).unwrap();
    for (light, noise) in [(200.0, 0.0), (60.0, 2.5)] {
        let found = code
            .decode(&frames(&code, &truth, light, noise), CAMERA.0, 32)
            .unwrap();
        assert!(found.len() > 250, "{}", found.len());
        let floor = floor_from_image();
        let off = |c: &Correspondence| {
            truth
                .camera_from_floor(floor.apply(c.image_px))
                .distance(c.camera_px)
        };
        let rms = (found.iter().map(|c| off(c).powi(2)).sum::<f64>() / found.len() as f64).sqrt();
        assert!(rms < 0.15, "light {light}, noise {noise}: {rms} px");
        let setup = CalibrationSetup {
            frame_px: (640, 480),
            surface_m: (4.0, 3.0),
            lamp_m: None,
            camera_m: None,
            date: String::new(),
        };
        let points = points_from_gray(&found, &floor);
        let (_, report) = calibrate(&points, &setup, &CalibrationParams::default()).unwrap();
        assert!(report.errors.left_out_rms_m < 0.002, "{:?}", report.errors);
    }
}

#[test]
fn frames_without_visible_patterns_are_rejected() {
    let code = GrayCode::new((64, 48), 4).unwrap();
    let count = code.patterns().len();
    let dark = vec![vec![20; 64 * 48]; count];
    let message = code.decode(&dark, 64, 16).unwrap_err().to_string();
    assert!(message.contains("must see visible light"), "{message}");
    assert!(code.decode(&dark[1..], 64, 16).is_err());
    assert!(code.decode(&vec![Vec::new(); count], 0, 0).is_err());
}

#[test]
fn a_person_in_the_view_gives_no_wrong_points() {
    let truth = view(-0.2, 0.05);
    let code = GrayCode::new(SIZE_PX, 8).unwrap();
    let mut taken = frames(&code, &truth, 120.0, 1.5);
    for (n, frame) in taken.iter_mut().enumerate() {
        // An arm moves across the view from frame to frame.
        for y in 150..330 {
            let from = y * CAMERA.0 + 200 + 3 * n;
            frame[from..from + 60].fill(70);
        }
    }
    let found = code.decode(&taken, CAMERA.0, 32).unwrap();
    let floor = floor_from_image();
    let far = |c: &&Correspondence| {
        truth
            .camera_from_floor(floor.apply(c.image_px))
            .distance(c.camera_px)
            > 2.0
    };
    assert!(found.len() > 150);
    assert_eq!(found.iter().filter(far).count(), 0);
}
