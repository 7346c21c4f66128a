//! Threads, clock, hand-off between rooms, and the command line. The only room that knows all others.
//!
//! In goes a command line, out come an exit code and, on standard error, what a person should know. Must not decide
//! what a room can decide: here tracks become observations, parameters reach their rooms, and files are opened.

pub mod calibrate;
mod cameras;
mod capture_worker;
pub mod check;
pub mod cli;
pub mod demo;
pub mod desk;
mod keeper;
mod lines;
pub mod live;
mod monitors;
pub mod observe;
pub mod render;
pub mod run;
pub mod schema;
pub mod simulate;
pub mod told;
pub mod track;
pub mod tracks_file;
pub mod watch;

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use anyhow::{Context, anyhow};
use clap::Parser;

use crate::calibration::{Calibration, CalibrationParams};
use crate::camera::SourceSpec;
use crate::config::read_text;
use crate::render::{OutputParams, OverlayOptions, RenderSetup, StaticShape};
use crate::simulation::{Simulation, SimulationParams};
use crate::site::{self, Editor, Site};
use crate::world::{ObstacleParams, OverlayLayer, OverlayLayers, Snapshot};

use cli::{
    Arguments, CalibrateArguments, Command, DemoArguments, RenderArguments, RunArguments,
    SimulateArguments, SiteArguments, TrackArguments,
};
use live::capture::AtEnd;
use live::window::WindowWish;
use live::{Plan, RecordPlan, display};
use run::{Documents, Ended, PictureOptions, RunOptions};
use tracks_file::TracksFile;

/// How long the demo is where it is drawn into a folder.
const DEMO_SECS: f64 = 10.0;

/// Runs one command line and returns its exit code: 0 done, 1 refused with a reason, 2 wrong usage.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let words: Vec<OsString> = arguments.into_iter().collect();
    let arguments = match Arguments::try_parse_from(&words) {
        Ok(arguments) => arguments,
        Err(usage) => {
            // Where the terminal is gone there is nobody left to tell.
            let _ = usage.print();
            return ExitCode::from(u8::try_from(usage.exit_code()).unwrap_or(2));
        }
    };
    listen(arguments.log);
    let is_kept = matches!(&arguments.command, Command::Run(run) if run.kept.is_some());
    match dispatch(arguments.command, words.get(1..).unwrap_or_default()) {
        Ok(code) => code,
        // Whoever reads the output has read enough (`shoal schema | head`).
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            tell(&format!("error: {error:#}"));
            ExitCode::from(if is_kept { keeper::TOLD } else { 1 })
        }
    }
}

fn dispatch(command: Command, words: &[OsString]) -> anyhow::Result<ExitCode> {
    match command {
        Command::Run(arguments) => run_command(arguments, words),
        Command::Demo(arguments) => demo_command(arguments),
        Command::Track(arguments) => track_command(arguments),
        Command::Simulate(arguments) => simulate_command(arguments),
        Command::Render(arguments) => render_command(&arguments),
        Command::Calibrate(arguments) => calibrate_command(arguments),
        Command::Check(arguments) => check::check(&check::CheckOptions {
            site: arguments.site.site,
            json: arguments.json,
        }),
        Command::Schema => schema::schema(),
        Command::Cameras(arguments) => cameras::cameras(&arguments),
        Command::Monitors => monitors::monitors(),
        Command::CaptureWorker(arguments) => capture_worker::capture_worker(&arguments),
    }
}

/// Loads a site; its warnings are told, its problems are the error.
fn load_site(site: &SiteArguments, scene: Option<&str>) -> anyhow::Result<Site> {
    let site = site::load(site.site.as_deref(), scene).map_err(|problems| anyhow!("{problems}"))?;
    for warning in &site.warnings {
        tell(&format!("warning: {warning}"));
    }
    Ok(site)
}

