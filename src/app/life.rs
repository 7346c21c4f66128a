//! Simulates many runs at the same time, each with visitors that follow a program and with staff who start the rules that only a
//! command starts, and reports the life in them. This is `shoal life`.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::Context;
use parking_lot::Mutex;

use crate::life::{
    LifeRecorder, LifeReport, RunName, StaffScript, Survey, VisitorProgram, VisitorScript,
};
use crate::runtime::print_message;
use crate::simulation::{SceneDescription, Simulation, SimulationParams};

/// Options of [`survey_life`].
#[derive(Clone, Debug)]
pub struct LifeOptions {
    /// Name and description of each scene.
    pub scenes: Vec<(String, SceneDescription)>,
    /// Programs of the visitors.
    pub programs: Vec<VisitorProgram>,
    /// Number of runs of each scene and program. Their seeds are 1, 2 and so on.
    pub seeds: u64,
    /// Simulated time of each run.
    pub seconds: f64,
    /// Parameters of the simulation; the seed is not used.
    pub simulation: SimulationParams,
    /// Number of runs at the same time; at least 1.
    pub jobs: usize,
}

/// Runs all combinations of scene, program and seed. If `stop` is set, only the runs that are complete are reported. Prints a
/// line for each complete run.
///
/// # Errors
/// When a scene cannot be simulated, or a thread cannot be started.
pub fn survey_life(options: &LifeOptions, stop: &AtomicBool) -> anyhow::Result<Survey> {
    let mut runs = Vec::new();
    for (scene, description) in &options.scenes {
        for &program in &options.programs {
            for seed in 1..=options.seeds {
                let name = RunName {
                    scene: scene.clone(),
                    program: Some(program),
                    seed,
                    seconds: options.seconds,
                };
                runs.push((name, description));
            }
        }
    }
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<anyhow::Result<Option<LifeReport>>>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| -> anyhow::Result<()> {
        for number in 0..options.jobs.clamp(1, runs.len().max(1)) {
            let work = || {
                while let Some((name, scene)) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = run_life(name, scene, &options.simulation, stop);
                    let failed = result.is_err();
                    results.lock().push(result);
                    if failed || stop.load(Ordering::Relaxed) {
                        break;
                    }
                }
            };
            std::thread::Builder::new()
                .name(format!("life-{number}"))
                .spawn_scoped(scope, work)
                .context("a thread cannot be started")?;
        }
        Ok(())
    })?;
    let reports: anyhow::Result<Vec<Option<LifeReport>>> =
        results.into_inner().into_iter().collect();
    Ok(Survey::new(reports?.into_iter().flatten().collect()))
}

/// Simulates one run. `None` if it was stopped.
fn run_life(
    name: &RunName,
    scene: &SceneDescription,
    params: &SimulationParams,
    stop: &AtomicBool,
) -> anyhow::Result<Option<LifeReport>> {
    let started = Instant::now();
    let params = SimulationParams {
        seed: name.seed,
        threads: 1,
        ..params.clone()
    };
    let mut simulation = Simulation::new(scene, &params)?;
    let program = name.program.unwrap_or(VisitorProgram::None);
    let mut visitors = VisitorScript::new(program, &scene.surface, name.seed, name.seconds);
    let mut staff = StaffScript::new(&simulation, name.seconds);
    let mut recorder = LifeRecorder::new(name.clone(), &simulation);
    let ticks = (name.seconds * f64::from(params.tick_hz)).round() as u64;
    for _ in 0..ticks {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let reached_secs = simulation.time_secs() + simulation.dt_secs();
        while let Some(rule) = staff.due(reached_secs) {
            simulation.start_rule(rule);
        }
        simulation.run_tick(visitors.at(reached_secs));
        recorder.record(&simulation);
    }
    let report = recorder.finish();
    let took_secs = started.elapsed().as_secs_f64();
    print_message(&format!(
        "{}: {:.0} s simulated in {took_secs:.1} s, {:.0} times real time",
        report.run(),
        report.simulated_secs,
        report.simulated_secs / took_secs.max(1e-9)
    ));
    Ok(Some(report))
}
