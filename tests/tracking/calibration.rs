//! Tests of calibration, from tables of measured points to a map between camera and floor, or to a rejection with useful
//! reasons.

#![allow(
    clippy::panic,
    clippy::print_stderr,
    reason = "tests print what they measured and skipped, and fail by panicking"
)]

use std::process::Command;

use crate::recordings::{report_figure, test_data};
use glam::{DVec2, DVec3};
use shoal::app::CalibrateOptions;
use shoal::calibration::{
    Calibration, CalibrationParams, CalibrationReport, CalibrationSetup, MeasuredPoint,
    PointOrigin, PointPair, Rejection, SelectedFit, calibrate, read_points,
};
use shoal::geometry::FloorFromCamera;

const SIZE_PX: (u32, u32) = (640, 480);

fn setup() -> CalibrationSetup {
    CalibrationSetup {
        frame_px: SIZE_PX,
        surface_m: (4.0, 3.0),
        lamp_m: Some(DVec3::new(0.2, 4.2, -0.3)),
        camera_m: None,
        date: "2026-11-20T12:00:00Z".into(),
    }
}

/// Returns the exact markers of a rendered infrared scene. If the rendering tool is missing, prints a message and returns
/// `None`.
fn scene_markers(arguments: &[&str]) -> Option<Vec<MeasuredPoint>> {
    let tool = test_data("tools/ir-scene")?;
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    // Tries two Python interpreters, because the first one on the path may lack numpy.
    let drawn: Vec<_> = ["python3", "/usr/bin/python3"]
        .into_iter()
        .map(|python| {
            Command::new(python)
                .arg(&tool)
                .arg(folder.path())
                .args(["--seconds", "0.1"])
                .args(arguments)
                .output()
        })
        .collect();
    if !drawn.iter().flatten().any(|output| output.status.success()) {
        eprintln!("SKIPPED: ir-scene needs python3 with numpy: {drawn:?}");
        return None;
    }
    let text = std::fs::read_to_string(folder.path().join("markers.csv"))
        .expect("ir-scene writes markers.csv");
    Some(read_points(&text).expect("markers.csv is a table of points"))
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

/// Returns the exact map of a synthetic camera that sees the floor from above with a wide lens.
fn view() -> FloorFromCamera {
    use shoal::geometry::{Homography, Lens};
    let corners = [
        (DVec2::new(150.0, 120.0), DVec2::new(-2.0, -1.5)),
        (DVec2::new(490.0, 115.0), DVec2::new(2.0, -1.5)),
        (DVec2::new(620.0, 440.0), DVec2::new(2.0, 1.5)),
        (DVec2::new(20.0, 450.0), DVec2::new(-2.0, 1.5)),
    ];
    let homography = Homography::from_pairs(&corners).expect("four corners determine a map");
    let lens = Lens::new(640, 480, -0.2, 0.05).expect("finite terms make a lens");
    FloorFromCamera::new(lens, homography).expect("a view from above is a map")
}

/// Returns `n × n` exact targets over the surface. The outer targets are at `reach` times the distance from the center of the
/// surface to its edge.
fn grid(view: &FloorFromCamera, n: i32, reach: f64) -> Vec<MeasuredPoint> {
    let at = |i: i32| (2.0 * f64::from(i) / f64::from(n - 1) - 1.0) * reach;
    (0..n * n)
        .map(|i| {
            let floor_m = DVec2::new(2.0 * at(i % n), 1.5 * at(i / n));
            MeasuredPoint {
                camera_px: view.camera_from_floor(floor_m),
                floor_m,
                origin: PointOrigin::Line(i as usize + 2),
            }
        })
        .collect()
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

/// Returns the root mean square distance in meters between two maps over the surface.
fn distance_m(a: &FloorFromCamera, b: &FloorFromCamera) -> f64 {
    let squares: Vec<f64> = (0..=20)
        .flat_map(|i| {
            (0..=15).map(move |j| DVec2::new(-2.0 + 0.2 * f64::from(i), -1.5 + 0.2 * f64::from(j)))
        })
        .map(|floor| {
            a.floor_from_camera(b.camera_from_floor(floor))
                .distance_squared(floor)
        })
        .collect();
    (squares.iter().sum::<f64>() / squares.len() as f64).sqrt()
}

fn map_of(calibration: &Calibration) -> FloorFromCamera {
    calibration
        .floor_from_camera(SIZE_PX.0, SIZE_PX.1)
        .expect("the frame size matches")
}

#[test]
fn leave_one_out_error_of_exact_markers_is_below_two_millimeters() {
    for arguments in [
        &[][..],
        &["--fov", "100", "--k1=-0.3", "--camera=-0.8,3.2,-0.5"],
        &["--k1=0.1", "--k2=0", "--camera=0,5,2"],
    ] {
        let Some(markers) = scene_markers(arguments) else {
            return;
        };
        let (calibration, report) = accepted(&markers);
        eprintln!(
            "{arguments:?}: {:?} camera {:?} ± {:?}",
            report.errors, calibration.camera_m, report.camera_deviation_m
        );
        let left_out_mm = report.errors.left_out_rms_m * 1e3;
        let name = format!("exact markers {arguments:?}: left out, mm");
        assert_eq!(report_figure(&name, left_out_mm, 2.0, false), None);
    }
}

#[test]
fn the_position_of_the_camera_is_found() {
    let Some(markers) = scene_markers(&[]) else {
        return;
    };
    let (calibration, _) = accepted(&markers);
    let found = DVec3::from_array(calibration.camera_m.expect("an oblique view determines it"));
    assert!(found.distance(DVec3::new(0.6, 4.0, 0.9)) < 0.05, "{found}");
}

#[test]
fn the_position_error_of_a_vertical_camera_is_within_its_deviation() {
    for (camera_m, fov) in [
        (DVec3::new(0.2, 3.6, 0.2), "82"),
        (DVec3::new(-0.2, 3.0, 0.2), "80"),
        (DVec3::new(0.0, 4.5, 0.1), "65"),
        (DVec3::new(0.0, 4.7, 0.0), "63"),
    ] {
        let camera = format!("--camera={},{},{}", camera_m.x, camera_m.y, camera_m.z);
        let Some(markers) = scene_markers(&[&camera, "--fov", fov]) else {
            return;
        };
        let (calibration, report) = accepted(&markers);
        let found = DVec3::from_array(calibration.camera_m.expect("a typical lens is assumed"));
        let deviation_m = report.camera_deviation_m.expect("it is estimated");
        let off_m = found.distance(camera_m);
        assert!(
            off_m < deviation_m,
            "{found}: error {off_m}, deviation {deviation_m}"
        );
        assert!(off_m < 0.15 * camera_m.y, "{found}: error {off_m}");
        let back =
            Calibration::parse(&calibration.to_toml(), "c.toml").expect("the file can be parsed");
        assert_eq!(back.camera_m, calibration.camera_m);
        let is_noted = report.notes.iter().any(|n| n.contains("give its position"));
        assert_eq!(
            is_noted,
            deviation_m > 0.5,
            "{deviation_m}: {:?}",
            report.notes
        );
    }
}

/// Runs `count` calibrations with placement errors. Returns the RMS of their errors and of their predicted errors, both in
/// meters, and the number of rejections.
fn trials(
    truth: &FloorFromCamera,
    n: i32,
    reach: f64,
    deviation_m: f64,
    count: u64,
) -> (f64, f64, usize) {
    let targets = grid(truth, n, reach);
    let (mut squares, mut predicted, mut rejected) = (0.0, 0.0, 0);
    for seed in 0..count {
        let noisy = Noise(seed * 104_729 + 1).placed(&targets, deviation_m);
        match calibrate(&noisy, &setup(), &CalibrationParams::default()) {
            Ok((calibration, report)) => {
                squares += distance_m(&map_of(&calibration), truth).powi(2);
                predicted += report.errors.predicted_rms_m.powi(2);
            }
            Err(rejection) => {
                eprintln!("rejected: {rejection}");
                rejected += 1;
            }
        }
    }
    let accepted = (count as usize - rejected).max(1) as f64;
    let (error, predicted) = ((squares / accepted).sqrt(), (predicted / accepted).sqrt());
    eprintln!(
        "{n}x{n} targets out to {reach}, {:.0} mm: RMS {:.1} mm, predicted {:.1} mm, {rejected} of {count} rejected",
        deviation_m * 1e3,
        error * 1e3,
        predicted * 1e3
    );
    (error, predicted, rejected)
}

/// Returns the views for the measurements. The first is synthetic; the others are rendered.
fn views() -> Vec<FloorFromCamera> {
    let rendered = [
        &[][..],
        &["--fov", "100", "--k1=-0.3", "--camera=-0.8,3.2,-0.5"],
    ];
    std::iter::once(view())
        .chain(
            rendered
                .into_iter()
                .filter_map(scene_markers)
                .map(|m| map_of(&accepted(&m).0)),
        )
        .collect()
}

#[test]
fn nine_targets_with_five_millimeters_give_eight_millimeters() {
    for view in views() {
        let (error, _, rejected) = trials(&view, 3, 0.9, 0.005, 40);
        let miss = report_figure(
            "nine targets placed to 5 mm: floor error, mm",
            error * 1e3,
            8.0,
            false,
        );
        assert_eq!((miss, rejected), (None, 0));
    }
}

#[test]
fn thirty_good_sets_of_sixteen_are_all_accepted() {
    // The corners of the surface are in the corners of the frame in the synthetic view. With targets only up to 0.75 of the
    // distance to the edge, placement errors of 10 mm would become too large there. The synthetic view is therefore only tested
    // with targets up to 0.9.
    let rendered = views()
        .into_iter()
        .skip(1)
        .flat_map(|view| [(view, 0.75), (view, 0.9)]);
    for (view, reach) in rendered.chain([(view(), 0.9)]) {
        let (error, predicted, rejected) = trials(&view, 4, reach, 0.01, 30);
        assert_eq!(rejected, 0);
        assert!((0.5..2.0).contains(&(error / predicted)));
    }
}

#[test]
fn leave_one_out_error_of_a_real_projector_is_below_a_quarter_pixel() {
    let Some(path) = test_data("data/ir/procam_graycode_correspondences.csv") else {
        return;
    };
    let text = std::fs::read_to_string(path).expect("the data can be read");
    for view in 0..5 {
        let pairs: Vec<PointPair> = text
            .lines()
            .skip(1)
            .map(|line| {
                line.split(',')
                    .map(|v| v.parse().expect("the data are numbers"))
                    .collect::<Vec<f64>>()
            })
            .filter(|v| v[0] == f64::from(view))
            .map(|v| (DVec2::new(v[3], v[4]), DVec2::new(v[5], v[6])))
            .collect();
        let selected =
            SelectedFit::new(&pairs, (1280, 1024)).expect("60 corners of a board determine a map");
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
        let mut points = Noise(3).placed(&grid(&view(), 4, 0.85), 0.005);
        points[i].floor_m += by;
        let rejection = rejected(&points);
        assert_eq!(rejection.reasons.len(), 1, "{rejection}");
        let message = &rejection.reasons[0];
        assert!(
            message.starts_with(&format!("point {} (line {}) is ", i + 1, i + 2)),
            "{message}"
        );
        assert!(
            message.contains("from its position according to the other 15 points"),
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
    let mut points = Noise(5).placed(&grid(&view(), 4, 0.85), 0.005);
    let (third, ninth) = (points[2].camera_px, points[8].camera_px);
    (points[2].camera_px, points[8].camera_px) = (ninth, third);
    let rejection = rejected(&points).to_string();
    for named in ["point 3 (line 4) is ", "point 9 (line 10) is "] {
        assert!(rejection.contains(named), "{rejection}");
    }
}

#[test]
fn impossible_points_are_rejected_with_the_reason() {
    let good = Noise(4).placed(&grid(&view(), 4, 0.85), 0.003);
    let with = |change: &dyn Fn(&mut MeasuredPoint)| -> Vec<MeasuredPoint> {
        let mut points = good.clone();
        points.iter_mut().for_each(change);
        points
    };
    let mut nan = good.clone();
    nan[6].camera_px.x = f64::NAN;
    let line: Vec<_> = (0..8)
        .map(|i| {
            let floor_m = DVec2::new(-1.8 + 0.5 * f64::from(i), 0.3);
            MeasuredPoint {
                camera_px: view().camera_from_floor(floor_m),
                floor_m,
                origin: PointOrigin::Line(i as usize),
            }
        })
        .collect();
    let corner = grid(&view(), 12, 0.85)
        .into_iter()
        .filter(|p| p.floor_m.x < -0.4 && p.floor_m.y < -0.3)
        .collect();
    let same = vec![good[0]; 16];
    for (points, expected) in [
        (
            good[..5].to_vec(),
            "5 points are too few; measure at least 6",
        ),
        (same, "1 different points are too few"),
        (nan, "point 7 (line 8): a coordinate is not a finite number"),
        (line, "the points are on a line on the floor"),
        (
            with(&|p| p.floor_m = p.floor_m.perp().perp().perp() * DVec2::new(1.0, -1.0)),
            "the points are mirrored",
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
        (corner, "the points span only"),
        (Noise(9).placed(&good, 0.08), "the predicted floor error is"),
    ] {
        let rejection = rejected(&points);
        assert!(
            rejection.to_string().contains(expected),
            "expected \"{expected}\", got: {rejection}"
        );
    }
}

/// With the points of a picture of 320 x 240 px and the wrong size, nothing told the technician what was wrong.
#[test]
fn points_of_a_smaller_picture_are_noticed() {
    let mut points = Noise(4).placed(&grid(&view(), 4, 0.85), 0.0);
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
    let (calibration, _) = accepted(&Noise(6).placed(&grid(&view(), 4, 0.85), 0.004));
    let text = calibration.to_toml();
    let back = Calibration::parse(&text, "c.toml").expect("the written file can be parsed");
    assert_eq!(back, calibration);
    assert_eq!(back.to_toml(), text);
    let error = back
        .floor_from_camera(320, 240)
        .expect_err("the frame size differs");
    assert!(
        error
            .to_string()
            .contains("640x480, but the camera delivers 320x240"),
        "{error}"
    );
}

#[test]
fn invalid_calibration_files_are_rejected() {
    let (calibration, _) = accepted(&Noise(6).placed(&grid(&view(), 4, 0.85), 0.004));
    let text = calibration.to_toml();
    let k1 = text
        .lines()
        .find(|l| l.starts_with("k1 = "))
        .expect("the file has the lens");
    let row = text
        .lines()
        .find(|l| l.starts_with("w = "))
        .expect("the file has the homography");
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
            .expect_err(to)
            .to_string();
        assert!(
            problems.contains(expected),
            "expected \"{expected}\", got: {problems}"
        );
        assert!(problems.starts_with("c.toml:"), "{problems}");
    }
}

/// Returns the content of the file that the command replaces.
fn old_calibration() -> String {
    let (calibration, _) = accepted(&grid(&view(), 4, 0.85));
    calibration.to_toml()
}

/// Runs the command `calibrate` on a table of points. The output file already exists before the run.
fn command(points: &[MeasuredPoint]) -> (anyhow::Result<std::process::ExitCode>, String) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
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
        camera_m: Some(DVec3::new(0.0, 1.9, 0.8)),
        limits: CalibrationParams::default(),
        out: folder.path().join("c.toml"),
    };
    std::fs::write(&options.points, table).expect("the folder is writable");
    std::fs::write(&options.out, old_calibration()).expect("the folder is writable");
    let result = shoal::app::calibrate(&options);
    let written = std::fs::read_to_string(&options.out).expect("the file exists");
    (result, written)
}

#[test]
fn the_command_writes_an_accepted_calibration() {
    let (result, written) = command(&Noise(2).placed(&grid(&view(), 4, 0.85), 0.004));
    assert!(result.is_ok(), "{result:?}");
    let calibration =
        Calibration::parse(&written, "c.toml").expect("the written file can be parsed");
    assert_eq!(calibration.camera_m, Some([0.0, 1.9, 0.8]));
    assert_eq!(calibration.points.len(), 16);
}

#[test]
fn the_command_keeps_the_old_file_after_a_rejection() {
    let mut points = Noise(2).placed(&grid(&view(), 4, 0.85), 0.004);
    points[9].floor_m.x += 0.5;
    let (result, written) = command(&points);
    let reason = result
        .expect_err("a target is half a meter off")
        .to_string();
    assert!(reason.contains("point 10 (line 11) is"), "{reason}");
    assert!(reason.contains("is unchanged"), "{reason}");
    assert_eq!(written, old_calibration());
    let (result, written) = command(&points[..4]);
    assert!(result.is_err());
    assert_eq!(written, old_calibration());
}

/// A random camera above the floor with a random lens. It sees the whole surface.
struct RandomCamera {
    eye_m: DVec3,
    axes: [DVec3; 3],
    focal_px: f64,
    k1: f64,
}

impl RandomCamera {
    fn new(noise: &mut Noise) -> Self {
        let mut between =
            |low: f64, high: f64| low + (high - low) * (noise.normal() / 6.0 + 0.5).clamp(0.0, 1.0);
        let eye_m = DVec3::new(between(-1.5, 1.5), between(3.0, 7.0), between(-2.0, 2.0));
        let ahead = (DVec3::new(between(-0.3, 0.3), 0.0, between(-0.3, 0.3)) - eye_m).normalize();
        let right = ahead.cross(DVec3::new(0.0, 0.0, -1.0)).normalize();
        let mut camera = Self {
            eye_m,
            axes: [right, ahead.cross(right), ahead],
            focal_px: 1.0,
            k1: between(-0.25, 0.0),
        };
        // Chooses the focal length at which the farthest corner of the surface is just inside the frame.
        let middle = DVec2::new(319.5, 239.5);
        let reach = [(-2.0, -1.5), (2.0, -1.5), (2.0, 1.5), (-2.0, 1.5)]
            .map(|(x, z)| (camera.pixel_from_floor(DVec2::new(x, z)) - middle).abs() / middle)
            .into_iter()
            .fold(0.0, |most, r| r.max_element().max(most));
        camera.focal_px = 0.95 / reach;
        camera
    }

    fn pixel_from_floor(&self, floor_m: DVec2) -> DVec2 {
        let to = DVec3::new(floor_m.x, 0.0, floor_m.y) - self.eye_m;
        let [right, down, ahead] = self.axes;
        let seen = DVec2::new(to.dot(right), to.dot(down)) / to.dot(ahead);
        let bend = 1.0 + self.k1 * seen.length_squared();
        DVec2::new(319.5, 239.5) + seen * bend * self.focal_px
    }
}

#[test]
fn thirty_random_cameras_with_targets_placed_to_ten_millimeters_are_all_accepted() {
    let (mut squares, mut rejected) = (0.0, Vec::new());
    for seed in 0..30_u64 {
        let mut noise = Noise(seed * 7_919 + 3);
        let camera = RandomCamera::new(&mut noise);
        // The floor points of the touch targets.
        let places = (0..16).map(|i| {
            DVec2::new(
                -1.8 + 1.2 * f64::from(i % 4),
                -1.35 + 0.9 * f64::from(i / 4),
            )
        });
        let targets: Vec<_> = (1..)
            .zip(places)
            .map(|(number, floor_m)| MeasuredPoint {
                camera_px: camera.pixel_from_floor(floor_m),
                floor_m,
                origin: PointOrigin::Target(number),
            })
            .collect();
        let placed = noise.placed(&targets, 0.01);
        match calibrate(&placed, &setup(), &CalibrationParams::default()) {
            Ok((calibration, _)) => {
                let map = map_of(&calibration);
                let errors = (0..=80).map(|i| {
                    DVec2::new(
                        -2.0 + 0.5 * f64::from(i % 9),
                        -1.5 + 0.375 * f64::from(i / 9),
                    )
                });
                let square = |p: DVec2| {
                    map.floor_from_camera(camera.pixel_from_floor(p))
                        .distance_squared(p)
                };
                squares += errors.map(square).sum::<f64>() / 81.0;
            }
            Err(rejection) => rejected.push((seed, rejection.to_string())),
        }
    }
    let accepted = (30 - rejected.len()).max(1) as f64;
    eprintln!(
        "30 random cameras, seeds 0 to 29, targets placed to 10 mm: floor error RMS {:.1} mm, rejected {rejected:?}",
        (squares / accepted).sqrt() * 1e3
    );
    let miss = report_figure(
        "good sets of 16 targets rejected, of 30",
        rejected.len() as f64,
        0.0,
        false,
    );
    assert_eq!(miss, None);
}