fn track_command(arguments: TrackArguments) -> anyhow::Result<ExitCode> {
    let site = load_site(&arguments.site, None)?;
    let named = arguments
        .calibration
        .as_deref()
        .map(read_calibration)
        .transpose()?;
    let (source, folder) = camera_of(&site, arguments.camera);
    let options = track::TrackOptions {
        source,
        folder,
        fast: arguments.fast || site.file.camera.fast,
        fps: arguments.fps.or(site.file.camera.fps),
        camera: site.file.camera.clone(),
        seconds: arguments.seconds,
        calibration: named.or(site.calibration),
        surface: site.file.surface,
        vision: site.file.vision,
        drift_max_m: site.file.calibration.drift_max_m,
        out: arguments.out,
        debug: arguments.debug,
    };
    track::track(&options, &*stop_on_signals()?)?;
    Ok(ExitCode::SUCCESS)
}

fn read_calibration(path: &Path) -> anyhow::Result<Calibration> {
    let text = read_text(path).map_err(|problem| anyhow!("{problem}"))?;
    Calibration::parse(&text, &path.display().to_string()).map_err(|problems| anyhow!("{problems}"))
}

fn simulate_command(arguments: SimulateArguments) -> anyhow::Result<ExitCode> {
    let site = load_site(&arguments.site, arguments.pool.scene.as_deref())?;
    let told = match arguments.commands {
        Some(commands) => Some(simulate::Told {
            editor: site::Editor::open(
                arguments.site.site.as_deref(),
                arguments.pool.scene.as_deref(),
            )
            .map_err(|problems| anyhow!("{problems}"))?,
            commands,
            log: arguments.log_commands,
        }),
        None => None,
    };
    let options = simulate::SimulateOptions {
        scene: site.description(),
        simulation: SimulationParams {
            seed: arguments.pool.seed,
            threads: arguments.pool.threads,
            ..site.file.simulation
        },
        shadows: arguments.pool.shadows,
        seconds: arguments.pool.seconds,
        every: arguments.every,
        out: arguments.out,
        why: arguments.why,
        save_state: arguments.save_state,
        load_state: arguments.load_state,
        told,
    };
    simulate::simulate(&options, &*stop_on_signals()?)?;
    Ok(ExitCode::SUCCESS)
}

fn render_command(arguments: &RenderArguments) -> anyhow::Result<ExitCode> {
    let site = load_site(&arguments.site, arguments.pool.scene.as_deref())?;
    let mut tracks = TracksFile::open_or_nobody(arguments.pool.shadows.as_deref())?;
    let mut simulation = pool(&site, arguments.pool.seed, arguments.pool.threads)?;
    let mut setup = picture(site, arguments.size);
    setup.overlay_options = arguments.marks.wish();
    let layers = arguments.marks.layers();
    simulation.record_forces(layers.has(OverlayLayer::Force));
    let advance = |snapshot: &mut Snapshot| {
        let reached_secs = simulation.time_secs() + simulation.dt_secs();
        simulation.run_tick(tracks.at(reached_secs)?);
        simulation.snapshot(snapshot);
        snapshot.overlay.clear();
        simulation.fill_overlay(layers, &mut snapshot.overlay);
        Ok(())
    };
    let options = render::RenderOptions {
        fps: arguments.fps,
        seconds: arguments.pool.seconds,
        pictures: vec![render::Picture {
            path: arguments.out.clone(),
            every: 1,
        }],
    };
    let rendered = render::render(&options, setup, advance, &*stop_on_signals()?)?;
    tell(&format!(
        "{} frames drawn on {}: {}",
        rendered.frames,
        rendered.adapter,
        arguments.out.display()
    ));
    Ok(ExitCode::SUCCESS)
}

