//! `shoal check`: all problems of a site's files, each with its place, for people or for machines.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::site;

/// What `shoal check` is asked for.
#[derive(Clone, Debug, Default)]
pub struct CheckOptions {
    /// The site file; without one the built-in demo.
    pub site: Option<PathBuf>,
    /// As JSON.
    pub json: bool,
}

/// Prints the report and returns 0 when the site can run, else 1.
///
/// # Errors
/// When standard output cannot be written.
pub fn check(options: &CheckOptions) -> anyhow::Result<ExitCode> {
    let report = site::check_report(options.site.as_deref());
    let mut out = std::io::stdout().lock();
    if options.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
    } else {
        writeln!(out, "{report}")?;
    }
    Ok(ExitCode::from(u8::from(!report.is_good())))
}
