//! `shoal monitors`: what `outputs.monitor` may name, a JSON object a line.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Context;

use super::live::monitors::list;

pub(super) fn monitors() -> anyhow::Result<ExitCode> {
    let mut text = String::new();
    for monitor in list()? {
        text += &serde_json::to_string(&monitor)?;
        text.push('\n');
    }
    let written = std::io::stdout().lock().write_all(text.as_bytes());
    written.context("standard output cannot be written")?;
    Ok(ExitCode::SUCCESS)
}
