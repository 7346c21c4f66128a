//! The commands of the command line, one file per command. Each file converts its arguments to the options of the library code
//! that does the work.

mod calibrate;
mod cameras;
mod capture_worker;
mod check;
mod child_guard;
#[cfg(unix)]
mod ctl;
mod demo;
mod generate;
mod life;
mod monitors;
mod render;
mod run;
mod schedule;
mod schema;
mod simulate;
mod track;
mod visitors;

pub(super) use cameras::CamerasArguments;
pub(super) use capture_worker::CaptureWorkerArguments;
pub(super) use child_guard::ChildGuardArguments;
#[cfg(unix)]
pub(super) use ctl::CtlArguments;
pub(super) use generate::GenerateArguments;
pub(super) use schedule::ScheduleArguments;
pub(super) use visitors::VisitorsArguments;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;

use super::cli::Command;
use crate::camera::{SourceKind, SourceSpec};
use crate::files::check_not_input;
use crate::runtime::ensure_runtime_dir;

/// Checks that a command replaces none of the files that it reads.
///
/// # Errors
/// When an output is one of the inputs.
fn keep_inputs<const O: usize, const I: usize>(
    outputs: [Option<&Path>; O],
    inputs: [Option<&Path>; I],
) -> anyhow::Result<()> {
    for output in outputs.into_iter().flatten() {
        check_not_input(output, inputs.into_iter().flatten())
            .with_context(|| format!("{}: cannot be written", output.display()))?;
    }
    Ok(())
}

/// Returns the file that a camera source reads, if it reads one.
fn camera_file(source: &str, folder: &Path) -> Option<PathBuf> {
    match SourceSpec::parse(source).ok()?.kind {
        SourceKind::File(path) => Some(folder.join(path)),
        _ => None,
    }
}

/// Runs a command. `words` is the command line without the name of the program.
pub(super) fn dispatch(command: Command, words: &[OsString]) -> anyhow::Result<ExitCode> {
    if matches!(
        command,
        Command::Run(_) | Command::Demo(_) | Command::Render(_)
    ) {
        ensure_runtime_dir();
    }
    match command {
        Command::Run(arguments) => run::run(arguments, words),
        #[cfg(unix)]
        Command::Ctl(arguments) => ctl::ctl(arguments),
        Command::Demo(arguments) => demo::demo(arguments),
        Command::Track(arguments) => track::track(arguments),
        Command::Simulate(arguments) => simulate::simulate(arguments),
        Command::Life(arguments) => life::life(&arguments),
        Command::Render(arguments) => render::render(&arguments),
        Command::Calibrate(arguments) => calibrate::calibrate(arguments),
        Command::Check(arguments) => check::check(&arguments),
        Command::Schedule(arguments) => schedule::schedule(&arguments),
        Command::Visitors(arguments) => visitors::visitors(&arguments),
        Command::Generate(arguments) => generate::generate(&arguments),
        Command::Schema => schema::schema(),
        Command::Cameras(arguments) => cameras::cameras(&arguments),
        Command::Monitors => monitors::monitors(),
        Command::CaptureWorker(arguments) => capture_worker::capture_worker(&arguments),
        Command::ChildGuard(arguments) => child_guard::child_guard(&arguments),
    }
}
