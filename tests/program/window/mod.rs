//! Tests of the running pool as visitors and technicians see it: `shoal run` on a real X server (Xvfb) with a software Vulkan
//! driver, and without a display.
//!
//! The tests need Xvfb, ImageMagick's `import`, xdotool and a Vulkan driver. If one of them is missing, a test prints a message
//! and is skipped.

mod display;
mod running;

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use display::{Display, luminance, turn};
use running::{Folder, Pool, SYNTHETIC, has_adapter, shown_on};
use shoal_testing::assert_message;

/// Part of the log message about a fullscreen window on a screen of this size.
const PICTURE: &str = "picture: outputs[0] 320x240 px";

#[test]
fn the_window_is_fullscreen_and_moving_and_ends_with_sigterm() {
    let Some(mut shown) = shown_on("no-such-projector", &[]) else {
        return;
    };
    shown.pool.wait_for(PICTURE, 1);
    let first = shown.shows("first", None);
    let second = shown.shows("second", Some(&first));
    for picture in [&first, &second] {
        let mean = luminance(picture);
        // The colors must be encoded to sRGB exactly once. They would be brighter than this range if they were encoded twice,
        // and darker if they were not encoded.
        assert!((0.25..0.5).contains(&mean), "mean luminance {mean}");
        eprintln!("mean luminance {mean:.3}");
        // No corner is black, so the image fills the screen.
        for (x, y) in [(0, 0), (280, 0), (0, 200), (280, 200)] {
            let corner = image::imageops::crop_imm(picture, x, y, 40, 40).to_image();
            assert!(luminance(&corner) > 0.03, "black at {x}, {y}");
        }
    }
    let search = ["search", "--name", "Shoal", "getwindowgeometry"];
    let window = shown.display.run("xdotool", &search);
    assert_message(&window, &["320x240", "0,0"]);
    let expected = "outputs[0].monitor = 'no-such-projector' is not connected; 'screen' is used instead; connected: 'screen' (320x240 px at 0,0";
    assert_message(shown.pool.output(), &[expected]);
    shown.ends_by("TERM");
}

/// A single Escape after a finished calibration ended the installation.
#[test]
fn escape_and_then_q_end_the_program() {
    let Some(mut shown) = shown_on("", &[]) else {
        return;
    };
    shown.shows("shown", None);
    let press = |keys: &[&str]| shown.display.run("xdotool", &[&["key"], keys].concat());
    press(&["q", "Escape", "Escape"]);
    std::thread::sleep(Duration::from_millis(3500));
    press(&["q"]);
    std::thread::sleep(Duration::from_millis(300));
    assert!(
        shown.pool.is_running(),
        "Q came too late to end the program"
    );
    press(&["Escape", "q"]);
    shown.pool.assert_ends("Escape and Q");
    assert_message(shown.pool.output(), &["picture quality"]);
}

#[test]
fn the_demo_opens_a_window_if_there_is_a_display() {
    let _turn = turn();
    let Some(display) = Display::start().filter(|_| has_adapter()) else {
        return;
    };
    let folder = Folder::new();
    let mut pool = Pool::start(Some(&display.name), &["demo"]);
    pool.wait_for(PICTURE, 1);
    pool.shows(&display, &folder, "demo", None);
    pool.ends_by("TERM");
}

#[test]
fn a_lost_device_is_opened_again() {
    let Some(mut shown) = shown_on("", &["--lose-device-after", "3"]) else {
        return;
    };
    shown.pool.wait_for(PICTURE, 2);
    let output = shown.pool.output();
    assert_message(&output, &["the graphics device failed: lost"]);
    shown.assert_moves();
    shown.ends_by("INT");
}