fn run_command(arguments: RunArguments, words: &[OsString]) -> anyhow::Result<ExitCode> {
    let stop = stop_on_signals()?;
    match arguments.kept {
        Some(_) => keeper::end_with_parent(),
        None if arguments.headless => {}
        None => return keeper::keep(&std::env::current_exe()?, words, &stop),
    }
    let site = load_site(&arguments.site, arguments.scene.as_deref())?;
    // What was recorded before a crash is not written over.
    let is_first = arguments.kept.unwrap_or(0) == 0;
    let record = arguments
        .record
        .filter(|_| is_first)
        .map(|path| RecordPlan {
            path,
            secs: arguments.record_secs,
        });
    let plan = Plan {
        layers: arguments.marks.layers(),
        ..plan(&site, arguments.camera, AtEnd::Stay, record)?
    };
    let documents = documents(&arguments.site, arguments.scene.as_deref())?;
    let picture = (!arguments.headless).then(|| PictureOptions {
        wishes: wishes(&site, None, !arguments.windowed),
        lose_device_after: arguments.lose_device_after,
        setup: RenderSetup {
            overlay_options: arguments.marks.wish(),
            ..pictures(site)
        },
    });
    let options = RunOptions {
        plan,
        picture,
        seconds: arguments.seconds,
        documents: Some(documents),
        commands: arguments.commands,
        restarts: arguments.kept,
    };
    Ok(match run::run(options, stop)? {
        Ended::Asked => ExitCode::SUCCESS,
        Ended::WithoutWindow => ExitCode::from(keeper::NO_WINDOW),
    })
}

fn demo_command(arguments: DemoArguments) -> anyhow::Result<ExitCode> {
    let site = load_site(&arguments.site, None)?;
    let out = match arguments.out {
        Some(out) => Some(out),
        None => display::reachable().err().map(|reason| {
            tell(&format!("{reason}: the demo is drawn into a folder"));
            PathBuf::from("demo-output")
        }),
    };
    let Some(out) = out else {
        let options = RunOptions {
            plan: plan(&site, arguments.camera, AtEnd::Repeat, None)?,
            picture: Some(PictureOptions {
                wishes: wishes(&site, arguments.size, !arguments.windowed),
                lose_device_after: None,
                setup: pictures(site),
            }),
            seconds: arguments.seconds,
            documents: Some(documents(&arguments.site, None)?),
            commands: None,
            restarts: None,
        };
        run::run(options, stop_on_signals()?)?;
        return Ok(ExitCode::SUCCESS);
    };
    let (source, folder) = camera_of(&site, arguments.camera);
    let simulation = &site.file.simulation;
    demo::demo(
        demo::Demo {
            source,
            folder,
            vision: site.file.vision.clone(),
            calibration: site.calibration.clone(),
            surface: site.file.surface.clone(),
            simulation: pool(&site, simulation.seed, simulation.threads)?,
            setup: {
                let size = arguments
                    .size
                    .unwrap_or_else(|| demo::size_px(&site.file.surface));
                picture(site, size)
            },
            seconds: arguments.seconds.unwrap_or(DEMO_SECS),
            out,
        },
        &*stop_on_signals()?,
    )?;
    Ok(ExitCode::SUCCESS)
}

/// What of a site can be changed while it runs.
fn documents(site: &SiteArguments, scene: Option<&str>) -> anyhow::Result<Documents> {
    let path = site.site.clone();
    let editor = Editor::open(path.as_deref(), scene).map_err(|problems| anyhow!("{problems}"))?;
    Ok(Documents {
        editor,
        site: path,
        painter: Box::new(pictures),
    })
}

/// A source from the command line is relative to where it was typed, one from the site file to that file.
fn camera_of(site: &Site, named: Option<String>) -> (String, PathBuf) {
    match named {
        Some(source) => (source, PathBuf::new()),
        None => (site.file.camera.source.clone(), site.folder.clone()),
    }
}

/// What runs on a site, and a line for each thing that was found or is lacking.
fn plan(
    site: &Site,
    camera: Option<String>,
    at_end: AtEnd,
    record: Option<RecordPlan>,
) -> anyhow::Result<Plan> {
    let (source, folder) = camera_of(site, camera);
    let spec = SourceSpec::parse(&source)?.relative_to(&folder);
    let fish: Vec<String> = site
        .species
        .iter()
        .map(|species| format!("{} {}", species.count, species.name))
        .collect();
    tell(&format!("scene: {} ({})", site.scene_name, fish.join(", ")));
    tell(&format!("camera: {source}"));
    if site.calibration.is_some() {
        tell("calibration: the site's");
    }
    Ok(Plan {
        camera: spec,
        camera_params: site.file.camera.clone(),
        at_end,
        record,
        vision: site.file.vision.clone(),
        calibration: site.calibration.clone(),
        surface: site.file.surface.clone(),
        layers: OverlayLayers::NONE,
        scene: site.description(),
        simulation: site.file.simulation.clone(),
    })
}

