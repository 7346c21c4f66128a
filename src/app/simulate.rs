//! Runs the simulation without a picture, as fast as possible. Reads tracks, and writes lines of agents. This is `shoal
//! simulate`.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use anyhow::{Context, bail};

use super::command_reader::CommandReader;
use super::desk::Desk;
use super::visitor_source::VisitorSource;
use crate::files::{OutputKind, check_output, save_file};
use crate::life::{LifeRecorder, LifeReport, RunName, VisitorProgram};
use crate::records::{JsonLinesWriter, add_forces, agents_line};
use crate::runtime::{StopFlag, print_message};
use crate::simulation::{SceneDescription, Simulation, SimulationParams};
use crate::site::Editor;
use crate::world::Snapshot;

/// Options of [`simulate`].
#[derive(Clone, Debug)]
pub struct SimulateOptions {
    /// Description of the pool.
    pub scene: SceneDescription,
    /// Tick rate, seed and number of threads.
    pub simulation: SimulationParams,
    /// File of tracks. Replaces the program of the visitors.
    pub shadows: Option<PathBuf>,
    /// Program of the visitors; `None` for the visitors of the file of tracks only.
    pub visitors: Option<VisitorProgram>,
    /// Simulated time in seconds.
    pub seconds: f64,
    /// Number of ticks from one line to the next; 0 is the same as 1.
    pub every: u64,
    /// Output file; `-` is standard output, `None` writes no lines.
    pub out: Option<PathBuf>,
    /// Name of the scene in the report of the life in the pool; `None` for no report.
    pub report: Option<String>,
    /// Whether the lines contain the steering forces, by the name of the action.
    pub why: bool,
    /// File in which the state is saved at the end; `None` if it is not saved.
    pub save_state: Option<PathBuf>,
    /// File with the state from which the simulation continues; `None` for a new pool.
    pub load_state: Option<PathBuf>,
    /// Commands that are applied while the simulation runs.
    pub commands: Option<CommandScript>,
}

/// Commands for a simulation, with the documents that they change.
#[derive(Clone, Debug)]
pub struct CommandScript {
    /// The documents from which the pool was built.
    pub editor: Editor,
    /// File of commands, one [`crate::control::CommandLine`] per line.
    pub commands: PathBuf,
    /// File in which applied commands are logged; `None` if they are not logged.
    pub log: Option<PathBuf>,
}

/// Applies the commands of a script when they are due.
struct CommandPlayer {
    desk: Desk,
    commands: CommandReader,
}

impl CommandPlayer {
    fn open(script: &CommandScript, stop: &StopFlag) -> anyhow::Result<Self> {
        let mut desk = Desk::new(script.editor.clone());
        if let Some(path) = &script.log {
            desk.log_to(path)?;
        }
        Ok(Self {
            desk,
            commands: CommandReader::open(&script.commands, stop)?,
        })
    }

    /// Applies all commands that are due before the next tick. A rejected command is reported and changes nothing.
    fn apply_due(&mut self, simulation: &mut Simulation) -> anyhow::Result<()> {
        while let Some(line) = self.commands.take_due(simulation.tick())? {
            if let Err(problems) = self.desk.apply_to(&line.command, simulation) {
                print_message(&format!(
                    "warning: the command at tick {} was rejected:\n{problems}",
                    line.tick
                ));
            }
        }
        Ok(())
    }
}

