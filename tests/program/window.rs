//! Tests of the running pool as visitors and technicians see it: `shoal run` on a real X server (Xvfb) with a software Vulkan
//! driver, and without a display.
//!
//! The tests need Xvfb, ImageMagick's `import`, xdotool and a Vulkan driver. If one of them is missing, a test prints a message
//! and is skipped.

use shoal_testing::assert_message;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Longest wait for an expected state. The tests print durations but do not check them, because the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(240);
/// A site with one output.
const SITE: &str = r#"
[surface]
width_m = 4.0
height_m = 3.0

[[outputs]]
monitor = "MONITOR"
"#;
/// Width and height of the X screen in pixels, and bits per pixel. The screen is small because rendering runs in software.
const SCREEN: &str = "320x240x24";
/// Part of the log message about a fullscreen window on a screen of this size.
const PICTURE: &str = "picture: outputs[0] 320x240 px";

/// Xorg configuration with virtual monitors, for a machine without a graphics card.
const MONITORS: &str = r#"
Section "Device"
    Identifier "no card"
    Driver "dummy"
EndSection
Section "Screen"
    Identifier "screen"
    Device "no card"
    DefaultDepth 24
    SubSection "Display"
        Depth 24
        Virtual 800 600
    EndSubSection
EndSection
"#;

/// Tests with a display run one after the other, because software rendering needs the whole machine.
static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns whether a program is installed. If it is not, prints a message.
fn has_program(name: &str) -> bool {
    let found = Command::new(name).arg("-version").output().is_ok();
    if !found {
        eprintln!("SKIPPED: {name} is not installed");
    }
    found
}

/// An X server for one test.
struct Display {
    server: Child,
    name: String,
}

impl Display {
    /// Starts Xvfb with a free display number. Returns `None` if a program is missing.
    fn start() -> Option<Self> {
        let programs = ["Xvfb", "import", "xdotool"];
        if !programs.map(has_program).into_iter().all(|found| found) {
            return None;
        }
        Some(Self::on(None))
    }

    /// Starts Xvfb with the display number `number`, or with a free number for `None`.
    fn on(number: Option<u32>) -> Self {
        let number = number.map(|number| format!(":{number}"));
        let screen = ["-screen", "0", SCREEN];
        let arguments = number.iter().map(String::as_str).chain(screen);
        Self::start_server("Xvfb", &arguments.collect::<Vec<_>>())
    }

    /// Starts Xorg with virtual monitors that a test can connect and disconnect. Returns `None` if a program or the driver is
    /// missing.
    fn with_monitors(folder: &Folder) -> Option<Self> {
        let programs = ["Xorg", "xrandr", "import"];
        if !programs.map(has_program).into_iter().all(|found| found) {
            return None;
        }
        let driver = "/usr/lib/xorg/modules/drivers/dummy_drv.so";
        if !Path::new(driver).exists() {
            eprintln!("SKIPPED: {driver} is not installed");
            return None;
        }
        let (config, log) = (folder.file("xorg.conf"), folder.file("xorg.log"));
        std::fs::write(&config, MONITORS).unwrap();
        let arguments = ["-config", &config, "-logfile", &log];
        Some(Self::start_server("Xorg", &arguments))
    }

