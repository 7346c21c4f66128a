//! `shoal monitors`: prints the monitors that `outputs.monitor` can name, as JSON lines.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Context;

use crate::runtime::text_output;
use crate::screen::list_monitors;

pub(in crate::app) fn monitors() -> anyhow::Result<ExitCode> {
    let mut text = String::new();
    for monitor in list_monitors()? {
        text += &serde_json::to_string(&monitor)?;
        text.push('\n');
    }
    let written = text_output().write_all(text.as_bytes());
    written.context("standard output cannot be written")?;
    Ok(ExitCode::SUCCESS)
}
