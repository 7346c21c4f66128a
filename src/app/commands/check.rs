//! `shoal check`: prints all problems of a site, each with its file and line, as text or as JSON.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;

use super::arguments::SiteArguments;
use crate::runtime::text_output;
use crate::site;

/// `shoal check`.
#[derive(Debug, Args)]
pub(in crate::app) struct CheckArguments {
    #[command(flatten)]
    site: SiteArguments,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

/// Prints the report. Returns exit code 0 if the site can run, otherwise 1.
///
/// # Errors
/// When standard output cannot be written.
pub(in crate::app) fn check(arguments: &CheckArguments) -> anyhow::Result<ExitCode> {
    let report = site::check_report(arguments.site.site.as_deref());
    let mut out = text_output();
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
    } else {
        writeln!(out, "{report}")?;
    }
    Ok(ExitCode::from(u8::from(!report.is_good())))
}
