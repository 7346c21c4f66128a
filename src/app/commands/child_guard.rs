//! `shoal child-guard`: runs the program of a `command:` source, or the one that announces the panel, and ends it together with Shoal.
//! Started by Shoal itself, not by users.

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;

#[cfg(target_os = "linux")]
use crate::runtime::become_guarded_program;
use crate::runtime::run_child_guard;

/// `shoal child-guard`.
#[derive(Debug, Args)]
pub(in crate::app) struct ChildGuardArguments {
    /// The process id of the guard that has started this process, which then becomes the program
    #[arg(long)]
    #[cfg(target_os = "linux")]
    guard: Option<u32>,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

/// Runs the program. Returns only if the program cannot be started.
pub(in crate::app) fn child_guard(arguments: &ChildGuardArguments) -> anyhow::Result<ExitCode> {
    let program = arguments.words.first().cloned().unwrap_or_default();
    #[cfg(target_os = "linux")]
    let error = match arguments.guard {
        Some(guard) => become_guarded_program(guard, &arguments.words),
        None => run_child_guard(&arguments.words),
    };
    #[cfg(not(target_os = "linux"))]
    let error = run_child_guard(&arguments.words);
    Err(error).with_context(|| format!("'{}' cannot be started", program.display()))
}
