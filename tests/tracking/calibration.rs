//! Tests of calibration, from tables of measured points to a map between camera and floor, or to a rejection with useful
//! reasons.

use crate::recordings::{report_figure, test_data};
use crate::rooms::{Camera, grid};
use glam::{DVec2, DVec3};
use shoal::app::CalibrateOptions;
use shoal::calibration::{
    Calibration, CalibrationParams, CalibrationReport, CalibrationSetup, MeasuredPoint, PointPair,
    Rejection, SelectedFit, calibrate,
};
use shoal::geometry::FloorFromCamera;
use shoal_testing::assert_message;

const SIZE_PX: (u32, u32) = (640, 480);

fn setup() -> CalibrationSetup {
    usual().setup(Some(DVec3::new(0.2, 4.2, -0.3)))
}

/// Returns a camera at `eye_m` that looks almost at the center of the surface through a lens with the distortion `k`.
fn camera(eye_m: DVec3, fov_deg: f64, k: [f64; 2]) -> Camera {
    let at_m = 0.2 * DVec2::new(eye_m.x, eye_m.z);
    Camera {
        k,
        ..Camera::new(SIZE_PX, eye_m, at_m, fov_deg)
    }
}

fn usual() -> Camera {
    camera(DVec3::new(0.6, 4.0, 0.9), 74.0, [-0.28, 0.09])
}

fn low_and_wide() -> Camera {
    camera(DVec3::new(-0.8, 3.2, -0.5), 100.0, [-0.3, 0.09])
}

/// Returns 4 × 4 exact targets.
fn targets() -> Vec<MeasuredPoint> {
    usual().measured(&grid(4, 0.85))
}

fn accepted(points: &[MeasuredPoint]) -> (Calibration, CalibrationReport) {
    calibrate(points, &setup(), &CalibrationParams::default())
        .unwrap_or_else(|r| panic!("rejected: {r}"))
}

fn rejected(points: &[MeasuredPoint]) -> Rejection {
    match calibrate(points, &setup(), &CalibrationParams::default()) {
        Ok((_, report)) => panic!("accepted: {report:?}"),
        Err(rejection) => rejection,
    }
}

/// Generator of approximately normal noise that is the same in every run.
struct Noise(u64);

impl Noise {
    fn normal(&mut self) -> f64 {
        let sum: f64 = (0..12)
            .map(|_| {
                self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mut z = self.0;
                z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
            })
            .sum();
        sum - 6.0
    }

    /// Returns the targets with random placement errors. `deviation_m` is their standard deviation in each direction.
    fn placed(&mut self, points: &[MeasuredPoint], deviation_m: f64) -> Vec<MeasuredPoint> {
        points
            .iter()
            .map(|p| MeasuredPoint {
                floor_m: p.floor_m + DVec2::new(self.normal(), self.normal()) * deviation_m,
                ..*p
            })
            .collect()
    }
}

/// Returns the root mean square distance in meters between a calibration and the camera, over the surface.
fn error_m(calibration: &Calibration, camera: &Camera) -> f64 {
    let map = map_of(calibration);
    let places = grid(11, 1.0);
    let square = |p: &DVec2| {
        let found_m = map.floor_from_camera(camera.pixel_from_floor(*p));
        found_m.distance_squared(*p)
    };
    (places.iter().map(square).sum::<f64>() / places.len() as f64).sqrt()
}

fn map_of(calibration: &Calibration) -> FloorFromCamera {
    calibration.floor_from_camera(SIZE_PX.0, SIZE_PX.1).unwrap()
}

#[test]
fn exact_targets_give_the_camera_and_its_position() {
    for camera in [
        usual(),
        low_and_wide(),
        camera(DVec3::new(0.0, 5.0, 2.0), 74.0, [0.1, 0.0]),
    ] {
        let (calibration, report) = accepted(&camera.measured(&grid(4, 0.9)));
        let left_out_mm = report.errors.left_out_rms_m * 1e3;
        let name = format!("exact targets, camera at {}: left out, mm", camera.eye_m);
        assert_eq!(report_figure(&name, left_out_mm, 2.0, false), None);
        let found = calibration.camera_m.map(DVec3::from_array);
        let off_m = found.map(|found| found.distance(camera.eye_m));
        assert!(off_m < Some(0.05), "{found:?}");
    }
}

