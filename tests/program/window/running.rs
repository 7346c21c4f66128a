//! A running `shoal` process, alone or with a display.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::display::{Display, PATIENCE, changed_share, luminance, turn};
use crate::feeds::{send, wait_for_end};

/// A site with one output.
pub(super) const SITE: &str = r#"
[surface]
width_m = 4.0
height_m = 3.0

[[outputs]]
monitor = "MONITOR"
"#;
/// A running `shoal` process, and the text that it has written to standard error.
pub(super) struct Pool {
    pub(super) child: Child,
    output: Arc<Mutex<String>>,
}

impl Pool {
    pub(super) fn start(display: Option<&str>, arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_shoal"));
        command.args(["--log", "info"]).args(arguments);
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        for variable in ["WAYLAND_DISPLAY", "WAYLAND_SOCKET", "DISPLAY"] {
            command.env_remove(variable);
        }
        command.envs(display.map(|display| ("DISPLAY", display)));
        let mut child = command.spawn().unwrap();
        let output = Arc::new(Mutex::new(String::new()));
        let written = Arc::clone(&output);
        let lines = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                *written.lock().unwrap() += &(line + "\n");
            }
        });
        Self { child, output }
    }

    pub(super) fn output(&self) -> String {
        self.output.lock().unwrap().clone()
    }

    pub(super) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Repeats `attempt` until it returns a value. Fails if the program ends before.
    pub(super) fn until<T>(
        &mut self,
        what: &str,
        mut attempt: impl FnMut(&Self) -> Option<T>,
    ) -> T {
        let begun = Instant::now();
        loop {
            if let Some(value) = attempt(self) {
                return value;
            }
            let goes_on = self.is_running() && begun.elapsed() < PATIENCE;
            assert!(goes_on, "{what}:\n{}", self.output());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits until the program has printed these words so many times.
    pub(super) fn wait_for(&mut self, words: &str, times: usize) {
        self.until(words, |pool| {
            (pool.output().matches(words).count() >= times).then_some(())
        });
    }

    /// Takes screenshots until one is neither black nor equal to `before`. Returns this screenshot.
    pub(super) fn shows(
        &mut self,
        display: &Display,
        folder: &Folder,
        name: &str,
        before: Option<&image::RgbImage>,
    ) -> image::RgbImage {
        self.until(name, |_| {
            let now = display.screenshot(folder.path(), name);
            let changed = before.is_none_or(|before| changed_share(before, &now) > 0.02);
            (luminance(&now) > 0.05 && changed).then_some(now)
        })
    }

    pub(super) fn signal(&self, name: &str) {
        send(&self.child, name);
    }

    /// Waits for the end of the program, prints the waiting time and asserts exit code 0. The program should end within two
    /// seconds, but this is not checked, because the machine may be busy.
    #[track_caller]
    pub(super) fn assert_ends(&mut self, by: &str) {
        let begun = Instant::now();
        let status = wait_for_end(&mut self.child);
        let took_secs = begun.elapsed().as_secs_f64();
        eprintln!("{by} ended the program after {took_secs:.2} s");
        assert_eq!(status.code(), Some(0), "{by}:\n{}", self.output());
        assert!(!self.output().contains("panicked"), "{}", self.output());
    }

    #[track_caller]
    pub(super) fn ends_by(&mut self, signal: &str) {
        self.signal(signal);
        self.assert_ends(signal);
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let _gone = self.child.kill().and_then(|()| self.child.wait());
    }
}

pub(super) struct Folder(tempfile::TempDir);

impl Folder {
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(super) fn file(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    pub(super) fn site(&self, monitor: &str) -> String {
        let path = self.file("site.toml");
        std::fs::write(&path, SITE.replace("MONITOR", monitor)).unwrap();
        path
    }
}

pub(super) fn has_adapter() -> bool {
    match shoal::render::Gpu::headless() {
        Ok(_) => true,
        Err(error) => {
            eprintln!("SKIPPED: {error}");
            false
        }
    }
}

pub(super) const SYNTHETIC: [&str; 2] = ["--camera", "synthetic:3"];

/// `shoal run` on its own display. Rust drops the fields in the order of their declaration, so the program ends before the
/// display.
pub(super) struct Shown {
    pub(super) pool: Pool,
    pub(super) display: Display,
    pub(super) folder: Folder,
    _turn: MutexGuard<'static, ()>,
}

/// Starts `shoal run` on a new display. Returns `None` if a program or a graphics adapter is missing.
pub(super) fn shown_on(monitor: &str, more: &[&str]) -> Option<Shown> {
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
    pub(super) fn shows(
        &mut self,
        name: &str,
        before: Option<&image::RgbImage>,
    ) -> image::RgbImage {
        self.pool.shows(&self.display, &self.folder, name, before)
    }

    /// Asserts that the image on the screen changes, so the pool is moving.
    pub(super) fn assert_moves(&mut self) {
        let before = self.shows("before", None);
        self.shows("alive", Some(&before));
    }

    pub(super) fn ends_by(mut self, signal: &str) {
        self.pool.ends_by(signal);
    }
}
