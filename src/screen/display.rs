//! Checks whether there is a display on which a window can be opened. The windowing library can be started only once per
//! process, so this check is made before the library is used.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use winit::error::EventLoopError;
use winit::event_loop::EventLoop;

use super::board::ScreenBoard;
use crate::runtime::{Backoff, Supervisor, print_message};

/// First pause between two attempts to reach a display.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// Longest pause between two attempts to reach a display.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Time between two checks of the other threads and of the pause.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// The display that accepts a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Display {
    Wayland,
    X11,
    /// The display of an operating system that does not name it in a variable, so nothing is checked.
    Unnamed,
}

/// Checks that a display accepts a connection.
///
/// # Errors
/// The reason why no display can be used, as a sentence.
pub fn check_reachable() -> Result<(), String> {
    find(variable).map(drop)
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns the display that accepts a connection: the Wayland display or, if it does not answer, the X11 display. The variable of
/// a Wayland display can be left over from a session that has ended.
fn find(variable: impl Fn(&str) -> Option<String>) -> Result<Display, String> {
    if variable("WAYLAND_SOCKET").is_some() {
        return Ok(Display::Wayland);
    }
    let wayland = variable("WAYLAND_DISPLAY").map(|name| {
        let folder = PathBuf::from(variable("XDG_RUNTIME_DIR").unwrap_or_default());
        let socket = folder.join(name);
        connect(&socket).map_err(|error| {
            let socket = socket.display();
            format!("the Wayland display {socket} does not answer: {error}")
        })
    });
    let wayland = match wayland {
        Some(Ok(())) => return Ok(Display::Wayland),
        Some(Err(reason)) => Some(reason),
        None => None,
    };
    let x11 = variable("DISPLAY").map(|name| {
        x11(&name).map_err(|error| format!("the X11 display {name} does not answer: {error}"))
    });
    match (wayland, x11) {
        (_, Some(Ok(()))) => Ok(Display::X11),
        (Some(wayland), Some(Err(x11))) => Err(format!("{wayland}, and {x11}")),
        (Some(reason), None) | (None, Some(Err(reason))) => Err(reason),
        (None, None) if cfg!(target_os = "linux") => {
            Err("there is no display: neither WAYLAND_DISPLAY nor DISPLAY is set".to_owned())
        }
        (None, None) => Ok(Display::Unnamed),
    }
}

/// Creates the event loop of the windowing library on the display that answers. The library itself prefers a Wayland display that
/// does not answer.
pub(super) fn event_loop() -> Result<EventLoop<()>, EventLoopError> {
    let mut builder = EventLoop::builder();
    #[cfg(target_os = "linux")]
    if is_x11() {
        winit::platform::x11::EventLoopBuilderExtX11::with_x11(&mut builder);
    }
    builder.build()
}

/// Waits until a display answers or the program ends. The pool runs meanwhile without a picture.
pub fn wait_for_display(supervisor: &Supervisor, screen: &ScreenBoard) {
    let mut backoff = Backoff::new(FIRST_PAUSE, LONGEST_PAUSE).immediate_at_first();
    let mut was_missing = false;
    while supervisor.check() {
        if backoff.remaining(Instant::now()).is_zero() {
            match find(variable) {
                Ok(display) => {
                    let is_stale = display == Display::X11 && variable("WAYLAND_DISPLAY").is_some();
                    if is_stale {
                        print_message(
                            "display: the Wayland display does not answer, so the X11 display is used",
                        );
                    } else if was_missing {
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

/// Whether windows are opened on an X11 display.
pub fn is_x11() -> bool {
    find(variable) == Ok(Display::X11)
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

    /// A fixed bug: with a Wayland display of an old session, there was no picture, although the X11 display answered.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_stale_wayland_display_gives_way_to_the_x11_display() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let listen = |name| std::os::unix::net::UnixListener::bind(path(name)).unwrap();
        let _living = listen("living");
        drop(listen("dead"));
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = server.local_addr().unwrap().port();
        let Some(number) = port.checked_sub(6000) else {
            return;
        };
        let answering = format!("127.0.0.1:{number}");
        for (wayland, x11, found) in [
            (
                Some("living"),
                Some(answering.as_str()),
                Ok(Display::Wayland),
            ),
            (Some("dead"), Some(&answering), Ok(Display::X11)),
            (Some("absent"), Some(&answering), Ok(Display::X11)),
            (None, Some(&answering), Ok(Display::X11)),
            (Some("dead"), None, Err("the Wayland display")),
            (
                Some("dead"),
                Some("127.0.0.1:x"),
                Err("and the X11 display"),
            ),
            (None, None, Err("there is no display")),
        ] {
            let variable = |name: &str| match name {
                "XDG_RUNTIME_DIR" => Some(path("")),
                "WAYLAND_DISPLAY" => wayland.map(str::to_owned),
                "DISPLAY" => x11.map(str::to_owned),
                _ => None,
            };
            match (find(variable), found) {
                (Err(reason), Err(part)) => assert!(reason.contains(part), "{reason}"),
                (display, found) => assert_eq!(display.map_err(|_| ""), found),
            }
        }
    }
}
