//! `shoal simulate`.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;

use super::keep_inputs;
use crate::app::cli::SimulateArguments;
use crate::app::simulate::{self, CommandScript, SimulateOptions};
use crate::app::site_setup::{load_documents, load_site};
use crate::files::{OutputKind, check_output, save_file};
use crate::records::is_standard_output;
use crate::records::{ReplayOptions, replay};
use crate::runtime::{print_message, stop_on_signals};
use crate::simulation::SimulationParams;
use crate::site::Site;

pub(super) fn simulate(arguments: SimulateArguments) -> anyhow::Result<ExitCode> {
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
            write!(std::io::stdout().lock(), "{report}")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
