//! `shoal schema`: prints the JSON Schema of all configuration files as one JSON object.

use std::io::Write;
use std::process::ExitCode;

use crate::runtime::text_output;
use crate::site;

pub(in crate::app) fn schema() -> anyhow::Result<ExitCode> {
    let text = serde_json::to_string_pretty(&site::schemas())?;
    writeln!(text_output(), "{text}")?;
    Ok(ExitCode::SUCCESS)
}
