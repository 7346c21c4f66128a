//! `shoal schema`: prints the JSON Schema of one kind of configuration file for text editors, or of all kinds as one JSON object.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::runtime::text_output;
use crate::site;

/// `shoal schema`.
#[derive(Debug, Args)]
pub(in crate::app) struct SchemaArguments {
    /// Kind of file. Without it, an object with the schemas of all kinds, as the panel uses them
    #[arg(value_parser = PossibleValuesParser::new(["site", "scene", "species", "calibration"]))]
    kind: Option<String>,
}

pub(in crate::app) fn schema(arguments: &SchemaArguments) -> anyhow::Result<ExitCode> {
    let schema = match &arguments.kind {
        Some(kind) => site::editor_schema(kind).unwrap_or_default(),
        None => site::schemas(),
    };
    writeln!(text_output(), "{}", serde_json::to_string_pretty(&schema)?)?;
    Ok(ExitCode::SUCCESS)
}
