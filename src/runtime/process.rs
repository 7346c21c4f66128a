//! Signals and environment of the process.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context;

/// Value that is set for `XDG_RUNTIME_DIR` if it is missing: an absolute path that does not exist.
#[cfg(target_os = "linux")]
const NO_RUNTIME_DIR: &str = "/nonexistent";

/// Returns a flag that is set by Ctrl-C, by SIGTERM, by SIGQUIT (Ctrl-\), and by SIGHUP (when the terminal closes). A second signal
/// of the first three ends the program at once. A second SIGHUP does not, because a closing terminal sends several.
///
/// # Errors
/// When the signal handlers cannot be installed.
pub fn stop_on_signals() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let was_asked = Arc::new(AtomicBool::new(false));
    let install = || -> std::io::Result<()> {
        use signal_hook::consts::{SIGINT, SIGTERM};
        let mut requests = vec![SIGINT, SIGTERM];
        #[cfg(unix)]
        requests.push(signal_hook::consts::SIGQUIT);
        for signal in requests {
            // First what answers the first signal: one that arrives between these lines must not be lost.
            signal_hook::flag::register(signal, Arc::clone(&stop))?;
            signal_hook::flag::register_conditional_shutdown(signal, 1, Arc::clone(&was_asked))?;
            signal_hook::flag::register(signal, Arc::clone(&was_asked))?;
        }
        // A file that reaches the limit of the process is an error of its write, which ends a recording and not the program.
        #[cfg(unix)]
        signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default())?;
        #[cfg(unix)]
        if !is_ignored(signal_hook::consts::SIGHUP) {
            signal_hook::flag::register(signal_hook::consts::SIGHUP, Arc::clone(&stop))?;
        }
        Ok(())
    };
    install().context("the signal handlers cannot be installed")?;
    Ok(stop)
}

/// Whether the parent of this process made it ignore a signal, as `nohup` does with SIGHUP.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// If `XDG_RUNTIME_DIR` is missing, restarts the program with this variable set. It is missing on machines without a desktop.
///
/// Without the variable, the Vulkan driver prints an error for every graphics device, although Shoal does not need Wayland
/// there. A process cannot change its own environment without unsafe code, so the program replaces its process by a new start
/// of itself. If that fails, the driver prints its error, which is harmless.
#[cfg(target_os = "linux")]
pub fn ensure_runtime_dir() {
    use std::os::unix::process::CommandExt as _;
    let variable = std::env::var_os("XDG_RUNTIME_DIR");
    if variable.is_some_and(|path| path.as_encoded_bytes().starts_with(b"/")) {
        return;
    }
    let Ok(program) = std::env::current_exe() else {
        return;
    };
    let error = std::process::Command::new(program)
        .args(std::env::args_os().skip(1))
        .env("XDG_RUNTIME_DIR", NO_RUNTIME_DIR)
        .exec();
    tracing::debug!(%error, "the program cannot be restarted with XDG_RUNTIME_DIR");
}

/// Does nothing, because only Linux has Wayland.
#[cfg(not(target_os = "linux"))]
pub fn ensure_runtime_dir() {}
/// Starts this program again in this process, with these arguments: same process id, parent, terminal and service. Returns only if
/// that fails.
#[cfg(unix)]
pub fn replace_process(words: &[std::ffi::OsString]) -> anyhow::Error {
    use std::os::unix::process::CommandExt as _;
    let started = std::env::current_exe().map(|path| {
        // After an upgrade of the package, the file has another content and this path a remark.
        let text = path.to_string_lossy().into_owned();
        let path = text.strip_suffix(" (deleted)").map_or(path, Into::into);
        std::process::Command::new(path).args(words).exec()
    });
    let (Ok(error) | Err(error)) = started;
    anyhow::Error::from(error).context("Shoal cannot be started again")
}

/// Ends with an error, because this system cannot replace a process.
#[cfg(not(unix))]
pub fn replace_process(_: &[std::ffi::OsString]) -> anyhow::Error {
    anyhow::anyhow!("this system cannot start Shoal again in the same process; start it by hand")
}
