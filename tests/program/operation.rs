//! Tests of what runs a museum: opening hours, counts of visitors, messages about faults, and the service.

use shoal_testing::assert_message;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Longest wait for anything. A slow machine needs seconds for a debug build.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

pub(crate) fn shoal() -> Command {
    Command::new(env!("CARGO_BIN_EXE_shoal"))
}

pub(crate) fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Waits until `is_met` returns a value.
pub(crate) fn wait_for<T>(what: &str, mut is_met: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(value) = is_met() {
            return value;
        }
        assert!(begun.elapsed() < PATIENCE, "{what}: waited in vain");
        std::thread::sleep(Duration::from_millis(50));
    }
}

const HOURS: &str = r#"
[schedule]
time_zone = "Europe/Berlin"
clock = "machine"

[[schedule.weekly]]
days = ["tuesday"]
hours = [{ from = "10:00", to = "18:00", scene = "reef" }]

[[schedule.dates]]
date = "2026-12-22"
name = "Long night"
hours = [{ from = "18:00", to = "02:00" }]

[[schedule.yearly]]
date = "12-24"
last = "12-26"
name = "Christmas"
hours = []
"#;

#[test]
fn the_schedule_command_prints_the_days() {
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("site.toml");
    std::fs::write(&site, HOURS).unwrap();
    let run = |more: &[&str]| {
        let mut command = shoal();
        command.arg("schedule").arg(&site).args(more);
        command.output().unwrap()
    };
    let output = run(&["--from", "2026-12-15", "--days", "10"]);
    let printed = text(&output);
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines.len(), 11, "{printed}");
    assert_eq!(
        lines[1],
        "tue 2026-12-15  00:00-10:00 closed, 10:00-18:00 open (reef), 18:00-24:00 closed"
    );
    assert_eq!(
        lines[8],
        "tue 2026-12-22  00:00-18:00 closed, 18:00-24:00 open  [date: Long night]"
    );
    assert_eq!(
        lines[9],
        "wed 2026-12-23  00:00-02:00 open, 02:00-24:00 closed"
    );
    assert_eq!(
        lines[10],
        "thu 2026-12-24  00:00-24:00 closed  [day of every year: Christmas]"
    );
    let days: Value = serde_json::from_slice(&run(&["--json"]).stdout).unwrap();
    assert_eq!(days.as_array().unwrap().len(), 21);
}

#[test]
fn wrong_hours_are_reported_with_their_line() {
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("site.toml");
    let hours = "[[schedule.dates]]\ndate = \"12-24\"\n[[schedule.weekly]]\ndays = [\"monday\"]\n\
                 hours = [{ from = \"10:00\", to = \"18:00\", scene = \"moon\" }]\n[alerts]\ncommand = \"mail 'x\"\n\
                 ignore = [\"camera\", \"kamera\"]\n";
    std::fs::write(&site, hours).unwrap();
    let output = shoal().arg("check").arg(&site).output().unwrap();
    let printed = text(&output);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    for part in [
        "site.toml:2:",
        "schedule.dates[0].date",
        "[[schedule.yearly]]",
        "schedule.weekly[0].hours[0].scene",
        "moon",
        "alerts.command",
        "alerts.ignore[1]",
        "did you mean \"camera\"?",
    ] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
}

/// The shortest site file; an empty one is rejected as damaged.
const SITE: &str = "scene = \"pool\"\n";

/// A running installation, ended with its folder.
pub(crate) struct Running {
    pub(crate) child: Child,
    folder: tempfile::TempDir,
}

impl Running {
    pub(crate) fn start(site: &str, more: impl FnOnce(&Path, &mut Command)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("site.toml"), site).unwrap();
        let child = Self::spawn(&folder, more);
        Self { child, folder }
    }

    /// Kills the program as a power cut does, and starts it again.
    pub(crate) fn kill_and_start(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let _old = std::fs::remove_file(self.file("shoal.sock"));
        self.child = Self::spawn(&self.folder, |_, _| {});
    }

    fn spawn(folder: &tempfile::TempDir, more: impl FnOnce(&Path, &mut Command)) -> Child {
        let mut command = shoal();
        command
            .args(["run", "--headless", "--camera", "synthetic:1"])
            .arg(folder.path().join("site.toml"))
            .arg("--control-socket")
            .arg(folder.path().join("shoal.sock"))
            .env_remove("NOTIFY_SOCKET")
            .stderr(Stdio::null());
        more(folder.path(), &mut command);
        command.spawn().unwrap()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn ctl(&self, arguments: &[&str]) -> Output {
        let mut command = shoal();
        command
            .arg("ctl")
            .arg("--socket")
            .arg(self.file("shoal.sock"));
        command.args(arguments).output().unwrap()
    }

    pub(crate) fn status(&self) -> Option<Value> {
        serde_json::from_slice(&self.ctl(&["status", "--json"]).stdout).ok()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _gone = self.child.kill().and_then(|()| self.child.wait());
    }
}