#[test]
fn changed_files_are_applied_or_rejected_while_the_pool_runs() {
    let Some(mut shown) = shown_on("", &[]) else {
        return;
    };
    shown.shows("before", None);
    std::fs::create_dir(shown.folder.path().join("scenes")).unwrap();
    let file = shown.folder.file("scenes/pool.toml");
    let scene = |text: &str| std::fs::write(&file, text).unwrap();
    // The new scene has no sharks, so the other species get other indices. The simulation and the render setup must therefore
    // change together.
    scene(
        "[[obstacles]]\nshape = \"sphere\"\ncenter_m = [0.0, -0.8, 0.0]\nradius_m = 0.4\n\n[population]\ntrout = 5\n",
    );
    shown.pool.wait_for("applied: take_over", 1);
    shown.assert_moves();
    scene("[population]\ntrout = -5\nsalmon = \"many\"\n");
    shown.pool.wait_for("rejected: take_over", 1);
    shown.pool.wait_for("population.salmon", 1);
    assert_message(shown.pool.output(), &["pool.toml:2", "-5", "pool.toml:3"]);
    shown.assert_moves();
    shown.ends_by("TERM");
}

#[test]
fn a_display_that_ends_and_starts_again_is_found() {
    let Some(mut shown) = shown_on("", &[]) else {
        return;
    };
    shown.shows("before", None);
    let number = shown.display.number();
    shown.display.end();
    let words = "the pool runs without a picture until a display answers";
    shown.pool.wait_for(words, 1);
    shown.display = Display::on(Some(number));
    shown.assert_moves();
    shown.ends_by("TERM");
}

/// Two projectors on one machine show different parts of the pool in different sizes. One of them is unplugged and plugged in
/// again.
#[test]
fn every_output_is_on_its_own_monitor() {
    let turn = turn();
    let folder = Folder::new();
    let Some(display) = Display::with_monitors(&folder).filter(|_| has_adapter()) else {
        return;
    };
    let xrandr = |arguments: &str| {
        display.run("xrandr", &arguments.split(' ').collect::<Vec<_>>());
    };
    xrandr("--newmode small 7.2 320 330 340 400 240 250 260 300");
    xrandr("--newmode large 10.8 400 420 440 480 300 310 320 375");
    xrandr("--addmode DUMMY0 small");
    xrandr("--addmode DUMMY1 large");
    let both = "--output DUMMY0 --mode small --pos 0x0 --output DUMMY1 --mode large --pos 320x0";
    xrandr(both);
    let site = folder.site("DUMMY1");
    let left = "crop = { right = 0.6 }\nblend = { right = 0.33 }\n";
    let right =
        "[[outputs]]\nmonitor = \"DUMMY0\"\ncrop = { left = 0.4 }\nblend = { left = 0.33 }\n";
    let outputs = std::fs::read_to_string(&site).unwrap() + left + right;
    std::fs::write(&site, outputs).unwrap();
    let mut pool = Pool::start(
        Some(&display.name),
        &[&["run", &site][..], &SYNTHETIC].concat(),
    );
    let bright = |pool: &mut Pool, name: &str, monitors: &[(u32, u32, u32)]| {
        pool.until(name, |_| {
            let screen = display.screenshot(folder.path(), name);
            let is_bright = |&(x, width, height): &(u32, u32, u32)| {
                let part = image::imageops::crop_imm(&screen, x, 0, width, height);
                luminance(&part.to_image()) > 0.1
            };
            monitors.iter().all(is_bright).then_some(())
        });
    };
    let whole = "picture: outputs[0] 400x300 px, outputs[1] 320x240 px";
    pool.wait_for(whole, 1);
    bright(&mut pool, "both", &[(0, 320, 240), (320, 400, 300)]);
    xrandr("--output DUMMY1 --off");
    pool.wait_for(
        "outputs[0].monitor = 'DUMMY1' is not connected; the output is shown as soon as a monitor is connected; connected: 'DUMMY0'",
        1,
    );
    pool.wait_for("picture: outputs[1] 320x240 px, drawn by", 1);
    bright(&mut pool, "one", &[(0, 320, 240)]);
    xrandr(both);
    pool.wait_for(whole, 2);
    bright(&mut pool, "again", &[(0, 320, 240), (320, 400, 300)]);
    pool.ends_by("TERM");
    drop((pool, turn));
}