/// Runs the simulation until its time is over or `stop` is set. Writes the agents of every tick, or of every n-th tick.
/// Returns the report if the options ask for one.
///
/// # Errors
/// When the pool cannot be built, the tracks are invalid, or a file cannot be written. Lines that were written before an
/// error stay.
pub fn simulate(options: &SimulateOptions, stop: &StopFlag) -> anyhow::Result<Option<LifeReport>> {
    if !(options.seconds.is_finite() && options.seconds >= 0.0) {
        bail!(
            "--seconds {}: give a finite number that is 0 or greater",
            options.seconds
        );
    }
    if let Some(path) = &options.save_state {
        check_output(path, OutputKind::File).with_context(|| cannot_be_saved(path))?;
    }
    let mut simulation = start_simulation(options)?;
    let mut visitors = VisitorSource::open(
        options.shadows.as_deref(),
        options.visitors,
        &options.scene.surface,
        (options.simulation.seed, options.seconds),
        stop,
    )?;
    simulation.record_forces(options.why);
    let mut player = (options.commands.as_ref())
        .map(|script| CommandPlayer::open(script, stop))
        .transpose()?;
    let mut output = RunOutput {
        lines: (options.out.as_deref())
            .map(JsonLinesWriter::create)
            .transpose()?,
        recorder: recorder(options, &simulation),
    };
    let result = run_ticks(
        options,
        &mut simulation,
        &mut visitors,
        (&mut player, &mut output),
        stop,
    );
    if let Some(lines) = output.lines {
        lines.finish()?;
    }
    if let Some(path) = &options.save_state {
        save_file(path, simulation.save()?.as_bytes()).with_context(|| cannot_be_saved(path))?;
    }
    player.map_or(Ok(()), |player| player.desk.close())?;
    result?;
    Ok(output.recorder.map(LifeRecorder::finish))
}

/// What a run writes.
struct RunOutput {
    lines: Option<JsonLinesWriter>,
    recorder: Option<LifeRecorder>,
}

fn recorder(options: &SimulateOptions, simulation: &Simulation) -> Option<LifeRecorder> {
    let scene = options.report.clone()?;
    let no_visitors = VisitorProgram::None;
    let program = options.visitors.unwrap_or(no_visitors);
    let name = RunName {
        scene,
        program: options.shadows.is_none().then_some(program),
        seed: options.simulation.seed,
        seconds: options.seconds,
    };
    Some(LifeRecorder::new(name, simulation))
}

fn cannot_be_saved(path: &Path) -> String {
    format!("{}: the state cannot be saved", path.display())
}

/// Builds a new pool, or continues from a saved state.
fn start_simulation(options: &SimulateOptions) -> anyhow::Result<Simulation> {
    let Some(path) = &options.load_state else {
        return Ok(Simulation::new(&options.scene, &options.simulation)?);
    };
    let name = || path.display().to_string();
    let text = std::fs::read_to_string(path).with_context(name)?;
    Simulation::load(&options.scene, &options.simulation, &text).with_context(name)
}

fn run_ticks(
    options: &SimulateOptions,
    simulation: &mut Simulation,
    visitors: &mut VisitorSource,
    (player, output): (&mut Option<CommandPlayer>, &mut RunOutput),
    stop: &StopFlag,
) -> anyhow::Result<()> {
    let tick_hz = f64::from(options.simulation.tick_hz);
    let ticks = (options.seconds * tick_hz).round() as u64;
    let every = options.every.max(1);
    let mut snapshot = Snapshot::default();
    let first = simulation.tick();
    for tick in first + 1..=first + ticks {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        if let Some(player) = player {
            player.apply_due(simulation)?;
        }
        // The agents of a tick react to the newest tracks that are not later than the tick.
        let observation = visitors.at(tick as f64 / tick_hz)?;
        if stop.load(Ordering::Relaxed) {
            // The stop flag may have ended the tracks.
            break;
        }
        simulation.run_tick(observation);
        if let Some(recorder) = &mut output.recorder {
            recorder.record(simulation);
        }
        let Some(lines) = &mut output.lines else {
            continue;
        };
        if !tick.is_multiple_of(every) {
            continue;
        }
        simulation.snapshot(&mut snapshot);
        let mut line = agents_line(simulation, &snapshot);
        if options.why {
            add_forces(simulation, &mut line);
        }
        lines.write(&line)?;
    }
    if simulation.quarantine_count() > 0 {
        print_message(&format!(
            "warning: {} times the state of an agent was not finite and was reset",
            simulation.quarantine_count()
        ));
    }
    Ok(())
}