#[test]
fn a_state_by_hand_and_a_test_message_reach_a_running_installation() {
    let running = Running::start(SITE, |folder, _| {
        let command = format!("sh -c 'cat >> {}'", folder.join("messages").display());
        let site = format!("[alerts]\ncommand = \"{command}\"\n{HOURS}");
        std::fs::write(folder.join("site.toml"), site).unwrap();
    });
    let status = wait_for("status", || {
        running
            .status()
            .filter(|s| s["schedule"]["is_planned"] == true)
    });
    assert_eq!(status["schedule"]["time_zone"], "Europe/Berlin");
    let output = running.ctl(&["plan"]);
    assert_eq!(output.status.code(), Some(1), "nothing is set by hand");
    assert!(running.ctl(&["dark"]).status.success());
    let is_dark =
        |s: &Value| s["schedule"]["state"] == "dark" && s["schedule"]["by_hand"]["state"] == "dark";
    wait_for("dark", || running.status().filter(is_dark));
    assert!(running.ctl(&["plan"]).status.success());
    wait_for("plan", || {
        running
            .status()
            .filter(|s| s["schedule"]["by_hand"].is_null())
    });
    let events = text(&running.ctl(&["events"]));
    assert_message(&events, &[r#""event":"schedule_changed","state":"dark""#]);
    assert!(running.ctl(&["test-alert"]).status.success());
    let message = wait_for("message", || {
        std::fs::read_to_string(running.file("messages"))
            .ok()
            .filter(|text| text.ends_with('\n'))
    });
    let message: Value = serde_json::from_str(&message).unwrap();
    assert_eq!(message["kind"], "test");
}

#[test]
fn counts_survive_a_killed_program() {
    let site = "[counting]\non = true\nfile = \"counts/visitors.sqlite\"\n";
    let mut running = Running::start(site, |_, _| {});
    let counted = |running: &Running| {
        let mut command = shoal();
        command
            .arg("visitors")
            .arg(running.file("site.toml"))
            .arg("--csv");
        let output = command.output().unwrap();
        let table = String::from_utf8(output.stdout).unwrap();
        let arrivals = table
            .lines()
            .skip(1)
            .filter_map(|line| line.split(',').nth(1)?.parse::<u32>().ok());
        arrivals.sum::<u32>()
    };
    let before = wait_for("a visitor", || {
        Some(counted(&running)).filter(|count| *count > 0)
    });
    running.child.kill().unwrap();
    running.child.wait().unwrap();
    assert!(counted(&running) >= before);
    let map = shoal()
        .arg("visitors")
        .arg(running.file("site.toml"))
        .arg("--map")
        .output()
        .unwrap();
    assert!(text(&map).starts_with("x_m,z_m,secs"), "{}", text(&map));
}

#[test]
fn systemd_hears_that_the_service_is_ready_and_alive() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut running = Running::start(SITE, |_, command| {
        command
            .env("NOTIFY_SOCKET", &path)
            .env("WATCHDOG_USEC", "6000000")
            .env("WATCHDOG_PID", "1");
    });
    let mut heard = String::new();
    let mut receive = || {
        let mut bytes = [0; 4096];
        let length = socket.recv(&mut bytes).unwrap();
        heard.push_str(&String::from_utf8_lossy(&bytes[..length]));
        heard.push('\n');
        heard.clone()
    };
    while !receive().contains("WATCHDOG=1") {}
    let heard_first = receive();
    assert!(heard_first.starts_with("READY=1"), "{heard_first}");
    // SIGTERM is the signal of systemd.
    let mut kill = Command::new("kill");
    kill.arg(running.child.id().to_string()).status().unwrap();
    assert!(running.child.wait().unwrap().success());
    // A child process may be restarted, so its end is not the end of the service.
    assert!(!heard.contains("STOPPING"), "{heard}");
}

#[test]
fn man_pages_and_completions_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = shoal();
    command.arg("generate").arg("--man").arg(folder.path());
    command.arg("--completions").arg(folder.path());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    let page = std::fs::read_to_string(folder.path().join("shoal-run.1")).unwrap();
    assert_message(&page, &["installation", ".TH"]);
    for name in [
        "shoal.1",
        "shoal-schedule.1",
        "shoal.bash",
        "_shoal",
        "shoal.fish",
    ] {
        assert!(folder.path().join(name).is_file(), "{name}");
    }
    let hidden = folder.path().join("shoal-capture-worker.1");
    assert!(!hidden.exists());
}