/// Simulates an X server that rejects clients, as it does while it starts or ends.
#[test]
fn a_display_that_rejects_windows_is_tried_again() {
    let _turn = turn();
    let Some(display) = Display::start().filter(|_| has_adapter()) else {
        return;
    };
    let number = display.number();
    drop(display);
    let socket = format!("/tmp/.X11-unix/X{number}");
    // The X server that has ended may have left its socket behind.
    let _ = std::fs::remove_file(&socket);
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let refusing = std::thread::spawn(move || {
        while listener.accept().is_ok() {
            if stopped.load(std::sync::atomic::Ordering::Relaxed) {
                return;
            }
        }
    });
    let folder = Folder::new();
    let site = folder.site("");
    let arguments = [&["run", &site][..], &SYNTHETIC].concat();
    let mut pool = Pool::start(Some(&format!(":{number}")), &arguments);
    pool.wait_for("no window can be opened", 2);
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    let _last = std::os::unix::net::UnixStream::connect(&socket);
    refusing.join().unwrap();
    std::fs::remove_file(&socket).unwrap();
    let display = Display::on(Some(number));
    pool.shows(&display, &folder, "shown", None);
    pool.ends_by("TERM");
}

#[test]
fn the_pool_runs_without_display_and_camera() {
    let folder = Folder::new();
    let site = folder.site("");
    let missing = format!("file:{}", folder.file("missing.y4m"));
    let mut pool = Pool::start(None, &["run", &site, "--camera", &missing]);
    pool.wait_for("neither WAYLAND_DISPLAY nor DISPLAY is set", 1);
    pool.wait_for("missing.y4m", 1);
    pool.wait_for("open_failed", 1);
    assert!(pool.is_running(), "{}", pool.output());
    pool.ends_by("TERM");
}

#[test]
fn a_recording_of_run_gives_the_same_tracks() {
    let folder = Folder::new();
    // A recording with uneven time stamps, like those of a camera. The frame size and the bit depth must be kept.
    let walk = folder.file("walk.y4m");
    make_walk(Path::new(&walk));
    let kept = folder.file("kept.y4m");
    let source = format!("file:{walk}");
    let record = ["--record", &kept, "--record-secs", "2.5"];
    let run = ["run", "--headless", "--camera", &source];
    let mut pool = Pool::start(None, &[run, record].concat());
    pool.wait_for("recorded ", 1);
    pool.wait_for("walk.y4m ended after 100 frames", 1);
    pool.ends_by("TERM");
    let tracks = |source: &str, out: &str| -> Vec<String> {
        let out = folder.file(out);
        let done = Command::new(env!("CARGO_BIN_EXE_shoal"))
            .args(["track", "--fast", "--camera", source, "--out", &out])
            .output()
            .unwrap();
        assert!(done.status.success());
        let text = std::fs::read_to_string(out).unwrap();
        text.lines().map(str::to_owned).collect()
    };
    let original = tracks(&source, "original.jsonl");
    let replayed = tracks(&format!("file:{kept}"), "replayed.jsonl");
    assert!(replayed.len() > 50 && replayed.len() < original.len());
    assert_eq!(replayed, original[..replayed.len()]);
    let has_shadow = |line: &&String| line.contains("\"id\"");
    let shadows = replayed.iter().filter(has_shadow).count();
    assert!(shadows > 20, "only {shadows} lines have a shadow");
}

/// Writes a recording of a dark disc that moves over a bright floor, with 10 bits per pixel and uneven time stamps.
fn make_walk(path: &Path) {
    use shoal::camera::{Frame, Luma, Recording};
    let mut recording = Recording::create(path, 60.0, 30.0).unwrap();
    let (width, height) = (160, 120);
    for n in 0..100_u16 {
        let x = f32::from(n.saturating_sub(30)) * 2.0;
        let level = |i: u32| {
            let (dx, dy) = ((i % width) as f32 - x, (i / width) as f32 - 60.0);
            let noise = (i * 7919 + u32::from(n) * 104_729) % 61;
            let inside = n >= 30 && dx * dx + dy * dy < 12.0 * 12.0;
            (if inside { 150 } else { 600 }) + noise as u16
        };
        let frame = Frame {
            sequence: u64::from(n),
            time_secs: f64::from(n) / 30.0 + 0.003 * f64::from(n % 3),
            width_px: width,
            height_px: height,
            luma: Luma::U16 {
                bits: 10,
                levels: (0..width * height).map(level).collect(),
            },
        };
        assert!(recording.write(&frame).unwrap());
    }
    recording.finish().unwrap();
}
