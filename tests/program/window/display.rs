//! An X server for a test, and what is on its screen.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::running::Folder;

/// Longest wait for an expected state. The tests print durations but do not check them, because the machine may be busy.
pub(super) const PATIENCE: Duration = Duration::from_secs(240);
/// Width and height of the X screen in pixels, and bits per pixel. The screen is small because rendering runs in software.
pub(super) const SCREEN: &str = "320x240x24";
/// Xorg configuration with virtual monitors, for a machine without a graphics card.
pub(super) const MONITORS: &str = r#"
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
pub(super) static TURN: Mutex<()> = Mutex::new(());

pub(super) fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns whether a program is installed. If it is not, prints a message.
pub(super) fn has_program(name: &str) -> bool {
    let found = Command::new(name).arg("-version").output().is_ok();
    if !found {
        eprintln!("SKIPPED: {name} is not installed");
    }
    found
}

/// An X server for one test.
pub(super) struct Display {
    server: Child,
    pub(super) name: String,
}

impl Display {
    /// Starts Xvfb with a free display number. Returns `None` if a program is missing.
    pub(super) fn start() -> Option<Self> {
        let programs = ["Xvfb", "import", "xdotool"];
        programs
            .into_iter()
            .all(has_program)
            .then(|| Self::on(None))
    }

    /// Starts Xvfb with the display number `number`, or with a free number for `None`.
    pub(super) fn on(number: Option<u32>) -> Self {
        let number = number.map(|number| format!(":{number}"));
        let screen = ["-screen", "0", SCREEN];
        let arguments = number.iter().map(String::as_str).chain(screen);
        Self::start_server("Xvfb", &arguments.collect::<Vec<_>>())
    }

    /// Starts Xorg with virtual monitors that a test can connect and disconnect. Returns `None` if a program or the driver is
    /// missing.
    pub(super) fn with_monitors(folder: &Folder) -> Option<Self> {
        let programs = ["Xorg", "xrandr", "import"];
        if !programs.into_iter().all(has_program) {
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
    pub(super) fn start_server(program: &str, arguments: &[&str]) -> Self {
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
            assert!(begun.elapsed() < PATIENCE, "{program}: {ended:?}");
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    pub(super) fn end(&mut self) {
        let _gone = self.server.kill().and_then(|()| self.server.wait());
    }

    pub(super) fn number(&self) -> u32 {
        self.name[1..].parse().unwrap()
    }

    pub(super) fn run(&self, program: &str, arguments: &[&str]) -> String {
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
    pub(super) fn screenshot(&self, folder: &Path, name: &str) -> image::RgbImage {
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
pub(super) fn luminance(picture: &image::RgbImage) -> f64 {
    let sum: f64 = picture
        .pixels()
        .map(|p| 0.2126 * f64::from(p[0]) + 0.7152 * f64::from(p[1]) + 0.0722 * f64::from(p[2]))
        .sum();
    sum / 255.0 / f64::from(picture.width() * picture.height())
}

/// Returns the share of pixels (0 to 1) whose color differs by more than the noise.
pub(super) fn changed_share(a: &image::RgbImage, b: &image::RgbImage) -> f64 {
    let changed = a
        .pixels()
        .zip(b.pixels())
        .filter(|(a, b)| a.0.iter().zip(b.0).any(|(a, b)| a.abs_diff(b) > 12));
    changed.count() as f64 / f64::from(a.width() * a.height())
}
