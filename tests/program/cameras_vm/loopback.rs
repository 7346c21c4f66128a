//! Tests with the driver v4l2loopback, which plays frames that another program sends.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use shoal::camera::{FaultKind, Luma};

use super::{FILES, IN_VM, SHOAL, in_vm_with, next, open, run, step, wait_healthy};
use crate::feeds::{send, wait_for, wait_for_end};

/// Converts 200 frames of an infrared recording to 256 × 192 pixels. If this is not possible, prints a message and returns
/// false.
fn convert_recording(test: &str, encoding: &[&str], to: &Path) -> bool {
    let data = std::env::var("SHOAL_TEST_DATA").unwrap_or_else(|_| "../shared".to_owned());
    let movie = PathBuf::from(data).join("data/ir/fingers_shadow.mov");
    let made = Command::new("ffmpeg")
        .args(["-v", "error", "-i"])
        .arg(&movie)
        .args(["-vf", "scale=256:192", "-frames:v", "200"])
        .args(encoding)
        .arg(to)
        .status();
    let made = made.is_ok_and(|status| status.success());
    if !made {
        eprintln!(
            "SKIPPED: {test} needs ffmpeg and {}; no loopback camera was tested",
            movie.display()
        );
    }
    made
}

#[test]
fn motion_jpeg_is_read_through_v4l2_and_nokhwa() {
    let test = "loopback::motion_jpeg_is_read_through_v4l2_and_nokhwa";
    if std::env::var_os(IN_VM).is_some() {
        return check_motion_jpeg();
    }
    let folder = tempfile::tempdir().unwrap();
    let movie = folder.path().join("frames.avi");
    let encoding = [
        "-pix_fmt", "yuvj420p", "-r", "10", "-c:v", "mjpeg", "-q:v", "3",
    ];
    if convert_recording(test, &encoding, &movie) {
        in_vm_with("loopback", test, &movie, check_motion_jpeg);
    }
}

fn check_motion_jpeg() {
    let movie = std::env::var(FILES).unwrap();
    let mut feeder = Command::new("ffmpeg")
        .args(["-v", "error", "-re", "-stream_loop", "-1", "-i", &movie])
        .args(["-c", "copy", "-f", "v4l2", "/dev/video0"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let decode = format!("-v error -i {movie} -pix_fmt gray -f rawvideo -y /tmp/gray.raw");
    let (gray, is_ok) = run("ffmpeg", &decode.split(' ').collect::<Vec<_>>());
    assert!(is_ok, "{gray}");
    let gray = std::fs::read("/tmp/gray.raw").unwrap();
    for kind in ["v4l2", "nokhwa"] {
        step(kind);
        // The camera exists only while ffmpeg feeds it, so it may be absent at first.
        let camera = open(&format!("{kind}:0?format=MJPG"));
        wait_for(&camera, "frames", |h| h.frames > 3);
        assert_eq!(camera.health().granted.unwrap().format, "MJPG");
        let Luma::U8(levels) = next(&camera).luma else {
            panic!("JPEG has 8 bits")
        };
        // The frames of the recording were decoded by ffmpeg. Finds the mean difference from the most similar of them.
        let difference = |frame: &[u8]| -> u64 {
            let pairs = frame.iter().zip(&levels);
            pairs.map(|(a, b)| u64::from(a.abs_diff(*b))).sum()
        };
        let nearest = gray.chunks_exact(256 * 192).map(difference).min().unwrap();
        let nearest = nearest as f64 / (256.0 * 192.0);
        println!("{nearest:.2} levels from the frame of ffmpeg");
        assert!(nearest < 2.0);
    }
    feeder.kill().unwrap();
    wait_for_end(&mut feeder);
}

#[test]
fn frames_of_a_loopback_camera_arrive_and_stall() {
    let test = "loopback::frames_of_a_loopback_camera_arrive_and_stall";
    if std::env::var_os(IN_VM).is_some() {
        return check_loopback();
    }
    let folder = tempfile::tempdir().unwrap();
    // A frame of 256 × 192 pixels fills whole memory pages. v4l2-ctl writes whole buffers, so the contents of frames of another
    // size would be shifted.
    let frames = folder.path().join("frames.raw");
    if !convert_recording(test, &["-pix_fmt", "gray", "-f", "rawvideo"], &frames) {
        return;
    }
    in_vm_with("loopback", test, &frames, check_loopback);
}

fn check_loopback() {
    step("the frames of a recording arrive from a loopback camera");
    let frames = std::env::var(FILES).unwrap();
    let mut feeder = Command::new("v4l2-ctl")
        .args([
            "-d0",
            "--set-fmt-video-out=width=256,height=192,pixelformat=GREY,field=none",
            "--stream-out-mmap",
            "--stream-loop",
        ])
        .arg(format!("--stream-from={frames}"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let camera = open("v4l2:loopback?format=GREY");
    let health = wait_healthy(&camera);
    let granted = health.granted.unwrap();
    assert_eq!(
        (granted.card.as_str(), granted.width_px, granted.height_px),
        ("loopback", 256, 192)
    );
    let recorded = std::fs::read(frames).unwrap();
    // The loopback driver can overwrite a buffer while it is read, so a frame may contain rows of two frames. Most rows must
    // match the recording.
    let known: BTreeSet<(usize, &[u8])> = recorded
        .chunks_exact(256)
        .enumerate()
        .map(|(i, row)| (i % 192, row))
        .collect();
    for _ in 0..5 {
        let Luma::U8(levels) = next(&camera).luma else {
            panic!("GREY has 8 bits")
        };
        let rows = levels.chunks_exact(256).enumerate();
        let matching = rows.filter(|row| known.contains(row)).count();
        assert!(matching >= 144, "{matching} of 192 rows are known");
    }

    step("v4l2-ctl pauses: the camera stalls");
    send(&feeder, "STOP");
    let health = wait_for(&camera, "the stall", |h| h.has(FaultKind::Stalled));
    assert!(health.age_secs.unwrap() >= 2.0 && health.fps < 1.0);
    step("v4l2-ctl continues");
    send(&feeder, "CONT");
    wait_healthy(&camera);
    drop(camera);

    step("shoal track with this camera");
    // The number of frames depends on the speed of the machine. If a short run has too few frames, longer runs follow.
    let lines_in = |seconds: &str| {
        let camera = ["--camera", "v4l2:loopback?format=GREY"];
        let length = ["--seconds", seconds, "--out", "/tmp/tracks.jsonl"];
        let (output, is_ok) = run(SHOAL, &[&["track"][..], &camera, &length].concat());
        assert!(is_ok, "{output}");
        let written = std::fs::read_to_string("/tmp/tracks.jsonl").unwrap();
        let lines = written.lines().count();
        println!("{output}{lines} lines");
        lines
    };
    let lengths = ["4", "15", "60"];
    assert!(lengths.into_iter().any(|seconds| lines_in(seconds) > 5));
    feeder.kill().unwrap();
    wait_for_end(&mut feeder);
}