#[test]
fn the_position_error_of_a_vertical_camera_is_within_its_deviation() {
    for (eye_m, fov_deg) in [
        (DVec3::new(0.2, 3.6, 0.2), 82.0),
        (DVec3::new(-0.2, 3.0, 0.2), 80.0),
        (DVec3::new(0.0, 4.5, 0.1), 65.0),
        (DVec3::new(0.0, 4.7, 0.0), 63.0),
    ] {
        let camera = camera(eye_m, fov_deg, [-0.28, 0.09]);
        let (calibration, report) = accepted(&camera.measured(&grid(4, 0.9)));
        let found = DVec3::from_array(calibration.camera_m.unwrap());
        let deviation_m = report.camera_deviation_m.unwrap();
        let off_m = found.distance(eye_m);
        assert!(
            off_m < deviation_m && off_m < 0.15 * eye_m.y,
            "{found}: error {off_m}, deviation {deviation_m}"
        );
        let is_noted = report.notes.iter().any(|n| n.contains("give its position"));
        assert_eq!(is_noted, deviation_m > 0.5, "{deviation_m}");
    }
}

#[test]
fn nine_targets_with_five_millimeters_give_eight_millimeters() {
    for camera in [usual(), low_and_wide()] {
        let targets = camera.measured(&grid(3, 0.9));
        let mut squares = 0.0;
        for seed in 0..40 {
            let noisy = Noise(seed * 104_729 + 1).placed(&targets, 0.005);
            squares += error_m(&accepted(&noisy).0, &camera).powi(2) / 40.0;
        }
        let name = "nine targets placed to 5 mm: floor error, mm";
        assert_eq!(report_figure(name, squares.sqrt() * 1e3, 8.0, false), None);
    }
}

/// Returns a random camera above the floor with a random lens. It sees the whole surface.
fn random_camera(noise: &mut Noise) -> Camera {
    let mut between =
        |low: f64, high: f64| low + (high - low) * (noise.normal() / 6.0 + 0.5).clamp(0.0, 1.0);
    let eye_m = DVec3::new(between(-1.5, 1.5), between(3.0, 7.0), between(-2.0, 2.0));
    let at_m = DVec2::new(between(-0.3, 0.3), between(-0.3, 0.3));
    let mut camera = Camera {
        k: [between(-0.25, 0.0), 0.0],
        focal_px: 1.0,
        ..Camera::new(SIZE_PX, eye_m, at_m, 90.0)
    };
    // Chooses the focal length at which the farthest corner of the surface is just inside the frame.
    let middle = DVec2::new(319.5, 239.5);
    let reach = grid(2, 1.0)
        .into_iter()
        .map(|corner| (camera.pixel_from_floor(corner) - middle).abs() / middle)
        .fold(0.0, |most, r| r.max_element().max(most));
    camera.focal_px = 0.95 / reach;
    camera
}

#[test]
fn targets_placed_to_ten_millimeters_are_accepted_and_their_error_is_predicted() {
    let (mut squares, mut predicted, mut rejected) = (0.0, 0.0, Vec::new());
    for seed in 0..30_u64 {
        let mut noise = Noise(seed * 7_919 + 3);
        let camera = random_camera(&mut noise);
        let placed = noise.placed(&camera.measured(&grid(4, 0.9)), 0.01);
        match calibrate(&placed, &setup(), &CalibrationParams::default()) {
            Ok((calibration, report)) => {
                squares += error_m(&calibration, &camera).powi(2);
                predicted += report.errors.predicted_rms_m.powi(2);
            }
            Err(rejection) => rejected.push((seed, rejection.to_string())),
        }
    }
    let ratio = (squares / predicted).sqrt();
    eprintln!("error as a multiple of the predicted one: {ratio:.2}; rejected {rejected:?}");
    assert!((0.5..2.0).contains(&ratio));
    let name = "good sets of 16 targets rejected, of 30";
    assert_eq!(report_figure(name, rejected.len() as f64, 0.0, false), None);
}