    /// Starts a server. Returns when the server accepts clients.
    fn start_server(program: &str, arguments: &[&str]) -> Self {
        let begun = Instant::now();
        loop {
            // Without `-noreset`, the server resets when its last client leaves, and disconnects a client that connects at that
            // moment.
            let options = "-displayfd 1 -noreset -nolisten tcp";
            let mut server = Command::new(program)
                .args(arguments)
                .args(options.split(' '))
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let mut answer = String::new();
            let mut stdout = BufReader::new(server.stdout.take().unwrap());
            stdout.read_line(&mut answer).unwrap();
            if answer.ends_with('\n') {
                let name = format!(":{}", answer.trim());
                return Self { server, name };
            }
            let ended = server.kill().and_then(|()| server.wait());
            assert!(
                begun.elapsed() < PATIENCE,
                "{program} does not come up: {ended:?}"
            );
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    fn end(&mut self) {
        let _gone = self.server.kill().and_then(|()| self.server.wait());
    }

    fn number(&self) -> u32 {
        self.name[1..].parse().unwrap()
    }

    fn run(&self, program: &str, arguments: &[&str]) -> String {
        let done = Command::new(program)
            .args(arguments)
            .env("DISPLAY", &self.name)
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{program} {arguments:?}: {errors}");
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    /// Takes a screenshot of the whole screen.
    fn screenshot(&self, folder: &Path, name: &str) -> image::RgbImage {
        let path = folder.join(format!("{name}.png"));
        let file = path.to_str().unwrap();
        self.run("import", &["-window", "root", file]);
        image::open(&path).unwrap().into_rgb8()
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        self.end();
    }
}

/// Returns the mean luminance of the encoded color values, 0 to 1.
fn luminance(picture: &image::RgbImage) -> f64 {
    let sum: f64 = picture
        .pixels()
        .map(|p| 0.2126 * f64::from(p[0]) + 0.7152 * f64::from(p[1]) + 0.0722 * f64::from(p[2]))
        .sum();
    sum / 255.0 / f64::from(picture.width() * picture.height())
}

/// Returns the share of pixels (0 to 1) whose color differs by more than the noise.
fn changed_share(a: &image::RgbImage, b: &image::RgbImage) -> f64 {
    let changed = a
        .pixels()
        .zip(b.pixels())
        .filter(|(a, b)| a.0.iter().zip(b.0).any(|(a, b)| a.abs_diff(b) > 12));
    changed.count() as f64 / f64::from(a.width() * a.height())
}

/// A running `shoal` process, and the text that it has written to standard error.
struct Pool {
    child: Child,
    output: Arc<Mutex<String>>,
}

impl Pool {
    fn start(display: Option<&str>, arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_shoal"));
        command
            .args(["--log", "info"])
            .args(arguments)
            .env_remove("WAYLAND_DISPLAY")
            .env_remove("WAYLAND_SOCKET")
            .env_remove("DISPLAY")
            .stdin(Stdio::null())
            .stderr(Stdio::piped());
        if let Some(display) = display {
            command.env("DISPLAY", display);
        }
        let mut child = command.spawn().unwrap();
        let output = Arc::new(Mutex::new(String::new()));
        let (written, lines) = (
            Arc::clone(&output),
            BufReader::new(child.stderr.take().unwrap()),
        );
        std::thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                let mut written = written.lock().unwrap();
                written.push_str(&line);
                written.push('\n');
            }
        });
        Self { child, output }
    }

    fn output(&self) -> String {
        self.output.lock().unwrap().clone()
    }

