//! The command `shoal life`: its options, and what it runs.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::arguments::{SiteArguments, VisitorsName};
use crate::app::life::{LifeOptions, survey_life};
use crate::app::site_setup::load_documents;
use crate::control::DocumentName;
use crate::life::VisitorProgram;
use crate::records::JsonLinesWriter;
use crate::runtime::{stop_on_signals, text_output};
use crate::site::{self, Editor};

/// `shoal life`.
#[derive(Debug, Args)]
pub(in crate::app) struct LifeArguments {
    #[command(flatten)]
    site: SiteArguments,
    /// Scenes, separated by commas; default: all scenes of the site
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    scenes: Vec<String>,
    /// Programs of visitors, separated by commas; default: all
    #[arg(long, value_name = "LIST", value_enum, value_delimiter = ',')]
    visitors: Vec<VisitorsName>,
    /// Number of runs of each scene and program, with the seeds 1, 2 and so on
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    /// Simulated minutes of each run
    #[arg(long, value_name = "N", default_value_t = 20.0, value_parser = minutes)]
    minutes: f64,
    /// Number of runs at the same time; default: the number of processors
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,
    /// Print the report of each run too
    #[arg(long)]
    reports: bool,
    /// Write the reports of all runs as JSON lines
    #[arg(long, value_name = "R.jsonl")]
    out: Option<PathBuf>,
}

impl LifeArguments {
    /// Returns the programs of the visitors.
    fn programs(&self) -> Vec<VisitorProgram> {
        if self.visitors.is_empty() {
            return VisitorProgram::ALL.to_vec();
        }
        self.visitors.iter().map(|name| name.program()).collect()
    }
}

fn minutes(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if (0.1..=1e5).contains(&value) => Ok(value),
        _ => Err("expected minutes, from 0.1 to 100000".to_owned()),
    }
}

/// Prints the table and the problems. Returns exit code 0 if there are no problems, otherwise 1.
///
/// # Errors
/// When the site is invalid, a scene cannot be simulated, or the output cannot be written.
pub(in crate::app) fn life(arguments: &LifeArguments) -> anyhow::Result<ExitCode> {
    let path = arguments.site.site.as_deref();
    let editor = load_documents(path, None)?;
    let names = match arguments.scenes.as_slice() {
        [] => scene_names(&editor),
        names => names.to_vec(),
    };
    let mut scenes = Vec::new();
    for name in names {
        let site =
            site::load_suited(path, &name).map_err(|problems| anyhow::anyhow!("{problems}"))?;
        scenes.push((name, site.description()));
    }
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    let options = LifeOptions {
        scenes,
        programs: arguments.programs(),
        seeds: arguments.seeds,
        seconds: arguments.minutes * 60.0,
        simulation: editor.site().file.simulation.clone(),
        jobs: arguments.jobs.map_or(available, usize::from),
    };
    let survey = survey_life(&options, &*stop_on_signals()?)?;
    if let Some(path) = &arguments.out {
        let mut lines = JsonLinesWriter::create(path)?;
        for report in survey.reports() {
            lines.write(report)?;
        }
        lines.finish()?;
    }
    let mut out = text_output();
    if arguments.reports {
        for report in survey.reports() {
            writeln!(out, "{report}")?;
        }
    }
    writeln!(out, "{survey}")?;
    let problems = survey.problems();
    for problem in &problems {
        writeln!(out, "problem: {problem}")?;
    }
    if problems.is_empty() {
        writeln!(out, "no problems")?;
    }
    Ok(ExitCode::from(u8::from(!problems.is_empty())))
}

/// Returns the names of all scenes of a site.
fn scene_names(editor: &Editor) -> Vec<String> {
    let name = |document| match document {
        DocumentName::Scene { name } => Some(name),
        _ => None,
    };
    editor.documents().into_iter().filter_map(name).collect()
}
