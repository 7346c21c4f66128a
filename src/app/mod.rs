//! Command line, threads, and conversions between modules. The only module that uses all other modules.
//!
//! In: a command line. Out: an exit code, and messages for the user on standard error. Must not: make a decision that another
//! module can make. This module converts tracks to observations, passes parameters to the other modules, and opens files.

mod announcement;
mod calibrate;
mod cli;
mod command_reader;
mod commands;
#[cfg(unix)]
mod ctl;
mod demo_video;
mod desk;
mod disk_watch;
mod floor_view;
mod frame_tracker;
mod life;
mod listener;
mod live;
mod offscreen;
mod overlay;
mod panel_stage;
mod picture_times;
mod population_trial;
mod preview;
mod run_pool;
mod simulate;
mod site_setup;
mod terminal;
mod track;
mod track_cameras;
mod tune;
mod visitor_source;

pub use calibrate::{CalibrateOptions, calibrate};
#[cfg(unix)]
pub use ctl::{CtlAnswer, CtlRequest, CtlServer};
pub use desk::{Desk, species_of};
pub use disk_watch::watch_files;
pub use frame_tracker::TrackerConfig;
pub use life::{LifeOptions, survey_life};
pub use live::{
    CALIBRATION_COMMANDS_MAX, CalibrationCommand, HallConfig, LiveCalibration, LiveCamera,
    LiveConfig, LivePool, Meters, SetupBuilder, StepAnswer,
};
pub use simulate::{CommandScript, SimulateOptions, simulate};
pub use site_setup::first_output_setup;
pub use track::{TrackOptions, TrackSummary, track};
pub use track_cameras::track_cameras;

use crate::runtime::{EXIT_REPORTED, flush_messages, print_message};

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use cli::{Arguments, Command};

/// Runs one command line. Returns the exit code: 0 for success, 1 for a rejection with a reason, 2 for wrong usage.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let words: Vec<OsString> = arguments.into_iter().collect();
    let arguments = match Arguments::try_parse_from(&words) {
        Ok(arguments) => arguments,
        Err(usage) if usage.kind() == ErrorKind::InvalidUtf8 => {
            let wrong = words.iter().find(|word| word.to_str().is_none());
            let shown = wrong.map_or_else(String::new, |word| word.to_string_lossy().into_owned());
            print_message(&format!(
                "error: the argument \"{shown}\" is not valid Unicode, and its option takes a text; rename the file"
            ));
            return ExitCode::from(2);
        }
        Err(usage) => {
            // A closed terminal is no error.
            let _ = usage.print();
            return ExitCode::from(u8::try_from(usage.exit_code()).unwrap_or(2));
        }
    };
    terminal::init_logging(arguments.log);
    let is_child = matches!(&arguments.command, Command::Run(run) if run.child_restarts.is_some());
    let words = words.get(1..).unwrap_or_default();
    let code = match cli::dispatch(arguments.command, words) {
        Ok(code) => code,
        Err(error) if terminal::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            print_message(&format!("error: {error:#}"));
            ExitCode::from(if is_child { EXIT_REPORTED } else { 1 })
        }
    };
    flush_messages();
    code
}