    fn wait_for(&mut self, words: &str, times: usize) {
        let begun = Instant::now();
        while self.output().matches(words).count() < times {
            let ended = self.child.try_wait().unwrap();
            assert!(
                ended.is_none() && begun.elapsed() < PATIENCE,
                "'{words}' was not printed {times} times ({ended:?}):\n{}",
                self.output()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Takes screenshots until one is neither black nor equal to `before`. Returns this screenshot.
    fn shows(
        &mut self,
        display: &Display,
        folder: &Folder,
        name: &str,
        before: Option<&image::RgbImage>,
    ) -> image::RgbImage {
        let begun = Instant::now();
        loop {
            let now = display.screenshot(folder.path(), name);
            let changed = before.is_none_or(|before| changed_share(before, &now) > 0.02);
            if luminance(&now) > 0.05 && changed {
                return now;
            }
            let ended = self.child.try_wait().unwrap();
            assert!(
                ended.is_none() && begun.elapsed() < PATIENCE,
                "{name}: no new picture comes ({ended:?}):\n{}",
                self.output()
            );
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill")
            .args([&format!("-{name}"), &self.child.id().to_string()])
            .status()
            .unwrap();
        assert!(sent.success());
    }

    fn ended(&mut self) -> (ExitStatus, Duration) {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait().unwrap() {
                return (status, begun.elapsed());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("the program does not end:\n{}", self.output());
    }

    /// Waits for the end of the program, prints the waiting time and asserts exit code 0. The program should end within two
    /// seconds, but this is not checked, because the machine may be busy.
    #[track_caller]
    fn assert_ends(&mut self, by: &str) {
        let (status, took) = self.ended();
        eprintln!("{by} ended the program after {:.2} s", took.as_secs_f64());
        assert_eq!(status.code(), Some(0), "{by}:\n{}", self.output());
        assert!(!self.output().contains("panicked"), "{}", self.output());
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let _gone = self.child.kill().and_then(|()| self.child.wait());
    }
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn file(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    fn site(&self, monitor: &str) -> String {
        let path = self.file("site.toml");
        std::fs::write(&path, SITE.replace("MONITOR", monitor)).unwrap();
        path
    }
}

fn has_adapter() -> bool {
    match shoal::render::Gpu::headless() {
        Ok(_) => true,
        Err(error) => {
            eprintln!("SKIPPED: {error}");
            false
        }
    }
}

const SYNTHETIC: [&str; 2] = ["--camera", "synthetic:3"];

/// `shoal run` on its own display. Rust drops the fields in the order of their declaration, so the program ends before the
/// display.
struct Shown {
    pool: Pool,
    display: Display,
    folder: Folder,
    _turn: MutexGuard<'static, ()>,
}

/// Starts `shoal run` on a new display. Returns `None` if a program or a graphics adapter is missing.
fn shown_on(monitor: &str, more: &[&str]) -> Option<Shown> {
    let turn = turn();
    let display = Display::start().filter(|_| has_adapter())?;
    let folder = Folder::new();
    let site = folder.site(monitor);
    let arguments = [&["run", &site][..], more, &SYNTHETIC].concat();
    Some(Shown {
        pool: Pool::start(Some(&display.name), &arguments),
        _turn: turn,
        folder,
        display,
    })
}

impl Shown {
    /// Takes a screenshot that is neither black nor equal to `before`.
    fn shows(&mut self, name: &str, before: Option<&image::RgbImage>) -> image::RgbImage {
        self.pool.shows(&self.display, &self.folder, name, before)
    }

    /// Asserts that the image on the screen changes, so the pool is moving.
    fn assert_moves(&mut self) {
        let before = self.shows("before", None);
        self.shows("alive", Some(&before));
    }

    fn ends_by(mut self, signal: &str) {
        self.pool.signal(signal);
        self.pool.assert_ends(signal);
    }
}

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
    let window = shown.display.run(
        "xdotool",
        &["search", "--name", "Shoal", "getwindowgeometry"],
    );
    assert_message(&window, &["320x240", "0,0"]);
    let expected = "outputs[0].monitor = 'no-such-projector' is not connected; 'screen' is used instead; connected: 'screen' (320x240 px at 0,0";
    let output = shown.pool.output();
    assert!(output.contains(expected), "{output}");
    shown.ends_by("TERM");
}

/// A single Escape after a finished calibration ended the installation.
#[test]
fn escape_and_then_q_end_the_program() {
    let Some(mut shown) = shown_on("", &[]) else {
        return;
    };
    shown.shows("shown", None);
    shown
        .display
        .run("xdotool", &["key", "q", "Escape", "Escape"]);
    std::thread::sleep(std::time::Duration::from_millis(3500));
    shown.display.run("xdotool", &["key", "q"]);
    std::thread::sleep(std::time::Duration::from_millis(300));
    let still_runs = shown.pool.child.try_wait().unwrap().is_none();
    assert!(still_runs, "Q came too late to end the program");
    shown.display.run("xdotool", &["key", "Escape", "q"]);
    shown.pool.assert_ends("Escape and Q");
    let output = shown.pool.output();
    assert!(output.contains("picture quality"), "{output}");
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
    pool.signal("TERM");
    pool.assert_ends("SIGTERM");
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
    let output = shown.pool.output();
    for part in ["pool.toml:2", "-5", "pool.toml:3"] {
        assert!(output.contains(part), "'{part}' is not reported:\n{output}");
    }
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
    shown
        .pool
        .wait_for("the pool runs without a picture until a display answers", 1);
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
        let begun = Instant::now();
        loop {
            let screen = display.screenshot(folder.path(), name);
            let lights = monitors.iter().map(|&(x, width, height)| {
                luminance(&image::imageops::crop_imm(&screen, x, 0, width, height).to_image())
            });
            let lights: Vec<f64> = lights.collect();
            if lights.iter().all(|&light| light > 0.1) {
                return;
            }
            let output = pool.output();
            assert!(begun.elapsed() < PATIENCE, "{name}: {lights:?}\n{output}");
            std::thread::sleep(Duration::from_millis(200));
        }
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
    pool.signal("TERM");
    pool.assert_ends("TERM");
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
    pool.signal("TERM");
    pool.assert_ends("SIGTERM");
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
    assert!(
        pool.child.try_wait().unwrap().is_none(),
        "{}",
        pool.output()
    );
    pool.signal("TERM");
    pool.assert_ends("SIGTERM");
}

#[test]
fn a_recording_of_run_gives_the_same_tracks() {
    let folder = Folder::new();
    // A recording with uneven time stamps, like those of a camera. The frame size and the bit depth must be kept.
    let walk = folder.file("walk.y4m");
    make_walk(Path::new(&walk));
    let kept = folder.file("kept.y4m");
    let source = format!("file:{walk}");
    let mut pool = Pool::start(
        None,
        &[
            "run",
            "--headless",
            "--camera",
            &source,
            "--record",
            &kept,
            "--record-secs",
            "2.5",
        ],
    );
    pool.wait_for("recorded ", 1);
    pool.wait_for("walk.y4m ended after 100 frames", 1);
    pool.signal("TERM");
    pool.assert_ends("SIGTERM");
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
    let shadows = replayed
        .iter()
        .filter(|line| line.contains("\"id\""))
        .count();
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
