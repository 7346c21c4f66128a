//! `shoal check`: prints all problems of a site, each with its file and line, as text or as JSON.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use clap::Args;

use super::arguments::SiteArguments;
use crate::config;
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
    /// List who lives in each scene: species, named individuals, the members of each group; and its places and rules
    #[arg(long, conflicts_with = "json")]
    list: bool,
}

/// Prints the report. Returns exit code 0 if the site can run, otherwise 1.
///
/// # Errors
/// When standard output cannot be written.
pub(in crate::app) fn check(arguments: &CheckArguments) -> anyhow::Result<ExitCode> {
    let report = site::check_report(arguments.site.site.as_deref());
    let mut out = text_output();
    if arguments.list {
        write!(out, "{}", site::inhabitants(arguments.site.site.as_deref()))?;
    }
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
    } else {
        let mut texts = BTreeMap::new();
        for (word, problems) in [("error", &report.problems), ("warning", &report.warnings)] {
            for problem in problems {
                writeln!(out, "{word}: {problem}")?;
                let text = texts.entry(&problem.file).or_insert_with(|| {
                    let text = config::read_text(Path::new(&problem.file));
                    text.unwrap_or_default()
                });
                if let Some(excerpt) = problem.excerpt(text) {
                    writeln!(out, "{excerpt}")?;
                }
            }
        }
        writeln!(out, "{}", report.summary())?;
    }
    Ok(ExitCode::from(u8::from(!report.is_good())))
}