#[test]
fn leave_one_out_error_of_a_real_projector_is_below_a_quarter_pixel() {
    let Some(path) = test_data("data/ir/procam_graycode_correspondences.csv") else {
        return;
    };
    let text = std::fs::read_to_string(path).unwrap();
    for view in 0..5 {
        let pairs: Vec<PointPair> = text
            .lines()
            .skip(1)
            .map(|line| {
                line.split(',')
                    .map(|v| v.parse().unwrap())
                    .collect::<Vec<f64>>()
            })
            .filter(|v| v[0] == f64::from(view))
            .map(|v| (DVec2::new(v[3], v[4]), DVec2::new(v[5], v[6])))
            .collect();
        let selected = SelectedFit::new(&pairs, (1280, 1024)).unwrap();
        let left_out = selected
            .candidates
            .iter()
            .map(|c| c.1)
            .fold(f64::INFINITY, f64::min);
        eprintln!(
            "view {view}: {} points, {:?}",
            pairs.len(),
            selected.candidates
        );
        let name = format!("camera to projector, view {view}: left out, px");
        assert_eq!(report_figure(&name, left_out, 0.25, false), None);
    }
}

#[test]
fn a_misplaced_target_is_reported() {
    for (i, by) in [
        (3, DVec2::new(0.18, 0.0)),
        (5, DVec2::new(0.0, -1.0)),
        (15, DVec2::new(1.0, 0.0)),
    ] {
        let mut points = Noise(3).placed(&targets(), 0.005);
        points[i].floor_m += by;
        let rejection = rejected(&points);
        assert_eq!(rejection.reasons.len(), 1, "{rejection}");
        let message = &rejection.reasons[0];
        assert!(
            message.starts_with(&format!("point {} (line {}) is ", i + 1, i + 2)),
            "{message}"
        );
        let millimeters: f64 = message
            .split(' ')
            .nth(5)
            .and_then(|w| w.parse().ok())
            .expect(message);
        assert!((millimeters - by.length() * 1e3).abs() < 30.0, "{message}");
    }
}

/// The measured positions of two targets are swapped.
#[test]
fn swapped_targets_are_reported() {
    let mut points = Noise(5).placed(&targets(), 0.005);
    let (third, ninth) = (points[2].camera_px, points[8].camera_px);
    (points[2].camera_px, points[8].camera_px) = (ninth, third);
    let rejection = rejected(&points).to_string();
    for named in ["point 3 (line 4) is ", "point 9 (line 10) is "] {
        assert!(rejection.contains(named), "{rejection}");
    }
}

#[test]
fn impossible_points_are_rejected_with_the_reason() {
    let good = Noise(4).placed(&targets(), 0.003);
    let with = |change: &dyn Fn(&mut MeasuredPoint)| -> Vec<MeasuredPoint> {
        let mut points = good.clone();
        points.iter_mut().for_each(change);
        points
    };
    let mut nan = good.clone();
    nan[6].camera_px.x = f64::NAN;
    let line: Vec<DVec2> = (0..8)
        .map(|i| DVec2::new(-1.8 + 0.5 * f64::from(i), 0.3))
        .collect();
    let line = usual().measured(&line);
    let mut corner = grid(12, 0.85);
    corner.retain(|p| p.x < -0.4 && p.y < -0.3);
    let corner = usual().measured(&corner);
    let same = vec![good[0]; 16];
    for (points, expected) in [
        (good[..5].to_vec(), "5 points are too few"),
        (same, "1 different points are too few"),
        (nan, "point 7 (line 8)"),
        (line, "on a line"),
        (
            with(&|p| p.floor_m = p.floor_m.perp().perp().perp() * DVec2::new(1.0, -1.0)),
            "mirrored",
        ),
        (
            with(&|p| p.floor_m = DVec2::new(p.floor_m.y, p.floor_m.x)),
            "are two columns swapped",
        ),
        (
            with(&|p| (p.camera_px, p.floor_m) = (p.floor_m, p.camera_px)),
            "far outside the surface",
        ),
        (with(&|p| p.floor_m *= 1000.0), "is it in millimeters"),
        (with(&|p| p.camera_px *= 2.0), "outside the camera frame"),
        (
            with(&|p| p.camera_px /= DVec2::new(640.0, 480.0)),
            "not as shares of the frame",
        ),
        (corner, "of the surface"),
        (Noise(9).placed(&good, 0.08), "predicted floor error"),
    ] {
        let rejection = rejected(&points);
        assert_message(&rejection, &[expected]);
    }
}

/// With the points of a picture of 320 x 240 px and the wrong size, nothing told the technician what was wrong.
#[test]
fn points_of_a_smaller_picture_are_noticed() {
    let mut points = Noise(4).placed(&targets(), 0.0);
    let note = "is the camera size correct?";
    let is_noted =
        |points: &[MeasuredPoint]| match calibrate(points, &setup(), &CalibrationParams::default())
        {
            Ok((_, report)) => report.notes.iter().any(|text| text.contains(note)),
            Err(rejection) => rejection.to_string().contains(note),
        };
    assert!(!is_noted(&points));
    points.iter_mut().for_each(|p| p.camera_px *= 0.5);
    assert!(is_noted(&points));
}