/// The windows of a site's projectors; those that are not over a whole monitor have this size, or else the output's.
fn wishes(site: &Site, size_px: Option<(u32, u32)>, fullscreen: bool) -> Vec<WindowWish> {
    let wish = |output: OutputParams| WindowWish {
        size_px: size_px.map_or([output.width_px, output.height_px], <[u32; 2]>::from),
        monitor: output.monitor,
        fullscreen,
    };
    site.outputs().into_iter().map(wish).collect()
}

fn calibrate_command(arguments: CalibrateArguments) -> anyhow::Result<ExitCode> {
    calibrate::calibrate(&calibrate::CalibrateOptions {
        points: arguments.points,
        camera_size_px: arguments.camera_size,
        surface_m: arguments.surface,
        lamp_m: arguments.lamp,
        camera_m: arguments.camera,
        limits: CalibrationParams::default(),
        out: arguments.out,
    })
}

/// The fish of a site.
fn pool(site: &Site, seed: u64, threads: u16) -> anyhow::Result<Simulation> {
    let params = SimulationParams {
        seed,
        threads,
        ..site.file.simulation.clone()
    };
    Ok(Simulation::new(&site.description(), &params)?)
}

/// The picture of a site's first projector, with another size.
pub fn picture(site: Site, (width_px, height_px): (u32, u32)) -> RenderSetup {
    let mut setup = pictures(site);
    setup.outputs.truncate(1);
    for output in &mut setup.outputs {
        (output.width_px, output.height_px) = (width_px, height_px);
    }
    setup
}

/// The pictures of all of a site's projectors.
fn pictures(site: Site) -> RenderSetup {
    let kind = site.file.surface.kind;
    RenderSetup {
        outputs: site.outputs(),
        surface: site.file.surface,
        look: site.scene.look,
        depth_m: site.scene.pool.ground_depth_m,
        species: site
            .species
            .into_iter()
            .map(|s| (s.file.look, Arc::unwrap_or_clone(s.model)))
            .collect(),
        static_models: site.stones.to_vec(),
        static_shapes: site
            .scene
            .obstacles
            .iter()
            .filter_map(ObstacleParams::solid)
            .flat_map(|solid| StaticShape::all_of(&solid, kind))
            .collect(),
        terraces: site.scene.pool.terraces,
        edges: None,
        overlay_options: OverlayOptions::default(),
    }
}

/// Logs go to standard error. Those of libraries are for developers: from debug on.
fn listen(level: tracing::Level) {
    let libraries = if level >= tracing::Level::DEBUG {
        LevelFilter::from(level)
    } else {
        LevelFilter::OFF
    };
    let wanted = Targets::new()
        .with_target("shoal", level)
        .with_default(libraries);
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(std::io::stderr)
        .finish()
        .with(wanted)
        .init();
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let kind = |cause: &(dyn std::error::Error + 'static)| match cause
        .downcast_ref::<serde_json::Error>()
    {
        Some(json) => json.io_error_kind(),
        None => cause
            .downcast_ref::<std::io::Error>()
            .map(std::io::Error::kind),
    };
    error
        .chain()
        .filter_map(kind)
        .any(|kind| kind == std::io::ErrorKind::BrokenPipe)
}

/// A flag that Ctrl-C and SIGTERM set; a second signal ends the program at once.
fn stop_on_signals() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, 1, Arc::clone(&stop))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&stop)))
            .context("signals cannot be watched")?;
    }
    Ok(stop)
}

/// Tells the person at the terminal. A closed terminal is no reason to stop.
fn tell(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}
