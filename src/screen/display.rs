//! Checks whether there is a display on which a window can be opened. The windowing library can be started only once per
//! process, so this check is made before the library is used.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::shared_windows::ScreenBoard;
use crate::runtime::{Backoff, Supervisor, print_message};

/// First pause between two attempts to reach a display.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// Longest pause between two attempts to reach a display.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Time between two checks of the other threads and of the pause.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Checks that a display accepts a connection.
///
/// # Errors
/// The reason why no display can be used, as a sentence.
pub fn check_reachable() -> Result<(), String> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    if variable("WAYLAND_SOCKET").is_some() {
        return Ok(());
    }
    if let Some(name) = variable("WAYLAND_DISPLAY") {
        let folder = PathBuf::from(variable("XDG_RUNTIME_DIR").unwrap_or_default());
        let socket = folder.join(name);
        return connect(&socket).map_err(|error| {
            format!(
                "the Wayland display {} does not answer: {error}",
                socket.display()
            )
        });
    }
    match variable("DISPLAY") {
        Some(name) => {
            x11(&name).map_err(|error| format!("the X11 display {name} does not answer: {error}"))
        }
        None if cfg!(target_os = "linux") => {
            Err("there is no display: neither WAYLAND_DISPLAY nor DISPLAY is set".to_owned())
        }
        // Other operating systems do not name their display in a variable, so nothing is checked.
        None => Ok(()),
    }
}

/// Waits until a display answers or the program ends. The pool runs meanwhile without a picture.
pub fn wait_for_display(supervisor: &Supervisor, screen: &ScreenBoard) {
    let mut backoff = Backoff::new(FIRST_PAUSE, LONGEST_PAUSE).immediate_at_first();
    let mut was_missing = false;
    while supervisor.check() {
        if backoff.remaining(Instant::now()).is_zero() {
            match check_reachable() {
                Ok(()) => {
                    if was_missing {
                        print_message("display: found");
                    }
                    screen.set_missing("");
                    return;
                }
                Err(reason) => {
                    screen.set_missing(&reason);
                    if !std::mem::replace(&mut was_missing, true) {
                        print_message(&format!(
                            "display: {reason}; the pool runs without a picture until a display answers (with --headless it \
                             never waits for one)"
                        ));
                    }
                    backoff.record_failure(Instant::now());
                }
            }
        }
        std::thread::sleep(CHECK_INTERVAL);
    }
}

/// Whether the windowing library opens windows through X11. This is the same rule as in winit.
pub fn is_x11() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    cfg!(target_os = "linux") && !is_set("WAYLAND_SOCKET") && !is_set("WAYLAND_DISPLAY")
}

/// Connects to the X11 display with the name `[HOST]:NUMBER[.SCREEN]`.
///
/// **Source**: X(7), section DISPLAY NAMES. The paths of the sockets are those of the Xtrans library.
fn x11(name: &str) -> io::Result<()> {
    let broken = || {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            "the name of a display has the form HOST:NUMBER",
        )
    };
    let (host, rest) = name.rsplit_once(':').ok_or_else(broken)?;
    let number: u16 = rest
        .split('.')
        .next()
        .and_then(|number| number.parse().ok())
        .ok_or_else(broken)?;
    if !host.is_empty() && host != "unix" && !host.starts_with('/') {
        let port = number.checked_add(6000).ok_or_else(broken)?;
        return std::net::TcpStream::connect((host, port)).map(drop);
    }
    let mut path = String::from("/tmp/.X11-unix/X");
    // Writing to a String cannot fail.
    let _ = write!(path, "{number}");
    connect(Path::new(&path)).or_else(|error| abstract_socket(&path).map_err(|_| error))
}

#[cfg(unix)]
fn connect(socket: &Path) -> io::Result<()> {
    std::os::unix::net::UnixStream::connect(socket).map(drop)
}

#[cfg(not(unix))]
fn connect(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(target_os = "linux")]
fn abstract_socket(name: &str) -> io::Result<()> {
    use std::os::linux::net::SocketAddrExt as _;
    let address = std::os::unix::net::SocketAddr::from_abstract_name(name)?;
    std::os::unix::net::UnixStream::connect_addr(&address).map(drop)
}

#[cfg(not(target_os = "linux"))]
fn abstract_socket(_: &str) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_names_are_rejected() {
        for name in ["", "0", ":", ":x", "::", "host:70000"] {
            assert!(x11(name).is_err(), "{name}");
        }
    }

    #[test]
    fn a_missing_display_does_not_answer() {
        assert!(x11(":64999").is_err());
        assert!(x11("unix:64999.0").is_err());
        assert!(x11("127.0.0.1:59000").is_err());
    }
}
