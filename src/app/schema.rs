//! `shoal schema`: the JSON Schema of every kind of configuration file, as one object.

use std::io::Write;
use std::process::ExitCode;

use crate::site;

/// Prints the schemas.
///
/// # Errors
/// When standard output cannot be written.
pub fn schema() -> anyhow::Result<ExitCode> {
    let text = serde_json::to_string_pretty(&site::schemas())?;
    writeln!(std::io::stdout().lock(), "{text}")?;
    Ok(ExitCode::SUCCESS)
}
