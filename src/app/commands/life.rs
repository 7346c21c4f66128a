//! `shoal life`.

use std::io::Write;
use std::process::ExitCode;

use crate::app::cli::LifeArguments;
use crate::app::life::{LifeOptions, survey_life};
use crate::app::site_setup::load_documents;
use crate::control::DocumentName;
use crate::records::JsonLinesWriter;
use crate::runtime::stop_on_signals;
use crate::site::{self, Editor};

/// Prints the table and the problems. Returns exit code 0 if there are no problems, otherwise 1.
///
/// # Errors
/// When the site is invalid, a scene cannot be simulated, or the output cannot be written.
pub(super) fn life(arguments: &LifeArguments) -> anyhow::Result<ExitCode> {
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
    let mut out = std::io::stdout().lock();
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
