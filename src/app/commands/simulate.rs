//! The command `shoal simulate`: its options, and what it runs.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;

use super::arguments::{PoolArguments, SiteArguments, seconds};
use super::keep_inputs;
use crate::app::simulate::{self, CommandScript, SimulateOptions};
use crate::app::site_setup::{load_documents, load_site};
use crate::files::{OutputKind, check_output, save_file};
use crate::records::is_standard_output;
use crate::records::{ReplayOptions, replay};
use crate::runtime::{print_message, stop_on_signals, text_output};
use crate::simulation::SimulationParams;
use crate::site::Site;

/// `shoal simulate`.
#[derive(Debug, Args)]
pub(in crate::app) struct SimulateArguments {
    #[command(flatten)]
    site: SiteArguments,
    #[command(flatten)]
    pool: PoolArguments,
    /// Simulated time in seconds
    #[arg(long, value_name = "N", value_parser = seconds, required_unless_present = "session")]
    seconds: Option<f64>,
    /// Replay the session in this folder, which `shoal run --log-session` wrote, and compare every second with the run
    #[arg(long, value_name = "DIR", conflicts_with_all = ["site", "scene", "shadows", "visitors", "seconds", "commands", "save_state", "load_state", "report", "report_json"])]
    session: Option<PathBuf>,
    /// Write one line per this number of ticks
    #[arg(long, value_name = "TICKS", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    every: u64,
    /// Apply the commands in this file at their ticks, one {"tick":T,"command":{…}} per line, as --log-commands writes them
    #[arg(long, value_name = "LOG.jsonl")]
    commands: Option<PathBuf>,
    /// Log the applied commands; with the same shadows, the log gives the same run again
    #[arg(long, value_name = "LOG.jsonl", requires = "commands")]
    log_commands: Option<PathBuf>,
    /// Save the state at the end, so that a later run with the same site and scene can continue from it
    #[arg(long, value_name = "STATE.json")]
    save_state: Option<PathBuf>,
    /// Continue from a saved state; its seed replaces --seed
    #[arg(long, value_name = "STATE.json")]
    load_state: Option<PathBuf>,
    /// Write the steering forces of every fish too, by the name of the action
    #[arg(long)]
    why: bool,
    /// Print a report of the life in the pool at the end: time per need and action, stillness, touches, visitors, director
    /// rules, and problems in words
    #[arg(long)]
    report: bool,
    /// Write the report as JSON
    #[arg(long, value_name = "R.json")]
    report_json: Option<PathBuf>,
    /// Output file for the agents, one JSON object per line; - for standard output
    #[arg(long, value_name = "A.jsonl", required_unless_present_any = ["report", "report_json", "session"])]
    out: Option<PathBuf>,
}

pub(in crate::app) fn simulate(arguments: SimulateArguments) -> anyhow::Result<ExitCode> {
    if let Some(session) = arguments.session {
        let options = ReplayOptions {
            session,
            out: arguments.out,
            every: arguments.every,
            why: arguments.why,
        };
        let summary = replay(&options, &*stop_on_signals()?)?;
        print_message(&format!(
            "{} ticks with {} commands are the same as in the run; {} hashes compared, the last one is {:016x}",
            summary.ticks, summary.commands, summary.hashes, summary.last_hash
        ));
        return Ok(ExitCode::SUCCESS);
    }
    let path = arguments.site.site.as_deref();
    let (shadows, commands) = (
        arguments.pool.shadows.as_deref(),
        arguments.commands.as_deref(),
    );
    keep_inputs(
        [
            arguments.out.as_deref(),
            arguments.log_commands.as_deref(),
            arguments.report_json.as_deref(),
        ],
        [shadows, commands, path, arguments.load_state.as_deref()],
    )?;
    // A state can be continued in the same file, because it is read before it is saved.
    keep_inputs([arguments.save_state.as_deref()], [shadows, commands, path])?;
    let scene = arguments.pool.scene.as_deref();
    let (site, script): (Arc<Site>, _) = match arguments.commands {
        Some(commands) => {
            let editor = load_documents(path, scene)?;
            let script = CommandScript {
                editor: editor.clone(),
                commands,
                log: arguments.log_commands,
            };
            (Arc::clone(editor.site()), Some(script))
        }
        None => (Arc::new(load_site(path, scene)?), None),
    };
    let is_reported = arguments.report || arguments.report_json.is_some();
    let prints_lines = arguments.out.as_deref().is_some_and(is_standard_output);
    let options = SimulateOptions {
        scene: site.description(),
        simulation: SimulationParams {
            seed: arguments.pool.seed,
            threads: arguments.pool.threads,
            ..site.file.simulation.clone()
        },
        visitors: arguments.pool.visitors(),
        shadows: arguments.pool.shadows,
        seconds: arguments.seconds.unwrap_or_default(),
        every: arguments.every,
        out: arguments.out,
        report: is_reported.then(|| site.scene_name.clone()),
        why: arguments.why,
        save_state: arguments.save_state,
        load_state: arguments.load_state,
        commands: script,
    };
    let cannot_be_saved = |path: &Path| format!("{}: the report cannot be saved", path.display());
    if let Some(path) = &arguments.report_json {
        check_output(path, OutputKind::File).with_context(|| cannot_be_saved(path))?;
    }
    let report = simulate::simulate(&options, &stop_on_signals()?)?;
    if let (Some(report), Some(path)) = (&report, &arguments.report_json) {
        save_file(path, serde_json::to_string_pretty(report)?.as_bytes())
            .with_context(|| cannot_be_saved(path))?;
    }
    if let Some(report) = report.filter(|_| arguments.report) {
        // With --out -, standard output contains JSON lines only.
        if prints_lines {
            print_message(&report.to_string());
        } else {
            write!(text_output(), "{report}")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
