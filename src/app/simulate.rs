//! `shoal simulate`: the pool alone, as fast as it goes: tracks in, a line of agents for every so many ticks out.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, bail};

use super::desk::{CommandLog, Desk};
use super::lines::LinesOut;
use super::tell;
use super::tracks_file::TracksFile;
use crate::config::save::save;
use crate::control::lines::{AgentLine, AgentsLine, ShadowLine};
use crate::simulation::{SceneDescription, Simulation, SimulationParams};
use crate::site::Editor;
use crate::world::{Shadow, Snapshot};

/// What `shoal simulate` is asked for, with the site already loaded.
#[derive(Clone, Debug)]
pub struct SimulateOptions {
    /// The pool.
    pub scene: SceneDescription,
    /// Tick, seed and threads.
    pub simulation: SimulationParams,
    /// File of shadow tracks; without it nobody is there.
    pub shadows: Option<PathBuf>,
    /// How long, in the pool's time.
    pub seconds: f64,
    /// A line for every so many ticks; 0 counts as 1.
    pub every: u64,
    /// Where the lines go; `-` is standard output.
    pub out: PathBuf,
    /// Whether the lines say why: the forces by the names of their actions.
    pub why: bool,
    /// Where the state is saved at the end.
    pub save_state: Option<PathBuf>,
    /// The state to go on from.
    pub load_state: Option<PathBuf>,
    /// Commands that are told while it runs.
    pub told: Option<Told>,
}

/// Commands for a run, and what they change.
#[derive(Clone, Debug)]
pub struct Told {
    /// The documents that the pool was made from.
    pub editor: Editor,
    /// File of commands, a [`crate::control::CommandLine`] a line.
    pub commands: PathBuf,
    /// Where those that were done are logged.
    pub log: Option<PathBuf>,
}

/// Commands on their way to the pool.
struct Telling {
    desk: Desk,
    commands: CommandLog,
}

impl Telling {
    fn open(told: &Told) -> anyhow::Result<Self> {
        let mut desk = Desk::new(told.editor.clone());
        if let Some(path) = &told.log {
            desk.log_to(path)?;
        }
        Ok(Self {
            desk,
            commands: CommandLog::open(&told.commands)?,
        })
    }

    /// Does what is due before the next tick.
    fn tell(&mut self, simulation: &mut Simulation) -> anyhow::Result<()> {
        while let Some(line) = self.commands.due(simulation.tick())? {
            if let Err(problems) = self.desk.obey(&line.command, simulation) {
                tell(&format!(
                    "warning: the command at tick {} was refused:\n{problems}",
                    line.tick
                ));
            }
        }
        Ok(())
    }
}

/// Lets the pool live and writes what its agents do, until the time is over or `stop` is set.
///
/// # Errors
/// When the pool cannot be made, the tracks are broken, or the lines cannot be written. Lines written before stay.
pub fn simulate(options: &SimulateOptions, stop: &AtomicBool) -> anyhow::Result<()> {
    if !(options.seconds.is_finite() && options.seconds >= 0.0) {
        bail!(
            "--seconds {}: give a number that is not negative",
            options.seconds
        );
    }
    let mut simulation = begin(options)?;
    let mut tracks = TracksFile::open_or_nobody(options.shadows.as_deref())?;
    simulation.record_forces(options.why);
    let mut telling = options.told.as_ref().map(Telling::open).transpose()?;
    let mut out = LinesOut::create(&options.out)?;
    let result = run(
        options,
        &mut simulation,
        &mut tracks,
        (&mut telling, &mut out),
        stop,
    );
    out.finish()?;
    if let Some(path) = &options.save_state {
        save(path, simulation.save().as_bytes())
            .with_context(|| format!("the state cannot be saved to {}", path.display()))?;
    }
    telling.map_or(Ok(()), |telling| telling.desk.close())?;
    result
}

/// The pool: a fresh one, or one that goes on from a saved state.
fn begin(options: &SimulateOptions) -> anyhow::Result<Simulation> {
    let Some(path) = &options.load_state else {
        return Ok(Simulation::new(&options.scene, &options.simulation)?);
    };
    let named = || path.display().to_string();
    let text = std::fs::read_to_string(path).with_context(named)?;
    Simulation::load(&options.scene, &options.simulation, &text).with_context(named)
}

fn run(
    options: &SimulateOptions,
    simulation: &mut Simulation,
    tracks: &mut TracksFile,
    (telling, out): (&mut Option<Telling>, &mut LinesOut),
    stop: &AtomicBool,
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
        if let Some(telling) = telling {
            telling.tell(simulation)?;
        }
        // The line of a tick shows what its agents reacted to: the newest tracks not later than itself.
        simulation.run_tick(tracks.at(tick as f64 / tick_hz)?);
        if !tick.is_multiple_of(every) {
            continue;
        }
        simulation.snapshot(&mut snapshot);
        let mut line = agents_line(simulation, &snapshot);
        if options.why {
            explain(simulation, &mut line);
        }
        out.write(&line)?;
    }
    if simulation.quarantine_count() > 0 {
        tell(&format!(
            "warning: {} times an agent's state was not finite and was put back",
            simulation.quarantine_count()
        ));
    }
    Ok(())
}

/// The line of a tick.
pub fn agents_line(simulation: &Simulation, snapshot: &Snapshot) -> AgentsLine {
    let species = &simulation.world().species;
    let agents = snapshot.agents.iter().enumerate();
    AgentsLine {
        tick: snapshot.tick,
        time_secs: snapshot.time_secs,
        agents: agents
            .map(|(index, pose)| AgentLine {
                id: pose.id,
                species: species[usize::from(pose.species)].name.clone(),
                position_m: pose.position_m.to_array(),
                velocity_mps: pose.velocity_mps.to_array(),
                radius_m: pose.radius_m,
                need: simulation.active_need(index).to_owned(),
                actions: simulation
                    .active_actions(index)
                    .map(str::to_owned)
                    .collect(),
                boost: pose.boost,
                forces: None,
            })
            .collect(),
        shadows: snapshot.shadows.iter().map(shadow_line).collect(),
    }
}

/// Adds to every agent why it does what it does.
fn explain(simulation: &Simulation, line: &mut AgentsLine) {
    for (index, agent) in line.agents.iter_mut().enumerate() {
        let mut forces = BTreeMap::new();
        for (name, force) in simulation.forces(index) {
            let sum: &mut [f32; 3] = forces.entry(name.to_owned()).or_default();
            *sum = (glam::Vec3::from(*sum) + force).to_array();
        }
        agent.forces = Some(forces);
    }
}

/// A shadow as it is written: millimeters, milliseconds.
fn shadow_line(shadow: &Shadow) -> ShadowLine {
    let round = |value: f32| (f64::from(value) * 1e4).round() / 1e4;
    let pair = |p: glam::Vec2| [round(p.x), round(p.y)];
    ShadowLine {
        id: shadow.id,
        x_m: round(shadow.centroid_m.x),
        z_m: round(shadow.centroid_m.y),
        foot_m: pair(shadow.foot_m),
        radius_m: round(shadow.radius_m),
        vx_mps: round(shadow.velocity_mps.x),
        vz_mps: round(shadow.velocity_mps.y),
        area_m2: round(shadow.area_m2),
        age_secs: round(shadow.age_secs),
        still_secs: round(shadow.still_secs),
        contour_m: shadow.outline_m.iter().copied().map(pair).collect(),
        on_surface: true,
    }
}
