//! `shoal simulate`.

use std::process::ExitCode;
use std::sync::Arc;

use crate::app::cli::SimulateArguments;
use crate::app::process::stop_on_signals;
use crate::app::simulate::{self, CommandScript, SimulateOptions};
use crate::app::site_setup::{load_documents, load_site};
use crate::simulation::SimulationParams;
use crate::site::Site;

pub(super) fn simulate(arguments: SimulateArguments) -> anyhow::Result<ExitCode> {
    let path = arguments.site.site.as_deref();
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
    let options = SimulateOptions {
        scene: site.description(),
        simulation: SimulationParams {
            seed: arguments.pool.seed,
            threads: arguments.pool.threads,
            ..site.file.simulation.clone()
        },
        shadows: arguments.pool.shadows,
        seconds: arguments.pool.seconds,
        every: arguments.every,
        out: arguments.out,
        why: arguments.why,
        save_state: arguments.save_state,
        load_state: arguments.load_state,
        commands: script,
    };
    simulate::simulate(&options, &*stop_on_signals()?)?;
    Ok(ExitCode::SUCCESS)
}