#[test]
fn a_calibration_file_keeps_full_precision() {
    let (calibration, _) = accepted(&Noise(6).placed(&targets(), 0.004));
    let text = calibration.to_toml();
    let back = Calibration::parse(&text, "c.toml").unwrap();
    assert_eq!(back, calibration);
    assert_eq!(back.to_toml(), text);
    let error = back.floor_from_camera(320, 240).unwrap_err();
    assert_message(&error, &["640x480, but the camera delivers 320x240"]);
}

#[test]
fn invalid_calibration_files_are_rejected() {
    let (calibration, _) = accepted(&Noise(6).placed(&targets(), 0.004));
    let text = calibration.to_toml();
    let k1 = text.lines().find(|l| l.starts_with("k1 = ")).unwrap();
    let row = text.lines().find(|l| l.starts_with("w = ")).unwrap();
    for (from, to, expected) in [
        (k1, "k1 = nan", "lens.k1: nan is not a finite number"),
        (k1, "k1 = 1e300", "too large"),
        (k1, "", "\"k1\" is missing"),
        (row, "w = [0.0, 0.0, 0.0]", "not an invertible map"),
        (row, "w = [0.0, 0.0]", "has 2 items; allowed: exactly 3"),
        (
            "width_px = 640",
            "width_px = 0",
            "picture.width_px: 0 px is too small",
        ),
    ] {
        assert!(text.contains(from));
        let problems = Calibration::parse(&text.replacen(from, to, 1), "c.toml")
            .unwrap_err()
            .to_string();
        assert_message(&problems, &[expected]);
        assert!(problems.starts_with("c.toml:"), "{problems}");
    }
    // A fixed bug: an empty file was seven problems.
    let empty = Calibration::parse("\n", "c.toml").unwrap_err();
    assert_eq!(empty.0.len(), 1);
    assert_message(empty.to_string(), &["c.toml: the file is empty"]);
}

/// Returns the content of the file that the command replaces.
fn old_calibration() -> String {
    let (calibration, _) = accepted(&targets());
    calibration.to_toml()
}

/// Runs the command `calibrate` on a table of points. The output file already exists before the run.
fn command(points: &[MeasuredPoint]) -> (anyhow::Result<std::process::ExitCode>, String) {
    let folder = tempfile::tempdir().unwrap();
    let mut table = "camera_x_px,camera_y_px,floor_x_m,floor_z_m\n".to_owned();
    for p in points {
        table += &format!(
            "{},{},{},{}\n",
            p.camera_px.x, p.camera_px.y, p.floor_m.x, p.floor_m.y
        );
    }
    let options = CalibrateOptions {
        points: folder.path().join("points.csv"),
        camera_size_px: SIZE_PX,
        surface_m: (4.0, 3.0),
        lamp_m: None,
        camera_m: Some(DVec3::new(0.5, 4.1, 0.8)),
        limits: CalibrationParams::default(),
        out: folder.path().join("c.toml"),
    };
    std::fs::write(&options.points, table).unwrap();
    std::fs::write(&options.out, old_calibration()).unwrap();
    let result = shoal::app::calibrate(&options);
    let written = std::fs::read_to_string(&options.out).unwrap();
    (result, written)
}

#[test]
fn the_command_writes_an_accepted_calibration() {
    let (result, written) = command(&Noise(2).placed(&targets(), 0.004));
    assert!(result.is_ok(), "{result:?}");
    let calibration = Calibration::parse(&written, "c.toml").unwrap();
    assert_eq!(calibration.camera_m, Some([0.5, 4.1, 0.8]));
    assert_eq!(calibration.points.len(), 16);
}

#[test]
fn the_command_keeps_the_old_file_after_a_rejection() {
    let mut points = Noise(2).placed(&targets(), 0.004);
    points[9].floor_m.x += 0.5;
    let (result, written) = command(&points);
    let reason = result.unwrap_err().to_string();
    assert!(reason.contains("point 10 (line 11) is"), "{reason}");
    assert!(reason.contains("is unchanged"), "{reason}");
    assert_eq!(written, old_calibration());
    let (result, written) = command(&points[..4]);
    assert!(result.is_err());
    assert_eq!(written, old_calibration());
}
