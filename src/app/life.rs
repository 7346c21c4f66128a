//! Simulates many runs at the same time, each with visitors that follow a program and with staff who start the rules that only a
//! command starts, and reports the life in them. This is `shoal life`.

use std::collections::BTreeMap;
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
    let crew = Crew {
        simulation: &options.simulation,
        jobs: options.jobs,
        stop,
        announce: &|report, took_secs| {
            print_message(&format!(
                "{}: {:.0} s simulated in {took_secs:.1} s, {:.0} times real time",
                report.run(),
                report.simulated_secs,
                report.simulated_secs / took_secs.max(1e-9)
            ));
        },
    };
    let reports = run_lives(&runs, &crew)?;
    Ok(Survey::new(reports.into_iter().flatten().collect()))
}

/// How runs are simulated.
pub(super) struct Crew<'a> {
    /// Parameters of the simulation; the seed is not used.
    pub(super) simulation: &'a SimulationParams,
    /// Number of runs at the same time.
    pub(super) jobs: usize,
    /// Ends the runs.
    pub(super) stop: &'a AtomicBool,
    /// Gets each complete report, with the time that its run took, in seconds.
    pub(super) announce: &'a (dyn Fn(&LifeReport, f64) + Sync),
}

/// Simulates runs on several threads. Returns their reports in the same order; `None` for a run that was stopped.
///
/// # Errors
/// When a scene cannot be simulated, or a thread cannot be started.
pub(super) fn run_lives(
    runs: &[(RunName, &SceneDescription)],
    crew: &Crew<'_>,
) -> anyhow::Result<Vec<Option<LifeReport>>> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| -> anyhow::Result<()> {
        for number in 0..crew.jobs.clamp(1, runs.len().max(1)) {
            let work = || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some((name, scene)) = runs.get(index) else {
                        break;
                    };
                    let result = run_life(name, scene, crew);
                    let failed = result.is_err();
                    results.lock().insert(index, result);
                    if failed || crew.stop.load(Ordering::Relaxed) {
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
    let mut results = results.into_inner();
    (0..runs.len())
        .map(|index| results.remove(&index).unwrap_or(Ok(None)))
        .collect()
}

/// Simulates one run. `None` if it was stopped.
fn run_life(
    name: &RunName,
    scene: &SceneDescription,
    crew: &Crew<'_>,
) -> anyhow::Result<Option<LifeReport>> {
    let started = Instant::now();
    let params = SimulationParams {
        seed: name.seed,
        threads: 1,
        ..crew.simulation.clone()
    };
    let mut simulation = Simulation::new(scene, &params)?;
    let program = name.program.unwrap_or(VisitorProgram::None);
    let mut visitors = VisitorScript::new(program, &scene.surface, name.seed, name.seconds);
    let mut staff = StaffScript::new(&simulation, name.seconds);
    let mut recorder = LifeRecorder::new(name.clone(), &simulation);
    let ticks = (name.seconds * f64::from(params.tick_hz)).round() as u64;
    for _ in 0..ticks {
        if crew.stop.load(Ordering::Relaxed) {
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
    (crew.announce)(&report, started.elapsed().as_secs_f64());
    Ok(Some(report))
}