#[test]
fn the_minutes_before_a_fault_can_be_repeated() {
    let running = Running::start(SITE, |folder, command| {
        command
            .arg("--keep-incidents")
            .arg(folder.join("incidents"));
    });
    let ticks = |status: &Value| status["tick"].as_u64().unwrap_or_default();
    wait_for("ticks", || running.status().filter(|s| ticks(s) > 100));
    assert!(running.ctl(&["keep"]).status.success());
    let incident = wait_for("incident", || {
        let folders = std::fs::read_dir(running.file("incidents")).ok()?;
        let paths = folders.filter_map(|entry| Some(entry.ok()?.path()));
        paths.filter(|path| path.join("log.jsonl").is_file()).min()
    });
    let mut command = shoal();
    command.args(["simulate", "--session"]).arg(&incident);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    let events = text(&running.ctl(&["events"]));
    assert!(events.contains(r#""event":"incident_kept""#), "{events}");
}

/// A fixed bug: without a display, the status said that all was well, and no message was sent.
#[test]
fn a_missing_picture_is_a_fault() {
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("site.toml");
    std::fs::write(&site, SITE).unwrap();
    let socket = folder.path().join("shoal.sock");
    let mut child = shoal()
        .args(["run", "--camera", "synthetic:1", "--panel", "off"])
        .arg(&site)
        .arg("--control-socket")
        .arg(&socket)
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .env_remove("NOTIFY_SOCKET")
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let status = wait_for("the fault", || {
        let mut ctl = shoal();
        ctl.arg("ctl").arg("--socket").arg(&socket).arg("status");
        let output = ctl.output().unwrap();
        text(&output)
            .contains("there is no picture")
            .then_some(output)
    });
    assert_eq!(status.status.code(), Some(3));
    let text = text(&status);
    assert!(text.starts_with("picture since"), "{text}");
    assert!(
        text.contains("neither WAYLAND_DISPLAY nor DISPLAY"),
        "{text}"
    );
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert!(child.wait().unwrap().success());
}

/// A fixed bug: the whole pool stood still for good when nothing read its log, and did not end on SIGTERM.
#[test]
fn a_log_that_nothing_reads_stops_nothing() {
    let (reader, mut writer) = std::io::pipe().unwrap();
    // The pipe is full, so that the first line waits.
    std::io::Write::write_all(&mut writer, &[b'.'; 1 << 16]).unwrap();
    let mut running = Running::start(SITE, |_, command| {
        command.stderr(writer);
    });
    let tick = |running: &Running| running.status().and_then(|status| status["tick"].as_u64());
    let is_told = |status: &Value| {
        let faults = status["faults"].as_array().unwrap();
        faults.iter().any(|fault| fault["name"] == "log")
    };
    let status = wait_for("the fault", || running.status().filter(is_told));
    assert_eq!(running.ctl(&["status"]).status.code(), Some(3));
    let before = status["tick"].as_u64().unwrap();
    wait_for("a pool that goes on", || {
        tick(&running).filter(|tick| *tick > before + 60)
    });
    let pid = rustix::process::Pid::from_child(&running.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    wait_for("the end", || running.child.try_wait().unwrap());
    drop(reader);
}

/// A fixed bug: settings that need a new start could not be made effective without a console.
#[test]
fn a_restart_of_the_program_applies_what_needs_it_in_the_same_process() {
    let running = Running::start(SITE, |_, _| {});
    let edit = r#"{"command":"edit","edits":[{"document":{"kind":"site"},"path":"counting.on","change":{"do":"set","value":true}}]}"#;
    wait_for("a status", || running.status());
    assert!(running.ctl(&["send", edit]).status.success());
    let needed = |status: &Value| status["restart_needed"].as_array().map(Vec::len);
    wait_for("the restart that is needed", || {
        running.status().filter(|status| needed(status) == Some(1))
    });
    let restart = r#"{"command":"restart_program"}"#;
    assert!(running.ctl(&["send", restart]).status.success());
    wait_for("the new start", || {
        running.status().filter(|status| needed(status) == Some(0))
    });
    let counts = running.file(".shoal/visitors.sqlite");
    wait_for("the counts", || counts.is_file().then_some(()));
    let command = std::fs::read_to_string(format!("/proc/{}/cmdline", running.child.id())).unwrap();
    assert!(
        command.ends_with("--child-restarts\u{0}1\u{0}"),
        "{command}"
    );
}

/// A fixed bug: a pool that was closed by hand came back open after a power cut, and a duration was not possible.
#[test]
fn a_state_by_hand_is_back_after_a_power_cut_with_its_end() {
    let mut running = Running::start(SITE, |_, _| {});
    wait_for("a status", || running.status());
    for (arguments, has_end) in [
        (&["closed", "tomorrow"][..], true),
        (&["dark", "10min"], true),
        (&["closed", "forever"], false),
    ] {
        assert!(running.ctl(arguments).status.success());
        let state = arguments[0];
        let is_set = |status: &Value| {
            status["schedule"]["by_hand"]["state"] == state
                && status["schedule"]["by_hand"]["until"].is_string() == has_end
        };
        let said = wait_for(state, || running.status().filter(is_set));
        running.kill_and_start();
        let status = wait_for("the new start", || {
            running
                .status()
                .filter(|status| status["tick"].as_u64() > Some(0))
        });
        assert_eq!(status["schedule"]["by_hand"], said["schedule"]["by_hand"]);
        assert_eq!(status["schedule"]["state"], state, "{arguments:?}");
    }
}
