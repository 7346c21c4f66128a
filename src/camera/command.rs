//! The commands that start child processes of a source.

use std::ffi::OsString;
use std::io;
#[cfg(unix)]
use std::path::Path;
use std::path::PathBuf;
use std::process::{ChildStdout, Command};

use super::CameraError;
use super::child_group::{ChildGroup, EndBy};

/// The command that starts a capture worker or a guard.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkerCommand {
    /// The program: Shoal's own binary.
    pub program: PathBuf,
    /// Arguments before those that name the camera or the camera program.
    pub arguments: Vec<OsString>,
}

impl WorkerCommand {
    /// Returns the command `PROGRAM capture-worker`, where `program` is Shoal's own binary.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            arguments: vec!["capture-worker".into()],
        }
    }

    /// Returns the command `PROGRAM child-guard --`, where `program` is Shoal's own binary.
    pub fn guard(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            arguments: vec!["child-guard".into(), "--".into()],
        }
    }

    /// Returns the command `capture-worker` of the running program, which must be `shoal`.
    ///
    /// # Errors
    /// When the system does not report the path of the running program.
    pub fn own() -> Result<Self, CameraError> {
        let program = std::env::current_exe().map_err(|cause| CameraError::Start {
            program: "shoal".to_owned(),
            cause,
        })?;
        Ok(Self::new(program))
    }

    /// Starts a worker with `arguments` after those of this command, and returns the worker and its standard output.
    pub(super) fn start_worker(
        &self,
        arguments: &[OsString],
    ) -> io::Result<(ChildGroup, ChildStdout)> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).args(arguments);
        ChildGroup::start(command, "capture worker", EndBy::Kill)
    }

    /// Starts a camera program through this command, which must be a guard. Returns the guard and the standard output of the
    /// program. `words` are the name and the arguments of the program.
    ///
    /// # Errors
    /// When the program is not found, or cannot be started.
    pub(super) fn start_guarded(
        &self,
        words: &[String],
    ) -> Result<(ChildGroup, ChildStdout), CameraError> {
        let start = || {
            let name = words.first().map_or("", String::as_str);
            find_program(name)?;
            let mut command = Command::new(&self.program);
            command.args(&self.arguments).args(words);
            ChildGroup::start(command, name, EndBy::ClosedInput)
        };
        start().map_err(|cause| start_error(words, cause))
    }
}

/// Starts a camera program without a guard, and returns the child and its standard output. If Shoal is killed, the program
/// continues to run. `words` are the name and the arguments of the program.
///
/// # Errors
/// When the program cannot be started.
pub(super) fn start_program(words: &[String]) -> Result<(ChildGroup, ChildStdout), CameraError> {
    let name = words.first().map_or("", String::as_str);
    let mut command = Command::new(name);
    command.args(words.iter().skip(1));
    let (mut child, output) =
        ChildGroup::start(command, name, EndBy::Kill).map_err(|cause| start_error(words, cause))?;
    child.close_input();
    Ok((child, output))
}

fn start_error(words: &[String], cause: io::Error) -> CameraError {
    CameraError::Start {
        program: words.first().cloned().unwrap_or_default(),
        cause,
    }
}

/// Checks that a program exists and can be executed. `name` is a path, or the name of a file in one of the folders of `PATH`.
#[cfg(unix)]
fn find_program(name: &str) -> io::Result<()> {
    if name.contains('/') {
        return check_executable(Path::new(name));
    }
    let mut result = Err(io::Error::from(rustix::io::Errno::NOENT));
    let folders = std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/bin:/usr/bin"));
    for folder in std::env::split_paths(&folders).filter(|_| !name.is_empty()) {
        match check_executable(&folder.join(name)) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => result = Err(error),
            Err(_) => {}
        }
    }
    result
}

/// Does nothing: this system may add an ending such as `.exe` to the name, so only the start itself shows whether the program
/// exists.
#[cfg(not(unix))]
fn find_program(_: &str) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn check_executable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let metadata = std::fs::metadata(path)?;
    if metadata.is_file() && metadata.permissions().mode() & 0o111 != 0 {
        Ok(())
    } else {
        Err(io::Error::from(rustix::io::Errno::ACCESS))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_like_a_shell_finds_them() {
        find_program("sh").unwrap();
        find_program("/bin/sh").unwrap();
        let kind = |name: &str| find_program(name).unwrap_err().kind();
        assert_eq!(kind("no-such-program-xyz"), io::ErrorKind::NotFound);
        assert_eq!(kind("/no/such/program"), io::ErrorKind::NotFound);
        assert_eq!(kind("/etc/passwd"), io::ErrorKind::PermissionDenied);
        assert_eq!(kind("/tmp"), io::ErrorKind::PermissionDenied);
        assert_eq!(kind(""), io::ErrorKind::NotFound);
    }
}
