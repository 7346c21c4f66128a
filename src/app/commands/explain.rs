//! `shoal explain`: says what a key or a kind of table of the configuration files means.

use std::io::Write as _;
use std::process::ExitCode;

use clap::Args;

use crate::runtime::text_output;
use crate::site;

/// `shoal explain`.
#[derive(Debug, Args)]
pub(in crate::app) struct ExplainArguments {
    /// A key, action, condition or effect: `evade_shadow`, `evade_shadow.weight`, `look.caustics`. Without it, all are listed
    name: Option<String>,
}

pub(in crate::app) fn explain(arguments: &ExplainArguments) -> anyhow::Result<ExitCode> {
    let text = site::explain(arguments.name.as_deref()).map_err(anyhow::Error::msg)?;
    write!(text_output(), "{text}")?;
    Ok(ExitCode::SUCCESS)
}
